//! Facts about a shape's memory, as far as they are constants.

use crate::types::{ArrayType, count};
use std::ops::Range;
use xla_shape_core::Dimension;
use xla_shape_core::map::{Bands, CommonBlock, Digit, Extension, Run, Source, StrideTableRef};
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_relayout::wide::wide;

pub(super) trait Memory: ArrayType {
    /// Whether the stride table depends on the sizes.
    const IS_UNBOUNDED: bool = Self::BYTE_SIZE.is_none();
    /// The stride table, as far as it is known, without extents.
    const TABLE: StrideTableRef<'static> = Self::STRIDE_TABLE.with_extents(&[]);

    /// Calls `f` with the stride table whose extents are the sizes, so that an index beyond them is out of bounds. Its positions
    /// count from the first element.
    #[inline(always)]
    fn with_table<R>(self, f: impl FnOnce(StrideTableRef<'_>) -> R) -> R {
        let sizes = self.sizes();
        if const { Self::IS_UNBOUNDED } {
            f(Self::STRIDE_TABLE.with_sizes(wide(self.sizes_in_memory().as_ref())).with_extents(wide(sizes.as_ref())))
        } else {
            f(Self::STRIDE_TABLE.with_extents(wide(sizes.as_ref())))
        }
    }

    /// Whether the elements are contiguous from the first position on; `None` if it is not known.
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

    /// The number of positions, padding included.
    #[inline(always)]
    fn positions(self) -> usize {
        if const { Self::IS_UNBOUNDED } {
            unbounded_positions(self)
        } else {
            const { Self::STRIDE_TABLE.positions() as usize }
        }
    }

    /// Calls `f` with ranges of positions that contain only elements, in the order of memory.
    #[inline(always)]
    fn for_each_segment_range(self, mut f: impl FnMut(Range<usize>)) {
        let first = self.first_position();
        let f = |range: Range<usize>| f(range.start + first..range.end + first);
        let mut f = f;
        // The conditions are constants, so one branch remains, with a single copy of `f`.
        if const { matches!(Self::IS_WHOLE, Some(true)) } {
            f(0..const { Self::STRIDE_TABLE.positions() as usize });
        } else if const { matches!(Self::IS_WHOLE, Some(false)) } {
            self.with_table(|table| table.for_each_segment(|range| f(range.start as usize..range.end as usize)));
        } else {
            let (elements, positions) = (count(self.sizes().as_ref()), self.positions());
            if elements == positions {
                f(0..positions);
            } else {
                self.with_table(|table| table.for_each_segment(|range| f(range.start as usize..range.end as usize)));
            }
        }
    }
}

impl<S: ArrayType> Memory for S {}

/// Which lines along a dimension are adjacent and belong to the array: in a block, adjacent lines may belong to another block.
pub(super) const fn own_bands<S: ArrayType>(dimension: usize) -> Bands {
    let bands = S::TABLE.bands(dimension);
    let (own, memory, mut i) = (S::DIMENSIONS, S::MEMORY_DIMENSIONS, 0);
    while i < own.len() {
        // If a band covers only some indices of a dimension (a step), the step divides the block's size. If it covers all, the block must take the
        // whole dimension.
        let takes_all = match (own[i].extent(), memory[i].extent()) {
            (Some(own), Some(memory)) => own >= memory,
            _ => false,
        };
        if !S::IS_WHOLE_ARRAY && i != dimension && bands.steps[i] == u64::MAX && !takes_all {
            // The elements of a line still form runs, if nothing is between them.
            let Run { len, stride } = S::TABLE.run(dimension);
            let len = if matches!(stride, Some(1)) { len } else { 1 };
            return Bands { lanes: 1, len, steps: [1; MAX_LIST] };
        }
        i += 1;
    }
    bands
}

/// The runs of elements along a dimension, with nothing of another block between their elements.
pub(super) const fn own_run<S: ArrayType>(dimension: usize) -> Run {
    let run = S::TABLE.run(dimension);
    match run.stride {
        Some(stride) if S::IS_WHOLE_ARRAY || stride == own_bands::<S>(dimension).lanes => run,
        None if S::IS_WHOLE_ARRAY => run,
        _ => Run { len: 1, stride: Some(1) },
    }
}

/// The largest block of elements that follow each other in both arrays. It may be smaller if sizes are known only at run time.
pub(super) const fn common_block<S: ArrayType, T: ArrayType>() -> CommonBlock {
    let (own, other) = (S::TABLE.digits(), T::TABLE.digits());
    let (mut block, mut i) = (CommonBlock::ONE, 0);
    if !S::TABLE.intermediates().is_empty() || !T::TABLE.intermediates().is_empty() {
        return block;
    }
    // The digits of the block are the last ones of both tables.
    while i < own.len() && i < other.len() {
        let digits = [own[own.len() - 1 - i], other[other.len() - 1 - i]];
        match block.extension(digits) {
            Extension::To(larger, None) => block = larger,
            // A block that is larger than the array would never be whole. Along a dimension of unknown size, a block may extend over a tile but not
            // beyond it: only whole tiles are certain.
            Extension::To(larger, Some(dimension))
                if fits(S::DIMENSIONS[dimension], larger.covers[dimension], digits[0].term.modulus.is_some())
                    && fits(T::DIMENSIONS[dimension], larger.covers[dimension], digits[1].term.modulus.is_some()) =>
            {
                block = larger;
            }
            Extension::To(..) | Extension::Partly | Extension::No => break,
        }
        i += 1;
    }
    if counts_blocks(own, own.len() - i, block) && counts_blocks(other, other.len() - i, block) {
        block
    } else {
        CommonBlock::ONE
    }
}

/// Whether an array with this dimension has whole blocks along it.
const fn fits(dimension: Dimension, covered: u64, is_tile: bool) -> bool {
    match dimension {
        Dimension::Static(size) => covered <= size,
        Dimension::Bounded(_) | Dimension::Unbounded => is_tile,
    }
}

/// Whether the first digits of a table, which the block does not include, have the same values for all elements of a
/// block.
const fn counts_blocks(digits: &[Digit], count: usize, block: CommonBlock) -> bool {
    let mut i = 0;
    while i < count {
        let term = digits[i].term;
        if let Source::Dimension(number) = term.source
            && !(number as usize >= MAX_LIST || term.divisor.get().is_multiple_of(block.covers[number as usize]))
        {
            return false;
        }
        i += 1;
    }
    true
}

#[inline(never)]
fn unbounded_positions<S: ArrayType>(shape: S) -> usize {
    shape.with_table(|table| table.positions() as usize)
}

/// Splits `0..size` into pieces that begin at multiples of `len`, and calls `f` with the start and the length of each.
///
/// If `len` is a constant, so is the length that `f` gets, except for a shorter last piece. The code calls `f` at only two places, because `f` is
/// inlined at each of them.
#[inline(always)]
pub(super) fn for_each_run(size: usize, len: usize, mut f: impl FnMut(usize, usize)) {
    debug_assert!(len > 0, "a run has an element");
    let mut start = 0;
    while size - start >= len {
        f(start, len);
        start += len;
    }
    if start < size {
        f(start, size - start);
    }
}
