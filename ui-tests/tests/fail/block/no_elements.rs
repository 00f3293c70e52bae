//! A block without elements.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[6,4])>::zeroed();
    let _ = x.block_grid::<shape!(f32[0,4])>();
}
