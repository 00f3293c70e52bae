//! A type has at most 12 dimensions.

use xla_shape::shape;

type Thirteen = shape!(f32[1,1,1,1,1,1,1,1,1,1,1,1,1]);
type WithLayout = shape!(f32[1,1,1,1,1,1,1,1,1,1,1,1,1]{12,11,10,9,8,7,6,5,4,3,2,1,0});

fn main() {}
