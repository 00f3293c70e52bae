//! A section with other tiles than the array.

use xla_shape::{Buffer, layout, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(8,128)})>::zeroed();
    let _ = x.index_axis::<0, layout!({1,0})>(3);
}
