//! An attribute has one number, in parentheses.

use xla_shape::shape;

type Empty = shape!(f32[8]{0:L()});
type Name = shape!(f32[8]{0:E(bits)});
type Star = shape!(f32[8]{0:S(*)});
type Two = shape!(f32[8]{0:M(1,2)});
type Bare = shape!(f32[8]{0:S});
type Joined = shape!(f32[8]{0:S1});
type Equals = shape!(f32[8]{0:S=1});

fn main() {}
