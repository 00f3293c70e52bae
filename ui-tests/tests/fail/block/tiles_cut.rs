//! Iterating over the tiles of a block that contains partial tiles.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,128]{1,0:T(8,128)})>::zeroed();
    let _ = x.block::<shape!(f32[4,128]{1,0:T(8,128)})>([0, 0]).tiles::<[[f32; 128]; 8]>().len();
}
