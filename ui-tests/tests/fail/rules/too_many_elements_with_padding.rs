//! The number of elements with padding fits in an i64.

use xla_shape::shape;

type Tiled = shape!(s8[9223372036854775807]{0:T(128)});
type LargeTile = shape!(s8[2,2]{1,0:T(4294967296,4294967296)});
type Aligned = shape!(s8[9223372036854775807]{0:L(2)});

fn main() {}
