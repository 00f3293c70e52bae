//! The shape that a text leaves out: what follows from an instruction's operands and attributes.

use super::{Problem, Result};
use crate::attribute::Value;
use crate::module::Instruction;
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::infer::{self, DotDimensions, InferError};
use xla_shape_core::{ArrayShape, Dimension, ElementClass, ElementType, Layout, Shape, TupleShape};

/// The shape of an instruction's value, from those of its operands.
pub(crate) fn inferred_shape(instruction: Instruction<'_, '_>) -> Result<Shape> {
    let shape = |index: usize| {
        let missing = Problem::OperandCount { at_least: index.saturating_add(1), at_most: None, found: index };
        instruction.operand(index).and_then(|operand| operand.shape()).ok_or(missing)
    };
    let array = |index: usize| {
        let found = shape(index)?;
        let wrong = || Problem::OperandKind { operand: index, expected: "an array", found: found.to_string() };
        found.array().ok_or_else(wrong)
    };
    let value = |name: &'static str| instruction.attribute(name).ok_or(Problem::MissingAttribute { name });
    let numbers = |name: &'static str| instruction.attribute(name).map_or(Ok(Vec::new()), Value::numbers);
    let called = |name: &'static str| {
        let name = value(name)?.name()?;
        let unknown = || Problem::UnknownComputation { name: name.to_owned() };
        instruction.module().computation(name).ok_or_else(unknown)
    };
    let scalar = |element_type| Ok(Shape::Array(ArrayShape::make_scalar_shape(element_type)));
    match instruction.opcode() {
        Opcode::Tuple => {
            let elements: Result<Vec<_>> =
                (0..instruction.operands().len()).map(|index| shape(index).cloned()).collect();
            tuple(elements?)
        }
        Opcode::GetTupleElement => {
            let elements = shape(0)?.tuple_shapes().unwrap_or(&[]);
            let index = value("index")?.number()?;
            elements.get(index).cloned().ok_or(Problem::TupleIndex { index, elements: elements.len() })
        }
        Opcode::Sort if instruction.operands().len() > 1 => {
            let elements: Result<Vec<_>> =
                (0..instruction.operands().len()).map(|index| shape(index).cloned()).collect();
            tuple(elements?)
        }
        Opcode::Copy | Opcode::OptBarrier | Opcode::Domain | Opcode::Sort | Opcode::AddDependency | Opcode::While => {
            shape(0).cloned()
        }
        Opcode::Call => Ok(called("to_apply")?.root().shape().clone()),
        Opcode::Conditional => {
            let name = match instruction.attribute("branch_computations") {
                Some(names) => names.names()?.first().copied().unwrap_or(""),
                None => value("true_computation")?.name()?,
            };
            let unknown = || Problem::UnknownComputation { name: name.to_owned() };
            Ok(instruction.module().computation(name).ok_or_else(unknown)?.root().shape().clone())
        }
        Opcode::AfterAll => Ok(Shape::Token),
        Opcode::PartitionId | Opcode::ReplicaId => scalar(ElementType::U32),
        Opcode::GetDimensionSize => scalar(ElementType::S32),
        Opcode::Compare => elementwise(&[array(0)?, array(1)?], Some(ElementType::Pred)),
        Opcode::IsFinite => elementwise(&[array(0)?], Some(ElementType::Pred)),
        Opcode::Abs | Opcode::Real | Opcode::Imag => {
            let operand = array(0)?;
            elementwise(&[operand], operand.element_type().complex_component_type())
        }
        Opcode::Complex => {
            let parts = array(0)?.element_type();
            let complex = [ElementType::C64, ElementType::C128];
            let complex = complex.into_iter().find(|complex| complex.complex_component_type() == Some(parts));
            elementwise(&[array(0)?, array(1)?], complex)
        }
        Opcode::Select => {
            let (predicate, on_true, on_false) = (array(0)?, array(1)?, array(2)?);
            made(on_true.element_type(), on_true.num_dimensions(), |result| {
                infer::select(predicate.dimensions(), on_true.dimensions(), on_false.dimensions(), result)
            })
        }
        Opcode::Clamp => {
            let (min, operand, max) = (array(0)?, array(1)?, array(2)?);
            made(operand.element_type(), operand.num_dimensions(), |result| {
                infer::clamp(min.dimensions(), operand.dimensions(), max.dimensions(), result)
            })
        }
        Opcode::Broadcast if array(0)?.num_dimensions() == 0 => scalar(array(0)?.element_type()),
        Opcode::Transpose => {
            let (operand, permutation) = (array(0)?, numbers("dimensions")?);
            made(operand.element_type(), operand.num_dimensions(), |result| {
                infer::transpose(operand.dimensions(), &permutation, result)
            })
        }
        Opcode::Reverse => {
            let (operand, dimensions) = (array(0)?, numbers("dimensions")?);
            made(operand.element_type(), operand.num_dimensions(), |result| {
                infer::reverse(operand.dimensions(), &dimensions, result)
            })
        }
        Opcode::Concatenate => {
            let arrays: Result<Vec<_>> = (0..instruction.operands().len()).map(array).collect();
            let arrays = arrays?;
            let operands: Vec<_> = arrays.iter().map(|array| array.dimensions()).collect();
            let dimension = numbers("dimensions")?.first().copied().unwrap_or(0);
            let first = array(0)?;
            made(first.element_type(), first.num_dimensions(), |result| {
                infer::concatenate(&operands, dimension, result)
            })
        }
        Opcode::Pad => {
            let (operand, padding) = (array(0)?, value("padding")?.padding()?);
            made(operand.element_type(), operand.num_dimensions(), |result| {
                infer::pad(operand.dimensions(), &padding, result)
            })
        }
        Opcode::Reduce => {
            let (dimensions, root) = (numbers("dimensions")?, called("to_apply")?.root());
            let inputs = instruction.operands().len() / 2;
            let mut results = Vec::with_capacity(inputs);
            for index in 0..inputs {
                let input = array(index)?;
                let of_root = root.shape().tuple_shapes().map_or(Some(root.shape()), |elements| elements.get(index));
                let element_type = of_root.and_then(|shape| shape.array()).map_or(input, |array| array).element_type();
                let rank = input.num_dimensions().saturating_sub(dimensions.len());
                results
                    .push(made(element_type, rank, |result| infer::reduce(input.dimensions(), &dimensions, result))?);
            }
            if inputs == 1 && root.shape().tuple_shapes().is_none() {
                return results.pop().ok_or(Problem::MissingAttribute { name: "dimensions" });
            }
            tuple(results)
        }
        Opcode::ReduceWindow => {
            let (input, window) = (array(0)?, value("window")?.window()?);
            made(input.element_type(), input.num_dimensions(), |result| {
                infer::reduce_window(input.dimensions(), &window, result)
            })
        }
        Opcode::Dot => {
            let (lhs, rhs) = (array(0)?, array(1)?);
            let (lhs_batch, rhs_batch) = (numbers("lhs_batch_dims")?, numbers("rhs_batch_dims")?);
            let (lhs_contracting, rhs_contracting) =
                (numbers("lhs_contracting_dims")?, numbers("rhs_contracting_dims")?);
            let dimensions = DotDimensions {
                lhs_batch: &lhs_batch,
                rhs_batch: &rhs_batch,
                lhs_contracting: &lhs_contracting,
                rhs_contracting: &rhs_contracting,
            };
            let used = lhs_batch.len().saturating_add(lhs_contracting.len());
            let rank = lhs.num_dimensions().saturating_sub(used).saturating_add(rhs.num_dimensions());
            let rank = rank.saturating_sub(rhs_contracting.len());
            made(wider(lhs.element_type(), rhs.element_type()), rank, |result| {
                infer::dot(lhs.dimensions(), rhs.dimensions(), dimensions, result)
            })
        }
        Opcode::Scatter => shape(0).cloned(),
        opcode if is_elementwise(opcode) => {
            let arrays: Result<Vec<_>> = (0..instruction.operands().len()).map(array).collect();
            elementwise(&arrays?, None)
        }
        _ => Err(Problem::NoInference),
    }
}

