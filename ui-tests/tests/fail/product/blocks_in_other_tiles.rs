//! Operands in other tiles, and blocks that begin inside a tile of the right operand.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed();
    let untiled = Buffer::<shape!(f32[16,128])>::zeroed();
    let w = Buffer::<shape!(f32[128,256]{1,0:T(8,128)})>::zeroed();
    let other = Buffer::<shape!(f32[128,256]{0,1:T(2,128)})>::zeroed();
    let mut y = Buffer::<shape!(f32[16,256])>::zeroed();
    y.blocks_mut::<shape!(f32[16,128])>().apply_product(&untiled, &w, |_, _| ());
    y.blocks_mut::<shape!(f32[8,128])>().apply_product(&x, &other, |_, _| ());
    y.blocks_mut::<shape!(f32[16,64])>().apply_product(&x, &w, |_, _| ());
}
