//! Numbers have no sign.

use xla_shape::shape;

type Size = shape!(f32[8,-128]);
type Bound = shape!(f32[<=-1]);
type DimensionNumber = shape!(f32[8]{-1});
type Tile = shape!(f32[8]{0:T(-8)});
type Attribute = shape!(f32[8]{0:S(-1)});
type Split = shape!(f32[8]{0:SC(-1:4)});
type SplitIndex = shape!(f32[8]{0:SC(0:-4)});

fn main() {}
