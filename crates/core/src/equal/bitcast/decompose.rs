//! Explains a bitcast between two shapes as a reshape, a transpose and a reshape.
//!
//! Both arrays are seen as one-dimensional: an element's index is its row-major number. A map then cuts this number
//! into digits, each with a stride in memory. The digits of both maps are cut further until they have equal sizes and
//! strides, so that each digit of one number corresponds to a digit of the other. If both numbers split into the same
//! segments of digits, these segments are the dimensions that the transpose permutes. XLA's counterpart for layouts
//! without tiles is `ShapeUtil::DecomposeBitcast` in `xla/shape_util.cc`.

use super::BitcastError;
use super::answer::Reason;
use super::question::difference_besides_positions;
use crate::layout::dimension::Dimension;
use crate::map::{
    Digit, Intermediate, Source, StrideTable, StrideTableRef, View, canonical, first_moved, greatest_common_divisor,
    row_major_terms, whole_dimension,
};
use crate::shape::array::ArrayShape;
use crate::sorting::sort;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// How a bitcast makes its result from its operand: a reshape, a transpose and a reshape. Before the first reshape,
/// elements may be cut into parts, and padding may be read as elements. After the last one, parts are joined to
/// elements again, and padding is dropped.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Decomposition {
    /// The sizes of the operand, including padding if it is read as elements. If elements are cut into parts, the parts
    /// are one more dimension.
    pub operand_sizes: Vec<u64>,
    /// The sizes of the result, in the same way.
    pub result_sizes: Vec<u64>,
    /// The number of parts that an element of the operand is cut into, so that parts of operand and result have the
    /// same size.
    pub operand_parts: u64,
    /// The number of parts that an element of the result is cut into.
    pub result_parts: u64,
    /// Whether the two arrays have padding at different positions, so that padding is read as elements.
    pub other_padding: bool,
    /// The sizes after the first reshape.
    pub transpose_sizes: Vec<u64>,
    /// The transpose: its dimension `i` is dimension `permutation[i]` of the result of the first reshape.
    pub permutation: Vec<usize>,
}

/// What a [`Decomposition`] does to the indices of elements.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::DecompositionKind;
///
/// let operand: ArrayShape = "f32[2,3]{1,0}".parse()?;
/// assert_eq!(operand.decompose_bitcast(&"f32[6]{0}".parse()?)?.kind(), DecompositionKind::Reshape);
/// assert_eq!(operand.decompose_bitcast(&"f32[3,2]{0,1}".parse()?)?.kind(), DecompositionKind::Transpose);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DecompositionKind {
    /// Nothing: the dimensions are the same.
    Identity,
    /// A reshape: the row-major order of the elements stays.
    Reshape,
    /// A transpose.
    Transpose,
    /// A reshape, a transpose and a reshape; one of the reshapes may do nothing.
    ReshapeTransposeReshape,
}

impl Decomposition {
    /// What it does to the indices of elements.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_core::bitcast::DecompositionKind;
    ///
    /// let operand: ArrayShape = "f32[2,3]{1,0}".parse()?;
    /// let explained = operand.decompose_bitcast(&"f32[3,2]{0,1}".parse()?)?;
    /// assert_eq!(explained.kind(), DecompositionKind::Transpose);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> DecompositionKind {
        let is_identity = self.permutation.is_sorted();
        if is_identity && self.operand_sizes == self.result_sizes {
            DecompositionKind::Identity
        } else if is_identity {
            DecompositionKind::Reshape
        } else if self.operand_sizes == self.transpose_sizes && self.result_sizes == self.transposed_sizes() {
            DecompositionKind::Transpose
        } else {
            DecompositionKind::ReshapeTransposeReshape
        }
    }

    /// The sizes after the transpose.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "f32[2,3]{1,0}".parse()?;
    /// let explained = operand.decompose_bitcast(&"f32[3,2]{0,1}".parse()?)?;
    /// assert_eq!(explained.transposed_sizes(), [3, 2]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn transposed_sizes(&self) -> Vec<u64> {
        permuted(&self.transpose_sizes, &self.permutation)
    }
}

