//! Instructions that belong together: what is begun is ended once, by the right one, on the same channel.

use super::called;
use super::shapes::Precision;
use crate::attribute::Value;
use crate::finding::{Findings, Problem, Result, Severity};
use crate::module::{Instruction, Module};
use crate::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;

/// Who uses an instruction.
#[derive(Clone, Copy, PartialEq)]
enum Users {
    None,
    /// The number of the only instruction.
    One(u32),
    Many,
    /// One that takes it into another turn of a loop, or out of it.
    Carried,
}

pub(super) fn check<'m, 'a>(module: &'m Module<'a>, precision: Precision, findings: &mut Findings<'m, 'a>) {
    // After optimisation, what was begun in one turn of a loop may be ended in the next.
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
    for instruction in module.instructions().filter(|instruction| instruction.is_read()) {
        let users = users.get(instruction.number() as usize).copied().unwrap_or(Users::None);
        let begun = instruction.operand(0).and_then(|operand| operand.instruction());
        let is_carried = is_optimized
            && instruction.opcode().text().ends_with("-done")
            && begun.is_some_and(|begun| begun.opcode() == Opcode::GetTupleElement);
        if !is_carried && let Err(problem) = pair(instruction, users) {
            // XLA's verifier only counts who uses a copy that has begun.
            let is_taken_apart = instruction.opcode() == Opcode::CopyStart
                && matches!(users, Users::One(number) if module.instruction_at(number).is_some_and(|user| user.opcode() == Opcode::GetTupleElement));
            findings.add(if is_taken_apart { Severity::Hint } else { severity }, instruction, problem, None);
        }
    }
    channels(module, findings);
}

fn pair(instruction: Instruction<'_, '_>, users: Users) -> Result<()> {
    let computation = instruction.computation();
    if computation.is_fragment() {
        return Ok(());
    }
    let text = instruction.opcode().text();
    let begun = |begins: &[&str]| operand_is(instruction, begins);
    match instruction.opcode() {
        // Where an asynchronous computation is wrapped around it, nothing stands after it.
        Opcode::Send | Opcode::Recv if computation.root() == instruction => Ok(()),
        Opcode::Send => user_is(instruction, users, &["send-done", "tuple", "opt-barrier"])
            .and_then(|()| same_channel(instruction, users)),
        Opcode::Recv => user_is(instruction, users, &["recv-done", "tuple", "opt-barrier"])
            .and_then(|()| same_channel(instruction, users)),
        Opcode::SendDone => begun(&["send", "get-tuple-element"]),
        Opcode::RecvDone => begun(&["recv", "get-tuple-element"]),
        Opcode::AsyncUpdate => begun(&["async-start", "async-update"])
            .and_then(|()| user_is(instruction, users, &["async-update", "async-done"])),
        Opcode::AsyncDone => begun(&["async-start", "async-update"]),
        _ => {
            if let Some(stem) = text.strip_suffix("-start") {
                let (update, done) = (format!("{stem}-update"), format!("{stem}-done"));
                return user_is(instruction, users, &[&update, &done]);
            }
            if let Some((Opcode::AsyncUpdate, operation)) = instruction.opcode().long_form() {
                return user_is(instruction, users, &[text, &format!("{operation}-done")]);
            }
            if let Some(stem) = text.strip_suffix("-done") {
                let (start, update) = (format!("{stem}-start"), format!("{stem}-update"));
                return begun(&[&start, &update]);
            }
            Ok(())
        }
    }
}

/// Checks that exactly one instruction uses this one, with one of these opcodes.
fn user_is(instruction: Instruction<'_, '_>, users: Users, opcodes: &[&str]) -> Result<()> {
    let expected = format!("one `{}` that uses it", opcodes.last().copied().unwrap_or("done"));
    let found = match users {
        Users::Carried => return Ok(()),
        Users::None => "none".into(),
        Users::Many => "several instructions".into(),
        Users::One(number) => match instruction.module().instruction_at(number) {
            Some(user) if opcodes.contains(&user.opcode().text()) => return Ok(()),
            Some(user) => format!("`{}`", user.opcode()),
            None => return Ok(()),
        },
    };
    Err(Problem::Unfit { expected, found })
}

/// Checks that the operand is an instruction with one of these opcodes.
fn operand_is(instruction: Instruction<'_, '_>, opcodes: &[&str]) -> Result<()> {
    match instruction.operand(0).and_then(|operand| operand.instruction()) {
        Some(operand) if operand.is_read() && !opcodes.contains(&operand.opcode().text()) => {
            let expected = format!("`{}` as the operand", opcodes.first().copied().unwrap_or("start"));
            Err(Problem::unfit(expected, format!("`{}`", operand.opcode())))
        }
        _ => Ok(()),
    }
}

/// Checks that a send or recv and what ends it agree about the channel and whether the host is the other side.
fn same_channel(instruction: Instruction<'_, '_>, users: Users) -> Result<()> {
    let Users::One(number) = users else { return Ok(()) };
    let done = instruction.module().instruction_at(number);
    let Some(done) = done.filter(|done| matches!(done.opcode(), Opcode::SendDone | Opcode::RecvDone)) else {
        return Ok(());
    };
    for name in ["channel_id", "is_host_transfer"] {
        let text = |instruction: Instruction<'_, '_>| {
            let value = instruction.attribute(name).map(Value::text).unwrap_or_default();
            // A transfer is none with the host unless it says so; a channel that is not written is none.
            if value == "false" || value == "0" { Default::default() } else { alloc::string::String::from(value) }
        };
        let (expected, found) = (text(instruction), text(done));
        if expected != found {
            let expected = format!("`{name}={expected}` at the end as at the beginning");
            return Err(Problem::unfit(expected, format!("`{name}={found}`")));
        }
    }
    Ok(())
}

/// Checks that a channel on which values are sent is used for nothing else.
fn channels<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let transfers =
        |opcode: Opcode<'_>| matches!(opcode, Opcode::Send | Opcode::SendDone | Opcode::Recv | Opcode::RecvDone);
    let mut of: BTreeMap<usize, Vec<Instruction<'m, 'a>>> = BTreeMap::new();
    for instruction in module.instructions() {
        if let Some(channel) = instruction.attribute("channel_id").and_then(|value| value.number().ok()) {
            of.entry(channel).or_default().push(instruction);
        }
    }
    for (channel, instructions) in of.into_iter().filter(|(channel, _)| *channel > 0) {
        let Some((first, others)) = instructions.split_first() else { continue };
        let is_other = |other: &&Instruction<'_, '_>| transfers(other.opcode()) != transfers(first.opcode());
        if let Some(&other) = others.iter().find(is_other) {
            let expected = format!("channel {channel} to be used by `{}` alone", first.opcode());
            findings.error(other, Problem::unfit(expected, format!("`{}`", other.opcode())));
        }
    }
}
