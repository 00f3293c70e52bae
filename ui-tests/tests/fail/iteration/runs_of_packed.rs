//! Runs of elements that share bytes.

use xla_shape::iter::runs;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s4[8,128]{1,0:E(4)})>::zeroed();
    let _ = runs(&x);
}
