//! Operations that sum over dimensions, or combine them otherwise.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::operands::{Operands, dimension, owned, without};
use super::{InferError, Operation, agree, check_dimensions, check_len, contains};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

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
    /// The batch dimensions of the left operand, for each index of which there is a product: `lhs_batch_dims`.
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

    /// How many dimensions the result has.
    pub(super) const fn num_dimensions(self, lhs: &[Dimension], rhs: &[Dimension]) -> usize {
        let lhs_left = lhs.len().saturating_sub(self.lhs_batch.len()).saturating_sub(self.lhs_contracting.len());
        let rhs_left = rhs.len().saturating_sub(self.rhs_batch.len()).saturating_sub(self.rhs_contracting.len());
        self.lhs_batch.len().saturating_add(lhs_left).saturating_add(rhs_left)
    }
}

/// The result of a dot: the batch dimensions as the left operand has them, then the others of the left operand, then those of the right one.
///
/// # Errors
/// If the numbers are not dimensions, or dimensions that belong together have different sizes.
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
    let expected = dimensions.num_dimensions(lhs, rhs);
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

/// Copies the dimensions that neither list names to `to`, from place `at` on. Returns the place after them.
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

/// The element type of a dot's or a convolution's result: what the program prefers, or what holds both operands'.
pub(super) fn preferred(
    operation: Operation<'_>,
    operands: &[&ArrayShape],
    written: Option<ElementType>,
) -> Result<ElementType, InferError> {
    match operation {
        Operation::Dot(_) | Operation::Convolution { .. } => {
            let higher = |(lhs, rhs): (&&ArrayShape, &&ArrayShape)| {
                lhs.element_type().higher_precision_type(rhs.element_type()).unwrap_or(lhs.element_type())
            };
            let found = operands.first().zip(operands.get(1)).map(higher).ok_or(InferError::NoOperands)?;
            Ok(written.unwrap_or(found))
        }
        _ => written.ok_or(InferError::NotInferred),
    }
}

/// Which dimensions of a ragged dot are divided into groups.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RaggedDimensions<'a> {
    /// The dimension of the left operand that is divided: `lhs_ragged_dims`.
    pub lhs: &'a [usize],
    /// The dimension of the right operand that numbers the groups: `rhs_group_dims`.
    pub rhs_group: &'a [usize],
}

type Answer<'a> = Result<Cow<'a, Shape>, InferError>;

/// The dimensions of a dot, and the element type.
fn dot_of(
    lhs: &ArrayShape,
    rhs: &ArrayShape,
    dimensions: DotDimensions<'_>,
    written: Option<&Shape>,
) -> Result<(ElementType, Vec<Dimension>), InferError> {
    let mut result = vec![Dimension::Unbounded; dimensions.num_dimensions(lhs.dimensions(), rhs.dimensions())];
    dot(lhs.dimensions(), rhs.dimensions(), dimensions, &mut result)?;
    let written = written.and_then(Shape::array).map(ArrayShape::element_type);
    Ok((preferred(Operation::Dot(dimensions), &[lhs, rhs], written)?, result))
}

pub(super) fn general_dot<'a>(
    operands: Operands<'_, 'a>,
    dimensions: DotDimensions<'_>,
    written: Option<&Shape>,
) -> Answer<'a> {
    operands.exactly(2)?;
    let (element_type, result) = dot_of(operands.array(0)?, operands.array(1)?, dimensions, written)?;
    owned(element_type, &result)
}

pub(super) fn scaled_dot<'a>(
    operands: Operands<'_, 'a>,
    dimensions: DotDimensions<'_>,
    written: Option<&Shape>,
) -> Answer<'a> {
    operands.exactly(4)?;
    operands.array(2)?;
    operands.array(3)?;
    let (element_type, result) = dot_of(operands.array(0)?, operands.array(1)?, dimensions, written)?;
    owned(element_type, &result)
}

/// As a dot; where the divided dimension is summed over, the groups become the first dimension of the result.
pub(super) fn ragged_dot<'a>(
    operands: Operands<'_, 'a>,
    dimensions: DotDimensions<'_>,
    ragged: RaggedDimensions<'_>,
    written: Option<&Shape>,
) -> Answer<'a> {
    operands.exactly(3)?;
    let (lhs, rhs, groups) = (operands.array(0)?, operands.array(1)?, operands.array(2)?);
    operands.class(2, "integers", ElementType::is_integral)?;
    let &[of_lhs] = ragged.lhs else {
        let (what, expected, found) = ("number in `lhs_ragged_dims`", 1, ragged.lhs.len());
        return Err(InferError::Count { what, expected, found });
    };
    check_dimensions("`lhs_ragged_dims`", ragged.lhs, lhs.num_dimensions())?;
    check_dimensions("`rhs_group_dims`", ragged.rhs_group, rhs.num_dimensions())?;
    let (is_contracted, is_batch) =
        (dimensions.lhs_contracting.contains(&of_lhs), dimensions.lhs_batch.contains(&of_lhs));
    let (expected, found) = (usize::from(!is_contracted && !is_batch), ragged.rhs_group.len());
    if expected != found {
        return Err(InferError::Count { what: "numbers in `rhs_group_dims`", expected, found });
    }
    if let Some(&group) = ragged.rhs_group.first()
        && (dimensions.rhs_batch.contains(&group) || dimensions.rhs_contracting.contains(&group))
    {
        return Err(InferError::DuplicateDimension { what: "`rhs_group_dims`", dimension: group });
    }
    let Some(&count) = groups.dimensions().last() else {
        return Err(InferError::OperandKind { operand: 2, expected: "an array of the groups' sizes" });
    };
    if let Some(&group) = ragged.rhs_group.first() {
        let found = dimension("`rhs_group_dims`", rhs.dimensions(), group)?;
        if !agree(count, found) {
            let (what, expected) = ("operand 1", count);
            return Err(InferError::SizeMismatch { what, dimension: group, expected, found });
        }
    }
    // What a group is multiplied by has no dimension of groups.
    let before = |number: &usize| ragged.rhs_group.iter().filter(|group| *group < number).count();
    let renumber = |list: &[usize]| list.iter().map(|number| number.saturating_sub(before(number))).collect::<Vec<_>>();
    let one = ArrayShape::new(
        rhs.element_type(),
        &without(rhs.dimensions(), ragged.rhs_group),
        Layout::descending(rhs.num_dimensions().saturating_sub(ragged.rhs_group.len())),
    )
    .map_err(|_| InferError::Overflow)?;
    let (rhs_batch, rhs_contracting) = (renumber(dimensions.rhs_batch), renumber(dimensions.rhs_contracting));
    let of_group = DotDimensions { rhs_batch: &rhs_batch, rhs_contracting: &rhs_contracting, ..dimensions };
    let (element_type, mut result) = dot_of(lhs, &one, of_group, written)?;
    if is_contracted {
        result.insert(0, count);
    }
    owned(element_type, &result)
}
