//! A section with fewer slices than the array has dimensions, and one with something that is not a slice.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256])>::zeroed();
    let _ = x.section::<shape!(f32[64,256]), _>((1, ..));
    let _ = x.section::<shape!(f32[64,256]), _>((1, .., "all"));
}
