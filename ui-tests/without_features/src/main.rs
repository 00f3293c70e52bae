//! Each line needs a feature, and its message names it.

use xla_shape::{Buffer, shape};

fn main() {
    let _ = Buffer::<shape!(f32[16,128])>::zeroed().as_ndarray();
    let _ = Buffer::<shape!(bf16[16,128])>::zeroed();
    let _ = Buffer::<shape!(c64[16,128])>::zeroed();
}
