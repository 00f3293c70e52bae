//! The number of lanes is not a multiple of the number of lines in a band.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)(2,1)})>::zeroed();
    x.for_each_band::<-1>(|rows| {
        let _ = rows.fold_lanes([0.0; 5], |sum, x| sum + x, |a, b| a + b);
    });
}
