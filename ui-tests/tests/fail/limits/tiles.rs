//! A type has at most 12 tiles.

use xla_shape::shape;

type Thirteen = shape!(f32[8]{0:T(8)(8)(8)(8)(8)(8)(8)(8)(8)(8)(8)(8)(8)});

fn main() {}
