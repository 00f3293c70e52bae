//! The numbers of an index are separated by commas.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![0 0]);
}
