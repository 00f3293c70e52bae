//! A letter with which no attribute begins.

use xla_shape::shape;

type Unknown = shape!(f32[8]{0:X(1)});
type LowerCase = shape!(f32[8]{0:t(8)});
type XlaName = shape!(f32[8]{0:memory_space(1)});
type Number = shape!(f32[8]{0:1});
type Parentheses = shape!(f32[8]{0:(8)});

fn main() {}
