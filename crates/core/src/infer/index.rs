//! Operations that read or write parts of an array at indices that are known at run time: dynamic slices, gather and
//! scatter.

use super::InferError;
use super::operands::{Callee, Operands, Result, default_result, dimension, tuple};
use super::{agree, check_dimensions, check_len, reducer};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type ShapeResult<'a> = Result<Cow<'a, Shape>>;

const INTEGERS: &str = "integers";

/// Checks the start indices of a dynamic slice: a scalar for each dimension, or one vector with an entry for each.
fn check_start_indices(operands: Operands<'_, '_>, first: usize, num_dimensions: usize) -> Result<()> {
    // Older programs have all start indices in one vector, newer ones a scalar for each dimension.
    if let Some(vector) = operands.0.get(first).and_then(|shape| shape.array())
        && vector.num_dimensions() == 1
    {
        operands.exactly(first + 1)?;
        operands.class(first, INTEGERS, ElementType::is_integral)?;
        let (what, expected) = ("the vector of indices", Dimension::Static(num_dimensions as u64));
        let found = dimension(what, vector.dimensions(), 0)?;
        if agree(expected, found) {
            return Ok(());
        }
        return Err(InferError::SizeMismatch { what, dimension: 0, expected, found });
    }
    operands.exactly(first + num_dimensions)?;
    for operand in first..operands.len() {
        operands.scalar(operand)?;
        operands.class(operand, INTEGERS, ElementType::is_integral)?;
        let (expected, found) = (operands.array(first)?.element_type(), operands.array(operand)?.element_type());
        if expected != found {
            return Err(InferError::ElementType { operand, expected, found });
        }
    }
    Ok(())
}

/// The rule of `ShapeInference::InferDynamicSliceShape` in `xla/service/shape_inference.cc`.
pub(super) fn dynamic_slice<'a>(operands: Operands<'_, 'a>, sizes: &[u64]) -> ShapeResult<'a> {
    let array = operands.array(0)?;
    check_start_indices(operands, 1, array.num_dimensions())?;
    let mut result = vec![Dimension::Unbounded; array.num_dimensions()];
    super::dynamic_slice(array.dimensions(), sizes, &mut result)?;
    default_result(array.element_type(), &result)
}

/// The rule of `ShapeInference::InferDynamicUpdateSliceShape` in `xla/service/shape_inference.cc`.
pub(super) fn dynamic_update_slice<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    let (array, update) = (operands.array(0)?, operands.array(1)?);
    check_start_indices(operands, 2, array.num_dimensions())?;
    operands.like(1, 0)?;
    let mut result = vec![Dimension::Unbounded; array.num_dimensions()];
    super::dynamic_update_slice(array.dimensions(), update.dimensions(), &mut result)?;
    operands.shape(0).map(Cow::Borrowed)
}

/// What the dimensions of a gather mean: `GatherDimensionNumbers` in `xla/xla_data.proto`, and `slice_sizes`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::{GatherDimensions, Rule};
///
/// // Takes 4 rows of a table of 1,000 rows.
/// let (table, rows): (Shape, Shape) = ("f32[1000,64]".parse()?, "s32[4,1]".parse()?);
/// let dimensions = GatherDimensions {
///     offset: &[1],
///     collapsed: &[0],
///     start_index_map: &[0],
///     operand_batching: &[],
///     indices_batching: &[],
///     index_vector: 1,
///     slice_sizes: &[1, 64],
/// };
/// assert_eq!(Rule::Gather(dimensions).infer(&[&table, &rows], None)?.to_string(), "f32[4,64]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GatherDimensions<'a> {
    /// The dimensions of the result that index into a slice: `offset_dims`.
    pub offset: &'a [usize],
    /// The dimensions of the operand that a slice does not keep: `collapsed_slice_dims`.
    pub collapsed: &'a [usize],
    /// The dimension of the operand that each component of a start index refers to: `start_index_map`.
    pub start_index_map: &'a [usize],
    /// The batch dimensions of the operand: `operand_batching_dims`.
    pub operand_batching: &'a [usize],
    /// The batch dimensions of the indices, in the same order: `start_indices_batching_dims`.
    pub indices_batching: &'a [usize],
    /// The dimension of the indices that holds the components of one start index: `index_vector_dim`. If it is the
    /// number of dimensions of the indices, each index has one component.
    pub index_vector: usize,
    /// The size of a slice in each dimension of the operand: `slice_sizes`.
    pub slice_sizes: &'a [u64],
}

