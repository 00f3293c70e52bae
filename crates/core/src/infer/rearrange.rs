//! Operations that move, select or add elements: reshape, transpose, slice, pad, concatenate.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, merge, sized};
use crate::layout::dimension::Dimension;
use crate::limits::MAX_SIZE;

/// The indices of one dimension that a slice takes: every `stride`-th from `start` up to `limit`, without `limit`.
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer::{self, SliceDimension};
///
/// // slice={[1:8:3]}: the indices 1, 4 and 7
/// let mut result = [Static(0)];
/// infer::slice(&[Static(10)], &[SliceDimension { start: 1, limit: 8, stride: 3 }], &mut result)?;
/// assert_eq!(result, [Static(3)]);
/// # Ok::<(), xla_shape_core::infer::InferError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SliceDimension {
    /// The first index.
    pub start: u64,
    /// The index after the last one.
    pub limit: u64,
    /// The distance between neighbouring indices; at least 1.
    pub stride: u64,
}

/// How a dimension is padded, in elements. Negative padding removes elements.
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer::{self, PaddingDimension};
///
/// // padding=1_-2: one element more in front, two fewer at the end
/// let mut result = [Static(0)];
/// infer::pad(&[Static(10)], &[PaddingDimension { low: 1, high: -2, ..PaddingDimension::NONE }], &mut result)?;
/// assert_eq!(result, [Static(9)]);
/// # Ok::<(), xla_shape_core::infer::InferError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PaddingDimension {
    /// The elements added before the first element.
    pub low: i64,
    /// The elements added after the last element.
    pub high: i64,
    /// The elements added between neighbouring elements.
    pub interior: u64,
}

impl PaddingDimension {
    /// No padding.
    pub const NONE: Self = Self { low: 0, high: 0, interior: 0 };
}

/// The number of elements; `None` if a dimension is unbounded.
const fn elements(dimensions: &[Dimension]) -> Result<Option<u64>, InferError> {
    let mut product = 1_u64;
    let mut i = 0;
    while i < dimensions.len() {
        let Some(extent) = dimensions[i].extent() else { return Ok(None) };
        product = match product.checked_mul(extent) {
            Some(product) => product,
            None => return Err(InferError::Overflow),
        };
        i += 1;
    }
    Ok(Some(product))
}

/// Checks a reshape: operand and result must have the same number of elements (`ShapeInference::InferReshapeShape` in
/// `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer;
///
/// infer::reshape(&[Static(6), Static(4)], &[Static(24)])?;
/// assert!(infer::reshape(&[Static(6), Static(4)], &[Static(25)]).is_err());
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the numbers of elements differ, or one does not fit in a `u64`.
pub const fn reshape(operand: &[Dimension], result: &[Dimension]) -> Result<(), InferError> {
    match (elements(operand), elements(result)) {
        (Err(error), _) | (_, Err(error)) => Err(error),
        (Ok(Some(expected)), Ok(Some(found))) if expected != found => {
            Err(InferError::ElementCountMismatch { expected, found })
        }
        _ => Ok(()),
    }
}