impl fmt::Display for Decomposition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (operand, result) = (Sizes(&self.operand_sizes), Sizes(&self.result_sizes));
        let sizes = (Sizes(&self.transpose_sizes), Sizes(&self.permutation));
        if self.operand_parts != self.result_parts {
            let (operand, result) = (self.operand_parts, self.result_parts);
            write!(f, "cut each element into {operand}, put {result} together to one; in parts, ")?;
        }
        match self.kind() {
            DecompositionKind::Identity => write!(f, "{operand} stays")?,
            DecompositionKind::Reshape => write!(f, "reshape {operand} to {result}")?,
            DecompositionKind::Transpose => write!(f, "transpose {operand} by {} to {result}", sizes.1)?,
            DecompositionKind::ReshapeTransposeReshape => {
                write!(f, "reshape {operand} to {}, transpose by {}, reshape to {result}", sizes.0, sizes.1)?;
            }
        }
        f.write_str(if self.other_padding { "; padding is read as elements, or elements as padding" } else { "" })
    }
}

/// Prints `[1,0]`.
struct Sizes<'a, T>(&'a [T]);

impl<T: fmt::Display> fmt::Display for Sizes<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (i, size) in self.0.iter().enumerate() {
            write!(f, "{}{size}", if i == 0 { "" } else { "," })?;
        }
        f.write_str("]")
    }
}

fn permuted(list: &[u64], permutation: &[usize]) -> Vec<u64> {
    permutation.iter().filter_map(|&i| list.get(i).copied()).collect()
}

impl ArrayShape {
    /// The permutation of a transpose of this array to `result` that moves no element; `None` if every transpose moves one
    /// (`ShapeUtil::DeduceTransposeDimensionsForBitcast` in `xla/shape_util.cc`, here with tiles).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "f32[6,2,3,257]{3,1,0,2:T(2,128)}".parse()?;
    /// let result: ArrayShape = "f32[257,2,3,6]{0,1,3,2:T(2,128)}".parse()?;
    /// assert_eq!(operand.deduce_transpose_dimensions_for_bitcast(&result)?, Some(vec![3, 1, 2, 0]));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a dimension is unbounded, or the layouts are too complex to compare.
    pub fn deduce_transpose_dimensions_for_bitcast(&self, result: &Self) -> Result<Option<Vec<usize>>, BitcastError> {
        if difference_besides_positions(self, result).is_some() || self.byte_size() != result.byte_size() {
            return Ok(None);
        }
        deduce_transpose(self.stride_table()?.as_ref(), result.stride_table()?.as_ref())
    }

    /// Explains a bitcast from this array to `result` as a reshape, a transpose and a reshape
    /// (`ShapeUtil::DecomposeBitcast` in `xla/shape_util.cc`, here with tiles).
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    ///
    /// let operand: ArrayShape = "bf16[2,8,8,256]{3,2,0,1:T(8,128)(2,1)}".parse()?;
    /// let explained = operand.decompose_bitcast(&"bf16[64,512]{1,0:T(8,128)(2,1)}".parse()?)?;
    /// assert_eq!(
    ///     explained.to_string(),
    ///     "reshape [2,8,8,256] to [2,64,256], transpose by [1,0,2], reshape to [64,512]"
    /// );
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the arrays take different numbers of bytes, a dimension is unbounded, or no reshape and transpose was found.
    pub fn decompose_bitcast(&self, result: &Self) -> Result<Decomposition, BitcastError> {
        let (operand_table, result_table) = (self.stride_table()?, result.stride_table()?);
        let bytes = (self.byte_size().unwrap_or(0), result.byte_size().unwrap_or(0));
        if bytes.0 != bytes.1 {
            return Err(BitcastError::Bytes { operand: bytes.0, result: bytes.1 });
        }
        if matches!(difference_besides_positions(self, result), Some(Reason::MetadataPrefix { .. } | Reason::Splits)) {
            return Err(BitcastError::NotDecomposed);
        }
        let bits = (self.element_bits(), result.element_bits());
        // Elements of different widths are compared in parts of a common width: bf16 to s32 is one part to two.
        let unit = greatest_common_divisor(bits.0, bits.1);
        let parts = [bits.0, bits.1].map(|bits| bits.checked_div(unit).unwrap_or(1));
        let tables = [operand_table.in_parts(parts[0]), result_table.in_parts(parts[1])];
        if let Some(found) = explain(tables.each_ref().map(StrideTable::as_ref), parts, false)? {
            return Ok(found);
        }
        // The elements of one array may lie in the padding of the other: `f32[6,128]{1,0:T(8,128)}` has room for `f32[8,128]{1,0:T(8,128)}`.
        let padded =
            [padded(self)?.stride_table()?.in_parts(parts[0]), padded(result)?.stride_table()?.in_parts(parts[1])];
        explain(padded.each_ref().map(StrideTable::as_ref), parts, true)?.ok_or(BitcastError::NotDecomposed)
    }
}

