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
        index[i] += 1;
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

/// Cuts both lists into as many pieces as possible so that corresponding pieces have the same product. Returns where
/// the pieces begin, and the ends of the lists; `None` if the products of the lists differ. XLA's `CommonFactors`
/// (`xla/util.cc`).
///
/// ```
/// use xla_shape_core::map::common_factors;
///
/// assert_eq!(common_factors(&[4, 6], &[2, 2, 6]), Some(vec![(0, 0), (1, 2), (2, 3)]));
/// assert_eq!(common_factors(&[2], &[3]), None);
/// ```
#[must_use]
pub fn common_factors(a: &[u64], b: &[u64]) -> Option<Vec<(usize, usize)>> {
    if a == b {
        return Some((0..=a.len()).map(|i| (i, i)).collect());
    }
    if a.contains(&0) || b.contains(&0) {
        // Both arrays are empty: they correspond only as a whole.
        let ends = (a.len(), b.len());
        return (a.contains(&0) && b.contains(&0)).then(|| [(0, 0), ends].into());
    }
    let mut bounds = [(0, 0)].to_vec();
    let (mut rest_a, mut rest_b) = (a.iter(), b.iter());
    let (mut product_a, mut product_b) = (1_u64, 1_u64);
    loop {
        let (next_a, next_b) = (rest_a.as_slice().first(), rest_b.as_slice().first());
        let take_a =
            product_a < product_b || (product_a == product_b && next_a.is_some_and(|a| next_b.is_none_or(|b| a <= b)));
        let take_b =
            product_b < product_a || (product_a == product_b && next_b.is_some_and(|b| next_a.is_none_or(|a| b <= a)));
        if !take_a && !take_b {
            return Some(bounds);
        }
        if take_a {
            product_a = product_a.checked_mul(*rest_a.next()?)?;
        }
        if take_b {
            product_b = product_b.checked_mul(*rest_b.next()?)?;
        }
        if product_a == product_b {
            bounds.push((a.len().abs_diff(rest_a.len()), b.len().abs_diff(rest_b.len())));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::common_factors;

    #[test]
    fn pieces_are_as_small_as_possible() {
        assert_eq!(common_factors(&[], &[]), Some([(0, 0)].into()));
        assert_eq!(common_factors(&[2, 3], &[6]), Some([(0, 0), (2, 1)].into()));
        assert_eq!(common_factors(&[2, 1], &[2]), Some([(0, 0), (1, 1), (2, 1)].into()));
        assert_eq!(common_factors(&[4, 6], &[2, 2, 6]), Some([(0, 0), (1, 2), (2, 3)].into()));
        assert_eq!(common_factors(&[2], &[3]), None);
        assert_eq!(common_factors(&[2, 2], &[2]), None);
        assert_eq!(common_factors(&[0, 3], &[5, 0]), Some([(0, 0), (2, 2)].into()));
        assert_eq!(common_factors(&[0], &[5]), None);
    }
}
