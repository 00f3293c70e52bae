//! Operations on arrays whose result is one array: the shape of the result as a [`Shape`].

use super::operands::{Operands, Result, default_array};
use super::{InferError, Operation, contract, index};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec;
use alloc::vec::Vec;

/// The shape of the result. `declared` is the shape that the program gives, which some operations need.
pub(super) fn infer<'a>(
    operation: Operation<'_>,
    operands: Operands<'_, 'a>,
    declared: Option<&Shape>,
) -> Result<Cow<'a, Shape>> {
    // In a program, the start indices may also be one vector instead of a scalar for each dimension.
    match operation {
        Operation::DynamicSlice(sizes) => return index::dynamic_slice(operands, sizes),
        Operation::DynamicUpdateSlice => return index::dynamic_update_slice(operands),
        _ => {}
    }
    let arrays = operands.arrays()?;
    operation.check_operands(&arrays)?;
    let expanded = match declared {
        None if operation.elementwise_operands() > 1 => expanded(&arrays)?,
        _ => Vec::new(),
    };
    let arrays = if expanded.is_empty() { arrays } else { expanded.iter().collect() };
    let given = declared.and_then(Shape::array);
    if let Operation::Broadcast { dimensions } = operation
        && given.is_none()
    {
        return broadcast_to(&arrays, dimensions).map(Cow::Owned);
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
        return Err(InferError::Unexpected { what: "the elements of the result", expected: "numbers" });
    }
    let layout = operation.layout(&arrays).unwrap_or_else(|| Layout::descending(dimensions.len()));
    match ArrayShape::new(element_type, &dimensions, layout) {
        Ok(array) => Ok(Cow::Owned(Shape::Array(array))),
        Err(_) => default_array(element_type, &dimensions).map(Cow::Owned),
    }
}

/// The operands of an elementwise operation after implicit broadcasting: XLA's inference expands scalars and dimensions
/// of size 1 (`ShapeInference::InferDegenerateDimensionBroadcastShape` in `xla/service/shape_inference.cc`). Empty if
/// no operand needs it.
///
/// The verifier refuses such programs, but XLA's parser reads them if they declare no shape.
fn expanded(arrays: &[&ArrayShape]) -> Result<Vec<ArrayShape>> {
    let Some(&longest) = arrays.iter().max_by_key(|array| array.num_dimensions()) else { return Ok(Vec::new()) };
    let same = |array: &&ArrayShape| super::all_agree(array.dimensions(), longest.dimensions());
    let fits = |array: &&ArrayShape| array.num_dimensions() == 0 || array.num_dimensions() == longest.num_dimensions();
    if arrays.iter().all(same) || !arrays.iter().all(fits) {
        return Ok(Vec::new());
    }
    let is_one = |size: &Dimension| *size == Dimension::Static(1);
    let largest = |number: usize| {
        let sizes = arrays.iter().filter_map(|array| array.dimensions().get(number));
        sizes.copied().find(|size| !is_one(size)).unwrap_or(Dimension::Static(1))
    };
    let all: Vec<_> = (0..longest.num_dimensions()).map(largest).collect();
    let expand = |array: &&ArrayShape| {
        let pairs = array.dimensions().iter().zip(&all);
        let sizes: Vec<_> = match array.num_dimensions() {
            0 => all.clone(),
            _ => pairs.map(|(&size, &largest)| if is_one(&size) { largest } else { size }).collect(),
        };
        let layout = Layout::descending(sizes.len());
        ArrayShape::new(array.element_type(), &sizes, layout).map_err(|_| InferError::Overflow)
    };
    arrays.iter().map(expand).collect()
}

/// The result of a broadcast that declares no shape. XLA's parser calls the overload of
/// `ShapeInference::InferBroadcastShape` in `xla/service/shape_inference.cc` that reads `dimensions` as the sizes of
/// new major dimensions.
fn broadcast_to(arrays: &[&ArrayShape], dimensions: &[usize]) -> Result<Shape> {
    let operand = arrays.first().ok_or(InferError::NoOperands)?;
    let sizes = dimensions.iter().map(|&size| Dimension::Static(size as u64));
    let all: Vec<_> = sizes.chain(operand.dimensions().iter().copied()).collect();
    default_array(operand.element_type(), &all)
}

impl Operation<'_> {
    /// How many operands an elementwise operation takes; 0 for any other operation, and for an unnamed elementwise one.
    fn elementwise_operands(&self) -> usize {
        self.elementwise().and_then(super::Elementwise::num_operands).unwrap_or(0)
    }

    /// The layout that XLA's inference copies from an operand to the result; `None` where it makes a new shape.
    fn layout(&self, arrays: &[&ArrayShape]) -> Option<Layout> {
        let layout = |operand: usize| arrays.get(operand).map(|array| array.layout().clone());
        match self {
            Self::Elementwise | Self::Named(_) | Self::Compare | Self::Convert | Self::Reverse { .. } => layout(0),
            Self::Clamp => layout(1),
            Self::Select if arrays.first().is_some_and(|predicate| predicate.num_dimensions() > 0) => layout(0),
            Self::Select => layout(1),
            Self::Transpose { dimensions } => {
                let numbers = dimensions.iter().filter_map(|&number| i64::try_from(number).ok());
                Some(arrays.first()?.permute_dimensions(numbers).ok()?.layout().clone())
            }
            _ => None,
        }
    }
}
