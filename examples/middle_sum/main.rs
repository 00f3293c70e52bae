//! A reduction over the middle dimension, `out[b,d] = Σ x[b,s,d]`, of arrays in tiles and in row-major order with the same code. Compared with
//! plain loops over row-major slices.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin middle_sum
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{by_hand, sum};
use std::error::Error;
use std::hint::black_box;
use xla_shape::element::F32;
use xla_shape::types::{Array, Size, StaticDim};
use xla_shape::{Buffer, layout, shape};
use xla_shape_examples::{Numbers, check, shortest_times};

/// The definition, in f64.
fn expected<B: StaticDim, S: StaticDim, D: StaticDim>(x: &[f32]) -> Vec<f32> {
    let element = |i: usize| {
        let (b, d) = (i / D::EXTENT, i % D::EXTENT);
        (0..S::EXTENT).map(|s| f64::from(x[(b * S::EXTENT + s) * D::EXTENT + d])).sum::<f64>() as f32
    };
    (0..B::EXTENT * D::EXTENT).map(element).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    type RowMajor = shape!(f32[16,100,512]);
    type Tiled = shape!(f32[16,100,512]{2,1,0:T(8,128)});
    type Sums<L> = Array<F32, (Size<16>, Size<512>), L>;
    let mut numbers = Numbers::new(7);
    let x = Buffer::<RowMajor>::from_fn(|_| numbers.number());
    let tiled = x.map::<Tiled>(|x| x);
    let mut slices = vec![0.0; 16 * 512];
    let mut plain = Buffer::<Sums<layout!({1,0})>>::zeroed();
    let mut tiles = Buffer::<Sums<layout!({1,0:T(8,128)})>>::zeroed();
    let [hand, by_rows, by_tiles] = shortest_times(
        200,
        [
            &mut || by_hand(black_box(x.as_slice()), black_box(&mut slices), black_box([100, 512])),
            &mut || sum(black_box(x.view()), black_box(plain.view_mut())),
            &mut || sum(black_box(tiled.view()), black_box(tiles.view_mut())),
        ],
    );
    let expected = expected::<Size<16>, Size<100>, Size<512>>(x.as_slice());
    check("slices, by hand", &slices, &expected, 1e-5)?;
    check("row-major", &plain.to_row_major(), &expected, 1e-5)?;
    check("in tiles", &tiles.to_row_major(), &expected, 1e-5)?;
    println!("{:.3} ns per element by hand", 1e9 * hand / (16.0 * 100.0 * 512.0));
    println!("row-major takes {:.2} of the time by hand, tiles {:.2}", by_rows / hand, by_tiles / hand);
    Ok(())
}
