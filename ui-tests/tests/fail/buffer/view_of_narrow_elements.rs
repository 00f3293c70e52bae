//! A view needs room for the bits of an element, too.

use xla_shape::{View, shape};

fn main() {
    let _ = View::<shape!(u8[8]{0:E(2)})>::from_bytes(&[0; 2]);
}
