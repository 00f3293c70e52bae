//! What was read of a module, and how to look at it.
//!
//! A [`Module`] is a handful of flat lists that refer to each other and to the text by number; [`Computation`],
//! [`Instruction`] and [`Operand`] are small views that can be copied.

use crate::attribute::{Attribute, Value};
use crate::names::NONE;
use crate::opcode::Opcode;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::Shape;
use xla_shape_core::text::{Found, ParseError, ParseErrorKind, Span};

/// A piece of the module's text, or, from behind its end on, of what the module [made](Module::make) itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Piece {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: number(start), len: number(end.saturating_sub(start)) }
    }
}

/// A number of a list that is no longer than the text, whose length fits; or a place in that text.
#[inline]
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

/// A module keeps positions as `u32`; the highest value means "none".
pub(crate) const MAX_TEXT: usize = u32::MAX as usize - 1;

/// Some neighbouring items of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Items {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Items {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: number(start), len: number(end.saturating_sub(start)) }
    }

    pub(crate) fn of<T>(self, list: &[T]) -> &[T] {
        let start = self.start as usize;
        list.get(start..start.saturating_add(self.len as usize)).unwrap_or(&[])
    }

    pub(crate) fn numbers(self) -> core::ops::Range<u32> {
        self.start..self.start.saturating_add(self.len)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct InstructionRecord {
    pub(crate) name: Piece,
    pub(crate) shape_text: Piece,
    pub(crate) opcode_text: Piece,
    /// What stands between the parentheses.
    pub(crate) arguments: Piece,
    pub(crate) operands: Items,
    pub(crate) attributes: Items,
    pub(crate) shape: u32,
    pub(crate) computation: u32,
    pub(crate) end: u32,
    pub(crate) opcode: u8,
    pub(crate) is_root: bool,
    pub(crate) origin: Origin,
}

/// How an instruction stands in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// With a name of its own.
    Written,
    /// Inside the operands of another one: `negate(x)` in `add(negate(x), y)`, or `x#1`.
    Implied,
    /// In a form that could not be read.
    Unread,
}

/// An operand of an instruction, or a parameter in the head of a computation.
#[derive(Clone, Debug)]
pub(crate) struct OperandRecord {
    pub(crate) name: Piece,
    /// The shape that is written before an operand, or behind a parameter.
    pub(crate) shape: u32,
    pub(crate) instruction: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct AttributeRecord {
    pub(crate) key: Piece,
    pub(crate) value: Piece,
}

#[derive(Clone, Debug)]
pub(crate) struct ComputationRecord {
    pub(crate) name: Piece,
    pub(crate) is_entry: bool,
    pub(crate) is_fragment: bool,
    pub(crate) has_head: bool,
    pub(crate) parameters: Items,
    pub(crate) result: u32,
    pub(crate) instructions: Items,
    pub(crate) root: u32,
    pub(crate) attributes: Items,
}

/// One of the tables that may stand before the computations.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Table {
    /// `FileNames`: a number and a string.
    FileNames,
    /// `FunctionNames`: a number and a string.
    FunctionNames,
    /// `FileLocations`: a number and `{file_name_id=… function_name_id=… line=… …}`.
    FileLocations,
    /// `StackFrames`: a number and `{file_location_id=… parent_frame_id=…}`.
    StackFrames,
}

impl Table {
    /// Every table, in the order in which XLA prints them.
    pub const ALL: [Self; 4] = [Self::FileNames, Self::FunctionNames, Self::FileLocations, Self::StackFrames];

