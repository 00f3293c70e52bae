//! A layout begins with the numbers of dimensions.

use xla_shape::shape;

type None = shape!(f32[2]{});
type Name = shape!(f32[2]{a});
type Comma = shape!(f32[2]{,});
type TrailingComma = shape!(f32[2,3]{1,});
type Attribute = shape!(f32[2]{T(8)});

fn main() {}
