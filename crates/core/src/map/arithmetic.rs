//! Integer arithmetic: common divisors and multiples, row-major (mixed-radix) numbers, and equality of lists of sizes.

use alloc::vec::Vec;

/// The greatest common divisor; if one of the numbers is 0, the other one.
///
/// ```
/// use xla_shape_core::map::greatest_common_divisor;
///
/// assert_eq!((greatest_common_divisor(12, 18), greatest_common_divisor(0, 5)), (6, 5));
/// ```
#[must_use]
#[expect(clippy::arithmetic_side_effects, reason = "the divisor is not 0")]
pub const fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The least common multiple; `None` if it does not fit in a `u64`, or both numbers are 0.
///
/// ```
/// use xla_shape_core::map::least_common_multiple;
///
/// assert_eq!((least_common_multiple(4, 6), least_common_multiple(u64::MAX, 2)), (Some(12), None));
/// ```
#[must_use]
pub const fn least_common_multiple(a: u64, b: u64) -> Option<u64> {
    match a.checked_div(greatest_common_divisor(a, b)) {
        Some(quotient) => quotient.checked_mul(b),
        None => None,
    }
}

/// The row-major number of an index: how many indices below `extents` come before it when the last entry varies
/// fastest. `None` if the index is out of bounds.
///
/// ```
/// use xla_shape_core::map::row_major_number;
///
/// assert_eq!(row_major_number(&[1, 2], &[2, 3]), Some(5));
/// assert_eq!(row_major_number(&[1, 3], &[2, 3]), None);
/// ```
#[must_use]
pub fn row_major_number(index: &[u64], extents: &[u64]) -> Option<u64> {
    let next = |number: u64, (&i, &extent): (&u64, &u64)| {
        if i < extent { number.checked_mul(extent)?.checked_add(i) } else { None }
    };
    if index.len() == extents.len() { index.iter().zip(extents).try_fold(0, next) } else { None }
}

/// The index with this row-major number: the inverse of [`row_major_number`]. `number` must be below the product of
/// `extents`.
///
/// ```
/// use xla_shape_core::map::row_major_index;
///
/// assert_eq!(row_major_index(5, &[2, 3]), [1, 2]);
/// ```
#[must_use]
pub fn row_major_index(number: u64, extents: &[u64]) -> Vec<u64> {
    let mut index = extents.to_vec();
    let entries = row_major_entries(number, extents.iter().rev().copied());
    index.iter_mut().rev().zip(entries).for_each(|(to, entry)| *to = entry);
    index
}

/// The entries of [`row_major_index`] from the last to the first; `extents` are given in the same order.
///
/// ```
/// let entries = xla_shape_core::map::row_major_entries(5, [3, 2]);
/// assert_eq!(entries.collect::<Vec<_>>(), [2, 1]);
/// ```
pub fn row_major_entries(mut number: u64, extents: impl IntoIterator<Item = u64>) -> impl Iterator<Item = u64> {
    extents.into_iter().map(move |extent| {
        let entry = number.checked_rem(extent).unwrap_or(0);
        number = number.checked_div(extent).unwrap_or(0);
        entry
    })
}

/// Advances `index` to the next one below `extents` in row-major order: the last entry varies fastest. After the last
/// index it is all zeros again, and the result is `false`. The lists must have the same length.
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

/// Whether two lists of sizes are equal; usable in a `const`, where `==` is not.
///
/// ```
/// const SAME: bool = xla_shape_core::map::same_sizes(&[2, 3], &[2, 3]);
/// assert!(SAME);
/// ```
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
