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
    let mut aliased = BTreeSet::new();
    if let Some(value) = module.attribute("input_output_alias") {
        match value.aliases() {
            Ok(aliases) => {
                for found in &aliases {
                    let parameter = all.get(found.parameter).map(|parameter| parameter.shape());
                    findings.check(root, of_result(found, root.shape(), parameter));
                }
                findings.check(root, once(&aliases));
                aliased = aliases.into_iter().map(|alias| (alias.parameter, alias.parameter_index)).collect();
            }
            Err(error) => findings.error(root, error.into()),
        }
    }
    if let Some(value) = module.attribute("buffer_donor") {
        findings.check(root, donors(value, &all, &aliased));
    }
}

/// Checks that a result may lie where a parameter lies, or, if it must, is the same array.
fn of_result(alias: &Alias, result: &Shape, parameter: Option<&Shape>) -> Result<()> {
    let (expected, found) = parts(alias, result, parameter, "parameter")?;
    if [expected, found].into_iter().any(|part| part.array().is_none()) {
        return Err(Problem::unfit("an alias of arrays", "one of something else"));
    }
    match alias.must {
        true => same(expected, found),
        false => same_size(expected, found),
    }
}

/// Checks that no part of the result and none of a parameter has two aliases.
fn once(aliases: &[Alias]) -> Result<()> {
    let (mut results, mut parameters) = (BTreeSet::new(), BTreeSet::new());
    for alias in aliases {
        let (result, parameter) = (&alias.result_index, (alias.parameter, &alias.parameter_index));
        if !results.insert(result) {
            let expected = "every part of the result once in `input_output_alias`";
            return Err(Problem::unfit(expected, format!("{} again", index_text(result))));
        }
        if !parameters.insert(parameter) {
            let expected = "every part of a parameter once in `input_output_alias`";
            let found = format!("{} of parameter {} again", index_text(parameter.1), parameter.0);
            return Err(Problem::unfit(expected, found));
        }
    }
    Ok(())
}

/// Checks that the parameters whose memory the program may use for anything are arrays without an alias.
fn donors(
    value: Value<'_>,
    parameters: &[Instruction<'_, '_>],
    aliased: &BTreeSet<(usize, alloc::vec::Vec<usize>)>,
) -> Result<()> {
    for donor in value.donors()? {
        let (number, index) = (donor.0, index_text(&donor.1));
        let Some(parameter) = parameters.get(number) else {
            return Err(Problem::unfit("one of the parameters in `buffer_donor`", format!("number {number}")));
        };
        if part(parameter.shape(), &donor.1).is_none_or(|part| part.array().is_none()) {
            let expected = format!("an array that parameter {number} has in `buffer_donor`");
            return Err(Problem::unfit(expected, index));
        }
        if aliased.contains(&donor) {
            let expected = "no alias of what `buffer_donor` names";
            return Err(Problem::unfit(expected, format!("one of {index} of parameter {number}")));
        }
    }
    Ok(())
}
