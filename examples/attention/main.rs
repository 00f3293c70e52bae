//! An attention block on bf16 tiles: `softmax(q · kᵀ / √d) · v` for each head, with sums in f32.
//!
//! The kernel is written for any number of heads and positions. That the two products fit each other is checked by XLA's rule
//! of `dot_general`, once for each number of heads and positions that the program uses.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example attention
//! ```

#![forbid(unsafe_code)]

use half::bf16;
use std::error::Error;
use xla_shape::element::{Bf16, F32};
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::types::{Array, ArrayType, Size};
use xla_shape::{Buffer, View, ViewMut, layout};
use xla_shape_examples::{Numbers, check};

/// The numbers of a position: the lanes of a tile.
const D: usize = 128;

type Heads<const H: usize, const N: usize> = Array<Bf16, (Size<H>, Size<N>, Size<D>), layout!({2,1,0:T(8,128)(2,1)})>;
/// How much each position looks at each other.
type Scores<const H: usize, const N: usize> = Array<F32, (Size<H>, Size<N>, Size<N>), layout!({2,1,0:T(8,128)})>;

/// `q · kᵀ`: heads are batches, and the numbers of a position are summed over.
const QK: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] });
/// `scores · v`: positions are summed over.
const SV: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1] });

fn attention<const H: usize, const N: usize>(
    q: View<'_, Heads<H, N>>,
    k: View<'_, Heads<H, N>>,
    v: View<'_, Heads<H, N>>,
    mut out: ViewMut<'_, Heads<H, N>>,
) {
    const {
        assert_result::<(Heads<H, N>, Heads<H, N>), Scores<H, N>>(QK);
        assert_result::<(Scores<H, N>, Heads<H, N>), Heads<H, N>>(SV);
    }
    let mut scores = Buffer::<Scores<H, N>>::zeroed();
    for [head, i, _] in q.shape().indices().step_by(D) {
        let query = row(q, [head, i, 0]);
        for j in 0..N {
            let key = row(k, [head, j, 0]);
            scores[[head, i, j]] = query.iter().zip(key).map(|(a, b)| a * b).sum::<f32>() / (D as f32).sqrt();
        }
    }
    scores.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, f32::max, f32::max);
        rows.apply(&max, |x, max| (x - max).exp());
        let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&sum, |x, sum| x / sum);
    });
    for [head, i, _] in q.shape().indices().step_by(D) {
        let mut sums = [0.0; D];
        for j in 0..N {
            let score = scores[[head, i, j]];
            sums.iter_mut().zip(row(v, [head, j, 0])).for_each(|(sum, value)| *sum += score * value);
        }
        if let Some(mut line) = out.line_mut::<-1>([head, i, 0]) {
            line.for_each_run_mut(|start, mut run| {
                run.iter_mut().zip(&sums[start..]).for_each(|(value, &sum)| *value = bf16::from_f32(sum));
            });
        }
    }
}

/// The numbers of one position. Of `T(8,128)(2,1)`, they lie at every second place.
fn row<const H: usize, const N: usize>(x: View<'_, Heads<H, N>>, index: [usize; 3]) -> [f32; D] {
    let mut row = [0.0; D];
    if let Some(line) = x.line::<-1>(index) {
        line.for_each_run(|start, run| {
            row[start..].iter_mut().zip(run.iter()).for_each(|(entry, value)| *entry = value.to_f32());
        });
    }
    row
}

/// The definition, on row-major numbers in f64.
fn expected([q, k, v]: [&[f32]; 3], [heads, positions]: [usize; 2]) -> Vec<f32> {
    let row = |x: &[f32], head: usize, i: usize| {
        x[(head * positions + i) * D..][..D].iter().map(|&x| f64::from(x)).collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    for (head, i) in (0..heads).flat_map(|head| (0..positions).map(move |i| (head, i))) {
        let query = row(q, head, i);
        let score = |j| row(k, head, j).iter().zip(&query).map(|(a, b)| a * b).sum::<f64>() / (D as f64).sqrt();
        let weights = (0..positions).map(|j| score(j).exp()).collect::<Vec<_>>();
        let sum = weights.iter().sum::<f64>();
        out.extend((0..D).map(|d| (0..positions).map(|j| weights[j] / sum * row(v, head, j)[d]).sum::<f64>() as f32));
    }
    out
}

fn run<const H: usize, const N: usize>() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(5);
    let mut random = || Buffer::<Heads<H, N>>::from_fn(|_| bf16::from_f32(2.0 * numbers.number()));
    let [q, k, v] = [random(), random(), random()];
    let mut out = Buffer::<Heads<H, N>>::zeroed();
    attention(q.view(), k.view(), v.view(), out.view_mut());
    let values = |x: &Buffer<Heads<H, N>>| x.to_row_major().into_iter().map(bf16::to_f32).collect::<Vec<_>>();
    let expected = expected([&values(&q), &values(&k), &values(&v)], [H, N]);
    check(Heads::<H, N>::TEXT, &values(&out), &expected, 1.0 / 256.0)
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("scores lie in {}", Scores::<4, 40>::TEXT);
    run::<4, 40>()?;
    run::<1, 17>()
}
