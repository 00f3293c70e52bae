//! A split of a type has at most 12 indices.

use xla_shape::shape;

type Thirteen = shape!(f32[80]{0:SC(0:1,2,3,4,5,6,7,8,9,10,11,12,13)});

fn main() {}
