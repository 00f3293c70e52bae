//! The parser: text to a [`Module`]. It accepts what `xla/hlo/parser/hlo_parser.cc` and `hlo_lexer.cc` accept.
//!
//! The parser makes one pass, and reads every byte about once. In recovery mode it continues after an error with the next line. It stops
//! after too many errors, or if it would read broken parts of the text too often, so that time and memory stay proportional to
//! the length of the text.

mod computation;
mod instruction;
mod nested;
mod omitted;

use crate::cursor::Cursor;
use crate::module::{
    AttributeRecord, ComputationRecord, Form, Items, MAX_TEXT, Module, OperandRecord, Piece, RowRecord, Table, number,
};
use crate::names::{NameTable, hash};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;
use instruction::PartialInstruction;
use nested::{NamedRecord, NestedRecord};
use xla_shape_core::Shape;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::text::{self, Expected, ParseError, ParseErrorKind, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// The limit on errors: a constant, plus one for every `BYTES_PER_ERROR` bytes of the text.
const ERRORS: usize = 1000;
const BYTES_PER_ERROR: usize = 64;

impl Module {
    /// Parses a module, some computations, or some instructions.
    ///
    /// Parsing checks the syntax, the names and every shape and layout. [`Module::check`] checks the rest of XLA's rules.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// assert_eq!(module.instructions().len(), 2);
    /// let error = Module::parse("ENTRY e { p = f32[8]{1} parameter(0) }").unwrap_err();
    /// assert_eq!(error.to_string(), "expected a dimension number less than 1, found 1");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The first error in the text.
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_shared(&Arc::new(String::from(text)))
    }

    fn parse_shared(text: &Arc<String>) -> Result<Self> {
        let mut parser = Parser::new(text, false);
        let Err(error) = parser.module() else { return Ok(parser.finish()) };
        // An unclosed bracket or string is noticed only far behind it. The second pass finds where it was opened.
        let mut parser = Parser::new(text, false);
        parser.cursor.is_wary = true;
        Err(parser.module().err().unwrap_or(error))
    }

    /// Parses a text like [`parse`](Self::parse), without a copy of it.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module: Module = Module::parse_owned("ENTRY e { ROOT p = f32[8] parameter(0) }".to_owned()).unwrap();
    /// assert_eq!(module.text(), "ENTRY e { ROOT p = f32[8] parameter(0) }");
    /// let (_, text) = Module::parse_owned("ENTRY".to_owned()).unwrap_err();
    /// assert_eq!(text, "ENTRY", "comes back with the error");
    /// ```
    ///
    /// # Errors
    /// The first error in the text, together with the text.
    pub fn parse_owned(text: String) -> core::result::Result<Self, (ParseError, String)> {
        let text = Arc::new(text);
        Self::parse_shared(&text).map_err(|error| (error, Arc::unwrap_or_clone(text)))
    }

    /// Parses like [`parse`](Self::parse), but continues after errors and returns all of them, in text order.
    ///
    /// An instruction that cannot be read keeps its name and as much of its shape and opcode as was recognised;
    /// [`is_read`](crate::Instruction::is_read) is `false` for it. An instruction without a readable name is skipped. If nearly everything is wrong,
    /// the last error is [`TooManyErrors`](ParseErrorKind::TooManyErrors), and the text after it was not parsed.
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
    pub fn parse_with_errors(text: impl Into<String>) -> (Self, Vec<ParseError>) {
        let text = &Arc::new(text.into());
        let mut parser = Parser::new(text, false);
        if parser.module().is_ok() {
            return (parser.finish(), Vec::new());
        }
        let mut parser = Parser::new(text, true);
        parser.cursor.is_wary = true;
        let given_up = parser.module().err();
        let mut errors = core::mem::take(&mut parser.errors);
        sort_by_key(&mut errors, |error| error.span().start);
        errors.extend(given_up);
        (parser.finish(), errors)
    }
}

/// Converts bytes to text for [`Module::parse`].
///
/// ```
/// use xla_shape_hlo::utf8;
///
/// assert_eq!(utf8(b"f32[8]")?, "f32[8]");
/// assert_eq!(utf8(b"f32\xff[8]").unwrap_err().span().start, 3);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
///
/// # Errors
/// If the bytes are not UTF-8. The span of the error is that of the first invalid bytes.
pub fn utf8(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|error| {
        let start = error.valid_up_to();
        let length = error.error_len().unwrap_or(bytes.len().saturating_sub(start));
        ParseError::new(ParseErrorKind::InvalidUtf8, Span { start, end: start + length })
    })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    module: Module,
    errors: Vec<ParseError>,
    /// Whether to continue after errors.
    recovers: bool,
    /// The bytes that were read and then discarded after an error.
    wasted: usize,
    /// The instructions of the current computation, by name.
    names: NameTable,
    /// The numbers of shapes, by spelling.
    shape_names: NameTable,
    shape_texts: Vec<Piece>,
    /// Operands whose instruction is not defined yet.
    open_operands: Vec<u32>,
    /// Operands that wait while an operand after them, which is itself an instruction, is parsed; see [`operands`](Self::operands).
    waiting: Vec<OperandRecord>,
    /// The implied get-tuple-elements of operands `x#1`, by tuple and element.
    elements: BTreeMap<(u32, u32), u32>,
    /// The keys in `elements` that the instruction being parsed has added.
    new_elements: Vec<(u32, u32)>,
    /// The number of nested instructions so far, by opcode.
    anonymous: BTreeMap<String, usize>,
    unnamed_operands: usize,
    /// Attributes of the current computation whose values contain computations.
    nested: Vec<NestedRecord>,
    named: Vec<NamedRecord>,
    /// The parts read so far of the instruction that is being parsed.
    partial: PartialInstruction,
    /// The number of computations and operands around the current position.
    depth: usize,
    in_fragment: bool,
    has_omitted: bool,
    has_entry: bool,
}

