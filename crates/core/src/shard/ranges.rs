//! Which positions and bytes of an array hold a region of it.

use super::partition::Region;
use crate::map::{Digit, Slot, Source, StrideTable, StrideTableError, StrideTableRef};
use crate::shape::array::ArrayShape;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// An iterator over the ranges of positions that hold a region, in the order of memory, with touching ranges joined;
/// see [`ArrayShape::ranges_of`].
///
/// The time of each step depends on the number of digits of the layout, not on the size of the array. If `*` combines
/// dimensions, the iterator checks every position of the array.
///
/// ```
/// use xla_shape_core::{ArrayShape, shard::Region};
///
/// // Two rows of an array of 4 by 6, in positions.
/// let rows = Region { start: vec![1, 0], limit: vec![3, 6] };
/// let row_major: ArrayShape = "f32[4,6]{1,0}".parse()?;
/// assert!(row_major.ranges_of(rows.clone())?.eq([6..18]));
/// let column_major: ArrayShape = "f32[4,6]{0,1}".parse()?;
/// assert_eq!(column_major.ranges_of(rows)?.count(), 6);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ranges {
    region: Region,
    search: Search,
    /// The last range, which the next one may extend.
    pending: Option<Range<u64>>,
}

#[derive(Clone, Debug)]
enum Search {
    Digits(Walk),
    Positions { table: Box<StrideTable>, next: u64, index: Vec<u64> },
}

/// Nested loops over the digits of the stride table, the most major outermost.
#[derive(Clone, Debug)]
struct Walk {
    digits: Vec<Level>,
    /// The part of each dimension's index that the current digits of the open loops give.
    base: Vec<u64>,
    /// The open loops, the outermost first.
    loops: Vec<Loop>,
    /// The position that the open loops give.
    position: u64,
    /// Whether no loop has been entered yet.
    is_new: bool,
}

#[derive(Clone, Debug)]
struct Level {
    dimension: Option<usize>,
    divisor: u64,
    /// The number of digit values that hold elements; values from here up to `size` are padding.
    taken: u64,
    size: u64,
    stride: u64,
    /// The most that this digit and the more minor ones add to each dimension's index.
    reach: Vec<u64>,
    /// Whether neither this digit nor a more minor one has padding.
    is_full: bool,
}

/// One loop over the values of a digit.
#[derive(Clone, Copy, Debug)]
struct Loop {
    /// The current value.
    value: u64,
    /// The value after the last one.
    end: u64,
}

/// How a region is laid out in memory.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::shard::{Region, Slicing};
///
/// let array: ArrayShape = "u8[4,6]{1,0}".parse()?;
/// let rows = Region { start: vec![1, 0], limit: vec![3, 6] };
/// assert_eq!(array.slicing(rows)?, Slicing::OneRange(6..18));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Slicing {
    /// The region has no elements.
    Empty,
    /// The region is one range of bytes.
    OneRange(Range<u64>),
    /// The region is several ranges of bytes.
    Ranges,
    /// No two elements of the region are neighbours in memory, or ranges begin or end inside a byte: elements must be
    /// copied one by one.
    Elements,
}

impl ArrayShape {
    /// The positions, in elements, that hold a region of the array, as ranges in the order of memory. Touching ranges
    /// are joined.
    ///
    /// ```
    /// use xla_shape_core::{ArrayShape, shard::Region};
    ///
    /// let array: ArrayShape = "f32[4,6]{1,0}".parse()?;
    /// let rows = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// assert!(array.ranges_of(rows)?.eq([6..18]));
    /// let columns = Region { start: vec![0, 2], limit: vec![4, 5] };
    /// assert!(array.ranges_of(columns)?.eq([2..5, 8..11, 14..17, 20..23]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`].
    ///
    /// # Panics
    /// If the region and the array have different numbers of dimensions.
    pub fn ranges_of(&self, region: Region) -> Result<Ranges, StrideTableError> {
        let table = self.stride_table()?;
        let map = table.as_ref();
        let extents = map.extents().to_vec();
        assert!(
            region.start.len() == extents.len() && region.limit.len() == extents.len(),
            "a region has as many dimensions as its array"
        );
        let region = region.intersection(&Region::whole(&extents));
        let search = if map.intermediates().is_empty() {
            Search::Digits(Walk::new(map, &region))
        } else {
            Search::Positions { next: 0, index: vec![0; extents.len()], table: Box::new(table) }
        };
        Ok(Ranges { region, search, pending: None })
    }