/// The array with its dimensions enlarged into the padding, as far as no element moves and the number of bytes stays
/// the same.
fn padded(array: &ArrayShape) -> Result<ArrayShape, BitcastError> {
    let mut padded = array.clone();
    for dimension in 0..array.num_dimensions() {
        let Some(size) = padded.largest_free_size(dimension) else { continue };
        let sizes = padded.dimensions().iter().enumerate();
        let sizes =
            sizes.map(|(i, &old)| if i == dimension { Dimension::Static(size) } else { old }).collect::<Vec<_>>();
        if let Ok(larger) = ArrayShape::new(array.element_type(), &sizes, array.layout().clone())
            && lies_within(&padded, &larger)?
        {
            padded = larger;
        }
    }
    Ok(padded)
}

/// Whether every element of an array has the same position in the larger one. A dimension that `*` combines with a more
/// major one cannot grow, because its size is the stride of the more major one.
fn lies_within(array: &ArrayShape, larger: &ArrayShape) -> Result<bool, BitcastError> {
    let dimensions = (0..array.num_dimensions()).map(whole_dimension).collect::<Vec<_>>();
    let tables = [array.stride_table()?, larger.stride_table()?];
    let maps = tables.each_ref().map(|table| View { table: table.as_ref(), dimensions: &dimensions });
    Ok(first_moved(maps, maps[0].table.extents())?.is_none())
}

