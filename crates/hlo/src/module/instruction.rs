//! An instruction of a module, and its operands.

use super::{Computation, Form, InstructionRecord, Module, OperandRecord, find};
use crate::attribute::{Attribute, Value};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::borrow::Cow;
use core::fmt;
use xla_shape_core::ParseError;
use xla_shape_core::Shape;
use xla_shape_core::text::Span;

/// An instruction of a [`Module`].
#[derive(Clone, Copy)]
pub struct Instruction<'m> {
    pub(super) module: &'m Module,
    pub(super) record: &'m InstructionRecord,
    pub(super) number: u32,
}

impl<'m> Instruction<'m> {
    /// The module that it belongs to.
    #[must_use]
    pub const fn module(self) -> &'m Module {
        self.module
    }

    /// Its index among [`Module::instructions`].
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The computation that it belongs to.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) }")?;
    /// assert_eq!(module.instruction("p").unwrap().computation().name(), "e");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Panics
    /// Never: the parser gives every instruction a computation.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the parser numbers the computation of every instruction")]
    pub fn computation(self) -> Computation<'m> {
        self.module.computation_at(self.record.computation).expect("an instruction belongs to a computation")
    }

    /// The name, without `%`.
    #[must_use]
    pub fn name(self) -> &'m str {
        self.module.piece(self.record.name)
    }

    /// The shape of its value, written or inferred.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = bf16[4,100]{1,0:T(8,128)(2,1)} parameter(0) }")?;
    /// let shape = module.instruction("p").unwrap().shape();
    /// assert_eq!(shape.byte_size(), Some(2048), "the tiles pad it to 8 x 128 elements");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shape(self) -> &'m Shape {
        self.module.shapes.get(self.record.shape as usize).unwrap_or(&Shape::Opaque)
    }

    /// The shape of its value; `None` if the parser could not read it.
    pub(crate) fn known_shape(self) -> Option<&'m Shape> {
        self.module.shapes.get(self.record.shape as usize)
    }

    /// The index of its shape in [`Module::shapes`].
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) n = f32[8] negate(p) }")?;
    /// let root = module.entry().unwrap().root();
    /// assert_eq!(&module.shapes()[root.shape_number() as usize], root.shape());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn shape_number(self) -> u32 {
        self.record.shape
    }

    /// The shape as written; empty if the text omits it and it was inferred from the operands.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) n = negate(p) }")?;
    /// assert_eq!(module.instruction("p").unwrap().shape_text(), "f32[8]");
    /// let inferred = module.instruction("n").unwrap();
    /// assert_eq!((inferred.shape_text(), inferred.shape().to_string().as_str()), ("", "f32[8]{0}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shape_text(self) -> &'m str {
        self.module.piece(self.record.shape_text)
    }

    /// Where the shape is in the text.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[2] negate(x)")?;
    /// let span = module.instruction("y").unwrap().shape_span();
    /// assert_eq!((span.start, span.end), (4, 10));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shape_span(self) -> Span {
        self.module.span(self.record.shape_text)
    }

    /// The operation.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Opcode};
    ///
    /// let module = Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// assert_eq!(module.instruction("n").unwrap().opcode(), Opcode::Negate);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn opcode(self) -> Opcode<'m> {
        Opcode::numbered(self.record.opcode, || self.module.piece(self.record.opcode_text))
    }

    /// Whether it is marked `ROOT`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// assert!(module.instruction("n").unwrap().is_root() && !module.instruction("p").unwrap().is_root());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_root(self) -> bool {
        self.record.is_root
    }

    /// Whether it is written as an operand of another instruction: `negate(x)` in `add(negate(x), y)`, or the tuple element that
    /// `x#1` takes. XLA generates a name for it (`HloParserImpl::ParseOperands`), and so does this parser.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT s = f32[8] add(negate(p), p) }")?;
    /// let implied: Vec<_> = module.instructions().filter(|found| found.is_implied()).map(|found| found.name()).collect();
    /// assert_eq!(implied, ["negate.anon"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_implied(self) -> bool {
        self.record.form == Form::Implied
    }

    /// Whether the parser could read it. Only [`Module::parse_with_errors`] keeps an instruction that it cannot read: with its name, and
    /// with opcode and shape if they were recognised, but without operands and attributes.
    ///
    /// ```
    /// let (module, errors) = xla_shape_hlo::Module::parse_with_errors("a = f32[2]{5} negate(x)\nb = f32[2]{0} negate(x)");
    /// assert_eq!(errors.len(), 1);
    /// let read: Vec<_> = module.instructions().map(|instruction| instruction.is_read()).collect();
    /// assert_eq!(read, [false, true]);
    /// ```
    #[must_use]
    pub fn is_read(self) -> bool {
        self.record.form != Form::Unread
    }

    /// The text between the parentheses: operands, the literal of a constant, or the number of a parameter.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("s = f32[2] add(%x, f32[2] %y)")?;
    /// assert_eq!(module.instruction("s").unwrap().arguments(), "%x, f32[2] %y");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn arguments(self) -> &'m str {
        self.module.piece(self.record.arguments).trim_ascii()
    }

    /// The operands. Constants and parameters have none.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("s = f32[2] add(%x, %y)")?;
    /// let names: Vec<_> = module.instruction("s").unwrap().operands().map(|operand| operand.name()).collect();
    /// assert_eq!(names, ["x", "y"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn operands(self) -> impl ExactSizeIterator<Item = Operand<'m>> + DoubleEndedIterator + use<'m> {
        let records = self.record.operands.slice(&self.module.operands);
        records.iter().map(move |record| Operand { module: self.module, record })
    }

    /// The operand with this index, from 0.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("s = f32[2] add(%x, %y)")?;
    /// let sum = module.instruction("s").unwrap();
    /// assert_eq!(sum.operand(1).unwrap().name(), "y");
    /// assert!(sum.operand(2).is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn operand(self, index: usize) -> Option<Operand<'m>> {
        let record = self.record.operands.slice(&self.module.operands).get(index)?;
        Some(Operand { module: self.module, record })
    }

    /// The literal of a constant, as written. `None` for other opcodes.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c = s32[2]{0} constant({1, 2})")?;
    /// assert_eq!(module.instruction("c").unwrap().literal(), Some("{1, 2}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn literal(self) -> Option<&'m str> {
        (self.opcode() == Opcode::Constant).then(|| self.arguments())
    }

    /// The parameter number. `None` for other opcodes.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("p = f32[2] parameter(3)")?;
    /// assert_eq!(module.instruction("p").unwrap().parameter_number(), Some(3));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn parameter_number(self) -> Option<usize> {
        (self.opcode() == Opcode::Parameter).then(|| self.arguments().parse().ok()).flatten()
    }

    /// The attributes, in text order.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[8] fusion(x), kind=kLoop, calls=%f")?;
    /// let names: Vec<_> = module.instruction("y").unwrap().attributes().map(|attribute| attribute.name()).collect();
    /// assert_eq!(names, ["kind", "calls"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'m>> + use<'m> {
        self.module.attribute_list(self.record.attributes)
    }

    /// The value of the attribute with this name. If the attribute occurs twice, the last value.
    ///
    /// An asynchronous start in short form can have two `sharding` attributes: that of the wrapped operation, then its own.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[3,2] transpose(x), dimensions={1,0}")?;
    /// let transpose = module.instruction("y").unwrap();
    /// assert_eq!(transpose.attribute("dimensions").unwrap().numbers()?, [1, 0]);
    /// assert!(transpose.attribute("metadata").is_none());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Value<'m>> {
        find(self.attributes(), name)
    }

    /// The value of the attribute `key`.
    pub(crate) fn value_of(self, key: Key) -> Option<Value<'m>> {
        self.attribute(key.name())
    }

    /// The text of its `backend_config`, without quotation marks; an error if it is not a string.
    pub(crate) fn config(self) -> Option<Result<Cow<'m, str>, ParseError>> {
        Some(self.value_of(Key::BackendConfig)?.unquoted())
    }

    /// The name in the attribute `key`.
    pub(crate) fn name_of(self, key: Key) -> Option<&'m str> {
        self.value_of(key)?.name().ok()
    }

    /// The computation that the attribute `key` names.
    pub(crate) fn callee(self, key: Key) -> Option<Computation<'m>> {
        self.module.computation(self.name_of(key)?)
    }

    /// The names of the computations that it calls.
    pub(crate) fn called_names(self) -> impl Iterator<Item = &'m str> + use<'m> {
        let is_call = |of: &Attribute<'m>| Key::among(Key::CALLS, of.name()).is_some();
        let names = |of: Attribute<'m>| of.value().names().unwrap_or_default();
        self.attributes().filter(is_call).flat_map(names)
    }

    /// Where the name is in the text, without `%`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("%y = f32[2] negate(x)")?;
    /// let span = module.instruction("y").unwrap().name_span();
    /// assert_eq!((span.start, span.end), (1, 2));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn name_span(self) -> Span {
        self.module.span(self.record.name)
    }

    /// Where the instruction is in the text, from its name to its end.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) }")?;
    /// let span = module.instruction("p").unwrap().span();
    /// assert_eq!(&module.text()[span.start..span.end], "p = f32[8] parameter(0)");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn span(self) -> Span {
        Span { start: self.name_span().start, end: self.record.end as usize }
    }
}

