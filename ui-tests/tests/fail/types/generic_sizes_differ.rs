//! A const parameter that would have to be two different sizes.

use xla_shape::{Buffer, View, shape};

fn product<const M: usize, const K: usize, const N: usize>(
    _: &View<'_, shape!(f32[M,K]{1,0:T(8,128)})>,
    _: &View<'_, shape!(f32[K,N]{1,0:T(8,128)})>,
) -> Buffer<shape!(f32[M,N]{1,0:T(8,128)})> {
    Buffer::zeroed()
}

fn main() {
    let x = Buffer::<shape!(f32[16,128]{1,0:T(8,128)})>::zeroed();
    let y = Buffer::<shape!(f32[256,128]{1,0:T(8,128)})>::zeroed();
    product(&x.view(), &y.view());
}
