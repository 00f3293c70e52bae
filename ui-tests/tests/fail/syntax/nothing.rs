//! A shape, not nothing.

use xla_shape::shape;

type Nothing = shape!();

fn main() {}
