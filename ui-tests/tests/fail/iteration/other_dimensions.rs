//! Operands of other dimensions.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,128])>::zeroed();
    let mut y = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    y.apply_with(&x, |y, x| x + y);
}
