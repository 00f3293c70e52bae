//! The numbers of a constant index must be constants.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let i = 3;
    let _ = x.at(index![i, 0]);
}
