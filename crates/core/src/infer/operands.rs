//! The operands of an instruction, the checks on them, and the shapes of results.

use super::InferError;
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::borrow::Cow;
use alloc::vec::Vec;

/// The shapes of the parameters and the result of a called computation.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::{Callee, Rule};
///
/// let (x, scalar): (Shape, Shape) = ("f32[8]".parse()?, "f32[]".parse()?);
/// let to_apply = Callee { parameters: &[&scalar], result: &scalar };
/// let result = Rule::Map { dimensions: &[0], to_apply }.infer(&[&x], None)?;
/// assert_eq!(result.to_string(), "f32[8]{0}");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Callee<'a> {
    /// The shapes of its parameters, in the order of their numbers.
    pub parameters: &'a [&'a Shape],
    /// The shape of its root.
    pub result: &'a Shape,
}

impl Callee<'_> {
    /// Checks the number of parameters; `attribute` is the one that names the computation.
    pub(super) fn exactly(self, attribute: &'static str, expected: usize) -> Result<()> {
        let what = match attribute {
            "body" => "parameters of `body`",
            "branch_computations" => "parameters of each computation of `branch_computations`",
            "calls" => "parameters of `calls`",
            "condition" => "parameters of `condition`",
            "scatter" => "parameters of `scatter`",
            "select" => "parameters of `select`",
            "to_apply" => "parameters of `to_apply`",
            _ => "parameters of the called computation",
        };
        let found = self.parameters.len();
        if expected == found { Ok(()) } else { Err(InferError::Count { what, expected, found }) }
    }
}

pub(super) type Result<T> = core::result::Result<T, InferError>;

/// The shapes of the operands.
#[derive(Clone, Copy)]
pub(super) struct Operands<'s, 'a>(pub(super) &'s [&'a Shape]);

impl<'a> Operands<'_, 'a> {
    pub(super) const fn len(self) -> usize {
        self.0.len()
    }

    pub(super) const fn exactly(self, number: usize) -> Result<()> {
        let found = self.len();
        if found == number {
            return Ok(());
        }
        Err(InferError::OperandCount { at_least: number, at_most: Some(number), found })
    }

    pub(super) const fn at_least(self, number: usize) -> Result<()> {
        let found = self.len();
        if found >= number {
            return Ok(());
        }
        Err(InferError::OperandCount { at_least: number, at_most: None, found })
    }

    pub(super) fn shape(self, operand: usize) -> Result<&'a Shape> {
        let missing = InferError::OperandCount { at_least: operand + 1, at_most: None, found: self.len() };
        self.0.get(operand).copied().ok_or(missing)
    }

    pub(super) fn array(self, operand: usize) -> Result<&'a ArrayShape> {
        self.shape(operand)?.array().ok_or(InferError::OperandKind { operand, expected: "an array" })
    }

    pub(super) fn arrays(self) -> Result<Vec<&'a ArrayShape>> {
        (0..self.len()).map(|operand| self.array(operand)).collect()
    }

    /// The element with this index of an operand that must be a tuple.
    pub(super) fn element(self, operand: usize, index: usize) -> Result<&'a Shape> {
        let expected = "a tuple";
        let elements = self.shape(operand)?.tuple_shapes().ok_or(InferError::OperandKind { operand, expected })?;
        elements.get(index).ok_or(InferError::TupleIndex { index, elements: elements.len() })
    }

    /// Checks that `fits` accepts the element type of an operand; `expected` describes such types.
    pub(super) fn class(self, operand: usize, expected: &'static str, fits: fn(ElementType) -> bool) -> Result<()> {
        let found = self.array(operand)?.element_type();
        if fits(found) { Ok(()) } else { Err(InferError::ElementClass { operand, expected, found }) }
    }

    /// Checks that an operand is a scalar.
    pub(super) fn scalar(self, operand: usize) -> Result<()> {
        match self.array(operand)?.num_dimensions() {
            0 => Ok(()),
            num_dimensions => Err(InferError::NotAScalar { operand, num_dimensions }),
        }
    }

    /// Checks that the element types of two operands [agree](super::element_types_agree).
    pub(super) fn like(self, operand: usize, other: usize) -> Result<()> {
        let (expected, found) = (self.array(other)?.element_type(), self.array(operand)?.element_type());
        if super::element_types_agree(expected, found) {
            return Ok(());
        }
        Err(InferError::ElementType { operand, expected, found })
    }

    /// Checks that an operand has the same dimensions as another one.
    pub(super) fn same_dimensions(self, operand: usize, other: usize) -> Result<()> {
        let (expected, found) = (self.array(other)?.dimensions(), self.array(operand)?.dimensions());
        same_dimensions("an operand", expected, found)
    }
}

