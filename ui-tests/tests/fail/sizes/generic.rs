//! Wrong sizes in a generic function are reported where it is called.

use xla_shape::{Buffer, shape};

fn buffer<const M: usize>() -> Buffer<shape!(f32[M,M,M])> {
    Buffer::zeroed()
}

fn main() {
    buffer::<{ 1 << 30 }>();
}
