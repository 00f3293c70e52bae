//! The number of bytes fits in an i64.

use xla_shape::shape;

type Wide = shape!(c128[1152921504606846976]);

fn main() {}
