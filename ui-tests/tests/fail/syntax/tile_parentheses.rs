//! Each tile must be in parentheses.

use xla_shape::shape;

type Bare = shape!(f32[8]{0:T});
type Joined = shape!(f32[8]{0:T8});
type Brackets = shape!(f32[8,128]{1,0:T[8,128]});
type Comma = shape!(f32[8,128]{1,0:T(8,128),(2,1)});

fn main() {}
