//! The same product three times: with shapes as types, with shapes as values, and with row-major slices.
//!
//! All three add in the same order, so that their results can be compared exactly.

use half::bf16;
use xla_shape::element::Bf16;
use xla_shape::iter::Band;
use xla_shape::types::{Array, LayoutType, Size};
use xla_shape::{AccessError, DynBuffer, View, ViewMut};

/// A matrix with these sizes in any layout.
type Matrix<const ROWS: usize, const COLUMNS: usize, L> = Array<Bf16, (Size<ROWS>, Size<COLUMNS>), L>;

/// The columns that are processed at a time: as many as a tile has.
const COLUMNS: usize = 128;

/// `out = lhs · rhs`, compiled for these sizes and layouts. Operands of different inner sizes do not compile.
///
/// In `T(8,128)(2,1)`, the elements of two neighbouring rows alternate; such rows form a band. This kernel converts each piece of a band
/// to f32 once, and then adds it to the sums of all rows of the result, two rows of `rhs` at a time. Plain loops, in contrast, read and
/// write the sums for each row of `rhs`, and convert that row again for each row of `lhs`.
pub(crate) fn typed<const M: usize, const K: usize, const N: usize, A: LayoutType, B: LayoutType, C: LayoutType>(
    lhs: View<'_, Matrix<M, K, A>>,
    rhs: View<'_, Matrix<K, N, B>>,
    mut out: ViewMut<'_, Matrix<M, N, C>>,
) {
    let lanes = const { Band::<Matrix<K, N, B>, (), -1>::LANES };
    const { assert!(Band::<Matrix<K, N, B>, (), -1>::LANES <= 2, "rows one by one, or in pairs") };
    let mut factors = [[0.0_f32; K]; M];
    lhs.for_each_indexed(|[i, k], value| factors[i][k] = exact_f32(value));
    let mut sums = [[0.0_f32; N]; M];
    rhs.for_each_band::<-1>(|rows| {
        let [k, _] = rows.origin();
        rows.for_each_block(|start, block| {
            for (piece, columns) in block.chunks(COLUMNS * lanes).enumerate() {
                let (len, start) = (columns.len() / lanes, start + piece * COLUMNS);
                let mut row = [[0.0; COLUMNS]; 2];
                for (column, elements) in columns.chunks_exact(lanes).enumerate() {
                    for (row, &element) in row.iter_mut().zip(elements) {
                        row[column] = exact_f32(element);
                    }
                }
                for (factors, sums) in factors.iter().zip(&mut sums) {
                    let sums = &mut sums[start..start + len];
                    match (lanes, factors.get(k + 1)) {
                        (2, Some(&second)) => {
                            for ((sum, a), b) in sums.iter_mut().zip(&row[0]).zip(&row[1]) {
                                *sum = (*sum + factors[k] * a) + second * b;
                            }
                        }
                        // A single row: the last one of an odd number, or a row in a layout without pairs.
                        _ => sums.iter_mut().zip(&row[0]).for_each(|(sum, a)| *sum += factors[k] * a),
                    }
                }
            }
        });
    });
    out.for_each_band_mut::<-1>(|mut rows| {
        let lanes = const { Band::<Matrix<M, N, C>, (), -1>::LANES };
        let [i, _] = rows.origin();
        rows.for_each_block_mut(|start, block| {
            for (j, elements) in block.chunks_exact_mut(lanes).enumerate() {
                for (sums, element) in sums[i..].iter().zip(elements) {
                    *element = bf16::from_f32(sums[start + j]);
                }
            }
        });
    });
}

/// Converts exactly: a bf16 is the upper half of an f32.
fn exact_f32(value: bf16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()) << 16)
}

/// `out = lhs · rhs` for buffers of any shape; the sizes are M, K and N.
///
/// Accessors look up positions in tables that are made once; `DynBuffer::get` would compute each position.
pub(crate) fn dynamic(
    lhs: &DynBuffer,
    rhs: &DynBuffer,
    out: &mut DynBuffer,
    [m, depth, n]: [usize; 3],
) -> Result<(), AccessError> {
    let (lhs, rhs, mut out) = (lhs.accessor::<Bf16>()?, rhs.accessor::<Bf16>()?, out.accessor_mut::<Bf16>()?);
    // An index out of bounds reads 0.
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

/// `out = lhs · rhs`, all row-major, without rounding the sums to bf16.
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
