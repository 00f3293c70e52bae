//! How a module is built: heads and parameters of computations, names, and who calls whom.

use super::shapes::same;
use crate::attribute::Value;
use crate::finding::{Findings, Problem, Severity};
use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

pub(super) fn check<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let mut names = BTreeSet::new();
    for computation in module.computations() {
        if !computation.is_fragment() && !names.insert(computation.name()) {
            let expected = "every computation to have a different name";
            findings.error(computation.root(), Problem::unfit(expected, format!("`{}` again", computation.name())));
        }
        head(computation, findings);
        instruction_names(computation, findings);
    }
    calls(module, findings);
}

/// Checks that the parameters are numbered without gaps, and hints at a head that says otherwise: XLA does not read it.
fn head<'m, 'a>(computation: Computation<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if computation.is_fragment() {
        return;
    }
    let parameters: Vec<_> =
        computation.instructions().filter_map(|found| found.parameter_number().map(|number| (number, found))).collect();
    let mut by_number = vec![None; parameters.len()];
    for (number, parameter) in parameters {
        match by_number.get_mut(number) {
            Some(place @ None) => *place = Some(parameter),
            _ => return findings.error(parameter, Problem::ParameterNumber { number }),
        }
    }
    let mut hint = |instruction: Instruction<'m, 'a>, expected: &_| {
        if instruction.is_read()
            && let Err(Problem::Shape { expected: head, found }) = same(expected, instruction.shape())
        {
            let problem = Problem::unfit(format!("the shape {head} that the head of the computation gives"), found);
            findings.add(Severity::Hint, instruction, problem, None);
        }
    };
    let Some(written) = computation.parameters() else { return };
    for (parameter, (_, shape)) in by_number.into_iter().flatten().zip(written) {
        hint(parameter, shape);
    }
    if let Some(shape) = computation.result() {
        hint(computation.root(), shape);
    }
}

fn instruction_names<'m, 'a>(computation: Computation<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    let mut names = BTreeSet::new();
    for instruction in computation.instructions() {
        match instruction.attribute("control-predecessors").map_or(Ok(Vec::new()), Value::names) {
            Ok(before) if !computation.is_fragment() => {
                if let Some(name) = before.into_iter().find(|name| !names.contains(name)) {
                    let expected = "`control-predecessors` to name earlier instructions";
                    findings.error(instruction, Problem::unfit(expected, format!("`{name}`")));
                }
            }
            Ok(_) => {}
            Err(error) => findings.error(instruction, error.into()),
        }
        if !instruction.is_implied() && !instruction.name().is_empty() && !names.insert(instruction.name()) {
            let expected = "every instruction of a computation to have a different name";
            findings.error(instruction, Problem::unfit(expected, format!("`{}` again", instruction.name())));
        }
    }
}

/// The attributes that name computations.
const CALLS: &[&str] = &[
    "calls",
    "to_apply",
    "condition",
    "body",
    "select",
    "scatter",
    "true_computation",
    "false_computation",
    "branch_computations",
    "called_computations",
];

/// The names of the computations that an instruction calls.
fn called<'m>(instruction: Instruction<'m, '_>) -> impl Iterator<Item = &'m str> {
    let names = |value: Value<'m>| value.names().unwrap_or_default();
    instruction.attributes().filter(|found| CALLS.contains(&found.name())).flat_map(move |found| names(found.value()))
}

/// Whether no rule of the opcode reads the computations that it calls.
fn has_no_rule(instruction: Instruction<'_, '_>) -> bool {
    matches!(instruction.opcode(), Opcode::CollectiveReduce | Opcode::Other(_))
        || instruction.attribute("called_computations").is_some()
}

/// Checks that all called computations are there, and that none calls itself, over whatever others.
fn calls<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    // Who calls whom, and by which instruction.
    let mut edges: Vec<Vec<(u32, Instruction<'m, 'a>)>> = vec![Vec::new(); module.computations().len()];
    for (computation, edges) in module.computations().zip(&mut edges) {
        for instruction in computation.instructions() {
            for name in called(instruction) {
                match module.computation(name) {
                    Some(callee) => edges.push((callee.number(), instruction)),
                    // Those that a rule reads, it misses itself.
                    None if module.name().is_some() && has_no_rule(instruction) => {
                        findings.error(instruction, Problem::UnknownComputation { name: name.to_owned() });
                    }
                    None => {}
                }
            }
        }
    }
    // From every computation along all calls: what is found again on the way calls itself.
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        New,
        Open,
        Done,
    }
    let mut states = vec![State::New; edges.len()];
    for start in 0..edges.len() {
        if states.get(start) != Some(&State::New) {
            continue;
        }
        let mut way = vec![(start, 0_usize)];
        if let Some(state) = states.get_mut(start) {
            *state = State::Open;
        }
        while let Some((at, next)) = way.last_mut() {
            let edge = edges.get(*at).and_then(|edges| edges.get(*next)).copied();
            *next = next.saturating_add(1);
            let Some((callee, instruction)) = edge else {
                if let Some(state) = states.get_mut(*at) {
                    *state = State::Done;
                }
                way.pop();
                continue;
            };
            let callee = callee as usize;
            match states.get_mut(callee) {
                Some(state @ State::New) => {
                    *state = State::Open;
                    way.push((callee, 0));
                }
                Some(State::Open) => {
                    let expected = "computations that do not call themselves";
                    findings.error(instruction, Problem::unfit(expected, "a cycle of calls through this instruction"));
                }
                _ => {}
            }
        }
    }
}
