//! Not every byte is a `bool`: memory of `pred` cannot be borrowed as a slice of them.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(pred[8])>::zeroed();
    let _ = x.as_slice();
}
