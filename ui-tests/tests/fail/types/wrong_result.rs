//! The result of a kernel is used as another shape.

use xla_shape::{Buffer, shape};

fn transpose(_: &Buffer<shape!(f32[8,128])>) -> Buffer<shape!(f32[128,8])> {
    Buffer::zeroed()
}

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _: Buffer<shape!(f32[8,128])> = transpose(&x);
}
