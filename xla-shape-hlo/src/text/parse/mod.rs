//! The parser: text to a [`Module`].
//!
//! It reads from front to back and looks at every byte about once. Where it is asked to go on behind errors, it goes on
//! in the next line, and gives up when it has read broken parts again and again or has found too many errors, so that
//! time and memory stay in proportion to the text.

mod computation;
mod instruction;
mod left_out;
mod nested;

use crate::module::{
    AttributeRecord, ComputationRecord, Items, MAX_TEXT, Module, OperandRecord, Origin, Piece, RowRecord, Table, number,
};
use crate::names::{NameTable, hash};
use crate::text::cursor::Cursor;
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;
use instruction::Begun;
use nested::{NamedRecord, NestedRecord};
use xla_shape_core::Shape;
use xla_shape_core::text::{self, Expected, ParseError, ParseErrorKind, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// How many errors there may be in any text, and in how many bytes there may be one more.
const ERRORS: usize = 1000;
const BYTES_OF_AN_ERROR: usize = 64;

impl<'a> Module<'a> {
    /// Reads a module, some computations, or some instructions.
    ///
    /// # Errors
    /// The first thing that is wrong with the text.
    pub fn parse(text: &'a str) -> Result<Self> {
        let mut parser = Parser::new(text, false);
        let Err(error) = parser.module() else { return Ok(parser.finish()) };
        // Where a bracket or a string is not closed, the error comes late: this finds the place.
        let mut parser = Parser::new(text, false);
        parser.cursor.is_wary = true;
        Err(parser.module().err().unwrap_or(error))
    }

    /// Reads a text as [`parse`](Self::parse) does, and keeps it.
    ///
    /// # Errors
    /// The first thing that is wrong with the text.
    pub fn parse_owned(text: String) -> Result<Module<'static>> {
        let module = Module::parse(&text)?.with_text(Cow::Borrowed(""));
        Ok(module.with_text(Cow::Owned(text)))
    }

    /// Reads as [`parse`](Self::parse) does, but goes on behind what is wrong.
    ///
    /// An instruction that is wrong, or in a form that is not known, is kept as far as its name, its shape and its opcode
    /// can be told; it is not [read](crate::Instruction::is_read). What has no name is left out. The errors are in the order of the text. Where nearly everything is wrong, the last one is
    /// [`TooManyErrors`](ParseErrorKind::TooManyErrors), and what follows it was not read.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let (module, errors) = Module::parse_with_errors("\
    /// ENTRY main {
    ///   a = f32[2]{0} parameter(0)
    ///   b = f32[2]{1} negate(a)
    ///   ROOT c = f32[2]{0} add(a, b)
    /// }");
    /// assert_eq!(module.instructions().len(), 3);
    /// assert_eq!(errors.len(), 1);
    /// assert_eq!(errors[0].to_string(), "expected a dimension number less than 1, found 1");
    /// assert!(!module.instruction("b").unwrap().is_read());
    /// ```
    #[must_use]
    pub fn parse_with_errors(text: &'a str) -> (Self, Vec<ParseError>) {
        let mut parser = Parser::new(text, false);
        if parser.module().is_ok() {
            return (parser.finish(), Vec::new());
        }
        let mut parser = Parser::new(text, true);
        parser.cursor.is_wary = true;
        let given_up = parser.module().err();
        let mut errors = core::mem::take(&mut parser.errors);
        errors.sort_by_key(|error| error.span().start);
        errors.extend(given_up);
        (parser.finish(), errors)
    }
}

