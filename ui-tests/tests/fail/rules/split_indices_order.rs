//! Split indices increase from 1 on.

use xla_shape::shape;

type Zero = shape!(f32[8]{0:SC(0:0)});
type Equal = shape!(f32[8]{0:SC(0:4,4)});
type Falling = shape!(f32[8]{0:SC(0:4,2)});

fn main() {}
