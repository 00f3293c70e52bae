//! Operations that take or change parts of an array at places that are known when the program runs.

use super::InferError;
use super::operands::{Callee, Operands, Result, dimension, owned, tuple};
use super::{agree, check_dimensions, check_len, reducer};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type Answer<'a> = Result<Cow<'a, Shape>>;

const INTEGERS: &str = "integers";

/// Checks the places where a slice begins: a scalar for each dimension, or one vector of as many.
fn starts(operands: Operands<'_, '_>, first: usize, num_dimensions: usize) -> Result<()> {
    if let Some(vector) = operands.0.get(first).and_then(|shape| shape.array())
        && vector.num_dimensions() == 1
    {
        operands.exactly(first.saturating_add(1))?;
        operands.class(first, INTEGERS, ElementType::is_integral)?;
        let (what, expected) = ("the vector of indices", Dimension::Static(num_dimensions as u64));
        let found = dimension(what, vector.dimensions(), 0)?;
        if agree(expected, found) {
            return Ok(());
        }
        return Err(InferError::SizeMismatch { what, dimension: 0, expected, found });
    }
    operands.exactly(first.saturating_add(num_dimensions))?;
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

pub(super) fn dynamic_slice<'a>(operands: Operands<'_, 'a>, sizes: &[u64]) -> Answer<'a> {
    let array = operands.array(0)?;
    starts(operands, 1, array.num_dimensions())?;
    let mut result = vec![Dimension::Unbounded; array.num_dimensions()];
    super::dynamic_slice(array.dimensions(), sizes, &mut result)?;
    owned(array.element_type(), &result)
}

pub(super) fn dynamic_update_slice<'a>(operands: Operands<'_, 'a>) -> Answer<'a> {
    let (array, update) = (operands.array(0)?, operands.array(1)?);
    starts(operands, 2, array.num_dimensions())?;
    operands.like(1, 0)?;
    let mut result = vec![Dimension::Unbounded; array.num_dimensions()];
    super::dynamic_update_slice(array.dimensions(), update.dimensions(), &mut result)?;
    operands.shape(0).map(Cow::Borrowed)
}

/// What the dimensions of a gather mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GatherDimensions<'a> {
    /// The dimensions of the result that lie inside a slice: `offset_dims`.
    pub offset: &'a [usize],
    /// The dimensions of the operand that a slice does not keep: `collapsed_slice_dims`.
    pub collapsed: &'a [usize],
    /// The dimensions of the operand into which the parts of an index point: `start_index_map`.
    pub start_index_map: &'a [usize],
    /// The dimensions of the operand that go with dimensions of the indices: `operand_batching_dims`.
    pub operand_batching: &'a [usize],
    /// Those dimensions of the indices: `start_indices_batching_dims`.
    pub indices_batching: &'a [usize],
    /// The dimension of the indices that holds the parts of one index: `index_vector_dim`.
    pub index_vector: usize,
    /// The size of a slice in each dimension of the operand: `slice_sizes`.
    pub slice_sizes: &'a [u64],
}

/// What the dimensions of a scatter mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ScatterDimensions<'a> {
    /// The dimensions of the updates that lie inside a slice: `update_window_dims`.
    pub update_window: &'a [usize],
    /// The dimensions of the operand that a slice does not have: `inserted_window_dims`.
    pub inserted_window: &'a [usize],
    /// The dimensions of the operand into which the parts of an index point: `scatter_dims_to_operand_dims`.
    pub to_operand: &'a [usize],
    /// The dimensions of the operand that go with dimensions of the indices: `input_batching_dims`.
    pub operand_batching: &'a [usize],
    /// Those dimensions of the indices: `scatter_indices_batching_dims`.
    pub indices_batching: &'a [usize],
    /// The dimension of the indices that holds the parts of one index: `index_vector_dim`.
    pub index_vector: usize,
}

/// Checks that numbers ascend, and so are there once each.
fn ascending(what: &'static str, numbers: &[usize]) -> Result<()> {
    if numbers.is_sorted_by(|a, b| a < b) {
        return Ok(());
    }
    Err(InferError::Unfit { what, expected: "in ascending order, each once" })
}

