//! Dimension levels are D, C, S or H.

use xla_shape::shape;

type Unknown = shape!(f32[8]{0:D(X)});
type Number = shape!(f32[8]{0:D(0)});
type TrailingComma = shape!(f32[8]{0:D(D,)});
type Space = shape!(f32[8,8]{1,0:D(D C)});
type Bare = shape!(f32[8]{0:D});

fn main() {}
