//! A second tile that combines several of the first tiles.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[16,16]{1,0:T(2,4)(2,1,1,1)})>::zeroed();
    let _ = x.as_mut_tiles::<[[f32; 4]; 2]>();
}
