//! A split names a physical dimension.

use xla_shape::shape;

type ByOne = shape!(f32[8,128]{1,0:SC(2:4)});
type OfScalar = shape!(f32[]{:SC(0:4)});

fn main() {}
