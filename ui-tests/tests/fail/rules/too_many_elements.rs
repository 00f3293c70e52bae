//! The number of elements fits in an i64.

use xla_shape::shape;

type Two = shape!(pred[4294967296,4294967296]);
type Three = shape!(s8[9223372036854775807,1,2]);

fn main() {}
