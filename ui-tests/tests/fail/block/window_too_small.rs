//! A window that is smaller than its block.

use xla_shape::block::Border;
use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _ = x.windows_with_halo::<shape!(f32[8,128]), shape!(f32[9,64])>([0, 0], Border::Clamp);
}
