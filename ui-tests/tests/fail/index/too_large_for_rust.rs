//! An index must be a number that Rust can read.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![0, 340282366920938463463374607431768211456]);
}
