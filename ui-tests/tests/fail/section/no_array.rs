//! A section that is not contiguous in memory is not an array.

use xla_shape::{Buffer, layout, shape};

fn main() {
    let x = Buffer::<shape!(f32[16,4,128])>::zeroed();
    let _ = x.index_axis::<1, layout!({1,0})>(3).as_array();
}
