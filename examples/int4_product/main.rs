//! A product with packed weights of four bits, and a scale for each column of each group of 64 rows.
//!
//! ```text
//! cargo run --release -p xla-shape-examples --example int4_product
//! ```

#![forbid(unsafe_code)]

use std::error::Error;
use std::hint::black_box;
use xla_shape::element::S4;
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::{Buffer, View, ViewMut, shape};
use xla_shape_examples::{Numbers, check, shortest_times};

/// The number of rows that share their scales.
const GROUP: usize = 64;
const M: usize = 10;
const K: usize = 4 * GROUP;
const N: usize = 256;

type X = shape!(f32[M,K]{1,0:T(8,128)});
/// XLA's layout on TPU: each 32-bit word holds elements of eight rows of a tile.
type Weights = shape!(s4[K,N]{1,0:T(8,128)(8,1)E(4)});
type Scales = shape!(f32[K / GROUP, N]{1,0:T(4,128)});
/// The weights as f32, which are not made.
type Numeric = shape!(f32[K,N]{1,0:T(8,128)});
type Y = shape!(f32[M,N]{1,0:T(8,128)});

const _: () = assert_result::<(Weights,), Numeric>(Operation::Convert);
const _: () = assert_result::<(X, Numeric), Y>(Operation::Dot(DotDimensions::MATRICES));
const _: () = assert!(Weights::BYTES * 8 == Numeric::BYTES, "four bits instead of 32");

/// The same bytes as words: word `[k, n]` has the weights of rows `8 k` to `8 k + 7` in column `n`, the first one in its lowest bits.
type Words = shape!(u32[K / 8, N]);
const _: () = assert!(Weights::BYTES == Words::BYTES, "a word for eight weights");

/// Weight `row` of the eight in a word.
fn unpack(word: u32, row: usize) -> f32 {
    f32::from(((word << (28 - 4 * row)).cast_signed() >> 28) as i8)
}

/// The weights are unpacked row by row, where they are multiplied.
fn product(x: View<'_, X>, weights: View<'_, Words>, scales: View<'_, Scales>, mut y: ViewMut<'_, Y>) {
    let mut sums = [[0.0; N]; M];
    for group in 0..K / GROUP {
        let mut scale = [0.0; N];
        let line = scales.line::<-1>([group, 0]).expect("a group of rows");
        line.for_each_run(|start, run| scale[start..].iter_mut().zip(run.iter()).for_each(|(to, from)| *to = *from));
        for k in group * GROUP..(group + 1) * GROUP {
            let words = &weights.as_slice()[k / 8 * N..][..N];
            let mut row = [0.0; N];
            row.iter_mut().zip(words).zip(&scale).for_each(|((w, word), scale)| *w = unpack(*word, k % 8) * scale);
            for (m, sums) in sums.iter_mut().enumerate() {
                let factor = x[[m, k]];
                sums.iter_mut().zip(&row).for_each(|(sum, w)| *sum += factor * w);
            }
        }
    }
    for (m, sums) in sums.iter().enumerate() {
        y.line_mut::<-1>([m, 0]).expect("a row of the result").copy_from_slice(sums);
    }
}

/// The same over slices in row-major order, with two weights in a byte.
fn by_hand(x: &[f32], weights: &[u8], scales: &[f32], y: &mut [f32]) {
    y.fill(0.0);
    for (k, (bytes, scale)) in
        weights.chunks_exact(N / 2).zip((0..K).map(|k| &scales[k / GROUP * N..][..N])).enumerate()
    {
        let mut row = [0.0; N];
        for ((w, byte), scale) in row.chunks_exact_mut(2).zip(bytes).zip(scale.chunks_exact(2)) {
            w[0] = f32::from((byte << 4).cast_signed() >> 4) * scale[0];
            w[1] = f32::from(byte.cast_signed() >> 4) * scale[1];
        }
        for (x, y) in x.chunks_exact(K).zip(y.chunks_exact_mut(N)) {
            y.iter_mut().zip(&row).for_each(|(sum, w)| *sum += x[k] * w);
        }
    }
}

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