/// The text that these bytes are, to be read by [`Module::parse`].
///
/// # Errors
/// If the bytes are not UTF-8; the span is that of the first ones that are not.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let length = error.error_len().unwrap_or(bytes.len().saturating_sub(start));
        ParseError::new(ParseErrorKind::InvalidUtf8, Span { start, end: start.saturating_add(length) })
    })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module<'a>,
    errors: Vec<ParseError>,
    goes_on: bool,
    /// How many bytes were read for nothing.
    wasted: usize,
    /// The instructions of the current computation.
    names: NameTable,
    /// The spellings of shapes, by the number of the shape.
    shape_names: NameTable,
    shape_texts: Vec<Piece>,
    /// Operands whose instruction was not there yet.
    open_operands: Vec<u32>,
    /// The operands before one that brings operands of its own.
    waiting: Vec<OperandRecord>,
    /// The instructions that take an element out of a tuple for an operand `x#1`, by the tuple and the element.
    elements: BTreeMap<(u32, u32), u32>,
    /// Those of the instruction that is being read.
    new_elements: Vec<(u32, u32)>,
    /// How many instructions without a name were operands, for each opcode.
    anonymous: BTreeMap<String, u32>,
    unnamed_operands: u32,
    /// Attributes of the current computation that have computations inside them.
    nested: Vec<NestedRecord>,
    named: Vec<NamedRecord>,
    /// What is known of the instruction that is being read.
    begun: Begun,
    /// How many computations and operands are open around what is being read.
    depth: usize,
    in_fragment: bool,
    has_left_out: bool,
    has_entry: bool,
}

