//! A range whose size is not a multiple of the tile.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(8,128)})>::zeroed();
    let _ = x.section::<shape!(f32[12,256]{1,0:T(8,128)}), _>((1, 8..20, ..));
}
