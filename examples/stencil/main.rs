//! A stencil of 27 points, `out[z,y,x] = Σ in[z±1,y±1,x±1]`, with the nearest element in place of elements outside the array. Computed by rows of a
//! row-major array, by windows of a tiled array, and by hand over rows of fixed size.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin stencil
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{RowMajor, Tiled, X, Y, Z, by_hand, by_rows, by_windows};
use std::error::Error;
use std::hint::black_box;
use xla_shape::Buffer;
use xla_shape_examples::{Numbers, check, shortest_times};

/// The definition, in f64.
fn expected(x: &Buffer<RowMajor>) -> Vec<f32> {
    let near = |i: usize, shift: usize, size: usize| (i + shift).saturating_sub(1).min(size - 1);
    let element = |[z, y, x_]: [usize; 3]| {
        let term = |k: usize| f64::from(x[[near(z, k / 9, Z), near(y, k / 3 % 3, Y), near(x_, k % 3, X)]]);
        (0..27).map(term).sum::<f64>() as f32
    };
    x.indexed_iter().map(|(index, _)| element(index)).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(6);
    let x = Buffer::<RowMajor>::from_fn(|_| numbers.number());
    let tiled = x.map::<Tiled>(|x| x);
    let expected = expected(&x);
    let (mut rows, mut windows) = (Buffer::<RowMajor>::zeroed(), Buffer::<Tiled>::zeroed());
    let mut slices = vec![0.0; Z * Y * X];
    let mut done = Ok(());
    let [hand, by_rows, by_windows] = shortest_times(
        60,
        [
            &mut || by_hand(black_box(x.as_slice()), black_box(&mut slices)),
            &mut || by_rows(black_box(x.view()), black_box(rows.view_mut())),
            &mut || {
                let result = by_windows(black_box(tiled.view()), black_box(windows.view_mut()));
                done = done.and(result);
            },
        ],
    );
    done?;
    check("arrays, by hand", &slices, &expected, 1e-6)?;
    check("rows of a row-major array", &rows.to_row_major(), &expected, 1e-6)?;
    check("windows of an array in tiles", &windows.to_row_major(), &expected, 1e-6)?;
    println!("{:.2} ns per element by hand", 1e9 * hand / (Z * Y * X) as f64);
    println!("rows take {:.2} of the time by hand, windows {:.2}", by_rows / hand, by_windows / hand);
    Ok(())
}
