//! Packed elements cannot be borrowed one by one.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(s8[8]{0:E(12)})>::zeroed();
    x[[3]] = 1;
}
