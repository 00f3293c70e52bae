//! The answer of `kernel`: what the compiler made of Pallas kernels, by line, loop and unit.

mod difference;
mod names;
mod page;
mod programs;
mod text;

use crate::{Show, Text};
use difference::KernelDifference;
use page::Details;
use programs::AgainstXla;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Display;
use xla_shape_answers::Answer;
use xla_shape_core::tpu::Generation;
use xla_shape_core::tpu::vector::{Offset, VectorLayout};
use xla_shape_mlir::Source;
use xla_shape_mosaic::{Access, DumpedKernel, Line, LoopUse, Relayout, Unit, VmemPart, Window};

/// The kernels of one dump or of several, as for several generations of TPUs.
///
/// ```
/// use xla_shape_mosaic::kernels;
/// use xla_shape_answers::Answer;
/// use xla_shape_render::{Show, kernel::Kernels};
///
/// let text = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n\t 20.00 scheduled bundles (100.00%): \
///     %k.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\"\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.1.schedule-analysis_final_bundles.txt", text)]));
/// assert!(answer.text(80).to_string().starts_with("k.1: 21 bundles, 1 empty\n"));
/// assert!(answer.json().contains("\"bundles\":21,\"empty\":1"));
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Kernels {
    /// The kernels.
    kernels: Vec<Entry>,
    /// The devices for which there is no answer.
    errors: Vec<Refused>,
    /// With --against: the kernels of both versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<KernelDifference>")]
    differences: Option<Vec<KernelDifference>>,
    /// With --against and a program without kernels: both programs, for each device.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Vec<AgainstXla>")]
    against_xla: Option<Vec<AgainstXla>>,
    /// The instructions that XLA compiled itself.
    #[serde(skip)]
    xla: Vec<Entry>,
    /// The lines of Python files, by the names of the files.
    #[serde(skip)]
    sources: BTreeMap<String, Vec<String>>,
}

/// A device for which the program was not compiled.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Refused {
    /// The device.
    #[serde(rename = "for")]
    target: String,
    /// Why there is no answer.
    message: String,
}

/// A kernel. A field is `None` if the dump does not have it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Entry {
    /// The device for which the program was compiled; null for a dump.
    #[serde(rename = "for")]
    target: Option<String>,
    /// The name of the kernel's function; null if its text is missing.
    name: Option<String>,
    /// The instruction that calls it; null if its bundles are missing.
    instruction: Option<String>,
    /// How often the kernel's body runs along each dimension of the grid; null without a grid, or if it depends on values.
    grid: Option<Vec<u64>>,
    /// The bundles; null if they are missing.
    bundles: Option<u64>,
    /// The bundles that do nothing.
    empty: Option<u64>,
    /// The bundles times the trips of their loops, as if no branch were taken; null if some trips are not known.
    executed: Option<u64>,
    /// The bundles that execute at least, over all trips; null if it is not known where a branch leads, or if one leads into the middle of
    /// a loop.
    least: Option<u64>,
    /// The clock that was given, in hertz; null without --clock.
    clock_hz: Option<f64>,
    /// The time that these bundles take at this clock, without waits; null if one of them is null.
    least_seconds: Option<f64>,
    /// The operations with a vector layout for their results; null if the text of the operations is missing.
    operations: Option<u64>,
    /// How often these operations use a vector; null if the text of the operations is missing.
    operands: Option<u64>,
    /// The relayouts that the compiler inserted, or, if there is only the text before that stage, those that the vector layouts need; null
    /// if the text of the operations is missing.
    relayouts: Option<Vec<RelayoutEntry>>,
    /// The loads and stores whose vector does not begin at the first row and column of a register.
    unaligned: Vec<Unaligned>,
    /// The lines of Python, by file and line.
    lines: Vec<LineEntry>,
    /// The loops, outer ones before inner ones.
    loops: Vec<LoopEntry>,
    /// The units of all bundles, by name.
    units: BTreeMap<String, Usage>,
    /// Stores of registers, because there are too few.
    spills: u64,
    /// Loads of these.
    fills: u64,
    /// The vector memory; null if the dump does not say it.
    vmem: Option<Vmem>,
    /// The slots of vector units.
    vector_slots: u64,
    /// Those with a line of Python.
    vector_slots_with_source: u64,
    /// What was not understood, each with its number of occurrences.
    unread: BTreeMap<String, u64>,
    /// What is missing or doubtful.
    notes: Vec<String>,
    #[serde(skip)]
    executed_empty: Option<u64>,
    #[serde(skip)]
    executed_slots: Option<BTreeMap<String, u64>>,
    #[serde(skip)]
    details: Details,
}

