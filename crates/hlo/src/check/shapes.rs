//! Compares written shapes with inferred ones (`ShapeVerifier::CheckShape` in `xla/service/hlo_verifier.cc`).

use crate::finding::{Findings, Problem, Result, Severity};
use crate::infer::{Parameters, with_inferred};
use crate::module::{Instruction, Module};
use crate::parsed::ParsedAttributes;
use crate::schema::opcode::Opcode;
use crate::schema::{Family, FloatRule, Key};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::{ArrayShape, ElementType, Shape, infer};

/// Whether an operation may combine floats of different precision: `HloVerifierOpts::allow_mixed_precision`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Precision {
    /// Only the opcodes for which XLA always allows it.
    Strict,
    /// All opcodes that compute: the module is optimised, and compilers fold conversions into operations.
    Mixed,
}

impl Precision {
    /// Optimised modules, whose layouts XLA has assigned, may mix precisions.
    pub(super) const fn new(is_optimised: bool) -> Self {
        if is_optimised { Self::Mixed } else { Self::Strict }
    }
}

pub(super) fn check<'m>(
    instruction: Instruction<'m>,
    attributes: &ParsedAttributes<'m>,
    parameters: &mut Parameters,
    precision: Precision,
    findings: &mut Findings<'m>,
) {
    findings.check(instruction, written_operands(instruction));
    let opcode = instruction.opcode();
    let mut result = || result_shape(instruction, attributes, parameters, precision);
    let result = match opcode.family() {
        Family::Elementwise if opcode == Opcode::Compare => result().and_then(|()| order(instruction, attributes)),
        Family::Product => {
            narrowing(instruction, findings);
            result()
        }
        // XLA's parser replaces the written shapes of these opcodes by inferred ones, so a wrong shape is only a hint.
        Family::Transfer => {
            if let Err(problem) = result() {
                let severity = if matches!(problem, Problem::Shape { .. }) { Severity::Hint } else { Severity::Error };
                findings.add(severity, instruction, problem, None);
            }
            Ok(())
        }
        Family::Other if opcode == Opcode::Tuple => tuple(instruction),
        Family::Other if opcode == Opcode::Bitcast => result().and_then(|()| bitcast(instruction)),
        Family::Elementwise
        | Family::Reduction
        | Family::Collective
        | Family::Random
        | Family::Call
        | Family::Custom
        | Family::Start
        | Family::Done
        | Family::Other => result(),
    };
    findings.check(instruction, result);
}

/// Checks that the written shape equals the inferred one.
fn result_shape<'m>(
    instruction: Instruction<'m>,
    attributes: &ParsedAttributes<'m>,
    parameters: &mut Parameters,
    precision: Precision,
) -> Result<()> {
    let written = instruction.shape();
    let compare = |inferred: Cow<'_, Shape>| compare(instruction.opcode(), &inferred, written, precision);
    with_inferred(instruction, attributes, parameters, Some(written), compare)?.unwrap_or(Ok(()))?;
    match precision {
        Precision::Strict => one_precision(instruction).and_then(|()| callee_precision(instruction, parameters)),
        Precision::Mixed => Ok(()),
    }
}

