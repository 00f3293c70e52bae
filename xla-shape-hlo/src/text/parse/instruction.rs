//! One instruction, with its operands.

use super::{Parser, Result, items, number, piece, span};
use crate::module::{InstructionRecord, Items, OperandRecord, Piece};
use crate::names::{NONE, hash};
use crate::opcode::Opcode;
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind};

impl<'a> Parser<'a> {
    /// Reads an instruction from its name on.
    pub(crate) fn instruction(&mut self, is_root: bool, first: usize) -> Result<()> {
        let (name, name_text) = match self.cursor.name() {
            (_, "") => return Err(self.cursor.unexpected(Expected::Instruction)),
            (start, text) => (piece(start, start.saturating_add(text.len())), text),
        };
        let name_hash = hash(name_text);
        let instructions = &self.module.instructions;
        let text_of = |number: u32| instructions.get(number as usize).map_or("", |known| self.module.piece(known.name));
        if self.names.get(name_text, name_hash, text_of).is_some() {
            let kind = ParseErrorKind::DuplicateName { name: Found::new(name_text) };
            return Err(ParseError::new(kind, span(name)));
        }
        self.cursor.skip_space()?;
        self.cursor.expect(b'=')?;
        self.cursor.skip_space()?;
        let (shape, shape_text) = self.shape()?;
        self.cursor.skip_space()?;
        let (opcode_start, opcode_name) = self.cursor.name();
        if opcode_name.is_empty() {
            return Err(self.cursor.unexpected(Expected::Opcode));
        }
        let opcode = Opcode::number(opcode_name).unwrap_or(u8::MAX);
        let opcode_text = piece(opcode_start, opcode_start.saturating_add(opcode_name.len()));
        self.cursor.skip_space()?;
        let open = self.cursor.position;
        let first_operand = self.module.operands.len();
        match opcode_name {
            "constant" => {
                self.cursor.peek_is(b'(')?;
                self.cursor.balanced()?;
            }
            "parameter" => self.parameter_number()?,
            _ => self.operands()?,
        }
        let arguments = piece(open.saturating_add(1), self.cursor.position.saturating_sub(1));
        let operands = items(first_operand, self.module.operands.len());
        let attributes = self.attributes()?;
        let record = InstructionRecord {
            name,
            shape_text,
            opcode_text,
            arguments,
            operands,
            attributes,
            shape,
            computation: number(self.module.computations.len()),
            end: self.last_end(attributes, arguments),
            opcode,
            is_root,
        };
        self.module.instructions.push(record);
        let instructions = &self.module.instructions;
        let text_of = |number: u32| instructions.get(number as usize).map_or("", |known| self.module.piece(known.name));
        debug_assert!(
            self.module.instructions.len() > first,
            "the names begin with the computation's first instruction"
        );
        self.names.insert(name_text, name_hash, number(instructions.len()).saturating_sub(1), text_of);
        Ok(())
    }

    /// Where an instruction with these attributes ends.
    fn last_end(&self, attributes: Items, arguments: Piece) -> u32 {
        let end = |piece: Piece| piece.start.saturating_add(piece.len);
        match self.module.attributes.last() {
            Some(last) if attributes.len > 0 => end(last.value),
            _ => end(arguments).saturating_add(1),
        }
    }

    fn parameter_number(&mut self) -> Result<()> {
        self.cursor.expect(b'(')?;
        self.cursor.skip_space()?;
        let start = self.cursor.position;
        if self.cursor.digits().parse::<u32>().is_err() {
            self.cursor.position = start;
            return Err(self.cursor.unexpected(Expected::ParameterNumber));
        }
        self.cursor.skip_space()?;
        self.cursor.expect(b')')
    }

    fn operands(&mut self) -> Result<()> {
        self.cursor.expect(b'(')?;
        self.cursor.skip_space()?;
        if self.cursor.eat(b')') {
            return Ok(());
        }
        loop {
            self.operand()?;
            self.cursor.skip_space()?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect_either(b',', b')');
            }
            self.cursor.skip_space()?;
        }
    }

    /// Reads `[shape] name`.
    fn operand(&mut self) -> Result<()> {
        let start = self.cursor.position;
        let mut shape = NONE;
        let (mut name_start, mut name) = self.cursor.name();
        let has_percent = name_start > start;
        if !has_percent && (name.is_empty() || matches!(self.cursor.peek(), Some(b'[' | b'('))) {
            self.cursor.position = start;
            if name.is_empty() && self.cursor.peek() != Some(b'(') {
                return Err(self.cursor.unexpected(Expected::Operand));
            }
            shape = self.shape()?.0;
            self.cursor.skip_space()?;
            (name_start, name) = self.cursor.name();
        }
        if name.is_empty() {
            return Err(self.cursor.unexpected(Expected::Operand));
        }
        let instructions = &self.module.instructions;
        let text_of = |number: u32| instructions.get(number as usize).map_or("", |known| self.module.piece(known.name));
        let instruction = self.names.get(name, hash(name), text_of).unwrap_or(NONE);
        if instruction == NONE {
            self.open_operands.push(number(self.module.operands.len()));
        }
        let name = piece(name_start, name_start.saturating_add(name.len()));
        self.module.operands.push(OperandRecord { name, shape, instruction });
        Ok(())
    }
}
