//! A buffer needs room for the bits of an element.

use xla_shape::{Buffer, shape};

fn main() {
    let _ = Buffer::<shape!(s8[8]{0:E(4)})>::zeroed();
}
