//! Aliases between operands, parameters and results, and the layout of the entry computation
//! (`ShapeVerifier::VerifyEntryComputationLayout` in `xla/service/hlo_verifier.cc`, `HloInputOutputAliasConfig::Verify` in
//! `xla/hlo/ir/hlo_input_output_alias_config.cc`, `HloBufferDonorConfig::Verify` in `xla/hlo/ir/hlo_input_output_alias_config.cc`).

use super::shapes::{Precision, same};
use crate::attribute::Alias;
use crate::finding::{Findings, Problem, Result, Severity};
use crate::infer::Parameters;
use crate::memory::Footprint;
use crate::module::{Instruction, Module};
use crate::parsed::ParsedAttributes;
use crate::schema::Key;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use xla_shape_core::Shape;
use xla_shape_core::sorting::set_of;

/// The subshape at a shape index.
fn part<'s>(shape: &'s Shape, index: &[usize]) -> Option<&'s Shape> {
    index.iter().try_fold(shape, |shape, &number| shape.tuple_shapes()?.get(number))
}

/// A shape index as HLO text writes it.
fn index_text(index: &[usize]) -> String {
    let numbers: alloc::vec::Vec<_> = index.iter().map(|number| format!("{number}")).collect();
    format!("{{{}}}", numbers.join(","))
}

/// The parts of an operand or parameter and of a result that share a buffer.
fn parts<'s>(
    alias: &Alias,
    result: &'s Shape,
    operand: Option<&'s Shape>,
    what: &str,
) -> Result<(&'s Shape, &'s Shape)> {
    let Some(operand) = operand else {
        return Err(Problem::mismatch(
            format!("an alias with an existing {what}"),
            format!("number {}", alias.parameter),
        ));
    };
    let result_part = part(result, &alias.result_index).ok_or_else(|| {
        Problem::mismatch("an alias of an existing part of the result", index_text(&alias.result_index))
    })?;
    let operand_part = part(operand, &alias.parameter_index).ok_or_else(|| {
        let expected = format!("an alias with an existing part of {what} {}", alias.parameter);
        Problem::mismatch(expected, index_text(&alias.parameter_index))
    })?;
    Ok((operand_part, result_part))
}

/// Checks that two values have the same size, with padding or without.
fn same_size(expected: &Shape, found: &Shape) -> Result<()> {
    let size = |shape: &Shape| shape.array().and_then(Footprint::new);
    match (size(expected), size(found)) {
        (Some(expected), Some(found)) if expected.bytes != found.bytes && expected.data_bytes != found.data_bytes => {
            Err(Problem::ByteSize { expected: expected.bytes, found: found.bytes })
        }
        _ => Ok(()),
    }
}

/// Checks an instruction's `output_to_operand_aliasing` (`ShapeVerifier::HandleCustomCall` and `HandleFusion`) and
/// `operand_layout_constraints`.
pub(super) fn check<'m>(instruction: Instruction<'m>, attributes: &ParsedAttributes<'m>, findings: &mut Findings<'m>) {
    findings.check(instruction, operands(instruction, attributes));
    findings.check(instruction, constraints(instruction, attributes));
}

/// Checks that each aliased part of the result has the shape of the operand's part.
fn operands(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let any_shape = attributes.text(Key::FrontendAttributes).contains("xla_skip_custom_call_alias_shape_check");
    // The TPU compiler writes SparseCore work as an asynchronous operation in another thread, whose start loses its operands. In the short form, the
    // aliases belong to the wrapped operation, which keeps its operands.
    let is_elsewhere = attributes.has(Key::AsyncExecutionThread);
    for found in attributes.aliases(Key::OutputToOperandAliasing)?.unwrap_or_default() {
        let operand = instruction.operand(found.parameter);
        if operand.is_none() && is_elsewhere {
            continue;
        }
        // The shape of the operand is unknown.
        if operand.is_some_and(|operand| operand.shape().is_none()) {
            continue;
        }
        let operand = operand.and_then(|operand| operand.shape());
        let (expected, found) = parts(found, instruction.shape(), operand, "operand")?;
        if !any_shape {
            same(expected, found)?;
        }
    }
    Ok(())
}

/// Checks that `operand_layout_constraints` has one compatible shape for each operand.
fn constraints(instruction: Instruction<'_>, attributes: &ParsedAttributes<'_>) -> Result<()> {
    let Some(shapes) = attributes.shapes(Key::OperandLayoutConstraints)? else { return Ok(()) };
    let (expected, found) = (instruction.operands().len(), shapes.len());
    if expected != found {
        let expected = format!("{expected} shapes in `operand_layout_constraints`, one for each operand");
        return Err(Problem::mismatch(expected, format!("{found}")));
    }
    let pairs = instruction.operands().zip(shapes);
    pairs.into_iter().try_for_each(|(operand, shape)| operand.shape().map_or(Ok(()), |known| same(known, shape)))
}

