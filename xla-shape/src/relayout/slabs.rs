//! Cuts a relayout into smaller ones, for arrays that do not fit in memory.

use super::error::{RelayoutError, Side};
use super::options::Options;
use super::plan::Plan;
use crate::map::{Digit, Intermediate, Source, Term, least_common_multiple};
use crate::wide::{local, wide};
use crate::{ArrayShape, Dimension, StrideTable};
use std::ops::Range;

/// A relayout in slabs: parts of the destination, in order and without gaps, each made from a part of the source.
///
/// A slab is a separate relayout between smaller arrays in the same layouts: its source is gathered from pieces of the whole
/// source, its destination is one piece of the whole destination. So files of any size can be copied in little memory.
///
/// ```
/// use xla_shape::ArrayShape;
/// use xla_shape::relayout::{Options, Plan, Slabs};
///
/// let from: ArrayShape = "u8[4,3]{1,0}".parse()?;
/// let to: ArrayShape = "u8[4,3]{0,1}".parse()?;
/// let source: Vec<u8> = (0..12).collect();
/// let mut destination = Vec::new();
/// for slab in Slabs::new(&from, &to, &Options::new(), 8)? {
///     let gathered: Vec<u8> = slab.source().flat_map(|piece| source[piece].to_vec()).collect();
///     let mut made = vec![0; slab.destination().len()];
///     slab.plan()?.run(&gathered, &mut made)?;
///     destination.extend(made);
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
    destination: Range<usize>,
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
    /// Cuts the relayout of `from` into `to` into slabs of about `bytes` bytes.
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
            next: None,
        };
        slabs.cuts = slabs.choose(bytes.max(1));
        slabs.next = Some(vec![0; slabs.cuts.len()]);
        Ok(slabs)
    }

    fn choose(&self, bytes: usize) -> Vec<Cut> {
        let mut cuts = Vec::new();
        let (Some(from_bytes), Some(to_bytes)) = (self.from.byte_size(), self.to.byte_size()) else { return cuts };
        if !is_plain(&self.from) || !is_plain(&self.to) {
            return cuts;
        }
        let mut rest = from_bytes.max(to_bytes) as usize;
        for digit in self.tables.1.as_ref().digits() {
            if rest <= bytes {
                break;
            }
            // The destination stays in one piece only if cuts are made from its outermost digit on.
            let Source::Dimension(dimension) = digit.term.source else { break };
            let dimension = dimension as usize;
            let from = outermost(&self.tables.0, self.permutation[dimension]);
            let (Some(to), Some(from)) = (outermost(&self.tables.1, dimension), from) else { break };
            if to != *digit || !fills_bytes(from, &self.from) || !fills_bytes(to, &self.to) {
                break;
            }
            let Some(unit) = least_common_multiple(from.term.divisor.get(), to.term.divisor.get()) else { break };
            let unit = unit as usize;
            let extent = self.tables.1.as_ref().extents()[dimension] as usize;
            let units = extent.div_ceil(unit);
            if units < 2 {
                break;
            }
            let in_unit = rest.div_ceil(units);
            let step = unit * (bytes / in_unit).clamp(1, units);
            cuts.push(Cut { dimension, extent, step });
            if !self.scales(&cuts) {
                cuts.pop();
                break;
            }
            rest = in_unit;
            // Of a step of several tiles, a further cut would not be one piece.
            if unit as u64 != to.term.divisor.get() || step > unit {
                break;
            }
        }
        cuts
    }

    /// Whether slabs are as large as the part of the array that they are: not where a tile covers a whole dimension.
    fn scales(&self, cuts: &[Cut]) -> bool {
        let scales = |whole: &ArrayShape, table: &StrideTable, dimension_of: &dyn Fn(usize) -> usize, last: bool| {
            let mut expected = table.as_ref().positions() as u128;
            let mut sizes = local(table.as_ref().extents()).to_vec();
            for cut in cuts {
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
            let destination = 0..self.to.byte_size()? as usize;
            let (from, to, options) = (self.from.clone(), self.to.clone(), self.options.clone());
            return Some(Slab { source: whole(&from)?, from, to, options, destination });
        }
        let part = |whole: &ArrayShape, table: &StrideTable, ranges: &[(usize, Range<usize>)]| {
            let mut sizes = local(table.as_ref().extents()).to_vec();
            for (dimension, range) in ranges {
                sizes[*dimension] = range.len();
            }
            sized(whole, &sizes)
        };
        let destination = Pieces::of(&self.tables.1, self.to.element_bits() as usize, &to_ranges);
        debug_assert!(destination.loops.is_empty(), "the cuts begin at the outermost digit");
        Some(Slab {
            from: part(&self.from, &self.tables.0, &from_ranges)?,
            to: part(&self.to, &self.tables.1, &to_ranges)?,
            options: self.options.clone(),
            source: Pieces::of(&self.tables.0, self.from.element_bits() as usize, &from_ranges),
            destination: destination.start..destination.start + destination.len,
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
    pub fn source(&self) -> impl Iterator<Item = Range<usize>> {
        let count = self.source.loops.iter().map(|(count, _)| count).product::<usize>();
        (0..count).map(|mut number| {
            let mut start = self.source.start;
            for (count, stride) in self.source.loops.iter().rev() {
                start += number % count * stride;
                number /= count;
            }
            start..start + self.source.len
        })
    }

    /// The bytes of the whole destination that the slab makes.
    #[must_use]
    pub fn destination(&self) -> Range<usize> {
        self.destination.clone()
    }
}

impl Pieces {
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
