//! A single colon comes before the attributes.

use xla_shape::shape;

type Path = shape!(f32[8]{0::T(8)});
type Twice = shape!(f32[8]{0: :T(8)});
type InDimensions = shape!(f32[8:128]);

fn main() {}