    /// The line that introduces the table.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FileNames => "FileNames",
            Self::FunctionNames => "FunctionNames",
            Self::FileLocations => "FileLocations",
            Self::StackFrames => "StackFrames",
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct RowRecord {
    pub(crate) table: Table,
    pub(crate) number: u32,
    pub(crate) value: Piece,
}

/// An HLO module, or a part of one, that was read from a text.
///
/// Names, constants and attributes stay in the text, which the module borrows or [owns](Self::into_owned); shapes are
/// read, each spelling once.
///
/// ```
/// use xla_shape_hlo::{Module, Opcode};
///
/// let module = Module::parse("\
/// HloModule double, is_scheduled=true
///
/// ENTRY %main (x: bf16[8,128]) -> bf16[8,128] {
///   %x = bf16[8,128]{1,0:T(8,128)(2,1)} parameter(0)
///   ROOT %sum = bf16[8,128]{1,0:T(8,128)(2,1)} add(%x, %x)
/// }")?;
///
/// let root = module.entry().unwrap().root();
/// assert_eq!(root.opcode(), Opcode::Add);
/// assert_eq!(root.shape().byte_size(), Some(2048));
/// let operand = root.operands().next().unwrap();
/// assert_eq!(operand.instruction().unwrap().opcode(), Opcode::Parameter);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone)]
pub struct Module<'a> {
    pub(crate) text: Cow<'a, str>,
    /// Names and values that the text does not spell out.
    pub(crate) made: String,
    /// Where in `made` each of them begins, and the part of the text that it was made for.
    pub(crate) made_for: Vec<(u32, Piece)>,
    pub(crate) name: Option<Piece>,
    pub(crate) module_attributes: Items,
    pub(crate) rows: Vec<RowRecord>,
    pub(crate) tables: Vec<Table>,
    pub(crate) computations: Vec<ComputationRecord>,
    /// The numbers of the computations, sorted by name.
    pub(crate) by_name: Vec<u32>,
    /// The number of the entry computation.
    pub(crate) entry: Option<u32>,
    pub(crate) instructions: Vec<InstructionRecord>,
    pub(crate) operands: Vec<OperandRecord>,
    pub(crate) attributes: Vec<AttributeRecord>,
    pub(crate) shapes: Vec<Shape>,
}

