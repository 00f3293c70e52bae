//! A constant slice whose tiles are not adjacent in memory.

use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[64,128]{1,0:T(8,128)})> = x.slice(index![0, 0]);
}
