//! A later tile that groups several of the first one.

use xla_shape::{Buffer, shape};

fn main() {
    let mut x = Buffer::<shape!(f32[16,16]{1,0:T(2,4)(2,1,1,1)})>::zeroed();
    let _ = x.as_mut_tiles::<[[f32; 4]; 2]>();
}
