//! A mistake after a dimension number.

use xla_shape::shape;

type Space = shape!(f32[2,3]{1 0});
type Semicolon = shape!(f32[2,3]{1;0});
type NoColon = shape!(f32[8,128]{1,0 T(8,128)});
type NoColonInAngles = shape!(f32[8,128]<1,0 T(8,128)>);
type Equals = shape!(f32[2]{0=T(8)});

fn main() {}
