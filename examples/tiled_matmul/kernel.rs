//! The same product three times: shapes in the types, shapes at run time, and no shapes at all.
//!
//! All three add in the same order, so that their results can be compared to the bit.

use half::bf16;
use xla_shape::element::Bf16;
use xla_shape::iter::Band;
use xla_shape::types::{Array, LayoutType, Size};
use xla_shape::{AccessError, DynBuffer, View, ViewMut};

/// A matrix with these sizes in any layout.
type Matrix<const ROWS: usize, const COLUMNS: usize, L> = Array<Bf16, (Size<ROWS>, Size<COLUMNS>), L>;

/// `out = lhs · rhs`, compiled for these sizes and layouts. Operands that do not fit each other do not compile.
///
/// `T(8,128)(2,1)` lays the rows of bf16 in pairs. A band is what lies side by side so: the loop over a block of it is one over
/// consecutive memory, and how many rows there are in it is a constant.
pub(crate) fn typed<const M: usize, const K: usize, const N: usize, A: LayoutType, B: LayoutType, C: LayoutType>(
    lhs: View<'_, Matrix<M, K, A>>,
    rhs: View<'_, Matrix<K, N, B>>,
    mut out: ViewMut<'_, Matrix<M, N, C>>,
) {
    let lanes = const { Band::<Matrix<K, N, B>, (), -1>::LANES };
    const { assert!(Band::<Matrix<K, N, B>, (), -1>::LANES <= 2, "rows one by one, or in pairs") };
    let mut sums = [[0.0_f32; N]; M];
    rhs.for_each_band::<-1>(|rows| {
        let [k, _] = rows.origin();
        for (i, sums) in sums.iter_mut().enumerate() {
            // Of an odd number of rows, the last has none beside it.
            let factors = [0, 1].map(|lane| lhs.get([i, k + lane]).map_or(0.0, bf16::to_f32));
            rows.for_each_block(|j, block| {
                for (sum, column) in sums[j..].iter_mut().zip(block.chunks_exact(lanes)) {
                    for (factor, element) in factors.iter().zip(column) {
                        *sum += factor * element.to_f32();
                    }
                }
            });
        }
    });
    out.fill_with(|[i, j]| bf16::from_f32(sums[i][j]));
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
    let number = |element: Result<bf16, AccessError>| element.map_or(0.0, bf16::to_f32);
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
            out.set(&[i, j], bf16::from_f32(*sum))?;
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