/// Checks that no dimension is in both lists.
fn apart(what: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    match a.iter().find(|number| b.contains(number)) {
        Some(&dimension) => Err(InferError::DuplicateDimension { what, dimension }),
        None => Ok(()),
    }
}

/// The dimensions of the indices and, if the parts of an index have none of their own, a 1 for them.
fn indices(operands: Operands<'_, '_>, operand: usize, index_vector: usize) -> Result<Vec<Dimension>> {
    operands.class(operand, INTEGERS, ElementType::is_integral)?;
    let mut dimensions = operands.array(operand)?.dimensions().to_vec();
    if dimensions.len() == index_vector {
        dimensions.push(Dimension::Static(1));
    }
    dimension("`index_vector_dim`", &dimensions, index_vector)?;
    Ok(dimensions)
}

/// The lists that a gather and a scatter have both.
struct Lists<'a> {
    /// The names of the lists.
    names: [&'static str; 4],
    /// The dimensions of the operand that are not in a slice.
    gone: &'a [usize],
    /// Those into which an index points.
    map: &'a [usize],
    operand_batching: &'a [usize],
    indices_batching: &'a [usize],
    index_vector: usize,
}

impl Lists<'_> {
    /// `sizes` says whether sizes that go together are compared, which XLA's inference leaves to others.
    fn check(&self, operand: &[Dimension], indices: &[Dimension], sizes: bool) -> Result<()> {
        let [gone, map, operand_batching, indices_batching] = self.names;
        ascending(gone, self.gone)?;
        check_dimensions(gone, self.gone, operand.len())?;
        ascending(operand_batching, self.operand_batching)?;
        check_dimensions(operand_batching, self.operand_batching, operand.len())?;
        apart(operand_batching, self.operand_batching, self.gone)?;
        check_dimensions(indices_batching, self.indices_batching, indices.len())?;
        apart(indices_batching, self.indices_batching, &[self.index_vector])?;
        check_len(indices_batching, self.operand_batching.len(), self.indices_batching.len())?;
        for (&of_operand, &of_indices) in self.operand_batching.iter().zip(self.indices_batching) {
            let expected = dimension(operand_batching, operand, of_operand)?;
            let found = dimension(indices_batching, indices, of_indices)?;
            if sizes && !agree(expected, found) {
                let (what, dimension) = ("the indices", of_indices);
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
        apart(map, self.map, self.operand_batching)
    }
}

pub(super) fn gather<'a>(operands: Operands<'_, 'a>, dimensions: GatherDimensions<'_>, sizes: bool) -> Answer<'a> {
    operands.exactly(2)?;
    let array = operands.array(0)?;
    let operand = array.dimensions();
    let GatherDimensions { offset, collapsed, slice_sizes, index_vector, .. } = dimensions;
    let indices = indices(operands, 1, index_vector)?;
    let lists = Lists {
        names: [
            "`collapsed_slice_dims`",
            "`start_index_map`",
            "`operand_batching_dims`",
            "`start_indices_batching_dims`",
        ],
        gone: collapsed,
        map: dimensions.start_index_map,
        operand_batching: dimensions.operand_batching,
        indices_batching: dimensions.indices_batching,
        index_vector,
    };
    lists.check(operand, &indices, sizes)?;
    ascending("`offset_dims`", offset)?;
    let num_dimensions = offset.len().saturating_add(indices.len().saturating_sub(1));
    check_dimensions("`offset_dims`", offset, num_dimensions)?;
    check_len("`slice_sizes`", operand.len(), slice_sizes.len())?;
    let gone = |number: &usize| collapsed.contains(number) || dimensions.operand_batching.contains(number);
    let mut kept = Vec::new();
    for (number, (&size, &taken)) in operand.iter().zip(slice_sizes).enumerate() {
        if let Some(size) = size.extent()
            && taken > size
        {
            return Err(InferError::SliceOutOfRange { dimension: number, start: 0, limit: taken, size });
        }
        if !gone(&number) {
            // The whole of a dynamic dimension is as dynamic as before.
            kept.push(if size.extent() == Some(taken) { size } else { Dimension::Static(taken) });
        } else if taken > 1 {
            let (what, expected, found) = ("`slice_sizes`", Dimension::Static(1), Dimension::Static(taken));
            return Err(InferError::SizeMismatch { what, dimension: number, expected, found });
        }
    }
    check_len("`offset_dims`", kept.len(), offset.len())?;
    let mut of_slice = kept.into_iter();
    let mut of_indices = without_vector(&indices, index_vector);
    let result: Option<Vec<_>> = (0..num_dimensions)
        .map(|number| if offset.contains(&number) { of_slice.next() } else { of_indices.next() })
        .collect();
    owned(array.element_type(), &result.unwrap_or_default())
}

