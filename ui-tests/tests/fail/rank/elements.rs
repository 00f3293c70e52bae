//! Pairs of elements of arrays with different numbers of dimensions: one error for each call.

use xla_shape::{Buffer, shape};

fn main() {
    let x = Buffer::<shape!(f32[64,128])>::zeroed();
    let mut y = Buffer::<shape!(f32[128])>::zeroed();
    y.apply_with(&x, |y, x| y + x);
    let _: Buffer<shape!(f32[128])> = x.map(|x| x);
    let _: Buffer<shape!(f32[64,128])> = x.zip_with(&y, |x, y| x + y);
    let _: Buffer<shape!(f32[128])> = x.to_buffer();
    x.copy_to(&mut y);
    x.copy_to_padded(&mut y, 0.0);
    let _ = x.all_with(&y, |x, y| x == y);
    let _ = x.is_close(&y, 0.0, 0.0);
    y.for_each_band_mut_with::<-1, _, _>(&x, |_, _| ());
}
