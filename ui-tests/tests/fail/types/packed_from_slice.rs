//! A slice of values of a packed type: single values have no memory of their own.

use xla_shape::{View, shape};

fn main() {
    let _ = View::<shape!(s4[16,128])>::from_slice(&[]);
}
