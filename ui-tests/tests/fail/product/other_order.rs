//! A left operand that is transposed.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[16,128]{0,1:T(8,128)})>::zeroed();
    let w = Buffer::<shape!(f32[128,128]{0,1:T(8,128)})>::zeroed();
    Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed().add_product(&x, &w);
}
