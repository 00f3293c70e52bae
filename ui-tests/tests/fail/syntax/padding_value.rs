//! The padding holds one of four values.

use xla_shape::shape;

type Wrong = shape!(f32[2,3]{0,1:PAD(3,5)V(two)});

fn main() {}
