//! One instruction: a line of text, and a record of it.

use super::attributes::{Attributes, common, placed, special};
use super::constant::constant;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::ids::{Entry, Ids, Wrapped};
use super::message::instruction_field as field;
use super::module::{Writer, thread};
use super::wire::Record;
use super::words::{decimal, name};
use crate::asynchronous::{Step, step};
use crate::module::{InstructionRecord, Items, OperandRecord, Origin, Piece, number};
use crate::names::{NONE, hash};
use crate::opcode::Opcode;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::ElementType;

type Result<T> = core::result::Result<T, HloProtoError>;

impl<'p> Writer<'_, 'p> {
    /// Writes an instruction, without the space before it.
    pub(super) fn instruction(
        &mut self,
        entry: &Entry<'p>,
        place: usize,
        computation: usize,
        is_root: bool,
    ) -> Result<()> {
        let mut record = core::mem::take(&mut self.record);
        let ids = self.ids;
        ids.read(entry, &mut record);
        let out = &mut self.text;
        out.push_str(if is_root { "ROOT %" } else { "%" });
        let name_piece = written(entry.name, out);
        let (shape, shape_text) = self.shapes.of(record.bytes(field::shape))?;
        out.push_str(" = ");
        let shape_text = written(shape_text, out);
        out.push(' ');
        let step = step(entry.opcode);
        let wrapped = step.and_then(|_| ids.wrapped(place));
        let root = wrapped.and_then(|wrapped| ids.entry(wrapped.root));
        let start = out.len();
        let opcode = match (root, step) {
            (Some(root), Some(step)) => {
                out.push_str(opcode_text(root.opcode)?);
                out.push_str(step.suffix());
                Opcode::number(out.get(start..).unwrap_or("")).unwrap_or(u8::MAX)
            }
            _ => {
                out.push_str(opcode_text(entry.opcode)?);
                entry.number
            }
        };
        let opcode_text = Piece::new(start, out.len());
        out.push('(');
        let start = out.len();
        let first_operand = self.module.operands.len();
        match entry.opcode {
            Opcode::Parameter => {
                let value = record.number(field::parameter_number);
                let unknown = HloProtoErrorKind::UnknownValue { field: "parameter_number", value };
                decimal(u32::try_from(value).map_err(|_| HloProtoError::new(unknown))?.into(), out);
            }
            Opcode::Constant => match record.bytes(field::literal) {
                Some(literal) => constant(literal, self.shapes.shape(shape), out)?,
                None => out.push_str("{...}"),
            },
            _ => {
                for (i, operand) in ids.named(&record, field::operand_ids, "operand_ids", computation).enumerate() {
                    let operand = operand?;
                    match i {
                        0 => {}
                        _ if i % 5 == 0 => {
                            out.push_str(", /*index=");
                            decimal(i as i64, out);
                            out.push_str("*/");
                        }
                        _ => out.push_str(", "),
                    }
                    out.push('%');
                    let operand_name = written(ids.entry(operand).map_or("", |operand| operand.name), out);
                    let known = self.numbers.get(operand).copied().filter(|number| *number != NONE);
                    let instruction = known.ok_or_else(|| ids.unscheduled(operand))?;
                    self.module.operands.push(OperandRecord { instruction, ..OperandRecord::new(operand_name) });
                }
            }
        }
        let arguments = Piece::new(start, out.len());
        out.push(')');
        let arguments_end = out.len();
        let mut to = Attributes::new(out, &mut self.module.attributes);
        let called = ids.called(&record)?;
        let first_type = first_type(ids, entry.opcode, &record, computation)?;
        special(entry.opcode, &record, first_type, &mut to)?;
        match (root, wrapped, step) {
            (Some(root), Some(Wrapped { computation, .. }), Some(Step::Start)) => {
                thread("async_execution_thread", record.text(field::async_execution_thread)?, &mut to);
                let of_root = ids.record(root);
                let first_type = self::first_type(ids, root.opcode, &of_root, computation)?;
                special(root.opcode, &of_root, first_type, &mut to)?;
                calls(ids, root.opcode, &of_root, &ids.called(&of_root)?, first_type, &mut to);
                placed(&of_root, &mut self.said, &mut to)?;
            }
            _ => {
                if step == Some(Step::Start) {
                    thread("async_execution_thread", record.text(field::async_execution_thread)?, &mut to);
                }
                calls(ids, entry.opcode, &record, &called, first_type, &mut to);
            }
        }
        let mut predecessors = Vec::new();
        for place in ids.named(&record, field::control_predecessor_ids, "control_predecessor_ids", computation) {
            predecessors.push(ids.entry(place?).map_or("", |entry| entry.name));
        }
        common(&record, self.payloads, &predecessors, &mut self.said, &mut to)?;
        let attributes = to.end();
        self.record = record;
        let instruction = number(self.module.instructions.len());
        let text = &self.text;
        let end = if attributes.len > 0 { text.len() } else { arguments_end };
        self.module.instructions.push(InstructionRecord {
            name: name_piece,
            shape_text,
            opcode_text,
            arguments,
            operands: Items::new(first_operand, self.module.operands.len()),
            attributes,
            shape,
            computation: number(self.module.computations.len()),
            end: number(end),
            opcode,
            is_root,
            origin: Origin::Written,
        });
        self.add_name(entry.name, instruction, name_piece)
    }

    /// Notes the name of an instruction, which no other one of the computation may have.
    fn add_name(&mut self, name: &str, instruction: u32, piece: Piece) -> Result<()> {
        let (text, instructions) = (&self.text, &self.module.instructions);
        let text_of = |number: u32| {
            let piece = instructions.get(number as usize).map_or(Piece::default(), |record| record.name);
            let start = piece.start as usize;
            text.as_bytes().get(start..start.saturating_add(piece.len as usize)).unwrap_or(&[])
        };
        let of_name = hash(name.as_bytes());
        if self.names.get(name.as_bytes(), of_name, text_of).is_some() {
            return Err(self.duplicate(piece));
        }
        self.names.insert(name.as_bytes(), of_name, instruction, text_of);
        Ok(())
    }
}

