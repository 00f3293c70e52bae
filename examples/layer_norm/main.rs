//! Layer normalisation: each row gets mean 0 and variance 1; then each column is multiplied by a factor, and a summand is added.
//!
//! The factors are in a second array. The compiler checks that it can be broadcast along the rows of `x`.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin layer_norm
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use xla_shape::element::F32;
use xla_shape::infer::{Operation, assert_result};
use xla_shape::iter::Band;
use xla_shape::types::StaticArray;
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check};

const EPSILON: f32 = 1e-5;

/// The kernel for all layouts of two dimensions; factors and summands are contiguous.
fn layer_norm<S, C>(mut x: ViewMut<'_, S>, factors: View<'_, C>, summands: View<'_, C>)
where
    S: StaticArray<Element = F32, Index = [usize; 2]>,
    C: StaticArray<Element = F32, Index = [usize; 1]>,
{
    const { assert_result::<(C,), S>(Operation::Broadcast { dimensions: &[1] }) };
    let columns = S::SIZES[1] as f32;
    let (factors, summands) = (factors.as_slice(), summands.as_slice());
    x.for_each_band_mut::<-1>(|mut rows| {
        let sum = rows.fold_lanes([0.0; 128], |sum, x| sum + x, |a, b| a + b);
        rows.apply_lanes(sum.map(|sum| sum / columns), |x, mean| x - mean);
        let squares = rows.fold_lanes([0.0; 128], |sum, x| sum + x * x, |a, b| a + b);
        rows.apply_lanes(squares.map(|sum| (sum / columns + EPSILON).sqrt().recip()), |x, factor| x * factor);
        // A block is stored column by column, with one element of each row of the band.
        rows.for_each_block_mut(|column, block| {
            let columns = factors[column..].iter().zip(&summands[column..]);
            for (elements, (factor, summand)) in block.chunks_exact_mut(Band::<S, (), -1>::LANES).zip(columns) {
                elements.iter_mut().for_each(|x| *x = *x * factor + summand);
            }
        });
    });
}

/// The definition, on row-major arrays.
fn expected(x: &[f32], factors: &[f32], summands: &[f32]) -> Vec<f32> {
    let row = |row: &[f32]| {
        let mean = row.iter().sum::<f32>() / row.len() as f32;
        let variance = row.iter().map(|x| (x - mean).powi(2)).sum::<f32>() / row.len() as f32;
        let columns = row.iter().zip(factors.iter().zip(summands));
        columns
            .map(|(x, (factor, summand))| (x - mean) / (variance + EPSILON).sqrt() * factor + summand)
            .collect::<Vec<_>>()
    };
    x.chunks(factors.len()).flat_map(row).collect()
}

fn run<S: StaticArray<Element = F32, Index = [usize; 2]>>() -> Result<(), Box<dyn Error>> {
    type Columns = shape!(f32[200]);
    let mut numbers = Numbers::new(3);
    let mut x = Buffer::<S>::from_fn(|[row, _]| row as f32 + 5.0 * numbers.number());
    let factors = Buffer::<Columns>::from_fn(|_| numbers.number());
    let summands = Buffer::<Columns>::from_fn(|_| numbers.number());
    let expected = expected(&x.to_row_major(), factors.as_slice(), summands.as_slice());
    layer_norm(x.view_mut(), factors.view(), summands.view());
    check(S::TEXT, &x.to_row_major(), &expected, 1e-4)
}

fn main() -> Result<(), Box<dyn Error>> {
    run::<shape!(f32[60,200]{1,0:T(8,128)})>()?;
    run::<shape!(f32[60,200]{1,0:T(8,128)(2,1)})>()?;
    run::<shape!(f32[60,200]{0,1:T(8,128)})>()?;
    run::<shape!(f32[60,200])>()
}
