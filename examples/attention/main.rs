//! An attention block on bf16 tiles: `softmax(q · kᵀ / √d) · v` for each head, with sums in f32.
//!
//! The kernel is generic over the number of heads, the number of positions, and the length of a position's vector. XLA's rule for `dot_general`
//! checks the shapes of both products at compile time, for all sizes that the program uses.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --bin attention
//! ```

#![forbid(unsafe_code)]

mod kernel;

use half::bf16;
use kernel::{Heads, Scores, attention};
use std::error::Error;
use std::hint::black_box;
use xla_shape::Buffer;
use xla_shape_examples::{Numbers, check, shortest_times};

/// The definition, on row-major arrays in f64.
fn expected([q, k, v]: [&[f32]; 3], [heads, positions, numbers]: [usize; 3]) -> Vec<f32> {
    let row = |x: &[f32], head: usize, i: usize| {
        x[(head * positions + i) * numbers..][..numbers].iter().map(|&x| f64::from(x)).collect::<Vec<_>>()
    };
    let mut out = Vec::new();
    for (head, i) in (0..heads).flat_map(|head| (0..positions).map(move |i| (head, i))) {
        let query = row(q, head, i);
        let score = |j| row(k, head, j).iter().zip(&query).map(|(a, b)| a * b).sum::<f64>() / (numbers as f64).sqrt();
        let weights = (0..positions).map(|j| score(j).exp()).collect::<Vec<_>>();
        let sum = weights.iter().sum::<f64>();
        out.extend(
            (0..numbers).map(|d| (0..positions).map(|j| weights[j] / sum * row(v, head, j)[d]).sum::<f64>() as f32),
        );
    }
    out
}

fn run<const H: usize, const N: usize, const D: usize>() -> Result<(), Box<dyn Error>> {
    let mut numbers = Numbers::new(5);
    let mut random = || Buffer::<Heads<H, N, D>>::from_fn(|_| bf16::from_f32(2.0 * numbers.number()));
    let [q, k, v] = [random(), random(), random()];
    let mut out = Buffer::<Heads<H, N, D>>::zeroed();
    attention(q.view(), k.view(), v.view(), out.view_mut());
    let values = |x: &Buffer<Heads<H, N, D>>| x.to_row_major().into_iter().map(bf16::to_f32).collect::<Vec<_>>();
    let expected = expected([&values(&q), &values(&k), &values(&v)], [H, N, D]);
    check(Heads::<H, N, D>::TEXT, &values(&out), &expected, 1.0 / 256.0)
}

/// One head by plain loops over row-major f32. Both innermost loops go along rows, because the keys are transposed first.
fn by_loops<const N: usize, const D: usize>([q, k, v]: [&[f32]; 3]) -> Vec<f32> {
    let mut keys = vec![0.0; D * N];
    for (j, k) in k.chunks_exact(D).enumerate() {
        k.iter().zip(keys.chunks_exact_mut(N)).for_each(|(&value, row)| row[j] = value);
    }
    let mut out = vec![0.0; N * D];
    for (q, out) in q.chunks_exact(D).zip(out.chunks_exact_mut(D)) {
        let mut scores = [0.0; N];
        for (q, keys) in q.iter().zip(keys.chunks_exact(N)) {
            scores.iter_mut().zip(keys).for_each(|(score, key)| *score += q * key);
        }
        let max = scores.iter().copied().fold(f32::MIN, f32::max);
        scores.iter_mut().for_each(|score| *score = ((*score - max) / (D as f32).sqrt()).exp());
        let sum = scores.iter().sum::<f32>();
        for (score, v) in scores.iter().zip(v.chunks_exact(D)) {
            out.iter_mut().zip(v).for_each(|(out, value)| *out += score / sum * value);
        }
    }
    out
}

/// Compares the time of one head with the time of plain loops.
fn compare<const N: usize, const D: usize>() {
    let mut numbers = Numbers::new(7);
    let [q, k, v] = [(); 3].map(|()| Buffer::<Heads<1, N, D>>::from_fn(|_| bf16::from_f32(2.0 * numbers.number())));
    let row_major = [&q, &k, &v].map(|x| x.to_row_major().into_iter().map(bf16::to_f32).collect::<Vec<_>>());
    let mut out = Buffer::<Heads<1, N, D>>::zeroed();
    let [ours, loops] = shortest_times(
        10,
        [&mut || attention(black_box(&q).view(), k.view(), v.view(), out.view_mut()), &mut || {
            drop(black_box(by_loops::<N, D>(black_box(&row_major).each_ref().map(Vec::as_slice))))
        }],
    );
    println!(
        "{N} positions of {D} numbers: {:.2} of the time of plain loops over row-major slices of f32",
        ours / loops
    );
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("scores lie in {}", Scores::<4, 40>::TEXT);
    run::<4, 40, 128>()?;
    run::<1, 17, 128>()?;
    run::<2, 300, 64>()?; // several blocks, the last ones with fewer queries and positions
    compare::<17, 128>();
    compare::<256, 128>();
    compare::<512, 128>();
    compare::<512, 64>();
    Ok(())
}
