//! A section of a whole dimension, with a bound below the size.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256])>::zeroed();
    let _ = x.section::<shape!(f32[<=32,256]), _>((1, .., ..));
}
