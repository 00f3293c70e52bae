//! A shape is missing.

use xla_shape::shape;

type Nothing = shape!();

fn main() {}
