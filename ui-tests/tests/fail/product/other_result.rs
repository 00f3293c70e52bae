//! Results of elements that sums do not have.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(s8[32,128]{1,0:T(32,128)(4,1)})>::zeroed();
    let w = Buffer::<shape!(s8[128,128]{1,0:T(32,128)(4,1)})>::zeroed();
    let mut y = Buffer::<shape!(s8[32,128]{1,0:T(32,128)(4,1)})>::zeroed();
    y.add_product(&x, &w);
    y.block_mut::<shape!(s8[32,128]{1,0:T(32,128)(4,1)})>([0, 0]).add_product(&x, &w);
    let halves = Buffer::<shape!(bf16[16,128]{1,0:T(8,128)(2,1)})>::zeroed();
    let weights = Buffer::<shape!(bf16[128,128]{1,0:T(8,128)(2,1)})>::zeroed();
    Buffer::<shape!(bf16[16,128]{1,0:T(8,128)(2,1)})>::zeroed().add_product(&halves, &weights);
}
