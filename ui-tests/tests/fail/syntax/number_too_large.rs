//! Numbers fit in an i64.

use xla_shape::shape;

type Size = shape!(f32[9223372036854775808]);
type Bound = shape!(f32[<=9223372036854775808]);
type Tile = shape!(f32[2]{0:T(18446744073709551616)});
type Attribute = shape!(f32[2]{0:L(340282366920938463463374607431768211456)});

fn main() {}
