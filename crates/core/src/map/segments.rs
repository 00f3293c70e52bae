//! Segments: ranges of positions that hold only elements, no padding.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`build` checks every product and sum for overflow; sources refer to existing dimensions; counters stay below sizes"
)]

use super::{Digit, Slot, Source, StaticStrideTable, StrideTableRef};
use alloc::vec;
use core::ops::Range;

impl Digit {
    /// How many values of the digit belong to elements. The others, up to its size, are padding.
    pub(crate) const fn taken(self) -> u64 {
        match (self.term.source, self.term.modulus) {
            (Source::Zero, _) => 1,
            (_, Some(modulus)) if modulus.get() < self.size => modulus.get(),
            _ => self.size,
        }
    }

    /// The largest number that the digit adds to its dimension's index.
    const fn reach(self) -> u64 {
        (self.taken() - 1) * self.term.divisor.get()
    }
}

impl StrideTableRef<'_> {
    /// Calls `f` with ranges of positions that hold only elements, in the order of memory. Together they hold every
    /// element exactly once; neighbouring ranges may touch.
    ///
    /// The extents may be smaller than the sizes that the table was made for: elements beyond them count as padding.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let table = "f32[3,5]{1,0:T(2,4)}".parse::<ArrayShape>()?.stride_table()?;
    /// let mut segments = Vec::new();
    /// table.as_ref().for_each_segment(|segment| segments.push(segment));
    /// assert_eq!(segments, [0..8, 8..9, 12..13, 16..20, 24..25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn for_each_segment(self, mut f: impl FnMut(Range<u64>)) {
        self.visit_segments(&mut f);
    }

    /// [`for_each_segment`](Self::for_each_segment), compiled once: callers are compiled for each shape and each kernel. The indirect call for
    /// each segment costs little compared with finding the segment.
    fn visit_segments(self, emit: &mut dyn FnMut(Range<u64>)) {
        if self.extents.contains(&0) {
            return;
        }
        if !self.intermediates.is_empty() {
            return self.scan(emit);
        }
        with_zeros(self.digits.len(), |reach| {
            with_zeros(self.extents.len(), |base| {
                // From the last digit to the first: `base` holds the most that the digits visited so far add to each
                // dimension's index.
                let mut open = 0;
                for (level, digit) in self.digits.iter().enumerate().rev() {
                    open += usize::from(digit.taken() < digit.size);
                    if let Source::Dimension(dimension) = digit.term.source {
                        reach[level] = base[dimension as usize];
                        base[dimension as usize] += digit.reach();
                    }
                }
                open += base.iter().zip(self.extents).filter(|(reach, extent)| reach >= extent).count();
                base.fill(0);
                if open == 0 {
                    return emit(0..self.positions);
                }
                SegmentWalk { digits: self.digits, extents: self.extents, reach, base, emit }.visit(0, 0, open);
            });
        });
    }

    /// [`for_each_segment`](Self::for_each_segment), position by position, for tables with intermediate values.
    fn scan(self, emit: &mut dyn FnMut(Range<u64>)) {
        let mut start = 0;
        with_zeros(self.extents.len(), |index| {
            with_zeros(self.intermediates.len(), |values| {
                for position in 0..self.positions {
                    if self.multi_index_with(position, index, values) != Slot::Element(()) {
                        if start < position {
                            emit(start..position);
                        }
                        start = position + 1;
                    }
                }
            });
        });
        if start < self.positions {
            emit(start..self.positions);
        }
    }
}

/// Recursion over the digits, the most major first.
struct SegmentWalk<'a> {
    digits: &'a [Digit],
    extents: &'a [u64],
    /// For each digit, the most that later digits add to the index of its dimension.
    reach: &'a [u64],
    /// The part of each index that the digits visited so far determine; less than the extent.
    base: &'a mut [u64],
    emit: &'a mut dyn FnMut(Range<u64>),
}

impl SegmentWalk<'_> {
    /// Emits the segments of the positions that the digits from `level` on span, beginning at `start`. `open` counts
    /// what can still cause padding: dimensions whose index may reach their extent, and digits with values that no
    /// element has.
    fn visit(&mut self, level: usize, start: u64, open: usize) {
        let Some(&digit) = self.digits.get(level) else { return };
        let taken = digit.taken();
        let open_behind = open - usize::from(taken < digit.size);
        // For values below `whole`, every index stays below the extent; for values below `some`, it depends on the
        // later digits.
        let (mut whole, mut some, mut open_if_whole) = (taken, taken, open_behind);
        let mut dimension = None;
        if let Source::Dimension(number) = digit.term.source {
            let number = number as usize;
            let (left, divisor) = (self.extents[number] - self.base[number], digit.term.divisor.get());
            if left <= self.reach[level] + digit.reach() {
                open_if_whole -= 1;
                whole = left.saturating_sub(self.reach[level]).div_ceil(divisor).min(taken);
                some = left.div_ceil(divisor).min(taken);
            }
            dimension = Some((number, divisor));
        }
        if open_if_whole == 0 {
            if whole > 0 {
                (self.emit)(start..start + whole * digit.stride);
            }
        } else {
            self.visit_values(level, start, 0..whole, open_if_whole, dimension);
        }
        self.visit_values(level, start, whole..some, open_behind, dimension);
    }

    fn visit_values(
        &mut self,
        level: usize,
        start: u64,
        values: Range<u64>,
        open: usize,
        dimension: Option<(usize, u64)>,
    ) {
        let before = dimension.map_or(0, |(number, _)| self.base[number]);
        for value in values {
            if let Some((number, divisor)) = dimension {
                self.base[number] = before + value * divisor;
            }
            self.visit(level + 1, start + value * self.digits[level].stride, open);
        }
        if let Some((number, _)) = dimension {
            self.base[number] = before;
        }
    }
}

/// The longest list that is kept on the stack; longer ones need the heap.
const STACK: usize = 32;

fn with_zeros<R>(n: usize, f: impl FnOnce(&mut [u64]) -> R) -> R {
    if n <= STACK { f(&mut [0; STACK][..n]) } else { f(&mut vec![0; n]) }
}

impl StaticStrideTable {
    /// The table with the sizes of unbounded dimensions filled in: the same as the table of the shape with these sizes.
    ///
    /// ```
    /// use xla_shape_core::{Dimension, Layout, map::StaticStrideTable};
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// let table = StaticStrideTable::from_dimensions(&[Dimension::Static(64), Dimension::Unbounded], &layout)?;
    /// assert_eq!(table.with_sizes(&[64, 256]), StaticStrideTable::new(&[64, 256], &layout)?);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_sizes(&self, sizes: &[u64]) -> Self {
        let mut table = *self;
        let mut empty = self.positions == 0;
        for digit in table.digits.iter_mut().take(self.num_digits).filter(|digit| digit.is_unbounded()) {
            digit.size = digit.unbounded_size(sizes);
            empty |= digit.size == 0;
        }
        if empty {
            // As `build` does for an empty array: no positions and no digits. The product of the other sizes might
            // overflow.
            return Self { num_digits: 0, num_intermediates: 0, positions: 0, ..table };
        }
        let mut positions = 1;
        for digit in table.digits.iter_mut().take(self.num_digits).rev() {
            digit.stride = positions;
            positions *= digit.size;
        }
        table.positions = positions;
        table
    }
}
