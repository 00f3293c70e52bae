//! The sizes of a generic function, which shows where it is called.

use xla_shape::{Buffer, shape};

fn buffer<const M: usize>() -> Buffer<shape!(f32[M,M,M])> {
    Buffer::zeroed()
}

fn main() {
    buffer::<{ 1 << 30 }>();
}
