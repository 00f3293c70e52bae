//! Cuts a relayout into smaller ones, for arrays that do not fit in memory.

use super::error::{RelayoutError, Side};
use super::options::Options;
use super::plan::Plan;
use crate::wide::{local, wide};
use std::ops::Range;
use xla_shape_core::map::{
    Digit, Intermediate, Source, Term, increment, least_common_multiple, row_major_entries, row_major_index,
};
use xla_shape_core::{ArrayShape, Dimension, StrideTable};

/// A relayout in slabs: an iterator over parts that together make up the destination. Each is made from a part of the source.
///
/// A slab is a separate relayout between smaller arrays in the same layouts: its source is gathered from pieces of the whole source, and
/// its destination is scattered to pieces of the whole destination. So files of any size can be copied in little memory.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan, Slabs};
///
/// let from: ArrayShape = "u8[4,3]{1,0}".parse()?;
/// let to: ArrayShape = "u8[4,3]{0,1}".parse()?;
/// let source: Vec<u8> = (0..12).collect();
/// let mut destination = [0; 12];
/// for slab in Slabs::new(&from, &to, &Options::new(), 8)? {
///     let gathered: Vec<u8> = slab.source().flat_map(|piece| source[piece].to_vec()).collect();
///     let mut made = vec![0; gathered.len()];
///     slab.plan()?.run(&gathered, &mut made)?;
///     let mut made = made.into_iter();
///     for piece in slab.destination() {
///         destination[piece].fill_with(|| made.next().unwrap_or_default());
///     }
/// }
/// assert_eq!(destination, [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Slabs {
    from: ArrayShape,
    to: ArrayShape,
    options: Options,
    /// For each dimension of the destination, which dimension of the source it is.
    permutation: Vec<usize>,
    tables: (StrideTable, StrideTable),
    cuts: Vec<Cut>,
    /// The bytes of a slab on the larger side.
    slab_bytes: usize,
    /// The number of the next slab along each cut dimension; `None` after the last slab.
    next: Option<Vec<u64>>,
}

/// How one of the destination's dimensions is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    dimension: usize,
    extent: usize,
    /// The number of indices in a slab; the last slab may have fewer.
    step: usize,
}

/// One part of a relayout; see [`Slabs`].
#[derive(Clone, Debug)]
pub struct Slab {
    from: ArrayShape,
    to: ArrayShape,
    options: Options,
    /// The index of the first element in each dimension of the whole source.
    start: Vec<u64>,
    source: Pieces,
    destination: Pieces,
}

/// Equal pieces of a buffer, in bytes. They start at all sums of `start` and a multiple of each loop's stride.
#[derive(Clone, Debug)]
struct Pieces {
    start: usize,
    len: usize,
    /// Count and stride of each loop, the outermost first.
    loops: Vec<(usize, usize)>,
}

impl Slabs {
    /// Cuts the relayout of `from` into `to` into slabs of about `bytes` bytes. Each slab is one piece of the destination, and they come in
    /// the destination's order.
    ///
    /// Cuts are made only between tiles, along as many of the destination's most major dimensions as necessary. Where no cut is possible
    /// (through a tile larger than `bytes`, or within a byte of packed elements), a slab is larger than `bytes`, up to the whole array.
    ///
    /// One mebibyte is fastest where the source comes in long [pieces](Slab::source), because both sides of a slab then fit in the L2
    /// cache. Transposes need larger slabs for long pieces.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Slabs};
    ///
    /// let from: ArrayShape = "f32[1000,128]{1,0}".parse()?;
    /// let to: ArrayShape = "f32[1000,128]{1,0:T(8,128)}".parse()?;
    /// let slabs = Slabs::new(&from, &to, &Options::new(), 64 << 10)?;
    /// assert_eq!(slabs.count(), 8);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Plan::new`].
    pub fn new(from: &ArrayShape, to: &ArrayShape, options: &Options, bytes: usize) -> Result<Self, RelayoutError> {
        Plan::check(from, to, options)?;
        let table = |array: &ArrayShape, side| {
            array.stride_table().map_err(|error| RelayoutError::from_table_error(side, error))
        };
        let tables = (table(from, Side::Source)?, table(to, Side::Destination)?);
        let permutation = options.to_dimension(from.num_dimensions()).into_owned();
        let mut slabs = Self {
            from: from.clone(),
            to: to.clone(),
            options: options.clone(),
            permutation,
            tables,
            cuts: Vec::new(),
            slab_bytes: larger(from, to),
            next: Some(Vec::new()),
        };
        slabs.cut(Side::Destination, bytes);
        slabs.next = Some(vec![0; slabs.cuts.len()]);
        Ok(slabs)
    }

