//! `*` combines with the next dimension, so one must follow.

use xla_shape::shape;

type Last = shape!(f32[8,128]{1,0:T(8,*)});
type Only = shape!(f32[8]{0:T(*)});

fn main() {}
