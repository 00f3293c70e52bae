//! Parsing computations: signatures, instructions, and operands that are used before their definition
//! (`HloParserImpl::ParseComputation` and `ParseInstructionList`).

use super::instruction::PartialInstruction;
use super::{Parser, Result, items, number, span};
use crate::module::{ComputationRecord, Form, InstructionRecord, Items, OperandRecord, Piece};
use crate::names::NONE;
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind, Span};

impl ComputationRecord {
    /// A computation without a signature and without instructions yet.
    pub(crate) const fn new(name: Piece) -> Self {
        Self {
            name,
            is_entry: false,
            is_fragment: false,
            has_head: false,
            parameters: Items { start: 0, len: 0 },
            result: NONE,
            instructions: Items { start: 0, len: 0 },
            root: NONE,
            attributes: Items { start: 0, len: 0 },
        }
    }
}

impl<'a> Parser<'a> {
    /// Parses a computation after its name.
    pub(crate) fn computation(&mut self, name: Piece, is_entry: bool) -> Result<()> {
        let first_parameter = self.module.operands.len();
        let (mut result, mut has_head) = (NONE, false);
        self.cursor.skip_space()?;
        if self.cursor.peek() == Some(b'(') {
            has_head = true;
            self.parameters()?;
            self.cursor.skip_space()?;
            self.cursor.expect(b'-')?;
            self.cursor.expect(b'>')?;
            self.cursor.skip_space()?;
            result = self.shape()?.0;
            self.cursor.skip_space()?;
        }
        let parameters = items(first_parameter, self.module.operands.len());
        self.cursor.expect(b'{')?;
        self.instructions(ComputationRecord { is_entry, has_head, parameters, result, ..ComputationRecord::new(name) })
    }

    /// Parses instructions outside any computation.
    pub(crate) fn fragment(&mut self) -> Result<()> {
        self.in_fragment = true;
        let record = ComputationRecord { is_fragment: true, ..ComputationRecord::new(Piece::default()) };
        let result = self.instructions(record);
        self.in_fragment = false;
        result
    }

