//! Tiles that are not blocks of dimensions.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(*,8,128)})>::zeroed();
    let _ = x.as_tiles::<[[f32; 128]; 8]>();
}
