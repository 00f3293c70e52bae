//! Folding with several accumulators, so that the compiler can use vector instructions.

/// Folds the values into `lanes`: value number `i` into lane `i % N`.
#[inline(always)]
pub(super) fn fold<V: Copy, A: Copy, const N: usize>(
    lanes: [A; N],
    values: &[V],
    mut f: impl FnMut(A, V) -> A,
) -> [A; N] {
    const { assert!(N > 0, "expected at least one lane") };
    let mut lanes = lanes;
    let (chunks, rest) = values.as_chunks::<N>();
    for chunk in chunks {
        for (lane, &value) in lanes.iter_mut().zip(chunk) {
            *lane = f(*lane, value);
        }
    }
    for (lane, &value) in lanes.iter_mut().zip(rest) {
        *lane = f(*lane, value);
    }
    lanes
}
