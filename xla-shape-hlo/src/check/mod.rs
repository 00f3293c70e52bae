//! Checks of a module: what XLA's verifier refuses, and what a person should look at.

mod aliases;
mod called;
mod devices;
mod known;
mod pairs;
mod shapes;
mod structure;
mod values;

use crate::finding::{Finding, Findings, Problem, Severity};
use crate::infer::Parameters;
use crate::module::Module;
use alloc::vec::Vec;

impl<'a> Module<'a> {
    /// Checks the module by the rules of XLA's verifier: operands, element types, shapes, called computations, pairs of
    /// instructions, devices, shardings and aliases.
    ///
    /// An [error](Severity::Error) is what XLA refuses; a [hint](Severity::Hint) is what it takes and a person should look
    /// at, such as an opcode that this version does not know. Layouts are compared only where a bitcast must keep the number
    /// of bytes (that each layout is valid, the parser has checked). Floats of different precision may meet in
    /// programs after optimisation, which have a schedule or tiles. What a mere part of a module leaves out is not a finding.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Severity};
    ///
    /// let module = Module::parse("\
    /// ENTRY main {
    ///   a = f32[2,3] parameter(0)
    ///   ROOT t = f32[2,3] transpose(a), dimensions={1,0}
    /// }")?;
    /// let finding = &module.check()[0];
    /// assert_eq!(finding.severity(), Severity::Error);
    /// assert_eq!(finding.to_string(), "%t (transpose): expected the shape f32[3,2], found f32[2,3]");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn check(&self) -> Vec<Finding<'_, 'a>> {
        let mut findings = Findings::default();
        let (mut parameters, mut shardings) = (Parameters::default(), devices::Shardings::default());
        let precision = shapes::Precision::of(self);
        structure::check(self, &mut findings);
        values::of_module(self, &mut findings);
        known::of_module(self, &mut findings);
        for instruction in self.instructions() {
            if !instruction.is_read() {
                findings.add(Severity::Hint, instruction, Problem::Unread, None);
                continue;
            }
            known::check(instruction, &mut findings);
            values::check(instruction, &mut findings);
            shapes::check(instruction, &mut parameters, precision, &mut findings);
            devices::check(instruction, &mut parameters, &mut shardings, &mut findings);
            aliases::of_instruction(instruction, &mut findings);
        }
        shapes::buffers(self, &mut findings);
        devices::constraints(self, &mut findings);
        pairs::check(self, precision, &mut findings);
        aliases::of_module(self, &mut parameters, precision, &mut findings);
        findings.into_sorted()
    }
}
