//! A matrix product over sizes, elements and layouts.

use xla_shape::element::{Bf16, F32, Stored};
use xla_shape::types::{Array, Minor, Layout, LayoutType, Size, StaticArray};
use xla_shape::{Buffer, shape};

type Matrix<E, const ROWS: usize, const COLUMNS: usize, L> = Array<E, (Size<ROWS>, Size<COLUMNS>), L>;
type RowMajor = Layout<(Minor<1>, Minor<0>)>;

fn matmul<E, const M: usize, const K: usize, const N: usize, A, B>(
    a: &Buffer<Matrix<E, M, K, A>>,
    b: &Buffer<Matrix<E, K, N, B>>,
) -> Buffer<Matrix<F32, M, N, RowMajor>>
where
    E: Stored<Value: Into<f32>>,
    A: LayoutType,
    B: LayoutType,
{
    Buffer::<Matrix<F32, M, N, RowMajor>>::from_fn(|[i, j]| {
        (0..K).map(|k| a.get([i, k]).unwrap().into() * b.get([k, j]).unwrap().into()).sum()
    })
}

/// The number of columns of a matrix.
fn columns<E, M, const N: usize, L>(_: &Buffer<Array<E, (M, Size<N>), L>>) -> usize
where
    Array<E, (M, Size<N>), L>: StaticArray,
{
    N
}

#[test]
fn passes() {
    let a = Buffer::<shape!(bf16[3,4]{1,0:T(2,2)})>::from_fn(|[i, k]| ((i + k) as u8).into());
    let b = Buffer::<shape!(bf16[4,5]{0,1})>::from_fn(|[k, j]| ((k * j) as u8).into());
    let c: Buffer<shape!(f32[3,5])> = matmul::<Bf16, 3, 4, 5, _, _>(&a, &b);
    assert_eq!(c[[2, 4]], (0..4).map(|k| ((2 + k) * k * 4) as f32).sum::<f32>());
    assert_eq!(columns(&c), 5);
}
