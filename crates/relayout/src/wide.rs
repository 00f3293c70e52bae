//! Conversion between sizes of shapes, `u64`, and sizes in this machine's memory, `usize`.
//!
//! A shape may describe memory of another machine, so its sizes have 64 bits on every target. Arrays that are copied are in this machine's
//! memory, whose `usize` has 64 bits, too: an assertion in this module checks it. So lists are converted in place, at no cost and without
//! loss.

use core::slice;
use xla_shape_core::ArrayShape;

const _: () = assert!(
    size_of::<usize>() == size_of::<u64>() && align_of::<usize>() == align_of::<u64>(),
    "arrays need a target with 64-bit pointers; shapes alone are in xla-shape-core, which needs none"
);

/// Reads an index or a list of sizes as `u64`, without a copy.
///
/// ```
/// use xla_shape_relayout::wide::wide;
///
/// let index: [usize; 2] = [3, 4];
/// assert_eq!(wide(&index), [3_u64, 4]);
/// ```
#[inline(always)]
#[must_use]
pub const fn wide(list: &[usize]) -> &[u64] {
    // SAFETY: the pointer and length are those of a slice. `usize` and `u64` have the same size and alignment, as the assertion above
    // checks, and every bit pattern is valid for both.
    unsafe { slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}

/// As [`wide`], for a list that a shape's method writes to.
///
/// ```
/// use xla_shape_relayout::wide::wide_mut;
///
/// let mut index: [usize; 2] = [3, 4];
/// wide_mut(&mut index)[1] = 5;
/// assert_eq!(index, [3, 5]);
/// ```
#[inline(always)]
#[must_use]
pub const fn wide_mut(list: &mut [usize]) -> &mut [u64] {
    // SAFETY: as in `wide`; the exclusive borrow of `list` lasts as long as the result.
    unsafe { slice::from_raw_parts_mut(list.as_mut_ptr().cast(), list.len()) }
}

/// Reads an index or a list of sizes of a shape as `usize`, without a copy: the inverse of [`wide`].
///
/// ```
/// use xla_shape_relayout::wide::local;
///
/// assert_eq!(local(&[3_u64, 4]), [3_usize, 4]);
/// ```
#[inline(always)]
#[must_use]
pub const fn local(list: &[u64]) -> &[usize] {
    // SAFETY: as in `wide`, with the two types exchanged.
    unsafe { slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}

/// The bytes of an array, padding included; `None` if a dimension is unbounded or they do not fit in a `usize`.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::wide::byte_count;
///
/// let shape: ArrayShape = "f32[5,100]{1,0:T(8,128)}".parse()?;
/// assert_eq!(byte_count(&shape), Some(4096));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn byte_count(shape: &ArrayShape) -> Option<usize> {
    shape.byte_size().and_then(|bytes| usize::try_from(bytes).ok())
}

#[cfg(test)]
mod tests {
    use super::{local, wide, wide_mut};

    #[test]
    fn numbers_stay() {
        let mut list = [0, 1, usize::MAX];
        wide_mut(&mut list)[0] = 7;
        assert_eq!(wide(&list), [7, 1, u64::MAX]);
        assert_eq!(local(wide(&list)), list);
        assert!(wide(&[]).is_empty() && local(&[]).is_empty());
    }
}
