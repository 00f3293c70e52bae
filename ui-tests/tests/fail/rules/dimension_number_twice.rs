//! minor_to_major names a dimension once.

use xla_shape::shape;

type Twice = shape!(f32[2,3]{1,1});
type Apart = shape!(f32[2,3,4]{2,0,2});

fn main() {}
