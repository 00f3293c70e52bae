//! Why something is not the same in two programs: one of a fixed list of causes.

use super::signature::{Operations, Signature};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use xla_shape_hlo::{Instruction, Module, Opcode, Source, Sources};

/// Why something is not the same in two programs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
pub(crate) enum Reason {
    /// The user's program has other operations, or others at this place.
    #[serde(rename = "source changed")]
    Source,
    /// A parameter or a result has another layout or memory space.
    #[serde(rename = "layout asked")]
    Layout,
    /// Other arguments are donated: other results are in the memory of an argument (`input_output_alias`).
    #[serde(rename = "donation")]
    Donation,
    /// The program is divided among devices in another way.
    #[serde(rename = "sharding")]
    Sharding,
    /// The compiler computes a value again to save memory.
    #[serde(rename = "rematerialization")]
    Rematerialization,
    /// The compiler fuses the same operations in another way.
    #[serde(rename = "fusion choice")]
    Fusion,
    /// The user's programs are the same, so that options or the release of the compiler must differ.
    #[serde(rename = "flags or version")]
    Compiler,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Source => "source changed",
            Self::Layout => "layout asked",
            Self::Donation => "donation",
            Self::Sharding => "sharding",
            Self::Rematerialization => "rematerialization",
            Self::Fusion => "fusion choice",
            Self::Compiler => "flags or version",
        })
    }
}

/// What two programs are given to begin with, compared.
pub(super) struct Inputs<'m> {
    operations: [Operations; 2],
    sources: [Sources<'m>; 2],
    overall: Reason,
}

impl<'m> Inputs<'m> {
    pub(super) fn new(before: &'m Module, after: &'m Module) -> Self {
        let sources = [before.sources(), after.sources()];
        let operations = [Operations::new(before, &sources[0]), Operations::new(after, &sources[1])];
        let [first, second] = &operations;
        let (computing, all) = (first.computing == second.computing, first.all == second.all);
        let overall = Signature::new(before).reason(&Signature::new(after), computing, all);
        Self { operations, sources, overall }
    }

    /// Why an instruction is in one of the programs and not in the other one, or another one there. `side` is 0 for the first.
    pub(super) fn reason(&self, instruction: Instruction<'_>, side: usize) -> Reason {
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

    /// Why a value has another shape, layout or memory space, or is in one of the programs only: `change` is the word of the answer.
    pub(super) fn reason_of_change(&self, change: &str, instruction: Instruction<'_>, side: usize) -> Reason {
        let is_parameter = instruction.opcode() == Opcode::Parameter && instruction.computation().is_entry();
        match change {
            "layout" | "memory space" if is_parameter && self.overall != Reason::Sharding => Reason::Layout,
            "added" | "removed" => self.reason(instruction, side),
            // Nothing was fused in another way or computed again: the value is in both programs.
            _ => self.overall,
        }
    }

    /// The source of an instruction; `side` is 0 for the first program.
    pub(super) fn source<'s>(&'s self, instruction: Instruction<'s>, side: usize) -> Source<'s> {
        self.sources[side].get(instruction)
    }

    /// What the two programs as a whole differ by.
    pub(super) const fn overall(&self) -> Reason {
        self.overall
    }
}
