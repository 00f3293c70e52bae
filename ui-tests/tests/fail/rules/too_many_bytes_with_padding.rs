//! The number of bytes with padding fits in an i64.

use xla_shape::shape;

type Tiled = shape!(f32[2]{0:T(4611686018427387904)});
type Prefix = shape!(s8[9223372036854775807]{0:M(1)});

fn main() {}
