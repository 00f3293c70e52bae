//! minor_to_major names dimensions of the array.

use xla_shape::shape;

type ByOne = shape!(f32[2,3]{2,1});
type CountedFromOne = shape!(f32[2,3,4]{3,2,1});
type Far = shape!(f32[2]{128});

fn main() {}
