//! The kernel: `softmax(q · kᵀ / √d) · v` for each head, by blocks of queries and positions, as in flash attention.

use xla_shape::block::Part;
use xla_shape::element::{Bf16, F32};
use xla_shape::infer::{DotDimensions, Operation, assert_result};
use xla_shape::types::{Array, ArrayType, Size, WholeArray};
use xla_shape::vector::lanes::{bf16_to_f32, f32_to_bf16};
use xla_shape::vector::{self, Kernel, Machine, exp};
use xla_shape::{Buffer, View, ViewMut, layout, permutation, shape};

pub(crate) type Heads<const H: usize, const N: usize, const D: usize> =
    Array<Bf16, (Size<H>, Size<N>, Size<D>), layout!({2,1,0:T(8,128)(2,1)})>;
/// The attention scores of each pair of positions.
pub(crate) type Scores<const H: usize, const N: usize> =
    Array<F32, (Size<H>, Size<N>, Size<N>), layout!({2,1,0:T(8,128)})>;

/// `q · kᵀ`: the heads are a batch dimension, and the sum is over the numbers of a position.
const QK: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[2] });
/// `scores · v`: the sum is over positions.
const SV: Operation<'_> =
    Operation::Dot(DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1] });

/// The number of queries and of positions in a block. Their scores take 128 KiB, so they stay in the L2 cache.
const QUERIES: usize = 128;
const POSITIONS: usize = 256;

/// The layout of one head, and of the factors of both products.
type L = layout!({1,0:T(8,128)(2,1)});
/// The keys of one head, and the same bytes as the second factor of `q · kᵀ`.
type Keys<const N: usize, const D: usize> = Array<Bf16, (Size<N>, Size<D>), layout!({0,1:T(8,128)(2,1)})>;
type Transposed<const D: usize, const N: usize> = Array<Bf16, (Size<D>, Size<N>), L>;
/// Scores, values and sums.
type Floats<const M: usize, const N: usize> = Array<F32, (Size<M>, Size<N>), layout!({1,0:T(8,128)})>;
/// The scores of a block, and its sums. The last blocks have fewer rows and columns.
type BlockScores = shape!(f32[?,<=POSITIONS]{1,0:T(8,128)});
type BlockSums<const D: usize> = shape!(f32[?,D]{1,0:T(8,128)});

/// A block of the result.
type Out<'a, const H: usize, const N: usize, const D: usize> = ViewMut<'a, Part<Heads<H, N, D>, Heads<1, QUERIES, D>>>;

/// Computes each head on a thread of its own, because the blocks of the result do not overlap. The last head is computed on the calling thread, so a
/// single head needs no other thread.
pub(crate) fn attention<const H: usize, const N: usize, const D: usize>(
    q: View<'_, Heads<H, N, D>>,
    k: View<'_, Heads<H, N, D>>,
    v: View<'_, Heads<H, N, D>>,
    mut out: ViewMut<'_, Heads<H, N, D>>,
) {
    const {
        assert_result::<(Heads<H, N, D>, Heads<H, N, D>), Scores<H, N>>(QK);
        assert_result::<(Scores<H, N>, Heads<H, N, D>), Heads<H, N, D>>(SV);
    }
    let mut blocks = out.blocks_mut::<Heads<1, QUERIES, D>>().collect::<Vec<_>>();
    std::thread::scope(|threads| {
        for (head, blocks) in blocks.chunks_mut(N.div_ceil(QUERIES)).enumerate() {
            let mut run = move || one_head(q, k, v, head, blocks);
            if head + 1 == H {
                run();
            } else {
                threads.spawn(run);
            }
        }
    });
}

fn one_head<const H: usize, const N: usize, const D: usize>(
    q: View<'_, Heads<H, N, D>>,
    k: View<'_, Heads<H, N, D>>,
    v: View<'_, Heads<H, N, D>>,
    head: usize,
    blocks: &mut [Out<'_, H, N, D>],
) {
    let keys = k.index_axis::<0, L>(head).as_array().expect("whole bytes").relayout::<Keys<N, D>>();
    let keys = keys.transpose::<Transposed<D, N>, _>(permutation![1, 0]);
    // The second product is in f32, because the weights would lose half of their digits in bf16.
    let values = v.index_axis::<0, L>(head).map::<Floats<N, D>>(|x| bf16_to_f32(&[x])[0]);
    for (place, out) in blocks.iter_mut().enumerate() {
        let q = q.block::<Heads<1, QUERIES, D>>([head, place, 0]);
        let [_, queries, _] = q.sizes();
        let mut sums = zeros::<BlockSums<D>>([queries, D]);
        let mut sums = sums.block_mut::<Floats<QUERIES, D>>([0, 0]);
        let (mut max, mut totals) = ([f32::MIN; QUERIES], [0.0; QUERIES]);
        for (k, v) in keys.blocks::<Transposed<D, POSITIONS>>().zip(values.blocks::<Floats<POSITIONS, D>>()) {
            let mut scores = zeros::<BlockScores>([queries, v.sizes()[0]]);
            let mut scores = scores.block_mut::<Floats<QUERIES, POSITIONS>>([0, 0]);
            scores.add_product(&q.index_axis::<0, L>(0), &k);
            vector::run(Weigh {
                scores: scores.view_mut(),
                scale: 1.0 / (D as f32).sqrt(),
                max: &mut max,
                totals: &mut totals,
                sums: sums.view_mut(),
            });
            sums.add_product(&scores, &v);
        }
        for (i, total) in totals.iter().enumerate().take(queries) {
            sums.line_mut::<-1>([i, 0]).expect("a row of the block").apply(|sum| sum / total);
        }
        out.index_axis_mut::<0, L>(0).apply_with(&sums, |_, sum| f32_to_bf16(&[sum])[0]);
    }
}

/// An array of zeros for a block. Its sizes are at most those of the type.
fn zeros<S: WholeArray<Element = F32>>(sizes: S::Index) -> Buffer<S> {
    let shape = S::with_sizes(sizes).expect("the sizes of a block");
    Buffer::<S>::zeroed_with(shape).expect("memory for a block")
}

/// Turns scores into weights: `exp(scale · (score - max))`, where `max` is the largest score of the row so far. If `max` grows, the sums so far are
/// scaled down.
struct Weigh<'a, S: ArrayType, T: ArrayType> {
    scores: ViewMut<'a, S>,
    scale: f32,
    max: &'a mut [f32],
    totals: &'a mut [f32],
    sums: ViewMut<'a, T>,
}

impl<S, T> Kernel for Weigh<'_, S, T>
where
    S: ArrayType<Element = F32, Index = [usize; 2]>,
    T: ArrayType<Element = F32, Index = [usize; 2]>,
{
    type Output = ();

    #[inline(always)]
    fn run<M: Machine>(self) {
        let Self { mut scores, scale, max, totals, mut sums } = self;
        scores.for_each_band_mut::<-1>(|mut row| {
            let [i, _] = row.origin();
            let largest = row.fold(max[i], larger, larger);
            row.apply(&largest, |x, max| exp((x - max) * scale));
            let factor = exp((max[i] - largest.get(0)) * scale);
            max[i] = largest.get(0);
            totals[i] = totals[i] * factor + row.fold(0.0, |sum, x| sum + x, |a, b| a + b).get(0);
            sums.line_mut::<-1>([i, 0]).expect("a row of the block").apply(|sum| sum * factor);
        });
    }
}

/// The larger of two numbers. Neither may be NaN, so it is one instruction.
#[inline(always)]
fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
