//! The kernel, and the same computation by plain loops.

use xla_shape::{Buffer, View, shape};

/// The number of rows in each entry of the batch.
const POSITIONS: usize = 24;
pub(crate) const M: usize = 4 * POSITIONS;
pub(crate) const K: usize = 500;
pub(crate) const N: usize = 640;

pub(crate) type X = shape!(s8[M,K]{1,0:T(32,128)(4,1)});
pub(crate) type Weights = shape!(s8[K,N]{1,0:T(32,128)(4,1)});
type Sums = shape!(s32[M,N]{1,0:T(8,128)});
pub(crate) type Y = shape!(f32[M,N]{1,0:T(8,128)});
pub(crate) type RowScales = shape!(f32[M]);
pub(crate) type ColumnScales = shape!(f32[N]);

pub(crate) fn product(
    x: View<'_, X>,
    w: View<'_, Weights>,
    rows: View<'_, RowScales>,
    columns: View<'_, ColumnScales>,
) -> Buffer<Y> {
    let mut sums = Buffer::<Sums>::zeroed();
    sums.add_product(&x, &w);
    let mut y = sums.map::<Y>(|sum| sum as f32);
    y.apply_along::<0, _, _>(&rows, |y, scale| y * scale);
    y.apply_along::<-1, _, _>(&columns, |y, scale| y * scale);
    y
}

/// Plain loops over row-major slices.
pub(crate) fn by_loops(x: &[i8], w: &[i8], rows: &[f32], columns: &[f32]) -> Vec<f32> {
    let mut y = Vec::with_capacity(M * N);
    for (x, scale) in x.chunks_exact(K).zip(rows) {
        let mut sums = [0_i32; N];
        for (&x, w) in x.iter().zip(w.chunks_exact(N)) {
            sums.iter_mut().zip(w).for_each(|(sum, &w)| *sum += i32::from(x) * i32::from(w));
        }
        y.extend(sums.iter().zip(columns).map(|(&sum, column)| sum as f32 * scale * column));
    }
    y
}
