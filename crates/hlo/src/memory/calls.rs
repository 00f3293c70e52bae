//! The computations that instructions run, other than inside fusions and reductions.

use crate::schema::Key;
use crate::{Computation, Instruction, Opcode};
use alloc::vec::Vec;

/// The computations that an instruction runs and whose values have buffers of their own.
pub(crate) fn called<'m, 'a>(instruction: Instruction<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    let keys: &[Key] = match instruction.opcode() {
        Opcode::While => &[Key::Condition, Key::Body],
        Opcode::Call => &[Key::ToApply],
        Opcode::Conditional => &[Key::BranchComputations, Key::TrueComputation, Key::FalseComputation],
        Opcode::AsyncStart => &[Key::Calls],
        _ => return Vec::new(),
    };
    let values = keys.iter().filter_map(|key| instruction.value_of(*key));
    let names = values.filter_map(|value| value.names().ok()).flatten();
    names.filter_map(|name| instruction.module().computation(name)).collect()
}

/// The computations that a computation's instructions run and whose values have buffers of their own.
pub(super) fn callees<'m, 'a>(computation: Computation<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    computation.instructions().flat_map(called).collect()
}