impl<'a> Module<'a> {
    /// The text that the module was read from.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name behind `HloModule`; where the text is computations without that line, `module_` and the name of the
    /// entry computation, as XLA calls it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.map(|name| self.piece(name))
    }

    /// The attributes behind the module's name.
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = Attribute<'_>> + use<'a, '_> {
        self.attribute_list(self.module_attributes)
    }

    /// The value of the module's attribute with this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Value<'_>> {
        find(self.attributes(), name)
    }

    /// Whether the instructions of each computation stand in the order in which they run: `is_scheduled=true`.
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        self.attribute("is_scheduled").is_some_and(|value| value.text() == "true")
    }

    /// The tables that the text has, in its order.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The rows of a table: number, and the value behind it.
    pub fn rows(&self, table: Table) -> impl Iterator<Item = (u32, Value<'_>)> + use<'a, '_> {
        self.rows.iter().filter(move |row| row.table == table).map(|row| (row.number, self.value(row.value)))
    }

    /// The computations, in the order of the text.
    pub fn computations(
        &self,
    ) -> impl ExactSizeIterator<Item = Computation<'_, 'a>> + DoubleEndedIterator + use<'a, '_> {
        self.computations.iter().zip(numbers(&self.computations)).map(|(record, number)| Computation {
            module: self,
            record,
            number,
        })
    }

    /// The entry computation: the one marked ENTRY, or, as for XLA, the last one of a text that has neither that mark
    /// nor a module's head.
    #[must_use]
    pub fn entry(&self) -> Option<Computation<'_, 'a>> {
        self.computation_at(self.entry?)
    }

    /// The computation with this name, written without `%`.
    #[must_use]
    pub fn computation(&self, name: &str) -> Option<Computation<'_, 'a>> {
        let name_of = |&number: &u32| self.computations.get(number as usize).map_or("", |found| self.piece(found.name));
        let place = self.by_name.binary_search_by(|number| name_of(number).cmp(name)).ok()?;
        self.by_name.get(place).and_then(|&number| self.computation_at(number))
    }

    /// All instructions, in the order of the text.
    pub fn instructions(
        &self,
    ) -> impl ExactSizeIterator<Item = Instruction<'_, 'a>> + DoubleEndedIterator + use<'a, '_> {
        self.instructions.iter().zip(numbers(&self.instructions)).map(|(record, number)| Instruction {
            module: self,
            record,
            number,
        })
    }

    /// The first instruction with this name, written without `%`. Takes time in proportion to the module.
    #[must_use]
    pub fn instruction(&self, name: &str) -> Option<Instruction<'_, 'a>> {
        self.instructions().find(|instruction| instruction.name() == name)
    }

    /// The instruction with this [`number`](Instruction::number).
    #[must_use]
    pub fn instruction_at(&self, number: u32) -> Option<Instruction<'_, 'a>> {
        let record = self.instructions.get(number as usize)?;
        Some(Instruction { module: self, record, number })
    }

    /// The different spellings of shapes in the module, each once, in the order of their first appearance.
    #[must_use]
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The bytes of memory that the module holds beside its text.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        fn bytes<T>(list: &Vec<T>) -> usize {
            list.capacity().saturating_mul(size_of::<T>())
        }
        let lists = [
            self.made.capacity(),
            bytes(&self.made_for),
            bytes(&self.rows),
            bytes(&self.tables),
            bytes(&self.computations),
            bytes(&self.by_name),
            bytes(&self.instructions),
            bytes(&self.operands),
            bytes(&self.attributes),
            bytes(&self.shapes),
        ];
        let lists = lists.into_iter().fold(0_usize, usize::saturating_add);
        self.shapes.iter().fold(lists, |sum, shape| sum.saturating_add(shape.heap_bytes()))
    }

    /// A module of this text, of which nothing has been read yet.
    pub(crate) const fn unread(text: Cow<'a, str>) -> Self {
        Self {
            text,
            made: String::new(),
            made_for: Vec::new(),
            name: None,
            module_attributes: Items { start: 0, len: 0 },
            rows: Vec::new(),
            tables: Vec::new(),
            computations: Vec::new(),
            by_name: Vec::new(),
            entry: None,
            instructions: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            shapes: Vec::new(),
        }
    }

    /// Gives back the memory that its lists do not need.
    pub(crate) fn shrink(&mut self) {
        self.rows.shrink_to_fit();
        self.computations.shrink_to_fit();
        self.instructions.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.shapes.shrink_to_fit();
    }

    /// Sorts the computations by name; returns an error for each name that is there again.
    pub(crate) fn sort_computations(&mut self) -> Vec<ParseError> {
        let named = self.computations.iter().zip(0_u32..).filter(|(record, _)| !record.is_fragment);
        let mut by_name: Vec<_> = named.map(|(record, number)| (self.piece(record.name), number)).collect();
        by_name.sort_unstable();
        let again = by_name.windows(2).filter_map(|pair| match pair {
            [(first, _), (second, number)] if first == second => self.computations.get(*number as usize),
            _ => None,
        });
        let errors = again.map(|record| self.duplicate(record.name)).collect();
        self.by_name = by_name.into_iter().map(|(_, number)| number).collect();
        errors
    }

    /// The error about a name that something else has, too.
    pub(crate) fn duplicate(&self, name: Piece) -> ParseError {
        let kind = ParseErrorKind::DuplicateName { name: Found::new(self.piece(name)) };
        ParseError::new(kind, self.span(name))
    }

    fn computation_at(&self, number: u32) -> Option<Computation<'_, 'a>> {
        let record = self.computations.get(number as usize)?;
        Some(Computation { module: self, record, number })
    }

    #[inline]
    pub(crate) fn piece(&self, piece: Piece) -> &str {
        let start = piece.start as usize;
        let (source, start) = match start.checked_sub(self.text.len()) {
            None | Some(0) => (&*self.text, start),
            Some(behind) => (&*self.made, behind.wrapping_sub(1)),
        };
        source.get(start..start.saturating_add(piece.len as usize)).unwrap_or("")
    }

    /// The bytes of a piece, where it need not be text.
    #[inline]
    pub(crate) fn piece_bytes(&self, piece: Piece) -> &[u8] {
        let (start, len) = (piece.start as usize, piece.len as usize);
        match self.text.as_bytes().get(start..start.saturating_add(len)) {
            Some(bytes) => bytes,
            None => self.piece(piece).as_bytes(),
        }
    }

    /// Where a piece stands, or that for which it was made.
    pub(crate) fn span(&self, piece: Piece) -> Span {
        let plain = |piece: Piece| {
            let start = piece.start as usize;
            Span { start, end: start.saturating_add(piece.len as usize) }
        };
        if piece.start as usize <= self.text.len() {
            return plain(piece);
        }
        let behind = self.made_for.partition_point(|(start, _)| *start <= piece.start);
        behind
            .checked_sub(1)
            .and_then(|place| self.made_for.get(place))
            .map_or(plain(piece), |(_, place)| plain(*place))
    }

    /// Keeps a name or value that the text does not spell out, made for this part of the text. `None` if there is no room
    /// for its position.
    pub(crate) fn make(&mut self, text: fmt::Arguments<'_>, place: Piece) -> Option<Piece> {
        let begin = self.made.len();
        let position = |behind: usize| u32::try_from(self.text.len().checked_add(behind)?.checked_add(1)?).ok();
        let start = position(begin)?;
        // Writing to memory does not fail.
        let _ = fmt::Write::write_fmt(&mut self.made, text);
        let end = position(self.made.len())?;
        self.made_for.push((start, place));
        Some(Piece { start, len: end.saturating_sub(start) })
    }

    fn value(&self, piece: Piece) -> Value<'_> {
        let span = self.span(piece);
        if piece.start as usize <= self.text.len() {
            Value::new(&self.text, span)
        } else {
            Value::made(self.piece(piece), span)
        }
    }

    /// The same module with a text of its own.
    #[must_use]
    pub fn into_owned(mut self) -> Module<'static> {
        let text = core::mem::take(&mut self.text).into_owned();
        self.with_text(Cow::Owned(text))
    }

    /// The same lists over a text that must be the same.
    pub(crate) fn with_text(self, text: Cow<'_, str>) -> Module<'_> {
        Module {
            text,
            made: self.made,
            made_for: self.made_for,
            name: self.name,
            module_attributes: self.module_attributes,
            rows: self.rows,
            tables: self.tables,
            computations: self.computations,
            by_name: self.by_name,
            entry: self.entry,
            instructions: self.instructions,
            operands: self.operands,
            attributes: self.attributes,
            shapes: self.shapes,
        }
    }

    /// The name of the instruction with this number; empty if there is none.
    #[inline]
    pub(crate) fn instruction_name(&self, number: u32) -> &str {
        self.instructions.get(number as usize).map_or("", |record| self.piece(record.name))
    }

    /// The same as bytes.
    #[inline]
    pub(crate) fn name_bytes(&self, number: u32) -> &[u8] {
        self.instructions.get(number as usize).map_or(&[], |record| self.piece_bytes(record.name))
    }

    fn attribute_list(&self, items: Items) -> impl ExactSizeIterator<Item = Attribute<'_>> + use<'a, '_> {
        let records = items.of(&self.attributes);
        records.iter().map(|record| Attribute::new(self.piece(record.key), self.value(record.value)))
    }
}

