//! Values that lie in the same memory, and what a module says of its entry computation.

use super::shapes::{Precision, same};
use crate::attribute::{Alias, Value};
use crate::finding::{Findings, Problem, Result, Severity};
use crate::infer::Parameters;
use crate::memory::Footprint;
use crate::module::{Instruction, Module};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use xla_shape_core::Shape;

/// The part of a shape at an index.
fn part<'s>(shape: &'s Shape, index: &[usize]) -> Option<&'s Shape> {
    index.iter().try_fold(shape, |shape, &number| shape.tuple_shapes()?.get(number))
}

/// An index as HLO text has it.
fn index_text(index: &[usize]) -> String {
    let numbers: alloc::vec::Vec<_> = index.iter().map(|number| format!("{number}")).collect();
    format!("{{{}}}", numbers.join(","))
}

/// The parts of an operand or parameter and of a result that an alias puts at one address.
fn parts<'s>(
    alias: &Alias,
    result: &'s Shape,
    operand: Option<&'s Shape>,
    what: &str,
) -> Result<(&'s Shape, &'s Shape)> {
    let Some(operand) = operand else {
        return Err(Problem::unfit(format!("an alias with one of the {what}s"), format!("number {}", alias.parameter)));
    };
    let of_result = part(result, &alias.result_index)
        .ok_or_else(|| Problem::unfit("an alias of a part that the result has", index_text(&alias.result_index)))?;
    let of_operand = part(operand, &alias.parameter_index).ok_or_else(|| {
        let expected = format!("an alias with a part that {what} {} has", alias.parameter);
        Problem::unfit(expected, index_text(&alias.parameter_index))
    })?;
    Ok((of_operand, of_result))
}

/// Checks that two values have as many bytes, with padding or without.
fn same_size(expected: &Shape, found: &Shape) -> Result<()> {
    let size = |shape: &Shape| shape.array().and_then(Footprint::of);
    match (size(expected), size(found)) {
        (Some(expected), Some(found)) if expected.bytes != found.bytes && expected.data_bytes != found.data_bytes => {
            Err(Problem::ByteSize { expected: expected.bytes, found: found.bytes })
        }
        _ => Ok(()),
    }
}

/// Checks the operands in whose place an instruction writes, and the layouts that it asks of them.
pub(super) fn of_instruction<'m, 'a>(instruction: Instruction<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if let Some(value) = instruction.attribute("output_to_operand_aliasing") {
        findings.check(instruction, operands(instruction, value));
    }
    if let Some(value) = instruction.attribute("operand_layout_constraints") {
        findings.check(instruction, constraints(instruction, value));
    }
}

fn operands(instruction: Instruction<'_, '_>, value: Value<'_>) -> Result<()> {
    let attributes = instruction.attribute("frontend_attributes").map(Value::text).unwrap_or_default();
    let any_shape = attributes.contains("xla_skip_custom_call_alias_shape_check");
    for found in value.aliases()? {
        let operand = instruction.operand(found.parameter);
        // An operand that is not known says nothing.
        if operand.is_some_and(|operand| operand.shape().is_none()) {
            continue;
        }
        let operand = operand.and_then(|operand| operand.shape());
        let (expected, found) = parts(&found, instruction.shape(), operand, "operand")?;
        if !any_shape {
            same(expected, found)?;
        }
    }
    Ok(())
}

fn constraints(instruction: Instruction<'_, '_>, value: Value<'_>) -> Result<()> {
    let shapes = value.shapes()?;
    let (expected, found) = (instruction.operands().len(), shapes.len());
    if expected != found {
        let expected = format!("{expected} shapes in `operand_layout_constraints`, as many as operands");
        return Err(Problem::unfit(expected, format!("{found}")));
    }
    let pairs = instruction.operands().zip(&shapes);
    pairs.into_iter().try_for_each(|(operand, shape)| operand.shape().map_or(Ok(()), |known| same(known, shape)))
}

/// Checks the shapes that a module gives its entry computation, and which results lie where parameters lie.
pub(super) fn of_module<'m, 'a>(
    module: &'m Module<'a>,
    parameters: &mut Parameters,
    precision: Precision,
    findings: &mut Findings<'m, 'a>,
) {
    let Some(entry) = module.entry() else { return };
    let root = entry.root();
    let all: alloc::vec::Vec<_> =
        parameters.of(entry).iter().filter_map(|&number| module.instruction_at(number)).collect();
    if let Some(value) = module.attribute("entry_computation_layout") {
        match value.program_shape() {
            Err(error) => findings.error(root, error.into()),
            Ok(program) if program.parameters.len() != all.len() => {
                let expected = format!("{} parameters in `entry_computation_layout`", all.len());
                // The TPU compiler gives parts of a program that it moved elsewhere the layout of what they were cut from.
                let severity = if precision == Precision::Mixed { Severity::Hint } else { Severity::Error };
                findings.add(severity, root, Problem::unfit(expected, format!("{}", program.parameters.len())), None);
            }
            Ok(program) => {
                for (&parameter, written) in all.iter().zip(&program.parameters) {
                    findings.check(parameter, same(&written.shape, parameter.shape()));
                }
                findings.check(root, same(&program.result, root.shape()));
            }
        }
    }
    let Some(value) = module.attribute("input_output_alias") else { return };
    let aliases = match value.aliases() {
        Ok(aliases) => aliases,
        Err(error) => return findings.error(root, error.into()),
    };
    let mut seen = BTreeSet::new();
    for found in aliases {
        let parameter = all.get(found.parameter).map(|parameter| parameter.shape());
        let pair = parts(&found, root.shape(), parameter, "parameter");
        findings.check(root, pair.and_then(|(expected, found)| same_size(expected, found)));
        if !seen.insert(found.result_index.clone()) {
            let expected = "every part of the result once in `input_output_alias`";
            findings.error(root, Problem::unfit(expected, format!("{} again", index_text(&found.result_index))));
        }
    }
}
