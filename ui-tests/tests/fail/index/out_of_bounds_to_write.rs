//! A constant index for writing is outside the array.

use xla_shape::{Buffer, index, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[8,128])>::zeroed();
    x.set_at(index![0, 128], 1.0);
}
