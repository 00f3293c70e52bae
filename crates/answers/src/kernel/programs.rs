//! Compares a program that has kernels with a program in which XLA compiled the same computation itself.

use super::{CompiledKernel, Figure};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::sorting::{set_of, sort_by_key};

/// Both programs for a device.
///
/// ```
/// use xla_shape_answers::kernel::{Figure, Kernels};
/// use xla_shape_mosaic::xla_instructions;
///
/// let fusions = |bundles: u32| {
///     let text = format!(
///         "Schedule analysis:\n\ttotal scheduled bundles: {bundles}\n\t 9.00 scheduled bundles (100.00%): %fusion.1 = f32[8] fusion(%x)\n"
///     );
///     let mut answer = Kernels::default();
///     let files = [("llo.fusion.1.schedule-analysis_final_bundles.txt", text.as_str())];
///     answer.add_xla(None, None, &xla_instructions(&files));
///     answer
/// };
/// let mut answer = fusions(12);
/// answer.compare(&fusions(9));
/// let programs = &answer.against_xla.unwrap()[0];
/// assert_eq!(programs.compared(), Some((Figure::Bundles, [12, 9])));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AgainstXla {
    /// The device; null for a dump.
    #[serde(rename = "for")]
    pub target: Option<String>,
    /// The program with the kernel.
    pub kernel: ProgramFigures,
    /// The program that XLA compiled itself.
    pub xla: ProgramFigures,
}

impl AgainstXla {
    /// The figure by which the programs are compared, with its value for each: the executed bundles, or if they are not known, the bundles. `None` if
    /// XLA's own program has none.
    #[must_use]
    pub fn compared(&self) -> Option<(Figure, [u64; 2])> {
        let both = |figure, of: fn(&ProgramFigures) -> Option<u64>| {
            Some((figure, [of(&self.kernel)?, of(&self.xla).filter(|&xla| xla > 0)?]))
        };
        both(Figure::Executed, |side| side.executed).or_else(|| both(Figure::Bundles, |side| side.bundles))
    }
}

/// The instructions of a program that have bundles, and their sums.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::xla_instructions;
///
/// let fusions = |bundles: u32| {
///     let text = format!(
///         "Schedule analysis:\n\ttotal scheduled bundles: {bundles}\n\t 9.00 scheduled bundles (100.00%): %fusion.1 = f32[8] fusion(%x)\n"
///     );
///     let mut answer = Kernels::default();
///     let files = [("llo.fusion.1.schedule-analysis_final_bundles.txt", text.as_str())];
///     answer.add_xla(None, None, &xla_instructions(&files));
///     answer
/// };
/// let mut answer = fusions(12);
/// answer.compare(&fusions(9));
/// let programs = &answer.against_xla.unwrap()[0];
/// assert_eq!((programs.xla.bundles, programs.xla.instructions.len()), (Some(9), 1));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramFigures {
    /// The instructions.
    pub instructions: Vec<InstructionFigures>,
    /// The bundles.
    pub bundles: Option<u64>,
    /// The bundles that do nothing.
    pub empty: Option<u64>,
    /// The bundles times the trips of their loops.
    pub executed: Option<u64>,
    /// The bundles that do nothing times the trips of their loops.
    pub executed_empty: Option<u64>,
    /// The fewest bundles that can execute, over all trips.
    pub least: Option<u64>,
    /// Stores of registers.
    pub spills: u64,
    /// Loads of registers that were stored.
    pub fills: u64,
    /// The most bytes of vector memory of any instruction, as far as they are known; null if none are known.
    pub vmem_bytes: Option<u64>,
    /// For each unit, the slots that the executed bundles use; null if some trips are not known.
    pub executed_slots: Option<BTreeMap<String, u64>>,
    /// What is missing, uncertain or not understood: the figures may be too small.
    pub notes: Vec<String>,
}

impl ProgramFigures {
    /// The instructions, those with the most bundles first.
    #[must_use]
    pub fn instructions_by_bundles(&self) -> Vec<&InstructionFigures> {
        let mut instructions: Vec<_> = self.instructions.iter().collect();
        sort_by_key(&mut instructions, |one| std::cmp::Reverse(one.executed.or(one.bundles)));
        instructions
    }
}

