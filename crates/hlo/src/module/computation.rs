//! A computation of a module.

use super::{ComputationRecord, Instruction, Module, find};
use crate::attribute::{Attribute, Value};
use alloc::vec::Vec;
use core::fmt;
use xla_shape_core::Shape;
use xla_shape_core::sorting::sort_by_key;

/// A computation of a [`Module`].
#[derive(Clone, Copy)]
pub struct Computation<'m> {
    pub(super) module: &'m Module,
    pub(super) record: &'m ComputationRecord,
    pub(super) number: u32,
}

impl<'m> Computation<'m> {
    /// The module that it belongs to.
    #[must_use]
    pub const fn module(self) -> &'m Module {
        self.module
    }

    /// Its index among [`Module::computations`].
    #[must_use]
    pub const fn number(self) -> u32 {
        self.number
    }

    /// The name, without `%`; empty for a [fragment](Self::is_fragment).
    #[must_use]
    pub fn name(self) -> &'m str {
        self.module.piece(self.record.name)
    }

    /// Whether it is marked `ENTRY`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c { p = f32[] parameter(0) } ENTRY e { q = f32[] parameter(0) }")?;
    /// let marks: Vec<_> = module.computations().map(|computation| computation.is_entry()).collect();
    /// assert_eq!(marks, [false, true]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_entry(self) -> bool {
        self.record.is_entry
    }

    /// Whether these are instructions outside any computation, as in a line copied from a log. Their operands may be unknown.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("%y = f32[2]{0} negate(%x)")?;
    /// let computation = module.computations().next().unwrap();
    /// assert!(computation.is_fragment() && computation.name().is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_fragment(self) -> bool {
        self.record.is_fragment
    }

    /// Whether the parser read all its instructions.
    pub(crate) fn is_complete(self) -> bool {
        self.instructions().all(Instruction::is_read)
    }

    /// The parameter instructions with their parameter numbers, sorted by number.
    ///
    /// ```
    /// let text = "HloModule m\nENTRY e { b = f32[3] parameter(1)\n a = f32[2] parameter(0)\n ROOT r = f32[2] negate(a) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let parameters = module.entry().unwrap().parameters_by_number();
    /// assert_eq!(parameters.iter().map(|(number, parameter)| (*number, parameter.name())).collect::<Vec<_>>(), [(0, "a"), (1, "b")]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn parameters_by_number(self) -> Vec<(usize, Instruction<'m>)> {
        let numbered = |found: Instruction<'m>| Some((found.parameter_number()?, found));
        let mut all: Vec<_> = self.instructions().filter_map(numbered).collect();
        sort_by_key(&mut all, |(number, _)| *number);
        all
    }

    /// The names and shapes of the parameter instructions, in the order of their parameter numbers. After the compiler has assigned layouts, the
    /// shapes have the layouts that the program expects. Before that, an instruction whose layout is not written has the default one, and
    /// `entry_computation_layout` says what a caller must pass ([`Module::program_shape`]).
    ///
    /// These are not the shapes in the computation's signature, where XLA omits layouts.
    ///
    /// ```
    /// let text = "ENTRY e (x: f32[8,64]) -> f32[8,64] { ROOT x = f32[8,64]{0,1:T(8,128)} parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let (name, shape) = module.entry().unwrap().parameters().next().unwrap();
    /// assert_eq!((name, shape.to_string().as_str()), ("x", "f32[8,64]{0,1:T(8,128)}"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn parameters(self) -> impl ExactSizeIterator<Item = (&'m str, &'m Shape)> + use<'m> {
        self.parameters_by_number().into_iter().map(|(_, parameter)| (parameter.name(), parameter.shape()))
    }

    /// The shape of the result, which the [root](Self::root) gives.
    ///
    /// ```
    /// let text = "ENTRY e (x: f32[8,64]) -> f32[8,64] { ROOT x = f32[8,64]{0,1:T(8,128)} parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.entry().unwrap().result().to_string(), "f32[8,64]{0,1:T(8,128)}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn result(self) -> &'m Shape {
        self.root().shape()
    }

    /// The names and shapes of the parameters in the computation's signature, as in `%add (x: f32[2], y: f32[2]) -> f32[2] {`. A shape that is
    /// written without a layout has the default one, whatever layout the instruction has. `None` without a signature.
    pub(crate) fn written_parameters(self) -> Option<impl ExactSizeIterator<Item = (&'m str, &'m Shape)> + use<'m>> {
        let records = self.record.has_head.then(|| self.record.parameters.slice(&self.module.operands))?;
        let shape = move |number: u32| self.module.shapes.get(number as usize).unwrap_or(&Shape::Opaque);
        Some(records.iter().map(move |record| (self.module.piece(record.name), shape(record.shape))))
    }

    /// The shape of the result in the computation's signature, where layouts may be omitted. `None` without a signature.
    pub(crate) fn written_result(self) -> Option<&'m Shape> {
        self.module.shapes.get(self.record.result as usize)
    }

    /// The instructions, in text order.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c { x = s32[] parameter(0) } ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// assert_eq!(module.computation("c").unwrap().instructions().len(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn instructions(self) -> impl ExactSizeIterator<Item = Instruction<'m>> + DoubleEndedIterator + use<'m> {
        let items = self.record.instructions;
        let records = items.slice(&self.module.instructions);
        records.iter().zip(items.indices()).map(move |(record, number)| Instruction {
            module: self.module,
            record,
            number,
        })
    }

    /// The instruction with this name, given without `%`. Takes time proportional to the number of instructions.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c { x = s32[] parameter(0) } ENTRY e { x = f32[8] parameter(0) }")?;
    /// let entry = module.entry().unwrap();
    /// assert_eq!(entry.instruction("x").unwrap().shape().to_string(), "f32[8]{0}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn instruction(self, name: &str) -> Option<Instruction<'m>> {
        self.instructions().find(|instruction| instruction.name() == name)
    }

    /// The instruction whose value the computation returns: the one marked `ROOT`, or the last one.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { ROOT n = f32[8] negate(p) p = f32[8] parameter(0) }")?;
    /// assert_eq!(module.entry().unwrap().root().name(), "n");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// # Panics
    /// Never: the parser keeps no computation without an instruction.
    #[must_use]
    #[expect(clippy::expect_used, reason = "the parser keeps no computation without an instruction")]
    pub fn root(self) -> Instruction<'m> {
        self.module.instruction_at(self.record.root).expect("a computation has instructions")
    }

    /// The attributes after the closing brace, such as `execution_thread`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c { x = s32[] parameter(0) }, execution_thread=\"host\" ENTRY e { p = f32[8] parameter(0) }")?;
    /// let attribute = module.computation("c").unwrap().attributes().next().unwrap();
    /// assert_eq!((attribute.name(), attribute.value().text()), ("execution_thread", "\"host\""));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn attributes(self) -> impl ExactSizeIterator<Item = Attribute<'m>> + use<'m> {
        self.module.attribute_list(self.record.attributes)
    }

    /// The value of the attribute with this name after the closing brace.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("c { x = s32[] parameter(0) }, execution_thread=\"host\" ENTRY e { p = f32[8] parameter(0) }")?;
    /// assert_eq!(module.computation("c").unwrap().attribute("execution_thread").unwrap().string()?, "host");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn attribute(self, name: &str) -> Option<Value<'m>> {
        find(self.attributes(), name)
    }
}

impl fmt::Debug for Computation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computation")
            .field("name", &self.name())
            .field("instructions", &self.record.instructions.len)
            .finish_non_exhaustive()
    }
}
