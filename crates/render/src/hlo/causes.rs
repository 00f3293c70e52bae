//! Why something is not the same in two programs: one of a fixed list of causes.

use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_hlo::{Instruction, Module, Opcode, Sources};

/// Why something is not the same in two programs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub(super) enum Reason {
    /// The user's program has other operations, or others at this place.
    #[serde(rename = "source changed")]
    Source,
    /// A parameter or a result has another layout or memory space.
    #[serde(rename = "layout asked")]
    Layout,
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
            Self::Sharding => "sharding",
            Self::Rematerialization => "rematerialization",
            Self::Fusion => "fusion choice",
            Self::Compiler => "flags or version",
        })
    }
}

/// What two programs are given to begin with, compared.
pub(super) struct Inputs<'m> {
    /// Of each program, the names of the user's operations.
    op_names: [BTreeSet<String>; 2],
    sources: [Sources<'m>; 2],
    /// Whether parameters and results are the same arrays, apart from layouts.
    same_arrays: bool,
    same_layouts: bool,
    same_devices: bool,
}

impl<'m> Inputs<'m> {
    pub(super) fn new(before: &'m Module<'_>, after: &'m Module<'_>) -> Self {
        let sources = [before.sources(), after.sources()];
        let names = |module: &Module<'_>, sources: &Sources<'_>| {
            let own = module.instructions().filter(|instruction| instruction.opcode() != Opcode::Parameter);
            own.filter_map(|instruction| Some(sources.get(instruction).op_name?.into_owned())).collect()
        };
        let shapes = |module: &Module<'_>| {
            let entry = module.entry()?;
            let parameters = entry.parameters_by_number();
            let shapes = parameters.into_iter().map(|(_, parameter)| parameter.shape().clone());
            Some(shapes.chain([entry.root().shape().clone()]).collect::<Vec<_>>())
        };
        let devices = |module: &Module<'_>| {
            let count = ["num_partitions", "replica_count"]
                .map(|key| module.attribute(key).map(|value| value.text().to_owned()));
            let parameters = module.entry().map(|entry| entry.parameters_by_number()).unwrap_or_default();
            let shardings = parameters
                .into_iter()
                .map(|(_, parameter)| parameter.attribute("sharding").map(|sharding| sharding.text().to_owned()));
            (count, shardings.collect::<Vec<_>>())
        };
        let (first, second) = (shapes(before), shapes(after));
        let equal = ShapeEqual::new().ignore_layout();
        let same_arrays = match (&first, &second) {
            (Some(first), Some(second)) => {
                first.len() == second.len() && first.iter().zip(second).all(|(one, other)| equal.compare(one, other))
            }
            _ => false,
        };
        Self {
            op_names: [names(before, &sources[0]), names(after, &sources[1])],
            same_arrays,
            same_layouts: first == second,
            same_devices: devices(before) == devices(after),
            sources,
        }
    }

    /// Why an instruction is in one of the programs and not in the other one, or another one there. `side` is 0 for the first.
    pub(super) fn reason(&self, instruction: Instruction<'_, '_>, side: usize) -> Reason {
        let op_name = self.sources[side].get(instruction).op_name;
        let is_known = op_name.is_some_and(|name| self.op_names[1 - side].contains(&*name));
        let op_name = self.sources[side].get(instruction).op_name;
        if instruction.name().contains(".remat") {
            return Reason::Rematerialization;
        }
        if op_name.is_some() && !is_known {
            return Reason::Source;
        }
        match self.overall() {
            Reason::Compiler if instruction.opcode() == Opcode::Fusion => Reason::Fusion,
            reason => reason,
        }
    }

    /// What the two programs as a whole differ by.
    pub(super) fn overall(&self) -> Reason {
        if !self.same_devices {
            Reason::Sharding
        } else if !self.same_arrays || self.op_names[0] != self.op_names[1] {
            Reason::Source
        } else if !self.same_layouts {
            Reason::Layout
        } else {
            Reason::Compiler
        }
    }
}