/// What the dimensions of a scatter mean: `ScatterDimensionNumbers` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::{Callee, Rule, ScatterDimensions};
///
/// // Adds 4 rows to rows of a table.
/// let [table, rows, updates]: [Shape; 3] = ["f32[1000,64]".parse()?, "s32[4,1]".parse()?, "f32[4,64]".parse()?];
/// let scalar: Shape = "f32[]".parse()?;
/// let dimensions = ScatterDimensions {
///     update_window: &[1],
///     inserted_window: &[0],
///     to_operand: &[0],
///     operand_batching: &[],
///     indices_batching: &[],
///     index_vector: 1,
/// };
/// let add = Callee { parameters: &[&scalar, &scalar], result: &scalar };
/// let scatter = Rule::Scatter { dimensions, to_apply: add };
/// assert_eq!(scatter.infer(&[&table, &rows, &updates], None)?.to_string(), "f32[1000,64]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScatterDimensions<'a> {
    /// The dimensions of the updates that index into a slice: `update_window_dims`.
    pub update_window: &'a [usize],
    /// The dimensions of the operand that the slices in the updates lack: `inserted_window_dims`.
    pub inserted_window: &'a [usize],
    /// The dimension of the operand that each component of an index refers to: `scatter_dims_to_operand_dims`.
    pub to_operand: &'a [usize],
    /// The batch dimensions of the operand: `input_batching_dims`.
    pub operand_batching: &'a [usize],
    /// The batch dimensions of the indices, in the same order: `scatter_indices_batching_dims`.
    pub indices_batching: &'a [usize],
    /// The dimension of the indices that holds the components of one start index: `index_vector_dim`. If it is the
    /// number of dimensions of the indices, each index has one component.
    pub index_vector: usize,
}

/// Checks that numbers are in strictly ascending order.
fn check_ascending(what: &'static str, numbers: &[usize]) -> Result<()> {
    if numbers.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(InferError::Unexpected { what, expected: "in ascending order, each once" })
}

/// Checks that no dimension is in both lists.
fn check_disjoint(what: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    match a.iter().find(|number| b.contains(number)) {
        Some(&dimension) => Err(InferError::DuplicateDimension { what, dimension }),
        None => Ok(()),
    }
}

/// The dimensions of the indices. If `index_vector_dim` is the number of dimensions, a dimension of size 1 is appended
/// for it.
fn indices(operands: Operands<'_, '_>, operand: usize, index_vector: usize) -> Result<Vec<Dimension>> {
    operands.class(operand, INTEGERS, ElementType::is_integral)?;
    let mut dimensions = operands.array(operand)?.dimensions().to_vec();
    if dimensions.len() == index_vector {
        dimensions.push(Dimension::Static(1));
    }
    dimension("`index_vector_dim`", &dimensions, index_vector)?;
    Ok(dimensions)
}

/// The lists of dimensions that gather and scatter share.
struct IndexDimensions<'a> {
    /// The names of the four lists, in the order of the fields.
    names: [&'static str; 4],
    /// The dimensions of the operand that a slice lacks.
    dropped: &'a [usize],
    /// The dimension of the operand that each component of an index refers to.
    map: &'a [usize],
    operand_batching: &'a [usize],
    indices_batching: &'a [usize],
    index_vector: usize,
}

