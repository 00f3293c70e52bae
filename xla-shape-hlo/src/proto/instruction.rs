//! One instruction as a line of text.

use super::asynchronous::{Wrapped, step};
use super::attributes::{Attributes, common, name, placed, special};
use super::constant::constant;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{HloComputationProto, HloInstructionProto};
use super::module::Ids;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::Shape;
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// Prints an instruction, without the space before it.
pub(crate) fn instruction(
    instruction: &HloInstructionProto,
    computation: &HloComputationProto,
    ids: &Ids<'_>,
    out: &mut String,
) -> Result<()> {
    if instruction.id == computation.root_id {
        out.push_str("ROOT ");
    }
    let missing = || HloProtoError::new(HloProtoErrorKind::Missing { field: "shape" });
    let shape = Shape::try_from(instruction.shape.as_ref().ok_or_else(missing)?)?;
    let called = ids.called(instruction)?;
    let wrapped = ids.wrapped(instruction, computation);
    // Writing to memory does not fail.
    let _ = write!(out, "%{} = {shape} ", name(&instruction.name)?);
    match (&wrapped, step(&instruction.opcode)) {
        (Some(wrapped), Some(step)) => {
            let _ = write!(out, "{}{}(", name(&wrapped.root.opcode)?, step.suffix());
        }
        _ => {
            let _ = write!(out, "{}(", name(&instruction.opcode)?);
        }
    }
    match instruction.opcode.as_str() {
        "parameter" => {
            let _ = write!(out, "{}", instruction.parameter_number);
        }
        "constant" => match &instruction.literal {
            Some(literal) => constant(literal, &shape, out)?,
            None => out.push_str("{...}"),
        },
        _ => {
            for (i, operand) in ids.operands(instruction, computation)?.into_iter().enumerate() {
                match i {
                    0 => {}
                    _ if i % 5 == 0 => {
                        let _ = write!(out, ", /*index={i}*/");
                    }
                    _ => out.push_str(", "),
                }
                let _ = write!(out, "%{operand}");
            }
        }
    }
    out.push(')');
    let mut to = Attributes { out };
    let first = instruction.operand_ids.first().and_then(|id| ids.instruction(*id, computation));
    special(instruction, first, &mut to)?;
    if instruction.opcode == "async-start" {
        let thread = instruction.async_execution_thread.as_str();
        if !thread.is_empty() && thread != "main" {
            to.out.push_str(", async_execution_thread=\"");
            escaped(thread.as_bytes(), to.out);
            to.out.push('"');
        }
    }
    match wrapped {
        Some(Wrapped { root, computation }) if instruction.opcode == "async-start" => {
            let first = root.operand_ids.first().and_then(|id| ids.instruction(*id, computation));
            special(root, first, &mut to)?;
            calls(root, &ids.called(root)?, first, &mut to)?;
            placed(root, &mut to)?;
        }
        _ => calls(instruction, &called, first, &mut to)?,
    }
    let predecessors = ids.named(&instruction.control_predecessor_ids, computation)?;
    common(instruction, &predecessors, &mut to)
}

/// The computations that an instruction calls.
fn calls(
    instruction: &HloInstructionProto,
    called: &[&HloComputationProto],
    first: Option<&HloInstructionProto>,
    to: &mut Attributes<'_>,
) -> Result<()> {
    let named: Vec<&str> = called.iter().map(|computation| name(&computation.name)).collect::<Result<_>>()?;
    let mut each = |keys: &[&str]| {
        for (key, computation) in keys.iter().zip(&named) {
            let _ = write!(to.out, ", {key}=%{computation}");
        }
    };
    match instruction.opcode.as_str() {
        "while" => {
            // The body comes first in the message, the condition in the text.
            let (body, condition) = (named.first(), named.get(1));
            for (key, computation) in [("condition", condition), ("body", body)] {
                if let Some(computation) = computation {
                    let _ = write!(to.out, ", {key}=%{computation}");
                }
            }
        }
        "select-and-scatter" => each(&["select", "scatter"]),
        "conditional" if is_predicate(first) => {
            each(&["true_computation", "false_computation"]);
        }
        "conditional" => list("branch_computations", &named, to.out),
        "call" | "map" | "reduce-window" | "reduce" | "all-reduce" | "all-reduce-start" | "reduce-scatter"
        | "scatter" | "topk" | "sort" | "scan" | "collective-reduce" => each(&["to_apply"]),
        "custom-call" => list("called_computations", &named, to.out),
        "async-update" | "async-done" => {}
        _ => each(&["calls"]),
    }
    if instruction.opcode == "call" && instruction.is_composite {
        to.add("is_composite", "true");
    }
    Ok(())
}

/// Whether a conditional with this first operand chooses by a truth value.
fn is_predicate(first: Option<&HloInstructionProto>) -> bool {
    const PRED: i32 = 1;
    first.and_then(|operand| operand.shape.as_ref()).is_some_and(|shape| shape.element_type == PRED)
}

fn list(key: &str, names: &[&str], out: &mut String) {
    if names.is_empty() {
        return;
    }
    let _ = write!(out, ", {key}={{");
    for (i, name) in names.iter().enumerate() {
        let _ = write!(out, "{}%{name}", if i > 0 { ", " } else { "" });
    }
    out.push('}');
}
