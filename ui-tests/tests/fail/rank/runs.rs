//! Runs of arrays with different numbers of dimensions.

use xla_shape::iter::runs;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,128])>::zeroed();
    let mut y = Buffer::<shape!(f32[128])>::zeroed();
    for (mut y, x) in runs((&mut y, &x)) {
        y.apply_with(&x, |y, x| y + x);
    }
}
