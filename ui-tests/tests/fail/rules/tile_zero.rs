//! A tile dimension is at least 1.

use xla_shape::shape;

type First = shape!(f32[8,128]{1,0:T(0,128)});
type OfSecond = shape!(bf16[8,128]{1,0:T(8,128)(2,0)});

fn main() {}
