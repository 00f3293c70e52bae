//! A result in the tiles of an operand, and a right operand that is not tiled.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s8[32,128]{1,0:T(32,128)(4,1)})>::zeroed();
    let w = Buffer::<shape!(s8[128,128])>::zeroed();
    Buffer::<shape!(s32[32,128]{1,0:T(32,128)(4,1)})>::zeroed().add_product(&x, &w);
}