    /// The bytes of a range of positions; `None` if it begins or ends inside a byte, or a byte does not fit in a `u64`.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let array: ArrayShape = "f32[4,6]".parse()?;
    /// assert_eq!(array.byte_range(&(6..18)), Some(24..72));
    /// let packed: ArrayShape = "s4[8]{0:E(4)}".parse()?;
    /// assert_eq!(packed.byte_range(&(1..3)), None);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn byte_range(&self, positions: &Range<u64>) -> Option<Range<u64>> {
        let prefix = self.layout().dynamic_shape_metadata_prefix_bytes();
        let byte = |position: u64| {
            let bits = position.checked_mul(self.element_bits())?;
            if bits.is_multiple_of(8) { prefix.checked_add(bits / 8) } else { None }
        };
        Some(byte(positions.start)?..byte(positions.end)?)
    }

    /// Whether a region is one range of bytes, several ranges, or must be copied element by element.
    ///
    /// Looks at the first 2^20 ranges only.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::shard::{Region, Slicing};
    ///
    /// let array: ArrayShape = "f32[4,6]{1,0}".parse()?;
    /// let region = |start, limit| Region { start: vec![0, start], limit: vec![4, limit] };
    /// assert_eq!(array.slicing(region(2, 5))?, Slicing::Ranges);
    /// assert_eq!(array.slicing(region(2, 3))?, Slicing::Elements);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`ArrayShape::stride_table`].
    ///
    /// # Panics
    /// If the region and the array have different numbers of dimensions.
    pub fn slicing(&self, region: Region) -> Result<Slicing, StrideTableError> {
        const MAX_RANGES: usize = 1 << 20;
        let mut ranges = self.ranges_of(region)?;
        let Some(first) = ranges.next() else { return Ok(Slicing::Empty) };
        let Some(second) = ranges.next() else {
            return Ok(self.byte_range(&first).map_or(Slicing::Elements, Slicing::OneRange));
        };
        let mut has_neighbours = false;
        for range in [first, second].into_iter().chain(ranges).take(MAX_RANGES) {
            if self.byte_range(&range).is_none() {
                return Ok(Slicing::Elements);
            }
            has_neighbours |= range.end.saturating_sub(range.start) > 1;
            // Later ranges cannot change the answer if elements are whole bytes.
            if has_neighbours && self.element_bits().is_multiple_of(8) {
                break;
            }
        }
        Ok(if has_neighbours { Slicing::Ranges } else { Slicing::Elements })
    }
}

impl Walk {
    fn new(table: StrideTableRef<'_>, region: &Region) -> Self {
        let rank = table.extents().len();
        let mut digits = Vec::with_capacity(table.digits().len());
        let mut reach = vec![0_u64; rank];
        let mut is_full = true;
        for digit in table.digits().iter().rev() {
            let (&Digit { term, size, stride }, taken) = (digit, digit.taken());
            let divisor = term.divisor.get();
            let dimension = match term.source {
                Source::Dimension(dimension) => Some(dimension as usize),
                _ => None,
            };
            if let Some(reach) = dimension.and_then(|dimension| reach.get_mut(dimension)) {
                *reach = reach.saturating_add(taken.saturating_sub(1).saturating_mul(divisor));
            }
            is_full &= taken == size;
            digits.push(Level { dimension, divisor, taken, size, stride, reach: reach.clone(), is_full });
        }
        digits.reverse();
        // An empty array or an empty region has no ranges.
        let is_new = table.positions() > 0 && !region.is_empty();
        Self { digits, base: vec![0; rank], loops: Vec::new(), position: 0, is_new }
    }

    /// The next block of positions that all hold elements of the region.
    fn next(&mut self, region: &Region) -> Option<Range<u64>> {
        if self.is_new {
            self.is_new = false;
            if let Some(block) = self.enter(region) {
                return Some(block);
            }
        }
        // Advance the innermost loop; where it has ended, advance the loop around it.
        while let Some(level) = self.loops.len().checked_sub(1) {
            let Loop { value, end } = *self.loops.last()?;
            let digit = self.digits.get(level)?;
            #[expect(clippy::arithmetic_side_effects, reason = "the value is below the end of the loop")]
            let next = value + 1;
            let step = |old: u64, from: u64, to: u64, by: u64| {
                old.saturating_sub(from.saturating_mul(by)).saturating_add(to.saturating_mul(by))
            };
            let (position, to) = (self.position, if next < end { next } else { 0 });
            self.position = step(position, value, to, digit.stride);
            if let Some(base) = digit.dimension.and_then(|dimension| self.base.get_mut(dimension)) {
                *base = step(*base, value, to, digit.divisor);
            }
            if next < end {
                self.loops.last_mut()?.value = next;
                if let Some(block) = self.enter(region) {
                    return Some(block);
                }
            } else {
                self.loops.pop();
            }
        }
        None
    }

