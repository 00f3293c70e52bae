//! A tile of a type has at most 12 entries.

use xla_shape::shape;

type Thirteen = shape!(f32[8]{0:T(1,1,1,1,1,1,1,1,1,1,1,1,8)});
type OfSecond = shape!(f32[8]{0:T(8)(1,1,1,1,1,1,1,1,1,1,1,1,1,1)});

fn main() {}
