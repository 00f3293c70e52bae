//! Layouts that an instruction must keep (`InstructionVerifier::Postprocess` in `xla/service/hlo_verifier.cc`).

use crate::finding::{Problem, Result};
use crate::module::{Instruction, Module};
use crate::schema::Family;
use crate::schema::opcode::Opcode;
use alloc::format;
use alloc::string::String;
use xla_shape_core::{ArrayShape, Shape, memory_space};

/// Whether XLA has assigned the layouts of a module: it has a schedule or tiles. Before that, they mean nothing.
pub(super) fn are_assigned(module: &Module) -> bool {
    let tiled = |shape: &Shape| shape.array().is_some_and(|array| !array.layout().tiles().is_empty());
    module.is_scheduled() || module.shapes().iter().any(tiled)
}

/// Checks that the operands of an instruction are in the order of its result, and in memory that it may read into the result.
pub(super) fn check(instruction: Instruction<'_>, are_assigned: bool) -> Result<()> {
    let Some(result) = instruction.shape().array() else { return Ok(()) };
    let operands = instruction.operands().filter_map(|operand| operand.shape()?.array());
    for operand in operands.filter(|operand| operand.num_dimensions() == result.num_dimensions()) {
        memory(instruction.opcode(), operand, result)?;
        let order = |array: &ArrayShape| array.layout().minor_to_major().to_vec();
        if are_assigned && keeps_layout(instruction.opcode()) && order(operand) != order(result) {
            let text = |array: &ArrayShape| -> String {
                let numbers = order(array).iter().map(|number| format!("{number}")).collect::<alloc::vec::Vec<_>>();
                format!("{{{}}}", numbers.join(","))
            };
            let expected = format!("the order of the operand, {}, in the result", text(operand));
            return Err(Problem::mismatch(expected, text(result)));
        }
    }
    Ok(())
}

/// Whether an opcode has operands in the order of its result (`LayoutAssignment::InstructionCanChangeLayout` in
/// `xla/service/layout_assignment.cc`).
fn keeps_layout(opcode: Opcode<'_>) -> bool {
    opcode.family() == Family::Elementwise
        || matches!(
            opcode,
            Opcode::Concatenate
                | Opcode::DynamicSlice
                | Opcode::DynamicUpdateSlice
                | Opcode::Pad
                | Opcode::Reverse
                | Opcode::Slice
        )
}

/// Checks that a slice does not move from the device's memory to the host's, and an update not back
/// (`HostOffloadInstructionCanChangeMemorySpace`).
fn memory(opcode: Opcode<'_>, operand: &ArrayShape, result: &ArrayShape) -> Result<()> {
    let (from, to) = match opcode {
        Opcode::DynamicSlice => (memory_space::DEFAULT, memory_space::HOST),
        Opcode::DynamicUpdateSlice => (memory_space::HOST, memory_space::DEFAULT),
        _ => return Ok(()),
    };
    let (before, after) = (operand.layout().memory_space(), result.layout().memory_space());
    if (before, after) == (from, to) {
        let expected = format!("a result in the memory S({before}) of the operand");
        return Err(Problem::mismatch(expected, format!("S({after})")));
    }
    Ok(())
}
