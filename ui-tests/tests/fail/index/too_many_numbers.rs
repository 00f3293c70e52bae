//! An index has no more numbers than there are dimensions.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128])>::zeroed();
    let _ = x.at(index![7, 0, 0]);
}
