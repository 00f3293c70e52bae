//! Operations that look at one element of each operand, and those that repeat or number elements.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::{InferError, agree, check_dimensions, check_len, merge};
use crate::shape::dimension::Dimension;

/// The result of an elementwise operation: the dimensions that all operands have.
///
/// # Errors
/// If there is no operand, or two have different dimensions.
pub const fn elementwise(operands: &[&[Dimension]], result: &mut [Dimension]) -> Result<(), InferError> {
    let Some((first, others)) = operands.split_first() else {
        return Err(InferError::NoOperands);
    };
    if let Err(error) = check_len("the result", first.len(), result.len()) {
        return Err(error);
    }
    result.copy_from_slice(first);
    let mut i = 0;
    while i < others.len() {
        let other = others[i];
        if let Err(error) = check_len("an operand", first.len(), other.len()) {
            return Err(error);
        }
        let mut dimension = 0;
        while dimension < other.len() {
            let (expected, found) = (result[dimension], other[dimension]);
            if !agree(expected, found) {
                return Err(InferError::SizeMismatch { what: "an operand", dimension, expected, found });
            }
            result[dimension] = merge(expected, found);
            dimension = dimension.saturating_add(1);
        }
        i = i.saturating_add(1);
    }
    Ok(())
}

/// The result of a select: the dimensions of both values, which are those of the predicate, unless it is a scalar.
///
/// # Errors
/// If they have different dimensions.
pub const fn select(
    predicate: &[Dimension],
    on_true: &[Dimension],
    on_false: &[Dimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    if predicate.is_empty() {
        return elementwise(&[on_true, on_false], result);
    }
    if let Err(error) = elementwise(&[on_true, on_false, predicate], result) {
        return Err(error);
    }
    let mut i = 0;
    while i < result.len() {
        // What XLA knows of a size that the predicate has too.
        result[i] = match (on_true[i], on_false[i], predicate[i]) {
            (Dimension::Unbounded, other, _) | (other, Dimension::Unbounded, _) => other,
            (_, _, Dimension::Unbounded) => Dimension::Unbounded,
            _ => result[i],
        };
        i = i.saturating_add(1);
    }
    Ok(())
}

/// The result of a clamp: the operand's dimensions, which are those of each bound, unless it is a scalar.
///
/// # Errors
/// If a bound has other dimensions.
pub const fn clamp(
    min: &[Dimension],
    operand: &[Dimension],
    max: &[Dimension],
    result: &mut [Dimension],
) -> Result<(), InferError> {
    let min = if min.is_empty() { operand } else { min };
    let max = if max.is_empty() { operand } else { max };
    if let Err(error) = elementwise(&[operand, min, max], result) {
        return Err(error);
    }
    result.copy_from_slice(operand);
    Ok(())
}

/// Checks a broadcast: dimension `i` of the operand is dimension `dimensions[i]` of the result, of the same size.
///
/// # Errors
/// If `dimensions` does not name a dimension of the result for each of the operand, each once, of the same size.
pub const fn broadcast(operand: &[Dimension], dimensions: &[usize], result: &[Dimension]) -> Result<(), InferError> {
    if let Err(error) = check_len("`dimensions`", operand.len(), dimensions.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions("`dimensions`", dimensions, result.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < dimensions.len() {
        let dimension = dimensions[i];
        if !agree(operand[i], result[dimension]) {
            let (expected, found) = (operand[i], result[dimension]);
            return Err(InferError::SizeMismatch { what: "the result", dimension, expected, found });
        }
        i = i.saturating_add(1);
    }
    Ok(())
}

/// Checks an iota: the dimension along which it counts is one of the result.
///
/// # Errors
/// If it is not.
pub const fn iota(dimension: usize, result: &[Dimension]) -> Result<(), InferError> {
    let (what, num_dimensions) = ("`iota_dimension`", result.len());
    if dimension < num_dimensions {
        return Ok(());
    }
    Err(InferError::DimensionOutOfRange { what, dimension, num_dimensions })
}
