//! A fold in lanes needs a lane.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[8,128]{1,0:T(8,128)})>::zeroed();
    let _: [f32; 0] = x.fold_lanes([], |sum, x| sum + x);
}
