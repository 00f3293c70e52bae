//! Runs of arrays whose dimensions differ.

use xla_shape::iter::runs;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let mut y = Buffer::<shape!(f32[8,256])>::zeroed();
    for (mut y, x) in runs((&mut y, &x)) {
        y.apply_with(&x, |y, x| y + x);
    }
}
