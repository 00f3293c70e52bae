//! A relayout keeps the elements and their sizes; only their places change.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[2,3])>::zeroed();
    let _ = x.relayout::<shape!(f32[3,2])>();
}
