//! Computations: their heads, their instructions one after the other, and the operands that were named too early.

use super::{Parser, Result, items, number, span};
use crate::module::{ComputationRecord, Items, OperandRecord, Piece};
use crate::names::{NONE, hash};
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind, Span};

impl<'a> Parser<'a> {
    /// Reads a computation from behind its name.
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
        let record = ComputationRecord {
            name,
            is_entry,
            is_fragment: false,
            has_head,
            parameters,
            result,
            instructions: Items::default(),
            root: NONE,
            attributes: Items::default(),
        };
        self.instructions(record)
    }

    /// Reads instructions that stand outside any computation.
    pub(crate) fn fragment(&mut self) -> Result<()> {
        let record = ComputationRecord {
            name: Piece::default(),
            is_entry: false,
            is_fragment: true,
            has_head: false,
            parameters: Items::default(),
            result: NONE,
            instructions: Items::default(),
            root: NONE,
            attributes: Items::default(),
        };
        self.instructions(record)
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
            self.cursor.expect(b':')?;
            self.cursor.skip_space()?;
            let shape = self.shape()?.0;
            self.module.operands.push(OperandRecord { shape, ..OperandRecord::new(name) });
            self.cursor.skip_space()?;
            if !self.cursor.eat(b',') {
                return self.cursor.expect_either(b',', b')');
            }
        }
    }

    /// Reads the instructions of a computation and what stands behind its closing brace.
    fn instructions(&mut self, mut record: ComputationRecord) -> Result<()> {
        let first = self.module.instructions.len();
        let errors = self.errors.len();
        self.names.restart(number(first));
        self.open_operands.clear();
        let read = self.instructions_of(&mut record, first);
        // Also when the rest of the computation is given up: what was read of it is kept.
        let result = read.and(self.resolve_open_operands(record.is_fragment));
        if self.module.instructions.len() == first {
            // What was left out has its error.
            return if result.is_err() || self.errors.len() > errors {
                result
            } else {
                self.report(ParseError::new(ParseErrorKind::NoInstructions, span(record.name)))
            };
        }
        record.instructions = items(first, self.module.instructions.len());
        if record.root == NONE {
            record.root = number(self.module.instructions.len()).saturating_sub(1);
        }
        self.module.computations.push(record);
        result
    }

    /// Reads instructions up to the end of their computation.
    fn instructions_of(&mut self, record: &mut ComputationRecord, first: usize) -> Result<()> {
        let mut is_open = true;
        while is_open {
            let start = self.cursor.position;
            match self.instruction_or_end(record, first) {
                Ok(more) => is_open = more,
                Err(error) => {
                    self.or_go_on(Err(error), start)?;
                    // At the end of the text nothing is left to go on with.
                    is_open = self.cursor.peek().is_some();
                }
            }
        }
        Ok(())
    }

    /// Reads one instruction, or the end of the computation; says whether it was an instruction.
    fn instruction_or_end(&mut self, record: &mut ComputationRecord, first: usize) -> Result<bool> {
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
        let lengths = (self.module.operands.len(), self.module.attributes.len(), self.open_operands.len());
        let result = self.instruction(is_root, first);
        match result {
            Ok(()) if is_root && record.root != NONE => {
                let span = Span { start, end: start.saturating_add("ROOT".len()) };
                self.report(ParseError::new(ParseErrorKind::SecondRoot, span))?;
            }
            Ok(()) if is_root => record.root = number(self.module.instructions.len()).saturating_sub(1),
            Ok(()) => {}
            Err(error) => {
                self.module.operands.truncate(lengths.0);
                self.module.attributes.truncate(lengths.1);
                self.open_operands.truncate(lengths.2);
                return Err(error);
            }
        }
        Ok(true)
    }

    /// Finds the instructions of operands that were named before them.
    fn resolve_open_operands(&mut self, may_be_unknown: bool) -> Result<()> {
        let mut result = Ok(());
        for open in core::mem::take(&mut self.open_operands) {
            let Some(operand) = self.module.operands.get(open as usize) else { continue };
            let (name, text) = (operand.name, self.module.piece(operand.name));
            let instructions = &self.module.instructions;
            let text_of =
                |number: u32| instructions.get(number as usize).map_or("", |known| self.module.piece(known.name));
            match self.names.get(text, hash(text), text_of) {
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
