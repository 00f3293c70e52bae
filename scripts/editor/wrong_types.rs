//! A value of another shape: the compiler's error must have shapes in place of types.

use xla_shape::{Buffer, shape};

fn same(x: Buffer<shape!(f32[8,128])>) -> Buffer<shape!(f32[8,256])> {
    x
}
