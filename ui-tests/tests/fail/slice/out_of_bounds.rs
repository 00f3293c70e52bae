//! A constant slice that ends after the end of the array.

use xla_shape::{Buffer, View, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _: View<'_, shape!(f32[4,128])> = x.slice(index![5, 0]);
}
