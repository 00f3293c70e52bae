//! Collective operations, in which several devices take part.

use super::InferError;
use super::operands::{Operands, Result, default_array, dimension, one_or_tuple, tuple};
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

type ShapeResult<'a> = Result<Cow<'a, Shape>>;

/// The array with another size of one dimension, in its own layout where that is valid, else in the default layout.
fn resized(array: &ArrayShape, number: usize, size: impl Fn(u64) -> Result<u64>) -> Result<Shape> {
    let mut dimensions = array.dimensions().to_vec();
    if let Some(dimension) = dimensions.get_mut(number)
        && let Some(extent) = dimension.extent()
    {
        *dimension = super::sized(*dimension, size(extent)?);
    }
    match ArrayShape::new(array.element_type(), &dimensions, array.layout().clone()) {
        Ok(array) => Ok(Shape::Array(array)),
        Err(_) => default_array(array.element_type(), &dimensions),
    }
}

/// The ratio of two sizes, rounded up; `None` if a size is unknown, or the smaller one is 0.
fn ratio(large: Option<Dimension>, small: Option<Dimension>) -> Option<u64> {
    let (large, small) = (large?.extent()?, small?.extent()?);
    (small > 0).then(|| large.div_ceil(small))
}

/// A dimension of a declared result, or of its first element if it is a tuple.
fn first_dimension(declared: Option<&Shape>, number: usize) -> Option<Dimension> {
    let shape = declared?;
    let first = shape.tuple_shapes().map_or(Some(shape), <[Shape]>::first)?;
    first.array()?.dimensions().get(number).copied()
}

/// The rule of `ShapeInference::InferAllGatherShape` and `InferAllGatherStartShape` in
/// `xla/service/shape_inference.cc`.
pub(super) fn all_gather<'a>(
    operands: Operands<'_, 'a>,
    number: usize,
    shards: Option<u64>,
    start: bool,
    declared: Option<&Shape>,
) -> ShapeResult<'a> {
    operands.at_least(1)?;
    let first = dimension("`dimensions`", operands.array(0)?.dimensions(), number)?;
    let gathered = if start { declared.and_then(Shape::tuple_shapes).and_then(|parts| parts.get(1)) } else { declared };
    // If the groups of devices are not known, the sizes say how many shards are gathered: from size 2 to size 8, there are 4.
    let shards = shards.or_else(|| ratio(first_dimension(gathered, number), Some(first)));
    let shards = shards.ok_or(InferError::NotInferred)?;
    let mut results = Vec::new();
    for operand in operands.arrays()? {
        dimension("`dimensions`", operand.dimensions(), number)?;
        results.push(resized(operand, number, |size| size.checked_mul(shards).ok_or(InferError::Overflow))?);
    }
    let result = one_or_tuple(results)?;
    if !start {
        return Ok(result);
    }
    // The start of an asynchronous gather returns its operands, too.
    let before = one_or_tuple(operands.0.iter().map(|&shape| shape.clone()).collect())?;
    tuple(vec![before.into_owned(), result.into_owned()])
}

/// The rule of `ShapeInference::InferAllReduceShape` and `InferAllReduceStartShape` in
/// `xla/service/shape_inference.cc`.
pub(super) fn all_reduce<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.arrays()?;
    match operands.0 {
        [only] => Ok(Cow::Borrowed(*only)),
        all => tuple(all.iter().map(|&shape| shape.clone()).collect()),
    }
}

/// The size of one of `shards` equal parts.
fn divided(size: u64, shards: u64) -> Result<u64> {
    match size.checked_div(shards).filter(|_| size.is_multiple_of(shards)) {
        Some(part) => Ok(part),
        None => {
            let (what, size) = ("a size", Dimension::Static(size));
            Err(InferError::UnevenGroups { what, groups: shards, size })
        }
    }
}