fn explain(
    tables: [StrideTableRef<'_>; 2],
    parts: [u64; 2],
    other_padding: bool,
) -> Result<Option<Decomposition>, BitcastError> {
    let [operand, result] = tables;
    let elements = tables.map(|table| table.extents().iter().try_fold(1_u64, |n, &size| n.checked_mul(size)));
    let [Some(elements), Some(result_elements)] = elements else { return Ok(None) };
    if elements != result_elements {
        return Ok(None);
    }
    let found = |transpose_sizes: Vec<u64>, permutation: Vec<usize>| Decomposition {
        operand_sizes: operand.extents().to_vec(),
        result_sizes: result.extents().to_vec(),
        operand_parts: parts[0],
        result_parts: parts[1],
        other_padding,
        transpose_sizes,
        permutation,
    };
    // Both arrays as maps from the row-major number of an element: if these are equal, it is a reshape.
    let terms = tables.map(|table| row_major_terms(table.extents()));
    let maps = [View { table: operand, dimensions: &terms[0] }, View { table: result, dimensions: &terms[1] }];
    if first_moved(maps, &[elements])?.is_none() {
        return Ok(Some(found(vec![elements], vec![0])));
    }
    if let Some(permutation) = deduce_transpose(operand, result)? {
        return Ok(Some(found(operand.extents().to_vec(), permutation)));
    }
    // Digits of the two maps belong to each other if they have the same stride. Their order in the two numbers may differ.
    let (one, other) = (canonical(maps[0], &[elements])?, canonical(maps[1], &[elements])?);
    Ok(match_digits(one.as_ref(), other.as_ref(), elements).map(|(sizes, permutation)| found(sizes, permutation)))
}

/// Matches dimensions of operand and result that have the same size and whose elements with index 1 have the same
/// position.
fn deduce_transpose(
    operand: StrideTableRef<'_>,
    result: StrideTableRef<'_>,
) -> Result<Option<Vec<usize>>, BitcastError> {
    if operand.extents().len() != result.extents().len() {
        return Ok(None);
    }
    let mut free = (0..operand.extents().len()).collect::<Vec<_>>();
    let mut permutation = vec![];
    for dimension in 0..result.extents().len() {
        let step = step(result, dimension);
        match free.iter().position(|&candidate| self::step(operand, candidate) == step) {
            Some(place) => permutation.push(free.remove(place)),
            None => return Ok(None),
        }
    }
    let dimensions = permutation.iter().map(|&dimension| whole_dimension(dimension)).collect::<Vec<_>>();
    let maps = [View { table: operand, dimensions: &[] }, View { table: result, dimensions: &dimensions }];
    Ok(first_moved(maps, operand.extents())?.is_none().then_some(permutation))
}

/// The size of a dimension, and the position of the element with index 1 in it and 0 elsewhere.
fn step(table: StrideTableRef<'_>, dimension: usize) -> (u64, Option<u64>) {
    let unit = (0..table.extents().len()).map(|other| u64::from(other == dimension)).collect::<Vec<_>>();
    (table.extents().get(dimension).copied().unwrap_or(1), table.checked_linear_index(&unit))
}

/// A digit of the element's number: `(number % m1 % m2 % …) / divisor · stride`, with the moduli `m1`, `m2`, ….
#[derive(Clone, PartialEq, Eq, Debug)]
struct Piece {
    /// From the largest to the smallest.
    moduli: Vec<u64>,
    divisor: u64,
    size: u64,
    stride: u64,
}

impl Piece {
    /// `None` if the digit is cut out of a sum of terms.
    fn new(form: StrideTableRef<'_>, digit: &Digit) -> Option<Self> {
        let divisor = digit.term.divisor.get();
        let Digit { mut term, size, stride } = *digit;
        let mut moduli = vec![];
        loop {
            moduli.extend(term.modulus.map(|modulus| modulus.get().saturating_mul(term.divisor.get())));
            let Source::Intermediate(number) = term.source else { break };
            let &Intermediate::Term { term: parent, .. } = form.intermediates().get(number as usize)? else {
                return None;
            };
            term = parent;
        }
        moduli.reverse();
        Some(Self { moduli, divisor, size, stride })
    }

    /// Splits off the minor digit with `size` values. The piece keeps the major digit, which counts how often the minor
    /// one wraps.
    fn split_off_minor(&mut self, size: u64) -> Self {
        // For example, `n % 24 / 2` has 12 values. Its minor digit of 3 values is `n % 6 / 2`. The major one of 4 values is `n % 24 / 6`, at
        // 3 times the stride.
        let unit = self.divisor.saturating_mul(size);
        let mut minor = self.clone();
        while minor.moduli.last().is_some_and(|modulus| modulus.is_multiple_of(unit)) {
            minor.moduli.pop();
        }
        minor.moduli.push(unit);
        minor.size = size;
        self.divisor = unit;
        self.stride = self.stride.saturating_mul(size);
        self.size = self.size.div_ceil(size);
        minor
    }

    /// Whether the piece depends on `number / unit` only.
    fn is_above(&self, unit: u64) -> bool {
        self.divisor.is_multiple_of(unit) && self.moduli.iter().all(|modulus| modulus.is_multiple_of(unit))
    }

    /// Whether the piece depends on `number % unit` only.
    fn is_below(&self, unit: u64) -> bool {
        self.moduli.first().is_some_and(|modulus| unit.is_multiple_of(*modulus))
    }
}

/// The sizes and the permutation of the transpose that maps an element's row-major number in one array to its number in the other.
fn match_digits(one: StrideTableRef<'_>, other: StrideTableRef<'_>, elements: u64) -> Option<(Vec<u64>, Vec<usize>)> {
    let pieces = |form: StrideTableRef<'_>| {
        form.digits().iter().rev().map(|digit| Piece::new(form, digit)).collect::<Option<Vec<_>>>()
    };
    let (one, other) = pair_off(pieces(one)?, pieces(other)?)?;
    let (one_segments, other_segments) = (segments(&one, elements)?, segments(&other, elements)?);
    let relatives = |pieces: &[Piece], segment: &Segment| {
        let pieces = segment.pieces.iter().filter_map(|&piece| pieces.get(piece));
        pieces.map(|piece| relative(piece, segment)).collect::<Vec<_>>()
    };
    // The place in `one` of each segment of `other`, from major to minor.
    let permutation = other_segments.iter().map(|segment| {
        one_segments.iter().position(|candidate| {
            candidate.pieces == segment.pieces
                && candidate.size == segment.size
                && relatives(&one, candidate) == relatives(&other, segment)
        })
    });
    let permutation = permutation.collect::<Option<Vec<_>>>()?;
    if permutation.len() != one_segments.len() {
        return None;
    }
    Some(merge_runs(&one_segments.iter().map(|segment| segment.size).collect::<Vec<_>>(), &permutation))
}

