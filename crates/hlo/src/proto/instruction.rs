//! Prints one instruction and builds its record (`HloInstruction::CreateFromProto` and `PrintWithCanonicalNameMap` in
//! `xla/hlo/ir/hlo_instruction.cc`).

use super::attributes::{Attributes, Printer};
use super::constant::constant;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::ids::{Ids, InstructionEntry, Wrapped};
use super::message::instruction_field as field;
use super::module::{Writer, thread};
use super::wire::Record;
use super::words::{decimal, name};
use crate::asynchronous::{Step, step};
use crate::module::{Form, InstructionRecord, Items, OperandRecord, Piece, number};
use crate::names::{NONE, hash};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::ElementType;

type Result<T> = core::result::Result<T, HloProtoError>;

impl<'p> Writer<'_, 'p> {
    /// Prints an instruction, without its indentation.
    pub(super) fn instruction(
        &mut self,
        entry: &InstructionEntry<'p>,
        place: usize,
        computation: usize,
        is_root: bool,
    ) -> Result<()> {
        let mut record = core::mem::take(&mut self.record);
        let ids = self.ids;
        ids.read(entry, &mut record);
        let out = &mut self.text;
        out.push_str(if is_root { "ROOT %" } else { "%" });
        let name_piece = append(entry.name, out);
        let (shape, shape_text) = self.shapes.with_layout(record.bytes(field::SHAPE))?;
        out.push_str(" = ");
        let shape_text = append(shape_text, out);
        out.push(' ');
        let step = step(entry.opcode);
        // An asynchronous start that wraps one operation is printed in its short form, `all-gather-start(…)`: with the opcode, the operands
        // and the attributes of the operation.
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
                let value = record.number(field::PARAMETER_NUMBER);
                let unknown = HloProtoErrorKind::UnknownValue { field: "parameter_number", value };
                decimal(u32::try_from(value).map_err(|_| HloProtoError::new(unknown))?.into(), out);
            }
            Opcode::Constant => match record.bytes(field::LITERAL) {
                Some(literal) => constant(literal, self.shapes.shape(shape), out)?,
                None => out.push_str("{...}"),
            },
            _ => {
                for (i, operand) in ids.named(&record, field::OPERAND_IDS, "operand_ids", computation).enumerate() {
                    let operand = operand?;
                    // Entries are in the order of their definitions, so an operand comes before its user: this also excludes cycles.
                    if operand >= place {
                        return Err(ids.operand_after_user(operand));
                    }
                    match i {
                        0 => {}
                        // XLA writes the number of every fifth operand.
                        _ if i % 5 == 0 => {
                            out.push_str(", /*index=");
                            decimal(i as i64, out);
                            out.push_str("*/");
                        }
                        _ => out.push_str(", "),
                    }
                    out.push('%');
                    let operand_name = append(ids.entry(operand).map_or("", |operand| operand.name), out);
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
        let mut predecessors = Vec::new();
        for place in ids.named(&record, field::CONTROL_PREDECESSOR_IDS, "control_predecessor_ids", computation) {
            predecessors.push(ids.entry(place?).map_or("", |entry| entry.name));
        }
        let mut printer = Printer {
            opcode: entry.opcode,
            instruction: &record,
            operand: first_type(ids, entry.opcode, &record, computation)?,
            called: &ids.called(&record)?,
            predecessors: &predecessors,
            payloads: self.payloads,
            caches: &mut self.caches,
        };
        printer.special(&mut to)?;
        if step == Some(Step::Start) {
            thread(Key::AsyncExecutionThread, record.text(field::ASYNC_EXECUTION_THREAD)?, &mut to);
        }
        match (root, wrapped, step) {
            (Some(root), Some(Wrapped { computation, .. }), Some(Step::Start)) => {
                let of_root = ids.record(root);
                let mut inner = Printer {
                    opcode: root.opcode,
                    instruction: &of_root,
                    operand: first_type(ids, root.opcode, &of_root, computation)?,
                    called: &ids.called(&of_root)?,
                    predecessors: &[],
                    payloads: self.payloads,
                    caches: printer.caches,
                };
                inner.special(&mut to)?;
                inner.calls(&mut to)?;
                inner.wrapped(&record, &mut to)?;
            }
            _ => printer.calls(&mut to)?,
        }
        printer.common(&mut to)?;
        let attributes = to.end();
        self.record = record;
        let instruction = number(self.module.instructions.len());
        if let (Some(root), Some(Step::Start)) = (root, step) {
            self.module.wrapped.insert(instruction, root.name.to_owned());
        }
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
            form: Form::Named,
        });
        self.add_name(entry.name, instruction, name_piece)
    }

    /// Records the name of an instruction, which must be unique in the computation.
    fn add_name(&mut self, name: &str, instruction: u32, piece: Piece) -> Result<()> {
        let (text, instructions) = (&self.text, &self.module.instructions);
        let text_of = |number: u32| {
            let piece = instructions.get(number as usize).map_or(Piece::default(), |record| record.name);
            let start = piece.start as usize;
            text.as_bytes().get(start..start + piece.len as usize).unwrap_or(&[])
        };
        let of_name = hash(name.as_bytes());
        if self.names.get(name.as_bytes(), of_name, text_of).is_some() {
            return Err(self.duplicate(piece));
        }
        self.names.insert(name.as_bytes(), of_name, instruction, text_of);
        Ok(())
    }
}

/// Appends a text, and returns where it is.
fn append(text: &str, out: &mut String) -> Piece {
    let start = out.len();
    out.push_str(text);
    Piece::new(start, out.len())
}

fn opcode_text(opcode: Opcode<'_>) -> Result<&str> {
    if let Opcode::Other(text) = opcode { name(text) } else { Ok(opcode.text()) }
}

/// The element type of the first operand, for opcodes whose printed form depends on it.
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
    let id = instruction.numbers(field::OPERAND_IDS).next().transpose()?;
    let first = id.and_then(|id| ids.entry(ids.instruction(id, computation)?));
    let Some(first) = first else { return Ok(None) };
    let first = ids.record(first);
    let shape = Record::parse(first.bytes(field::SHAPE).unwrap_or(&[]))?;
    Ok(ElementType::from_proto_number(shape.short(ELEMENT_TYPE)))
}