/// The dimensions of the indices but the one that holds the parts of an index.
fn without_vector(indices: &[Dimension], index_vector: usize) -> impl Iterator<Item = Dimension> {
    indices.iter().enumerate().filter(move |(number, _)| *number != index_vector).map(|(_, &size)| size)
}

pub(super) fn scatter<'a>(
    operands: Operands<'_, 'a>,
    dimensions: ScatterDimensions<'_>,
    to_apply: Callee<'_>,
    sizes: bool,
) -> Answer<'a> {
    let count = operands.len() / 2;
    let expected = count.saturating_mul(2).saturating_add(1).max(3);
    operands.exactly(expected)?;
    let indices = indices(operands, count, dimensions.index_vector)?;
    let lists = Lists {
        names: [
            "`inserted_window_dims`",
            "`scatter_dims_to_operand_dims`",
            "`input_batching_dims`",
            "`scatter_indices_batching_dims`",
        ],
        gone: dimensions.inserted_window,
        map: dimensions.to_operand,
        operand_batching: dimensions.operand_batching,
        indices_batching: dimensions.indices_batching,
        index_vector: dimensions.index_vector,
    };
    for number in 0..count {
        let operand = operands.array(number)?.dimensions();
        let place = count.saturating_add(1).saturating_add(number);
        lists.check(operand, &indices, sizes)?;
        updates(operand, &indices, dimensions, operands.array(place)?.dimensions())?;
    }
    let types = |from: usize| (0..count).map(move |number| operands.array(from.saturating_add(number)));
    let before: Vec<_> = types(0).map(|array| array.map(|array| array.element_type())).collect::<Result<_>>()?;
    let after: Vec<_> =
        types(count.saturating_add(1)).map(|array| array.map(|array| array.element_type())).collect::<Result<_>>()?;
    reducer::check("to_apply", to_apply, &before, &after)?;
    match operands.0.get(..count) {
        Some([only]) => Ok(Cow::Borrowed(*only)),
        all => tuple(all.unwrap_or(&[]).iter().map(|&shape| shape.clone()).collect()),
    }
}

/// Checks the updates of one operand of a scatter.
fn updates(
    operand: &[Dimension],
    indices: &[Dimension],
    dimensions: ScatterDimensions<'_>,
    updates: &[Dimension],
) -> Result<()> {
    let ScatterDimensions { update_window: window, inserted_window, operand_batching, .. } = dimensions;
    let what = "the updates";
    check_len(what, indices.len().saturating_sub(1).saturating_add(window.len()), updates.len())?;
    ascending("`update_window_dims`", window)?;
    check_dimensions("`update_window_dims`", window, updates.len())?;
    let kept: Vec<_> = operand
        .iter()
        .enumerate()
        .filter(|(number, _)| !inserted_window.contains(number) && !operand_batching.contains(number))
        .map(|(_, &size)| size)
        .collect();
    check_len("`update_window_dims`", kept.len(), window.len())?;
    let (mut of_slice, mut of_indices) = (kept.into_iter(), without_vector(indices, dimensions.index_vector));
    for (dimension, &found) in updates.iter().enumerate() {
        if window.contains(&dimension) {
            let size = of_slice.next().and_then(Dimension::extent);
            if let (Some(size), Some(limit)) = (size, found.extent())
                && limit > size
            {
                return Err(InferError::SliceOutOfRange { dimension, start: 0, limit, size });
            }
        } else if let Some(expected) = of_indices.next()
            && !agree(expected, found)
        {
            return Err(InferError::SizeMismatch { what, dimension, expected, found });
        }
    }
    Ok(())
}
