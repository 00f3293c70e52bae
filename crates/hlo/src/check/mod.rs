//! Checks of a module: errors for what XLA's verifier (`xla/service/hlo_verifier.cc`) refuses, hints for what a person should
//! look at.

mod aliases;
mod attributes;
mod called;
mod devices;
mod layouts;
mod pairs;
mod shapes;
mod structure;

use crate::finding::{Finding, Findings, Problem, Severity};
use crate::infer::Parameters;
use crate::module::Module;
use crate::parsed::ParsedAttributes;
use alloc::vec::Vec;

impl Module {
    /// Checks the module by the rules of XLA's verifier: operands, element types, shapes, called computations, asynchronous pairs,
    /// devices, shardings and aliases (`HloVerifier::Run` in `xla/service/hlo_verifier.cc`).
    ///
    /// XLA refuses a module with an [error](Severity::Error). It accepts a module with a [hint](Severity::Hint), for example an unknown opcode,
    /// but a person should look at it. Optimised programs, which have a schedule or tiles, may mix float precisions. In optimised programs,
    /// elementwise instructions, slices, updates, concatenations and pads must keep the order of their operands' dimensions. Other rules about
    /// layouts are that a bitcast must keep the number of bytes, and that an update of an array in the host's memory must not move it to the
    /// device; the parser has checked that each layout is valid. If the text is only a part of a module, missing operands and computations are not
    /// findings.
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
    pub fn check(&self) -> Vec<Finding<'_>> {
        let mut findings = Findings::default();
        let (mut parameters, mut shardings) = (Parameters::default(), devices::Shardings::default());
        let are_assigned = layouts::are_assigned(self);
        let precision = shapes::Precision::new(are_assigned);
        structure::check(self, &mut findings);
        let attributes = ParsedAttributes::for_module(self);
        attributes::check_module(self, &attributes, &mut findings);
        for instruction in self.instructions() {
            if !instruction.is_read() {
                findings.add(Severity::Hint, instruction, Problem::Unread, None);
                continue;
            }
            let attributes = ParsedAttributes::new(instruction);
            attributes::check(instruction, &attributes, &mut findings);
            shapes::check(instruction, &attributes, &mut parameters, precision, &mut findings);
            findings.check(instruction, layouts::check(instruction, are_assigned));
            devices::check(instruction, &attributes, &mut parameters, &mut shardings, &mut findings);
            aliases::check(instruction, &attributes, &mut findings);
        }
        shapes::buffers(self, &mut findings);
        devices::constraints(self, &mut findings);
        pairs::check(self, precision, &mut findings);
        aliases::check_module(self, &attributes, &mut parameters, precision, &mut findings);
        findings.into_sorted()
    }
}
