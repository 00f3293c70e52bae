//! The written shape against the one that follows from the operands.

use crate::attribute::Value;
use crate::finding::{Findings, Problem, Result, Severity};
use crate::infer::{Parameters, with_inferred};
use crate::module::{Instruction, Module};
use crate::opcode::Opcode;
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, ElementType, Shape, infer};

/// Whether floats of different precision may meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Precision {
    /// Only where XLA's verifier always lets them.
    Strict,
    /// Wherever an instruction computes: the module was optimised, and compilers convert on the way.
    Mixed,
}

impl Precision {
    pub(super) fn of(module: &Module<'_>) -> Self {
        let tiled = |shape: &Shape| shape.array().is_some_and(|array| !array.layout().tiles().is_empty());
        if module.is_scheduled() || module.shapes().iter().any(tiled) { Self::Mixed } else { Self::Strict }
    }
}

pub(super) fn check<'m, 'a>(
    instruction: Instruction<'m, 'a>,
    parameters: &mut Parameters,
    precision: Precision,
    findings: &mut Findings<'m, 'a>,
) {
    findings.check(instruction, written_operands(instruction));
    narrowing(instruction, findings);
    let result = match instruction.opcode() {
        Opcode::Tuple => tuple(instruction),
        Opcode::Compare => of_result(instruction, parameters, precision).and_then(|()| order(instruction)),
        Opcode::Bitcast => of_result(instruction, parameters, precision).and_then(|()| bitcast(instruction)),
        // XLA writes these shapes anew when it reads them.
        Opcode::Send | Opcode::SendDone | Opcode::Recv | Opcode::RecvDone | Opcode::Outfeed => {
            if let Err(problem) = of_result(instruction, parameters, precision) {
                let severity = if matches!(problem, Problem::Shape { .. }) { Severity::Hint } else { Severity::Error };
                findings.add(severity, instruction, problem, None);
            }
            return;
        }
        _ => of_result(instruction, parameters, precision),
    };
    findings.check(instruction, result);
}

/// Checks that what is written follows from the operands.
fn of_result(instruction: Instruction<'_, '_>, parameters: &mut Parameters, precision: Precision) -> Result<()> {
    let written = instruction.shape();
    let compare = |inferred: Cow<'_, Shape>| compare(instruction.opcode(), &inferred, written, precision);
    with_inferred(instruction, parameters, Some(written), compare)?.unwrap_or(Ok(()))?;
    match precision {
        Precision::Strict => one_precision(instruction).and_then(|()| callee_precision(instruction, parameters)),
        Precision::Mixed => Ok(()),
    }
}

/// Checks that the parameters of a computation that is called for elements have the types of the operands, and not only floats where
/// those are floats.
fn callee_precision(instruction: Instruction<'_, '_>, parameters: &mut Parameters) -> Result<()> {
    if !matches!(instruction.opcode(), Opcode::Map | Opcode::Reduce | Opcode::ReduceWindow) {
        return Ok(());
    }
    let module = instruction.module();
    let name = instruction.attribute("to_apply").and_then(|value| value.name().ok());
    let Some(callee) = name.and_then(|name| module.computation(name)) else { return Ok(()) };
    for (operand, &parameter) in instruction.operands().zip(parameters.of(callee)) {
        let operand = operand.shape().and_then(|shape| shape.array());
        let parameter = module.instruction_at(parameter).and_then(|parameter| parameter.shape().array());
        if let (Some(operand), Some(parameter)) = (operand, parameter)
            && operand.element_type() != parameter.element_type()
        {
            let text = |array: &ArrayShape| bare(&Shape::Array(array.clone()));
            return Err(Problem::MixedPrecision { first: text(operand), second: text(parameter) });
        }
    }
    Ok(())
}

/// Hints at a product of integers that may not fit in its result.
fn narrowing<'m, 'a>(instruction: Instruction<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if !matches!(instruction.opcode(), Opcode::Dot | Opcode::Convolution | Opcode::RaggedDot) {
        return;
    }
    let bits = |shape: &Shape| shape.array().map(|array| array.element_type()).filter(|found| found.is_integral());
    let widest = instruction.operands().take(2).filter_map(|operand| bits(operand.shape()?)).max_by_key(|t| t.bits());
    if let (Some(operand), Some(result)) = (widest, bits(instruction.shape()))
        && result.bits() < operand.bits()
    {
        let expected = format!("a result at least as wide as the operands of {operand}");
        findings.add(Severity::Hint, instruction, Problem::unfit(expected, result.name()), None);
    }
}

/// Checks that two shapes are the same in all but layout.
pub(super) fn same(expected: &Shape, found: &Shape) -> Result<()> {
    if infer::AGREES.compare(expected, found) {
        return Ok(());
    }
    Err(Problem::Shape { expected: bare(expected), found: bare(found) })
}

/// A shape as text without its layouts.
fn bare(shape: &Shape) -> String {
    shape.without_layout().to_string()
}

fn compare(opcode: Opcode<'_>, inferred: &Shape, written: &Shape, precision: Precision) -> Result<()> {
    if precision == Precision::Mixed
        && !hands_on(opcode)
        && infer::AGREES.ignore_fp_precision().compare(inferred, written)
    {
        return Ok(());
    }
    same(inferred, written)
}

/// Whether an instruction only hands values on, so that it cannot change their precision.
const fn hands_on(opcode: Opcode<'_>) -> bool {
    matches!(
        opcode,
        Opcode::Bitcast
            | Opcode::Call
            | Opcode::Conditional
            | Opcode::Constant
            | Opcode::CopyDone
            | Opcode::CopyStart
            | Opcode::CustomCall
            | Opcode::DynamicUpdateSlice
            | Opcode::Fusion
            | Opcode::GetTupleElement
            | Opcode::Infeed
            | Opcode::OptBarrier
            | Opcode::Outfeed
            | Opcode::Parameter
            | Opcode::Recv
            | Opcode::RecvDone
            | Opcode::Send
            | Opcode::SendDone
            | Opcode::Tuple
            | Opcode::While
    )
}

