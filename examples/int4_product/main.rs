//! A product with packed weights of four bits, and a scale for each column of each group of 64 rows.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example int4_product
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use xla_shape::element::S4;
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check};

/// The number of rows that share their scales.
const GROUP: usize = 64;
const M: usize = 10;
const K: usize = 4 * GROUP;
const N: usize = 256;

type X = shape!(f32[M,K]{1,0:T(8,128)});
/// XLA's layout on TPU: each 32-bit word holds elements of eight rows of a tile.
type Weights = shape!(s4[K,N]{1,0:T(8,128)(8,1)E(4)});
type Scales = shape!(f32[K / GROUP, N]{1,0:T(4,128)});
/// The weights as f32.
type Numeric = shape!(f32[K,N]{1,0:T(8,128)});
type Y = shape!(f32[M,N]{1,0:T(8,128)});

const _: () = assert_result::<(Weights,), Numeric>(Operation::Convert);
const _: () = assert_result::<(X, Numeric), Y>(Operation::Dot(DotDimensions::MATRICES));
const _: () = assert!(Weights::BYTES * 8 == Numeric::BYTES, "four bits instead of 32");

/// The product, which reads the weights in the order of memory, for any layout.
fn dequantize(weights: View<'_, Weights>, scales: View<'_, Scales>, mut out: ViewMut<'_, Numeric>) {
    weights.for_each_indexed(|[row, column], weight| {
        out[[row, column]] = f32::from(weight.get()) * scales[[row / GROUP, column]];
    });
}

fn product(x: View<'_, X>, weights: View<'_, Numeric>, mut y: ViewMut<'_, Y>) {
    for row in 0..M {
        let mut sums = [0.0; N];
        for k in 0..K {
            let factor = x[[row, k]];
            let Some(line) = weights.line::<-1>([k, 0]) else { continue };
            line.for_each_run(|start, run| {
                sums[start..].iter_mut().zip(run.iter()).for_each(|(sum, weight)| *sum += factor * weight);
            });
        }
        if let Some(mut line) = y.line_mut::<-1>([row, 0]) {
            line.for_each_run_mut(|start, mut run| {
                run.iter_mut().zip(&sums[start..]).for_each(|(value, sum)| *value = *sum);
            });
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(6);
    let x = Buffer::<X>::from_fn(|_| numbers.number());
    let scales = Buffer::<Scales>::from_fn(|_| 0.1 + numbers.number().abs());
    let weights = Buffer::<Weights>::from_fn(|_| S4::new((7.9 * numbers.number()).round() as i8).unwrap_or_default());

    let mut numeric = Buffer::<Numeric>::zeroed();
    dequantize(weights.view(), scales.view(), numeric.view_mut());
    let mut y = Buffer::<Y>::zeroed();
    product(x.view(), numeric.view(), y.view_mut());

    let (x, q, scales) = (x.to_row_major(), weights.to_row_major(), scales.to_row_major());
    let element = |row: usize, column: usize| {
        let term = |k: usize| x[row * K + k] * f32::from(q[k * N + column].get()) * scales[k / GROUP * N + column];
        (0..K).map(term).sum()
    };
    let expected = (0..M * N).map(|i| element(i / N, i % N)).collect::<Vec<f32>>();
    println!("{} takes {} bytes", Weights::TEXT, Weights::BYTES);
    check(Y::TEXT, &y.to_row_major(), &expected, 1e-5)
}
