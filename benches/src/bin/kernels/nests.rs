//! Straightforward code: softmax for any layout, loops over indices, and conversion from and to row-major order.

use crate::arrays::{by_hand, to_f32, value};
use crate::numbers::larger;
use crate::turn::{Contender, Turn};
use crate::walk::Rows;
use crate::{Case, Ratio};
use std::hint::black_box;
use xla_shape::element::F32;
use xla_shape::relayout::StaticPlan;
use xla_shape::types::StaticArray;
use xla_shape::vector::exp;
use xla_shape::{Buffer, shape};

const ROWS: usize = 1024;
const COLUMNS: usize = 1024;

type RowMajor = shape!(f32[ROWS,COLUMNS]);

trait Matrix: StaticArray<Element = F32, Index = [usize; 2]> {}
impl<S: StaticArray<Element = F32, Index = [usize; 2]>> Matrix for S {}

fn array<S: Matrix>() -> Buffer<S> {
    Buffer::<S>::from_fn(|[i, j]: [usize; 2]| value(i, j))
}

/// Softmax for any layout: the library chooses how many lines are folded at a time.
#[inline(never)]
fn softmax<S: Matrix>(x: &mut Buffer<S>) {
    x.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, larger, larger);
        rows.apply(&max, |x, max| exp(x - max));
        let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&sum.map(|sum| 1.0 / sum), |x, factor| x * factor);
    });
}

fn over_rows<S: Matrix>() -> Case {
    let mut x = array::<S>();
    let library: Contender = Box::new(move |turn: &mut Turn| {
        turn.time(|| softmax(black_box(&mut x)));
        turn.result(|| to_f32(&x))
    });
    Case {
        name: format!("any layout: softmax {}", S::TEXT),
        elements: S::ELEMENTS,
        contenders: vec![("library", library), ("slices", by_hand::<RowMajor, Rows<ROWS, COLUMNS>>("softmax"))],
        ratios: vec![Ratio("library", "slices", 1.05)],
    }
}

#[inline(never)]
fn scale_by_index<S: Matrix>(x: &mut Buffer<S>, factor: f32) {
    for i in 0..ROWS {
        for j in 0..COLUMNS {
            x[[i, j]] *= factor;
        }
    }
}

#[inline(never)]
fn scale_by_walking<S: Matrix>(x: &mut Buffer<S>, factor: f32) {
    x.apply(|x| factor * x);
}

fn scale<S: Matrix>(scale: fn(&mut Buffer<S>, f32)) -> Contender {
    let mut x = array::<S>();
    Box::new(move |turn: &mut Turn| {
        turn.time(|| scale(black_box(&mut x), black_box(-1.0)));
        turn.result(|| to_f32(&x))
    })
}

/// A loop over indices computes each position; iterating in the order of memory does not.
fn over_indices<S: Matrix>() -> Case {
    Case {
        name: format!("indices: scale {}", S::TEXT),
        elements: S::ELEMENTS,
        contenders: vec![
            ("by index", scale::<S>(scale_by_index)),
            ("walking", scale::<S>(scale_by_walking)),
            ("by index, row-major", scale::<RowMajor>(scale_by_index)),
        ],
        ratios: vec![Ratio("by index", "by index, row-major", 4.0), Ratio("walking", "by index, row-major", 1.05)],
    }
}

/// Conversion from and to row-major order, compared with a copy into existing memory.
fn row_major<S: Matrix>() -> [Case; 2] {
    let (x, values) = (array::<S>(), to_f32(&array::<S>()));
    let (y, mut out) = (array::<S>(), Buffer::<RowMajor>::zeroed());
    let to = Case {
        name: format!("values: to_row_major {}", S::TEXT),
        elements: S::ELEMENTS,
        contenders: vec![
            (
                "library",
                Box::new(move |turn: &mut Turn| {
                    let mut values = Vec::new();
                    turn.time(|| values = black_box(black_box(&x).to_row_major()));
                    turn.result(|| values)
                }),
            ),
            (
                "copy",
                Box::new(move |turn: &mut Turn| {
                    turn.time(|| StaticPlan::<S, RowMajor>::shared().run(black_box(&y), black_box(&mut out)));
                    turn.result(|| to_f32(&out))
                }),
            ),
        ],
        ratios: vec![Ratio("library", "copy", 4.0)],
    };
    let (mut x, mut y, source) = (array::<S>(), array::<S>(), array::<RowMajor>());
    let from = Case {
        name: format!("values: set_row_major {}", S::TEXT),
        elements: S::ELEMENTS,
        contenders: vec![
            (
                "library",
                Box::new(move |turn: &mut Turn| {
                    turn.time(|| black_box(&mut x).set_row_major(black_box(&values)).expect("as many values"));
                    turn.result(|| to_f32(&x))
                }),
            ),
            (
                "copy",
                Box::new(move |turn: &mut Turn| {
                    turn.time(|| StaticPlan::<RowMajor, S>::shared().run(black_box(&source), black_box(&mut y)));
                    turn.result(|| to_f32(&y))
                }),
            ),
        ],
        ratios: vec![Ratio("library", "copy", 1.1)],
    };
    [to, from]
}

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = vec![
        over_rows::<RowMajor>(),
        over_rows::<shape!(f32[ROWS,COLUMNS]{1,0:T(8,128)})>(),
        over_rows::<shape!(f32[ROWS,COLUMNS]{1,0:T(8,128)(2,1)})>(),
        over_rows::<shape!(f32[ROWS,COLUMNS]{0,1:T(8,128)})>(),
        over_rows::<shape!(f32[ROWS,COLUMNS]{0,1})>(),
        over_indices::<shape!(f32[ROWS,COLUMNS]{1,0:T(8,128)})>(),
    ];
    cases.extend(row_major::<shape!(f32[ROWS,COLUMNS]{1,0:T(8,128)})>());
    cases
}
