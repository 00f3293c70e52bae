//! Which computations instructions run.

use crate::{Computation, Instruction, Opcode};
use alloc::vec::Vec;

/// The computations that run while an instruction does, with values of their own.
pub(super) fn called<'m, 'a>(instruction: Instruction<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    let keys: &[&str] = match instruction.opcode() {
        Opcode::While => &["condition", "body"],
        Opcode::Call => &["to_apply"],
        Opcode::Conditional => &["branch_computations", "true_computation", "false_computation"],
        Opcode::AsyncStart => &["calls"],
        _ => return Vec::new(),
    };
    let values = keys.iter().filter_map(|key| instruction.attribute(key));
    let names = values.filter_map(|value| value.names().ok()).flatten();
    names.filter_map(|name| instruction.module().computation(name)).collect()
}

/// The computations that run while one does, with values of their own.
pub(super) fn callees<'m, 'a>(computation: Computation<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    computation.instructions().flat_map(called).collect()
}
