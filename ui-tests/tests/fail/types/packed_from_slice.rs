//! Values of a packed type, which have no memory of their own, as a slice.

use xla_shape::{View, shape};

fn main() {
    let _ = View::<shape!(s4[16,128])>::from_slice(&[]);
}
