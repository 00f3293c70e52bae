//! minor_to_major names only existing dimensions.

use xla_shape::shape;

type More = shape!(f32[2,3]{2,1,0});
type OfScalar = shape!(f32[]{0});

fn main() {}