    /// The same relayout in slabs that are cut on both sides: first to `source` bytes at the source's most major dimensions, then to
    /// `bytes` bytes at the destination's. Their order is unspecified.
    ///
    /// A slab that is cut on one side only is one piece there, but may be many short pieces on the other: in a transpose, a part of each
    /// row. If it is cut on both sides, all pieces are longer.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Slabs};
    ///
    /// let from: ArrayShape = "u8[64,64]{1,0}".parse()?;
    /// let to: ArrayShape = "u8[64,64]{0,1}".parse()?;
    /// let slabs = Slabs::new(&from, &to, &Options::new(), 256)?;
    /// let pieces = |mut slabs: Slabs| slabs.next().map(|slab| (slab.source().len(), slab.destination().len()));
    /// assert_eq!(pieces(slabs.in_any_order(1024, 256)), Some((16, 16)));
    /// assert_eq!(pieces(slabs), Some((64, 1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_any_order(&self, source: usize, bytes: usize) -> Self {
        let mut slabs = Self { cuts: Vec::new(), slab_bytes: larger(&self.from, &self.to), ..self.clone() };
        slabs.cut(Side::Source, source);
        slabs.cut(Side::Destination, bytes);
        slabs.next = Some(vec![0; slabs.cuts.len()]);
        slabs
    }

    /// The number of all slabs, including those that the iterator has already returned.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Slabs};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// assert_eq!(Slabs::new(&from, &to, &Options::new(), 8)?.total(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn total(&self) -> u64 {
        // At most the bytes of the array.
        self.counts().iter().product()
    }

    /// The slab with this number, in the order of the iterator, from 0 on; `None` if there is no such slab. Threads that share the slabs
    /// can take any of them.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_relayout::{Options, Slabs};
    ///
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// let slabs = Slabs::new(&from, &to, &Options::new(), 8)?;
    /// assert_eq!(slabs.numbered(1).ok_or("no slab")?.destination().collect::<Vec<_>>(), [8..12]);
    /// assert!(slabs.numbered(2).is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn numbered(&self, number: u64) -> Option<Slab> {
        let numbers = row_major_index(number, &self.counts());
        if number < self.total() { self.slab(&numbers) } else { None }
    }

    /// The number of slabs along each cut dimension.
    fn counts(&self) -> Vec<u64> {
        self.cuts.iter().map(|cut| cut.extent.div_ceil(cut.step) as u64).collect()
    }

    /// Cuts each slab at the most major dimensions of a side, until it takes at most `bytes`.
    fn cut(&mut self, side: Side, bytes: usize) {
        if !is_plain(&self.from) || !is_plain(&self.to) {
            return;
        }
        let bytes = bytes.max(1);
        let table = match side {
            Side::Source => &self.tables.0,
            Side::Destination => &self.tables.1,
        };
        // A side's part of a slab stays contiguous only if cuts are made from the outermost digit on.
        for digit in table.as_ref().digits().to_vec() {
            if self.slab_bytes <= bytes || !self.is_single(side, digit) && !self.cut_digit(side, digit, bytes) {
                break;
            }
        }
    }

    /// Whether a digit of a side has the same value in all of a slab.
    fn is_single(&self, side: Side, digit: Digit) -> bool {
        let is_of = |cut: &Cut| self.dimension(side, digit) == Some(cut.dimension);
        self.cuts.iter().any(|cut| is_of(cut) && cut.step as u64 == digit.term.divisor.get())
    }

    /// The destination's dimension that a digit of a side is cut out of; `None` if it is cut out of an intermediate value.
    fn dimension(&self, side: Side, digit: Digit) -> Option<usize> {
        let Source::Dimension(number) = digit.term.source else { return None };
        match side {
            Side::Source => self.permutation.iter().position(|&other| other == number as usize),
            Side::Destination => Some(number as usize),
        }
    }

    /// Cuts each slab at a digit of a side. Returns whether the next digit can be cut as well.
    fn cut_digit(&mut self, side: Side, digit: Digit, bytes: usize) -> bool {
        let Some((cut, slab_bytes, can_go_on)) = self.cut_at(side, digit, bytes) else { return false };
        self.cuts.push(cut);
        if !self.scales() {
            self.cuts.pop();
            return false;
        }
        self.slab_bytes = slab_bytes;
        can_go_on
    }

    /// The cut at a digit, the bytes of a slab after it, and whether the next digit can be cut as well.
    fn cut_at(&self, side: Side, digit: Digit, bytes: usize) -> Option<(Cut, usize, bool)> {
        let dimension = self.dimension(side, digit)?;
        let from = outermost(&self.tables.0, self.permutation[dimension])?;
        let to = outermost(&self.tables.1, dimension)?;
        let own = match side {
            Side::Source => from,
            Side::Destination => to,
        };
        let is_cut = self.cuts.iter().any(|cut| cut.dimension == dimension);
        if own != digit || is_cut || !fills_bytes(from, &self.from) || !fills_bytes(to, &self.to) {
            return None;
        }
        let unit = least_common_multiple(from.term.divisor.get(), to.term.divisor.get())? as usize;
        let extent = self.tables.1.as_ref().extents()[dimension] as usize;
        let units = extent.div_ceil(unit);
        if units < 2 {
            return None;
        }
        let in_unit = self.slab_bytes.div_ceil(units);
        let taken = (bytes / in_unit).clamp(1, units);
        // Only a step of one tile can be cut further: parts of several tiles are not one piece of the file.
        let can_go_on = unit as u64 == own.term.divisor.get() && taken == 1;
        Some((Cut { dimension, extent, step: unit * taken }, in_unit.saturating_mul(taken), can_go_on))
    }

    /// Whether the sizes of slabs are proportional to their part of the array. They are not where a tile covers a whole dimension.
    fn scales(&self) -> bool {
        let scales = |whole: &ArrayShape, table: &StrideTable, dimension_of: &dyn Fn(usize) -> usize, last: bool| {
            let mut expected = table.as_ref().positions() as u128;
            let mut sizes = local(table.as_ref().extents()).to_vec();
            for cut in &self.cuts {
                let dimension = dimension_of(cut.dimension);
                let Some(digit) = outermost(table, dimension) else { return false };
                let size = if last { cut.extent - (cut.extent - 1) / cut.step * cut.step } else { cut.step };
                sizes[dimension] = size;
                let Some(part) = expected.checked_div(digit.size as u128) else { return false };
                expected = part * size.div_ceil(digit.term.divisor.get() as usize) as u128;
            }
            sized(whole, &sizes)
                .and_then(|part| part.physical_elements())
                .is_some_and(|found| found as u128 == expected)
        };
        [false, true].into_iter().all(|last| {
            scales(&self.from, &self.tables.0, &|dimension| self.permutation[dimension], last)
                && scales(&self.to, &self.tables.1, &|dimension| dimension, last)
        })
    }

    fn slab(&self, numbers: &[u64]) -> Option<Slab> {
        let (mut from_ranges, mut to_ranges) = (Vec::new(), Vec::new());
        for (cut, &number) in self.cuts.iter().zip(numbers) {
            let start = number as usize * cut.step;
            let range = start..cut.extent.min(start + cut.step);
            from_ranges.push((self.permutation[cut.dimension], range.clone()));
            to_ranges.push((cut.dimension, range));
        }
        if self.cuts.is_empty() {
            let whole =
                |array: &ArrayShape| Some(Pieces { start: 0, len: array.byte_size()? as usize, loops: Vec::new() });
            let (from, to, options) = (self.from.clone(), self.to.clone(), self.options.clone());
            let start = vec![0; from.num_dimensions()];
            return Some(Slab { source: whole(&from)?, destination: whole(&to)?, from, to, options, start });
        }
        let mut start = vec![0; self.from.num_dimensions()];
        for (dimension, range) in &from_ranges {
            start[*dimension] = range.start as u64;
        }
        let part = |whole: &ArrayShape, table: &StrideTable, ranges: &[(usize, Range<usize>)]| {
            let mut sizes = local(table.as_ref().extents()).to_vec();
            for (dimension, range) in ranges {
                sizes[*dimension] = range.len();
            }
            sized(whole, &sizes)
        };
        Some(Slab {
            from: part(&self.from, &self.tables.0, &from_ranges)?,
            to: part(&self.to, &self.tables.1, &to_ranges)?,
            options: self.options.clone(),
            start,
            source: Pieces::new(&self.tables.0, self.from.element_bits() as usize, &from_ranges),
            destination: Pieces::new(&self.tables.1, self.to.element_bits() as usize, &to_ranges),
        })
    }
}

