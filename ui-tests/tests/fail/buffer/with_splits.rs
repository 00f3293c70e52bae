//! An array with splits is in several memories, so it cannot be a buffer.

use xla_shape::{Buffer, shape};

fn main() {
    let _ = Buffer::<shape!(f32[8]{0:SC(0:4)})>::zeroed();
}
