//! What each opcode asks of its operands, its attributes and its shape.

use super::{Problem, Result, same};
use crate::{Computation, DimLabels, Instruction, Opcode, Value};
use alloc::borrow::ToOwned;
use alloc::string::ToString;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::Dimension;
use xla_shape_core::infer::{
    self, ConvolutionDimensions, ConvolutionGroups, DotDimensions, InferError, WindowDimension,
};
use xla_shape_core::{ArrayShape, Shape};
use xla_shape_core::{ElementClass, ElementType};

/// The shapes of an instruction's operands, and what its rule asks of them.
struct Rule<'m, 'a, 'p> {
    instruction: Instruction<'m, 'a>,
    /// The parameters of each computation.
    parameters: &'p [Vec<Instruction<'m, 'a>>],
    operands: Vec<&'m Shape>,
}

pub(crate) fn check<'m, 'a>(instruction: Instruction<'m, 'a>, parameters: &[Vec<Instruction<'m, 'a>>]) -> Result<()> {
    // An operand that is not known says nothing.
    let Some(operands) = instruction.operands().map(|operand| operand.shape()).collect::<Option<Vec<_>>>() else {
        return Ok(());
    };
    let rule = Rule { instruction, parameters, operands };
    match instruction.opcode() {
        Opcode::Acos
        | Opcode::Acosh
        | Opcode::Asin
        | Opcode::Asinh
        | Opcode::Atanh
        | Opcode::Cbrt
        | Opcode::Ceil
        | Opcode::Copy
        | Opcode::Cosh
        | Opcode::Cosine
        | Opcode::CountLeadingZeros
        | Opcode::Erf
        | Opcode::Exponential
        | Opcode::ExponentialMinusOne
        | Opcode::Floor
        | Opcode::Log
        | Opcode::LogPlusOne
        | Opcode::Logistic
        | Opcode::Negate
        | Opcode::Not
        | Opcode::Popcnt
        | Opcode::ReducePrecision
        | Opcode::RoundNearestAfz
        | Opcode::RoundNearestEven
        | Opcode::Rsqrt
        | Opcode::Sign
        | Opcode::Sine
        | Opcode::Sinh
        | Opcode::Sqrt
        | Opcode::Tan
        | Opcode::Tanh => rule.elementwise(1, ResultType::OfOperands),
        Opcode::Add
        | Opcode::And
        | Opcode::Atan2
        | Opcode::Divide
        | Opcode::Maximum
        | Opcode::Minimum
        | Opcode::Multiply
        | Opcode::Or
        | Opcode::Power
        | Opcode::Remainder
        | Opcode::ShiftLeft
        | Opcode::ShiftRightArithmetic
        | Opcode::ShiftRightLogical
        | Opcode::Subtract
        | Opcode::Xor => rule.elementwise(2, ResultType::OfOperands),
        Opcode::Compare => rule.compare(),
        Opcode::IsFinite => rule.elementwise(1, ResultType::Is(ElementType::Pred)),
        Opcode::Complex => rule.elementwise(2, ResultType::ComplexOfOperands),
        Opcode::Convert => rule.elementwise(1, ResultType::Any),
        Opcode::Abs | Opcode::Imag | Opcode::Real => rule.elementwise(1, ResultType::Component),
        Opcode::Select => rule.select(),
        Opcode::Clamp => rule.clamp(),
        Opcode::Broadcast => rule.broadcast(),
        Opcode::Reshape => rule.reshape(),
        Opcode::Transpose => rule.transpose(),
        Opcode::Reverse => rule.reverse(),
        Opcode::Slice => rule.slice(),
        Opcode::Pad => rule.pad(),
        Opcode::Concatenate => rule.concatenate(),
        Opcode::Reduce => rule.reduce(),
        Opcode::ReduceWindow => rule.reduce_window(),
        Opcode::Dot => rule.dot(),
        Opcode::Convolution => rule.convolution(),
        Opcode::Bitcast => rule.bitcast(),
        Opcode::BitcastConvert => rule.bitcast_convert(),
        Opcode::GetTupleElement => rule.get_tuple_element(),
        Opcode::Tuple => rule.tuple(),
        Opcode::DynamicSlice => rule.dynamic_slice(),
        Opcode::DynamicUpdateSlice => rule.dynamic_update_slice(),
        Opcode::Iota => rule.iota(),
        Opcode::Call | Opcode::Fusion => rule.call(),
        Opcode::While => rule.while_loop(),
        Opcode::Conditional => rule.conditional(),
        Opcode::AddDependency => rule.first_of(2),
        Opcode::CopyDone => rule.copy_done(),
        Opcode::Sort => rule.sort(),
        Opcode::PartitionId | Opcode::ReplicaId | Opcode::RngGetAndUpdateState => rule.count(0, Some(0)),
        Opcode::AllGatherDone
        | Opcode::AllReduceDone
        | Opcode::AsyncDone
        | Opcode::Cholesky
        | Opcode::CollectivePermuteDone
        | Opcode::CopyStart
        | Opcode::Domain
        | Opcode::Fft
        | Opcode::GetDimensionSize
        | Opcode::Infeed
        | Opcode::Recv
        | Opcode::RecvDone
        | Opcode::RngBitGenerator
        | Opcode::SendDone
        | Opcode::SliceDone
        | Opcode::Topk => rule.count(1, Some(1)),
        Opcode::Gather
        | Opcode::Outfeed
        | Opcode::Send
        | Opcode::SetDimensionSize
        | Opcode::StochasticConvert
        | Opcode::TriangularSolve => rule.count(2, Some(2)),
        Opcode::BatchNormTraining | Opcode::RaggedDot | Opcode::SelectAndScatter => rule.count(3, Some(3)),
        Opcode::BatchNormGrad | Opcode::BatchNormInference => rule.count(5, Some(5)),
        Opcode::Map => rule.count(1, None),
        Opcode::Scatter => rule.count(3, None),
        Opcode::OptBarrier => rule.first_of(1),
        _ => Ok(()),
    }
}

