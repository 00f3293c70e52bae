//! A dimension is a number.

use xla_shape::shape;

type Comma = shape!(f32[,]);
type TrailingComma = shape!(f32[2,]);
type TwoCommas = shape!(f32[2,,3]);
type Nested = shape!(f32[[2]]);

fn main() {}
