//! A product of elements that have no kernel.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s16[16,128]{1,0:T(8,128)(2,1)})>::zeroed();
    let w = Buffer::<shape!(s16[128,128]{1,0:T(8,128)(2,1)})>::zeroed();
    Buffer::<shape!(s32[16,128]{1,0:T(8,128)})>::zeroed().add_product(&x, &w);
}
