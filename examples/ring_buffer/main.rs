//! Attention of one new position over the last ones. Their keys and values are in a ring of pages, and the beginning and the end of the window are
//! known only at run time. The results are compared with the same loops over slices.
//!
//! The keys of a page are transposed, so that neighbouring positions are adjacent in memory, and both loops go along lines.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin ring_buffer
//! ```

#![forbid(unsafe_code)]

mod kernel;

use kernel::{CAPACITY, D, Ring, by_hand};
use std::error::Error;
use std::hint::black_box;
use xla_shape::Buffer;
use xla_shape_examples::{Numbers, check, shortest_times};

/// The definition, in f64, over the keys and values of the window's positions.
fn expected(keys: &[[f32; D]], values: &[[f32; D]], query: &[f32; D]) -> Vec<f32> {
    let dot = |key: &[f32; D]| key.iter().zip(query).map(|(a, b)| f64::from(a * b)).sum::<f64>() / (D as f64).sqrt();
    let weights = keys.iter().map(|key| dot(key).exp()).collect::<Vec<_>>();
    let total = weights.iter().sum::<f64>();
    let element = |d: usize| weights.iter().zip(values).map(|(w, value)| w / total * f64::from(value[d])).sum::<f64>();
    (0..D).map(|d| element(d) as f32).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(8);
    let mut vectors = |count: usize| (0..count).map(|_| [(); D].map(|()| numbers.number())).collect::<Vec<_>>();
    // The ring is filled more than twice, and its last page is not full.
    let (keys, values) = (vectors(2 * CAPACITY + 300), vectors(2 * CAPACITY + 300));
    let query = vectors(1)[0];
    let mut ring = Ring { keys: Buffer::zeroed(), values: Buffer::zeroed(), end: 0 };
    for (key, value) in keys.iter().zip(&values) {
        ring.push(key, value);
        // Windows of one position, within a page, over several, and of the whole ring.
        if matches!(ring.end, 1 | 700 | CAPACITY | 1500) || ring.end == keys.len() {
            for window in [1, 77, 300, CAPACITY].map(|window| window.min(ring.end)) {
                let last = ring.end - window..ring.end;
                let name = format!("the last {window} of {} positions", ring.end);
                let expected = expected(&keys[last.clone()], &values[last], &query);
                check(&name, &ring.attend(&query, window), &expected, 1e-5)?;
            }
        }
    }
    let (keys, values) = (ring.keys.to_row_major(), ring.values.to_row_major());
    let [mut by_slices, mut by_ring] = [[0.0; D]; 2];
    let [hand, pages] = shortest_times(
        300,
        [
            &mut || by_slices = by_hand(black_box(&keys), black_box(&values), ring.end, &query, black_box(1000)),
            &mut || by_ring = black_box(&ring).attend(&query, black_box(1000)),
        ],
    );
    assert_eq!(by_slices, by_ring, "the same sums in the same order");
    println!("{:.0} µs by hand; the ring takes {:.2} of that", 1e6 * hand, pages / hand);
    Ok(())
}
