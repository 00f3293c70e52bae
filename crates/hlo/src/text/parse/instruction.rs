//! Parsing one instruction (`HloParserImpl::ParseInstruction` and `ParseInstructionRhs`) and its operands, which can be
//! instructions themselves (`ParseOperands`).

use super::{Parser, Result, items, number, piece, span};
use crate::module::{AttributeRecord, Form, InstructionRecord, Items, OperandRecord, Piece};
use crate::names::{NONE, hash};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use xla_shape_core::text::{Expected, Found, MAX_NESTING, ParseError, ParseErrorKind, Span};

/// The parts of an instruction read so far, kept if the rest cannot be read.
#[derive(Clone, Copy, Default)]
pub(crate) struct PartialInstruction {
    pub(crate) name: Option<Piece>,
    pub(crate) shape: Option<(u32, Piece)>,
    pub(crate) opcode: Option<(u8, Piece)>,
}

/// How the text writes an operand.
enum OperandText {
    /// `[shape] name`.
    Name(OperandRecord),
    /// `[shape] name#index`: an element of the tuple `name`.
    Element(OperandRecord, u32),
    /// A nested instruction: `[shape] opcode(operands)`.
    Instruction,
    /// A shape alone, which XLA skips like an empty operand.
    Nothing,
}

impl<'a> Parser<'a> {
    /// Parses an instruction that begins with its name.
    pub(crate) fn instruction(&mut self, is_root: bool) -> Result<()> {
        let start = self.cursor.position;
        let (name, text) = match self.cursor.name() {
            (_, "") => return Err(self.cursor.unexpected(Expected::Instruction)),
            (start, text) => (piece(start, start + text.len()), text),
        };
        let text_hash = hash(text.as_bytes());
        if let Some(taken) = self.hashed(text, text_hash) {
            self.free_name(taken, text, name)?;
        }
        self.partial.name = Some(name);
        // XLA's lexer reads an identifier without `%` and a colon after it as one token (`HloLexer::LexIdentifier`).
        if name.start as usize == start {
            self.cursor.eat(b':');
        }
        self.cursor.skip_space()?;
        self.cursor.expect(b'=')?;
        self.cursor.skip_space()?;
        let instruction = self.right_side(Some(name), is_root)?;
        self.names.insert(text.as_bytes(), text_hash, instruction, |number| self.module.name_bytes(number));
        Ok(())
    }

