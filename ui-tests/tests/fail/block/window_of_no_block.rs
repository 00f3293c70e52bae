//! A block without elements.

use xla_shape::block::Border;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256])>::zeroed();
    let _ = x.windows::<shape!(f32[8,0]), shape!(f32[8,2])>(Border::Clamp);
}
