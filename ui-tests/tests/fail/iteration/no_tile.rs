//! Tiles of an array without tiles.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256])>::zeroed();
    let _ = x.as_tiles::<[[f32; 128]; 8]>();
}
