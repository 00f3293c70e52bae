//! A scalar has an index without numbers.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[])>::zeroed();
    let _ = x.at(index![0]);
}
