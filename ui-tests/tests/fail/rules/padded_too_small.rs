//! In XLA's layouts of 2017, no dimension is padded to less than its size.

use xla_shape::shape;

type Wrong = shape!(f32[2,3]{0,1:PAD(3,2)V(zero)});

fn main() {}
