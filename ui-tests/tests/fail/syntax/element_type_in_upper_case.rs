//! Element types are written in lower case.

use xla_shape::shape;

type Float = shape!(F32[2]);
type Bfloat = shape!(BF16[2]);
type Small = shape!(F8E4M3FN[2]);

fn main() {}
