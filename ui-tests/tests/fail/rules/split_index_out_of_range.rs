//! Split indices must be inside the dimension.

use xla_shape::shape;

type AtEnd = shape!(f32[8]{0:SC(0:8)});
type Behind = shape!(f32[8,128]{1,0:SC(1:64,200)});
type InPhysicalOrder = shape!(f32[8,128]{0,1:SC(1:64)});

fn main() {}