/// Cuts the pieces of both lists, from minor to major, until corresponding pieces have the same size and stride.
fn pair_off(one: Vec<Piece>, other: Vec<Piece>) -> Option<(Vec<Piece>, Vec<Piece>)> {
    let (mut ones, mut others) = (vec![], vec![]);
    let (mut rest_one, mut rest_other) = (one.into_iter().peekable(), other.into_iter().peekable());
    let (mut next_one, mut next_other) = (rest_one.next(), rest_other.next());
    // Both lists begin at the smallest stride. The larger of two pieces is cut, and its major part is compared with the next piece.
    while let (Some(one), Some(other)) = (&mut next_one, &mut next_other) {
        if one.stride != other.stride {
            return None;
        }
        if one.size == other.size {
            ones.extend(next_one);
            others.extend(next_other);
            (next_one, next_other) = (rest_one.next(), rest_other.next());
        } else if one.size < other.size {
            others.push(other.split_off_minor(one.size));
            ones.extend(next_one);
            next_one = rest_one.next();
        } else {
            ones.push(one.split_off_minor(other.size));
            others.extend(next_other);
            next_other = rest_other.next();
        }
    }
    (next_one.is_none() && next_other.is_none()).then_some((ones, others))
}

/// A range of consecutive digits of a number: `number / unit % size`.
struct Segment {
    unit: u64,
    size: u64,
    /// The pieces that depend on these digits only.
    pieces: Vec<usize>,
}

/// Splits the numbers below `elements` into segments, at every unit that no piece spans; from major to minor.
fn segments(pieces: &[Piece], elements: u64) -> Option<Vec<Segment>> {
    let mut units =
        pieces.iter().flat_map(|piece| piece.moduli.iter().copied().chain([piece.divisor])).collect::<Vec<_>>();
    units.push(1);
    sort(&mut units);
    units.dedup();
    let mut segments: Vec<Segment> = vec![];
    let mut end = elements;
    for unit in units.into_iter().rev() {
        let splits = unit < end
            && end.is_multiple_of(unit)
            && elements.is_multiple_of(unit)
            && pieces.iter().all(|piece| piece.is_above(unit) || piece.is_below(unit));
        if splits {
            let is_inside = |piece: &Piece| piece.is_above(unit) && (end == elements || piece.is_below(end));
            let inside = pieces.iter().enumerate().filter(|(_, piece)| is_inside(piece)).map(|(i, _)| i).collect();
            segments.push(Segment { unit, size: end.checked_div(unit)?, pieces: inside });
            end = unit;
        }
    }
    (end == 1 || elements <= 1).then_some(segments)
}

/// The piece's divisor and moduli in units of the segment, without moduli that are not smaller than the segment.
fn relative(piece: &Piece, segment: &Segment) -> (u64, Vec<u64>) {
    let scale = |number: u64| number.checked_div(segment.unit).unwrap_or(0);
    let moduli = piece.moduli.iter().map(|&modulus| scale(modulus)).filter(|&modulus| modulus < segment.size);
    (scale(piece.divisor), moduli.collect())
}

/// Merges dimensions that stay neighbours in the same order.
fn merge_runs(sizes: &[u64], permutation: &[usize]) -> (Vec<u64>, Vec<usize>) {
    let mut runs: Vec<(usize, u64)> = vec![];
    let mut last = None;
    for &segment in permutation {
        let size = sizes.get(segment).copied().unwrap_or(1);
        match runs.last_mut() {
            Some(run) if last.is_some_and(|last: usize| last.checked_add(1) == Some(segment)) => {
                run.1 = run.1.saturating_mul(size);
            }
            _ => runs.push((segment, size)),
        }
        last = Some(segment);
    }
    // Each run becomes one dimension. Sorted by their first segments, the runs are in their old order: a run's place there is its number in
    // the permutation.
    let mut firsts = runs.iter().map(|run| run.0).collect::<Vec<_>>();
    sort(&mut firsts);
    let place = |first: usize| firsts.iter().position(|&other| other == first);
    let permutation = runs.iter().filter_map(|run| place(run.0)).collect();
    sort(&mut runs);
    (runs.into_iter().map(|run| run.1).collect(), permutation)
}
