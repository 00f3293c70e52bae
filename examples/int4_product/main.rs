//! A product with packed weights of four bits, and a scale for each column of each group of 64 rows.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin int4_product
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{GROUP, K, M, N, Scales, Weights, Words, X, Y, by_hand, product};
use std::error::Error;
use std::hint::black_box;
use xla_shape::element::S4;
use xla_shape::{Buffer, View, shape};
use xla_shape_examples::{Numbers, check, shortest_times};

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(6);
    let x = Buffer::<X>::from_fn(|_| numbers.number());
    let scales = Buffer::<Scales>::from_fn(|_| 0.1 + numbers.number().abs());
    let weights = Buffer::<Weights>::from_fn(|_| S4::new((7.9 * numbers.number()).round() as i8).unwrap_or_default());

    let q = weights.to_row_major();
    let plain = Buffer::<shape!(s4[K,N]{1,0:E(4)})>::from_fn(|[k, n]| q[k * N + n]);
    let mut y = Buffer::<Y>::zeroed();
    let (plain_x, plain_scales, mut slices) = (x.to_row_major(), scales.to_row_major(), vec![0.0; M * N]);
    let words = View::<Words>::from_bytes(weights.as_bytes())?;
    let plain = plain.as_bytes();
    let [hand, by_words] = shortest_times(
        200,
        [
            &mut || by_hand(black_box(&plain_x), black_box(plain), black_box(&plain_scales), black_box(&mut slices)),
            &mut || product(black_box(x.view()), black_box(words), black_box(scales.view()), black_box(y.view_mut())),
        ],
    );

    let element = |row: usize, column: usize| {
        let term =
            |k: usize| plain_x[row * K + k] * f32::from(q[k * N + column].get()) * plain_scales[k / GROUP * N + column];
        (0..K).map(term).sum()
    };
    let expected = (0..M * N).map(|i| element(i / N, i % N)).collect::<Vec<f32>>();
    println!("{} takes {} bytes", Weights::TEXT, Weights::BYTES);
    check("slices, by hand", &slices, &expected, 1e-5)?;
    check(Y::TEXT, &y.to_row_major(), &expected, 1e-5)?;
    println!("{:.0} µs by hand; words of eight weights take {:.2} of that", 1e6 * hand, by_words / hand);
    Ok(())
}
