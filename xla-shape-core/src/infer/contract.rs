//! Operations that sum over dimensions, or combine them otherwise.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, contains};
use crate::shape::dimension::Dimension;

/// The result of a reduction: the operand's dimensions without `dimensions`.
///
/// # Errors
/// If `dimensions` names one twice, or one that the operand does not have.
pub const fn reduce(operand: &[Dimension], dimensions: &[usize], result: &mut [Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_dimensions("`dimensions`", dimensions, operand.len()) {
        return Err(error);
    }
    if let Err(error) = check_len("the result", operand.len().saturating_sub(dimensions.len()), result.len()) {
        return Err(error);
    }
    copy_others(operand, dimensions, &[], result, 0);
    Ok(())
}

/// Which dimensions of a dot's operands belong together.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DotDimensions<'a> {
    /// The dimensions of the left operand that each product has of its own: `lhs_batch_dims`.
    pub lhs_batch: &'a [usize],
    /// Those of the right operand: `rhs_batch_dims`.
    pub rhs_batch: &'a [usize],
    /// The dimensions of the left operand that are summed over: `lhs_contracting_dims`.
    pub lhs_contracting: &'a [usize],
    /// Those of the right operand: `rhs_contracting_dims`.
    pub rhs_contracting: &'a [usize],
}

impl DotDimensions<'_> {
    /// The product of two matrices: `[M,K] × [K,N] → [M,N]`.
    pub const MATRICES: Self = Self { lhs_batch: &[], rhs_batch: &[], lhs_contracting: &[1], rhs_contracting: &[0] };
}

/// The result of a dot: the batch dimensions as the left operand has them, then the others of the left operand, then those of the right one.
///
/// # Errors
/// If the numbers are no dimensions, or dimensions that belong together have different sizes.
pub const fn dot(
    lhs: &[Dimension],
    rhs: &[Dimension],
    dimensions: DotDimensions<'_>,
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let DotDimensions { lhs_batch, rhs_batch, lhs_contracting, rhs_contracting } = dimensions;
    if let Err(error) = check_pair(lhs, rhs, lhs_batch, rhs_batch, "`rhs_batch_dims`") {
        return Err(error);
    }
    if let Err(error) = check_pair(lhs, rhs, lhs_contracting, rhs_contracting, "`rhs_contracting_dims`") {
        return Err(error);
    }
    if let Err(error) =
        check_distinct("the left operand's batch and contracting dimensions", lhs_batch, lhs_contracting)
    {
        return Err(error);
    }
    if let Err(error) =
        check_distinct("the right operand's batch and contracting dimensions", rhs_batch, rhs_contracting)
    {
        return Err(error);
    }
    let lhs_left = lhs.len().saturating_sub(lhs_batch.len()).saturating_sub(lhs_contracting.len());
    let rhs_left = rhs.len().saturating_sub(rhs_batch.len()).saturating_sub(rhs_contracting.len());
    let expected = lhs_batch.len().saturating_add(lhs_left).saturating_add(rhs_left);
    if let Err(error) = check_len("the result", expected, result.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < lhs_batch.len() {
        result[i] = lhs[lhs_batch[i]];
        i = i.saturating_add(1);
    }
    let next = copy_others(lhs, lhs_batch, lhs_contracting, result, i);
    copy_others(rhs, rhs_batch, rhs_contracting, result, next);
    Ok(())
}

/// Checks that no dimension is in both lists.
const fn check_distinct(what: &'static str, a: &[usize], b: &[usize]) -> Result<(), InferError> {
    let mut i = 0;
    while i < a.len() {
        if contains(b, a[i]) {
            return Err(InferError::DuplicateDimension { what, dimension: a[i] });
        }
        i = i.saturating_add(1);
    }
    Ok(())
}

const fn check_pair(
    lhs: &[Dimension],
    rhs: &[Dimension],
    of_lhs: &[usize],
    of_rhs: &[usize],
    what: &'static str,
) -> Result<(), InferError> {
    if let Err(error) = check_len(what, of_lhs.len(), of_rhs.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions("the dimensions of the left operand", of_lhs, lhs.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions(what, of_rhs, rhs.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < of_lhs.len() {
        let (expected, found) = (lhs[of_lhs[i]], rhs[of_rhs[i]]);
        if !agree(expected, found) {
            return Err(InferError::SizeMismatch { what: "the right operand", dimension: of_rhs[i], expected, found });
        }
        i = i.saturating_add(1);
    }
    Ok(())
}

/// Copies the dimensions that neither list names to `to`, from place `at` on. Returns the place behind them.
const fn copy_others(from: &[Dimension], a: &[usize], b: &[usize], to: &mut [Dimension], mut at: usize) -> usize {
    let mut dimension = 0;
    while dimension < from.len() {
        if !contains(a, dimension) && !contains(b, dimension) && at < to.len() {
            to[at] = from[dimension];
            at = at.saturating_add(1);
        }
        dimension = dimension.saturating_add(1);
    }
    at
}
