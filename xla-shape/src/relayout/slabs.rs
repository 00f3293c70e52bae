//! Cuts a relayout into smaller ones, for arrays that do not fit in memory.

use super::error::{RelayoutError, Side};
use super::options::Options;
use super::plan::Plan;
use crate::map::{Digit, Intermediate, Source, Term, least_common_multiple};
use crate::wide::{local, wide};
use crate::{ArrayShape, Dimension, StrideTable};
use std::ops::Range;

/// A relayout in slabs: parts of the destination without gaps, each made from a part of the source.
///
/// A slab is a separate relayout between smaller arrays in the same layouts: its source is gathered from pieces of the whole
/// source, and its destination goes to pieces of the whole destination. So files of any size can be copied in little memory.
///
/// ```
/// use xla_shape::ArrayShape;
/// use xla_shape::relayout::{Options, Plan, Slabs};
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
    /// The source's dimension that each of the destination's is.
    permutation: Vec<usize>,
    tables: (StrideTable, StrideTable),
    cuts: Vec<Cut>,
    /// What a slab takes on the larger side.
    slab_bytes: usize,
    /// The cut that the next slab begins at; `None` after the last.
    next: Option<Vec<usize>>,
}

/// How one of the destination's dimensions is cut.
#[derive(Clone, Copy, Debug)]
struct Cut {
    dimension: usize,
    extent: usize,
    /// How many indices a slab takes; the last one may have fewer.
    step: usize,
}

/// One part of a relayout; see [`Slabs`].
#[derive(Clone, Debug)]
pub struct Slab {
    from: ArrayShape,
    to: ArrayShape,
    options: Options,
    source: Pieces,
    destination: Pieces,
}

/// Equal pieces of a buffer, in bytes: all sums of `start` and a multiple of each loop's stride.
#[derive(Clone, Debug)]
struct Pieces {
    start: usize,
    len: usize,
    /// Count and stride, the outermost first.
    loops: Vec<(usize, usize)>,
}

impl Slabs {
    /// Cuts the relayout of `from` into `to` into slabs of about `bytes` bytes. Each makes one piece of the destination, and they come
    /// in its order.
    ///
    /// It takes as many of the destination's most major dimensions as are needed, and cuts only between tiles; where no
    /// cut is possible, as through a tile that is larger, or with bits that do not fill their bytes, a slab is larger
    /// than `bytes`, up to the whole array.
    ///
    /// A mebibyte is fastest where the source comes in long [pieces](Slab::source): both sides of a slab then fit in a processor's own
    /// cache. Transposes need larger slabs for long pieces.
    ///
    /// # Errors
    /// Same as [`Plan::new`].
    pub fn new(from: &ArrayShape, to: &ArrayShape, options: &Options, bytes: usize) -> Result<Self, RelayoutError> {
        Plan::new(from, to, options)?;
        let table =
            |array: &ArrayShape, side| array.stride_table().map_err(|error| RelayoutError::of_table(side, error));
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

    /// The same relayout in slabs that are cut on both sides: first to `source` bytes at the source's most major dimensions, then
    /// to `bytes` bytes at the destination's. They come in no order.
    ///
    /// What is cut on one side alone is in one piece there, and may be in many short ones on the other: of a transpose, a part of
    /// each row. Cut on both sides, no piece is that short.
    ///
    /// ```
    /// use xla_shape::ArrayShape;
    /// use xla_shape::relayout::{Options, Slabs};
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

    /// Cuts each slab at the most major dimensions of a side, until it takes no more than `bytes`.
    fn cut(&mut self, side: Side, bytes: usize) {
        if !is_plain(&self.from) || !is_plain(&self.to) {
            return;
        }
        let bytes = bytes.max(1);
        let table = match side {
            Side::Source => &self.tables.0,
            Side::Destination => &self.tables.1,
        };
        // What a side has of a slab stays in one piece only if cuts are made from its outermost digit on.
        for digit in table.as_ref().digits().to_vec() {
            if self.slab_bytes <= bytes || !self.is_single(side, digit) && !self.cut_digit(side, digit, bytes) {
                break;
            }
        }
    }

    /// Whether slabs have a single index of a digit of a side.
    fn is_single(&self, side: Side, digit: Digit) -> bool {
        let is_of = |cut: &Cut| self.dimension(side, digit) == Some(cut.dimension);
        self.cuts.iter().any(|cut| is_of(cut) && cut.step as u64 == digit.term.divisor.get())
    }

    /// The destination's dimension that a digit of a side counts, if it counts one.
    fn dimension(&self, side: Side, digit: Digit) -> Option<usize> {
        let Source::Dimension(number) = digit.term.source else { return None };
        match side {
            Side::Source => self.permutation.iter().position(|&other| other == number as usize),
            Side::Destination => Some(number as usize),
        }
    }

    /// Cuts each slab at a digit of a side; whether the next digit can be cut as well.
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

    /// How to cut at a digit, what a slab takes then, and whether the next digit can be cut as well.
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
        // Of a step of several tiles, a further cut would not be one piece.
        let can_go_on = unit as u64 == own.term.divisor.get() && taken == 1;
        Some((Cut { dimension, extent, step: unit * taken }, in_unit.saturating_mul(taken), can_go_on))
    }

