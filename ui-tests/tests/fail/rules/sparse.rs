//! There are no sparse arrays any more.

use xla_shape::shape;

type IndexType = shape!(f32[8]{0:#(u32)});
type PointerType = shape!(f32[8]{0:*(u64)});
type PhysicalShape = shape!(f32[8]{0:P(f32[8])});

fn main() {}
