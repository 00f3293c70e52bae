//! Iterating over tiles that are not those of the layout.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)(2,1)})>::zeroed();
    let _ = x.as_tiles::<[[f32; 128]; 8]>();
}