/// An HLO instruction with bundles of its own.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::xla_instructions;
///
/// let fusions = |bundles: u32| {
///     let text = format!(
///         "Schedule analysis:\n\ttotal scheduled bundles: {bundles}\n\t 9.00 scheduled bundles (100.00%): %fusion.1 = f32[8] fusion(%x)\n"
///     );
///     let mut answer = Kernels::default();
///     let files = [("llo.fusion.1.schedule-analysis_final_bundles.txt", text.as_str())];
///     answer.add_xla(None, None, &xla_instructions(&files));
///     answer
/// };
/// let mut answer = fusions(12);
/// answer.compare(&fusions(9));
/// let programs = &answer.against_xla.unwrap()[0];
/// let instruction = &programs.kernel.instructions[0];
/// assert_eq!((instruction.name.as_str(), instruction.is_kernel), ("fusion.1", false));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InstructionFigures {
    /// The instruction, and the kernel that it calls.
    pub name: String,
    /// Whether it calls a kernel.
    pub is_kernel: bool,
    /// Its bundles.
    pub bundles: Option<u64>,
    /// Its bundles times the trips of their loops.
    pub executed: Option<u64>,
    /// Stores of registers.
    pub spills: u64,
    /// The bytes of vector memory.
    pub vmem_bytes: Option<u64>,
}

/// Compares programs for the same device. A dump does not say its device, so if each side has only one device, the two are compared. In `program`,
/// `true` marks kernels, and `false` marks instructions that XLA compiled itself.
pub(super) fn against_xla(program: &[(&CompiledKernel, bool)], xla: &[CompiledKernel]) -> Vec<AgainstXla> {
    let of_kernels = set_of(program.iter().map(|(entry, _)| &entry.target));
    let of_xla = set_of(xla.iter().map(|entry| &entry.target));
    let is_one = of_kernels.len() == 1 && of_xla.len() == 1;
    let mut found = Vec::new();
    for target in of_kernels {
        let own = program.iter().copied().filter(|(entry, _)| entry.target == *target).collect::<Vec<_>>();
        let other = xla.iter().filter(|entry| is_one || entry.target == *target).map(|entry| (entry, false));
        let other = other.collect::<Vec<_>>();
        if let Some((first, _)) = other.first() {
            let target = target.as_ref().or(first.target.as_ref()).cloned();
            found.push(AgainstXla { target, kernel: ProgramFigures::new(&own), xla: ProgramFigures::new(&other) });
        }
    }
    found
}

impl ProgramFigures {
    fn new(instructions: &[(&CompiledKernel, bool)]) -> Self {
        let entries = || instructions.iter().map(|(entry, _)| *entry);
        // One unknown figure makes the sum unknown: without it, the sum would be too small, and the program would look too good.
        let sum = |figure: fn(&CompiledKernel) -> Option<u64>| {
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
            instructions: instructions
                .iter()
                .map(|(entry, is_kernel)| InstructionFigures::new(entry, *is_kernel))
                .collect(),
            bundles: sum(|entry| entry.bundles),
            empty: sum(|entry| entry.empty),
            executed: sum(|entry| entry.executed),
            executed_empty: sum(|entry| entry.executed_empty),
            least: sum(|entry| entry.least),
            spills: entries().map(|entry| entry.spills).sum(),
            fills: entries().map(|entry| entry.fills).sum(),
            // Instructions run one after another, so they use the same vector memory.
            vmem_bytes: entries().filter_map(|entry| entry.vmem.as_ref()?.bytes).max(),
            executed_slots,
            notes: entries()
                .flat_map(|entry| entry.doubts().map(|doubt| format!("{}: {doubt}", entry.title())))
                .collect(),
        }
    }

    /// All figures with their names.
    #[must_use]
    pub fn figures(&self) -> [(Figure, Option<u64>); 9] {
        [
            (Figure::Instructions, Some(self.instructions.len() as u64)),
            (Figure::Bundles, self.bundles),
            (Figure::Empty, self.empty),
            (Figure::Executed, self.executed),
            (Figure::ExecutedEmpty, self.executed_empty),
            (Figure::Least, self.least),
            (Figure::Spills, Some(self.spills)),
            (Figure::Fills, Some(self.fills)),
            (Figure::MostVmemBytes, self.vmem_bytes),
        ]
    }
}

impl InstructionFigures {
    fn new(entry: &CompiledKernel, is_kernel: bool) -> Self {
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
