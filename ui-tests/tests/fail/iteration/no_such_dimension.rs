//! Lines along a dimension that the array does not have.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256])>::zeroed();
    let _ = x.line::<2>([0, 0]);
}
