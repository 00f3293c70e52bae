//! A product of bytes with a scale for each row of activations and each column of weights, as quantized models have it.
//!
//! The sums are exact integers, and each is multiplied by its two scales once. The rows of all entries of a batch are rows of one product.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example int8_product
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use xla_shape::{Buffer, View, shape};
use xla_shape_examples::{Numbers, check};

/// The rows of an entry of the batch.
const POSITIONS: usize = 24;
const M: usize = 4 * POSITIONS;
const K: usize = 500;
const N: usize = 640;

type X = shape!(s8[M,K]{1,0:T(32,128)(4,1)});
type Weights = shape!(s8[K,N]{1,0:T(32,128)(4,1)});
type Sums = shape!(s32[M,N]{1,0:T(8,128)});
type Y = shape!(f32[M,N]{1,0:T(8,128)});
type RowScales = shape!(f32[M]);
type ColumnScales = shape!(f32[N]);

fn product(
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
fn by_loops(x: &[i8], w: &[i8], rows: &[f32], columns: &[f32]) -> Vec<f32> {
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

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(8);
    let x = Buffer::<X>::from_fn(|_| (128.0 * numbers.number()) as i8);
    let w = Buffer::<Weights>::from_fn(|_| (128.0 * numbers.number()) as i8);
    let rows = Buffer::<RowScales>::from_fn(|_| 0.1 + numbers.number().abs());
    let columns = Buffer::<ColumnScales>::from_fn(|_| 0.1 + numbers.number().abs());

    let (row_major, plain_weights) = (x.to_row_major(), w.to_row_major());
    let [mut ours, mut loops] = [f64::INFINITY; 2];
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for _ in 0..20 {
        let start = Instant::now();
        let y = product(black_box(&x).view(), w.view(), rows.view(), columns.view());
        ours = ours.min(start.elapsed().as_secs_f64());
        found = y.to_row_major();
        let start = Instant::now();
        expected = by_loops(black_box(&row_major), &plain_weights, rows.as_slice(), columns.as_slice());
        loops = loops.min(start.elapsed().as_secs_f64());
    }
    println!("{:.2} of the time of plain loops over row-major slices", ours / loops);
    check(Y::TEXT, &found, &expected, 1e-6)
}