/// The element type of an elementwise operation's result.
#[derive(Clone, Copy)]
enum ResultType {
    OfOperands,
    /// Of complex operands, the type of their parts.
    Component,
    /// The one whose parts have the type of the operands.
    ComplexOfOperands,
    Is(ElementType),
    Any,
}

impl<'m, 'a, 'p> Rule<'m, 'a, 'p> {
    fn count(&self, at_least: usize, at_most: Option<usize>) -> Result<()> {
        let found = self.operands.len();
        if found < at_least || at_most.is_some_and(|at_most| found > at_most) {
            return Err(Problem::OperandCount { at_least, at_most, found });
        }
        Ok(())
    }

    fn operand(&self, operand: usize) -> Result<&'m Shape> {
        let missing = || Problem::OperandCount { at_least: operand.saturating_add(1), at_most: None, found: operand };
        self.operands.get(operand).copied().ok_or_else(missing)
    }

    fn array(&self, operand: usize) -> Result<&'m ArrayShape> {
        let shape = self.operand(operand)?;
        shape.array().ok_or_else(|| Problem::OperandKind { operand, expected: "an array", found: shape.to_string() })
    }

    fn arrays(&self) -> Result<Vec<&'m ArrayShape>> {
        (0..self.operands.len()).map(|operand| self.array(operand)).collect()
    }

    /// Checks that an operand has this element type. XLA lets floats of different precision meet.
    fn has_type(&self, operand: usize, expected: ElementType) -> Result<()> {
        let found = self.array(operand)?.element_type();
        if infer::element_types_agree(found, expected) {
            Ok(())
        } else {
            Err(Problem::OperandType { operand, expected, found })
        }
    }

    fn is_scalar(&self, operand: usize) -> Result<()> {
        let found = self.array(operand)?;
        if found.num_dimensions() == 0 {
            return Ok(());
        }
        Err(Problem::OperandKind { operand, expected: "a scalar", found: found.to_string() })
    }

    /// The element type that the result must have if it is computed from that of the operands: theirs, or `None` for
    /// floats of different precision, whose result has the one that the program chose.
    fn result_type(&self) -> Result<Option<ElementType>> {
        let first = self.array(0)?.element_type();
        let all = self.operands.iter().filter_map(|shape| shape.array()).all(|array| array.element_type() == first);
        Ok((all || first.class() != ElementClass::Float).then_some(first))
    }

    fn value(&self, name: &'static str) -> Result<Value<'m>> {
        self.instruction.attribute(name).ok_or(Problem::MissingAttribute { name })
    }

    /// A list of numbers that must be there.
    fn listed(&self, name: &'static str) -> Result<Vec<usize>> {
        Ok(self.value(name)?.numbers()?)
    }

    /// A list of numbers; none if the attribute is not there.
    fn numbers(&self, name: &'static str) -> Result<Vec<usize>> {
        Ok(self.instruction.attribute(name).map_or(Ok(Vec::new()), Value::numbers)?)
    }

    fn number_or(&self, name: &'static str, default: usize) -> Result<usize> {
        Ok(self.instruction.attribute(name).map_or(Ok(default), Value::number)?)
    }

    fn result(&self) -> Result<&'m ArrayShape> {
        let shape = self.instruction.shape();
        shape.array().ok_or_else(|| Problem::Shape {
            expected: "of an array".to_owned(),
            found: shape.without_layout().to_string(),
        })
    }

    /// Checks the written shape, of an array, against what a rule of inference gives.
    fn is(
        &self,
        element_type: Option<ElementType>,
        num_dimensions: usize,
        rule: impl FnOnce(&mut [Dimension]) -> core::result::Result<(), InferError>,
    ) -> Result<()> {
        let mut dimensions = vec![Dimension::Unbounded; num_dimensions];
        rule(&mut dimensions)?;
        let result = self.result()?;
        self.matches(result, element_type, &dimensions)
    }

    fn matches(&self, result: &ArrayShape, element_type: Option<ElementType>, dimensions: &[Dimension]) -> Result<()> {
        let element_type = element_type.unwrap_or(result.element_type());
        if element_type == result.element_type() && infer::all_agree(dimensions, result.dimensions()) {
            return Ok(());
        }
        let expected = Array { element_type, dimensions }.to_string();
        Err(Problem::Shape { expected, found: result.without_layout().to_string() })
    }

    fn elementwise(&self, operands: usize, result: ResultType) -> Result<()> {
        self.count(operands, Some(operands))?;
        // XLA also copies tuples and tokens.
        if self.instruction.opcode() == Opcode::Copy && self.operand(0)?.array().is_none() {
            return self.first_of(1);
        }
        let arrays = self.arrays()?;
        let element_type = self.array(0)?.element_type();
        if !matches!(result, ResultType::Any) {
            (1..operands).try_for_each(|operand| self.has_type(operand, element_type))?;
        }
        let element_type = match result {
            ResultType::Component if element_type.class() == ElementClass::Complex => {
                element_type.complex_component_type()
            }
            ResultType::ComplexOfOperands => {
                let parts = |complex: &ElementType| complex.complex_component_type() == Some(element_type);
                [ElementType::C64, ElementType::C128].into_iter().find(parts)
            }
            ResultType::OfOperands | ResultType::Component => self.result_type()?,
            ResultType::Is(element_type) => Some(element_type),
            ResultType::Any => None,
        };
        let dimensions: Vec<_> = arrays.iter().map(|array| array.dimensions()).collect();
        self.is(element_type, self.array(0)?.num_dimensions(), |result| infer::elementwise(&dimensions, result))
    }

    fn compare(&self) -> Result<()> {
        self.value("direction")?;
        self.elementwise(2, ResultType::Is(ElementType::Pred))
    }

    fn select(&self) -> Result<()> {
        self.count(3, Some(3))?;
        // Tuples are selected by a scalar.
        if self.operand(1)?.array().is_none() {
            return same(self.operand(1)?, self.instruction.shape());
        }
        let on_true = self.array(1)?;
        self.has_type(0, ElementType::Pred)?;
        self.has_type(2, on_true.element_type())?;
        let (predicate, on_false) = (self.array(0)?, self.array(2)?);
        self.is(Some(on_true.element_type()), on_true.num_dimensions(), |result| {
            infer::select(predicate.dimensions(), on_true.dimensions(), on_false.dimensions(), result)
        })
    }

    fn clamp(&self) -> Result<()> {
        self.count(3, Some(3))?;
        let (min, array, max) = (self.array(0)?, self.array(1)?, self.array(2)?);
        self.has_type(0, array.element_type())?;
        self.has_type(2, array.element_type())?;
        self.is(Some(array.element_type()), array.num_dimensions(), |result| {
            infer::clamp(min.dimensions(), array.dimensions(), max.dimensions(), result)
        })
    }

    fn broadcast(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, result) = (self.array(0)?, self.result()?);
        infer::broadcast(operand.dimensions(), &self.numbers("dimensions")?, result.dimensions())?;
        self.matches(result, Some(operand.element_type()), result.dimensions())
    }

    fn reshape(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, result) = (self.array(0)?, self.result()?);
        infer::reshape(operand.dimensions(), result.dimensions())?;
        self.matches(result, Some(operand.element_type()), result.dimensions())
    }

    fn transpose(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, permutation) = (self.array(0)?, self.listed("dimensions")?);
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::transpose(operand.dimensions(), &permutation, result)
        })
    }

    fn reverse(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, dimensions) = (self.array(0)?, self.listed("dimensions")?);
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::reverse(operand.dimensions(), &dimensions, result)
        })
    }

    fn slice(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, slices) = (self.array(0)?, self.value("slice")?.slice()?);
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::slice(operand.dimensions(), &slices, result)
        })
    }

    fn pad(&self) -> Result<()> {
        self.count(2, Some(2))?;
        let (operand, padding) = (self.array(0)?, self.value("padding")?.padding()?);
        self.has_type(1, operand.element_type())?;
        self.is_scalar(1)?;
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::pad(operand.dimensions(), &padding, result)
        })
    }

    fn concatenate(&self) -> Result<()> {
        self.count(1, None)?;
        let first = self.array(0)?;
        (1..self.operands.len()).try_for_each(|operand| self.has_type(operand, first.element_type()))?;
        let arrays = self.arrays()?;
        let operands: Vec<_> = arrays.iter().map(|array| array.dimensions()).collect();
        let dimensions = self.value("dimensions")?;
        let &[dimension] = dimensions.numbers()?.as_slice() else {
            return Err(dimensions.is_not("a list of one number").into());
        };
        self.is(Some(first.element_type()), first.num_dimensions(), |result| {
            infer::concatenate(&operands, dimension, result)
        })
    }

    /// Several inputs that are reduced together, then as many initial values: one result, or a tuple of them.
    fn reductions(
        &self,
        num_dimensions: impl Fn(&ArrayShape) -> usize,
        rule: impl Fn(&[Dimension], &mut [Dimension]) -> core::result::Result<(), InferError>,
    ) -> Result<()> {
        self.count(2, None)?;
        let inputs = self.operands.len() / 2;
        self.count(inputs.saturating_mul(2), Some(inputs.saturating_mul(2)))?;
        let results: Vec<&Shape> = match self.instruction.shape().tuple_shapes() {
            Some(elements) => elements.iter().collect(),
            None => vec![self.instruction.shape()],
        };
        if results.len() != inputs {
            return Err(Problem::TupleIndex { index: inputs, elements: results.len() });
        }
        if self.instruction.attribute("to_apply").is_some()
            && let Some(computation) = self.computation("to_apply")?
        {
            self.parameters(computation, self.operands.len())?;
        }
        for (operand, result) in results.into_iter().enumerate() {
            let input = self.array(operand)?;
            self.has_type(operand.saturating_add(inputs), input.element_type())?;
            self.is_scalar(operand.saturating_add(inputs))?;
            let mut dimensions = vec![Dimension::Unbounded; num_dimensions(input)];
            rule(input.dimensions(), &mut dimensions)?;
            let Some(result) = result.array() else { return same(self.operand(operand)?, result) };
            // The result has the element type of the computation's, which may be wider.
            let is_other = !infer::element_types_agree(input.element_type(), result.element_type());
            self.matches(result, is_other.then_some(input.element_type()), &dimensions)?;
        }
        Ok(())
    }

    fn reduce(&self) -> Result<()> {
        let dimensions = self.listed("dimensions")?;
        self.reductions(
            |input| input.num_dimensions().saturating_sub(dimensions.len()),
            |input, result| infer::reduce(input, &dimensions, result),
        )
    }

    fn reduce_window(&self) -> Result<()> {
        let window = match self.instruction.attribute("window") {
            Some(window) => window.window()?,
            None => vec![WindowDimension::ONE; self.array(0)?.num_dimensions()],
        };
        self.reductions(ArrayShape::num_dimensions, |input, result| infer::reduce_window(input, &window, result))
    }

    fn dot(&self) -> Result<()> {
        self.count(2, None)?;
        // Older programs have operands of which only some elements are stored; there is no rule for them here.
        if self.instruction.attribute("sparsity").is_some() {
            return Ok(());
        }
        let (lhs, rhs) = (self.array(0)?, self.array(1)?);
        let (lhs_batch, rhs_batch) = (self.numbers("lhs_batch_dims")?, self.numbers("rhs_batch_dims")?);
        let lhs_contracting = self.numbers("lhs_contracting_dims")?;
        let rhs_contracting = self.numbers("rhs_contracting_dims")?;
        let dimensions = DotDimensions {
            lhs_batch: &lhs_batch,
            rhs_batch: &rhs_batch,
            lhs_contracting: &lhs_contracting,
            rhs_contracting: &rhs_contracting,
        };
        let both = lhs.num_dimensions().saturating_add(rhs.num_dimensions());
        let gone = lhs_batch.len().saturating_add(lhs_contracting.len().saturating_mul(2));
        self.is(None, both.saturating_sub(gone), |result| {
            infer::dot(lhs.dimensions(), rhs.dimensions(), dimensions, result)
        })
    }

    fn convolution(&self) -> Result<()> {
        self.count(2, Some(2))?;
        let (input, kernel) = (self.array(0)?, self.array(1)?);
        let DimLabels { input: of_input, kernel: of_kernel, output } = self.value("dim_labels")?.dim_labels()?;
        let dimensions = ConvolutionDimensions {
            input_batch: of_input.first,
            input_feature: of_input.second,
            input_spatial: &of_input.spatial,
            kernel_input_feature: of_kernel.first,
            kernel_output_feature: of_kernel.second,
            kernel_spatial: &of_kernel.spatial,
            output_batch: output.first,
            output_feature: output.second,
            output_spatial: &output.spatial,
        };
        let window = self.instruction.attribute("window").map_or(Ok(Vec::new()), Value::window)?;
        let groups = ConvolutionGroups {
            feature: self.number_or("feature_group_count", 1)? as u64,
            batch: self.number_or("batch_group_count", 1)? as u64,
        };
        self.is(None, output.spatial.len().saturating_add(2), |result| {
            infer::convolution(input.dimensions(), kernel.dimensions(), dimensions, &window, groups, result)
        })
    }

    fn bitcast(&self) -> Result<()> {
        self.count(1, Some(1))?;
        match (self.operand(0)?.byte_size(), self.instruction.shape().byte_size()) {
            (Ok(expected), Ok(found)) if expected != found => Err(Problem::ByteSize { expected, found }),
            _ => Ok(()),
        }
    }

    fn bitcast_convert(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let (operand, result) = (self.array(0)?, self.result()?);
        let bits = |element_type| match element_type {
            // A `pred` takes a byte, unlike numbers of less than eight bits, which count as packed here.
            ElementType::Pred => 8,
            other => ElementType::bits(other),
        };
        let bytes = |array: &ArrayShape| array.elements()?.checked_mul(bits(array.element_type()))?.checked_div(8);
        match (bytes(operand), bytes(result)) {
            (Some(expected), Some(found)) if expected != found => Err(Problem::ByteSize { expected, found }),
            _ => Ok(()),
        }
    }

    fn get_tuple_element(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let tuple = self.operand(0)?;
        let Some(elements) = tuple.tuple_shapes() else {
            return Err(Problem::OperandKind { operand: 0, expected: "a tuple", found: tuple.to_string() });
        };
        let index = self.value("index")?.number()?;
        let element = elements.get(index).ok_or(Problem::TupleIndex { index, elements: elements.len() })?;
        same(element, self.instruction.shape())
    }

    fn copy_done(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let tuple = self.operand(0)?;
        match tuple.tuple_shapes() {
            Some([copy, ..]) => same(copy, self.instruction.shape()),
            _ => Err(Problem::OperandKind {
                operand: 0,
                expected: "the tuple of a copy-start",
                found: tuple.to_string(),
            }),
        }
    }

    fn tuple(&self) -> Result<()> {
        let shape = self.instruction.shape();
        let elements = shape.tuple_shapes().unwrap_or(&[]);
        if elements.len() != self.operands.len() || shape.tuple_shapes().is_none() {
            return Err(Problem::OperandCount {
                at_least: elements.len(),
                at_most: Some(elements.len()),
                found: self.operands.len(),
            });
        }
        self.operands.iter().zip(elements).try_for_each(|(operand, element)| same(operand, element))
    }

    /// The operands in another order: one array, or a tuple of them.
    fn sort(&self) -> Result<()> {
        self.count(1, None)?;
        if self.operands.len() == 1 { self.first_of(1) } else { self.tuple() }
    }

    fn dynamic_slice(&self) -> Result<()> {
        let operand = self.array(0)?;
        self.start_indices(1, operand.num_dimensions())?;
        let sizes = self.numbers("dynamic_slice_sizes")?.into_iter().map(|size| size as u64).collect::<Vec<_>>();
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::dynamic_slice(operand.dimensions(), &sizes, result)
        })
    }

    fn dynamic_update_slice(&self) -> Result<()> {
        let (operand, update) = (self.array(0)?, self.array(1)?);
        self.start_indices(2, operand.num_dimensions())?;
        self.has_type(1, operand.element_type())?;
        self.is(Some(operand.element_type()), operand.num_dimensions(), |result| {
            infer::dynamic_update_slice(operand.dimensions(), update.dimensions(), result)
        })
    }

    /// From operand `first` on, a scalar for each dimension; older programs have one vector.
    fn start_indices(&self, first: usize, num_dimensions: usize) -> Result<()> {
        if self.operands.get(first).and_then(|shape| shape.array()).is_some_and(|array| array.num_dimensions() == 1) {
            return self.count(first.saturating_add(1), Some(first.saturating_add(1)));
        }
        let count = first.saturating_add(num_dimensions);
        self.count(count, Some(count))?;
        (first..count).try_for_each(|operand| self.is_scalar(operand))
    }

    fn iota(&self) -> Result<()> {
        self.count(0, Some(0))?;
        Ok(infer::iota(self.value("iota_dimension")?.number()?, self.result()?.dimensions())?)
    }

    /// The computation that an attribute names; of a part of a module it may not be there.
    fn computation(&self, name: &'static str) -> Result<Option<Computation<'m, 'a>>> {
        self.computation_named(self.value(name)?.name()?)
    }

    fn computation_named(&self, name: &str) -> Result<Option<Computation<'m, 'a>>> {
        let module = self.instruction.module();
        match module.computation(name) {
            None if module.name().is_some() => Err(Problem::UnknownComputation { name: name.to_owned() }),
            found => Ok(found),
        }
    }

    /// The parameters of a computation, which must be so many.
    fn parameters(&self, computation: Computation<'m, 'a>, expected: usize) -> Result<&'p [Instruction<'m, 'a>]> {
        let parameters = self.parameters.get(computation.number() as usize).map_or(&[][..], Vec::as_slice);
        let found = parameters.len();
        if found == expected {
            return Ok(parameters);
        }
        Err(Problem::ParameterCount { computation: computation.name().to_owned(), expected, found })
    }

    /// Checks that a computation takes these operands.
    fn takes(&self, computation: Computation<'m, 'a>, operands: &[&Shape]) -> Result<()> {
        for parameter in self.parameters(computation, operands.len())? {
            let operand = parameter.parameter_number().and_then(|number| operands.get(number));
            operand.map_or(Ok(()), |operand| same(operand, parameter.shape()))?;
        }
        Ok(())
    }

    fn call(&self) -> Result<()> {
        let name = if self.instruction.opcode() == Opcode::Call { "to_apply" } else { "calls" };
        if let Some(computation) = self.computation(name)? {
            self.takes(computation, &self.operands)?;
            same(computation.root().shape(), self.instruction.shape())?;
        }
        Ok(())
    }

    fn while_loop(&self) -> Result<()> {
        self.count(1, Some(1))?;
        let condition = Shape::Array(ArrayShape::make_scalar_shape(ElementType::Pred));
        for (name, result) in [("condition", &condition), ("body", self.operand(0)?)] {
            if let Some(computation) = self.computation(name)? {
                self.takes(computation, &self.operands)?;
                same(result, computation.root().shape())?;
            }
        }
        self.first_of(1)
    }

    /// What chooses a branch, and an operand for each branch.
    fn conditional(&self) -> Result<()> {
        let names = match self.instruction.attribute("branch_computations") {
            Some(names) => names.names()?,
            None => vec![self.value("true_computation")?.name()?, self.value("false_computation")?.name()?],
        };
        let count = names.len().saturating_add(1);
        self.count(count, Some(count))?;
        self.is_scalar(0)?;
        for (name, operand) in names.into_iter().zip(self.operands.iter().skip(1)) {
            if let Some(computation) = self.computation_named(name)? {
                self.takes(computation, &[operand])?;
                same(computation.root().shape(), self.instruction.shape())?;
            }
        }
        Ok(())
    }

    /// The result is the first operand.
    fn first_of(&self, operands: usize) -> Result<()> {
        self.count(operands, Some(operands))?;
        same(self.operand(0)?, self.instruction.shape())
    }
}

/// An array of this element type and these dimensions.
struct Array<'d> {
    element_type: ElementType,
    dimensions: &'d [Dimension],
}

impl fmt::Display for Array<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element_type)?;
        for (i, dimension) in self.dimensions.iter().enumerate() {
            write!(f, "{}{dimension}", if i > 0 { "," } else { "" })?;
        }
        f.write_str("]")
    }
}
