//! A tile is a list of sizes and `*`.

use xla_shape::shape;

type Comma = shape!(f32[8]{0:T(,)});
type TrailingComma = shape!(f32[8]{0:T(8,)});
type Space = shape!(f32[8,8]{1,0:T(8 8)});
type Unbounded = shape!(f32[8]{0:T(?)});
type Power = shape!(f32[8,8]{1,0:T(**)});

fn main() {}