/// The numbers of all items of a list.
fn numbers<T>(list: &[T]) -> core::ops::Range<u32> {
    0..u32::try_from(list.len()).unwrap_or(NONE)
}

impl fmt::Debug for Module<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name())
            .field("computations", &self.computations.len())
            .field("instructions", &self.instructions.len())
            .finish_non_exhaustive()
    }
}

fn find<'a>(mut attributes: impl Iterator<Item = Attribute<'a>>, name: &str) -> Option<Value<'a>> {
    attributes.find(|attribute| attribute.name() == name).map(|attribute| attribute.value())
}

/// A computation of a [`Module`].
#[derive(Clone, Copy)]
pub struct Computation<'m, 'a> {
    module: &'m Module<'a>,
    record: &'m ComputationRecord,
    number: u32,
}

impl<'m, 'a> Computation<'m, 'a> {
    /// The module.
    #[must_use]
    pub const fn module(self) -> &'m Module<'a> {
        self.module
    }

    /// Its place among the computations of the module, from 0.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The name, without `%`. Instructions that stand outside any computation form one without a name.
    #[must_use]
    pub fn name(self) -> &'m str {
        self.module.piece(self.record.name)
    }

    /// Whether it is marked ENTRY.
    #[must_use]
    pub const fn is_entry(self) -> bool {
        self.record.is_entry
    }

    /// Whether these are instructions that stand outside any computation; their operands may be unknown.
    #[must_use]
    pub const fn is_fragment(self) -> bool {
        self.record.is_fragment
    }

    /// The instructions that are its parameters, in the order of their numbers, and the number of each.
    ///
    /// ```
    /// let text = "HloModule m\nENTRY e { b = f32[3] parameter(1)\n a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let parameters = module.entry().unwrap().parameters_by_number();
    /// assert_eq!(parameters.iter().map(|(number, made)| (*number, made.name())).collect::<Vec<_>>(), [(0, "a"), (1, "b")]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn parameters_by_number(self) -> Vec<(usize, Instruction<'m, 'a>)> {
        let numbered = |made: Instruction<'m, 'a>| Some((made.parameter_number()?, made));
        let mut all: Vec<_> = self.instructions().filter_map(numbered).collect();
        all.sort_by_key(|(number, _)| *number);
        all
    }

    /// The names and shapes of the parameters as the head of the computation gives them, which is mostly without
    /// layouts; `None` if it does not.
    #[must_use]
    pub fn parameters(self) -> Option<impl ExactSizeIterator<Item = (&'m str, &'m Shape)> + use<'m, 'a>> {
        let records = self.record.has_head.then(|| self.record.parameters.of(&self.module.operands))?;
        let shape = move |number: u32| self.module.shapes.get(number as usize).unwrap_or(&Shape::Opaque);
        Some(records.iter().map(move |record| (self.module.piece(record.name), shape(record.shape))))
    }

    /// The shape of the result as the head of the computation gives it, which is mostly without layout; `None` if it
    /// does not.
    #[must_use]
    pub fn result(self) -> Option<&'m Shape> {
        self.module.shapes.get(self.record.result as usize)
    }

    /// The instructions, in the order of the text.
    pub fn instructions(
        self,
    ) -> impl ExactSizeIterator<Item = Instruction<'m, 'a>> + DoubleEndedIterator + use<'m, 'a> {
        let items = self.record.instructions;
        let records = items.of(&self.module.instructions);
        records.iter().zip(items.numbers()).map(move |(record, number)| Instruction {
            module: self.module,
            record,
            number,
        })
    }

    /// The instruction with this name, written without `%`. Takes time in proportion to the computation.
    #[must_use]
    pub fn instruction(self, name: &str) -> Option<Instruction<'m, 'a>> {
        self.instructions().find(|instruction| instruction.name() == name)
    }

    /// The instruction whose value is the computation's: the one marked ROOT, or the last one.
    ///
    /// # Panics
    /// Never: a computation has instructions.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the parser keeps no computation without an instruction")]
    pub fn root(self) -> Instruction<'m, 'a> {
        self.module.instruction_at(self.record.root).expect("a computation has instructions")
    }

    /// The attributes behind the closing brace.
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'m>> + use<'m, 'a> {
        self.module.attribute_list(self.record.attributes)
    }

    /// The value of the attribute with this name behind the closing brace.
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Value<'m>> {
        find(self.attributes(), name)
    }
}

