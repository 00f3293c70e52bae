//! An unbounded dimension cannot be split.

use xla_shape::shape;

type Unbounded = shape!(f32[?]{0:SC(0:4)});

fn main() {}