impl Iterator for Slabs {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        let mut numbers = self.next.take()?;
        let slab = self.slab(&numbers)?;
        if increment(&mut numbers, &self.counts()) {
            self.next = Some(numbers);
        }
        Some(slab)
    }
}

impl Slab {
    /// The plan that copies the slab: from its [source](Self::source) pieces, concatenated, to its [destination](Self::destination) pieces,
    /// concatenated. Slabs of equal [shapes](Self::shapes) have the same plan.
    ///
    /// See [`Slabs`] for an example.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Slabs};
    /// # let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// for slab in Slabs::new(&from, &to, &Options::new(), 8)? {
    ///     let plan = slab.plan()?;
    ///     assert_eq!((plan.from(), plan.to()), slab.shapes());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// None in practice, as the whole relayout has a plan. The type is the same as for [`Plan::new`].
    pub fn plan(&self) -> Result<Plan, RelayoutError> {
        Plan::new(&self.from, &self.to, &self.options)
    }

    /// The shapes of the slab's source and destination.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Slabs};
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// let first = Slabs::new(&from, &to, &Options::new(), 8)?.next().ok_or("no slab")?;
    /// assert_eq!(first.shapes().0.to_string(), "u8[4,2]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn shapes(&self) -> (&ArrayShape, &ArrayShape) {
        (&self.from, &self.to)
    }

    /// The index of the slab's first element, in each dimension of the whole source: the slab is the box that begins there and
    /// has the sizes of the slab's source.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Slabs};
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// let starts = Slabs::new(&from, &to, &Options::new(), 8)?.map(|slab| slab.start().to_vec());
    /// assert_eq!(starts.collect::<Vec<_>>(), [[0, 0], [0, 2]]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn start(&self) -> &[u64] {
        &self.start
    }

    /// The byte ranges of the whole source that the slab is made from. Concatenated, they are the slab's source.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Slabs};
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// let first = Slabs::new(&from, &to, &Options::new(), 8)?.next().ok_or("no slab")?;
    /// assert_eq!(first.source().collect::<Vec<_>>(), [0..2, 3..5, 6..8, 9..11]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn source(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.source.iter()
    }

    /// The byte ranges of the whole destination that the slab writes. Concatenated, they are the slab's destination.
    ///
    /// ```
    /// # use xla_shape_core::ArrayShape;
    /// # use xla_shape_relayout::{Options, Slabs};
    /// let [from, to]: [ArrayShape; 2] = ["u8[4,3]{1,0}".parse()?, "u8[4,3]{0,1}".parse()?];
    /// let first = Slabs::new(&from, &to, &Options::new(), 8)?.next().ok_or("no slab")?;
    /// assert_eq!(first.destination().collect::<Vec<_>>(), [0..8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn destination(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.destination.iter()
    }
}

