//! Checks of opcodes, attribute names and attribute values: hints for unknown ones, which a newer compiler may write, and errors
//! for values that XLA cannot read (`HloParserImpl::ParseAttributeHelper` in `xla/hlo/parser/hlo_parser.cc`).

use crate::finding::{Findings, Problem, Severity};
use crate::literal;
use crate::module::{Computation, Instruction, Module};
use crate::parsed::{Data, ParsedAttributes};
use crate::parsed::{ParsedAttribute, Row};
use crate::schema::attribute::METADATA;
use crate::schema::opcode::Opcode;
use crate::schema::{Key, Kind};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::vec::Vec;
use xla_shape_core::infer::Elementwise;
use xla_shape_core::sorting::sort;
use xla_shape_core::text::ParseError;

/// Checks an instruction against the rows of the schema: the opcode, the names of its attributes, and their values.
pub(super) fn check<'m>(instruction: Instruction<'m>, attributes: &ParsedAttributes<'m>, findings: &mut Findings<'m>) {
    let opcode = instruction.opcode();
    let is_unknown = matches!(opcode, Opcode::Other(text) if !is_known(text));
    if is_unknown {
        let problem = Problem::UnknownOpcode { opcode: opcode.text().to_owned() };
        findings.add(Severity::Hint, instruction, problem, None);
    }
    if opcode == Opcode::Constant {
        match literal::check(instruction.arguments(), instruction.shape()) {
            Ok(0) => {}
            Ok(zeros) => {
                let found = format!("one number, which XLA reads as the first element, followed by {zeros} zeros");
                let problem = Problem::mismatch("all elements of the constant in braces", found);
                findings.add(Severity::Hint, instruction, problem, None);
            }
            Err(wrong) => findings.error(instruction, Problem::mismatch(wrong.expected, wrong.found)),
        }
    }
    for entry in attributes.entries() {
        let name = entry.attribute.name();
        let problem = match entry.row {
            Row::Own(_) => None,
            // An unknown opcode may have any attribute.
            Row::Foreign(_) if is_unknown => None,
            Row::Foreign(_) => Some(Problem::mismatch(format!("an attribute of `{opcode}`"), format!("`{name}`"))),
            Row::Unknown => Some(Problem::UnknownAttribute { name: name.to_owned() }),
        };
        if let Some(problem) = problem {
            findings.add(Severity::Hint, instruction, problem, Some(entry.attribute.value().span()));
        }
        if let Some(key) = entry.row.key()
            && let Err(error) = value(instruction, key, entry, findings)
        {
            findings.error(instruction, error.into());
        }
    }
    once(instruction, attributes, findings);
}

/// Checks a value, and hints at unknown fields of `metadata`.
fn value<'m>(
    instruction: Instruction<'m>,
    key: Key,
    entry: &ParsedAttribute<'m>,
    findings: &mut Findings<'m>,
) -> Result<(), ParseError> {
    if let (Data::Fields(fields), Kind::Metadata) = (entry.data(key)?, key.kind()) {
        for (name, field) in fields {
            match METADATA.iter().find(|(known, ..)| known == name) {
                Some((_, kind, _)) => drop(kind.read(*field)?),
                None => {
                    let problem = Problem::UnknownAttribute { name: format!("{}.{name}", key.name()) };
                    findings.add(Severity::Hint, instruction, problem, Some(field.span()));
                }
            }
        }
    }
    Ok(())
}

/// Checks the attributes of the module itself.
pub(super) fn check_module<'m>(module: &'m Module, attributes: &ParsedAttributes<'m>, findings: &mut Findings<'m>) {
    let Some(root) = module.entry().map(Computation::root) else { return };
    for entry in attributes.entries() {
        match entry.row.key().map(|key| entry.data(key)) {
            Some(Ok(_)) => {}
            Some(Err(error)) => findings.error(root, error.into()),
            None => {
                let problem = Problem::UnknownAttribute { name: entry.attribute.name().to_owned() };
                findings.add(Severity::Hint, root, problem, Some(entry.attribute.value().span()));
            }
        }
    }
    once(root, attributes, findings);
}

/// Checks that each attribute occurs once, except for the sharding of a wrapped operation.
fn once<'m>(instruction: Instruction<'m>, attributes: &ParsedAttributes<'m>, findings: &mut Findings<'m>) {
    let wrapped = instruction.wrapped_sharding().map(|attribute| attribute.value().span());
    let own = attributes.entries().iter().filter(|entry| Some(entry.attribute.value().span()) != wrapped);
    let mut names: Vec<_> = own.map(|entry| entry.attribute.name()).collect();
    sort(&mut names);
    for pair in names.windows(2) {
        if let [first, second] = pair
            && first == second
        {
            findings.error(instruction, Problem::mismatch(format!("one attribute `{first}`"), "a second one"));
        }
    }
}

/// Whether an opcode is one of XLA's, or the asynchronous short form of one.
fn is_known(text: &str) -> bool {
    let is_named =
        |text: &str| !matches!(Opcode::from_text(text), Opcode::Other(_)) || Elementwise::named(text).is_some();
    is_named(text) || Opcode::from_text(text).stem().is_some_and(is_named)
}

#[cfg(test)]
mod tests {
    use super::is_known;

    #[test]
    fn asynchronous_forms_are_known() {
        assert!(["fusion-start", "slice-update", "custom-call-done", "atan", "scan"].into_iter().all(is_known));
        assert!(["", "-start", "teleport", "teleport-start"].into_iter().all(|text| !is_known(text)));
    }
}
