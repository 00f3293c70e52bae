//! Whole numbers: common divisors and multiples, counting in mixed radix, and equality of lists.

use alloc::vec::Vec;

/// The largest number that divides both; the other one if one is 0.
#[must_use]
#[expect(clippy::arithmetic_side_effects, reason = "the divisor is not 0")]
pub const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The smallest number that both divide; `None` if it does not fit, or both are 0.
#[must_use]
pub const fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    match a.checked_div(greatest_common_divisor(a, b)) {
        Some(quotient) => quotient.checked_mul(b),
        None => None,
    }
}

/// The number of an index when all below `extents` are counted in row-major order; `None` if the index is not one of them.
#[must_use]
pub fn row_major_number(index: &[u64], extents: &[u64]) -> Option<u64> {
    let next = |number: u64, (&i, &extent): (&u64, &u64)| {
        if i < extent { number.checked_mul(extent)?.checked_add(i) } else { None }
    };
    if index.len() == extents.len() { index.iter().zip(extents).try_fold(0, next) } else { None }
}

/// The index with this row-major number, which is below the product of `extents`: the inverse of [`row_major_number`].
#[must_use]
pub fn row_major_index(mut number: u64, extents: &[u64]) -> Vec<u64> {
    let mut index = extents.to_vec();
    for entry in index.iter_mut().rev() {
        let extent = *entry;
        *entry = number.checked_rem(extent).unwrap_or(0);
        number = number.checked_div(extent).unwrap_or(0);
    }
    index
}

/// Goes to the next index below `extents` in row-major order, the last entry first; `false`, with the index back at the start,
/// after the last one. The lists are equally long.
///
/// ```
/// let mut index = [0, 2];
/// assert!(xla_shape_core::map::increment(&mut index, &[2, 3]));
/// assert_eq!(index, [1, 0]);
/// ```
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; indices are below the lengths")]
#[expect(clippy::arithmetic_side_effects, reason = "the counter is above 0")]
pub const fn increment(index: &mut [u64], extents: &[u64]) -> bool {
    let mut i = extents.len();
    while i > 0 {
        i -= 1;
        index[i] = index[i].saturating_add(1);
        if index[i] < extents[i] {
            return true;
        }
        index[i] = 0;
    }
    false
}

/// `==` for sizes, in a `const`.
#[must_use]
pub const fn same_sizes(mut one: &[u64], mut other: &[u64]) -> bool {
    while let ([a, one_rest @ ..], [b, other_rest @ ..]) = (one, other) {
        if *a != *b {
            return false;
        }
        (one, other) = (one_rest, other_rest);
    }
    one.is_empty() && other.is_empty()
}
