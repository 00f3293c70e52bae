//! One instruction as a line of text.

use super::attributes::{Attributes, common, placed, special};
use super::constant::constant;
use super::error::HloProtoError;
use super::ids::{Ids, Wrapped};
use super::message::{HloComputationProto, HloInstructionProto};
use super::shapes::Shapes;
use super::words::name;
use crate::asynchronous::step;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write as _;
use xla_shape_core::ElementType;
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// Prints an instruction, without the space before it.
pub(crate) fn instruction<'p>(
    instruction: &'p HloInstructionProto,
    computation: &'p HloComputationProto,
    ids: &Ids<'p>,
    shapes: &mut Shapes<'p>,
    out: &mut String,
) -> Result<()> {
    if instruction.id == computation.root_id {
        out.push_str("ROOT ");
    }
    let called = ids.called(instruction)?;
    let step = step(&instruction.opcode);
    let wrapped = step.and_then(|_| ids.wrapped(instruction, computation));
    let shape = shapes.of(instruction)?;
    for part in ["%", name(&instruction.name)?, " = ", &shape.text, " "] {
        out.push_str(part);
    }
    match (&wrapped, step) {
        (Some(wrapped), Some(step)) => {
            out.push_str(name(&wrapped.root.opcode)?);
            out.push_str(step.suffix());
        }
        _ => out.push_str(name(&instruction.opcode)?),
    }
    out.push('(');
    match instruction.opcode.as_str() {
        "parameter" => {
            let _ = write!(out, "{}", instruction.parameter_number);
        }
        "constant" => match &instruction.literal {
            Some(literal) => constant(literal, &shape.shape, out)?,
            None => out.push_str("{...}"),
        },
        _ => {
            for (i, operand) in ids.operands(instruction, computation).enumerate() {
                match i {
                    0 => {}
                    // Writing to memory does not fail.
                    _ if i % 5 == 0 => _ = write!(out, ", /*index={i}*/"),
                    _ => out.push_str(", "),
                }
                out.push('%');
                out.push_str(operand?);
            }
        }
    }
    out.push(')');
    let mut to = Attributes { out };
    let mut first_of = |instruction: &HloInstructionProto, computation: &'p HloComputationProto| {
        let first = ids.instruction(*instruction.operand_ids.first()?, computation)?;
        Some(shapes.of(first).ok()?.shape.array()?.element_type())
    };
    let first = match instruction.opcode.as_str() {
        "compare" | "conditional" => first_of(instruction, computation),
        _ => None,
    };
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
            let first = first_of(root, computation);
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
    first: Option<ElementType>,
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
        "conditional" if first == Some(ElementType::Pred) => {
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
