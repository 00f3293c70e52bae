//! What is known of a shape's memory.

use crate::types::ArrayType;
use crate::wide::wide;
use std::ops::Range;
use xla_shape_core::Dimension;
use xla_shape_core::map::{Bands, Run, StrideTableRef};
use xla_shape_core::type_limits::MAX_LIST;

pub(super) trait Memory: ArrayType {
    /// Whether the stride table needs the sizes.
    const IS_UNBOUNDED: bool = Self::BYTE_SIZE.is_none();
    /// The stride table, as far as it is known, without extents.
    const TABLE: StrideTableRef<'static> = Self::STRIDE_TABLE.as_ref(&[]);

    /// Calls `f` with the stride table, with the sizes as extents: an index after one is no element. Its positions begin with
    /// the first element's.
    #[inline(always)]
    fn with_table<R>(self, f: impl FnOnce(StrideTableRef<'_>) -> R) -> R {
        let sizes = self.sizes();
        if const { Self::IS_UNBOUNDED } {
            f(Self::STRIDE_TABLE.with_sizes(wide(self.sizes_in_memory().as_ref())).as_ref(wide(sizes.as_ref())))
        } else {
            f(Self::STRIDE_TABLE.as_ref(wide(sizes.as_ref())))
        }
    }

    /// Whether the elements all lie side by side at the beginning, if that is known.
    const IS_WHOLE: Option<bool> = if Self::IS_STATIC {
        let (dimensions, mut i, mut elements) = (Self::DIMENSIONS, 0, 1_u64);
        while i < dimensions.len() {
            elements = match dimensions[i] {
                Dimension::Static(size) => elements.saturating_mul(size),
                Dimension::Bounded(_) | Dimension::Unbounded => 0,
            };
            i += 1;
        }
        Some(elements == Self::STRIDE_TABLE.positions())
    } else {
        None
    };

    /// The positions that the elements and their padding span.
    #[inline(always)]
    fn positions(self) -> usize {
        if const { Self::IS_UNBOUNDED } {
            unbounded_positions(self)
        } else {
            const { Self::STRIDE_TABLE.positions() as usize }
        }
    }

    /// Calls `f` with ranges of positions that hold nothing but elements, in the order of memory.
    #[inline(always)]
    fn for_each_segment_range(self, mut f: impl FnMut(Range<usize>)) {
        let first = self.first_position();
        let f = |range: Range<usize>| f(range.start + first..range.end + first);
        let mut f = f;
        // What is known at compile time leaves one of the branches, and one copy of `f`.
        if const { matches!(Self::IS_WHOLE, Some(true)) } {
            f(0..const { Self::STRIDE_TABLE.positions() as usize });
        } else if const { matches!(Self::IS_WHOLE, Some(false)) } {
            self.with_table(|table| table.for_each_segment(|range| f(range.start as usize..range.end as usize)));
        } else {
            let (elements, positions) = (self.sizes().as_ref().iter().product::<usize>(), self.positions());
            if elements == positions {
                f(0..positions);
            } else {
                self.with_table(|table| table.for_each_segment(|range| f(range.start as usize..range.end as usize)));
            }
        }
    }
}

impl<S: ArrayType> Memory for S {}

/// Which lines along a dimension are side by side, as far as they are the array's: in a block, the lines beside a line may be
/// another block's.
pub(super) const fn own_bands<S: ArrayType>(dimension: usize) -> Bands {
    let bands = S::TABLE.bands(dimension);
    let (own, memory, mut i) = (S::DIMENSIONS, S::MEMORY_SHAPE.dimensions(), 0);
    while i < own.len() {
        // Steps of a number of lines divide the sizes of blocks.
        let takes_all = match (own[i].extent(), memory[i].extent()) {
            (Some(own), Some(memory)) => own >= memory,
            _ => false,
        };
        if !S::IS_WHOLE_ARRAY && i != dimension && bands.steps[i] == u64::MAX && !takes_all {
            // Their elements still are in runs, if nothing is between them.
            let Run { len, stride } = S::TABLE.run(dimension);
            let len = if matches!(stride, Some(1)) { len } else { 1 };
            return Bands { lanes: 1, len, steps: [1; MAX_LIST] };
        }
        i += 1;
    }
    bands
}

/// How the elements along a dimension are in memory, in runs that have nothing of another block between their elements.
pub(super) const fn own_run<S: ArrayType>(dimension: usize) -> Run {
    let run = S::TABLE.run(dimension);
    match run.stride {
        Some(stride) if S::IS_WHOLE_ARRAY || stride == own_bands::<S>(dimension).lanes => run,
        None if S::IS_WHOLE_ARRAY => run,
        _ => Run { len: 1, stride: Some(1) },
    }
}

#[inline(never)]
fn unbounded_positions<S: ArrayType>(shape: S) -> usize {
    shape.with_table(|table| table.positions() as usize)
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
