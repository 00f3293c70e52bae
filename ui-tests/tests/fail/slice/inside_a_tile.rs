//! A constant slice that begins inside a tile, and one that ends there.

use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[8,256]{1,0:T(8,128)})> = x.slice(index![4, 0]);
    let _: View<'_, shape!(f32[12,256]{1,0:T(8,128)})> = x.slice(index![8, 0]);
}
