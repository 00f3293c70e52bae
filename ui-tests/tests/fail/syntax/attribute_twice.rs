//! Each attribute may appear only once.

use xla_shape::shape;

type Space = shape!(f32[8]{0:S(1)S(2)});
type Tiles = shape!(f32[8]{0:T(8)T(4)});
type Splits = shape!(f32[8]{0:SC(0:4)SC(0:2)});

fn main() {}
