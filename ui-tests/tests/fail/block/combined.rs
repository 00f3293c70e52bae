//! A block of a dimension that `*` combines with another one.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[6,4,8]{2,1,0:T(*,4)})>::zeroed();
    let _ = x.blocks::<shape!(f32[6,2,8]{2,1,0:T(*,4)})>();
}
