//! Numbers of this machine's memory, `usize`, as numbers of shapes, `u64`, and back.
//!
//! Shapes speak of memory that may be elsewhere and are 64-bit on every target. This crate's arrays lie in the memory of this
//! machine, whose `usize` is as wide: see the assertion below. So neither way loses anything, or costs anything.

use core::slice;
use xla_shape_core::ArrayShape;

const _: () = assert!(
    size_of::<usize>() == size_of::<u64>() && align_of::<usize>() == align_of::<u64>(),
    "arrays need a target with 64-bit pointers; shapes alone are in xla-shape-core, which needs none"
);

/// An index or sizes, as shapes have them.
#[inline(always)]
pub(crate) const fn wide(list: &[usize]) -> &[u64] {
    // SAFETY: the assertion above says that `usize` and `u64` have the same size and alignment; both are integers, for which
    // every bit pattern is valid.
    unsafe { slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}

/// An index, for shapes to write to.
#[inline(always)]
pub(crate) const fn wide_mut(list: &mut [usize]) -> &mut [u64] {
    // SAFETY: as in `wide`; the list is borrowed mutably for as long as the result.
    unsafe { slice::from_raw_parts_mut(list.as_mut_ptr().cast(), list.len()) }
}

/// An index or sizes that a shape has, for this machine's memory.
#[inline(always)]
pub(crate) const fn local(list: &[u64]) -> &[usize] {
    // SAFETY: as in `wide`.
    unsafe { slice::from_raw_parts(list.as_ptr().cast(), list.len()) }
}

/// The bytes that an array takes in this machine's memory; `None` if they are too many, or a dimension is unbounded.
pub(crate) fn byte_count(shape: &ArrayShape) -> Option<usize> {
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
