//! A product of bytes with a scale for each row of activations and each column of weights, as in quantized models.
//!
//! The sums are exact integers, and each is multiplied by its two scales once. The rows of all entries of a batch are rows of one product.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin int8_product
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{ColumnScales, RowScales, Weights, X, Y, by_loops, product};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;
use xla_shape::Buffer;
use xla_shape_examples::{Numbers, check};

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
