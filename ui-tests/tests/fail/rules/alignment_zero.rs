//! Elements are padded to a multiple of 1 or more.

use xla_shape::shape;

type Zero = shape!(f32[8]{0:L(0)});

fn main() {}
