//! A parsed module and its views.
//!
//! A [`Module`] holds flat lists whose records refer to each other, and to the text, by number. [`Computation`],
//! [`Instruction`] and [`Operand`] are small views that can be copied.

mod computation;
mod instruction;
mod record;

pub use computation::Computation;
pub use instruction::{Instruction, Operand};
pub(crate) use record::{
    AttributeRecord, ComputationRecord, Form, InstructionRecord, Items, MAX_TEXT, OperandRecord, Piece, RowRecord,
    number,
};

use crate::attribute::{Attribute, Value};
use crate::names::{NONE, NameTable, hash};
use crate::schema::Key;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::memory_space::Platform;
use xla_shape_core::text::{Found, ParseError, ParseErrorKind, Span};
use xla_shape_core::{ProgramParameter, ProgramShape, Shape};

/// One of the tables of source locations before the computations (XLA's `StackFrameIndexProto`, `xla/service/hlo.proto`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Table {
    /// `FileNames`: rows of a number and a file name.
    FileNames,
    /// `FunctionNames`: rows of a number and a function name.
    FunctionNames,
    /// `FileLocations`: rows of a number and `{file_name_id=… function_name_id=… line=… …}`.
    FileLocations,
    /// `StackFrames`: rows of a number and `{file_location_id=… parent_frame_id=…}`.
    StackFrames,
}

impl Table {
    /// Every table, in the order in which XLA prints them.
    pub const ALL: [Self; 4] = [Self::FileNames, Self::FunctionNames, Self::FileLocations, Self::StackFrames];

    /// The line that introduces the table.
    ///
    /// ```
    /// assert_eq!(xla_shape_hlo::Table::FileNames.name(), "FileNames");
    /// ```
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

/// An HLO module, or a part of one, parsed from text.
///
/// Names, constants and attributes stay in the text, which the module owns; clones share it. Shapes are parsed,
/// each spelling once.
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
pub struct Module {
    pub(crate) text: Arc<String>,
    /// Names and values that the text implies but does not contain.
    pub(crate) generated: String,
    /// For each name or value in `generated`: where it begins there, and the part of the text that implies it.
    pub(crate) generated_for: Vec<(u32, Piece)>,
    pub(crate) name: Option<Piece>,
    pub(crate) module_attributes: Items,
    pub(crate) rows: Vec<RowRecord>,
    pub(crate) tables: Vec<Table>,
    pub(crate) computations: Vec<ComputationRecord>,
    /// The numbers of the computations that have names.
    pub(crate) by_name: NameTable,
    /// The number of the entry computation.
    pub(crate) entry: Option<u32>,
    pub(crate) instructions: Vec<InstructionRecord>,
    pub(crate) operands: Vec<OperandRecord>,
    pub(crate) attributes: Vec<AttributeRecord>,
    pub(crate) shapes: Vec<Shape>,
    /// The names of the operations that asynchronous starts in short form wrap, by the number of the start. Only messages have these names.
    pub(crate) wrapped: BTreeMap<u32, String>,
}

impl Module {
    /// The text that the module was parsed from.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[2] negate(x)")?;
    /// let shape = module.instructions().next().unwrap().shape_span();
    /// assert_eq!(&module.text()[shape.start..shape.end], "f32[2]");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Consumes the module and returns its text, without a copy if no clone of the module shares it.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[2] negate(x)")?;
    /// assert_eq!(module.into_text(), "y = f32[2] negate(x)");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn into_text(self) -> String {
        Arc::unwrap_or_clone(self.text)
    }

