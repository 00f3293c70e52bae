//! In XLA's layouts of 2017, every dimension has a width.

use xla_shape::shape;

type Wrong = shape!(f32[2,3]{0,1:PAD(3)});

fn main() {}
