//! An index at run time has a number for each dimension, too.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.get([7]);
    let _ = x[[7, 0, 0]];
}