/// A relayout of a vector.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct RelayoutEntry {
    /// The vector layout before, as the compiler wrote it.
    from: String,
    /// The vector layout after.
    to: String,
    /// The vector, as an array without a layout.
    shape: String,
    /// The line of Python that needs it; null if the dump has no locations.
    source: Option<String>,
    /// Whether it needs no instruction: by the compiler's next stage if the dump has it, otherwise by the layouts; null if a layout was not
    /// understood.
    free: Option<bool>,
    /// How the elements move, in words.
    steps: Vec<String>,
    /// The instructions that it became in the compiler's next stage, by name; null if the dump does not have that stage.
    instructions: Option<BTreeMap<String, u64>>,
    /// The registers before and after; null if a layout was not understood.
    registers: Option<[u64; 2]>,
}

/// A load or a store that does not begin at the first row and column of a register.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Unaligned {
    /// The line; null if the dump has no locations.
    source: Option<String>,
    /// The operation, a load or a store.
    operation: String,
    /// The vector.
    shape: String,
    /// Its vector layout.
    layout: String,
    /// The relayouts that move elements from or to the offsets of this layout.
    relayouts: u64,
    /// What would align it.
    advice: String,
}

/// A line of Python.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
struct LineEntry {
    /// The file and the line.
    source: String,
    /// The operations with a vector layout for their results.
    operations: u64,
    /// The registers of these results.
    registers: u64,
    /// The relayouts.
    relayouts: u64,
    /// The relayouts that move data.
    moving: u64,
    /// The bundles with a slot of the line.
    bundles: u64,
    /// These bundles times the trips of their loops; null if some trips are not known.
    executed: Option<u64>,
    /// The slots of the line.
    slots: u64,
}

/// A loop of bundles.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct LoopEntry {
    /// The number of the first bundle.
    first: u64,
    /// The number of the last bundle.
    last: u64,
    /// The number of loops around it, and itself.
    depth: usize,
    /// How often it runs each time it is entered; null if that is not a constant.
    trips: Option<u64>,
    /// The comparison that ends it, as the compiler wrote it.
    condition: Option<String>,
    /// The first and the last line of Python in it; null if no slot has a line.
    lines: Option<[String; 2]>,
    /// Its bundles.
    bundles: u64,
    /// Those that do nothing.
    empty: u64,
    /// The unit whose slots are used most; null if no unit is used.
    fullest: Option<String>,
    /// The units, by name.
    units: BTreeMap<String, Usage>,
    /// Stores of registers, because there are too few.
    spills: u64,
    /// Loads of these.
    fills: u64,
    /// Waits for copies between memories.
    waits: u64,
}

/// The slots of a unit.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
struct Usage {
    /// The slots that the bundles use together.
    used: u64,
    /// The slots that one bundle has.
    capacity: u64,
}

/// The vector memory of a kernel.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Vmem {
    /// The bytes of vector memory; null if those of a part are not known.
    bytes: Option<u64>,
    /// The bytes that the kernel may use; null if the TPU is not known.
    limit: Option<u64>,
    /// Whether the sum is of the kernel's arguments, because the dump has no report.
    estimated: bool,
    /// The parts.
    parts: Vec<VmemEntry>,
}

/// A part of the vector memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
struct VmemEntry {
    /// What the part is for.
    what: String,
    /// Its bytes; null if a size is not known.
    bytes: Option<u64>,
}