impl IndexDimensions<'_> {
    /// `sizes` says whether to compare the sizes of batch dimensions, which XLA's inference does not do.
    fn check(&self, operand: &[Dimension], indices: &[Dimension], sizes: bool) -> Result<()> {
        let [dropped, map, operand_batching, indices_batching] = self.names;
        check_ascending(dropped, self.dropped)?;
        check_dimensions(dropped, self.dropped, operand.len())?;
        check_ascending(operand_batching, self.operand_batching)?;
        check_dimensions(operand_batching, self.operand_batching, operand.len())?;
        check_disjoint(operand_batching, self.operand_batching, self.dropped)?;
        check_dimensions(indices_batching, self.indices_batching, indices.len())?;
        check_disjoint(indices_batching, self.indices_batching, &[self.index_vector])?;
        check_len(indices_batching, self.operand_batching.len(), self.indices_batching.len())?;
        for (&operand_number, &indices_number) in self.operand_batching.iter().zip(self.indices_batching) {
            let expected = dimension(operand_batching, operand, operand_number)?;
            let found = dimension(indices_batching, indices, indices_number)?;
            if sizes && !agree(expected, found) {
                let (what, dimension) = ("the indices", indices_number);
                return Err(InferError::SizeMismatch { what, dimension, expected, found });
            }
        }
        let expected = dimension("`index_vector_dim`", indices, self.index_vector)?;
        if !agree(expected, Dimension::Static(self.map.len() as u64)) {
            let (expected, found) = (Dimension::Static(self.map.len() as u64), expected);
            return Err(InferError::SizeMismatch {
                what: "the indices",
                dimension: self.index_vector,
                expected,
                found,
            });
        }
        check_dimensions(map, self.map, operand.len())?;
        check_disjoint(map, self.map, self.operand_batching)
    }
}

/// The rule of `ShapeInference::InferGatherShape` in `xla/service/shape_inference.cc`.
pub(super) fn gather<'a>(operands: Operands<'_, 'a>, dimensions: GatherDimensions<'_>, sizes: bool) -> ShapeResult<'a> {
    operands.exactly(2)?;
    let array = operands.array(0)?;
    let operand = array.dimensions();
    let GatherDimensions { offset, collapsed, slice_sizes, index_vector, .. } = dimensions;
    let indices = indices(operands, 1, index_vector)?;
    let lists = IndexDimensions {
        names: [
            "`collapsed_slice_dims`",
            "`start_index_map`",
            "`operand_batching_dims`",
            "`start_indices_batching_dims`",
        ],
        dropped: collapsed,
        map: dimensions.start_index_map,
        operand_batching: dimensions.operand_batching,
        indices_batching: dimensions.indices_batching,
        index_vector,
    };
    lists.check(operand, &indices, sizes)?;
    check_ascending("`offset_dims`", offset)?;
    let num_dimensions = offset.len() + indices.len().saturating_sub(1);
    check_dimensions("`offset_dims`", offset, num_dimensions)?;
    check_len("`slice_sizes`", operand.len(), slice_sizes.len())?;
    let dropped = |number: &usize| collapsed.contains(number) || dimensions.operand_batching.contains(number);
    let mut kept = Vec::new();
    for (number, (&size, &taken)) in operand.iter().zip(slice_sizes).enumerate() {
        if let Some(size) = size.extent()
            && taken > size
        {
            return Err(InferError::SliceOutOfRange { dimension: number, start: 0, limit: taken, size });
        }
        if !dropped(&number) {
            // A slice that takes the whole of a dynamic dimension stays dynamic.
            kept.push(if size.extent() == Some(taken) { size } else { Dimension::Static(taken) });
        } else if taken > 1 {
            let (what, expected, found) = ("`slice_sizes`", Dimension::Static(1), Dimension::Static(taken));
            return Err(InferError::SizeMismatch { what, dimension: number, expected, found });
        }
    }
    check_len("`offset_dims`", kept.len(), offset.len())?;
    // The dimensions in `offset_dims` are the dimensions of a slice, in order. The other ones are the dimensions of the indices, also in order.
    let mut slice_dimensions = kept.into_iter();
    let mut batch_dimensions = without_vector(&indices, index_vector);
    let result: Option<Vec<_>> = (0..num_dimensions)
        .map(|number| if offset.contains(&number) { slice_dimensions.next() } else { batch_dimensions.next() })
        .collect();
    default_result(array.element_type(), &result.unwrap_or_default())
}

