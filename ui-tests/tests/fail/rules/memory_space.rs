//! Memory spaces are 0 to 127.

use xla_shape::shape;

type ByOne = shape!(f32[8]{0:S(128)});
type Byte = shape!(f32[8]{0:S(256)});
type Large = shape!(f32[8]{0:T(8)S(9223372036854775807)});

fn main() {}
