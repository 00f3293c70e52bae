//! An index is a whole number.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![0, 1.5]);
    let _ = x.at(index![0, "1"]);
    let _ = x.at(index![0, 1_i32]);
}