    /// Opens loops until every element below the innermost one belongs to the region, and returns those positions;
    /// `None` if a loop has no value inside the region.
    fn enter(&mut self, region: &Region) -> Option<Range<u64>> {
        loop {
            let Some(digit) = self.digits.get(self.loops.len()) else {
                // All digits are fixed, so this is a single element, and its index is in the region.
                return Some(self.position..self.position.saturating_add(1));
            };
            let bounds = || self.base.iter().zip(&digit.reach).zip(region.start.iter().zip(&region.limit));
            let is_inside = |((&base, &reach), (&start, &limit)): ((&u64, &u64), (&u64, &u64))| {
                start <= base && base.saturating_add(reach) < limit
            };
            if digit.is_full && bounds().all(is_inside) {
                let length = digit.size.saturating_mul(digit.stride);
                return Some(self.position..self.position.saturating_add(length));
            }
            let (mut first, mut end) = (0, digit.taken);
            if let Some(dimension) = digit.dimension {
                let (base, start) = (*self.base.get(dimension)?, *region.start.get(dimension)?);
                let limit = *region.limit.get(dimension)?;
                // The most that the more minor digits add to the index.
                let own = digit.taken.saturating_sub(1).saturating_mul(digit.divisor);
                let minor = digit.reach.get(dimension)?.saturating_sub(own);
                first = start.saturating_sub(base.saturating_add(minor)).div_ceil(digit.divisor);
                end = end.min(limit.saturating_sub(base).div_ceil(digit.divisor));
            }
            if first >= end {
                return None;
            }
            self.position = self.position.saturating_add(first.saturating_mul(digit.stride));
            let added = first.saturating_mul(digit.divisor);
            if let Some(base) = digit.dimension.and_then(|dimension| self.base.get_mut(dimension)) {
                *base = base.saturating_add(added);
            }
            self.loops.push(Loop { value: first, end });
        }
    }
}

impl Ranges {
    /// The next range of positions, which may touch the one before.
    #[expect(clippy::arithmetic_side_effects, reason = "a position is below the number of positions")]
    fn block(&mut self) -> Option<Range<u64>> {
        let Self { region, search, .. } = self;
        match search {
            Search::Digits(walk) => walk.next(region),
            Search::Positions { table, next, index } => loop {
                let position = *next;
                if position >= (**table).as_ref().positions() {
                    return None;
                }
                *next = position + 1;
                let is_element = (**table).as_ref().multi_index_into(position, index) == Slot::Element(());
                let bounds = index.iter().zip(region.start.iter().zip(&region.limit));
                if is_element && bounds.into_iter().all(|(&i, (start, limit))| (*start..*limit).contains(&i)) {
                    return Some(position..*next);
                }
            },
        }
    }
}

impl Iterator for Ranges {
    type Item = Range<u64>;

    fn next(&mut self) -> Option<Range<u64>> {
        loop {
            let Some(block) = self.block() else { return self.pending.take() };
            match &mut self.pending {
                Some(pending) if pending.end == block.start => pending.end = block.end,
                pending => {
                    if let Some(range) = pending.replace(block) {
                        return Some(range);
                    }
                }
            }
        }
    }
}

impl Region {
    /// Maps an element of the region to the whole array, together with the elements that follow it contiguously in
    /// both.
    ///
    /// `element` is the element's row-major number in the region. The result is the range of row-major numbers in an
    /// array of these sizes; `None` after the last element.
    ///
    /// Use it to read any part of a row-major shard from a row-major array.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 2], limit: vec![3, 5] };
    /// assert_eq!(region.row_major_run(&[4, 6], 0), Some(8..11));
    /// assert_eq!(region.row_major_run(&[4, 6], 4), Some(15..17));
    /// ```
    #[must_use]
    pub fn row_major_run(&self, sizes: &[u64], element: u64) -> Option<Range<u64>> {
        let (mut rest, mut position, mut stride) = (element, 0_u64, 1_u64);
        // The number of the region's elements in the dimensions so far, as long as those are contiguous in the array.
        let (mut run, mut is_run) = (1_u64, true);
        for ((&start, &limit), &size) in self.start.iter().zip(&self.limit).zip(sizes).rev() {
            let own = limit.checked_sub(start).filter(|&own| own > 0)?;
            let index = start.checked_add(rest.checked_rem(own)?)?;
            rest = rest.checked_div(own)?;
            position = position.checked_add(index.checked_mul(stride)?)?;
            stride = stride.checked_mul(size)?;
            if is_run {
                run = run.checked_mul(own)?;
                is_run = own == size;
            }
        }
        let done = element.checked_rem(run)?;
        (rest == 0).then_some(position..position.checked_add(run.checked_sub(done)?)?)
    }
}