/// Checks a module's `entry_computation_layout`, `input_output_alias` and `buffer_donor`.
pub(super) fn check_module<'m>(
    module: &'m Module,
    attributes: &ParsedAttributes<'m>,
    parameters: &mut Parameters,
    precision: Precision,
    findings: &mut Findings<'m>,
) {
    let Some(entry) = module.entry().filter(|entry| parameters.is_complete(*entry)) else { return };
    let root = entry.root();
    let all: alloc::vec::Vec<_> =
        parameters.get(entry).iter().filter_map(|&number| module.instruction_at(number)).collect();
    match attributes.program(Key::EntryComputationLayout) {
        Err(problem) => findings.error(root, problem),
        Ok(Some(program)) if program.parameters.len() != all.len() => {
            let expected = format!("{} parameters in `entry_computation_layout`", all.len());
            // When the TPU compiler outlines a part of a program, the part keeps the layout of the whole program.
            let severity = if precision == Precision::Mixed { Severity::Hint } else { Severity::Error };
            findings.add(severity, root, Problem::mismatch(expected, format!("{}", program.parameters.len())), None);
        }
        Ok(Some(program)) => {
            for (&parameter, written) in all.iter().zip(&program.parameters) {
                findings.check(parameter, same(&written.shape, parameter.shape()));
            }
            findings.check(root, same(&program.result, root.shape()));
        }
        Ok(None) => {}
    }
    let aliases = match attributes.aliases(Key::InputOutputAlias) {
        Ok(aliases) => aliases.unwrap_or_default(),
        Err(problem) => {
            findings.error(root, problem);
            &[]
        }
    };
    for found in aliases {
        let parameter = all.get(found.parameter).map(|parameter| parameter.shape());
        findings.check(root, alias(found, root.shape(), parameter));
    }
    findings.check(root, once(aliases));
    let aliased = set_of(aliases.iter().map(|alias| (alias.parameter, alias.parameter_index.as_slice())));
    findings.check(root, donors(attributes, &all, &aliased));
}

/// Checks that a result and a parameter can share a buffer. If they must share it, their shapes must be equal, otherwise only their sizes.
fn alias(found: &Alias, result: &Shape, parameter: Option<&Shape>) -> Result<()> {
    let (expected, actual) = parts(found, result, parameter, "parameter")?;
    if [expected, actual].into_iter().any(|part| part.array().is_none()) {
        return Err(Problem::mismatch("an alias of arrays", "one of another kind of shape"));
    }
    match found.must {
        true => same(expected, actual),
        false => same_size(expected, actual),
    }
}

/// Checks that no part of the result and no part of a parameter has two aliases.
fn once(aliases: &[Alias]) -> Result<()> {
    let (mut results, mut parameters) = (BTreeSet::new(), BTreeSet::new());
    for alias in aliases {
        let (result, parameter) = (&alias.result_index, (alias.parameter, &alias.parameter_index));
        if !results.insert(result) {
            let expected = "every part of the result once in `input_output_alias`";
            return Err(Problem::mismatch(expected, format!("{} again", index_text(result))));
        }
        if !parameters.insert(parameter) {
            let expected = "every part of a parameter once in `input_output_alias`";
            let found = format!("{} of parameter {} again", index_text(parameter.1), parameter.0);
            return Err(Problem::mismatch(expected, found));
        }
    }
    Ok(())
}

/// Checks that the donated parts of parameters are arrays without an alias.
fn donors(
    attributes: &ParsedAttributes<'_>,
    parameters: &[Instruction<'_>],
    aliased: &BTreeSet<(usize, &[usize])>,
) -> Result<()> {
    for (number, place) in attributes.donors(Key::BufferDonor)?.unwrap_or_default() {
        let (number, index) = (*number, index_text(place));
        let Some(parameter) = parameters.get(number) else {
            return Err(Problem::mismatch("one of the parameters in `buffer_donor`", format!("number {number}")));
        };
        if part(parameter.shape(), place).is_none_or(|part| part.array().is_none()) {
            let expected = format!("an array of parameter {number} in `buffer_donor`");
            return Err(Problem::mismatch(expected, index));
        }
        if aliased.contains(&(number, place.as_slice())) {
            let expected = "no alias of a part in `buffer_donor`";
            return Err(Problem::mismatch(expected, format!("one of {index} of parameter {number}")));
        }
    }
    Ok(())
}
