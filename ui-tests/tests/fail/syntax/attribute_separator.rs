//! Nothing may be between attributes.

use xla_shape::shape;

type Comma = shape!(f32[8,128]{1,0:T(8,128),S(1)});
type Colon = shape!(f32[8,128]{1,0:T(8,128):S(1)});
type TrailingComma = shape!(f32[8,128]{1,0:T(8,128),});

fn main() {}