    /// The name after `HloModule`. For a text of computations without that line it is `module_` and the name of the entry
    /// computation, as in XLA (`HloParserImpl::ParseHloModule`). `None` for instructions outside any computation.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// assert_eq!(Module::parse("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }")?.name(), Some("m"));
    /// assert_eq!(Module::parse("ENTRY e { ROOT p = f32[] parameter(0) }")?.name(), Some("module_e"));
    /// assert_eq!(Module::parse("p = f32[] parameter(0)")?.name(), None);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.map(|name| self.piece(name))
    }

    /// The attributes after the module's name.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true, num_partitions=4\nENTRY e { ROOT p = f32[] parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let names: Vec<_> = module.attributes().map(|attribute| attribute.name()).collect();
    /// assert_eq!(names, ["is_scheduled", "num_partitions"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn attributes(&self) -> impl ExactSizeIterator<Item = Attribute<'_>> {
        self.attribute_list(self.module_attributes)
    }

    /// The value of the module's attribute with this name.
    ///
    /// ```
    /// let text = "HloModule m, num_partitions=4\nENTRY e { ROOT p = f32[] parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.attribute("num_partitions").unwrap().number()?, 4);
    /// assert!(module.attribute("replica_count").is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Value<'_>> {
        find(self.attributes(), name)
    }

    /// The value of the module's attribute `key`.
    pub(crate) fn value_of(&self, key: Key) -> Option<Value<'_>> {
        self.attribute(key.name())
    }

    /// The number in the module's attribute `key`.
    pub(crate) fn count(&self, key: Key) -> Option<usize> {
        self.value_of(key)?.number().ok()
    }

    /// Whether the instructions of each computation are in the order in which they run: `is_scheduled=true`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// assert!(Module::parse("HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[] parameter(0) }")?.is_scheduled());
    /// assert!(!Module::parse("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }")?.is_scheduled());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_scheduled(&self) -> bool {
        self.value_of(Key::IsScheduled).is_some_and(|value| value.text() == "true")
    }

    /// Whether the module is for a TPU: only there, arrays have tiles.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// assert!(Module::parse("ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) }")?.is_for_tpu());
    /// assert!(!Module::parse("ENTRY e { p = f32[8,128]{1,0} parameter(0) }")?.is_for_tpu());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_for_tpu(&self) -> bool {
        self.shapes.iter().flat_map(Shape::arrays).any(|array| !array.layout().tiles().is_empty())
    }

    /// Whether the module is for a GPU. XLA's names for the libraries and configurations of GPUs show that, because modules for other devices do not
    /// have them. In a module that is not compiled yet, none of them occurs, so the answer is `false`.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let text = r#"c = f32[8] custom-call(a), custom_call_target="__cublas$gemm""#;
    /// assert!(Module::parse(text)?.is_for_gpu());
    /// assert!(!Module::parse("n = f32[8] negate(a)")?.is_for_gpu());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_for_gpu(&self) -> bool {
        const NAMES: [&str; 6] =
            ["fusion_backend_config", "reification_cost", "__cublas", "__cudnn", "fingerprint_before_lhs", "__triton"];
        !self.is_for_tpu() && NAMES.iter().any(|name| self.text().contains(name))
    }

    /// The device that the module is for, as far as the module shows it: it determines the names of memory spaces.
    ///
    /// ```
    /// use xla_shape_core::memory_space::Platform;
    /// use xla_shape_hlo::Module;
    ///
    /// assert_eq!(Module::parse("ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) }")?.platform(), Platform::Tpu);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn platform(&self) -> Platform {
        match () {
            () if self.is_for_tpu() => Platform::Tpu,
            () if self.is_for_gpu() => Platform::Gpu,
            () => Platform::Other,
        }
    }

    /// The shapes of the program's parameters and result, as a caller passes and gets them. They are the shapes of the parameter instructions and of
    /// the root of the ENTRY computation. A shape that is written without a layout, as before optimisation, is taken from
    /// `entry_computation_layout`. `None` without an ENTRY computation.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("\
    /// HloModule m, entry_computation_layout={(f32[8,64]{0,1})->f32[64,8]{1,0}}
    /// ENTRY e { p = f32[8,64] parameter(0) ROOT t = f32[64,8] transpose(p), dimensions={1,0} }")?;
    /// let program = module.program_shape().unwrap();
    /// assert_eq!(program.parameters[0].shape.to_string(), "f32[8,64]{0,1}");
    /// assert_eq!(module.instruction("p").unwrap().shape().to_string(), "f32[8,64]{1,0}", "as XLA reads the instruction");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn program_shape(&self) -> Option<ProgramShape> {
        let entry = self.entry()?;
        let stated = self.value_of(Key::EntryComputationLayout).and_then(|value| value.program_shape().ok());
        let equal = ShapeEqual::new().ignore_layout();
        // If a shape is written without a layout, the head of the module states the layout that a caller must pass or gets.
        let passed = |instruction: Instruction<'_>, stated: Option<&Shape>| {
            let leaves_layouts_out = !instruction.shape_text().contains('{');
            let stated = stated.filter(|stated| leaves_layouts_out && equal.compare(stated, instruction.shape()));
            stated.unwrap_or(instruction.shape()).clone()
        };
        let of_parameter = |number: usize| Some(&stated.as_ref()?.parameters.get(number)?.shape);
        let parameters = entry.parameters_by_number().into_iter().map(|(number, parameter)| ProgramParameter {
            name: parameter.name().into(),
            shape: passed(parameter, of_parameter(number)),
        });
        let result = passed(entry.root(), stated.as_ref().map(|stated| &stated.result));
        Some(ProgramShape { parameters: parameters.collect(), result })
    }

    /// The tables in the text, in text order.
    #[must_use]
    pub fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The rows of a table: the number and the value after it.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Table};
    ///
    /// let text = r#"HloModule m
    ///
    /// FileNames
    /// 1 "f.py"
    ///
    /// FunctionNames
    /// 1 "main"
    ///
    /// FileLocations
    /// 1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=1 end_column=2}
    ///
    /// StackFrames
    /// 1 {file_location_id=1 parent_frame_id=1}
    ///
    /// ENTRY e { ROOT p = f32[] parameter(0) }"#;
    /// let module = Module::parse(text)?;
    /// assert_eq!(module.tables(), Table::ALL);
    /// let rows: Vec<_> = module.rows(Table::FileNames).map(|(number, value)| (number, value.text())).collect();
    /// assert_eq!(rows, [(1, "\"f.py\"")]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn rows(&self, table: Table) -> impl Iterator<Item = (u32, Value<'_>)> {
        self.rows.iter().filter(move |row| row.table == table).map(|row| (row.number, self.value(row.value)))
    }

    /// The computations, in text order. In modules that XLA accepts, callees come before their callers.
    ///
    /// ```
    /// let text = "HloModule m
    /// add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    /// ENTRY e { x = f32[8] parameter(0) z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let names: Vec<_> = module.computations().map(|computation| computation.name()).collect();
    /// assert_eq!(names, ["add", "e"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn computations(&self) -> impl ExactSizeIterator<Item = Computation<'_>> + DoubleEndedIterator {
        self.computations.iter().zip(numbers(&self.computations)).map(|(record, number)| Computation {
            module: self,
            record,
            number,
        })
    }

    /// The entry computation: the one marked `ENTRY`. As in XLA, it is the last one if the text has neither that mark nor a
    /// `HloModule` line.
    ///
    /// ```
    /// let text = "HloModule m\nENTRY main { ROOT p = f32[8]{0} parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.entry().unwrap().name(), "main");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn entry(&self) -> Option<Computation<'_>> {
        self.computation_at(self.entry?)
    }

    /// The computation with this name, given without `%`.
    ///
    /// ```
    /// let text = "HloModule m\nENTRY %main { ROOT p = f32[8]{0} parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert!(module.computation("main").unwrap().is_entry());
    /// assert!(module.computation("body").is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn computation(&self, name: &str) -> Option<Computation<'_>> {
        let name_of = |number| self.computation_name(number);
        self.by_name.get(name.as_bytes(), hash(name.as_bytes()), name_of).and_then(|number| self.computation_at(number))
    }

    /// The operands that are used before their definition. XLA refuses such a module, and its text order is not a schedule.
    pub(crate) fn operands_before_definition(&self) -> impl Iterator<Item = (Instruction<'_>, Operand<'_>)> {
        self.instructions().flat_map(|instruction| {
            let is_early = move |operand: &Operand<'_>| {
                operand.instruction().is_some_and(|defined| defined.number >= instruction.number)
            };
            instruction.operands().filter(is_early).map(move |operand| (instruction, operand))
        })
    }

    /// The instructions of all computations, in text order.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let names: Vec<_> = module.instructions().map(|instruction| instruction.name()).collect();
    /// assert_eq!(names, ["p", "n"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn instructions(&self) -> impl ExactSizeIterator<Item = Instruction<'_>> + DoubleEndedIterator {
        self.instructions.iter().zip(numbers(&self.instructions)).map(|(record, number)| Instruction {
            module: self,
            record,
            number,
        })
    }

    /// The first instruction with this name, given without `%`. Takes time proportional to the number of instructions.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { %p = f32[8] parameter(0) ROOT %n = f32[8] negate(%p) }")?;
    /// assert!(module.instruction("n").unwrap().is_root());
    /// assert!(module.instruction("q").is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn instruction(&self, name: &str) -> Option<Instruction<'_>> {
        self.instructions().find(|instruction| instruction.name() == name)
    }

    /// The instruction with this [`number`](Instruction::number).
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let root = module.entry().unwrap().root();
    /// assert_eq!(module.instruction_at(root.number()), Some(root));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn instruction_at(&self, number: u32) -> Option<Instruction<'_>> {
        let record = self.instructions.get(number as usize)?;
        Some(Instruction { module: self, record, number })
    }

    /// The distinct spellings of shapes in the module, in the order of their first appearance.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// assert_eq!(module.shapes().len(), 1, "both instructions have the same shape");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The bytes of memory that the module takes, without its text.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) }")?;
    /// assert!(module.memory_bytes() > 0);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        fn bytes<T>(list: &Vec<T>) -> usize {
            list.capacity() * size_of::<T>()
        }
        let lists = [
            self.generated.capacity(),
            bytes(&self.generated_for),
            bytes(&self.rows),
            bytes(&self.tables),
            bytes(&self.computations),
            self.by_name.heap_bytes(),
            bytes(&self.instructions),
            bytes(&self.operands),
            bytes(&self.attributes),
            bytes(&self.shapes),
        ];
        lists.into_iter().chain(self.shapes.iter().map(Shape::heap_bytes)).sum()
    }

    /// A module of this text before anything is parsed.
    pub(crate) const fn unread(text: Arc<String>) -> Self {
        Self {
            text,
            generated: String::new(),
            generated_for: Vec::new(),
            name: None,
            module_attributes: Items { start: 0, len: 0 },
            rows: Vec::new(),
            tables: Vec::new(),
            computations: Vec::new(),
            by_name: NameTable::new(),
            entry: None,
            instructions: Vec::new(),
            operands: Vec::new(),
            attributes: Vec::new(),
            shapes: Vec::new(),
            wrapped: BTreeMap::new(),
        }
    }

    /// Frees the spare capacity of the lists.
    pub(crate) fn shrink(&mut self) {
        self.rows.shrink_to_fit();
        self.computations.shrink_to_fit();
        self.instructions.shrink_to_fit();
        self.operands.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.shapes.shrink_to_fit();
    }

    /// Makes the computations known by name; returns an error for each duplicate name.
    pub(crate) fn name_computations(&mut self) -> Vec<ParseError> {
        let mut by_name = NameTable::new();
        let mut errors = Vec::new();
        let name_of = |number| self.computation_name(number);
        for (record, number) in self.computations.iter().zip(0_u32..).filter(|(record, _)| !record.is_fragment) {
            let name = self.piece(record.name).as_bytes();
            if by_name.get(name, hash(name), name_of).is_some() {
                errors.push(self.duplicate(record.name));
            } else {
                by_name.insert(name, hash(name), number, name_of);
            }
        }
        self.by_name = by_name;
        errors
    }

    /// The name of the computation with this number, as bytes; empty if no computation has it.
    fn computation_name(&self, number: u32) -> &[u8] {
        self.computations.get(number as usize).map_or(b"", |record| self.piece(record.name).as_bytes())
    }

    /// The error about a duplicate name.
    pub(crate) fn duplicate(&self, name: Piece) -> ParseError {
        let kind = ParseErrorKind::DuplicateName { name: Found::new(self.piece(name)) };
        ParseError::new(kind, self.span(name))
    }

    pub(crate) fn computation_at(&self, number: u32) -> Option<Computation<'_>> {
        let record = self.computations.get(number as usize)?;
        Some(Computation { module: self, record, number })
    }

    #[inline]
    pub(crate) fn piece(&self, piece: Piece) -> &str {
        let start = piece.start as usize;
        // Positions after the end of the text lead into the generated text. They begin one later, because the end of the text is itself the
        // position of an empty piece.
        let (source, start) = match start.checked_sub(self.text.len()) {
            None | Some(0) => (self.text.as_str(), start),
            Some(offset) => (self.generated.as_str(), offset.wrapping_sub(1)),
        };
        source.get(start..start + piece.len as usize).unwrap_or("")
    }

    /// The bytes of a piece, without the check that it begins and ends at a character boundary.
    #[inline]
    pub(crate) fn piece_bytes(&self, piece: Piece) -> &[u8] {
        let (start, len) = (piece.start as usize, piece.len as usize);
        match self.text.as_bytes().get(start..start + len) {
            Some(bytes) => bytes,
            None => self.piece(piece).as_bytes(),
        }
    }

    /// Where a piece is in the text; for a generated one, the text that implies it.
    pub(crate) fn span(&self, piece: Piece) -> Span {
        let plain = |piece: Piece| {
            let start = piece.start as usize;
            Span { start, end: start + piece.len as usize }
        };
        if piece.start as usize <= self.text.len() {
            return plain(piece);
        }
        // Generated texts are in order. The piece lies in the last of them that begins at or before it. Its span is the place for
        // which that text was generated.
        let next = self.generated_for.partition_point(|(start, _)| *start <= piece.start);
        next.checked_sub(1)
            .and_then(|place| self.generated_for.get(place))
            .map_or(plain(piece), |(_, place)| plain(*place))
    }

    /// Stores a name or value that the text implies at `place` but does not contain. `None` if its offset does not fit.
    pub(crate) fn generate(&mut self, text: fmt::Arguments<'_>, place: Piece) -> Option<Piece> {
        let begin = self.generated.len();
        let position = |offset: usize| u32::try_from(self.text.len().checked_add(offset)?.checked_add(1)?).ok();
        let start = position(begin)?;
        // Writing to memory does not fail.
        let _ = fmt::Write::write_fmt(&mut self.generated, text);
        let end = position(self.generated.len())?;
        self.generated_for.push((start, place));
        Some(Piece { start, len: end.saturating_sub(start) })
    }

    fn value(&self, piece: Piece) -> Value<'_> {
        let span = self.span(piece);
        if piece.start as usize <= self.text.len() {
            Value::new(&self.text, span)
        } else {
            Value::generated(self.piece(piece), span)
        }
    }

    /// The name of the instruction with this number; empty if no instruction has it.
    #[inline]
    pub(crate) fn instruction_name(&self, number: u32) -> &str {
        self.instructions.get(number as usize).map_or("", |record| self.piece(record.name))
    }

    /// [`instruction_name`](Self::instruction_name) as bytes.
    #[inline]
    pub(crate) fn name_bytes(&self, number: u32) -> &[u8] {
        self.instructions.get(number as usize).map_or(&[], |record| self.piece_bytes(record.name))
    }

    fn attribute_list(&self, items: Items) -> impl ExactSizeIterator<Item = Attribute<'_>> {
        let records = items.slice(&self.attributes);
        records.iter().map(|record| Attribute::new(self.piece(record.key), self.value(record.value)))
    }
}

/// The indices of all items of a list.
fn numbers<T>(list: &[T]) -> core::ops::Range<u32> {
    0..u32::try_from(list.len()).unwrap_or(NONE)
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("name", &self.name())
            .field("computations", &self.computations.len())
            .field("instructions", &self.instructions.len())
            .finish_non_exhaustive()
    }
}

fn find<'a>(attributes: impl Iterator<Item = Attribute<'a>>, name: &str) -> Option<Value<'a>> {
    attributes.filter(|attribute| attribute.name() == name).last().map(|attribute| attribute.value())
}
