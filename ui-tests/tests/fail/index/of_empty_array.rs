//! An array without elements has no index.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,0])>::zeroed();
    let _ = x.at(index![0, 0]);
}