/// Checks that two lists of dimensions agree.
pub(super) fn same_dimensions(what: &'static str, expected: &[Dimension], found: &[Dimension]) -> Result<()> {
    super::check_len(what, expected.len(), found.len())?;
    for (dimension, (&expected, &found)) in expected.iter().zip(found).enumerate() {
        if !super::agree(expected, found) {
            return Err(InferError::SizeMismatch { what, dimension, expected, found });
        }
    }
    Ok(())
}

/// The dimension with this number.
pub(super) fn dimension(what: &'static str, dimensions: &[Dimension], dimension: usize) -> Result<Dimension> {
    let num_dimensions = dimensions.len();
    let error = InferError::DimensionOutOfRange { what, dimension, num_dimensions };
    dimensions.get(dimension).copied().ok_or(error)
}

/// An array of these dimensions in the default layout (descending).
pub(super) fn default_array(element_type: ElementType, dimensions: &[Dimension]) -> Result<Shape> {
    let layout = Layout::descending(dimensions.len());
    ArrayShape::new(element_type, dimensions, layout).map(Shape::Array).map_err(|_| InferError::Overflow)
}

/// Like [`default_array`], as the result of a rule.
pub(super) fn default_result<'a>(element_type: ElementType, dimensions: &[Dimension]) -> Result<Cow<'a, Shape>> {
    default_array(element_type, dimensions).map(Cow::Owned)
}

/// The array with another element type, in its own layout where that is valid, else in the default layout.
pub(super) fn with_type<'a>(array: &ArrayShape, element_type: ElementType) -> Result<Cow<'a, Shape>> {
    match ArrayShape::new(element_type, array.dimensions(), array.layout().clone()) {
        Ok(array) => Ok(Cow::Owned(Shape::Array(array))),
        Err(_) => default_result(element_type, array.dimensions()),
    }
}

/// A tuple of these shapes.
pub(super) fn tuple<'a>(elements: Vec<Shape>) -> Result<Cow<'a, Shape>> {
    let expected = "no more nested tuples than a shape may have";
    Shape::tuple(elements).map(Cow::Owned).map_err(|_| InferError::Unexpected { what: "the result", expected })
}

/// A single shape as it is, several as a tuple.
pub(super) fn one_or_tuple<'a>(mut shapes: Vec<Shape>) -> Result<Cow<'a, Shape>> {
    match shapes.pop() {
        Some(only) if shapes.is_empty() => Ok(Cow::Owned(only)),
        last => {
            shapes.extend(last);
            tuple(shapes)
        }
    }
}

/// The dimensions whose numbers are not in `dropped`.
pub(super) fn without(dimensions: &[Dimension], dropped: &[usize]) -> Vec<Dimension> {
    let kept = dimensions.iter().enumerate().filter(|(number, _)| !dropped.contains(number));
    kept.map(|(_, &dimension)| dimension).collect()
}

/// Whether a shape is `pred[]`.
pub(super) fn is_predicate(shape: &Shape) -> bool {
    shape.array().is_some_and(|array| array.num_dimensions() == 0 && array.element_type() == ElementType::Pred)
}
