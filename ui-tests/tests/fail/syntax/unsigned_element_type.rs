//! Indices and pointers of sparse arrays were unsigned.

use xla_shape::shape;

type Float = shape!(f32[8]{0:#(f32)});
type Signed = shape!(f32[8]{0:*(s32)});
type Nothing = shape!(f32[8]{0:#()});

fn main() {}
