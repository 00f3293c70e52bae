//! Operations that make one array of arrays.

use super::operands::{Operands, Result, made};
use super::{InferError, Operation, contract};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

/// The result of an operation on arrays.
pub(super) fn infer(operation: Operation<'_>, operands: Operands<'_, '_>, written: Option<&Shape>) -> Result<Shape> {
    let arrays = operands.arrays()?;
    operation.check_operands(&arrays)?;
    let repeated = match written {
        None if operation.num_operands_of_named() > 1 => repeated(&arrays)?,
        _ => Vec::new(),
    };
    let arrays = if repeated.is_empty() { arrays } else { repeated.iter().collect() };
    let given = written.and_then(Shape::array);
    if let Operation::Broadcast { dimensions } = operation
        && given.is_none()
    {
        return broadcast_to(&arrays, dimensions);
    }
    let dimensions = match operation.num_dimensions(&arrays) {
        Some(num_dimensions) => {
            let mut inferred = vec![Dimension::Unbounded; num_dimensions];
            operation.infer(&arrays, &[], &mut inferred)?;
            inferred
        }
        None => {
            let given = given.ok_or(InferError::NotInferred)?.dimensions();
            let mut inferred = given.to_vec();
            operation.infer(&arrays, given, &mut inferred)?;
            inferred
        }
    };
    let given = given.map(ArrayShape::element_type);
    let element_type = match operation.element_type(&arrays) {
        Some(found) => found,
        None => contract::preferred(operation, &arrays, given)?,
    };
    if let Operation::Iota { .. } = operation
        && element_type == ElementType::Pred
    {
        return Err(InferError::Unfit { what: "the elements of the result", expected: "numbers" });
    }
    let layout = operation.layout(&arrays).unwrap_or_else(|| Layout::descending(dimensions.len()));
    match ArrayShape::new(element_type, &dimensions, layout) {
        Ok(array) => Ok(Shape::Array(array)),
        Err(_) => made(element_type, &dimensions),
    }
}

/// The operands of an elementwise operation, if XLA's inference would repeat elements of some: a scalar, or along a dimension of
/// size 1. Programs in which it would are not valid, but they are read.
fn repeated(arrays: &[&ArrayShape]) -> Result<Vec<ArrayShape>> {
    let Some(&longest) = arrays.iter().max_by_key(|array| array.num_dimensions()) else { return Ok(Vec::new()) };
    let same = |array: &&ArrayShape| super::all_agree(array.dimensions(), longest.dimensions());
    let fits = |array: &&ArrayShape| array.num_dimensions() == 0 || array.num_dimensions() == longest.num_dimensions();
    if arrays.iter().all(same) || !arrays.iter().all(fits) {
        return Ok(Vec::new());
    }
    let one = |size: &Dimension| *size == Dimension::Static(1);
    let wide = |number: usize| {
        let sizes = arrays.iter().filter_map(|array| array.dimensions().get(number));
        sizes.copied().find(|size| !one(size)).unwrap_or(Dimension::Static(1))
    };
    let all: Vec<_> = (0..longest.num_dimensions()).map(wide).collect();
    let repeat = |array: &&ArrayShape| {
        let sizes: Vec<_> = match array.num_dimensions() {
            0 => all.clone(),
            _ => {
                array.dimensions().iter().zip(&all).map(|(&size, &wide)| if one(&size) { wide } else { size }).collect()
            }
        };
        let layout = Layout::descending(sizes.len());
        ArrayShape::new(array.element_type(), &sizes, layout).map_err(|_| InferError::Overflow)
    };
    arrays.iter().map(repeat).collect()
}

/// What XLA's parser makes of a broadcast without a shape: it takes `dimensions` for sizes that are put before the operand's.
fn broadcast_to(arrays: &[&ArrayShape], dimensions: &[usize]) -> Result<Shape> {
    let operand = arrays.first().ok_or(InferError::NoOperands)?;
    let sizes = dimensions.iter().map(|&size| Dimension::Static(size as u64));
    let all: Vec<_> = sizes.chain(operand.dimensions().iter().copied()).collect();
    made(operand.element_type(), &all)
}

impl Operation<'_> {
    /// How many operands an elementwise operation takes by its name; 0 for any other operation.
    fn num_operands_of_named(&self) -> usize {
        self.elementwise().and_then(super::Elementwise::num_operands).unwrap_or(0)
    }

    /// The layout that XLA's inference takes from an operand.
    fn layout(&self, arrays: &[&ArrayShape]) -> Option<Layout> {
        let of = |operand: usize| arrays.get(operand).map(|array| array.layout().clone());
        match self {
            Self::Elementwise | Self::Named(_) | Self::Compare | Self::Convert | Self::Reverse { .. } => of(0),
            Self::DynamicUpdateSlice => of(0),
            Self::Clamp => of(1),
            Self::Select if arrays.first().is_some_and(|predicate| predicate.num_dimensions() > 0) => of(0),
            Self::Select => of(1),
            Self::Transpose { dimensions } => {
                let numbers = dimensions.iter().filter_map(|&number| i64::try_from(number).ok());
                Some(arrays.first()?.permute_dimensions(numbers).ok()?.layout().clone())
            }
            _ => None,
        }
    }
}