    /// Reads `(name: shape, …)`.
    fn parameters(&mut self) -> Result<()> {
        self.cursor.expect(b'(')?;
        self.cursor.skip_space()?;
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            self.cursor.skip_space()?;
            let name = self.name(Expected::Name)?;
            self.cursor.skip_space()?;
            self.cursor.eat(b':');
            self.cursor.skip_space()?;
            let shape = self.shape()?.0;
            self.module.operands.push(OperandRecord { shape, ..OperandRecord::new(name) });
            self.cursor.skip_space()?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect_either(b',', b')');
            }
        }
    }

    /// Parses the instructions of a computation and the attributes after its closing brace.
    pub(crate) fn instructions(&mut self, mut record: ComputationRecord) -> Result<()> {
        let (first, depth) = (self.module.instructions.len(), self.depth);
        let errors = self.errors.len();
        self.names.restart(number(first));
        self.open_operands.clear();
        self.elements.clear();
        let read = self.instructions_of(&mut record);
        // This is done even after an error that ends the computation, because the instructions before the error are kept.
        let result = read.and(self.resolve_open_operands(record.is_fragment));
        let last = self.module.instructions.len();
        let nested = core::mem::take(&mut self.nested);
        if last == first {
            // If instructions were skipped, their errors are reported already.
            return if result.is_err() || self.errors.len() > errors {
                result
            } else {
                self.report(ParseError::new(ParseErrorKind::NoInstructions, span(record.name)))
            };
        }
        record.instructions = items(first, last);
        if record.root == NONE {
            record.root = number(last).saturating_sub(1);
        }
        self.depth = depth;
        let result = result.and_then(|()| self.nested_computations(nested));
        self.depth = depth;
        // Nested computations were added before this one.
        let computation = number(self.module.computations.len());
        for instruction in self.module.instructions.get_mut(first..last).unwrap_or_default() {
            if instruction.computation == computation {
                break;
            }
            instruction.computation = computation;
        }
        self.module.computations.push(record);
        result
    }

    /// Parses instructions up to the end of their computation.
    fn instructions_of(&mut self, record: &mut ComputationRecord) -> Result<()> {
        let mut is_open = true;
        while is_open {
            let start = self.cursor.position;
            match self.instruction_or_end(record) {
                Ok(more) => is_open = more,
                Err(error) => {
                    self.or_recover(Err(error), start)?;
                    // At the end of the text there is nothing more to parse.
                    is_open = self.cursor.peek().is_some();
                }
            }
        }
        Ok(())
    }

    /// Parses one instruction, or the end of the computation; returns whether it was an instruction.
    fn instruction_or_end(&mut self, record: &mut ComputationRecord) -> Result<bool> {
        self.cursor.skip_space()?;
        if record.is_fragment {
            if !self.cursor.begins_instruction() {
                return Ok(false);
            }
        } else if self.cursor.eat(b'}') {
            record.attributes = self.attributes()?;
            return Ok(false);
        }
        let start = self.cursor.position;
        let is_root = self.cursor.begins_root() && self.cursor.eat_word("ROOT");
        if is_root {
            self.cursor.skip_space()?;
        }
        let before = self.lengths();
        self.partial = PartialInstruction::default();
        let result = self.instruction(is_root);
        let is_read = result.is_ok();
        if let Err(error) = &result {
            self.roll_back(before);
            if !self.recovers || !self.keep_unread(error.span(), is_root) {
                return result.map(|()| true);
            }
        }
        // An instruction that cannot be read stays in the list, without an opcode, because it can be the root.
        if is_root && record.root == NONE {
            record.root = number(self.module.instructions.len()).saturating_sub(1);
        } else if is_root && is_read {
            let span = Span { start, end: start + "ROOT".len() };
            self.report(ParseError::new(ParseErrorKind::SecondRoot, span))?;
        }
        result.map(|()| true)
    }

    /// Keeps the parts of an instruction that could not be read. Returns `false` if not even its name was read.
    fn keep_unread(&mut self, error: Span, is_root: bool) -> bool {
        let Some(name) = self.partial.name else { return false };
        let (shape, shape_text) = self.partial.shape.unwrap_or((NONE, name));
        let (opcode, opcode_text) = self.partial.opcode.unwrap_or((u8::MAX, Piece { len: 0, ..name }));
        let rest = self.cursor.text().as_bytes().get(error.end..).unwrap_or(&[]);
        let line = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        self.module.instructions.push(InstructionRecord {
            name,
            shape_text: if shape == NONE { Piece { len: 0, ..name } } else { shape_text },
            opcode_text,
            arguments: Piece { len: 0, ..name },
            operands: Items::default(),
            attributes: Items::default(),
            shape,
            computation: number(self.module.computations.len()),
            end: number(error.end + line),
            opcode,
            is_root,
            form: Form::Unread,
        });
        let instruction = number(self.module.instructions.len()).saturating_sub(1);
        let text = self.cursor.text();
        let text = text.get(core::ops::Range::from(span(name))).unwrap_or("");
        self.add_name(text, instruction);
        true
    }

    /// Resolves the operands that are used before their definition.
    fn resolve_open_operands(&mut self, may_be_unknown: bool) -> Result<()> {
        let mut result = Ok(());
        for open in core::mem::take(&mut self.open_operands) {
            let Some(operand) = self.module.operands.get(open as usize) else { continue };
            let name = operand.name;
            let text = self.module.piece(name);
            match self.find(text) {
                Some(instruction) => {
                    if let Some(operand) = self.module.operands.get_mut(open as usize) {
                        operand.instruction = instruction;
                    }
                }
                None if may_be_unknown || result.is_err() => {}
                None => {
                    let kind = ParseErrorKind::UnknownInstruction { name: Found::new(text) };
                    result = self.report(ParseError::new(kind, span(name)));
                }
            }
        }
        result
    }
}