/// The lengths of the module's lists before an instruction, to roll it back.
#[derive(Clone, Copy)]
struct Lengths {
    instructions: usize,
    operands: usize,
    attributes: usize,
    open_operands: usize,
    nested: usize,
}

impl<'a> Parser<'a> {
    fn new(text: &'a Arc<String>, recovers: bool) -> Self {
        let module = Module::unread(Arc::clone(text));
        Self {
            cursor: Cursor::new(text, 0),
            module,
            errors: Vec::new(),
            recovers,
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
            partial: PartialInstruction::default(),
            depth: 0,
            in_fragment: false,
            has_omitted: false,
            has_entry: false,
        }
    }

    fn finish(mut self) -> Module {
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
        self.or_recover(head, start)?;
        loop {
            let start = self.cursor.position;
            match self.top_level() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => self.or_recover(Err(error), start)?,
            }
        }
        self.name_nested()?;
        let again = self.module.name_computations();
        again.into_iter().try_for_each(|error| self.report(error))?;
        self.module.entry = self.entry();
        if self.module.name.is_some() && self.module.entry.is_none() && !self.has_entry {
            let end = self.cursor.text().len();
            self.report(ParseError::new(ParseErrorKind::NoEntry, Span { start: end, end }))?;
        }
        self.name_module();
        self.infer_omitted()
    }

    /// Names a module whose text has only computations.
    fn name_module(&mut self) {
        let is_part = self.module.computations.iter().any(|record| record.is_fragment);
        let entry = self.module.entry.and_then(|number| self.module.computations.get(number as usize));
        if let (None, false, Some(record)) = (self.module.name, is_part, entry) {
            let place = record.name;
            let name = String::from(self.module.piece(place));
            self.module.name = self.module.generate(format_args!("module_{name}"), place);
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

    /// Rolls back an instruction that could not be read.
    #[cold]
    fn roll_back(&mut self, before: Lengths) {
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

    /// Records an error in recovery mode; otherwise returns it.
    fn or_report(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Err(error) if *error.kind() != ParseErrorKind::TooManyErrors => self.report(error),
            result => result,
        }
    }

    /// Records an error in recovery mode; otherwise returns it.
    fn report(&mut self, error: ParseError) -> Result<()> {
        if !self.recovers {
            return Err(error);
        }
        if self.errors.len() >= ERRORS + (self.cursor.text().len() / BYTES_PER_ERROR) {
            return Err(too_many_errors(error.span().start));
        }
        self.errors.push(error);
        Ok(())
    }

    /// After an error in the part that begins at `start`: in recovery mode records it and skips to the next line; otherwise returns it.
    fn or_recover(&mut self, result: Result<()>, start: usize) -> Result<()> {
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
        self.wasted += reached.saturating_sub(self.cursor.position);
        if self.wasted > self.cursor.text().len() {
            return Err(too_many_errors(self.cursor.position));
        }
        Ok(())
    }

    /// Parses `HloModule`, the name and the attributes, if they are there.
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

    /// Parses a table, a computation or instructions; returns `false` at the end of the text.
    fn top_level(&mut self) -> Result<bool> {
        self.cursor.skip_space()?;
        let start = self.cursor.position;
        if self.cursor.peek().is_none() {
            return Ok(false);
        }
        if let Some(table) = self.table_name() {
            if self.next_table() != Some(table) || !self.module.computations.is_empty() {
                self.cursor.position = start;
                return Err(self.cursor.unexpected(self.instead_of_table()));
            }
            self.table(table)?;
            return Ok(true);
        }
        if !self.module.tables.is_empty() && self.next_table().is_some() && self.module.computations.is_empty() {
            self.report(self.cursor.unexpected(self.instead_of_table()))?;
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
            let span = Span { start, end: start + "ENTRY".len() };
            self.report(ParseError::new(ParseErrorKind::SecondEntry, span))?;
        }
        self.computation(name, is_entry)?;
        Ok(true)
    }

    /// The only table that may come next. XLA reads all four tables or none, in this order, before the computations
    /// (`HloParserImpl::ParseStackFrameIndex` in `xla/hlo/parser/hlo_parser.cc`).
    fn next_table(&self) -> Option<Table> {
        Table::ALL.get(self.module.tables.len()).copied()
    }

    /// What is expected in place of a misplaced or missing table.
    fn instead_of_table(&self) -> Expected {
        let in_tables = !self.module.tables.is_empty() && self.module.computations.is_empty();
        self.next_table().filter(|_| in_tables).map_or(Expected::Computation, |table| Expected::Value(table.name()))
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
        self.module.tables.push(table);
        loop {
            self.cursor.skip_space()?;
            if !self.cursor.peek().is_some_and(|byte| byte.is_ascii_digit()) {
                return Ok(());
            }
            let start = self.cursor.position;
            let row = self.row(table);
            self.or_recover(row, start)?;
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

    /// Parses any number of `, key=value`.
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
            let key = piece(start, start + key.len());
            self.cursor.skip_space()?;
            self.cursor.expect(b'=')?;
            self.cursor.skip_space()?;
            let start = self.cursor.position;
            let name = self.cursor.text().get(Range::from(span(key))).unwrap_or("");
            let end = self.attribute_value(name)?;
            self.module.attributes.push(AttributeRecord { key, value: piece(start, end) });
        }
    }

    /// Skips the value of the attribute with this name; returns where it ends.
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
                    // This shape belongs to no instruction: it is validated, then dropped.
                    let mut parser = text::Parser::at(self.cursor.text(), start);
                    parser.shape()?;
                    self.cursor.position = parser.position();
                    self.cursor.skip_space()?;
                }
                self.cursor.value()
            }
            (Some(b'm'), "replica_groups") => {
                let mut end = self.cursor.value()?;
                // The device list of a mesh follows after a comma.
                let mesh_end = self.cursor.position;
                self.cursor.skip_space()?;
                if self.cursor.eat(b',') {
                    self.cursor.skip_space()?;
                    if self.cursor.eat_word("device_ids") {
                        end = self.cursor.value()?;
                        return Ok(end);
                    }
                }
                self.cursor.position = mesh_end;
                Ok(end)
            }
            _ => {
                let end = self.cursor.value()?;
                debug_assert!(end > start, "a value is not empty");
                Ok(end)
            }
        }
    }

    /// Skips a value whose lines may look like the beginning of an instruction.
    fn unwary_value(&mut self) -> Result<usize> {
        let is_wary = core::mem::replace(&mut self.cursor.is_wary, false);
        let end = self.cursor.value();
        self.cursor.is_wary = is_wary;
        end
    }

    /// Skips a value that is a computation in braces, or a list of names and such computations, and records it to be parsed later.
    fn computations(&mut self, is_list: bool) -> Result<usize> {
        let start = self.cursor.position;
        let mut first = self.cursor.inside(start, self.cursor.text().len());
        first.skip_space()?;
        let is_nested = if is_list { None } else { Some(first.begins_instruction()) };
        if is_nested == Some(false) {
            return self.cursor.value();
        }
        let end = self.unwary_value()?;
        let inside = self.cursor.text().as_bytes().get((start + 1)..end).unwrap_or(&[]);
        if !is_list || memchr::memchr(b'{', inside).is_some() {
            let attribute = number(self.module.attributes.len());
            self.nested.push(NestedRecord { attribute, value: piece(start, end), is_list });
        }
        Ok(end)
    }

    /// Parses a single instruction without a name, and names it `_` (`HloParserImpl::ParseSingleInstruction`).
    fn nameless(&mut self) -> Result<()> {
        let start = self.cursor.position;
        self.in_fragment = true;
        let before = self.lengths();
        let instruction = self.nameless_instruction(start);
        self.in_fragment = false;
        if instruction.is_err() {
            self.roll_back(before);
        }
        instruction
    }

    fn nameless_instruction(&mut self, start: usize) -> Result<()> {
        let place = piece(start, start);
        let name = self.module.generate(format_args!("_"), place);
        let instruction = self.right_side(Some(name.unwrap_or(place)), false)?;
        let nested = core::mem::take(&mut self.nested);
        self.nested_computations(nested)?;
        let computation = number(self.module.computations.len());
        for record in &mut self.module.instructions {
            if record.computation == 0 && record.form != Form::Unread {
                record.computation = computation;
            }
        }
        let mut record = ComputationRecord { is_fragment: true, ..ComputationRecord::new(Piece::default()) };
        record.instructions = items(0, (instruction as usize) + 1);
        record.root = instruction;
        self.module.computations.push(record);
        Ok(())
    }

    /// Parses a shape, if there is one at the cursor.
    fn shape_or_none(&mut self) -> Result<Option<(u32, Piece)>> {
        match self.cursor.shape_end() {
            None if !self.cursor.begins_shape() => Ok(None),
            _ => self.shape().map(Some),
        }
    }

    /// Parses a shape; returns its number and where it is in the text.
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

    /// The number of the shape with this text. Parses it unless the spelling is known or `read` has the parsed shape.
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
            (start, text) => Ok(piece(start, start + text.len())),
        }
    }

    /// The entry computation: the one marked `ENTRY`, or else the last one.
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
    Span { start, end: start + piece.len as usize }
}