/// Writes this, and says where it stands.
fn written(text: &str, out: &mut String) -> Piece {
    let start = out.len();
    out.push_str(text);
    Piece::new(start, out.len())
}

fn opcode_text(opcode: Opcode<'_>) -> Result<&str> {
    if let Opcode::Other(text) = opcode { name(text) } else { Ok(opcode.text()) }
}

/// The element type of the first operand, for opcodes that are printed otherwise for another.
fn first_type(
    ids: &Ids<'_>,
    opcode: Opcode<'_>,
    instruction: &Record<'_>,
    computation: usize,
) -> Result<Option<ElementType>> {
    /// The field of a shape's message.
    const ELEMENT_TYPE: u32 = 2;
    if !matches!(opcode, Opcode::Compare | Opcode::Conditional) {
        return Ok(None);
    }
    let id = instruction.numbers(field::operand_ids).next().transpose()?;
    let first = id.and_then(|id| ids.entry(ids.instruction(id, computation)?));
    let Some(first) = first else { return Ok(None) };
    let first = ids.record(first);
    let shape = Record::of(first.bytes(field::shape).unwrap_or(&[]))?;
    Ok(ElementType::from_proto_number(shape.short(ELEMENT_TYPE)))
}

/// The computations that an instruction calls.
fn calls(
    ids: &Ids<'_>,
    opcode: Opcode<'_>,
    instruction: &Record<'_>,
    called: &[usize],
    first: Option<ElementType>,
    to: &mut Attributes<'_>,
) {
    let computation = |place: &usize| ids.groups.get(*place).map_or("", |group| group.name);
    let mut each = |keys: &[&str], called: &[usize]| {
        for (key, place) in keys.iter().zip(called) {
            to.open(key);
            to.out.push('%');
            to.out.push_str(computation(place));
        }
    };
    match opcode {
        Opcode::While => {
            // The body comes first in the message, the condition in the text.
            each(&["condition"], called.get(1..2).unwrap_or(&[]));
            each(&["body"], called);
        }
        Opcode::SelectAndScatter => each(&["select", "scatter"], called),
        Opcode::Conditional if first == Some(ElementType::Pred) => {
            each(&["true_computation", "false_computation"], called);
        }
        Opcode::Conditional | Opcode::CustomCall if called.is_empty() => {}
        Opcode::Conditional | Opcode::CustomCall => {
            let is_custom = opcode == Opcode::CustomCall;
            to.open(if is_custom { "called_computations" } else { "branch_computations" });
            to.out.push('{');
            for (i, place) in called.iter().enumerate() {
                to.out.push_str(if i > 0 { ", %" } else { "%" });
                to.out.push_str(computation(place));
            }
            to.out.push('}');
        }
        Opcode::Call
        | Opcode::Map
        | Opcode::ReduceWindow
        | Opcode::Reduce
        | Opcode::AllReduce
        | Opcode::AllReduceStart
        | Opcode::ReduceScatter
        | Opcode::Scatter
        | Opcode::Topk
        | Opcode::Sort
        | Opcode::Scan
        | Opcode::CollectiveReduce => each(&["to_apply"], called),
        Opcode::AsyncUpdate | Opcode::AsyncDone => {}
        _ => each(&["calls"], called),
    }
    if opcode == Opcode::Call && instruction.flag(field::is_composite) {
        to.text("is_composite", "true");
    }
}
