//! An index has no sign.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![-1, 0]);
    let _ = x.at(index![0, -(1)]);
    let _ = x.at(index![0, -1 + 1]);
}