/// Checks that the parameters of a `to_apply` computation have exactly the element types of the operands; inference alone accepts
/// floats of another precision.
fn callee_precision(instruction: Instruction<'_>, parameters: &mut Parameters) -> Result<()> {
    if !matches!(instruction.opcode(), Opcode::Map | Opcode::Reduce | Opcode::ReduceWindow) {
        return Ok(());
    }
    let module = instruction.module();
    let callee = instruction.callee(Key::ToApply).filter(|callee| parameters.is_complete(*callee));
    let Some(callee) = callee else { return Ok(()) };
    for (operand, &parameter) in instruction.operands().zip(parameters.get(callee)) {
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

/// Hints at an integer product whose result type is narrower than its operands. XLA accepts it.
fn narrowing<'m>(instruction: Instruction<'m>, findings: &mut Findings<'m>) {
    let bits = |shape: &Shape| shape.array().map(|array| array.element_type()).filter(|found| found.is_integral());
    let widest = instruction.operands().take(2).filter_map(|operand| bits(operand.shape()?)).max_by_key(|t| t.bits());
    if let (Some(operand), Some(result)) = (widest, bits(instruction.shape()))
        && result.bits() < operand.bits()
    {
        let expected = format!("a result at least as wide as the operands, {operand}");
        findings.add(Severity::Hint, instruction, Problem::mismatch(expected, result.name()), None);
    }
}

/// Checks that two shapes are equal except for their layouts (`ShapeUtil::Compatible`).
pub(super) fn same(expected: &Shape, found: &Shape) -> Result<()> {
    if infer::AGREES.compare(expected, found) {
        return Ok(());
    }
    Err(Problem::Shape { expected: bare(expected), found: bare(found) })
}

/// The text of a shape without layouts.
fn bare(shape: &Shape) -> String {
    shape.without_layout().to_string()
}

/// Compares an inferred shape with the written one (`ShapeVerifier::CheckShape`): in optimised modules, the precision of floats may
/// differ unless the opcode only forwards values.
fn compare(opcode: Opcode<'_>, inferred: &Shape, written: &Shape, precision: Precision) -> Result<()> {
    if precision == Precision::Mixed
        && !opcode.float_rule().keeps_precision()
        && infer::AGREES.ignore_fp_precision().compare(inferred, written)
    {
        return Ok(());
    }
    same(inferred, written)
}

/// Checks that all floating-point operands have the same precision (`CheckMixedPrecisionOperands` in
/// `xla/service/hlo_verifier.cc`).
fn one_precision(instruction: Instruction<'_>) -> Result<()> {
    if matches!(instruction.opcode().float_rule(), FloatRule::Any | FloatRule::Forwards) {
        return Ok(());
    }
    let mut first: Option<&ArrayShape> = None;
    let arrays = instruction.operands().filter_map(|operand| operand.shape()?.array());
    for array in arrays.filter(|array| array.element_type().is_floating()) {
        match first {
            None => first = Some(array),
            Some(first) if first.element_type() != array.element_type() => {
                let text = |array: &ArrayShape| bare(&Shape::Array(array.clone()));
                return Err(Problem::MixedPrecision { first: text(first), second: text(array) });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

/// Checks that the shapes written before operands equal those of the instructions (`HloParserImpl::ParseOperands` in
/// `xla/hlo/parser/hlo_parser.cc`).
fn written_operands(instruction: Instruction<'_>) -> Result<()> {
    for (operand, found) in instruction.operands().enumerate() {
        if let (Some(known), Some(written)) =
            (found.instruction().and_then(Instruction::known_shape), found.written_shape())
            && let Err(Problem::Shape { expected, found }) = same(known, written)
        {
            return Err(Problem::OperandShape { operand, expected, found });
        }
    }
    Ok(())
}

/// Checks a tuple element by element, without copying the shapes of its operands (`ShapeVerifier::HandleTuple`).
fn tuple(instruction: Instruction<'_>) -> Result<()> {
    let shape = instruction.shape();
    let found = instruction.operands().len();
    let Some(elements) = shape.tuple_shapes().filter(|elements| elements.len() == found) else {
        let expected = format!("a tuple of {found} elements, one for each operand");
        return Err(Problem::mismatch(expected, bare(shape)));
    };
    let pairs = instruction.operands().zip(elements);
    pairs.into_iter().try_for_each(|(operand, element)| operand.shape().map_or(Ok(()), |shape| same(shape, element)))
}

/// Checks that only custom calls, tuples, get-tuple-elements, loops and parameters of non-entry computations have buffers
/// (`VerifyBuffers` in `xla/service/hlo_verifier.cc`).
pub(super) fn buffers<'m>(module: &'m Module, findings: &mut Findings<'m>) {
    let is_buffer: Vec<_> = module.shapes().iter().map(holds_buffer).collect();
    if !is_buffer.contains(&true) {
        return;
    }
    let has = |found: Instruction<'_>| is_buffer.get(found.shape_number() as usize) == Some(&true);
    for instruction in module.instructions() {
        let takes = match instruction.opcode() {
            Opcode::CustomCall | Opcode::GetTupleElement | Opcode::Tuple | Opcode::While => true,
            Opcode::Parameter => !instruction.computation().is_entry(),
            _ => false,
        };
        let mut operands = instruction.operands().filter_map(|operand| operand.instruction());
        if !takes && (has(instruction) || operands.any(has)) {
            findings
                .error(instruction, Problem::mismatch("arrays", "a buffer, which only custom calls and loops may use"));
        }
    }
}

/// Whether a shape is a buffer or a tuple that contains one.
fn holds_buffer(shape: &Shape) -> bool {
    match shape {
        Shape::Buffer(_) => true,
        Shape::Tuple(_) => shape.tuple_shapes().is_some_and(|elements| elements.iter().any(holds_buffer)),
        _ => false,
    }
}

/// Checks that a comparison's direction and order suit the element type (`CheckElementwiseInstruction`).
fn order(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let Some(array) = instruction.operand(0).and_then(|operand| operand.shape()?.array()) else { return Ok(()) };
    let found = array.element_type();
    let direction = attributes.text(Key::Direction);
    if found.is_complex() && !matches!(direction, "EQ" | "NE") {
        return Err(Problem::mismatch(format!("the direction EQ or NE for elements of {found}"), direction));
    }
    if (found.is_integral() || found == ElementType::Pred)
        && let Some(partial) = [(Key::ComparisonType, "FLOAT"), (Key::Order, "PARTIAL")]
            .into_iter()
            .find(|(key, word)| attributes.text(*key) == *word)
    {
        let found = format!("`{}={}`", partial.0.name(), partial.1);
        return Err(Problem::mismatch(format!("a total order of elements of {}", array.element_type()), found));
    }
    Ok(())
}

/// Checks that a bitcast keeps the number of bytes (`ShapeVerifier::HandleBitcast`).
fn bitcast(instruction: Instruction<'_>) -> Result<()> {
    let Some(operand) = instruction.operand(0).and_then(|operand| operand.shape()) else { return Ok(()) };
    match (operand.byte_size(), instruction.shape().byte_size()) {
        (Some(expected), Some(found)) if expected != found => Err(Problem::ByteSize { expected, found }),
        _ => Ok(()),
    }
}
