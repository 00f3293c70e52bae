//! The structure of a module: signatures and parameters of computations, names, the order of instructions, and the call graph.
//!
//! XLA checks these while it parses (`HloParserImpl::ParseComputation`, `AddInstruction` and `ParseInstructionList` in
//! `xla/hlo/parser/hlo_parser.cc`) and in `VerifyHloStructure` in `xla/service/hlo_verifier.cc`.

use super::shapes::same;
use crate::attribute::Value;
use crate::finding::{Findings, Problem, Severity};
use crate::module::{Computation, Instruction, Module};
use crate::names::{NameTable, hash};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn check<'m>(module: &'m Module, findings: &mut Findings<'m>) {
    let mut names = BTreeSet::new();
    for computation in module.computations() {
        if !computation.is_fragment() && !names.insert(computation.name()) {
            let expected = "every computation to have a different name";
            findings.error(computation.root(), Problem::mismatch(expected, format!("`{}` again", computation.name())));
        }
        head(computation, findings);
        instruction_names(computation, findings);
    }
    for (instruction, operand) in
        module.operands_before_definition().filter(|(found, _)| !found.computation().is_fragment())
    {
        let expected = format!("the operand `{}` to be defined before it is used", operand.name());
        findings.add(
            Severity::Error,
            instruction,
            Problem::mismatch(expected, "its definition later"),
            Some(operand.span()),
        );
    }
    calls(module, findings);
}

/// Checks that the parameters are numbered without gaps. Hints if the signature contradicts the instructions: XLA ignores the
/// signature's shapes.
fn head<'m>(computation: Computation<'m>, findings: &mut Findings<'m>) {
    if computation.is_fragment() || !computation.is_complete() {
        return;
    }
    let parameters: Vec<_> =
        computation.instructions().filter_map(|found| found.parameter_number().map(|number| (number, found))).collect();
    let mut by_number = vec![None; parameters.len()];
    for (number, parameter) in parameters {
        match by_number.get_mut(number) {
            // `by_number` is as long as the list of parameters. So if each number is in range and occurs once, none is missing.
            Some(place @ None) => *place = Some(parameter),
            _ => return findings.error(parameter, Problem::ParameterNumber { number }),
        }
    }
    let mut hint = |instruction: Instruction<'m>, expected: &_| {
        if instruction.is_read()
            && let Err(Problem::Shape { expected: head, found }) = same(expected, instruction.shape())
        {
            let problem = Problem::mismatch(format!("the shape {head}, as in the computation's signature"), found);
            findings.add(Severity::Hint, instruction, problem, None);
        }
    };
    let Some(written) = computation.written_parameters() else { return };
    for (parameter, (_, shape)) in by_number.into_iter().flatten().zip(written) {
        hint(parameter, shape);
    }
    if let Some(shape) = computation.written_result() {
        hint(computation.root(), shape);
    }
}

/// Checks that instruction names are unique in a computation, and that control predecessors come before their successors.
fn instruction_names<'m>(computation: Computation<'m>, findings: &mut Findings<'m>) {
    let module = computation.module();
    let text_of = |number: u32| module.instruction_at(number).map_or(&b""[..], |found| found.name().as_bytes());
    let mut names = NameTable::new();
    for instruction in computation.instructions() {
        match instruction.value_of(Key::ControlPredecessors).map_or(Ok(Vec::new()), Value::names) {
            Ok(before) if !computation.is_fragment() => {
                let is_later = |name: &&str| names.get(name.as_bytes(), hash(name.as_bytes()), text_of).is_none();
                if let Some(name) = before.into_iter().find(is_later) {
                    let expected = "`control-predecessors` to name earlier instructions";
                    findings.error(instruction, Problem::mismatch(expected, format!("`{name}`")));
                }
            }
            Ok(_) => {}
            Err(error) => findings.error(instruction, error.into()),
        }
        let name = instruction.name().as_bytes();
        if instruction.is_implied() || name.is_empty() {
            continue;
        }
        let hash = hash(name);
        if names.get(name, hash, text_of).is_some() {
            let expected = "every instruction of a computation to have a different name";
            findings.error(instruction, Problem::mismatch(expected, format!("`{}` again", instruction.name())));
        } else {
            names.insert(name, hash, instruction.number(), text_of);
        }
    }
}

/// Whether shape inference does not look at the computations that this instruction calls.
fn has_no_rule(instruction: Instruction<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::CollectiveReduce | Opcode::Other(_))
        || instruction.value_of(Key::CalledComputations).is_some()
}

/// Checks that all called computations exist, and that none calls itself directly or through others.
fn calls<'m>(module: &'m Module, findings: &mut Findings<'m>) {
    // The call graph: for each computation, its callees and the calling instructions.
    let mut edges: Vec<Vec<(u32, Instruction<'m>)>> = vec![Vec::new(); module.computations().len()];
    for (computation, edges) in module.computations().zip(&mut edges) {
        for instruction in computation.instructions() {
            for name in instruction.called_names() {
                match module.computation(name) {
                    Some(callee) => edges.push((callee.number(), instruction)),
                    // If shape inference looks at the computation, shape inference reports that it is missing.
                    None if module.name().is_some() && has_no_rule(instruction) => {
                        findings.error(instruction, Problem::UnknownComputation { name: name.to_owned() });
                    }
                    None => {}
                }
            }
        }
    }
    // Depth-first search: an edge to a computation that is still open closes a cycle.
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut visits = vec![Visit::New; edges.len()];
    for start in 0..edges.len() {
        if visits.get(start) != Some(&Visit::New) {
            continue;
        }
        let mut path = vec![(start, 0_usize)];
        if let Some(visit) = visits.get_mut(start) {
            *visit = Visit::Open;
        }
        while let Some((at, next)) = path.last_mut() {
            let edge = edges.get(*at).and_then(|edges| edges.get(*next)).copied();
            *next += 1;
            let Some((callee, instruction)) = edge else {
                if let Some(visit) = visits.get_mut(*at) {
                    *visit = Visit::Done;
                }
                path.pop();
                continue;
            };
            let callee = callee as usize;
            match visits.get_mut(callee) {
                Some(visit @ Visit::New) => {
                    *visit = Visit::Open;
                    path.push((callee, 0));
                }
                Some(Visit::Open) => {
                    let expected = "computations that do not call themselves";
                    findings
                        .error(instruction, Problem::mismatch(expected, "a cycle of calls through this instruction"));
                }
                _ => {}
            }
        }
    }
}
