//! A physical dimension is split once.

use xla_shape::shape;

type Twice = shape!(f32[8,128]{1,0:SC(0:4)(0:6)});

fn main() {}
