//! The kernel, and the same computation by hand.

use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::iter::runs;
use xla_shape::{View, ViewMut, shape};

/// The number of rows that share their scales.
pub(crate) const GROUP: usize = 64;
pub(crate) const M: usize = 10;
pub(crate) const K: usize = 4 * GROUP;
pub(crate) const N: usize = 256;

pub(crate) type X = shape!(f32[M,K]{1,0:T(8,128)});
/// XLA's layout on TPU: each 32-bit word holds elements of eight rows of a tile.
pub(crate) type Weights = shape!(s4[K,N]{1,0:T(8,128)(8,1)E(4)});
pub(crate) type Scales = shape!(f32[K / GROUP, N]{1,0:T(4,128)});
/// The shape of the weights as f32. No such array is made.
type Numeric = shape!(f32[K,N]{1,0:T(8,128)});
pub(crate) type Y = shape!(f32[M,N]{1,0:T(8,128)});

const _: () = assert_result::<(Weights,), Numeric>(Operation::Convert);
const _: () = assert_result::<(X, Numeric), Y>(Operation::Dot(DotDimensions::MATRICES));
const _: () = assert!(Weights::BYTES * 8 == Numeric::BYTES, "four bits instead of 32");

/// The same bytes as words: word `[k, n]` has the weights of rows `8 k` to `8 k + 7` in column `n`, the first one in its lowest bits.
pub(crate) type Words = shape!(u32[K / 8, N]);
const _: () = assert!(Weights::BYTES == Words::BYTES, "a word for eight weights");

/// Weight `row` of the eight in a word.
fn unpack(word: u32, row: usize) -> f32 {
    f32::from(((word << (28 - 4 * row)).cast_signed() >> 28) as i8)
}

/// Unpacks the weights row by row, directly before they are multiplied.
pub(crate) fn product(x: View<'_, X>, weights: View<'_, Words>, scales: View<'_, Scales>, mut y: ViewMut<'_, Y>) {
    y.fill(0.0);
    for k in 0..K {
        let words = weights.line::<-1>([k / 8, 0]).expect("a row of words");
        let scales = scales.line::<-1>([k / GROUP, 0]).expect("a group of rows");
        let mut row = [0.0; N];
        for ([start], (words, scales)) in runs((&words, &scales)).indexed() {
            for j in 0..words.len() {
                row[start + j] = unpack(words[j], k % 8) * scales[j];
            }
        }
        for m in 0..M {
            let factor = x[[m, k]];
            let mut sums = y.line_mut::<-1>([m, 0]).expect("a row of the result");
            for ([start], mut sums) in runs(&mut sums).indexed() {
                for j in 0..sums.len() {
                    sums[j] += factor * row[start + j];
                }
            }
        }
    }
}

/// The same over slices in row-major order, with two weights in a byte.
pub(crate) fn by_hand(x: &[f32], weights: &[u8], scales: &[f32], y: &mut [f32]) {
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