/// The rule of `ShapeInference::InferReduceScatterShape` in `xla/service/shape_inference.cc`.
pub(super) fn reduce_scatter<'a>(
    operands: Operands<'_, 'a>,
    number: usize,
    shards: Option<u64>,
    declared: Option<&Shape>,
) -> ShapeResult<'a> {
    operands.at_least(1)?;
    let first = dimension("`dimensions`", operands.array(0)?.dimensions(), number)?;
    let shards = shards.or_else(|| ratio(Some(first), first_dimension(declared, number)));
    let shards = shards.ok_or(InferError::NotInferred)?;
    let mut results = Vec::new();
    for operand in operands.arrays()? {
        dimension("`dimensions`", operand.dimensions(), number)?;
        results.push(resized(operand, number, |size| divided(size, shards))?);
    }
    one_or_tuple(results)
}

/// The rule of `ShapeInference::InferAllToAllShape` and, without a dimension, `InferAllToAllTupleShape` in
/// `xla/service/shape_inference.cc`.
pub(super) fn all_to_all<'a>(
    operands: Operands<'_, 'a>,
    number: Option<usize>,
    shards: Option<u64>,
) -> ShapeResult<'a> {
    // Without a dimension, a device sends one operand to each device of its group, and receives one array of the same shape from each.
    let Some(number) = number else {
        operands.at_least(1)?;
        if let Some(shards) = shards {
            operands.exactly(usize::try_from(shards).unwrap_or(usize::MAX))?;
        }
        let expected = operands.array(0)?.element_type();
        for operand in 1..operands.len() {
            let found = operands.array(operand)?.element_type();
            if expected != found {
                return Err(InferError::ElementType { operand, expected, found });
            }
            operands.same_dimensions(operand, 0)?;
        }
        return tuple(operands.0.iter().map(|&shape| shape.clone()).collect());
    };
    operands.exactly(1)?;
    // With a dimension, the array is cut along it, and the pieces that arrive are joined along it, so the shape stays the same.
    let size = dimension("`dimensions`", operands.array(0)?.dimensions(), number)?;
    if let (Some(size), Some(shards)) = (size.extent(), shards) {
        divided(size, shards)?;
    }
    operands.shape(0).map(Cow::Borrowed)
}

/// The rule of `ShapeInference::InferCollectivePermuteShape` and `InferCollectivePermuteStartShape` in
/// `xla/service/shape_inference.cc`.
pub(super) fn permute<'a>(operands: Operands<'_, 'a>, start: bool, declared: Option<&Shape>) -> ShapeResult<'a> {
    operands.at_least(1)?;
    // In place, the first two operands are buffers, and the other two are the slices to send and to receive.
    let in_place = operands.len() == 4 && matches!(operands.shape(2)?, Shape::Tuple(_));
    let (from, to) = if in_place {
        (operands.shape(0)?.clone(), operands.shape(1)?.clone())
    } else {
        operands.arrays()?;
        let all = one_or_tuple(operands.0.iter().map(|&shape| shape.clone()).collect())?.into_owned();
        (all.clone(), all)
    };
    if !start {
        return Ok(Cow::Owned(to));
    }
    let mut elements = vec![from, to];
    elements.extend(declared.and_then(Shape::tuple_shapes).unwrap_or(&[]).iter().skip(2).cloned());
    tuple(elements)
}

/// The rule of `ShapeInference::InferRaggedAllToAllShape` in `xla/service/shape_inference.cc` and
/// `ShapeVerifier::HandleRaggedAllToAll` in `xla/service/hlo_verifier.cc`.
pub(super) fn ragged_all_to_all<'a>(operands: Operands<'_, 'a>) -> ShapeResult<'a> {
    operands.exactly(6)?;
    operands.array(0)?;
    operands.array(1)?;
    operands.like(1, 0)?;
    for operand in 2..6 {
        operands.class(operand, "integers", crate::element_type::ElementType::is_integral)?;
        operands.same_dimensions(operand, 2)?;
    }
    operands.shape(1).map(Cow::Borrowed)
}
