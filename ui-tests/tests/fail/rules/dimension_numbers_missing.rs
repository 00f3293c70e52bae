//! minor_to_major names every dimension.

use xla_shape::shape;

type One = shape!(f32[2,3]{0});
type Most = shape!(f32[2,3,4,5]{3,2,1});
type All = shape!(f32[8,128]{:T(8,128)});
type InAngles = shape!(f32[2,3]<1>);

fn main() {}
