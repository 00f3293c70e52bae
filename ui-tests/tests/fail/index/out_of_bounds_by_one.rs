//! The first index that is too large; dimension 0 comes first.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![8, 128]);
}
