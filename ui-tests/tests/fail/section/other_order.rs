//! A section in another order than the array.

use xla_shape::{Buffer, layout, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256])>::zeroed();
    let _ = x.index_axis::<0, layout!({0,1})>(3);
}