impl Pieces {
    fn iter(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        let count = self.loops.iter().map(|(count, _)| count).product::<usize>();
        (0..count).map(|number| {
            let indices = row_major_entries(number as u64, self.loops.iter().rev().map(|(count, _)| *count as u64));
            let strides = self.loops.iter().rev().map(|(_, stride)| stride);
            let start = self.start + indices.zip(strides).map(|(index, stride)| index as usize * stride).sum::<usize>();
            start..start + self.len
        })
    }

    /// The pieces that hold these indices of some dimensions. Each of these dimensions is cut at its outermost digit.
    fn new(table: &StrideTable, bits: usize, ranges: &[(usize, Range<usize>)]) -> Self {
        let mut pieces = Self { start: 0, len: 1, loops: Vec::new() };
        let mut whole = 1;
        for digit in table.as_ref().digits().iter().rev() {
            let cut = ranges.iter().find(|(dimension, _)| outermost(table, *dimension) == Some(*digit));
            let count = match cut {
                Some((_, range)) => {
                    let unit = digit.term.divisor.get() as usize;
                    pieces.start += range.start / unit * digit.stride as usize;
                    range.end.div_ceil(unit) - range.start / unit
                }
                None => digit.size as usize,
            };
            if pieces.len == digit.stride as usize && pieces.loops.is_empty() {
                pieces.len *= count;
            } else if count > 1 {
                pieces.loops.insert(0, (count, digit.stride as usize));
            }
            whole *= count;
        }
        debug_assert_eq!(whole, pieces.loops.iter().map(|(count, _)| count).product::<usize>() * pieces.len);
        // These are whole bytes, and at most the size of the buffer.
        let bytes = |elements: usize| (elements as u128 * bits as u128 / 8) as usize;
        let loops = pieces.loops.iter().map(|&(count, stride)| (count, bytes(stride)));
        Self { start: bytes(pieces.start), len: bytes(pieces.len), loops: loops.collect() }
    }
}