/// Whether the result is of the shape of all operands.
fn is_elementwise(opcode: Opcode<'_>) -> bool {
    matches!(
        opcode,
        Opcode::Acos
            | Opcode::Acosh
            | Opcode::Add
            | Opcode::And
            | Opcode::Asin
            | Opcode::Asinh
            | Opcode::Atan2
            | Opcode::Atanh
            | Opcode::Cbrt
            | Opcode::Ceil
            | Opcode::Cosh
            | Opcode::Cosine
            | Opcode::CountLeadingZeros
            | Opcode::Divide
            | Opcode::Erf
            | Opcode::Exponential
            | Opcode::ExponentialMinusOne
            | Opcode::Floor
            | Opcode::Log
            | Opcode::LogPlusOne
            | Opcode::Logistic
            | Opcode::Map
            | Opcode::Maximum
            | Opcode::Minimum
            | Opcode::Multiply
            | Opcode::Negate
            | Opcode::Not
            | Opcode::Or
            | Opcode::Popcnt
            | Opcode::Power
            | Opcode::Remainder
            | Opcode::RoundNearestAfz
            | Opcode::RoundNearestEven
            | Opcode::Rsqrt
            | Opcode::ShiftLeft
            | Opcode::ShiftRightArithmetic
            | Opcode::ShiftRightLogical
            | Opcode::Sign
            | Opcode::Sine
            | Opcode::Sinh
            | Opcode::Sqrt
            | Opcode::Subtract
            | Opcode::Tan
            | Opcode::Tanh
            | Opcode::Xor
    )
}

fn elementwise(operands: &[&ArrayShape], element_type: Option<ElementType>) -> Result<Shape> {
    let first = operands.first().ok_or(InferError::NoOperands)?;
    let dimensions: Vec<_> = operands.iter().map(|array| array.dimensions()).collect();
    let of_operands = operands.iter().map(|array| array.element_type()).fold(first.element_type(), wider);
    let shape = made(element_type.unwrap_or(of_operands), first.num_dimensions(), |result| {
        infer::elementwise(&dimensions, result)
    })?;
    // One operand keeps its layout.
    match (operands, shape) {
        ([operand], Shape::Array(shape)) => {
            let layout = operand.layout().clone();
            Ok(Shape::Array(shape.clone().with_layout(layout).unwrap_or(shape)))
        }
        (_, shape) => Ok(shape),
    }
}

/// Of two floats of different precision, the one with more.
fn wider(a: ElementType, b: ElementType) -> ElementType {
    let both = a.class() == ElementClass::Float && b.class() == ElementClass::Float;
    if both && b.bits() > a.bits() { b } else { a }
}

/// An array with the default layout and the dimensions that a rule gives.
fn made(
    element_type: ElementType,
    num_dimensions: usize,
    rule: impl FnOnce(&mut [Dimension]) -> core::result::Result<(), InferError>,
) -> Result<Shape> {
    let mut dimensions = vec![Dimension::Unbounded; num_dimensions];
    rule(&mut dimensions)?;
    let array = ArrayShape::new(element_type, &dimensions, Layout::descending(num_dimensions));
    array.map(Shape::Array).map_err(Problem::Invalid)
}

fn tuple(elements: Vec<Shape>) -> Result<Shape> {
    TupleShape::new(elements).map(Shape::Tuple).map_err(Problem::Invalid)
}