/// The result of a transpose: its dimension `i` is dimension `permutation[i]` of the operand
/// (`ShapeInference::InferTransposeShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 3];
/// infer::transpose(&[Static(2), Static(3), Static(5)], &[2, 0, 1], &mut result)?;
/// assert_eq!(result, [Static(5), Static(2), Static(3)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If `permutation` is not a permutation of the operand's dimensions.
pub const fn transpose(
    operand: &[Dimension],
    permutation: &[usize],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if let Err(error) = check_len("`dimensions`", operand.len(), permutation.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions("`dimensions`", permutation, operand.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < permutation.len() {
        result[i] = operand[permutation[i]];
        i += 1;
    }
    Ok(())
}

/// The result of a reverse along `dimensions`: the operand's dimensions (`ShapeInference::InferReverseShape` in
/// `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 2];
/// infer::reverse(&[Static(2), Static(3)], &[1], &mut result)?;
/// assert_eq!(result, [Static(2), Static(3)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If `dimensions` names a dimension twice, or one that the operand does not have.
pub const fn reverse(operand: &[Dimension], dimensions: &[usize], result: &mut [Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_dimensions("`dimensions`", dimensions, operand.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    result.copy_from_slice(operand);
    Ok(())
}

/// The result of a slice (`ShapeInference::InferSliceShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::{self, SliceDimension};
///
/// let mut result = [Unbounded; 1];
/// infer::slice(&[Static(10)], &[SliceDimension { start: 1, limit: 8, stride: 3 }], &mut result)?;
/// assert_eq!(result, [Static(3)]); // the indices 1, 4 and 7
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If a slice reaches outside its dimension, or a stride is 0.
pub const fn slice(
    operand: &[Dimension],
    slices: &[SliceDimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if let Err(error) = check_len("`slice`", operand.len(), slices.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < slices.len() {
        let SliceDimension { start, limit, stride } = slices[dimension];
        if stride == 0 {
            return Err(InferError::ZeroStride { dimension });
        }
        let size = match operand[dimension].extent() {
            Some(size) => size,
            None => MAX_SIZE,
        };
        if start > limit || limit > size {
            return Err(InferError::SliceOutOfRange { dimension, start, limit, size });
        }
        let taken = limit.saturating_sub(start).div_ceil(stride);
        // A slice that takes the whole of a dynamic dimension stays dynamic; a smaller one has a known size.
        result[dimension] = if taken == size { operand[dimension] } else { Dimension::Static(taken) };
        dimension += 1;
    }
    Ok(())
}

/// The result of a pad (`ShapeInference::InferPadShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::{self, PaddingDimension};
///
/// let mut result = [Unbounded; 1];
/// infer::pad(&[Static(4)], &[PaddingDimension { low: 1, high: 2, interior: 1 }], &mut result)?;
/// assert_eq!(result, [Static(10)]); // 1 + 4 + 2, and 3 between the elements
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If more elements are removed than a dimension has, or a size is too large.
pub const fn pad(
    operand: &[Dimension],
    padding: &[PaddingDimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if let Err(error) = check_len("`padding`", operand.len(), padding.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < padding.len() {
        result[dimension] = match operand[dimension].extent() {
            None => Dimension::Unbounded,
            Some(size) => match padded(size, padding[dimension], dimension) {
                // The bound of a dynamic dimension grows like a size.
                Ok(size) => sized(operand[dimension], size),
                Err(error) => return Err(error),
            },
        };
        dimension += 1;
    }
    Ok(())
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "numbers below 2^63 times numbers below 2^64 fit in an i128, with room for the sums"
)]
const fn padded(size: u64, padding: PaddingDimension, dimension: usize) -> Result<u64, InferError> {
    // With this bound, the product below fits in an `i128`.
    if size > MAX_SIZE {
        return Err(InferError::Overflow);
    }
    // `interior` elements go between any two neighbours. There are `size - 1` such pairs, and none in an empty array.
    let between = size.saturating_sub(1) as i128 * padding.interior as i128;
    let padded = size as i128 + between + padding.low as i128 + padding.high as i128;
    if padded < 0 {
        Err(InferError::NegativeSize { dimension })
    } else if padded > MAX_SIZE as i128 {
        Err(InferError::Overflow)
    } else {
        Ok(padded as u64)
    }
}

/// The result of a concatenation along `dimension` (`ShapeInference::InferConcatOpShape` in
/// `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 2];
/// infer::concatenate(&[&[Static(2), Static(8)], &[Static(3), Static(8)]], 0, &mut result)?;
/// assert_eq!(result, [Static(5), Static(8)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If there is no operand, or two operands differ in another dimension.
pub const fn concatenate(
    operands: &[&[Dimension]],
    dimension: usize,
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let Some((first, others)) = operands.split_first() else {
        return Err(InferError::NoOperands);
    };
    if let Err(error) = check_dimensions("`dimensions`", &[dimension], first.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", first.len(), result.len()) {
        return Err(error);
    }
    result.copy_from_slice(first);
    let mut i = 0;
    while i < others.len() {
        if let Err(error) = append(result, others[i], dimension) {
            return Err(error);
        }
        i += 1;
    }
    Ok(())
}

/// Concatenates another operand to the result so far.
pub(super) const fn append(result: &mut [Dimension], other: &[Dimension], dimension: usize) -> Result<(), InferError> {
    if let Err(error) = check_len("an operand", result.len(), other.len()) {
        return Err(error);
    }
    let mut at = 0;
    while at < other.len() {
        let (expected, found) = (result[at], other[at]);
        result[at] = if at == dimension {
            match joined(expected, found) {
                Ok(sum) => sum,
                Err(error) => return Err(error),
            }
        } else if agree(expected, found) {
            merge(expected, found)
        } else {
            return Err(InferError::SizeMismatch { what: "an operand", dimension: at, expected, found });
        };
        at += 1;
    }
    Ok(())
}

const fn joined(a: Dimension, b: Dimension) -> Result<Dimension, InferError> {
    match (a.extent(), b.extent()) {
        (Some(size), Some(more)) => match size.checked_add(more) {
            Some(sum) if sum <= MAX_SIZE => Ok(sized(if a.is_dynamic() { a } else { b }, sum)),
            _ => Err(InferError::Overflow),
        },
        _ => Ok(Dimension::Unbounded),
    }
}

/// The result of a dynamic slice: the slice sizes (`ShapeInference::InferDynamicSliceShape` in
/// `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 2];
/// infer::dynamic_slice(&[Static(64), Static(128)], &[8, 128], &mut result)?;
/// assert_eq!(result, [Static(8), Static(128)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If a slice size is larger than its dimension.
pub const fn dynamic_slice(operand: &[Dimension], sizes: &[u64], result: &mut [Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_len("`dynamic_slice_sizes`", operand.len(), sizes.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < sizes.len() {
        let limit = sizes[dimension];
        if let Some(size) = operand[dimension].extent()
            && limit > size
        {
            return Err(InferError::SliceOutOfRange { dimension, start: 0, limit, size });
        }
        result[dimension] = Dimension::Static(limit);
        dimension += 1;
    }
    Ok(())
}

/// The result of a dynamic-update-slice: the operand's dimensions, of which none may be smaller than the update's
/// (`ShapeInference::InferDynamicUpdateSliceShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 2];
/// infer::dynamic_update_slice(&[Static(64), Static(128)], &[Static(8), Static(128)], &mut result)?;
/// assert_eq!(result, [Static(64), Static(128)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If the update is larger than the operand.
pub const fn dynamic_update_slice(
    operand: &[Dimension],
    update: &[Dimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if let Err(error) = check_len("the update", operand.len(), update.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len(), result.len()) {
        return Err(error);
    }
    let mut dimension = 0;
    while dimension < update.len() {
        if let (Some(size), Some(limit)) = (operand[dimension].extent(), update[dimension].extent())
            && limit > size
        {
            return Err(InferError::SliceOutOfRange { dimension, start: 0, limit, size });
        }
        result[dimension] = operand[dimension];
        dimension += 1;
    }
    Ok(())
}