impl Kernels {
    /// Adds the kernels of a dump. `target` is the name of the device that they were compiled for, if it is known.
    ///
    /// ```
    /// use xla_shape_render::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &[]);
    /// assert!(answer.is_empty());
    /// ```
    pub fn add(&mut self, target: Option<&str>, generation: Option<Generation>, kernels: &[DumpedKernel<'_>]) {
        self.kernels.extend(kernels.iter().map(|kernel| Entry::new(target, generation, kernel)));
    }

    /// Adds the instructions of the same dump that XLA compiled itself, and returns how many these are. Only [`compare`](Self::compare) uses
    /// them.
    ///
    /// ```
    /// use xla_shape_render::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// assert_eq!(answer.add_xla(None, None, &[]), 0);
    /// assert!(!answer.has_xla());
    /// ```
    pub fn add_xla(
        &mut self,
        target: Option<&str>,
        generation: Option<Generation>,
        found: &[DumpedKernel<'_>],
    ) -> usize {
        self.xla.extend(found.iter().map(|found| Entry::new(target, generation, found)));
        found.len()
    }

    /// Whether there are instructions that XLA compiled itself.
    ///
    /// ```
    /// assert!(!xla_shape_render::kernel::Kernels::default().has_xla());
    /// ```
    #[must_use]
    pub const fn has_xla(&self) -> bool {
        !self.xla.is_empty()
    }

    /// Adds a device for which the compiler refused the program.
    ///
    /// ```
    /// use xla_shape_render::{Show, kernel::Kernels};
    ///
    /// let mut answer = Kernels::default();
    /// answer.refused("v5e:2x2", "the program has too many devices");
    /// assert_eq!(answer.text(80).to_string(), "v5e:2x2: the program has too many devices\n");
    /// ```
    pub fn refused(&mut self, target: &str, message: &str) {
        self.errors.push(Refused { target: target.to_owned(), message: message.to_owned() });
    }

    /// Adds the least time of each kernel on a device of this clock: one cycle for each bundle that executes at least.
    ///
    /// ```
    /// use xla_shape_mosaic::kernels;
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::kernel::Kernels;
    ///
    /// let bundles = "0 : { %s1_s0 = smov.u32 0 }\n0x1 : {} /* exit bundle: %k = custom-call(%x) */\n";
    /// let mut answer = Kernels::default();
    /// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", bundles)]));
    /// answer.at_clock(1e9);
    /// assert!(answer.json().contains("\"least_seconds\":2e-9"));
    /// ```
    pub fn at_clock(&mut self, hertz: f64) {
        for kernel in &mut self.kernels {
            kernel.clock_hz = Some(hertz);
            kernel.least_seconds = kernel.least.map(|bundles| bundles as f64 / hertz);
        }
    }

    /// Adds what differs from other kernels: those of an earlier version of the program, for the same devices. If `before` has no kernels but
    /// [instructions that XLA compiled itself](Self::add_xla), adds both programs with their sums.
    ///
    /// ```
    /// use xla_shape_answers::Answer;
    /// use xla_shape_render::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.compare(&Kernels::default());
    /// assert!(answer.json().ends_with("\"differences\":[]}\n"));
    /// ```
    pub fn compare(&mut self, before: &Self) {
        if before.is_empty() && before.has_xla() {
            let kernels = self.kernels.iter().map(|entry| (entry, true));
            let own = kernels.chain(self.xla.iter().map(|entry| (entry, false))).collect::<Vec<_>>();
            self.against_xla = Some(programs::against_xla(&own, &before.xla));
        } else {
            self.differences = Some(difference::differences(&before.kernels, &self.kernels));
        }
        let refused = before.errors.iter().map(|error| Refused {
            target: error.target.clone(),
            message: format!("before the change: {}", error.message),
        });
        self.errors.extend(refused);
    }

    /// Adds the text of a Python file, which the page shows beside its lines. Only the last part of the path counts.
    ///
    /// ```
    /// use xla_shape_render::kernel::Kernels;
    ///
    /// let mut answer = Kernels::default();
    /// answer.add_source("kernel.py", "o[...] = x[...]");
    /// assert!(!answer.html().contains("o[...]"), "no kernel comes from this file");
    /// ```
    pub fn add_source(&mut self, path: &str, text: &str) {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        self.sources.insert(name.to_owned(), text.lines().map(str::to_owned).collect());
    }

    /// How many kernels there are.
    ///
    /// ```
    /// assert_eq!(xla_shape_render::kernel::Kernels::default().len(), 0);
    /// ```
    #[must_use]
    pub const fn len(&self) -> usize {
        self.kernels.len()
    }

    /// Whether there is no kernel.
    ///
    /// ```
    /// assert!(xla_shape_render::kernel::Kernels::default().is_empty());
    /// ```
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.kernels.is_empty()
    }

    /// The error message for files that tell of no kernel: which files do.
    ///
    /// ```
    /// let message = xla_shape_render::kernel::Kernels::missing("dump");
    /// assert!(message.starts_with("dump: expected files of kernels, such as …-final_bundles.txt"));
    /// ```
    #[must_use]
    pub fn missing(path: impl Display) -> String {
        format!(
            "{path}: expected files of kernels, such as …-final_bundles.txt or …-post-relayout-insertion.txt; \
             …-post-apply-vector-layout.txt is read only together with the latter"
        )
    }
}

impl Answer for Kernels {
    const SCHEMA: &'static str = "xla-shape/kernel/1";
}

impl Show for Kernels {
    fn text(&self, width: usize) -> Text {
        text::text(self, width)
    }
}

impl Entry {
    fn new(target: Option<&str>, generation: Option<Generation>, found: &DumpedKernel<'_>) -> Self {
        let kernel = &found.kernel;
        let [slots, with_source] = kernel.vector_slots;
        Self {
            target: target.map(str::to_owned),
            name: kernel.name.clone(),
            instruction: found.instruction.map(str::to_owned),
            grid: kernel.grid.clone(),
            bundles: kernel.bundles,
            empty: kernel.empty,
            executed: kernel.executed,
            least: kernel.least,
            clock_hz: None,
            least_seconds: None,
            operations: kernel.operations,
            operands: kernel.operands,
            relayouts: kernel.relayouts.as_ref().map(|list| list.iter().map(RelayoutEntry::new).collect()),
            unaligned: kernel.unaligned.iter().map(Unaligned::new).collect(),
            lines: kernel.lines.iter().map(|(source, line)| LineEntry::new(source, line)).collect(),
            loops: kernel.loops.iter().map(LoopEntry::new).collect(),
            units: usages(&kernel.units),
            spills: kernel.spills,
            fills: kernel.fills,
            vmem: vmem(found, generation),
            vector_slots: slots,
            vector_slots_with_source: with_source,
            unread: kernel.unread.clone(),
            notes: found.notes.clone(),
            executed_empty: kernel.executed_empty,
            executed_slots: (!kernel.executed_units.is_empty()).then(|| {
                let slots = kernel.executed_units.iter().map(|unit| (unit.name.to_owned(), unit.used));
                slots.collect()
            }),
            details: Details::new(kernel),
        }
    }
}

fn usages(units: &[Unit<'_>]) -> BTreeMap<String, Usage> {
    let usage = |unit: &Unit<'_>| (unit.name.to_owned(), Usage { used: unit.used, capacity: unit.capacity });
    units.iter().map(usage).collect()
}

impl RelayoutEntry {
    fn new(relayout: &Relayout<'_>) -> Self {
        Self {
            from: relayout.from.clone(),
            to: relayout.to.clone(),
            shape: relayout.shape.clone(),
            source: relayout.source.as_ref().map(ToString::to_string),
            free: relayout.free,
            steps: relayout.steps.iter().flatten().map(ToString::to_string).collect(),
            instructions: relayout
                .instructions
                .as_ref()
                .map(|instructions| instructions.iter().map(|(name, times)| ((*name).to_owned(), *times)).collect()),
            registers: relayout.registers,
        }
    }
}

impl Unaligned {
    fn new(access: &Access<'_>) -> Self {
        Self {
            source: access.source.as_ref().map(ToString::to_string),
            operation: access.operation.to_owned(),
            shape: access.shape.clone(),
            layout: access.layout.to_string(),
            relayouts: access.relayouts,
            advice: advice(&access.layout),
        }
    }
}

/// What would make a load or store begin at the first row and column of a register.
fn advice(layout: &VectorLayout) -> String {
    let parts = layout.offsets().into_iter().zip(layout.slice()).zip(["row", "column"]);
    let parts = parts.filter_map(|((offset, slice), what)| match offset {
        Offset::Fixed(offset) if offset > 0 => {
            Some(format!("begins at {what} {offset} of a register; at a multiple of {slice} it would begin at 0"))
        }
        _ => None,
    });
    parts.collect::<Vec<_>>().join("; ")
}

impl LineEntry {
    fn new(source: &Source<'_>, line: &Line) -> Self {
        let Line { operations, registers, relayouts, moving, bundles, slots, executed, .. } = *line;
        Self { source: source.to_string(), operations, registers, relayouts, moving, bundles, executed, slots }
    }
}

impl LoopEntry {
    fn new(entry: &LoopUse<'_>) -> Self {
        // The used slots relative to the capacity. If units are equal, the first one counts.
        let share = |unit: &&Unit<'_>| (unit.used as f64 / unit.capacity.max(1) as f64 * 1e6) as u64;
        let fullest = entry.units.iter().rev().filter(|unit| unit.used > 0).max_by_key(share);
        Self {
            first: entry.found.first as u64,
            last: entry.found.last as u64,
            depth: entry.found.depth,
            trips: entry.found.trips,
            condition: entry.found.condition.clone(),
            lines: entry.lines.as_ref().map(|(first, last)| [first.to_string(), last.to_string()]),
            bundles: entry.bundles,
            empty: entry.empty,
            fullest: fullest.map(|unit| unit.name.to_owned()),
            units: usages(&entry.units),
            spills: entry.spills,
            fills: entry.fills,
            waits: entry.waits,
        }
    }
}

/// The vector memory from the compiler's report; without a report, the sum of the kernel's arguments.
fn vmem(found: &DumpedKernel<'_>, generation: Option<Generation>) -> Option<Vmem> {
    let kernel = &found.kernel;
    let default = generation.and_then(Generation::kernel_vmem).map(|vmem| vmem.limit(kernel.vmem_limit));
    let limit = default.or(kernel.vmem_limit);
    if let Some(report) = &kernel.vmem {
        let part = |part: &VmemPart| VmemEntry { what: purpose(&part.tag), bytes: Some(part.bytes) };
        return Some(Vmem {
            bytes: Some(report.bytes),
            limit,
            estimated: false,
            parts: report.parts.iter().map(part).collect(),
        });
    }
    let part = |window: &Window| {
        let buffers = if window.buffers > 1 { format!(", {} buffers", window.buffers) } else { String::new() };
        VmemEntry {
            what: format!("{}: {}{buffers}", window.name, window.shape),
            bytes: window.bytes.map(|bytes| bytes.saturating_mul(window.buffers)),
        }
    };
    let parts = kernel.windows.iter().map(part).collect::<Vec<_>>();
    let bytes = parts.iter().try_fold(0_u64, |sum, part| Some(sum.saturating_add(part.bytes?)));
    (!parts.is_empty()).then_some(Vmem { bytes, limit, estimated: true, parts })
}

/// The purpose of a part of vector memory, in the compiler's words; the phrases that all windows have are removed.
fn purpose(tag: &str) -> String {
    let sentence = |begin: &str, end: char| tag.split_once(begin).and_then(|(_, rest)| rest.split(end).next());
    let shape = tag.split_once("The window shape is ").and_then(|(_, rest)| rest.split(", while").next());
    let levels = sentence("This allocation has ", '.');
    match (tag.split(". ").next(), shape) {
        (Some(first), Some(shape)) => {
            let first = first.replace(" window allocation for operator", " window of");
            let levels = levels.map(|levels| format!(", {levels}")).unwrap_or_default();
            format!("{first}: {shape}{levels}")
        }
        _ if tag == "SPILL" => "registers that are spilled".to_owned(),
        _ => tag.to_owned(),
    }
}
