//! The same product three times: shapes in the types, shapes at run time, and no shapes at all.
//!
//! All three add in the same order, so that their results can be compared to the bit.

use half::bf16;
use xla_shape::element::Bf16;
use xla_shape::types::{Array, LayoutType, Size};
use xla_shape::{AccessError, DynBuffer, View, ViewMut};

/// A matrix with these sizes in any layout.
type Matrix<const ROWS: usize, const COLUMNS: usize, L> = Array<Bf16, (Size<ROWS>, Size<COLUMNS>), L>;

/// How many columns the inner loop takes: the lanes of a TPU's tile, so that the compiler can move the arithmetic of the
/// tile's number out of the loop.
const LANES: usize = 128;

/// `out = lhs · rhs`, compiled for these sizes and layouts. Operands that do not fit each other do not compile.
///
/// Two rows of `rhs` are taken at a time, because `T(8,128)(2,1)` lays the rows of bf16 in pairs.
pub(crate) fn typed<const M: usize, const K: usize, const N: usize, A: LayoutType, B: LayoutType, C: LayoutType>(
    lhs: View<'_, Matrix<M, K, A>>,
    rhs: View<'_, Matrix<K, N, B>>,
    mut out: ViewMut<'_, Matrix<M, N, C>>,
) {
    const { assert!(K.is_multiple_of(2) && N.is_multiple_of(LANES), "whole pairs of rows, and whole tiles of columns") };
    for i in 0..M {
        let mut sums = [0.0_f32; N];
        for k in (0..K).step_by(2) {
            let factors = [lhs[[i, k]].to_f32(), lhs[[i, k + 1]].to_f32()];
            for (block, sums) in sums.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let j = block * LANES + lane;
                    *sum = *sum + factors[0] * rhs[[k, j]].to_f32() + factors[1] * rhs[[k + 1, j]].to_f32();
                }
            }
        }
        for (j, sum) in sums.iter().enumerate() {
            out[[i, j]] = bf16::from_f32(*sum);
        }
    }
}

/// `out = lhs · rhs` for whatever shapes the buffers have; `sizes` are M, K and N.
///
/// Accessors look positions up in tables that are made once; `DynBuffer::get` would work each of them out.
pub(crate) fn dynamic(
    lhs: &DynBuffer,
    rhs: &DynBuffer,
    out: &mut DynBuffer,
    [m, depth, n]: [usize; 3],
) -> Result<(), AccessError> {
    let (lhs, rhs, mut out) = (lhs.accessor::<Bf16>()?, rhs.accessor::<Bf16>()?, out.accessor_mut::<Bf16>()?);
    // Elements that the sizes count and the shapes do not have are 0.
    let number = |element: Option<bf16>| element.map_or(0.0, bf16::to_f32);
    let mut sums = vec![0.0_f32; n];
    for i in 0..m {
        sums.fill(0.0);
        for k in 0..depth {
            let factor = number(lhs.get(&[i, k]));
            for (j, sum) in sums.iter_mut().enumerate() {
                *sum += factor * number(rhs.get(&[k, j]));
            }
        }
        for (j, sum) in sums.iter().enumerate() {
            out.set(&[i, j], bf16::from_f32(*sum));
        }
    }
    Ok(())
}

/// `out = lhs · rhs`, all row-major, with the sums as they are before they are rounded to bf16.
pub(crate) fn plain(lhs: &[bf16], rhs: &[bf16], out: &mut [f32], [m, depth, n]: [usize; 3]) {
    for i in 0..m {
        let sums = &mut out[i * n..(i + 1) * n];
        sums.fill(0.0);
        for k in 0..depth {
            let factor = lhs[i * depth + k].to_f32();
            for (sum, value) in sums.iter_mut().zip(&rhs[k * n..(k + 1) * n]) {
                *sum += factor * value.to_f32();
            }
        }
    }
}
