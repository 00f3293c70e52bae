//! Reductions and dots: operations that sum over dimensions.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is checked first")]

use super::operands::{Operands, default_result, dimension, without};
use super::{InferError, Operation, agree, check_dimensions, check_len, contains};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

/// The result of a reduction: the operand's dimensions without `dimensions` (`ShapeInference::InferReduceShape` in
/// `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer;
///
/// let mut result = [Unbounded; 1];
/// infer::reduce(&[Static(8), Static(64)], &[1], &mut result)?;
/// assert_eq!(result, [Static(8)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If `dimensions` names a dimension twice, or one that the operand does not have.
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

/// Which dimensions of a dot's operands are batch dimensions and which are summed over: `DotDimensionNumbers` in
/// `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Dimension::Static;
/// use xla_shape_core::infer::{self, DotDimensions};
///
/// // A product of matrices for each of 4 heads: dimension 0 is a batch dimension.
/// let heads =
///     DotDimensions { lhs_batch: &[0], rhs_batch: &[0], lhs_contracting: &[2], rhs_contracting: &[1] };
/// let mut result = [Static(0); 3];
/// infer::dot(&[Static(4), Static(8), Static(64)], &[Static(4), Static(64), Static(16)], heads, &mut result)?;
/// assert_eq!(result, [Static(4), Static(8), Static(16)]);
/// # Ok::<(), xla_shape_core::infer::InferError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DotDimensions<'a> {
    /// The batch dimensions of the left operand: `lhs_batch_dims`. Each of their indices is a product of its own.
    pub lhs_batch: &'a [usize],
    /// The batch dimensions of the right operand, in the same order: `rhs_batch_dims`.
    pub rhs_batch: &'a [usize],
    /// The dimensions of the left operand that are summed over: `lhs_contracting_dims`.
    pub lhs_contracting: &'a [usize],
    /// The dimensions of the right operand that are summed over, in the same order: `rhs_contracting_dims`.
    pub rhs_contracting: &'a [usize],
}

impl DotDimensions<'_> {
    /// The product of two matrices: `[M,K] × [K,N] → [M,N]`.
    pub const MATRICES: Self = Self { lhs_batch: &[], rhs_batch: &[], lhs_contracting: &[1], rhs_contracting: &[0] };

    /// The number of dimensions of the result.
    pub(super) const fn num_dimensions(self, lhs: &[Dimension], rhs: &[Dimension]) -> usize {
        let lhs_left = lhs.len().saturating_sub(self.lhs_batch.len()).saturating_sub(self.lhs_contracting.len());
        let rhs_left = rhs.len().saturating_sub(self.rhs_batch.len()).saturating_sub(self.rhs_contracting.len());
        self.lhs_batch.len() + lhs_left + rhs_left
    }
}

/// The result of a dot: the batch dimensions of the left operand, its other remaining dimensions, and the remaining
/// dimensions of the right operand (`ShapeInference::InferDotOpShape` in `xla/service/shape_inference.cc`).
///
/// ```
/// use xla_shape_core::Dimension::{Static, Unbounded};
/// use xla_shape_core::infer::{self, DotDimensions};
///
/// let mut result = [Unbounded; 2];
/// infer::dot(&[Static(8), Static(64)], &[Static(64), Static(256)], DotDimensions::MATRICES, &mut result)?;
/// assert_eq!(result, [Static(8), Static(256)]);
/// # Ok::<(), infer::InferError>(())
/// ```
///
/// # Errors
/// If a number is not a dimension of its operand or occurs twice, or if sizes that must be equal differ.
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
        i += 1;
    }
    // After the batch dimensions come the others of the left operand, then those of the right one.
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
        i += 1;
    }
    Ok(())
}

const fn check_pair(
    lhs: &[Dimension],
    rhs: &[Dimension],
    lhs_numbers: &[usize],
    rhs_numbers: &[usize],
    what: &'static str,
) -> Result<(), InferError> {
    if let Err(error) = check_len(what, lhs_numbers.len(), rhs_numbers.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions("the dimensions of the left operand", lhs_numbers, lhs.len()) {
        return Err(error);
    }
    if let Err(error) = check_dimensions(what, rhs_numbers, rhs.len()) {
        return Err(error);
    }
    let mut i = 0;
    while i < lhs_numbers.len() {
        let (expected, found) = (lhs[lhs_numbers[i]], rhs[rhs_numbers[i]]);
        if !agree(expected, found) {
            return Err(InferError::SizeMismatch {
                what: "the right operand",
                dimension: rhs_numbers[i],
                expected,
                found,
            });
        }
        i += 1;
    }
    Ok(())
}

/// Copies the dimensions that neither list names to `to`, beginning at index `at`. Returns the index after them.
const fn copy_others(from: &[Dimension], a: &[usize], b: &[usize], to: &mut [Dimension], mut at: usize) -> usize {
    let mut dimension = 0;
    while dimension < from.len() {
        if !contains(a, dimension) && !contains(b, dimension) && at < to.len() {
            to[at] = from[dimension];
            at += 1;
        }
        dimension += 1;
    }
    at
}

/// The element type of the result of a dot or a convolution: the declared one (XLA's `preferred_element_type`), else
/// the type of higher precision.
pub(super) fn preferred(
    operation: Operation<'_>,
    operands: &[&ArrayShape],
    declared: Option<ElementType>,
) -> Result<ElementType, InferError> {
    match operation {
        Operation::Dot(_) | Operation::Convolution { .. } => {
            let higher = |(lhs, rhs): (&&ArrayShape, &&ArrayShape)| {
                lhs.element_type().higher_precision_type(rhs.element_type()).unwrap_or(lhs.element_type())
            };
            let found = operands.first().zip(operands.get(1)).map(higher).ok_or(InferError::NoOperands)?;
            Ok(declared.unwrap_or(found))
        }
        _ => declared.ok_or(InferError::NotInferred),
    }
}

/// Which dimensions of a ragged dot are divided into groups: `RaggedDotDimensionNumbers` in `xla/xla_data.proto`.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::{DotDimensions, RaggedDimensions, Rule};
///
/// // 8 rows are divided among 3 groups, each with a matrix of its own.
/// let [rows, matrices, sizes]: [Shape; 3] = ["f32[8,5]".parse()?, "f32[3,5,7]".parse()?, "s32[3]".parse()?];
/// let dimensions = DotDimensions { lhs_batch: &[], rhs_batch: &[], lhs_contracting: &[1], rhs_contracting: &[1] };
/// let ragged = RaggedDimensions { lhs: &[0], rhs_group: &[0] };
/// let result = Rule::RaggedDot { dimensions, ragged }.infer(&[&rows, &matrices, &sizes], None)?;
/// assert_eq!(result.to_string(), "f32[8,7]{1,0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct RaggedDimensions<'a> {
    /// The dimension of the left operand that is divided into groups: `lhs_ragged_dims`.
    pub lhs: &'a [usize],
    /// The dimension of the right operand that has one index for each group: `rhs_group_dims`.
    pub rhs_group: &'a [usize],
}

