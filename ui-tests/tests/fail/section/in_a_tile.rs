//! An index in a dimension that tiles divide.

use xla_shape::{Buffer, layout, shape};

fn main() {
    let x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(8,128)})>::zeroed();
    let _ = x.index_axis::<1, layout!({1,0:T(8,128)})>(3);
}
