//! A block that is not contiguous in memory is not an array.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _ = x.block::<shape!(f32[16,128]{1,0:T(8,128)})>([0, 0]).as_array();
}
