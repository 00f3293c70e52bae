//! Softmax of each row, with one kernel for all layouts.
//!
//! The kernel iterates over bands: rows whose elements alternate in memory. That is one row of `T(8,128)`, two of `T(8,128)(2,1)`, and 128
//! of a column-major array. Each row of a band is a lane, with sums of its own.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin row_softmax
//! ```

#![forbid(unsafe_code)]

use half::bf16;
use std::error::Error;
use xla_shape::element::{Bf16, F32};
use xla_shape::types::{ArrayType, StaticArray};
use xla_shape::{Buffer, ViewMut, shape};
use xla_shape_examples::{Numbers, check};

fn softmax<S: ArrayType<Element = F32>>(mut x: ViewMut<'_, S>) {
    x.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, f32::max, f32::max);
        rows.apply(&max, |x, max| (x - max).exp());
        let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&sum.map(f32::recip), |x, factor| x * factor);
    });
}

/// The same kernel in bf16, with sums in f32.
fn softmax_bf16<S: ArrayType<Element = Bf16>>(mut x: ViewMut<'_, S>) {
    x.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, |max, x| max.max(x.to_f32()), f32::max);
        rows.apply(&max, |x, max| bf16::from_f32((x.to_f32() - max).exp()));
        let sum = rows.fold(0.0, |sum, x| sum + x.to_f32(), |a, b| a + b);
        rows.apply(&sum.map(f32::recip), |x, factor| bf16::from_f32(x.to_f32() * factor));
    });
}

/// The definition, on row-major arrays.
fn expected(x: &[f32], columns: usize) -> Vec<f32> {
    let softmax_of_row = |row: &[f32]| {
        let sum = row.iter().map(|x| x.exp()).sum::<f32>();
        row.iter().map(|x| x.exp() / sum).collect::<Vec<_>>()
    };
    x.chunks(columns).flat_map(softmax_of_row).collect()
}

fn run<S: StaticArray<Element = F32, Index = [usize; 2]>>() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(1);
    let mut x = Buffer::<S>::from_fn(|_| 4.0 * numbers.number());
    let expected = expected(&x.to_row_major(), S::SIZES[1]);
    softmax(x.view_mut());
    check(S::TEXT, &x.to_row_major(), &expected, 1e-5)
}

fn main() -> Result<(), Box<dyn Error>> {
    run::<shape!(f32[100,200]{1,0:T(8,128)})>()?;
    run::<shape!(f32[100,200]{0,1:T(8,128)})>()?;
    run::<shape!(f32[100,200])>()?;
    run::<shape!(f32[100,200]{0,1})>()?;

    let mut numbers = Numbers::new(2);
    type Pairs = shape!(bf16[100,200]{1,0:T(8,128)(2,1)});
    let mut x = Buffer::<Pairs>::from_fn(|_| bf16::from_f32(4.0 * numbers.number()));
    let values = |x: &Buffer<Pairs>| x.to_row_major().into_iter().map(bf16::to_f32).collect::<Vec<_>>();
    let expected = expected(&values(&x), 200);
    softmax_bf16(x.view_mut());
    check(Pairs::TEXT, &values(&x), &expected, 1.0 / 128.0)
}
