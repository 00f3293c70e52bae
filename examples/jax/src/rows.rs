//! Kernels for any number of rows of any length, which are divided among XLA's threads.

use crate::softmax_row;
use half::bf16;
use ndarray::linalg::general_mat_mul;
use ndarray::{ArrayView2, ArrayViewMut2};
use xla_shape::{View, ViewMut, shape};
use xla_shape_ffi::threads::ThreadPool;
use xla_shape_ffi::{kernel, math, multiversion};

pub(crate) type Rows = shape!(f32[rows,d]);

/// The number of rows of this length that a thread processes at a time: so many that scheduling takes little time in comparison.
fn band(len: usize) -> usize {
    16_384_usize.div_ceil(len.max(1))
}

// The closures below call these functions on XLA's threads. `multiversion!` compiles them for the vector instructions of the machine.
multiversion! {
    fn softmax_band(len: usize, rows: &[f32], results: &mut [f32]) {
        for (row, result) in rows.chunks_exact(len.max(1)).zip(results.chunks_exact_mut(len.max(1))) {
            softmax_row(row, result);
        }
    }

    fn layer_norm_band(rows: &[f32], gain: &[f32], results: &mut [f32], eps: f32) {
        let len = gain.len().max(1);
        for (row, result) in rows.chunks_exact(len).zip(results.chunks_exact_mut(len)) {
            let mean = math::sum(row) / len as f32;
            let variance = math::sum_by(row, |x| (x - mean) * (x - mean)) / len as f32;
            let factor = 1.0 / (variance + eps).sqrt();
            for ((result, x), gain) in result.iter_mut().zip(row).zip(gain) {
                *result = (x - mean) * factor * gain;
            }
        }
    }

    fn bf16_to_f32(values: &[bf16], results: &mut [f32]) {
        math::bf16_to_f32(values, results);
    }

    fn f32_to_bf16(values: &[f32], results: &mut [bf16]) {
        math::f32_to_bf16(values, results);
    }
}

/// A product of row-major matrices.
fn product(a: &[f32], b: &[f32], c: &mut [f32], [m, k, n]: [usize; 3]) {
    let matrix = |values, m, n| ArrayView2::from_shape((m, n), values).expect("as many values as the sizes say");
    let mut c = ArrayViewMut2::from_shape((m, n), c).expect("as many values as the sizes say");
    general_mat_mul(1.0, &matrix(a, m, k), &matrix(b, k, n), 0.0, &mut c);
}

kernel! {
    /// Softmax of each row, for any number of rows of any length.
    ///
    /// Rows are independent, so a mesh may divide them, and `vmap` may add rows.
    pub(crate) fn softmax_of_rows(pool: ThreadPool<'_>, x: View<'_, Rows>, mut y: ViewMut<'_, Rows>)
    where batch(rows)
    {
        let [_, len] = x.sizes();
        pool.zip_rows(&x, &mut y, band(len), |_, rows, results| softmax_band(len, rows, results));
    }

    /// Layer norm: each row minus its mean, divided by its standard deviation, times a gain.
    pub(crate) fn layer_norm_of_rows(
        pool: ThreadPool<'_>,
        x: View<'_, shape!(f32[rows,d])>,
        gain: View<'_, shape!(f32[d])>,
        mut y: ViewMut<'_, shape!(f32[rows,d])>,
        eps: f32 = 1e-5,
    )
    where batch(rows)
    {
        let gain = gain.as_slice();
        pool.zip_rows(&x, &mut y, band(gain.len()), |_, rows, results| layer_norm_band(rows, gain, results, eps));
    }

    /// A matrix product of bf16 with sums in f32, by the crate `matrixmultiply` through `ndarray`.
    pub(crate) fn matmul_of_any(
        pool: ThreadPool<'_>,
        a: View<'_, shape!(bf16[m,k])>,
        b: View<'_, shape!(bf16[k,n])>,
        mut c: ViewMut<'_, shape!(bf16[m,n])>,
    )
    where batch(m)
    {
        let ([m, k], [_, n]) = (a.sizes(), b.sizes());
        let (b, mut b_values) = (b.as_slice(), vec![0.0; k * n]);
        pool.for_each_chunk(&mut b_values, 1 << 16, |i, values| bf16_to_f32(&b[i << 16..][..values.len()], values));
        // One part for each thread, because each thread packs the second matrix for itself.
        let band = m.div_ceil(pool.num_threads()).max(32).next_multiple_of(8);
        pool.zip_rows(&a, &mut c, band, |_, a, results| {
            let sizes @ [m, k, n] = [results.len() / n.max(1), k, n];
            let (mut a_values, mut sums) = (vec![0.0; m * k], vec![0.0; m * n]);
            bf16_to_f32(a, &mut a_values);
            product(&a_values, &b_values, &mut sums, sizes);
            f32_to_bf16(&sums, results);
        });
    }
}