/// The dimensions of the indices without the one that holds the components of an index.
fn without_vector(indices: &[Dimension], index_vector: usize) -> impl Iterator<Item = Dimension> {
    indices.iter().enumerate().filter(move |(number, _)| *number != index_vector).map(|(_, &size)| size)
}

/// The rule of `ShapeInference::InferScatterShape` in `xla/service/shape_inference.cc`.
pub(super) fn scatter<'a>(
    operands: Operands<'_, 'a>,
    dimensions: ScatterDimensions<'_>,
    to_apply: Callee<'_>,
    sizes: bool,
) -> ShapeResult<'a> {
    // The operands, then the indices, then one update for each operand.
    let count = operands.len() / 2;
    let expected = (count * 2 + 1).max(3);
    operands.exactly(expected)?;
    let indices = indices(operands, count, dimensions.index_vector)?;
    let lists = IndexDimensions {
        names: [
            "`inserted_window_dims`",
            "`scatter_dims_to_operand_dims`",
            "`input_batching_dims`",
            "`scatter_indices_batching_dims`",
        ],
        dropped: dimensions.inserted_window,
        map: dimensions.to_operand,
        operand_batching: dimensions.operand_batching,
        indices_batching: dimensions.indices_batching,
        index_vector: dimensions.index_vector,
    };
    for number in 0..count {
        let operand = operands.array(number)?.dimensions();
        let update = count + 1 + number;
        lists.check(operand, &indices, sizes)?;
        check_updates(operand, &indices, dimensions, operands.array(update)?.dimensions())?;
    }
    // The computation takes the elements first, then the updates, and returns new elements.
    let types = |from: usize| (0..count).map(move |number| operands.array(from + number));
    let before: Vec<_> = types(0).map(|array| array.map(|array| array.element_type())).collect::<Result<_>>()?;
    let after: Vec<_> = types(count + 1).map(|array| array.map(|array| array.element_type())).collect::<Result<_>>()?;
    reducer::check_reducer("to_apply", to_apply, &before, &after)?;
    match operands.0.get(..count) {
        Some([only]) => Ok(Cow::Borrowed(*only)),
        all => tuple(all.unwrap_or(&[]).iter().map(|&shape| shape.clone()).collect()),
    }
}

/// Checks the updates of one operand of a scatter.
fn check_updates(
    operand: &[Dimension],
    indices: &[Dimension],
    dimensions: ScatterDimensions<'_>,
    updates: &[Dimension],
) -> Result<()> {
    let ScatterDimensions { update_window: window, inserted_window, operand_batching, .. } = dimensions;
    let what = "the updates";
    check_len(what, indices.len().saturating_sub(1) + window.len(), updates.len())?;
    check_ascending("`update_window_dims`", window)?;
    check_dimensions("`update_window_dims`", window, updates.len())?;
    let kept: Vec<_> = operand
        .iter()
        .enumerate()
        .filter(|(number, _)| !inserted_window.contains(number) && !operand_batching.contains(number))
        .map(|(_, &size)| size)
        .collect();
    check_len("`update_window_dims`", kept.len(), window.len())?;
    let mut slice_dimensions = kept.into_iter();
    let mut batch_dimensions = without_vector(indices, dimensions.index_vector);
    for (dimension, &found) in updates.iter().enumerate() {
        if window.contains(&dimension) {
            // An update may be smaller than the slice that it writes to, but not larger.
            let size = slice_dimensions.next().and_then(Dimension::extent);
            if let (Some(size), Some(limit)) = (size, found.extent())
                && limit > size
            {
                return Err(InferError::SliceOutOfRange { dimension, start: 0, limit, size });
            }
        } else if let Some(expected) = batch_dimensions.next()
            && !agree(expected, found)
        {
            return Err(InferError::SizeMismatch { what, dimension, expected, found });
        }
    }
    Ok(())
}