type ShapeResult<'a> = Result<Cow<'a, Shape>, InferError>;

/// The element type and the dimensions of a dot.
fn dot_type_and_dimensions(
    lhs: &ArrayShape,
    rhs: &ArrayShape,
    dimensions: DotDimensions<'_>,
    declared: Option<&Shape>,
) -> Result<(ElementType, Vec<Dimension>), InferError> {
    let mut result = vec![Dimension::Unbounded; dimensions.num_dimensions(lhs.dimensions(), rhs.dimensions())];
    dot(lhs.dimensions(), rhs.dimensions(), dimensions, &mut result)?;
    let declared = declared.and_then(Shape::array).map(ArrayShape::element_type);
    Ok((preferred(Operation::Dot(dimensions), &[lhs, rhs], declared)?, result))
}

/// The rule of `ShapeVerifier::HandleScaledDot` in `xla/service/hlo_verifier.cc`.
pub(super) fn scaled_dot<'a>(
    operands: Operands<'_, 'a>,
    dimensions: DotDimensions<'_>,
    declared: Option<&Shape>,
) -> ShapeResult<'a> {
    operands.exactly(4)?;
    operands.array(2)?;
    operands.array(3)?;
    let (element_type, result) = dot_type_and_dimensions(operands.array(0)?, operands.array(1)?, dimensions, declared)?;
    default_result(element_type, &result)
}

/// Like a dot. If the ragged dimension is summed over, the groups are the first dimension of the result
/// (`ShapeInference::InferRaggedDotOpShape` in `xla/service/shape_inference.cc`).
pub(super) fn ragged_dot<'a>(
    operands: Operands<'_, 'a>,
    dimensions: DotDimensions<'_>,
    ragged: RaggedDimensions<'_>,
    declared: Option<&Shape>,
) -> ShapeResult<'a> {
    operands.exactly(3)?;
    let (lhs, rhs, groups) = (operands.array(0)?, operands.array(1)?, operands.array(2)?);
    operands.class(2, "integers", ElementType::is_integral)?;
    let &[lhs_ragged] = ragged.lhs else {
        let (what, expected, found) = ("number in `lhs_ragged_dims`", 1, ragged.lhs.len());
        return Err(InferError::Count { what, expected, found });
    };
    check_dimensions("`lhs_ragged_dims`", ragged.lhs, lhs.num_dimensions())?;
    check_dimensions("`rhs_group_dims`", ragged.rhs_group, rhs.num_dimensions())?;
    let (is_contracted, is_batch) =
        (dimensions.lhs_contracting.contains(&lhs_ragged), dimensions.lhs_batch.contains(&lhs_ragged));
    // A group of rows of the left operand has a matrix of its own in the right one. Where the groups are parts of a batch or of a sum, the
    // right operand is divided like the left one, and has no dimension of groups.
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
    // Each group is multiplied by one slice of the right operand, which lacks the group dimension.
    let before = |number: &usize| ragged.rhs_group.iter().filter(|group| *group < number).count();
    let renumber = |list: &[usize]| list.iter().map(|number| number.saturating_sub(before(number))).collect::<Vec<_>>();
    let rhs_slice = ArrayShape::new(
        rhs.element_type(),
        &without(rhs.dimensions(), ragged.rhs_group),
        Layout::descending(rhs.num_dimensions().saturating_sub(ragged.rhs_group.len())),
    )
    .map_err(|_| InferError::Overflow)?;
    let (rhs_batch, rhs_contracting) = (renumber(dimensions.rhs_batch), renumber(dimensions.rhs_contracting));
    let group_dimensions = DotDimensions { rhs_batch: &rhs_batch, rhs_contracting: &rhs_contracting, ..dimensions };
    let (element_type, mut result) = dot_type_and_dimensions(lhs, &rhs_slice, group_dimensions, declared)?;
    if is_contracted {
        // Each group has a sum of its own.
        result.insert(0, count);
    }
    default_result(element_type, &result)
}