impl PartialEq for Instruction<'_> {
    /// Whether they are the same instruction of the same module.
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self.record, other.record)
    }
}

impl Eq for Instruction<'_> {}

impl fmt::Debug for Instruction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Instruction").field(&format_args!("{self}")).finish()
    }
}

/// An operand of an [`Instruction`].
#[derive(Clone, Copy)]
pub struct Operand<'m> {
    module: &'m Module,
    record: &'m OperandRecord,
}

impl<'m> Operand<'m> {
    /// The name of the instruction that it refers to, without `%`.
    #[must_use]
    pub fn name(self) -> &'m str {
        match self.instruction() {
            Some(instruction) if instruction.is_implied() => instruction.name(),
            _ => self.module.piece(self.record.name),
        }
    }

    /// Where the name is in the text, without `%`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("y = f32[8] negate(%x)")?;
    /// let span = module.instruction("y").unwrap().operand(0).unwrap().span();
    /// assert_eq!(&module.text()[span.start..span.end], "x");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn span(self) -> Span {
        self.module.span(self.record.name)
    }

    /// The instruction whose value the operand is. `None` only in a [fragment](Computation::is_fragment) that lacks that instruction.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let operand = module.entry().unwrap().root().operand(0).unwrap();
    /// assert_eq!(operand.instruction(), module.instruction("p"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn instruction(self) -> Option<Instruction<'m>> {
        self.module.instruction_at(self.record.instruction)
    }

    /// The shape written before the name, as older versions of XLA print it.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("s = f32[2] add(f32[2]{0} %x, %y)")?;
    /// let written: Vec<_> = module.instruction("s").unwrap().operands().map(|operand| operand.written_shape().is_some()).collect();
    /// assert_eq!(written, [true, false]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn written_shape(self) -> Option<&'m Shape> {
        self.module.shapes.get(self.record.shape as usize)
    }

    /// The shape of the operand's instruction. If the instruction could not be read, the shape that is written before the operand; `None` if no shape
    /// is written there either.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let operand = module.entry().unwrap().root().operand(0).unwrap();
    /// assert_eq!(operand.shape().unwrap().to_string(), "f32[8]{0}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn shape(self) -> Option<&'m Shape> {
        self.instruction().and_then(Instruction::known_shape).or(self.written_shape())
    }
}

impl fmt::Debug for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Operand").field(&self.name()).finish()
    }
}
