//! The kernel: `softmax(q · kᵀ / √d) · v` for each head.

use half::bf16;
use xla_shape::element::{Bf16, F32};
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::types::{Array, Size};
use xla_shape::{Buffer, View, ViewMut, layout, permutation};

/// The size of a head: the columns of a tile.
pub(crate) const D: usize = 128;

pub(crate) type Heads<const H: usize, const N: usize> =
    Array<Bf16, (Size<H>, Size<N>, Size<D>), layout!({2,1,0:T(8,128)(2,1)})>;
/// The attention scores of each position for each other one.
pub(crate) type Scores<const H: usize, const N: usize> =
    Array<F32, (Size<H>, Size<N>, Size<N>), layout!({2,1,0:T(8,128)})>;

/// `q · kᵀ`: the heads are a batch dimension, and the sum is over the numbers of a position.
const QK: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] });
/// `scores · v`: the sum is over positions.
const SV: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1] });

/// The layout of one head, and of the factors of both products.
type L = layout!({1,0:T(8,128)(2,1)});
/// The keys of one head, and as the second factor of `q · kᵀ`: the same bytes.
type Keys<const N: usize> = Array<Bf16, (Size<N>, Size<D>), layout!({0,1:T(8,128)(2,1)})>;
type Transposed<const N: usize> = Array<Bf16, (Size<D>, Size<N>), L>;
/// The scores of one head.
type HeadScores<const N: usize> = Array<F32, (Size<N>, Size<N>), layout!({1,0:T(8,128)})>;
/// The values of one head as f32, and their weighted sums.
type Values<const N: usize> = Array<F32, (Size<N>, Size<D>), layout!({1,0:T(8,128)})>;

/// Each head is a block, for a thread: blocks of the result do not overlap. The last one is for this thread, which a small problem needs alone.
pub(crate) fn attention<const H: usize, const N: usize>(
    q: View<'_, Heads<H, N>>,
    k: View<'_, Heads<H, N>>,
    v: View<'_, Heads<H, N>>,
    mut out: ViewMut<'_, Heads<H, N>>,
) {
    const {
        assert_result::<(Heads<H, N>, Heads<H, N>), Scores<H, N>>(QK);
        assert_result::<(Scores<H, N>, Heads<H, N>), Heads<H, N>>(SV);
    }
    std::thread::scope(|threads| {
        for (head, mut out) in out.blocks_mut::<Heads<1, N>>().enumerate() {
            let mut run = move || {
                let sums = one_head(q, k, v, head);
                out.index_axis_mut::<0, L>(0).apply_with(&sums, |_, sum| bf16::from_f32(sum));
            };
            if head + 1 == H {
                run();
            } else {
                threads.spawn(run);
            }
        }
    });
}

fn one_head<const H: usize, const N: usize>(
    q: View<'_, Heads<H, N>>,
    k: View<'_, Heads<H, N>>,
    v: View<'_, Heads<H, N>>,
    head: usize,
) -> Buffer<Values<N>> {
    let mut keys = Buffer::<Keys<N>>::zeroed();
    k.index_axis::<0, L>(head).copy_to(&mut keys);
    let mut scores = Buffer::<HeadScores<N>>::zeroed();
    scores.add_product(&q.index_axis::<0, L>(head), &keys.transpose::<Transposed<N>, _>(permutation![1, 0]));
    let scale = 1.0 / (D as f32).sqrt();
    scores.for_each_band_mut::<-1>(|mut rows| {
        let max = rows.fold(f32::MIN, larger, larger);
        rows.apply(&max, |x, max| exp((x - max) * scale));
        let sum = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
        rows.apply(&sum, |x, sum| x / sum);
    });
    // In f32, because the softmax would lose half of its digits in bf16.
    let values = v.index_axis::<0, L>(head).map::<Values<N>>(bf16::to_f32);
    let mut sums = Buffer::<Values<N>>::zeroed();
    sums.add_product(&scores, &values);
    sums
}

/// The larger of two numbers, neither of which is NaN: one instruction.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// `exp(x)` for `x <= 0`, with a relative error of about 1e-6. Computed as a power of 2, in two factors. Unlike `f32::exp`, it is inlined, so loops
/// with it are vectorized.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = larger(x, -87.0) * std::f32::consts::LOG2_E;
    let rounded = x + 12_582_912.0; // 1.5 · 2^23: what is behind the point is lost
    let rest = (x - (rounded - 12_582_912.0)) * std::f32::consts::LN_2;
    let series =
        1.0 + rest * (1.0 + rest * (0.5 + rest * (0.166_666_67 + rest * (0.041_666_67 + rest * 0.008_333_334))));
    f32::from_bits(series.to_bits().wrapping_add(rounded.to_bits() << 23))
}
