//! Checks of the computations that fusions and asynchronous operations call.

use crate::attribute::Value;
use crate::finding::{Findings, Problem};
use crate::module::{Computation, Instruction, Module};
use crate::schema::opcode::Opcode;
use crate::schema::{Family, Key};
use alloc::collections::BTreeSet;
use alloc::format;

/// Checks each computation that a fusion or an asynchronous operation calls, once.
pub(super) fn check<'m>(module: &'m Module, is_unused: impl Fn(Instruction<'_>) -> bool, findings: &mut Findings<'m>) {
    let mut seen = BTreeSet::new();
    let calls = |found: &Instruction<'_>| matches!(found.opcode(), Opcode::Fusion | Opcode::AsyncStart);
    for caller in module.instructions().filter(calls) {
        let is_new = |callee: &Computation<'_>| seen.insert(callee.number()) && callee.is_complete();
        let Some(callee) = caller.callee(Key::Calls).filter(is_new) else { continue };
        match caller.opcode() {
            Opcode::Fusion => fused(callee, &is_unused, findings),
            _ => wrapped(caller, callee, findings),
        }
    }
}

/// Checks that the root of a fused computation has no user, and every other instruction has one (`CheckFusionInstruction` in
/// `xla/service/hlo_verifier.cc`).
fn fused<'m>(computation: Computation<'m>, is_unused: impl Fn(Instruction<'_>) -> bool, findings: &mut Findings<'m>) {
    for instruction in computation.instructions().filter(|instruction| instruction.is_read()) {
        let is_root = instruction == computation.root();
        if is_root && !is_unused(instruction) {
            let expected = "the root of a fused computation to have no user";
            findings.error(instruction, Problem::mismatch(expected, "one"));
        }
        if !is_root && is_unused(instruction) && !has_side_effect(instruction) {
            let expected = "every instruction of a fused computation to be the root or to have a user";
            findings.error(instruction, Problem::mismatch(expected, "none"));
        }
    }
}

/// Whether an instruction has a side effect (`HloInstruction::HasSideEffectNoRecurse` in `xla/hlo/ir/hlo_instruction.cc`).
fn has_side_effect(instruction: Instruction<'_>) -> bool {
    let opcode = instruction.opcode();
    matches!(opcode, Opcode::Other(_))
        || matches!(opcode.family(), Family::Transfer | Family::Random | Family::Custom)
        || instruction.value_of(Key::ChannelId).is_some()
        || opcode.text().ends_with("-start")
        || opcode.text().ends_with("-done")
}

/// Checks that an asynchronous computation has one operation, or only sends and receives (`VerifyAsyncComputation` in
/// `xla/service/hlo_verifier.cc`).
fn wrapped<'m>(caller: Instruction<'m>, computation: Computation<'m>, findings: &mut Findings<'m>) {
    let attributes = caller.value_of(Key::FrontendAttributes).map(Value::text).unwrap_or_default();
    let root = computation.root();
    let mut others = computation.instructions().filter(|found| *found != root && found.opcode() != Opcode::Parameter);
    let transfers = |found: Instruction<'_>| {
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
        findings.error(other, Problem::mismatch(expected, format!("also `{}`", other.opcode())));
    }
}
