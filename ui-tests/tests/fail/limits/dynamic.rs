//! A type has static sizes.

use xla_shape::shape;

type Bounded = shape!(f32[8,<=128]);
type Unbounded = shape!(f32[?]);
type Tiled = shape!(f32[<=8,128]{1,0:T(8,128)});

fn main() {}
