//! A tile must have dimensions.

use xla_shape::shape;

type Only = shape!(f32[8]{0:T()});
type Second = shape!(f32[8,128]{1,0:T(8,128)()});

fn main() {}
