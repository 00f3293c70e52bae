//! The ring, and the same computation over slices.

use std::ops::Range;
use xla_shape::{Buffer, layout, shape};

pub(crate) const PAGES: usize = 8;
/// The number of positions in a page.
pub(crate) const PAGE: usize = 128;
pub(crate) const CAPACITY: usize = PAGES * PAGE;
/// The length of a key, a value and a query.
pub(crate) const D: usize = 128;

pub(crate) type Keys = shape!(f32[PAGES,D,PAGE]{2,1,0:T(8,128)});
pub(crate) type Values = shape!(f32[PAGES,PAGE,D]{2,1,0:T(8,128)});
/// The layout of one page.
type Page = layout!({1,0:T(8,128)});

/// The positions of a window, page by page: the page's number in the ring, and its rows in the window.
pub(crate) fn pages(mut window: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> {
    std::iter::from_fn(move || {
        let (page, row) = (window.start / PAGE % PAGES, window.start % PAGE);
        let rows = window.len().min(PAGE - row);
        window.start += rows;
        (rows > 0).then_some((page, row..row + rows))
    })
}

/// Turns the scores of a page's positions into weights `exp(score - max)`, where `max` is the largest score so far. If `max` grows, earlier sums must
/// be scaled down: the result is the factor.
pub(crate) fn weigh(scores: &mut [f32], max: &mut f32) -> f32 {
    let before = *max;
    scores.iter_mut().for_each(|score| *score /= (D as f32).sqrt());
    *max = scores.iter().copied().fold(before, f32::max);
    scores.iter_mut().for_each(|score| *score = (*score - *max).exp());
    (before - *max).exp()
}

pub(crate) struct Ring {
    pub(crate) keys: Buffer<Keys>,
    pub(crate) values: Buffer<Values>,
    /// The number of positions so far. The ring holds the last ones.
    pub(crate) end: usize,
}

impl Ring {
    pub(crate) fn push(&mut self, key: &[f32], value: &[f32]) {
        let (page, row) = (self.end / PAGE % PAGES, self.end % PAGE);
        self.keys.line_mut::<1>([page, 0, row]).expect("a position of a page").copy_from_slice(key);
        self.values.line_mut::<2>([page, row, 0]).expect("a position of a page").copy_from_slice(value);
        self.end += 1;
    }

    /// Attention over the last `window` positions.
    pub(crate) fn attend(&self, query: &[f32; D], window: usize) -> [f32; D] {
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

/// The same computation over row-major slices.
pub(crate) fn by_hand(keys: &[f32], values: &[f32], end: usize, query: &[f32; D], window: usize) -> [f32; D] {
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
