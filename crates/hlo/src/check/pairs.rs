//! Pairs of asynchronous instructions and channels: every start has one matching done, and send and recv use their channels
//! consistently (`VerifyAsynchronousInstructionPairs` and `VerifyChannels` in `xla/service/hlo_verifier.cc`).

use super::called;
use super::shapes::Precision;
use crate::attribute::Value;
use crate::finding::{Findings, Problem, Result, Severity};
use crate::module::{Instruction, Module};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::sorting::{map_of, set_of};

/// The users of an instruction.
#[derive(Clone, Copy, PartialEq)]
enum Users {
    None,
    /// One instruction, by number.
    One(u32),
    Many,
    /// A tuple or loop that carries the value into another iteration, or out of the loop.
    Carried,
}

pub(super) fn check<'m>(module: &'m Module, precision: Precision, findings: &mut Findings<'m>) {
    // In optimised programs, an operation that starts in one iteration of a loop may end in the next.
    let is_optimized = precision == Precision::Mixed;
    let severity = if is_optimized { Severity::Hint } else { Severity::Error };
    let mut users = vec![Users::None; module.instructions().len()];
    for instruction in module.instructions() {
        let carries = is_optimized && matches!(instruction.opcode(), Opcode::Tuple | Opcode::While);
        for operand in instruction.operands().filter_map(|operand| operand.instruction()) {
            if let Some(users) = users.get_mut(operand.number() as usize) {
                *users = match *users {
                    _ if carries => Users::Carried,
                    Users::None => Users::One(instruction.number()),
                    Users::One(same) if same == instruction.number() => *users,
                    Users::Carried => Users::Carried,
                    _ => Users::Many,
                };
            }
        }
    }
    called::check(module, |found| users.get(found.number() as usize) == Some(&Users::None), findings);
    // An instruction that could not be read may be a start or done that seems to be missing, so its computation is skipped.
    let unread = module.instructions().filter(|instruction| !instruction.is_read());
    let broken = set_of(unread.map(|instruction| instruction.computation().number()));
    let is_complete = |instruction: &Instruction<'_>| !broken.contains(&instruction.computation().number());
    for instruction in module.instructions().filter(is_complete) {
        let users = users.get(instruction.number() as usize).copied().unwrap_or(Users::None);
        let start = instruction.operand(0).and_then(|operand| operand.instruction());
        let is_carried = is_optimized
            && instruction.opcode().text().ends_with("-done")
            && start.is_some_and(|start| start.opcode() == Opcode::GetTupleElement);
        if !is_carried && let Err(problem) = pair(instruction, users) {
            // XLA's verifier (jaxlib 0.12) only counts the users of a copy-start, so it accepts a get-tuple-element as the user.
            let is_taken_apart = instruction.opcode() == Opcode::CopyStart
                && matches!(users, Users::One(number) if module.instruction_at(number).is_some_and(|user| user.opcode() == Opcode::GetTupleElement));
            findings.add(if is_taken_apart { Severity::Hint } else { severity }, instruction, problem, None);
        }
    }
    channels(module, findings);
}

/// Checks the user of a start or update, and the operand of an update or done (`VerifyAsynchronousInstructionPairs`).
fn pair(instruction: Instruction<'_>, users: Users) -> Result<()> {
    let computation = instruction.computation();
    if computation.is_fragment() {
        return Ok(());
    }
    let text = instruction.opcode().text();
    let operand_in = |opcodes: &[&str]| operand_is(instruction, opcodes);
    match instruction.opcode() {
        // The root of an asynchronous computation has no user.
        Opcode::Send | Opcode::Recv if computation.root() == instruction => Ok(()),
        Opcode::Send => user_is(instruction, users, &["send-done", "tuple", "opt-barrier"])
            .and_then(|()| same_channel(instruction, users)),
        Opcode::Recv => user_is(instruction, users, &["recv-done", "tuple", "opt-barrier"])
            .and_then(|()| same_channel(instruction, users)),
        Opcode::SendDone => operand_in(&["send", "get-tuple-element"]),
        Opcode::RecvDone => operand_in(&["recv", "get-tuple-element"]),
        Opcode::AsyncUpdate => operand_in(&["async-start", "async-update"])
            .and_then(|()| user_is(instruction, users, &["async-update", "async-done"])),
        Opcode::AsyncDone => operand_in(&["async-start", "async-update"]),
        _ => {
            if let Some(stem) = text.strip_suffix("-start") {
                let (update, done) = (format!("{stem}-update"), format!("{stem}-done"));
                return user_is(instruction, users, &[&update, &done]);
            }
            if let Some((Opcode::AsyncUpdate, operation)) = instruction.long_form() {
                return user_is(instruction, users, &[text, &format!("{operation}-done")]);
            }
            if let Some(stem) = text.strip_suffix("-done") {
                let (start, update) = (format!("{stem}-start"), format!("{stem}-update"));
                return operand_in(&[&start, &update]);
            }
            Ok(())
        }
    }
}

