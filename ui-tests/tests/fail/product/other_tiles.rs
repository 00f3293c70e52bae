//! An operand in other tiles.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s8[32,128]{1,0:T(8,128)(4,1)})>::zeroed();
    let w = Buffer::<shape!(s8[128,128]{1,0:T(32,128)(4,1)})>::zeroed();
    Buffer::<shape!(s32[32,128]{1,0:T(8,128)})>::zeroed().add_product(&x, &w);
}
