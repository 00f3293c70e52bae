//! Packed elements cannot be borrowed as a slice.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s8[8]{0:E(12)})>::zeroed();
    println!("{:?}", x.as_slice());
}
