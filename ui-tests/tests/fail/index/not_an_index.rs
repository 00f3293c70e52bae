//! A constant index must be made with `index!`.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at([0, 0]);
    let _ = x.at((0, 0));
}
