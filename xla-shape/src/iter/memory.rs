//! What is known of a shape's memory.

use crate::element::Stored;
use crate::types::ArrayType;
use std::ops::Range;
use xla_shape_core::Dimension;

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

    /// The number of elements, if they all lie side by side at the beginning.
    #[inline(always)]
    fn elements_if_whole(self) -> Option<usize> {
        let elements = self.sizes().as_ref().iter().product::<usize>();
        let positions =
            if const { Self::IS_UNBOUNDED } { unbounded_positions(self) } else { Self::STRIDE_TABLE.positions() };
        (elements == positions).then_some(elements)
    }

    /// Calls `f` with ranges of positions that hold nothing but elements, in the order of memory.
    #[inline]
    fn for_each_segment_range(self, f: impl FnMut(Range<usize>)) {
        let sizes = self.sizes();
        if const { Self::IS_UNBOUNDED } {
            Self::STRIDE_TABLE.with_sizes(sizes.as_ref()).as_ref(sizes.as_ref()).for_each_segment(f);
        } else {
            Self::STRIDE_TABLE.as_ref(sizes.as_ref()).for_each_segment(f);
        }
    }
}

impl<S: ArrayType> Memory for S {}

#[inline(never)]
fn unbounded_positions<S: ArrayType>(shape: S) -> usize {
    S::STRIDE_TABLE.with_sizes(shape.sizes().as_ref()).positions()
}
