//! Folds with several accumulators, so that the compiler can use vector instructions.

use std::sync::atomic::{Ordering, compiler_fence};

/// Folds the values into `lanes`: value `i` into lane `i % N`.
#[inline(always)]
pub(super) fn fold<V: Copy, A: Copy, const N: usize>(
    lanes: [A; N],
    values: &[V],
    mut f: impl FnMut(A, V) -> A,
) -> [A; N] {
    const { assert!(N > 0, "expected at least one lane") };
    let mut lanes = lanes;
    let mut fold = |values: &[V]| {
        for (lane, &value) in lanes.iter_mut().zip(values) {
            *lane = f(*lane, value);
        }
    };
    let (chunks, rest) = values.as_chunks::<N>();
    // Several chunks in each iteration, so that counting takes no time.
    let (groups, chunks) = chunks.as_chunks::<4>();
    for group in groups {
        group.iter().for_each(|chunk| fold(chunk));
    }
    chunks.iter().for_each(|chunk| fold(chunk));
    fold(rest);
    lanes
}

/// Combines the lanes of each line: lane `i` belongs to line `i % lines`.
#[inline(always)]
pub(super) fn combine<A: Copy, const N: usize>(lanes: [A; N], lines: usize, mut f: impl FnMut(A, A) -> A) -> [A; N] {
    let mut combined = lanes;
    for line in 0..lines {
        let mut total = lanes[line];
        for &lane in lanes.iter().skip(line + lines).step_by(lines) {
            total = f(total, lane);
        }
        combined.iter_mut().skip(line).step_by(lines).for_each(|lane| *lane = total);
    }
    combined
}

/// Replaces value `i` by the result of `f` for it and argument `i % N`.
#[inline(always)]
pub(super) fn apply<V: Copy, A: Copy, const N: usize>(
    arguments: [A; N],
    values: &mut [V],
    mut f: impl FnMut(V, A) -> V,
) {
    let (chunks, rest) = values.as_chunks_mut::<N>();
    for chunk in chunks {
        for (value, &argument) in chunk.iter_mut().zip(&arguments) {
            *value = f(*value, argument);
        }
        // The elements of a chunk are to become a vector. On a machine with scatters, LLVM would instead make vectors of one element from each of 16
        // chunks, which is several times slower. The fence prevents that, because LLVM does not move elements across it. It adds no instruction.
        compiler_fence(Ordering::SeqCst);
    }
    for (value, &argument) in rest.iter_mut().zip(&arguments) {
        *value = f(*value, argument);
    }
}

/// Replaces every value by the result of `f`.
#[inline(always)]
pub(super) fn replace<V: Copy>(values: &mut [V], mut f: impl FnMut(V) -> V) {
    // A plain loop without chunks: LLVM would vectorize a loop over chunks of constant length across the chunks, with gathers and scatters.
    values.iter_mut().for_each(|value| *value = f(*value));
}