/// How long the module's lists were, so that what was added since can be forgotten.
#[derive(Clone, Copy)]
struct Lengths {
    instructions: usize,
    operands: usize,
    attributes: usize,
    open_operands: usize,
    nested: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, goes_on: bool) -> Self {
        let module = Module::unread(Cow::Borrowed(text));
        Self {
            cursor: Cursor::new(text, 0),
            module,
            errors: Vec::new(),
            goes_on,
            wasted: 0,
            names: NameTable::new(),
            shape_names: NameTable::new(),
            shape_texts: Vec::new(),
            open_operands: Vec::new(),
            waiting: Vec::new(),
            elements: BTreeMap::new(),
            new_elements: Vec::new(),
            anonymous: BTreeMap::new(),
            unnamed_operands: 0,
            nested: Vec::new(),
            named: Vec::new(),
            begun: Begun::default(),
            depth: 0,
            in_fragment: false,
            has_left_out: false,
            has_entry: false,
        }
    }

    fn finish(mut self) -> Module<'a> {
        self.module.shrink();
        self.module
    }

    fn module(&mut self) -> Result<()> {
        if self.cursor.text().len() > MAX_TEXT {
            let span = Span { start: MAX_TEXT, end: self.cursor.text().len() };
            return Err(ParseError::new(ParseErrorKind::TextTooLong { limit: MAX_TEXT }, span));
        }
        let start = self.cursor.position;
        let head = self.head();
        self.or_go_on(head, start)?;
        loop {
            let start = self.cursor.position;
            match self.top_level() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.or_go_on(Err(error), start)?,
            }
        }
        self.name_nested()?;
        let again = self.module.sort_computations();
        again.into_iter().try_for_each(|error| self.report(error))?;
        self.module.entry = self.entry();
        if self.module.name.is_some() && self.module.entry.is_none() && !self.has_entry {
            let end = self.cursor.text().len();
            self.report(ParseError::new(ParseErrorKind::NoEntry, Span { start: end, end }))?;
        }
        self.name_module();
        self.infer_left_out()
    }

    /// The name of a module whose text has only its computations.
    fn name_module(&mut self) {
        let is_part = self.module.computations.iter().any(|record| record.is_fragment);
        let entry = self.module.entry.and_then(|number| self.module.computations.get(number as usize));
        if let (None, false, Some(record)) = (self.module.name, is_part, entry) {
            let place = record.name;
            let name = String::from(self.module.piece(place));
            self.module.name = self.module.make(format_args!("module_{name}"), place);
        }
    }

    fn lengths(&mut self) -> Lengths {
        self.new_elements.clear();
        Lengths {
            instructions: self.module.instructions.len(),
            operands: self.module.operands.len(),
            attributes: self.module.attributes.len(),
            open_operands: self.open_operands.len(),
            nested: self.nested.len(),
        }
    }

    /// Forgets what was read of an instruction.
    #[cold]
    fn forget(&mut self, before: Lengths) {
        self.module.instructions.truncate(before.instructions);
        self.module.operands.truncate(before.operands);
        self.module.attributes.truncate(before.attributes);
        self.open_operands.truncate(before.open_operands);
        self.nested.truncate(before.nested);
        self.waiting.clear();
        for element in self.new_elements.drain(..) {
            self.elements.remove(&element);
        }
    }

    /// Notes an error, if going on is wanted, or returns it.
    fn or_report(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(error) if *error.kind() != ParseErrorKind::TooManyErrors => self.report(error),
            result => result,
        }
    }

    /// Notes an error, if going on is wanted, or returns it.
    fn report(&mut self, error: ParseError) -> Result<()> {
        if !self.goes_on {
            return Err(error);
        }
        if self.errors.len() >= ERRORS.saturating_add(self.cursor.text().len() / BYTES_OF_AN_ERROR) {
            return Err(too_many_errors(error.span().start));
        }
        self.errors.push(error);
        Ok(())
    }

    /// Behind an error in what began at `start`: notes it and goes to the line behind it, or returns it.
    fn or_go_on(&mut self, result: Result<()>, start: usize) -> Result<()> {
        let Err(error) = result else { return Ok(()) };
        if *error.kind() == ParseErrorKind::TooManyErrors {
            return Err(error);
        }
        let reached = self.cursor.position;
        self.cursor.position = error.span().start.clamp(start, reached.max(start));
        self.report(error)?;
        if self.cursor.position == start || !self.cursor.closes_computation() {
            self.cursor.skip_line();
        }
        self.wasted = self.wasted.saturating_add(reached.saturating_sub(self.cursor.position));
        if self.wasted > self.cursor.text().len() {
            return Err(too_many_errors(self.cursor.position));
        }
        Ok(())
    }

    /// Reads `HloModule`, the name and the attributes, if they are there.
    fn head(&mut self) -> Result<()> {
        self.cursor.skip_space()?;
        if !self.cursor.eat_word("HloModule") {
            return Ok(());
        }
        self.cursor.skip_space()?;
        self.module.name = Some(self.name(Expected::Name)?);
        self.cursor.eat(b':');
        self.module.module_attributes = self.attributes()?;
        Ok(())
    }

    /// Reads a table, a computation or instructions; says `false` at the end of the text.
    fn top_level(&mut self) -> Result<bool> {
        self.cursor.skip_space()?;
        let start = self.cursor.position;
        if self.cursor.peek().is_none() {
            return Ok(false);
        }
        if let Some(table) = self.table_name() {
            self.table(table)?;
            return Ok(true);
        }
        let is_part = self.module.name.is_none();
        if self.cursor.begins_instruction() {
            if !is_part {
                return Err(self.cursor.unexpected(Expected::Computation));
            }
            self.fragment()?;
            return Ok(true);
        }
        if is_part && self.module.computations.is_empty() && self.cursor.begins_shape() && !self.cursor.begins_head() {
            self.nameless()?;
            return Ok(true);
        }
        let is_entry = self.cursor.eat_word("ENTRY");
        self.cursor.skip_space()?;
        let name = self.name(Expected::Computation)?;
        self.cursor.eat(b':');
        if is_entry && core::mem::replace(&mut self.has_entry, true) {
            let span = Span { start, end: start.saturating_add("ENTRY".len()) };
            self.report(ParseError::new(ParseErrorKind::SecondEntry, span))?;
        }
        self.computation(name, is_entry)?;
        Ok(true)
    }

    fn table_name(&mut self) -> Option<Table> {
        let start = self.cursor.position;
        let table = Table::ALL.into_iter().find(|table| self.cursor.eat_word(table.name()))?;
        if self.cursor.ends_line() || self.cursor.is_before_number() {
            return Some(table);
        }
        self.cursor.position = start;
        None
    }

    fn table(&mut self, table: Table) -> Result<()> {
        if !self.module.tables.contains(&table) {
            self.module.tables.push(table);
        }
        loop {
            self.cursor.skip_space()?;
            if !self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Ok(());
            }
            let start = self.cursor.position;
            let row = self.row(table);
            self.or_go_on(row, start)?;
        }
    }

    fn row(&mut self, table: Table) -> Result<()> {
        let start = self.cursor.position;
        let Ok(number) = self.cursor.digits().parse() else {
            self.cursor.position = start;
            return Err(self.cursor.unexpected(Expected::TableRow));
        };
        self.cursor.skip_space()?;
        if !matches!(self.cursor.peek(), Some(b'"' | b'{')) {
            return Err(self.cursor.unexpected(Expected::TableRow));
        }
        let start = self.cursor.position;
        let end = self.cursor.value()?;
        self.module.rows.push(RowRecord { table, number, value: piece(start, end) });
        Ok(())
    }

    /// Reads `, key=value` as often as it stands there.
    fn attributes(&mut self) -> Result<Items> {
        let first = self.module.attributes.len();
        loop {
            let before = self.cursor.position;
            self.cursor.skip_space()?;
            if !self.cursor.eat(b',') {
                self.cursor.position = before;
                return Ok(items(first, self.module.attributes.len()));
            }
            self.cursor.skip_space()?;
            let (start, key) = self.cursor.name();
            if key.is_empty() {
                return Err(self.cursor.unexpected(Expected::HloAttribute));
            }
            let key = piece(start, start.saturating_add(key.len()));
            self.cursor.skip_space()?;
            self.cursor.expect(b'=')?;
            self.cursor.skip_space()?;
            let start = self.cursor.position;
            let name = self.cursor.text().get(Range::from(span(key))).unwrap_or("");
            let end = self.attribute_value(name)?;
            self.module.attributes.push(AttributeRecord { key, value: piece(start, end) });
        }
    }

    /// Reads the value of the attribute with this name; returns where it ends.
    fn attribute_value(&mut self, name: &str) -> Result<usize> {
        let start = self.cursor.position;
        match (self.cursor.peek(), name) {
            (Some(b'{'), "backend_config" | "frontend_attributes") => self.cursor.free_value(),
            (
                Some(b'{'),
                "to_apply" | "calls" | "condition" | "body" | "select" | "scatter" | "true_computation"
                | "false_computation",
            ) => self.computations(false),
            (Some(b'{'), "branch_computations" | "called_computations") => self.computations(true),
            (Some(b'{'), "origin_recovery_table") => self.unwary_value(),
            (_, "literal") => {
                if self.cursor.peek() != Some(b'(') && self.cursor.begins_shape() {
                    // It is no instruction's: it is checked, and not kept.
                    let mut parser = text::Parser::at(self.cursor.text(), start);
                    parser.shape()?;
                    self.cursor.position = parser.position();
                    self.cursor.skip_space()?;
                }
                self.cursor.value()
            }
            (Some(b'm'), "replica_groups") => {
                let mut end = self.cursor.value()?;
                // The devices of a mesh stand behind a comma.
                let behind = self.cursor.position;
                self.cursor.skip_space()?;
                if self.cursor.eat(b',') {
                    self.cursor.skip_space()?;
                    if self.cursor.eat_word("device_ids") {
                        end = self.cursor.value()?;
                        return Ok(end);
                    }
                }
                self.cursor.position = behind;
                Ok(end)
            }
            _ => {
                let end = self.cursor.value()?;
                debug_assert!(end > start, "a value is not empty");
                Ok(end)
            }
        }
    }

    /// Reads a value that may have lines in which instructions begin.
    fn unwary_value(&mut self) -> Result<usize> {
        let is_wary = core::mem::replace(&mut self.cursor.is_wary, false);
        let end = self.cursor.value();
        self.cursor.is_wary = is_wary;
        end
    }

    /// Reads a value that is a computation in braces, or a list of names and such computations, and notes that they are
    /// still to be read.
    fn computations(&mut self, is_list: bool) -> Result<usize> {
        let start = self.cursor.position;
        let mut first = self.cursor.inside(start, self.cursor.text().len());
        first.skip_space()?;
        let is_nested = if is_list { None } else { Some(first.begins_instruction()) };
        if is_nested == Some(false) {
            return self.cursor.value();
        }
        let end = self.unwary_value()?;
        let inside = self.cursor.text().as_bytes().get(start.saturating_add(1)..end).unwrap_or(&[]);
        if !is_list || memchr::memchr(b'{', inside).is_some() {
            let attribute = number(self.module.attributes.len());
            self.nested.push(NestedRecord { attribute, value: piece(start, end), is_list });
        }
        Ok(end)
    }

    /// Reads a single instruction without a name, as XLA does; it calls it `_`.
    fn nameless(&mut self) -> Result<()> {
        let start = self.cursor.position;
        self.in_fragment = true;
        let before = self.lengths();
        let instruction = self.nameless_instruction(start);
        self.in_fragment = false;
        if instruction.is_err() {
            self.forget(before);
        }
        instruction
    }

    fn nameless_instruction(&mut self, start: usize) -> Result<()> {
        let place = piece(start, start);
        let name = self.module.make(format_args!("_"), place);
        let instruction = self.right_side(Some(name.unwrap_or(place)), false)?;
        let nested = core::mem::take(&mut self.nested);
        self.nested_computations(nested)?;
        let computation = number(self.module.computations.len());
        for record in &mut self.module.instructions {
            if record.computation == 0 && record.origin != Origin::Unread {
                record.computation = computation;
            }
        }
        let mut record = ComputationRecord { is_fragment: true, ..ComputationRecord::new(Piece::default()) };
        record.instructions = items(0, (instruction as usize).saturating_add(1));
        record.root = instruction;
        self.module.computations.push(record);
        Ok(())
    }

    /// Reads a shape, if one stands there.
    fn shape_or_none(&mut self) -> Result<Option<(u32, Piece)>> {
        match self.cursor.shape_end() {
            None if !self.cursor.begins_shape() => Ok(None),
            _ => self.shape().map(Some),
        }
    }

    /// Reads a shape: its number, and where it stands.
    fn shape(&mut self) -> Result<(u32, Piece)> {
        let start = self.cursor.position;
        match self.cursor.shape_end() {
            Some(end) if !self.cursor.layout_may_follow(end) => {
                let text = self.cursor.text().get(start..end).unwrap_or("");
                let shape = self.known_shape(text, start, end, None)?;
                self.cursor.position = end;
                Ok((shape, piece(start, end)))
            }
            _ => {
                let mut parser = text::Parser::at(self.cursor.text(), start);
                match parser.shape() {
                    Ok(shape) => {
                        let end = parser.position();
                        let text = self.cursor.text().get(start..end).unwrap_or("");
                        self.cursor.position = end;
                        Ok((self.known_shape(text, start, end, Some(shape))?, piece(start, end)))
                    }
                    Err(error) => {
                        self.cursor.position = error.span().end.max(start);
                        Err(error)
                    }
                }
            }
        }
    }

    /// The number of the shape with this text, which is read unless it is known or was read.
    fn known_shape(&mut self, text: &'a str, start: usize, end: usize, read: Option<Shape>) -> Result<u32> {
        let shape_hash = hash(text.as_bytes());
        let texts = &self.shape_texts;
        let text_of =
            |number: u32| texts.get(number as usize).map_or(&b""[..], |&known| self.module.piece_bytes(known));
        if let Some(known) = self.shape_names.get(text.as_bytes(), shape_hash, text_of) {
            return Ok(known);
        }
        let shape = match read {
            Some(shape) => shape,
            None => {
                let until = self.cursor.text().get(..end).unwrap_or("");
                text::Parser::at(until, start).shape()?
            }
        };
        let shape_number = number(self.module.shapes.len());
        self.shape_names.insert(text.as_bytes(), shape_hash, shape_number, text_of);
        self.shape_texts.push(piece(start, end));
        self.module.shapes.push(shape);
        Ok(shape_number)
    }

    fn name(&mut self, expected: Expected) -> Result<Piece> {
        match self.cursor.name() {
            (_, "") => Err(self.cursor.unexpected(expected)),
            (start, text) => Ok(piece(start, start.saturating_add(text.len()))),
        }
    }

    /// Where the program begins: at the mark ENTRY, or, if there is none, in the last computation.
    fn entry(&self) -> Option<u32> {
        let computations = &self.module.computations;
        let marked = computations.iter().position(|record| record.is_entry);
        marked.or_else(|| computations.iter().rposition(|record| !record.is_fragment)).map(number)
    }
}

#[cold]
fn too_many_errors(start: usize) -> ParseError {
    ParseError::new(ParseErrorKind::TooManyErrors, Span { start, end: start })
}

fn piece(start: usize, end: usize) -> Piece {
    Piece::new(start, end)
}

fn items(start: usize, end: usize) -> Items {
    Items::new(start, end)
}

const fn span(piece: Piece) -> Span {
    let start = piece.start as usize;
    Span { start, end: start.saturating_add(piece.len as usize) }
}
