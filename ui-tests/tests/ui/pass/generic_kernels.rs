//! Kernels for any sizes, for any layout of given dimensions, and for any shape that a trait bound allows.

use xla_shape::element::F32;
use xla_shape::types::{Array, ArrayType, LayoutType, Size, StaticArray};
use xla_shape::{Buffer, View, ViewMut, shape};

/// Over sizes.
fn matmul<const M: usize, const K: usize, const N: usize>(
    a: View<shape!(f32[M,K]{1,0:T(8,128)})>,
    b: View<shape!(f32[K,N])>,
    mut out: ViewMut<shape!(f32[M,N]{1,0:T(8,128)})>,
) {
    out.fill_with(|[i, j]| (0..K).map(|k| a[[i, k]] * b[[k, j]]).sum());
}

/// Over layouts of given dimensions.
fn trace<const N: usize, L: LayoutType>(x: View<Array<F32, (Size<N>, Size<N>), L>>) -> f32 {
    (0..N).map(|i| x[[i, i]]).sum()
}

/// Over shapes.
fn maximum<S: ArrayType<Element = F32>>(x: View<S>) -> f32 {
    x.indexed_iter().map(|(_, value)| value).fold(f32::MIN, f32::max)
}

/// A kernel over static shapes, whose numbers are constants.
fn mean<S: StaticArray<Element = F32>>(x: View<S>) -> f32 {
    x.to_row_major().iter().sum::<f32>() / S::ELEMENTS as f32
}

#[test]
fn passes() {
    let a = Buffer::<shape!(f32[3,4]{1,0:T(8,128)})>::from_fn(|[i, k]| (i + k) as f32);
    let b = Buffer::<shape!(f32[4,3])>::from_fn(|[k, j]| (k * j) as f32);
    let mut out = Buffer::<shape!(f32[3,3]{1,0:T(8,128)})>::zeroed();
    matmul(a.view(), b.view(), out.view_mut());
    assert_eq!(out[[2, 2]], (0..4).map(|k| ((2 + k) * k * 2) as f32).sum::<f32>());
    assert_eq!(trace(out.view()), out[[0, 0]] + out[[1, 1]] + out[[2, 2]]);
    assert_eq!(maximum(a.view()), 5.0);
    assert_eq!(mean(b.view()), 1.5);

    let rows = <shape!(f32[?,128]{1,0:T(8,128)})>::with_sizes([5, 128]).unwrap();
    assert_eq!(maximum(Buffer::<shape!(f32[?,128]{1,0:T(8,128)})>::zeroed_with(rows).unwrap().view()), 0.0);
}
