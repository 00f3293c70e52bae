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
        /// The compiler has optimized one of the programs and not the other: they are from before and after its optimizations.
        Optimization = "optimization",
        /// The compiler computes a value again to save memory.
        Rematerialization = "rematerialization",
        /// The compiler fuses the same operations in another way.
        Fusion = "fusion choice",
        /// One of the files lacks figures of the compiler that the other one has: cycles, or the assignment of memory.
        Figures = "missing figures",
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
        let overall = match is_only_one_optimized(before, after) {
            true => Reason::Optimization,
            false => Signature::new(before).reason(&Signature::new(after), computing, all),
        };
        Self { operations, sources, overall }
    }

    /// Why an instruction is in only one of the programs, or differs in the other. `side` is 0 for the first program.
    pub(crate) fn reason(&self, instruction: Instruction<'_>, side: usize) -> Reason {
        if self.overall == Reason::Optimization {
            return self.overall;
        }
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
            _ if self.overall == Reason::Optimization => self.overall,
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

/// Whether one module has the compiler's schedule, and the other one is from before its optimizations: without schedule, tiles and fusions. A module
/// with tiles or fusions is optimized, even if its text does not say that it is scheduled.
fn is_only_one_optimized(before: &Module, after: &Module) -> bool {
    let is_early = |module: &Module| {
        let is_fusion = |found: Instruction<'_>| found.opcode() == Opcode::Fusion;
        !module.is_scheduled() && !module.is_for_tpu() && !module.instructions().any(is_fusion)
    };
    (before.is_scheduled() && is_early(after)) || (after.is_scheduled() && is_early(before))
}

#[cfg(test)]
mod tests {
    use super::Reason;
    use crate::hlo::Difference;
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    /// The causes of all differences between two modules.
    fn causes(before: &str, after: &str) -> Vec<Reason> {
        let [before, after] = [before, after].map(|text| Program::from(Module::parse(text).unwrap()));
        let found = Difference::new(&before.memory(None), &after.memory(None));
        let measures = found.changed_measures().map(|measured| measured.cause);
        let mut all: Vec<_> = measures.chain(found.parts.iter().map(|part| part.cause)).collect();
        all.extend(found.changes.iter().map(|change| change.cause));
        all.sort_unstable();
        all.dedup();
        all
    }

    #[test]
    fn optimization_is_the_cause_if_only_one_module_is_optimized() {
        let early = "HloModule m\nENTRY e {\n p = f32[8,128]{1,0} parameter(0)\n \
            n = f32[8,128]{1,0} negate(p), metadata={op_name=\"jit(f)/neg\"}\n \
            ROOT a = f32[8,128]{1,0} abs(n), metadata={op_name=\"jit(f)/abs\"}\n}";
        let late = "HloModule m, is_scheduled=true\n\
            f {\n q = f32[8,128]{1,0:T(8,128)} parameter(0)\n n = f32[8,128]{1,0:T(8,128)} negate(q), metadata={op_name=\"jit(f)/neg\"}\n \
            ROOT a = f32[8,128]{1,0:T(8,128)} abs(n), metadata={op_name=\"jit(f)/abs\"}\n}\n\
            ENTRY e {\n p = f32[8,128]{0,1:T(8,128)} parameter(0)\n c = f32[8,128]{1,0:T(8,128)} copy(p)\n \
            ROOT r.remat = f32[8,128]{1,0:T(8,128)} fusion(c), kind=kLoop, calls=f\n}";
        assert_eq!(causes(early, late), [Reason::Optimization]);
        assert_eq!(causes(late, early), [Reason::Optimization]);
        // Tiles and fusions show that a module is optimized, even if its text does not say that it is scheduled.
        let late = late.replace("r.remat", "r");
        let changed = causes(&late.replace(", is_scheduled=true", ""), &late.replace("128]", "256]"));
        assert!(changed.contains(&Reason::Source) && !changed.contains(&Reason::Optimization), "{changed:?}");
        let changed = causes(early, &early.replace("abs", "exponential").replace("128]", "256]"));
        assert_eq!(changed, [Reason::Source], "neither is optimized");
    }
}
