//! Kernels over typed shapes, called from JAX: `run.py` runs them, `test_kernels.py` tests them.

mod kinds;
mod rows;

use half::bf16;
use rows::{Rows, softmax_of_rows};
use xla_shape::element::F32;
use xla_shape::relayout::StaticPlan;
use xla_shape::{DynView, DynViewMut, View, ViewMut, dispatch, hlo_types, permutation, shape};
use xla_shape_ffi::threads::ThreadPool;
use xla_shape_ffi::{Error, export, kernel, math, multiversion};

hlo_types! {
    /// `tanh(x + state @ weights)`, as XLA has compiled it for CPU.
    mod recurrent_step = "hlo/recurrent_step.hlo";
}

/// The softmax: `exp(x - max)` for each number, divided by the sum of these.
#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the vectors of the kernel that calls it")]
fn softmax_row(row: &[f32], result: &mut [f32]) {
    let largest = math::max(row);
    for (result, x) in result.iter_mut().zip(row) {
        *result = math::exp(x - largest);
    }
    let factor = 1.0 / math::sum(result);
    result.iter_mut().for_each(|result| *result *= factor);
}

fn softmax_by_index(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error> {
    // A scalar is a row of one element.
    let len = x.shape().dimensions().last().map_or(Some(1), |dimension| dimension.extent());
    let Some(len) = len.filter(|&len| len > 0) else { return Ok(()) };
    let len = len as usize;
    let (x, mut result) = (x.to_row_major::<F32>()?, vec![0.0; len]);
    let mut rows = x.chunks_exact(len);
    let mut at = len;
    y.fill_with::<F32>(|_| {
        if at == len {
            softmax_row(rows.next().unwrap_or_default(), &mut result);
            at = 0;
        }
        at += 1;
        result[at - 1]
    })?;
    Ok(())
}

multiversion! {
    /// Converts a row to f32.
    fn convert(row: &[bf16], result: &mut [f32]) {
        math::bf16_to_f32(row, result);
    }

    /// Rows of a product with 256 columns. The closure that runs on XLA's threads calls this function, which `multiversion!` compiles for the
    /// machine's vector instructions.
    fn product(a: &[bf16], b: &[f32], result: &mut [bf16]) {
        if math::has_mul_add() {
            product_with(a, b, result, f32::mul_add);
        } else {
            product_with(a, b, result, |x, y, sum| x * y + sum);
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "compiled for the vectors of the function that calls it")]
fn product_with(a: &[bf16], b: &[f32], result: &mut [bf16], mul_add: impl Fn(f32, f32, f32) -> f32) {
    let mut a_rows = [0.0_f32; 4 * 128];
    for (rows, a) in result.chunks_exact_mut(4 * 256).zip(a.chunks_exact(4 * 128)) {
        math::bf16_to_f32(a, &mut a_rows);
        // Some columns at a time, so that their sums fit into registers.
        for first in (0..256).step_by(32) {
            let mut sums = [[0.0_f32; 32]; 4];
            for (k, b_row) in b.chunks_exact(256).take(128).enumerate() {
                let b_row: &[f32; 32] = b_row[first..].first_chunk().expect("rows of 256");
                for (i, sums) in sums.iter_mut().enumerate() {
                    let x = a_rows[128 * i + k];
                    for (sum, &y) in sums.iter_mut().zip(b_row) {
                        *sum = mul_add(x, y, *sum);
                    }
                }
            }
            for (row, sums) in rows.chunks_exact_mut(256).zip(&sums) {
                math::f32_to_bf16(sums, &mut row[first..first + 32]);
            }
        }
    }
}

kernel! {
    /// Softmax of each row.
    fn softmax(x: View<'_, shape!(f32[256,512])>, mut y: ViewMut<'_, shape!(f32[256,512])>)
    where multiversion
    {
        for (row, result) in x.as_slice().chunks_exact(512).zip(y.as_mut_slice().chunks_exact_mut(512)) {
            softmax_row(row, result);
        }
    }

    /// Softmax over the last dimension of an array of any shape. Uses the kernel above for its own shape, a second one for arrays in rows, and a
    /// third one for all others.
    fn softmax_of_any(pool: ThreadPool<'_>, x: DynView<'_>, y: DynViewMut<'_>) -> Result<(), Error>
    where batch(...)
    {
        if x.shape() != y.shape() {
            let message = format!("expected a result like the operand, {}, found {}", x.shape(), y.shape());
            return Err(Error::invalid_argument(message));
        }
        dispatch!(match x, y {
            (shape!(f32[256,512]), shape!(f32[256,512])) => softmax(x, y),
            (Rows, Rows) => softmax_of_rows(pool, x, y),
            _ => return softmax_by_index(x, y),
        });
        Ok(())
    }

    /// Layer norm: each row minus its mean, divided by its standard deviation, times a gain.
    fn layer_norm(
        x: View<'_, shape!(f32[128,256])>,
        gain: View<'_, shape!(f32[256])>,
        mut y: ViewMut<'_, shape!(f32[128,256])>,
        eps: f32,
    ) -> Result<(), Error>
    where multiversion
    {
        if eps.is_nan() || eps < 0.0 {
            return Err(Error::invalid_argument(format!("expected an eps of at least 0, found {eps}")));
        }
        let gain = gain.as_slice();
        for (row, result) in x.as_slice().chunks_exact(256).zip(y.as_mut_slice().chunks_exact_mut(256)) {
            let mean = math::sum(row) / 256.0;
            let variance = math::sum_by(row, |x| (x - mean) * (x - mean)) / 256.0;
            let factor = 1.0 / (variance + eps).sqrt();
            for ((result, x), gain) in result.iter_mut().zip(row).zip(gain) {
                *result = (x - mean) * factor * gain;
            }
        }
        Ok(())
    }

    /// A transposed array. With its dimensions exchanged, the operand is an array in another layout, which the library copies.
    fn transpose(x: View<'_, shape!(f32[256,128])>, mut y: ViewMut<'_, shape!(f32[128,256])>) {
        let x: View<'_, shape!(f32[128,256]{0,1})> = x.transpose(permutation![1, 0]);
        StaticPlan::shared().run(&x, &mut y);
    }

    /// A matrix product of bf16 with sums in f32; the rows are divided among XLA's threads.
    fn matmul(
        pool: ThreadPool<'_>,
        a: View<'_, shape!(bf16[64,128])>,
        b: View<'_, shape!(bf16[128,256])>,
        mut c: ViewMut<'_, shape!(bf16[64,256])>,
    ) {
        let mut b_values = vec![0.0_f32; 128 * 256];
        convert(b.as_slice(), &mut b_values);
        pool.zip_rows(&a, &mut c, 32, |_, a, rows| product(a, &b_values, rows));
    }

    /// Packed 4-bit integers, each times the scale of its column.
    fn dequantize(
        q: View<'_, shape!(s4[128,64]{1,0:E(4)})>,
        scale: View<'_, shape!(f32[64])>,
        mut y: ViewMut<'_, shape!(f32[128,64])>,
    )
    where multiversion
    {
        for (bytes, row) in q.as_bytes().chunks_exact(32).zip(y.as_mut_slice().chunks_exact_mut(64)) {
            math::s4_to_f32(bytes, row);
            for (y, scale) in row.iter_mut().zip(scale.as_slice()) {
                *y *= scale;
            }
        }
    }

    /// The same computation as the program `hlo/recurrent_step.hlo`, compiled against its shapes.
    fn step(
        state: View<'_, recurrent_step::Parameter0>,
        x: View<'_, recurrent_step::Parameter1>,
        weights: View<'_, recurrent_step::Parameter2>,
        mut result: ViewMut<'_, recurrent_step::Result>,
    )
    where multiversion
    {
        let rows = state.as_slice().chunks_exact(64).zip(x.as_slice().chunks_exact(64));
        for ((state, x), result) in rows.zip(result.as_mut_slice().chunks_exact_mut(64)) {
            let mut sums = [0.0_f32; 64];
            sums.copy_from_slice(x);
            for (state, weights) in state.iter().zip(weights.as_slice().chunks_exact(64)) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += state * weight;
                }
            }
            for (result, sum) in result.iter_mut().zip(sums) {
                *result = math::tanh(sum);
            }
        }
    }

    /// Adds the numbers of a list to every element of an array with rows of four, and returns which attributes it got.
    fn add_all(
        x: View<'_, shape!(f32[?,4])>,
        mut y: ViewMut<'_, shape!(f32[?,4])>,
        numbers: Vec<f64>,
        times: i32,
        negative: bool,
        mode: &str,
    ) -> Result<(), Error> {
        let sign = if negative { -1.0 } else { 1.0 };
        let sum = numbers.iter().sum::<f64>() * f64::from(times) * sign;
        if mode != "sum" {
            return Err(Error::invalid_argument(format!("expected mode \"sum\", found {mode:?}")));
        }
        y.fill_with(|index| x.get(index).unwrap_or_default() + sum as f32);
        Ok(())
    }

    /// Returns an error or panics.
    fn fail(x: View<'_, shape!(f32[4])>, mut y: ViewMut<'_, shape!(f32[4])>) {
        y[[0]] = 1.0;
        panic!("the first element is {}", x[[0]]);
    }
}

export![
    softmax,
    softmax_of_any,
    softmax_of_rows,
    rows::layer_norm_of_rows,
    rows::matmul_of_any,
    layer_norm,
    transpose,
    matmul,
    dequantize,
    step,
    add_all,
    fail,
    kinds::add_one,
    kinds::attributes,
    kinds::call_four,
    kinds::call_four_static,
    kinds::call_one,
    kinds::call_one_static,
    kinds::copy,
    kinds::expect_positive,
    kinds::fail_on_threads,
    kinds::first,
    kinds::gram,
    kinds::options,
    kinds::rotate,
    kinds::scale_rows,
    kinds::total,
    kinds::row_major_pred,
    kinds::row_major_s2,
    kinds::row_major_s4,
    kinds::row_major_s8,
    kinds::row_major_s16,
    kinds::row_major_s32,
    kinds::row_major_s64,
    kinds::row_major_u2,
    kinds::row_major_u4,
    kinds::row_major_u8,
    kinds::row_major_u16,
    kinds::row_major_u32,
    kinds::row_major_u64,
    kinds::row_major_f16,
    kinds::row_major_bf16,
    kinds::row_major_f32,
    kinds::row_major_f64,
    kinds::row_major_c64,
    kinds::row_major_c128,
    kinds::row_major_f4e2m1fn,
    kinds::row_major_f8e3m4,
    kinds::row_major_f8e4m3,
    kinds::row_major_f8e4m3b11fnuz,
    kinds::row_major_f8e4m3fn,
    kinds::row_major_f8e4m3fnuz,
    kinds::row_major_f8e5m2,
    kinds::row_major_f8e5m2fnuz,
    kinds::row_major_f8e8m0fnu,
];
