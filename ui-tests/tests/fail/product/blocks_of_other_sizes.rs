//! Blocks of a result whose sizes or elements are not those of the product.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed();
    let w = Buffer::<shape!(f32[128,256]{1,0:T(8,128)})>::zeroed();
    let mut y = Buffer::<shape!(f32[16,128])>::zeroed();
    y.blocks_mut::<shape!(f32[16,128])>().apply_product(&x, &w, |_, _| ());
    let words = Buffer::<shape!(s16[128,128]{1,0:T(8,128)(2,1)})>::zeroed();
    y.blocks_mut::<shape!(f32[16,128])>().apply_product(&x, &words, |_, _| ());
    let mut z = Buffer::<shape!(s8[16,256])>::zeroed();
    z.blocks_mut::<shape!(s8[16,128])>().apply_product(&x, &w, |mut z, sums| z.apply_with(sums, |_, sum| sum));
}