/// Whether the operands may be of different precision in any program.
const fn takes_any_precision(opcode: Opcode<'_>) -> bool {
    matches!(
        opcode,
        Opcode::AllGather
            | Opcode::AllGatherDone
            | Opcode::AllGatherStart
            | Opcode::AllReduce
            | Opcode::AllReduceDone
            | Opcode::AllReduceStart
            | Opcode::AsyncDone
            | Opcode::AsyncStart
            | Opcode::AsyncUpdate
            | Opcode::Convolution
            | Opcode::Domain
            | Opcode::Dot
            | Opcode::RaggedDot
            | Opcode::ReducePrecision
            | Opcode::ReduceWindow
            | Opcode::ScaledDot
            | Opcode::Sort
            | Opcode::Other(_)
    ) || hands_on(opcode) && !matches!(opcode, Opcode::DynamicUpdateSlice)
}

/// Checks that all operands that are floats have the same precision.
fn one_precision(instruction: Instruction<'_, '_>) -> Result<()> {
    if takes_any_precision(instruction.opcode()) {
        return Ok(());
    }
    let mut first: Option<&ArrayShape> = None;
    let arrays = instruction.operands().filter_map(|operand| operand.shape()?.array());
    for array in arrays.filter(|array| array.element_type().is_floating()) {
        match first {
            None => first = Some(array),
            // Several inputs of one reduction may differ.
            Some(_) if matches!(instruction.opcode(), Opcode::Reduce | Opcode::Scatter | Opcode::Map) => {}
            Some(first) if first.element_type() != array.element_type() => {
                let text = |array: &ArrayShape| bare(&Shape::Array(array.clone()));
                return Err(Problem::MixedPrecision { first: text(first), second: text(array) });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Checks that the shapes that are written before operands are those of their instructions.
fn written_operands(instruction: Instruction<'_, '_>) -> Result<()> {
    for (operand, found) in instruction.operands().enumerate() {
        if let (Some(known), Some(written)) = (found.instruction(), found.written_shape())
            && let Err(Problem::Shape { expected, found }) = same(known.shape(), written)
        {
            return Err(Problem::OperandShape { operand, expected, found });
        }
    }
    Ok(())
}

/// Checks a tuple element by element, so that nothing is copied.
fn tuple(instruction: Instruction<'_, '_>) -> Result<()> {
    let shape = instruction.shape();
    let found = instruction.operands().len();
    let Some(elements) = shape.tuple_shapes().filter(|elements| elements.len() == found) else {
        let expected = format!("a tuple of {found} elements, as many as operands");
        return Err(Problem::unfit(expected, bare(shape)));
    };
    let pairs = instruction.operands().zip(elements);
    pairs.into_iter().try_for_each(|(operand, element)| operand.shape().map_or(Ok(()), |shape| same(shape, element)))
}

/// Checks that buffers are only handed on, given to custom calls, and kept in loops.
pub(super) fn buffers<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let is_buffer: Vec<_> = module.shapes().iter().map(holds_buffer).collect();
    if !is_buffer.contains(&true) {
        return;
    }
    let has = |found: Instruction<'_, '_>| is_buffer.get(found.shape_number() as usize) == Some(&true);
    for instruction in module.instructions() {
        let takes = match instruction.opcode() {
            Opcode::CustomCall | Opcode::GetTupleElement | Opcode::Tuple | Opcode::While => true,
            Opcode::Parameter => !instruction.computation().is_entry(),
            _ => false,
        };
        let mut operands = instruction.operands().filter_map(|operand| operand.instruction());
        if !takes && (has(instruction) || operands.any(has)) {
            findings.error(instruction, Problem::unfit("arrays", "a buffer, which only custom calls and loops take"));
        }
    }
}

fn holds_buffer(shape: &Shape) -> bool {
    match shape {
        Shape::Buffer(_) => true,
        Shape::Tuple(_) => shape.tuple_shapes().is_some_and(|elements| elements.iter().any(holds_buffer)),
        _ => false,
    }
}

/// Checks that elements are compared in an order that they have.
fn order(instruction: Instruction<'_, '_>) -> Result<()> {
    let Some(array) = instruction.operand(0).and_then(|operand| operand.shape()?.array()) else { return Ok(()) };
    let found = array.element_type();
    let text = |name| instruction.attribute(name).map(Value::text).unwrap_or_default();
    if found.is_complex() && !matches!(text("direction"), "EQ" | "NE") {
        return Err(Problem::unfit(format!("the direction EQ or NE for elements of {found}"), text("direction")));
    }
    if (found.is_integral() || found == ElementType::Pred)
        && let Some(partial) =
            [("type", "FLOAT"), ("order", "PARTIAL")].into_iter().find(|(name, value)| text(name) == *value)
    {
        let found = format!("`{}={}`", partial.0, partial.1);
        return Err(Problem::unfit(format!("a total order of elements of {}", array.element_type()), found));
    }
    Ok(())
}

fn bitcast(instruction: Instruction<'_, '_>) -> Result<()> {
    let Some(operand) = instruction.operand(0).and_then(|operand| operand.shape()) else { return Ok(()) };
    match (operand.byte_size(), instruction.shape().byte_size()) {
        (Some(expected), Some(found)) if expected != found => Err(Problem::ByteSize { expected, found }),
        _ => Ok(()),
    }
}
