//! An attention block on bf16 tiles: `softmax(q · kᵀ / √d) · v` for each head, with sums in f32.
//!
//! The kernel is generic over the numbers of heads and positions; the size of a head is `D`. XLA's rule for `dot_general` checks the shapes of
//! both products at compile time, for each number of heads and positions that the program uses.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example attention
//! ```

#![forbid(unsafe_code)]

use half::bf16;
use std::error::Error;
use xla_shape::block::Part;
use xla_shape::element::{Bf16, F32};
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, View, ViewMut, layout};
use xla_shape_examples::{Numbers, check};

/// The size of a head: the columns of a tile.
const D: usize = 128;

type Heads<const H: usize, const N: usize> = Array<Bf16, (Size<H>, Size<N>, Size<D>), layout!({2,1,0:T(8,128)(2,1)})>;
/// The attention scores of each position for each other one.
type Scores<const H: usize, const N: usize> = Array<F32, (Size<H>, Size<N>, Size<N>), layout!({2,1,0:T(8,128)})>;

/// `q · kᵀ`: the heads are a batch dimension, and the sum is over the numbers of a position.
const QK: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] });
/// `scores · v`: the sum is over positions.
const SV: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1] });

/// One head as f32, row-major.
type Numbered<const N: usize> = Array<F32, (Size<1>, Size<N>, Size<D>), layout!({2,1,0})>;
/// A block of one head in an array of several.
type Head<const H: usize, const N: usize> = Part<Heads<H, N>, Heads<1, N>>;

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
    // A thread for each head, which is a block: blocks of the result do not overlap.
    std::thread::scope(|threads| {
        let heads = q.blocks::<Heads<1, N>>().zip(k.blocks::<Heads<1, N>>()).zip(v.blocks::<Heads<1, N>>());
        for (((q, k), v), out) in heads.zip(out.blocks_mut::<Heads<1, N>>()) {
            threads.spawn(move || head(q, k, v, out));
        }
    });
}

fn head<const H: usize, const N: usize>(
    q: View<'_, Head<H, N>>,
    k: View<'_, Head<H, N>>,
    v: View<'_, Head<H, N>>,
    mut out: ViewMut<'_, Head<H, N>>,
) {
    // Converts to f32 and makes the numbers of a position contiguous: in `T(8,128)(2,1)`, those of two positions alternate.
    let numbers = [q, k, v].map(|x| x.map::<Numbered<N>>(bf16::to_f32));
    let [q, k, v] = numbers.each_ref().map(|x| x.as_slice().as_chunks::<D>().0);
    let mut scores = Buffer::<Scores<1, N>>::from_fn(|[_, i, j]| {
        q[i].iter().zip(&k[j]).map(|(a, b)| a * b).sum::<f32>() / (D as f32).sqrt()
    });
    scores.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, f32::max, f32::max);
        rows.apply(&max, |x, max| (x - max).exp());
        let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&sum, |x, sum| x / sum);
    });
    let mut sums = Buffer::<Numbered<N>>::zeroed();
    for (i, sums) in sums.as_mut_slice().chunks_exact_mut(D).enumerate() {
        for (j, row) in v.iter().enumerate() {
            let score = scores[[0, i, j]];
            sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += score * value);
        }
    }
    out.apply_with(&sums, |_, sum| bf16::from_f32(sum));
}

/// The definition, on row-major arrays in f64.
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
