//! The macro takes the shape itself, not a string.

use xla_shape::shape;

type Quoted = shape!("bf16[8,128]{1,0:T(8,128)(2,1)}");
type Raw = shape!(r"f32[2]");

fn main() {}
