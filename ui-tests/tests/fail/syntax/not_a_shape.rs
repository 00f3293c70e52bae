//! A shape begins with its element type.

use xla_shape::shape;

type Number = shape!(5);
type OnlyDimensions = shape!([2,3]);
type OnlyLayout = shape!({1,0});
type Star = shape!(*);
type Path = shape!(::f32[2]);

fn main() {}
