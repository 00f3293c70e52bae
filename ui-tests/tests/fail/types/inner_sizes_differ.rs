//! A generic matrix product requires equal inner sizes.

use xla_shape::element::{Bf16, F32};
use xla_shape::types::{Array, Minor, Layout, Size};
use xla_shape::{Buffer, shape};

type RowMajor = Layout<(Minor<1>, Minor<0>)>;
type Matrix<E, const ROWS: usize, const COLUMNS: usize> = Buffer<Array<E, (Size<ROWS>, Size<COLUMNS>), RowMajor>>;

fn matmul<const M: usize, const K: usize, const N: usize>(
    _: &Matrix<Bf16, M, K>,
    _: &Matrix<Bf16, K, N>,
) -> Matrix<F32, M, N> {
    Buffer::zeroed()
}

fn main() {
    let a = Buffer::<shape!(bf16[8,256])>::zeroed();
    let b = Buffer::<shape!(bf16[128,64])>::zeroed();
    let _: Buffer<shape!(f32[8,64])> = matmul(&a, &b);
}
