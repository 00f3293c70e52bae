//! A split is a dimension, a colon, and indices.

use xla_shape::shape;

type Bare = shape!(f32[8]{0:SC});
type NoDimension = shape!(f32[8]{0:SC(:4)});
type Name = shape!(f32[8]{0:SC(a:4)});
type NoColon = shape!(f32[8]{0:SC(0)});
type NoIndex = shape!(f32[8]{0:SC(0:)});
type NameOfIndex = shape!(f32[8]{0:SC(0:a)});
type TrailingComma = shape!(f32[8]{0:SC(0:4,)});
type Space = shape!(f32[8]{0:SC(0:2 4)});

fn main() {}
