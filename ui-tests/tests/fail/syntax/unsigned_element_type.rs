//! Sparse arrays had unsigned indices (`#`) and pointers (`*`): other element types are errors.

use xla_shape::shape;

type Float = shape!(f32[8]{0:#(f32)});
type Signed = shape!(f32[8]{0:*(s32)});
type Nothing = shape!(f32[8]{0:#()});

fn main() {}
