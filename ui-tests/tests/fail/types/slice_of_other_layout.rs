//! A constant slice has the layout of the array.

use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    let _: View<'_, shape!(f32[8,256])> = x.slice(index![8, 0]);
}
