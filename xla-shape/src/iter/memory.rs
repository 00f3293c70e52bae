//! What is known of a shape's memory.

use crate::element::Stored;
use crate::types::ArrayType;
use std::ops::Range;
use xla_shape_core::Dimension;
use xla_shape_core::stride_table::StrideTableRef;

/// The Rust type of the elements of `S`.
pub(super) type Value<S> = <<S as ArrayType>::Element as Stored>::Value;

pub(super) trait Memory: ArrayType {
    /// Whether the stride table needs the sizes.
    const IS_UNBOUNDED: bool = {
        let (dimensions, mut i, mut found) = (Self::SHAPE.dimensions(), 0, false);
        while i < dimensions.len() {
            found |= matches!(dimensions[i], Dimension::Unbounded);
            i += 1;
        }
        found
    };
    /// The stride table, as far as it is known, without extents.
    const TABLE: StrideTableRef<'static> = Self::STRIDE_TABLE.as_ref(&[]);

    /// Calls `f` with the stride table, with the sizes as extents: an index behind one is no element.
    #[inline(always)]
    fn with_table<R>(self, f: impl FnOnce(StrideTableRef<'_>) -> R) -> R {
        let sizes = self.sizes();
        if const { Self::IS_UNBOUNDED } {
            f(Self::STRIDE_TABLE.with_sizes(sizes.as_ref()).as_ref(sizes.as_ref()))
        } else {
            f(Self::STRIDE_TABLE.as_ref(sizes.as_ref()))
        }
    }

    /// The number of elements, if they all lie side by side at the beginning.
    #[inline(always)]
    fn elements_if_whole(self) -> Option<usize> {
        let elements = self.sizes().as_ref().iter().product::<usize>();
        let positions =
            if const { Self::IS_UNBOUNDED } { unbounded_positions(self) } else { Self::STRIDE_TABLE.positions() };
        (elements == positions).then_some(elements)
    }

    /// Calls `f` with ranges of positions that hold nothing but elements, in the order of memory.
    #[inline(always)]
    fn for_each_segment_range(self, mut f: impl FnMut(Range<usize>)) {
        match self.elements_if_whole() {
            Some(elements) => f(0..elements),
            None => self.with_table(|table| table.for_each_segment(f)),
        }
    }
}

impl<S: ArrayType> Memory for S {}

#[inline(never)]
fn unbounded_positions<S: ArrayType>(shape: S) -> usize {
    shape.with_table(|table| table.positions())
}

/// Cuts `0..size` into pieces that begin at multiples of `len`; calls `f` with the beginning and the length of each.
///
/// Where the length is a constant, `f` sees one.
#[inline(always)]
pub(super) fn for_each_run(size: usize, len: usize, mut f: impl FnMut(usize, usize)) {
    if size <= len {
        if size > 0 {
            f(0, size);
        }
        return;
    }
    let rest = size % len;
    for start in (0..size - rest).step_by(len) {
        f(start, len);
    }
    if rest > 0 {
        f(size - rest, rest);
    }
}