    /// The number of the instruction of this computation with this name.
    #[inline]
    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.hashed(name, hash(name.as_bytes()))
    }

    #[inline]
    fn hashed(&self, name: &str, hash: u32) -> Option<u32> {
        self.names.get(name.as_bytes(), hash, |number| self.module.name_bytes(number))
    }

    pub(crate) fn add_name(&mut self, name: &str, instruction: u32) {
        let name = name.as_bytes();
        self.names.insert(name, hash(name), instruction, |number| self.module.name_bytes(number));
    }

    /// Frees a name that another instruction has. If that instruction is implied, it is renamed. Otherwise the name is a duplicate, which is
    /// an error.
    #[cold]
    fn free_name(&mut self, taken: u32, text: &str, name: Piece) -> Result<()> {
        let implied = self.module.instructions.get(taken as usize).filter(|known| known.form == Form::Implied);
        let Some(place) = implied.map(|known| self.module.span(known.name)) else {
            let kind = ParseErrorKind::DuplicateName { name: Found::new(text) };
            return Err(ParseError::new(kind, span(name)));
        };
        let (new, generated) = self.new_name(text, 1, piece(place.start, place.end))?;
        if let Some(known) = self.module.instructions.get_mut(taken as usize) {
            known.name = generated;
        }
        self.add_name(&new, taken);
        Ok(())
    }

    /// Generates a name that no instruction of the computation has: `base` with the first free number from `from` on.
    fn new_name(&mut self, base: &str, from: usize, place: Piece) -> Result<(String, Piece)> {
        let mut count = from;
        let name = loop {
            let name = if count == 0 { base.to_owned() } else { format!("{base}.{count}") };
            if self.find(&name).is_none() {
                break name;
            }
            count += 1;
        };
        let generated = self.module.generate(format_args!("{name}"), place);
        Ok((name, generated.ok_or_else(|| self.no_room(place))?))
    }

    #[cold]
    fn no_room(&self, place: Piece) -> ParseError {
        ParseError::new(ParseErrorKind::TextTooLong { limit: self.cursor.text().len() }, span(place))
    }

    /// Parses an instruction after its name. A nested instruction has no name, and gets a generated one.
    pub(crate) fn right_side(&mut self, name: Option<Piece>, is_root: bool) -> Result<u32> {
        let start = self.cursor.position;
        let shape = self.shape_or_none()?;
        self.partial.shape = shape;
        let (shape, shape_text) = shape.unwrap_or((NONE, piece(start, start)));
        self.cursor.skip_space()?;
        let (opcode_start, opcode_name) = self.cursor.name();
        if opcode_name.is_empty() {
            return Err(self.cursor.unexpected(Expected::Opcode));
        }
        let opcode = Opcode::number(opcode_name).unwrap_or(u8::MAX);
        let opcode_text = piece(opcode_start, opcode_start + opcode_name.len());
        let partial = PartialInstruction { opcode: Some((opcode, opcode_text)), ..self.partial };
        self.partial = partial;
        self.cursor.skip_space()?;
        let open = self.cursor.position;
        let operands = match opcode_name {
            "constant" => {
                self.cursor.peek_is(b'(')?;
                self.cursor.balanced()?;
                Items::default()
            }
            "parameter" => {
                self.parameter_number()?;
                Items::default()
            }
            _ => self.operands()?,
        };
        self.partial = partial;
        let end = self.cursor.position;
        let (name, attributes, form) = match name {
            Some(name) => (name, self.attributes()?, Form::Named),
            None => (self.anonymous(opcode_name, piece(start, end))?, Items::default(), Form::Implied),
        };
        self.has_omitted |= shape == NONE;
        let arguments = piece(open + 1, end.saturating_sub(1));
        self.module.instructions.push(InstructionRecord {
            name,
            shape_text,
            opcode_text,
            arguments,
            operands,
            attributes,
            shape,
            computation: number(self.module.computations.len()),
            end: self.last_end(attributes, number(end)),
            opcode,
            is_root,
            form,
        });
        Ok(number(self.module.instructions.len()).saturating_sub(1))
    }

    /// The text offset where an instruction with these attributes ends.
    #[expect(clippy::arithmetic_side_effects, reason = "a value ends in the text, whose offsets are `u32`")]
    fn last_end(&self, attributes: Items, arguments: u32) -> u32 {
        match self.module.attributes.last() {
            Some(last) if attributes.len > 0 => last.value.start + last.value.len,
            _ => arguments,
        }
    }

    /// Generates a name for a nested instruction, as XLA does: `negate.anon`.
    fn anonymous(&mut self, opcode: &str, place: Piece) -> Result<Piece> {
        let count = self.anonymous.get(opcode).copied().unwrap_or(0);
        self.anonymous.insert(opcode.to_owned(), count + 1);
        Ok(self.new_name(&format!("{opcode}.anon"), count, place)?.1)
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

    fn operands(&mut self) -> Result<Items> {
        self.cursor.expect(b'(')?;
        self.cursor.skip_space()?;
        let mut first = self.module.operands.len();
        if self.cursor.eat(b')') {
            return Ok(items(first, first));
        }
        // A nested operand adds operands of its own to the list. So, from the first nested operand on, the operands of this instruction wait in a
        // separate list; the operands of each instruction are then consecutive.
        let (waiting, mut waits, mut is_open) = (self.waiting.len(), false, false);
        loop {
            let start = self.cursor.position;
            // XLA skips empty operands, which it prints if names are turned off.
            if matches!(self.cursor.peek(), Some(b',' | b')')) {
                if self.cursor.eat(b')') {
                    break;
                }
                self.cursor.eat(b',');
                self.cursor.skip_space()?;
                continue;
            }
            let written = self.operand_text()?;
            if !waits && !matches!(written, OperandText::Name(_)) {
                self.waiting.extend(self.module.operands.drain(first..));
                waits = true;
            }
            let operand = match written {
                OperandText::Name(operand) => operand,
                OperandText::Element(tuple, index) => {
                    let mut element = self.element(tuple, index)?;
                    // The element can be a tuple itself: `x#1#0`.
                    let mut depth = 1_usize;
                    while self.cursor.peek() == Some(b'#') {
                        if depth == MAX_NESTING {
                            let place = Span { start, end: self.cursor.position };
                            return Err(ParseError::new(ParseErrorKind::TooDeep { limit: MAX_NESTING }, place));
                        }
                        depth += 1;
                        let index = self.index()?;
                        element = self.element(element, index)?;
                    }
                    element
                }
                OperandText::Instruction => self.nested_operand(start)?,
                OperandText::Nothing => {
                    self.cursor.eat(b',');
                    self.cursor.skip_space()?;
                    continue;
                }
            };
            is_open |= operand.instruction == NONE;
            if waits {
                self.waiting.push(operand);
            } else {
                self.module.operands.push(operand);
            }
            self.cursor.skip_space()?;
            if !self.cursor.eat(b',') {
                self.cursor.expect_either(b',', b')')?;
                break;
            }
            self.cursor.skip_space()?;
        }
        if waits {
            first = self.module.operands.len();
            self.module.operands.extend(self.waiting.drain(waiting..));
        }
        let items = items(first, self.module.operands.len());
        if is_open {
            let open = |&number: &u32| {
                self.module.operands.get(number as usize).is_some_and(|operand| operand.instruction == NONE)
            };
            self.open_operands.extend(items.indices().filter(open));
        }
        Ok(items)
    }

    /// Reads `[shape] name` or `[shape] name#index`, or detects a nested instruction.
    fn operand_text(&mut self) -> Result<OperandText> {
        let start = self.cursor.position;
        let mut shape = NONE;
        let (mut name_start, mut name) = self.cursor.name();
        let has_percent = name_start > start;
        if !has_percent && (name.is_empty() || matches!(self.cursor.peek(), Some(b'[' | b'('))) {
            if name.is_empty() && self.cursor.peek() != Some(b'(') {
                return Err(self.cursor.unexpected(Expected::Operand));
            }
            self.cursor.position = start;
            if !self.cursor.begins_shape() {
                return Ok(OperandText::Instruction);
            }
            shape = self.shape()?.0;
            self.cursor.skip_space()?;
            (name_start, name) = self.cursor.name();
            if self.cursor.peek() == Some(b'(') {
                return Ok(OperandText::Instruction);
            }
        }
        if name.is_empty() {
            return match self.cursor.peek() {
                Some(b',' | b')') if shape != NONE && self.in_fragment => self.unnamed(shape, start),
                Some(b',' | b')') if shape != NONE => Ok(OperandText::Nothing),
                _ => Err(self.cursor.unexpected(Expected::Operand)),
            };
        }
        let instruction = self.find(name).unwrap_or(NONE);
        let name = piece(name_start, name_start + name.len());
        let operand = OperandRecord { name, shape, instruction };
        if matches!(self.cursor.peek(), Some(b',' | b')')) {
            return Ok(OperandText::Name(operand));
        }
        // XLA's lexer reads an identifier without `%` and a colon after it as one token (`HloLexer::LexIdentifier`).
        if !has_percent {
            self.cursor.eat(b':');
        }
        self.cursor.skip_space()?;
        if self.cursor.peek() == Some(b'#') { self.indexed(operand) } else { Ok(OperandText::Name(operand)) }
    }

    /// An operand of a single instruction that has only a shape. XLA names it `_0`, `_1`, … (`HloParserImpl::ParseSingleInstruction`).
    fn unnamed(&mut self, shape: u32, start: usize) -> Result<OperandText> {
        let place = piece(start, self.cursor.position);
        let name = self.module.generate(format_args!("_{}", self.unnamed_operands), place);
        self.unnamed_operands += 1;
        let name = name.ok_or_else(|| self.no_room(place))?;
        Ok(OperandText::Name(OperandRecord { name, shape, instruction: NONE }))
    }

    /// Reads `#index` after the name of a tuple.
    fn indexed(&mut self, tuple: OperandRecord) -> Result<OperandText> {
        let index = self.index()?;
        if tuple.instruction != NONE {
            return Ok(OperandText::Element(tuple, index));
        }
        if !self.in_fragment {
            // XLA inserts the get-tuple-element before this instruction, so the tuple must be defined already.
            let kind = ParseErrorKind::UnknownInstruction { name: Found::new(self.module.piece(tuple.name)) };
            return Err(ParseError::new(kind, span(tuple.name)));
        }
        while self.cursor.peek() == Some(b'#') {
            self.index()?;
        }
        Ok(OperandText::Name(OperandRecord { name: piece(tuple.name.start as usize, self.cursor.position), ..tuple }))
    }

    /// Reads `#index`.
    fn index(&mut self) -> Result<u32> {
        self.cursor.eat(b'#');
        self.cursor.skip_space()?;
        let start = self.cursor.position;
        self.cursor.digits().parse().map_err(|_| {
            self.cursor.position = start;
            self.cursor.unexpected(Expected::Value("the number of a tuple element"))
        })
    }

    /// Adds a get-tuple-element before the instruction that is being parsed.
    fn element(&mut self, tuple: OperandRecord, index: u32) -> Result<OperandRecord> {
        let place = piece(tuple.name.start as usize, self.cursor.position);
        let shape = tuple.shape;
        if let Some(&instruction) = self.elements.get(&(tuple.instruction, index)) {
            return Ok(OperandRecord { name: place, shape, instruction });
        }
        let base = format!("{}_{index}", self.module.instruction_name(tuple.instruction));
        let (text, name) = self.new_name(&base, 0, place)?;
        let key =
            self.module.generate(format_args!("{}", Key::Index.name()), place).ok_or_else(|| self.no_room(place))?;
        let before = self.cursor.text().as_bytes().get(..self.cursor.position).unwrap_or(&[]);
        let count = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = piece(self.cursor.position.saturating_sub(count), self.cursor.position);
        let (operands, attributes) = (self.module.operands.len(), self.module.attributes.len());
        self.module.attributes.push(AttributeRecord { key, value: digits });
        self.module.operands.push(OperandRecord { shape: NONE, ..tuple });
        let instruction = number(self.module.instructions.len());
        self.module.instructions.push(InstructionRecord {
            name,
            shape_text: piece(self.cursor.position, self.cursor.position),
            opcode_text: Piece::default(),
            arguments: tuple.name,
            operands: items(operands, self.module.operands.len()),
            attributes: items(attributes, self.module.attributes.len()),
            shape: NONE,
            computation: number(self.module.computations.len()),
            end: number(self.cursor.position),
            opcode: Opcode::number("get-tuple-element").unwrap_or(u8::MAX),
            is_root: false,
            form: Form::Implied,
        });
        self.has_omitted = true;
        self.elements.insert((tuple.instruction, index), instruction);
        self.new_elements.push((tuple.instruction, index));
        self.add_name(&text, instruction);
        Ok(OperandRecord { name: place, shape, instruction })
    }

    /// Parses a nested instruction, which is an operand.
    fn nested_operand(&mut self, start: usize) -> Result<OperandRecord> {
        self.cursor.position = start;
        self.deeper(Span { start, end: start + 1 })?;
        let instruction = self.right_side(None, false);
        self.depth = self.depth.saturating_sub(1);
        let instruction = instruction?;
        let name = String::from(self.module.instruction_name(instruction));
        self.add_name(&name, instruction);
        Ok(OperandRecord { name: piece(start, self.cursor.position), shape: NONE, instruction })
    }

    /// Enters one level of nesting; fails beyond the limit, which is the limit for nested tuples.
    pub(crate) fn deeper(&mut self, place: Span) -> Result<()> {
        if self.depth == MAX_NESTING {
            return Err(ParseError::new(ParseErrorKind::TooDeep { limit: MAX_NESTING }, place));
        }
        self.depth += 1;
        Ok(())
    }
}
