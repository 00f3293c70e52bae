//! Why something differs between two programs: one of a fixed list of causes.

use super::diff::ValueChange;
use super::signature::{Operations, Signature};
use xla_shape_hlo::{Instruction, Module, Opcode, Source, Sources};

words! {
    /// Why something is not the same in two programs.
    #[derive(PartialOrd, Ord)]
    pub enum Reason {
        /// The operations of the user's programs differ, either anywhere in the programs or at this place.
        Source = "source changed",
        /// A parameter or a result has another layout or memory space.
        Layout = "layout asked",
        /// Other arguments are donated: other results are in the memory of an argument (`input_output_alias`).
        Donation = "donation",
        /// The program is divided among devices in another way.
        Sharding = "sharding",
        /// The compiler computes a value again to save memory.
        Rematerialization = "rematerialization",
        /// The compiler fuses the same operations in another way.
        Fusion = "fusion choice",
        /// The user's programs are the same, so that options or the release of the compiler must differ.
        Compiler = "flags or version",
    }
}

/// A comparison of the inputs of two compilations: operations, sources, parameters and results.
pub(crate) struct Inputs<'m> {
    operations: [Operations; 2],
    sources: [Sources<'m>; 2],
    overall: Reason,
}

impl<'m> Inputs<'m> {
    pub(crate) fn new(before: &'m Module, after: &'m Module) -> Self {
        let sources = [before.sources(), after.sources()];
        let operations = [Operations::new(before, &sources[0]), Operations::new(after, &sources[1])];
        let [first, second] = &operations;
        let (computing, all) = (first.computing == second.computing, first.all == second.all);
        let overall = Signature::new(before).reason(&Signature::new(after), computing, all);
        Self { operations, sources, overall }
    }

    /// Why an instruction is in only one of the programs, or differs in the other. `side` is 0 for the first program.
    pub(crate) fn reason(&self, instruction: Instruction<'_>, side: usize) -> Reason {
        if instruction.name().contains(".remat") {
            return Reason::Rematerialization;
        }
        let (own, other) = (&self.operations[side], &self.operations[1 - side]);
        let op_name = self.source(instruction, side).op_name;
        if op_name.is_some_and(|name| own.computing.contains(&*name) && !other.all.contains(&*name)) {
            return Reason::Source;
        }
        match self.overall {
            Reason::Compiler if instruction.opcode() == Opcode::Fusion => Reason::Fusion,
            reason => reason,
        }
    }

    /// Why a value has another shape, layout or memory space, or is in only one of the programs.
    pub(crate) fn reason_of_change(&self, change: ValueChange, instruction: Instruction<'_>, side: usize) -> Reason {
        let is_parameter = instruction.opcode() == Opcode::Parameter && instruction.computation().is_entry();
        match change {
            ValueChange::Layout | ValueChange::MemorySpace if is_parameter && self.overall != Reason::Sharding => {
                Reason::Layout
            }
            ValueChange::Added | ValueChange::Removed => self.reason(instruction, side),
            // The value is in both programs, so other fusions or recomputation are not the cause.
            _ => self.overall,
        }
    }

    /// The source of an instruction; `side` is 0 for the first program.
    pub(crate) fn source<'s>(&'s self, instruction: Instruction<'s>, side: usize) -> Source<'s> {
        self.sources[side].get(instruction)
    }

    /// The cause of the difference between the programs as a whole.
    pub(crate) const fn overall(&self) -> Reason {
        self.overall
    }
}
