//! Runs of an array that is not borrowed.

use xla_shape::iter::runs;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let mut y = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = runs((&mut y, x.view()));
}
