//! The parser: text to a [`Module`].
//!
//! It reads from front to back and looks at every byte about once. Where it is asked to go on behind errors, it goes on
//! in the next line, and gives up when it has read broken parts again and again or has found too many errors, so that
//! time and memory stay in proportion to the text.

mod computation;
mod instruction;

use crate::module::{AttributeRecord, Items, Module, Piece, RowRecord, Table};
use crate::names::{NONE, NameTable, hash};
use crate::text::cursor::Cursor;
use alloc::vec::Vec;
use xla_shape_core::Shape;
use xla_shape_core::text::{self, Expected, Found, ParseError, ParseErrorKind, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// How many errors there may be in any text, and in how many bytes there may be one more.
const ERRORS: usize = 1000;
const BYTES_OF_AN_ERROR: usize = 64;

/// A module keeps positions as `u32`; the highest value means "none".
const MAX_TEXT: usize = u32::MAX as usize - 1;

impl<'a> Module<'a> {
    /// Reads a module, some computations, or some instructions.
    ///
    /// # Errors
    /// The first thing that is wrong with the text.
    pub fn parse(text: &'a str) -> Result<Self> {
        let mut parser = Parser::new(text, false);
        match parser.module() {
            Ok(()) => Ok(parser.finish()),
            Err(error) => Err(error),
        }
    }

    /// Reads as [`parse`](Self::parse) does, but leaves out what is wrong and goes on behind it.
    ///
    /// An instruction that refers to one that was left out is kept; the [operand](super::Operand::instruction) then
    /// has no instruction. The errors are in the order of the text. Where nearly everything is wrong, the last one is
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
    /// assert_eq!(module.instructions().len(), 2);
    /// assert_eq!(errors.len(), 2);
    /// assert_eq!(errors[0].to_string(), "expected a dimension number less than 1, found 1");
    /// assert_eq!(errors[1].to_string(), "expected the name of an instruction of this computation, found `b`");
    /// ```
    #[must_use]
    pub fn parse_with_errors(text: &'a str) -> (Self, Vec<ParseError>) {
        let mut parser = Parser::new(text, true);
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
    names: NameTable<'a>,
    /// The spellings of shapes, by the number of the shape.
    shape_names: NameTable<'a>,
    shape_texts: Vec<Piece>,
    /// Operands whose instruction was not there yet.
    open_operands: Vec<u32>,
    has_entry: bool,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, goes_on: bool) -> Self {
        let module = Module {
            text,
            name: None,
            module_attributes: Items::default(),
            rows: Vec::new(),
            tables: Vec::new(),
            computations: Vec::new(),
            by_name: Vec::new(),
            entry: None,
            instructions: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            shapes: Vec::new(),
        };
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
            has_entry: false,
        }
    }

    fn finish(mut self) -> Module<'a> {
        let module = &mut self.module;
        module.rows.shrink_to_fit();
        module.computations.shrink_to_fit();
        module.instructions.shrink_to_fit();
        module.operands.shrink_to_fit();
        module.attributes.shrink_to_fit();
        module.shapes.shrink_to_fit();
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
        self.sort_computations()?;
        self.module.entry = self.entry();
        if self.module.name.is_some() && !self.has_entry {
            let end = self.cursor.text().len();
            self.report(ParseError::new(ParseErrorKind::NoEntry, Span { start: end, end }))?;
        }
        Ok(())
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
        if self.cursor.begins_instruction() {
            if self.module.name.is_some() {
                return Err(self.cursor.unexpected(Expected::Computation));
            }
            self.fragment()?;
            return Ok(true);
        }
        let is_entry = self.cursor.eat_word("ENTRY");
        self.cursor.skip_space()?;
        let name = self.name(Expected::Computation)?;
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
        if self.cursor.ends_line() {
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
            let end = self.cursor.value()?;
            self.module.attributes.push(AttributeRecord { key, value: piece(start, end) });
        }
    }

    /// Reads a shape: its number, and where it stands.
    fn shape(&mut self) -> Result<(u32, Piece)> {
        let start = self.cursor.position;
        match self.cursor.shape_end() {
            // What follows may be a layout behind a space.
            Some(end) if !self.cursor.brace_follows(end) => {
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
        let shape_hash = hash(text);
        let texts = &self.shape_texts;
        let text_of = |number: u32| texts.get(number as usize).map_or("", |&known| self.module.piece(known));
        if let Some(known) = self.shape_names.get(text, shape_hash, text_of) {
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
        self.shape_names.insert(text, shape_hash, shape_number, text_of);
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

    /// Where the program begins: at the mark ENTRY, or in the last computation, if this is a part of a module.
    fn entry(&self) -> Option<u32> {
        let part = if self.module.name.is_none() { self.module.computations.as_slice() } else { &[] };
        let marked = self.module.computations.iter().position(|record| record.is_entry);
        marked.or_else(|| part.iter().rposition(|record| !record.is_fragment)).map(number)
    }

    /// Sorts the computations by name, and finds names that are there twice.
    fn sort_computations(&mut self) -> Result<()> {
        let named = self.module.computations.iter().zip(0_u32..).filter(|(record, _)| !record.is_fragment);
        let mut by_name: Vec<_> = named.map(|(record, number)| (self.module.piece(record.name), number)).collect();
        by_name.sort_unstable();
        for pair in by_name.windows(2) {
            if let [(first, _), (second, number)] = pair
                && first == second
                && let Some(record) = self.module.computations.get(*number as usize)
            {
                let kind = ParseErrorKind::DuplicateName { name: Found::new(second) };
                self.report(ParseError::new(kind, span(record.name)))?;
            }
        }
        self.module.by_name = by_name.into_iter().map(|(_, number)| number).collect();
        Ok(())
    }
}

#[cold]
fn too_many_errors(start: usize) -> ParseError {
    ParseError::new(ParseErrorKind::TooManyErrors, Span { start, end: start })
}

/// A number of a list that is no longer than the text, whose length fits.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

fn piece(start: usize, end: usize) -> Piece {
    Piece { start: number(start), len: number(end.saturating_sub(start)) }
}

fn items(start: usize, end: usize) -> Items {
    Items { start: number(start), len: number(end.saturating_sub(start)) }
}

const fn span(piece: Piece) -> Span {
    let start = piece.start as usize;
    Span { start, end: start.saturating_add(piece.len as usize) }
}