/// Checks that exactly one instruction uses this one, and has one of these opcodes (`VerifySingleUser`).
fn user_is(instruction: Instruction<'_>, users: Users, opcodes: &[&str]) -> Result<()> {
    let expected = format!("one `{}` that uses it", opcodes.last().copied().unwrap_or("done"));
    let found = match users {
        Users::Carried => return Ok(()),
        Users::None => "none".into(),
        Users::Many => "several instructions".into(),
        Users::One(number) => match instruction.module().instruction_at(number) {
            Some(user) if opcodes.contains(&user.opcode().text()) => return Ok(()),
            Some(user) if is_asynchronous(instruction) && is_asynchronous(user) => return Ok(()),
            Some(user) => format!("`{}`", user.opcode()),
            None => return Ok(()),
        },
    };
    Err(Problem::Mismatch { expected, found })
}

/// Whether the instruction is a step of an asynchronous operation, in long or short form. XLA accepts a mixture of the two, such as
/// `async-update(start)` for `start = … call-start()`.
fn is_asynchronous(instruction: Instruction<'_>) -> bool {
    let opcode = instruction.long_form().map_or_else(|| instruction.opcode(), |(opcode, _)| opcode);
    matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone)
}

/// Checks that the operand has one of these opcodes (`VerifySingleOperand`).
fn operand_is(instruction: Instruction<'_>, opcodes: &[&str]) -> Result<()> {
    match instruction.operand(0).and_then(|operand| operand.instruction()) {
        Some(operand) if is_asynchronous(instruction) && is_asynchronous(operand) => Ok(()),
        Some(operand) if operand.is_read() && !opcodes.contains(&operand.opcode().text()) => {
            let expected = format!("`{}` as the operand", opcodes.first().copied().unwrap_or("start"));
            Err(Problem::mismatch(expected, format!("`{}`", operand.opcode())))
        }
        _ => Ok(()),
    }
}

/// Checks that a send or recv and its done have the same channel and agree on whether it is a host transfer
/// (`CheckSameChannel`, `CheckSameIsHostTransfer`).
fn same_channel(instruction: Instruction<'_>, users: Users) -> Result<()> {
    let Users::One(number) = users else { return Ok(()) };
    let done = instruction.module().instruction_at(number);
    let Some(done) = done.filter(|done| matches!(done.opcode(), Opcode::SendDone | Opcode::RecvDone)) else {
        return Ok(());
    };
    for key in [Key::ChannelId, Key::IsHostTransfer] {
        let text = |instruction: Instruction<'_>| {
            let value = instruction.value_of(key).map(Value::text).unwrap_or_default();
            // A missing attribute has its default: `is_host_transfer=false`, or `channel_id=0`, which means no channel.
            if value == "false" || value == "0" { Default::default() } else { alloc::string::String::from(value) }
        };
        let (expected, found) = (text(instruction), text(done));
        if expected != found {
            let name = key.name();
            let expected = format!("`{name}={expected}`, as `{}` has", instruction.name());
            return Err(Problem::mismatch(expected, format!("`{name}={found}`")));
        }
    }
    Ok(())
}

/// Checks that all host transfers on one channel are identical except for the values of their operands (`VerifyChannels` in
/// `xla/service/hlo_verifier.cc`). Other transfers and collectives may share a channel.
fn channels<'m>(module: &'m Module, findings: &mut Findings<'m>) {
    let mut first_of: BTreeMap<usize, Instruction<'m>> = BTreeMap::new();
    for instruction in module.instructions().filter(|found| matches!(found.opcode(), Opcode::Send | Opcode::Recv)) {
        let channel = instruction.value_of(Key::ChannelId).and_then(|value| value.number().ok());
        let is_with_host = instruction.value_of(Key::IsHostTransfer).is_some_and(|value| value.text() == "true");
        let Some(channel) = channel.filter(|&channel| channel > 0 && is_with_host) else { continue };
        let first = *first_of.entry(channel).or_insert(instruction);
        if let Some(what) = difference(first, instruction) {
            let expected = format!("all host transfers on channel {channel} to have the same {what}");
            findings.error(instruction, Problem::mismatch(expected, format!("a difference from `{}`", first.name())));
        }
    }
}

/// The first difference that `HloInstruction::Identical` in `xla/hlo/ir/hlo_instruction.h` sees between two transfers.
fn difference(first: Instruction<'_>, other: Instruction<'_>) -> Option<&'static str> {
    let shapes = |found: Instruction<'_>| found.operands().map(|found| found.shape().cloned()).collect::<Vec<_>>();
    [
        ("opcode", first.opcode() != other.opcode()),
        ("shape", first.shape() != other.shape()),
        ("shapes of operands", shapes(first) != shapes(other)),
        ("`frontend_attributes`", fields(first) != fields(other)),
        ("`backend_config`", config(first) != config(other)),
    ]
    .into_iter()
    .find_map(|(what, differs)| differs.then_some(what))
}

/// The fields of an instruction's `frontend_attributes`, whose order does not matter.
fn fields<'m>(instruction: Instruction<'m>) -> BTreeMap<&'m str, &'m str> {
    let fields =
        instruction.value_of(Key::FrontendAttributes).and_then(|value| value.fields().ok()).unwrap_or_default();
    map_of(fields.into_iter().map(|(key, value)| (key, value.text())))
}

/// The text of an instruction's `backend_config`; empty if it has none.
fn config<'m>(instruction: Instruction<'m>) -> &'m str {
    instruction.value_of(Key::BackendConfig).map(Value::text).unwrap_or_default()
}