/// The outermost digit of a dimension; `None` if the dimension is combined with others, or its outermost digit has a modulus.
fn outermost(table: &StrideTable, dimension: usize) -> Option<Digit> {
    let is_of = |term: Term| matches!(term.source, Source::Dimension(number) if number as usize == dimension);
    let is_combined = table.as_ref().intermediates().iter().any(|value| match *value {
        Intermediate::Term { term, .. } => is_of(term),
        Intermediate::Combine { major, minor, .. } => is_of(major) || is_of(minor),
    });
    let digits = table.as_ref().digits().iter().filter(|digit| is_of(digit.term));
    let outermost = digits.max_by_key(|digit| digit.term.divisor)?;
    (!is_combined && outermost.term.modulus.is_none()).then_some(*outermost)
}

/// Whether each value of a digit begins at a byte boundary.
fn fills_bytes(digit: Digit, array: &ArrayShape) -> bool {
    (digit.stride % 8 * array.element_bits()).is_multiple_of(8)
}

/// The bytes of the larger of two arrays.
fn larger(from: &ArrayShape, to: &ArrayShape) -> usize {
    from.byte_size().max(to.byte_size()).unwrap_or_default() as usize
}

/// Whether a buffer contains only the positions of its stride table: no prefix and no tail padding.
fn is_plain(array: &ArrayShape) -> bool {
    // Layouts with splits were refused.
    array.layout().has_only_positions()
}

/// An array in the same layout with other sizes, all of them static.
fn sized(array: &ArrayShape, sizes: &[usize]) -> Option<ArrayShape> {
    let sizes = wide(sizes).iter().map(|&size| Dimension::from(size)).collect::<Vec<_>>();
    ArrayShape::new(array.element_type(), &sizes, array.layout().clone()).ok()
}
