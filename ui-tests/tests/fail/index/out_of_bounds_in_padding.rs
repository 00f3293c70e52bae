//! Padding has no index.

use xla_shape::{Buffer, index, shape};

fn main() {
    let x = Buffer::<shape!(f32[3,5]{1,0:T(8,128)})>::zeroed();
    let _ = x.at(index![3, 0]);
}
