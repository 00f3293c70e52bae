//! Attention of one new position over the last ones, whose keys and values are in a ring of pages: where the window begins and ends is known
//! at run time, beside the same loops over slices.
//!
//! The keys of a page lie across, so that neighbouring positions are neighbours in memory: both loops go along lines.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example ring_buffer
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use std::ops::Range;
use xla_shape::{Buffer, layout, shape};
use xla_shape_examples::{Numbers, check, shortest_times};

const PAGES: usize = 8;
/// The positions of a page.
const PAGE: usize = 128;
const CAPACITY: usize = PAGES * PAGE;
/// The numbers of a key, a value and a query.
const D: usize = 128;

type Keys = shape!(f32[PAGES,D,PAGE]{2,1,0:T(8,128)});
type Values = shape!(f32[PAGES,PAGE,D]{2,1,0:T(8,128)});
/// The layout of one page.
type Page = layout!({1,0:T(8,128)});

/// The positions of a window, page by page: the page's number in the ring, and the rows of it.
fn pages(mut window: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    std::iter::from_fn(move || {
        let (page, row) = (window.start / PAGE % PAGES, window.start % PAGE);
        let rows = window.len().min(PAGE - row);
        window.start += rows;
        (rows > 0).then_some((page, row..row + rows))
    })
}

/// The weights of a page's positions, for scores that grow: `exp(score - max)` with the largest score so far. What was added before is
/// multiplied by the first result.
fn weigh(scores: &mut [f32], max: &mut f32) -> f32 {
    let before = *max;
    scores.iter_mut().for_each(|score| *score /= (D as f32).sqrt());
    *max = scores.iter().copied().fold(before, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - *max).exp());
    (before - *max).exp()
}

struct Ring {
    keys: Buffer<Keys>,
    values: Buffer<Values>,
    /// The number of positions so far, of which the ring has the last ones.
    end: usize,
}

impl Ring {
    fn push(&mut self, key: &[f32], value: &[f32]) {
        let (page, row) = (self.end / PAGE % PAGES, self.end % PAGE);
        self.keys.line_mut::<1>([page, 0, row]).expect("a position of a page").copy_from_slice(key);
        self.values.line_mut::<2>([page, row, 0]).expect("a position of a page").copy_from_slice(value);
        self.end += 1;
    }

    /// Attention over the last `window` positions.
    fn attend(&self, query: &[f32; D], window: usize) -> [f32; D] {
        let (mut out, mut total, mut max) = ([0.0; D], 0.0, f32::MIN);
        for (page, rows) in pages(self.end - window..self.end) {
            let (keys, values) = (self.keys.index_axis::<0, Page>(page), self.values.index_axis::<0, Page>(page));
            let mut scores = [0.0; PAGE];
            for (factor, line) in query.iter().zip(keys.rows()) {
                line.for_each_run(|start, run| {
                    let keys = run.as_slice().expect("a row of a tile");
                    scores[start..].iter_mut().zip(keys).for_each(|(score, key)| *score += factor * key);
                });
            }
            let shrink = weigh(&mut scores[rows.clone()], &mut max);
            out.iter_mut().for_each(|sum| *sum *= shrink);
            total = total * shrink + scores[rows.clone()].iter().sum::<f32>();
            for row in rows {
                let line = values.line::<-1>([row, 0]).expect("a row of a page");
                line.for_each_run(|start, run| {
                    let values = run.as_slice().expect("a row of a tile");
                    out[start..].iter_mut().zip(values).for_each(|(sum, value)| *sum += scores[row] * value);
                });
            }
        }
        out.map(|sum| sum / total)
    }
}

/// The same over row-major slices.
fn by_hand(keys: &[f32], values: &[f32], end: usize, query: &[f32; D], window: usize) -> [f32; D] {
    let (mut out, mut total, mut max) = ([0.0; D], 0.0, f32::MIN);
    for (page, rows) in pages(end - window..end) {
        let mut scores = [0.0; PAGE];
        for (factor, line) in query.iter().zip(keys[page * D * PAGE..].chunks_exact(PAGE)) {
            scores.iter_mut().zip(line).for_each(|(score, key)| *score += factor * key);
        }
        let shrink = weigh(&mut scores[rows.clone()], &mut max);
        out.iter_mut().for_each(|sum| *sum *= shrink);
        total = total * shrink + scores[rows.clone()].iter().sum::<f32>();
        for row in rows {
            let line = &values[(page * PAGE + row) * D..][..D];
            out.iter_mut().zip(line).for_each(|(sum, value)| *sum += scores[row] * value);
        }
    }
    out.map(|sum| sum / total)
}

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
    // The ring is full twice, and the last page is not.
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
