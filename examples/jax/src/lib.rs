//! Kernels over typed shapes, called from JAX: `run.py` shows them at work, `test_kernels.py` tests them.

mod kinds;

use half::slice::HalfFloatSliceExt;
use xla_shape::element::F32;
use xla_shape::{DynView, DynViewMut, View, ViewMut, dispatch, hlo_types, permutation, shape};
use xla_shape_ffi::threads::ThreadPool;
use xla_shape_ffi::{Error, export, kernel};

hlo_types! {
    /// `tanh(x + state @ weights)`, as XLA compiled it for CPU.
    mod recurrent_step = "hlo/recurrent_step.hlo";
}

/// The largest number, the others less it as powers of e, and their sum.
fn softmax_row(row: &[f32], result: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for (result, &x) in result.iter_mut().zip(row) {
        *result = (x - largest).exp();
        sum += *result;
    }
    result.iter_mut().for_each(|result| *result /= sum);
}

/// Any number of rows of N.
type Rows<const N: usize> = shape!(f32[?,N]);

fn softmax_of_rows<const N: usize>(x: View<'_, Rows<N>>, mut y: ViewMut<'_, Rows<N>>) {
    for (row, result) in x.as_slice().chunks_exact(N).zip(y.as_mut_slice().chunks_exact_mut(N)) {
        softmax_row(row, result);
    }
}

fn softmax_by_index(x: DynView<'_>, mut y: DynViewMut<'_>) -> Result<(), Error> {
    // A scalar is a row of one.
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

kernel! {
    /// Softmax of each row.
    fn softmax(x: View<'_, shape!(f32[256,512])>, mut y: ViewMut<'_, shape!(f32[256,512])>) {
        for (row, result) in x.as_slice().chunks_exact(512).zip(y.as_mut_slice().chunks_exact_mut(512)) {
            softmax_row(row, result);
        }
    }

    /// Softmax over the last dimension of an array of any shape: by the kernel above for its shape, by another one for rows
    /// of 128, however many, and by a third for all others.
    fn softmax_of_any(x: DynView<'_>, y: DynViewMut<'_>) -> Result<(), Error> {
        if x.shape() != y.shape() {
            let message = format!("expected a result like the operand, {}, found {}", x.shape(), y.shape());
            return Err(Error::invalid_argument(message));
        }
        dispatch!(match x, y {
            (shape!(f32[256,512]), shape!(f32[256,512])) => softmax(x, y),
            (Rows<128>, Rows<128>) => softmax_of_rows::<128>(x, y),
            _ => return softmax_by_index(x, y),
        });
        Ok(())
    }

    /// Each row less its mean, divided by its standard deviation, times a gain.
    fn layer_norm(
        x: View<'_, shape!(f32[128,256])>,
        gain: View<'_, shape!(f32[256])>,
        mut y: ViewMut<'_, shape!(f32[128,256])>,
        eps: f32,
    ) -> Result<(), Error> {
        if eps.is_nan() || eps < 0.0 {
            return Err(Error::invalid_argument(format!("expected an eps of at least 0, found {eps}")));
        }
        let gain = gain.as_slice();
        for (row, result) in x.as_slice().chunks_exact(256).zip(y.as_mut_slice().chunks_exact_mut(256)) {
            let mean = row.iter().sum::<f32>() / 256.0;
            let variance = row.iter().map(|x| (x - mean) * (x - mean)).sum::<f32>() / 256.0;
            let factor = 1.0 / (variance + eps).sqrt();
            for ((result, x), gain) in result.iter_mut().zip(row).zip(gain) {
                *result = (x - mean) * factor * gain;
            }
        }
        Ok(())
    }

    /// A transposed array. Column by column, the operand is the result row by row: the compiler has checked it.
    fn transpose(x: View<'_, shape!(f32[256,128]{0,1})>, mut y: ViewMut<'_, shape!(f32[128,256])>) {
        let x: View<'_, shape!(f32[128,256])> = x.transpose(permutation![1, 0]);
        y.as_mut_slice().copy_from_slice(x.as_slice());
    }

    /// A matrix product of bf16, summed in f32, with rows shared out to XLA's threads.
    fn matmul(
        pool: ThreadPool<'_>,
        a: View<'_, shape!(bf16[64,128])>,
        b: View<'_, shape!(bf16[128,256])>,
        mut c: ViewMut<'_, shape!(bf16[64,256])>,
    ) {
        let (mut a_values, mut b_values) = (vec![0.0_f32; 64 * 128], vec![0.0_f32; 128 * 256]);
        a.as_slice().convert_to_f32_slice(&mut a_values);
        b.as_slice().convert_to_f32_slice(&mut b_values);
        pool.for_each_chunk(c.as_mut_slice(), 8 * 256, |number, rows| {
            let a_rows = a_values[8 * 128 * number..].chunks_exact(128);
            for (row, a_row) in rows.chunks_exact_mut(256).zip(a_rows) {
                // As many sums as registers hold, each of one column.
                for (columns, first) in row.chunks_exact_mut(32).zip((0..256).step_by(32)) {
                    let mut sums = [0.0_f32; 32];
                    for (x, b_row) in a_row.iter().zip(b_values.chunks_exact(256)) {
                        for (sum, y) in sums.iter_mut().zip(&b_row[first..first + 32]) {
                            *sum += x * y;
                        }
                    }
                    columns.convert_from_f32_slice(&sums);
                }
            }
        });
    }

    /// Packed integers of four bits, times the scale of their column.
    fn dequantize(
        q: View<'_, shape!(s4[128,64]{1,0:E(4)})>,
        scale: View<'_, shape!(f32[64])>,
        mut y: ViewMut<'_, shape!(f32[128,64])>,
    ) {
        for i in 0..128 {
            for j in 0..64 {
                let value: i8 = q.get([i, j]).unwrap_or_default().into();
                y[[i, j]] = f32::from(value) * scale[[j]];
            }
        }
    }

    /// What the program of `hlo/recurrent_step.hlo` computes, compiled against its shapes.
    fn step(
        state: View<'_, recurrent_step::Parameter0>,
        x: View<'_, recurrent_step::Parameter1>,
        weights: View<'_, recurrent_step::Parameter2>,
        mut result: ViewMut<'_, recurrent_step::Result>,
    ) {
        result.fill_with(|[i, j]| {
            let product: f32 = (0..64).map(|k| state[[i, k]] * weights[[k, j]]).sum();
            (x[[i, j]] + product).tanh()
        });
    }

    /// Adds what is in a list to every element, in an array of rows of four, and says which attributes it got.
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

    /// Does not do its work.
    fn fail(x: View<'_, shape!(f32[4])>, mut y: ViewMut<'_, shape!(f32[4])>) {
        y[[0]] = 1.0;
        panic!("the first element is {}", x[[0]]);
    }
}

export![
    softmax,
    softmax_of_any,
    layer_norm,
    transpose,
    matmul,
    dequantize,
    step,
    add_all,
    fail,
    kinds::attributes,
    kinds::copy,
    kinds::expect_positive,
    kinds::fail_on_threads,
    kinds::first,
    kinds::rotate,
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
