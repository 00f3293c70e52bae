//! The kernel, and the same computation by hand.

use xla_shape::element::F32;
use xla_shape::types::{Array, LayoutType, StaticDim};
use xla_shape::{View, ViewMut};

/// Adds each row of the middle dimension to the row of the result, in pieces that are contiguous in both arrays.
pub(crate) fn sum<B: StaticDim, S: StaticDim, D: StaticDim, L: LayoutType, R: LayoutType>(
    x: View<'_, Array<F32, (B, S, D), L>>,
    mut out: ViewMut<'_, Array<F32, (B, D), R>>,
) {
    out.fill(0.0);
    for b in 0..B::EXTENT {
        let mut sums = out.line_mut::<-1>([b, 0]).expect("a row of the result");
        for s in 0..S::EXTENT {
            sums.apply_with(&x.line::<-1>([b, s, 0]).expect("a row"), |sum, x| sum + x);
        }
    }
}

/// The same computation over slices of row-major memory.
pub(crate) fn by_hand(x: &[f32], out: &mut [f32], [rows, columns]: [usize; 2]) {
    out.fill(0.0);
    for (x, sums) in x.chunks_exact(rows * columns).zip(out.chunks_exact_mut(columns)) {
        for row in x.chunks_exact(columns) {
            sums.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
    }
}