impl fmt::Debug for Computation<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computation")
            .field("name", &self.name())
            .field("instructions", &self.record.instructions.len)
            .finish_non_exhaustive()
    }
}

/// An instruction of a [`Module`].
#[derive(Clone, Copy)]
pub struct Instruction<'m, 'a> {
    module: &'m Module<'a>,
    record: &'m InstructionRecord,
    number: u32,
}

impl<'m, 'a> Instruction<'m, 'a> {
    /// The module.
    #[must_use]
    pub const fn module(self) -> &'m Module<'a> {
        self.module
    }

    /// Its place among the instructions of the module, from 0.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The computation that it belongs to.
    ///
    /// # Panics
    /// Never: an instruction belongs to a computation.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the parser numbers the computation of every instruction")]
    pub fn computation(self) -> Computation<'m, 'a> {
        self.module.computation_at(self.record.computation).expect("an instruction belongs to a computation")
    }

    /// The name, without `%`.
    #[must_use]
    pub fn name(self) -> &'m str {
        self.module.piece(self.record.name)
    }

    /// The shape of its value.
    #[must_use]
    pub fn shape(self) -> &'m Shape {
        self.module.shapes.get(self.record.shape as usize).unwrap_or(&Shape::Opaque)
    }

    /// The place of its shape among the module's [`shapes`](Module::shapes).
    #[must_use]
    pub const fn shape_number(self) -> u32 {
        self.record.shape
    }

    /// The shape as it is written; empty where it is left out and follows from the operands.
    #[must_use]
    pub fn shape_text(self) -> &'m str {
        self.module.piece(self.record.shape_text)
    }

    /// Where the shape is written.
    #[must_use]
    pub fn shape_span(self) -> Span {
        self.module.span(self.record.shape_text)
    }

    /// What it does.
    #[must_use]
    pub fn opcode(self) -> Opcode<'m> {
        Opcode::numbered(self.record.opcode, self.module.piece(self.record.opcode_text))
    }

    /// Whether it is marked ROOT.
    #[must_use]
    pub const fn is_root(self) -> bool {
        self.record.is_root
    }

    /// Whether it stands inside the operands of another one, as `negate(x)` does in `add(negate(x), y)`, or is the element
    /// of a tuple that an operand like `x#1` takes. XLA gives it a name, and so does the module.
    #[must_use]
    pub fn is_implied(self) -> bool {
        self.record.origin == Origin::Implied
    }

    /// Whether it was read. Only [`Module::parse_with_errors`] keeps an instruction that it cannot read: its name, opcode
    /// and shape are known as far as they can be told, its operands and attributes are not.
    #[must_use]
    pub fn is_read(self) -> bool {
        self.record.origin != Origin::Unread
    }

    /// What stands between the parentheses: operands, the literal of a constant, or the number of a parameter.
    #[must_use]
    pub fn arguments(self) -> &'m str {
        self.module.piece(self.record.arguments).trim_ascii()
    }

    /// The operands; a constant and a parameter have none.
    pub fn operands(self) -> impl ExactSizeIterator<Item = Operand<'m, 'a>> + DoubleEndedIterator + use<'m, 'a> {
        let records = self.record.operands.of(&self.module.operands);
        records.iter().map(move |record| Operand { module: self.module, record })
    }

    /// Operand number `index`.
    #[must_use]
    pub fn operand(self, index: usize) -> Option<Operand<'m, 'a>> {
        let record = self.record.operands.of(&self.module.operands).get(index)?;
        Some(Operand { module: self.module, record })
    }

    /// The literal of a constant, as it is written.
    #[must_use]
    pub fn literal(self) -> Option<&'m str> {
        (self.opcode() == Opcode::Constant).then(|| self.arguments())
    }

    /// The number of a parameter.
    #[must_use]
    pub fn parameter_number(self) -> Option<usize> {
        (self.opcode() == Opcode::Parameter).then(|| self.arguments().parse().ok()).flatten()
    }

    /// The attributes, in the order of the text.
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'m>> + use<'m, 'a> {
        self.module.attribute_list(self.record.attributes)
    }

    /// The value of the attribute with this name.
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Value<'m>> {
        find(self.attributes(), name)
    }

    /// Where the name stands, without `%`.
    #[must_use]
    pub fn name_span(self) -> Span {
        self.module.span(self.record.name)
    }

    /// Where the instruction stands: from its name to its end.
    #[must_use]
    pub fn span(self) -> Span {
        Span { start: self.name_span().start, end: self.record.end as usize }
    }
}

