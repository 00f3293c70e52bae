//! What stands in the computations of fusions and of asynchronous operations.

use crate::attribute::Value;
use crate::finding::{Findings, Problem};
use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::collections::BTreeSet;
use alloc::format;

/// Checks each computation that a fusion or an asynchronous operation calls, once.
pub(super) fn check<'m, 'a>(
    module: &'m Module<'a>,
    is_unused: impl Fn(Instruction<'_, '_>) -> bool,
    findings: &mut Findings<'m, 'a>,
) {
    let mut seen = BTreeSet::new();
    let calls = |found: &Instruction<'_, '_>| matches!(found.opcode(), Opcode::Fusion | Opcode::AsyncStart);
    for caller in module.instructions().filter(calls) {
        let name = caller.attribute("calls").and_then(|value| value.name().ok());
        let callee = name.and_then(|name| module.computation(name));
        let Some(callee) = callee.filter(|callee| seen.insert(callee.number())) else { continue };
        match caller.opcode() {
            Opcode::Fusion => fused(callee, &is_unused, findings),
            _ => wrapped(caller, callee, findings),
        }
    }
}

/// Checks that the root of a fused computation is used by nothing, and everything else by something.
fn fused<'m, 'a>(
    computation: Computation<'m, 'a>,
    is_unused: impl Fn(Instruction<'_, '_>) -> bool,
    findings: &mut Findings<'m, 'a>,
) {
    for instruction in computation.instructions().filter(|instruction| instruction.is_read()) {
        let is_root = instruction == computation.root();
        if is_root && !is_unused(instruction) {
            let expected = "the root of a fused computation to be used by nothing";
            findings.error(instruction, Problem::unfit(expected, "an instruction that uses it"));
        }
        if !is_root && is_unused(instruction) && !has_side_effect(instruction) {
            let expected = "every instruction of a fused computation to be used, or to be the root";
            findings.error(instruction, Problem::unfit(expected, "one that is not"));
        }
    }
}

/// Whether an instruction does something beside giving a value.
fn has_side_effect(instruction: Instruction<'_, '_>) -> bool {
    match instruction.opcode() {
        Opcode::Infeed
        | Opcode::Outfeed
        | Opcode::Recv
        | Opcode::RecvDone
        | Opcode::Rng
        | Opcode::RngGetAndUpdateState
        | Opcode::Send
        | Opcode::SendDone
        | Opcode::CustomCall
        | Opcode::Other(_) => true,
        opcode => {
            instruction.attribute("channel_id").is_some()
                || opcode.text().ends_with("-start")
                || opcode.text().ends_with("-done")
        }
    }
}

/// Checks that an asynchronous computation is one operation, or only sends and receives.
fn wrapped<'m, 'a>(caller: Instruction<'m, 'a>, computation: Computation<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    let attributes = caller.attribute("frontend_attributes").map(Value::text).unwrap_or_default();
    let root = computation.root();
    let mut others = computation.instructions().filter(|found| *found != root && found.opcode() != Opcode::Parameter);
    let transfers = |found: Instruction<'_, '_>| {
        matches!(
            found.opcode(),
            Opcode::Send | Opcode::Recv | Opcode::Bitcast | Opcode::Parameter | Opcode::Tuple | Opcode::Copy
        )
    };
    if let Some(other) = others.next()
        && !attributes.contains("_collectives_group")
        && !computation.instructions().all(transfers)
    {
        let expected = "one operation and its parameters in an asynchronous computation";
        findings.error(other, Problem::unfit(expected, format!("`{}`, too", other.opcode())));
    }
}