    /// Whether slabs are as large as the part of the array that they are: not where a tile covers a whole dimension.
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

    fn slab(&self, at: &[usize]) -> Option<Slab> {
        let (mut from_ranges, mut to_ranges) = (Vec::new(), Vec::new());
        for (cut, &start) in self.cuts.iter().zip(at) {
            let range = start..cut.extent.min(start + cut.step);
            from_ranges.push((self.permutation[cut.dimension], range.clone()));
            to_ranges.push((cut.dimension, range));
        }
        if self.cuts.is_empty() {
            let whole =
                |array: &ArrayShape| Some(Pieces { start: 0, len: array.byte_size()? as usize, loops: Vec::new() });
            let (from, to, options) = (self.from.clone(), self.to.clone(), self.options.clone());
            return Some(Slab { source: whole(&from)?, destination: whole(&to)?, from, to, options });
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
            source: Pieces::of(&self.tables.0, self.from.element_bits() as usize, &from_ranges),
            destination: Pieces::of(&self.tables.1, self.to.element_bits() as usize, &to_ranges),
        })
    }
}

impl Iterator for Slabs {
    type Item = Slab;

    fn next(&mut self) -> Option<Slab> {
        let mut at = self.next.take()?;
        let slab = self.slab(&at)?;
        for (cut, start) in self.cuts.iter().zip(&mut at).rev() {
            *start += cut.step;
            if *start < cut.extent {
                self.next = Some(at);
                break;
            }
            *start = 0;
        }
        Some(slab)
    }
}

impl Slab {
    /// How to copy the slab: from its pieces of the source, one after the other, to its destination. Slabs of equal
    /// [shapes](Self::shapes) have the same plan.
    ///
    /// # Errors
    /// Never, as the whole relayout has a plan; the type is that of [`Plan::new`].
    pub fn plan(&self) -> Result<Plan, RelayoutError> {
        Plan::new(&self.from, &self.to, &self.options)
    }

    /// The shapes of the slab's source and destination.
    #[must_use]
    pub const fn shapes(&self) -> (&ArrayShape, &ArrayShape) {
        (&self.from, &self.to)
    }

    /// The pieces of the whole source that the slab is made from, in bytes; one after the other, they are its source.
    pub fn source(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.source.iter()
    }

    /// The pieces of the whole destination that the slab makes, in bytes; one after the other, they are its destination.
    pub fn destination(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        self.destination.iter()
    }
}

impl Pieces {
    fn iter(&self) -> impl ExactSizeIterator<Item = Range<usize>> {
        let count = self.loops.iter().map(|(count, _)| count).product::<usize>();
        (0..count).map(|mut number| {
            let mut start = self.start;
            for (count, stride) in self.loops.iter().rev() {
                start += number % count * stride;
                number /= count;
            }
            start..start + self.len
        })
    }

    /// The pieces that hold these indices of some dimensions, each of which is cut at its outermost digit.
    fn of(table: &StrideTable, bits: usize, ranges: &[(usize, Range<usize>)]) -> Self {
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
        // Whole bytes, of a buffer whose size in bytes fits.
        let bytes = |elements: usize| (elements as u128 * bits as u128 / 8) as usize;
        let loops = pieces.loops.iter().map(|&(count, stride)| (count, bytes(stride)));
        Self { start: bytes(pieces.start), len: bytes(pieces.len), loops: loops.collect() }
    }
}

/// The digit that counts what is outermost of a dimension, if all that depends on the dimension is digits of its own.
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

/// Whether each value of a digit begins at a byte of its own.
fn fills_bytes(digit: Digit, array: &ArrayShape) -> bool {
    (digit.stride % 8 * array.element_bits()).is_multiple_of(8)
}

/// The bytes of the larger of two arrays.
fn larger(from: &ArrayShape, to: &ArrayShape) -> usize {
    from.byte_size().max(to.byte_size()).unwrap_or_default() as usize
}

/// Whether a buffer holds nothing but the positions of its stride table.
fn is_plain(array: &ArrayShape) -> bool {
    let layout = array.layout();
    layout.dynamic_shape_metadata_prefix_bytes() == 0 && layout.tail_padding_alignment_in_elements() == 1
}

/// An array in the same layout with other sizes, none of them bounded.
fn sized(array: &ArrayShape, sizes: &[usize]) -> Option<ArrayShape> {
    let sizes = wide(sizes).iter().map(|&size| Dimension::from(size)).collect::<Vec<_>>();
    ArrayShape::new(array.element_type(), &sizes, array.layout().clone()).ok()
}