impl PartialEq for Instruction<'_, '_> {
    /// Whether they are the same instruction of the same module.
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.record, other.record)
    }
}

impl Eq for Instruction<'_, '_> {}

impl fmt::Debug for Instruction<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instruction").field(&format_args!("{self}")).finish()
    }
}

/// An operand of an [`Instruction`].
#[derive(Clone, Copy)]
pub struct Operand<'m, 'a> {
    module: &'m Module<'a>,
    record: &'m OperandRecord,
}

impl<'m, 'a> Operand<'m, 'a> {
    /// The name, without `%`.
    #[must_use]
    pub fn name(self) -> &'m str {
        match self.instruction() {
            Some(instruction) if instruction.is_implied() => instruction.name(),
            _ => self.module.piece(self.record.name),
        }
    }

    /// Where the name stands, without `%`.
    #[must_use]
    pub fn span(self) -> Span {
        self.module.span(self.record.name)
    }

    /// The instruction whose value it is; `None` only where a part of a computation was read.
    #[must_use]
    pub fn instruction(self) -> Option<Instruction<'m, 'a>> {
        self.module.instruction_at(self.record.instruction)
    }

    /// The shape that is written before the name, as older texts have it.
    #[must_use]
    pub fn written_shape(self) -> Option<&'m Shape> {
        self.module.shapes.get(self.record.shape as usize)
    }

    /// The shape: of the instruction, or the written one.
    #[must_use]
    pub fn shape(self) -> Option<&'m Shape> {
        self.instruction().map(Instruction::shape).or(self.written_shape())
    }
}

impl fmt::Debug for Operand<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Operand").field(&self.name()).finish()
    }
}

impl OperandRecord {
    pub(crate) const fn new(name: Piece) -> Self {
        Self { name, shape: NONE, instruction: NONE }
    }
}
