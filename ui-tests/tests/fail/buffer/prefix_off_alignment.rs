//! After a prefix of 2 bytes, no f32 is aligned, so references to elements do not compile.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[8]{0:M(2)})>::zeroed();
    let _ = x[[3]];
}
