//! A program with kernels beside one in which XLA compiled the same computation itself.

use super::Entry;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Both programs for a device.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct AgainstXla {
    /// The device; null for a dump.
    #[serde(rename = "for")]
    pub(super) target: Option<String>,
    /// The program with the kernel.
    pub(super) kernel: Program,
    /// The program that XLA compiled itself.
    pub(super) xla: Program,
}

/// The instructions of a program that have bundles, and their sums.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Program {
    /// The instructions.
    pub(super) instructions: Vec<Instruction>,
    /// The bundles.
    pub(super) bundles: Option<u64>,
    /// Those that do nothing.
    pub(super) empty: Option<u64>,
    /// The bundles times the trips of their loops.
    pub(super) executed: Option<u64>,
    /// Those of them that do nothing.
    pub(super) executed_empty: Option<u64>,
    /// The bundles that execute at least, over all trips.
    pub(super) least: Option<u64>,
    /// Stores of registers.
    pub(super) spills: u64,
    /// Loads of these.
    pub(super) fills: u64,
    /// The most bytes of vector memory of an instruction, of those that are known; null if none is.
    pub(super) vmem_bytes: Option<u64>,
    /// For each unit, the slots that the executed bundles use; null if some trips are not known.
    pub(super) executed_slots: Option<BTreeMap<String, u64>>,
    /// What is missing, uncertain or not understood: the figures may be too small.
    pub(super) notes: Vec<String>,
}

/// An HLO instruction with bundles of its own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Instruction {
    /// The instruction, and the kernel that it calls.
    pub(super) name: String,
    /// Whether it calls a kernel.
    pub(super) is_kernel: bool,
    /// Its bundles.
    pub(super) bundles: Option<u64>,
    /// Its bundles times the trips of their loops.
    pub(super) executed: Option<u64>,
    /// Stores of registers.
    pub(super) spills: u64,
    /// The bytes of vector memory.
    pub(super) vmem_bytes: Option<u64>,
}

/// Compares programs for the same device. If each side has one device, these are compared, because a dump does not say its device. The program
/// with kernels also has instructions that are none: `true` is a kernel.
pub(super) fn against_xla(program: &[(&Entry, bool)], xla: &[Entry]) -> Vec<AgainstXla> {
    let of_kernels = program.iter().map(|(entry, _)| &entry.target).collect::<BTreeSet<_>>();
    let of_xla = xla.iter().map(|entry| &entry.target).collect::<BTreeSet<_>>();
    let is_one = of_kernels.len() == 1 && of_xla.len() == 1;
    let mut found = Vec::new();
    for target in of_kernels {
        let own = program.iter().copied().filter(|(entry, _)| entry.target == *target).collect::<Vec<_>>();
        let other = xla.iter().filter(|entry| is_one || entry.target == *target).map(|entry| (entry, false));
        let other = other.collect::<Vec<_>>();
        if let Some((first, _)) = other.first() {
            let target = target.as_ref().or(first.target.as_ref()).cloned();
            found.push(AgainstXla { target, kernel: Program::new(&own), xla: Program::new(&other) });
        }
    }
    found
}

impl Program {
    fn new(instructions: &[(&Entry, bool)]) -> Self {
        let entries = || instructions.iter().map(|(entry, _)| *entry);
        let sum = |figure: fn(&Entry) -> Option<u64>| {
            entries().try_fold(0_u64, |total, entry| Some(total.saturating_add(figure(entry)?)))
        };
        let executed_slots = entries().try_fold(BTreeMap::new(), |mut slots, entry| {
            for (name, used) in entry.executed_slots.as_ref()? {
                let total: &mut u64 = slots.entry(name.clone()).or_default();
                *total = total.saturating_add(*used);
            }
            Some(slots)
        });
        Self {
            instructions: instructions.iter().map(|(entry, is_kernel)| Instruction::new(entry, *is_kernel)).collect(),
            bundles: sum(|entry| entry.bundles),
            empty: sum(|entry| entry.empty),
            executed: sum(|entry| entry.executed),
            executed_empty: sum(|entry| entry.executed_empty),
            least: sum(|entry| entry.least),
            spills: entries().fold(0, |total, entry| total.saturating_add(entry.spills)),
            fills: entries().fold(0, |total, entry| total.saturating_add(entry.fills)),
            vmem_bytes: entries().filter_map(|entry| entry.vmem.as_ref()?.bytes).max(),
            executed_slots,
            notes: entries()
                .flat_map(|entry| entry.doubts().map(|doubt| format!("{}: {doubt}", entry.title())))
                .collect(),
        }
    }

    /// The figures with their names.
    pub(super) fn figures(&self) -> [(&'static str, Option<u64>); 9] {
        [
            ("instructions with bundles", Some(self.instructions.len() as u64)),
            ("bundles", self.bundles),
            ("empty bundles", self.empty),
            ("bundles with trips", self.executed),
            ("empty ones with trips", self.executed_empty),
            ("least bundles", self.least),
            ("spills", Some(self.spills)),
            ("fills", Some(self.fills)),
            ("most bytes of vector memory", self.vmem_bytes),
        ]
    }
}

impl Instruction {
    fn new(entry: &Entry, is_kernel: bool) -> Self {
        Self {
            name: entry.title(),
            is_kernel,
            bundles: entry.bundles,
            executed: entry.executed,
            spills: entry.spills,
            vmem_bytes: entry.vmem.as_ref().and_then(|vmem| vmem.bytes),
        }
    }
}
