//! A tile of elements of another type.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _ = x.as_tiles::<[[i32; 128]; 8]>();
}
