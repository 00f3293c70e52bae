//! The figures of one compiled kernel.

use super::listing::{self, BundleText, VectorText};
use crate::cost::Times;
use crate::digest::{Amount, Bundles};
use crate::names;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Display};
use xla_shape_core::sorting::{map_of, sort_by_key};
use xla_shape_core::tpu::Generation;
use xla_shape_core::tpu::vector::{Offset, VectorLayout};
use xla_shape_mosaic::{Access, DumpedKernel, Line, LoopUse, Relayout, Unit, VmemPart, Window};

/// A kernel. A field is `None` if the dump does not have it.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n\t 20.00 scheduled bundles (100.00%): \
///     %k.1 = f32[8] custom-call(%x), custom_call_target=\"tpu_custom_call\"\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.1.schedule-analysis_final_bundles.txt", text)]));
/// let kernel = &answer.kernels[0];
/// assert_eq!((kernel.title().as_str(), kernel.bundles, kernel.moving()), ("k.1", Some(21), 0));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompiledKernel {
    /// The device for which the program was compiled; null for a dump.
    #[serde(rename = "for")]
    pub target: Option<String>,
    /// The name of the kernel's function; null if its text is missing.
    pub name: Option<String>,
    /// The instruction that calls it; null if its bundles are missing.
    pub instruction: Option<String>,
    /// How often the kernel's body runs along each dimension of the grid; null without a grid, or if it depends on values.
    pub grid: Option<Vec<u64>>,
    /// The bundles; null if they are missing.
    pub bundles: Option<u64>,
    /// The bundles that do nothing.
    pub empty: Option<u64>,
    /// The bundles times the trips of their loops, as if no branch were taken; null if some trips are not known.
    pub executed: Option<u64>,
    /// The fewest bundles that can execute, over all trips; null if it is not known where a branch leads, or if one leads into the middle of a loop.
    pub least: Option<u64>,
    /// The clock that was given, in hertz; null without --clock.
    pub clock_hz: Option<f64>,
    /// The seconds that `least` bundles take at `clock_hz`, without waits; null if either field is null.
    pub least_seconds: Option<f64>,
    /// How long its instruction took, as a profile measured it; null without --profile, or if the profile does not have the instruction.
    pub measured: Option<Times>,
    /// The operations with a vector layout for their results; null if the text of the operations is missing.
    pub operations: Option<u64>,
    /// How often these operations use a vector; null if the text of the operations is missing.
    pub operands: Option<u64>,
    /// The relayouts that the compiler inserted; if the dump has only the text before that stage, the relayouts that the vector layouts need. Null if
    /// the text of the operations is missing.
    pub relayouts: Option<Vec<RelayoutEntry>>,
    /// The loads and stores whose vector does not begin at the first row and column of a register.
    pub unaligned: Vec<Unaligned>,
    /// The lines of Python, by file and line.
    pub lines: Vec<LineEntry>,
    /// The loops, outer ones before inner ones.
    pub loops: Vec<LoopEntry>,
    /// The units of all bundles, by name.
    pub units: BTreeMap<String, Usage>,
    /// Stores of registers to memory, because there are too few registers.
    pub spills: u64,
    /// Loads of the stored registers.
    pub fills: u64,
    /// The number of spills of scalar registers, to SMEM; the other spills are of vector and mask registers.
    pub scalar_spills: u64,
    /// The number of fills of scalar registers.
    pub scalar_fills: u64,
    /// The vector memory; null if the dump does not say it.
    pub vmem: Option<Vmem>,
    /// How many slots of vector units the bundles use.
    pub vector_slots: u64,
    /// How many of these slots have a line of Python.
    pub vector_slots_with_source: u64,
    /// What was not understood, each with its number of occurrences.
    pub unread: BTreeMap<String, u64>,
    /// What is missing or doubtful.
    pub notes: Vec<String>,
    /// The empty bundles among those that execute; `None` if a trip count is not known.
    #[serde(skip)]
    pub executed_empty: Option<u64>,
    /// The slots that the executed bundles use of each unit; `None` if a trip count is not known.
    #[serde(skip)]
    pub executed_slots: Option<BTreeMap<String, u64>>,
    /// The first bundles.
    #[serde(skip)]
    pub listing: Vec<BundleText>,
    /// The first vectors that each line computes.
    #[serde(skip)]
    pub vectors: BTreeMap<String, Vec<VectorText>>,
}

/// A relayout of a vector.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = r#"%y = xir_tc.relayout %x {in_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">],
///     out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32> -> vector<64x256xf32>"#;
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]));
/// let relayout = &answer.kernels[0].relayouts.as_ref().unwrap()[0];
/// assert_eq!((relayout.free, relayout.registers), (Some(false), Some([18, 16])));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct RelayoutEntry {
    /// The vector layout before, as the compiler wrote it.
    pub from: String,
    /// The vector layout after.
    pub to: String,
    /// The vector, as an array without a layout.
    pub shape: String,
    /// The line of Python that needs it; null if the dump has no locations.
    pub source: Option<String>,
    /// Whether it needs no instruction, according to the compiler's next stage or, if the dump does not have that, to the layouts; null if a layout
    /// was not understood.
    pub free: Option<bool>,
    /// How the elements move, in words.
    pub steps: Vec<String>,
    /// The instructions that it became in the compiler's next stage, by name; null if the dump does not have that stage.
    pub instructions: Option<BTreeMap<String, u64>>,
    /// The registers before and after; null if a layout was not understood.
    pub registers: Option<[u64; 2]>,
}

/// A load or a store that does not begin at the first row and column of a register.
///
/// ```
/// use xla_shape_answers::kernel::{Axis, Kernels, Start};
/// use xla_shape_mosaic::kernels;
///
/// let text = r#"%x = xir.vector_load %m {out_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">]} : vector<64x256xf32>"#;
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]));
/// let unaligned = &answer.kernels[0].unaligned[0];
/// assert_eq!(unaligned.advice.to_string(), "begins at row 3 of a register; at a multiple of 8 it would begin at 0");
/// assert_eq!(unaligned.remedy.to_string(), "begin the vector_load at a multiple of 8 rows");
/// let start: &Start = &unaligned.advice.0[0];
/// assert_eq!((start.axis, start.offset, start.size), (Axis::Row, 3, 8));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Unaligned {
    /// The line; null if the dump has no locations.
    pub source: Option<String>,
    /// The operation, a load or a store.
    pub operation: String,
    /// The vector.
    pub shape: String,
    /// Its vector layout.
    pub layout: String,
    /// The relayouts that move elements from or to the offsets of this layout.
    pub relayouts: u64,
    /// Where the load or the store begins, and what would align it.
    #[serde(serialize_with = "names::text")]
    #[schemars(with = "String")]
    pub advice: Starts,
    /// What to change.
    #[serde(serialize_with = "names::text")]
    #[schemars(with = "String")]
    pub remedy: Begin,
}

words! {
    /// A dimension of a register; an aligned access begins at row 0 and column 0.
    ///
    /// ```
    /// use xla_shape_answers::kernel::{Axis, Begin, Start, Starts};
    ///
    /// let starts = Starts(vec![Start { axis: Axis::Column, offset: 64, size: 128 }]);
    /// let begin = Begin { operation: "vector_load".into(), starts };
    /// assert_eq!(begin.to_string(), "begin the vector_load at a multiple of 128 columns");
    /// ```
    pub enum Axis {
        /// Its rows, of sublanes.
        Row = "row",
        /// Its columns, of lanes.
        Column = "column",
    }
}

/// The row or column of a register at which a load or a store begins, along an axis on which it does not begin at 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// The axis.
    pub axis: Axis,
    /// The row or column at which it begins.
    pub offset: u64,
    /// The rows or columns of a register.
    pub size: u64,
}

/// Where a load or a store begins. Its text says what would align it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Starts(pub Vec<Start>);

/// Where a load or a store should begin. Its text is this advice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Begin {
    /// The operation, such as `vector_load`.
    pub operation: String,
    /// Where it begins now.
    pub starts: Starts,
}

/// A line of Python.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "0 : { %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":4:1 to :9) */ } /* exit bundle: %k = custom-call(%x) */\n";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", text)]));
/// let line = &answer.kernels[0].lines[0];
/// assert_eq!((line.source.as_str(), line.bundles, line.slots), ("k.py:4", 1, 1));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct LineEntry {
    /// The file and the line.
    pub source: String,
    /// The operations with a vector layout for their results.
    pub operations: u64,
    /// The registers of these results.
    pub registers: u64,
    /// The relayouts.
    pub relayouts: u64,
    /// The relayouts that move data.
    pub moving: u64,
    /// The bundles with a slot of the line.
    pub bundles: u64,
    /// These bundles times the trips of their loops; null if some trips are not known.
    pub executed: Option<u64>,
    /// The slots of the line.
    pub slots: u64,
}

/// A loop of bundles.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "\
///    0    :  { %s1_s0 = smov.u32 0 }
///  0x1 LB: > { %s3_s0 = sphi %s1_s0, %s4_s0  ;;  %s4_s0 = sadd.s32 1, %s3_s0 }
///  0x2   : > { %p5_p0 = scmp.ge.s32.totalorder %s4_s0, 32 }
///  0x3   : > { %6 = sbr.rel (!%p5_p0) target = $region4 }
///  0x4   :  {} /* exit bundle: %k = custom-call(%x) */
/// ";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", text)]));
/// let found = &answer.kernels[0].loops[0];
/// assert_eq!((found.first, found.last, found.trips, found.remedy()), (1, 4, Some(32), None), "it spills nothing");
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LoopEntry {
    /// The number of the first bundle.
    pub first: u64,
    /// The number of the last bundle.
    pub last: u64,
    /// How deeply it is nested: the number of loops around it plus 1.
    pub depth: usize,
    /// How often it runs each time it is entered; null if that is not a constant.
    pub trips: Option<u64>,
    /// The comparison that ends it, as the compiler wrote it.
    pub condition: Option<String>,
    /// The first and the last line of Python in it; null if no slot has a line.
    pub lines: Option<[String; 2]>,
    /// Its bundles.
    pub bundles: u64,
    /// The bundles that do nothing.
    pub empty: u64,
    /// The unit whose slots are used most; null if no unit is used.
    pub fullest: Option<String>,
    /// The units, by name.
    pub units: BTreeMap<String, Usage>,
    /// Stores of registers to memory, because there are too few registers.
    pub spills: u64,
    /// Loads of the stored registers.
    pub fills: u64,
    /// The number of spills of scalar registers, to SMEM; the other spills are of vector and mask registers.
    pub scalar_spills: u64,
    /// The number of fills of scalar registers.
    pub scalar_fills: u64,
    /// Waits for copies between memories.
    pub waits: u64,
}

/// A remedy for a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoopRemedy {
    /// Use smaller blocks, or loop over parts of them, because the loop's vectors do not fit into the registers.
    SmallerBlocks,
}

/// The slots of a unit.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let bundles = "0 : { %s1_s0 = smov.u32 0 }\n0x1 : {} /* exit bundle: %k = custom-call(%x) */\n";
/// let units = "== CAPACTIY:\nMATMUL, VALU\n 4 2\n== UTILIZATION:\n0 2\n1 1\n";
/// let files = [("llo.k.final_bundles.txt", bundles), ("llo.k.final_hlo-static-per-bundle-utilization.txt", units)];
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&files));
/// let usage = answer.kernels[0].units["VALU"];
/// assert_eq!((usage.used, usage.capacity), (3, 2));
/// ```
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Usage {
    /// The slots that all bundles together use.
    pub used: u64,
    /// The slots that one bundle has.
    pub capacity: u64,
}

/// The vector memory of a kernel.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "func.func @k(%x: memref<64x256xf32, #xir.tiled<(8,128),[2,1]>, #xir.memory_space<vmem, tc>>) \
///     attributes {iteration_bounds = array<i64: 4>} {\n}";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]));
/// let vmem = answer.kernels[0].vmem.as_ref().unwrap();
/// assert_eq!((vmem.bytes, vmem.estimated), (Some(2 * 65_536), true));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Vmem {
    /// The bytes of vector memory; null if those of a part are not known.
    pub bytes: Option<u64>,
    /// The bytes that the kernel may use; null if the TPU is not known.
    pub limit: Option<u64>,
    /// Whether `bytes` is the sum of the kernel's arguments, because the dump has no report.
    pub estimated: bool,
    /// The parts.
    pub parts: Vec<VmemEntry>,
}

/// A part of the vector memory.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let text = "func.func @k(%x: memref<64x256xf32, #xir.tiled<(8,128),[2,1]>, #xir.memory_space<vmem, tc>>) \
///     attributes {iteration_bounds = array<i64: 4>} {\n}";
/// let mut answer = Kernels::default();
/// answer.add(None, None, &kernels(&[("mosaic.k.post-relayout-insertion.txt", text)]));
/// let part = &answer.kernels[0].vmem.as_ref().unwrap().parts[0];
/// assert_eq!((part.what.as_str(), part.bytes), ("x: f32[64,256]{1,0:T(8,128)}, 2 buffers", Some(131_072)));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct VmemEntry {
    /// What the part is for.
    pub what: String,
    /// Its bytes; null if a size is not known.
    pub bytes: Option<u64>,
}

impl Vmem {
    /// The parts, the largest first.
    #[must_use]
    pub fn largest_first(&self) -> Vec<&VmemEntry> {
        let mut parts: Vec<_> = self.parts.iter().collect();
        sort_by_key(&mut parts, |part| Reverse(part.bytes));
        parts
    }
}

impl CompiledKernel {
    /// The lines of Python, those with the most bundles first.
    #[must_use]
    pub fn lines_by_bundles(&self) -> Vec<&LineEntry> {
        let mut lines: Vec<_> = self.lines.iter().collect();
        sort_by_key(&mut lines, |line| Reverse((line.executed.unwrap_or(line.bundles), line.bundles, line.relayouts)));
        lines
    }

    pub(crate) fn new(target: Option<&str>, generation: Option<Generation>, found: &DumpedKernel<'_>) -> Self {
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
            measured: None,
            operations: kernel.operations,
            operands: kernel.operands,
            relayouts: kernel.relayouts.as_ref().map(|list| list.iter().map(RelayoutEntry::new).collect()),
            unaligned: kernel.unaligned.iter().map(Unaligned::new).collect(),
            lines: kernel.lines.iter().map(|(source, line)| LineEntry::new(source, line)).collect(),
            loops: kernel.loops.iter().map(LoopEntry::new).collect(),
            units: usages(&kernel.units),
            spills: kernel.spills,
            fills: kernel.fills,
            scalar_spills: kernel.scalar_spills[0],
            scalar_fills: kernel.scalar_spills[1],
            vmem: vmem(found, generation),
            vector_slots: slots,
            vector_slots_with_source: with_source,
            unread: kernel.unread.clone(),
            notes: found.notes.clone(),
            executed_empty: kernel.executed_empty,
            executed_slots: (!kernel.executed_units.is_empty()).then(|| {
                let slots = kernel.executed_units.iter().map(|unit| (unit.name.to_owned(), unit.used));
                map_of(slots)
            }),
            listing: listing::bundles(kernel),
            vectors: listing::vectors(kernel),
        }
    }

    /// The name: of the instruction, and of the kernel that it calls.
    #[must_use]
    pub fn title(&self) -> String {
        match (&self.instruction, &self.name) {
            (Some(instruction), Some(name)) => format!("{instruction} ({name})"),
            (Some(one), None) | (None, Some(one)) => one.clone(),
            (None, None) => "a kernel without a name".to_owned(),
        }
    }

    /// Notes, and the texts that were not understood.
    pub fn doubts(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|note| format!("note: {note}"));
        notes.chain(self.unread.iter().map(|(what, times)| format!("not understood: {what} ({times}x)")))
    }

    /// How many relayouts move data.
    #[must_use]
    pub fn moving(&self) -> usize {
        self.relayouts.iter().flatten().filter(|relayout| relayout.free == Some(false)).count()
    }
}

fn usages(units: &[Unit<'_>]) -> BTreeMap<String, Usage> {
    let usage = |unit: &Unit<'_>| (unit.name.to_owned(), Usage { used: unit.used, capacity: unit.capacity });
    map_of(units.iter().map(usage))
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
                .map(|instructions| map_of(instructions.iter().map(|(name, times)| ((*name).to_owned(), *times)))),
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
            // Users call `xir.vector_load` just `vector_load`.
            remedy: Begin {
                operation: access.operation.rsplit('.').next().unwrap_or_default().to_owned(),
                starts: Starts::new(&access.layout),
            },
            advice: Starts::new(&access.layout),
        }
    }
}

impl Starts {
    fn new(layout: &VectorLayout) -> Self {
        let parts = layout.offsets().into_iter().zip(layout.slice()).zip([Axis::Row, Axis::Column]);
        let start = parts.filter_map(|((offset, size), axis)| match offset {
            Offset::Fixed(offset) if offset > 0 => Some(Start { axis, offset, size }),
            _ => None,
        });
        Self(start.collect())
    }
}

impl Display for Starts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Start { axis, offset, size }) in self.0.iter().enumerate() {
            let and = if number > 0 { "; " } else { "" };
            write!(f, "{and}begins at {axis} {offset} of a register; at a multiple of {size} it would begin at 0")?;
        }
        Ok(())
    }
}

impl Display for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "begin the {} at", self.operation)?;
        for (number, Start { axis, size, .. }) in self.starts.0.iter().enumerate() {
            write!(f, "{} a multiple of {size} {axis}s", if number > 0 { " and" } else { "" })?;
        }
        Ok(())
    }
}

impl LineEntry {
    fn new(source: impl Display, line: &Line) -> Self {
        let Line { operations, registers, relayouts, moving, bundles, slots, executed, .. } = *line;
        Self { source: source.to_string(), operations, registers, relayouts, moving, bundles, executed, slots }
    }

    /// Its bundles, each counted as often as it runs, or once if that is not known.
    pub(super) fn amount(&self) -> Amount {
        let once = Amount::Bundles(Bundles::Once, self.bundles);
        self.executed.map_or(once, |executed| Amount::Bundles(Bundles::Executed, executed))
    }
}

impl LoopEntry {
    /// The spills of vector and mask registers.
    #[must_use]
    pub const fn vector_spills(&self) -> u64 {
        self.spills.saturating_sub(self.scalar_spills)
    }

    /// The remedy; `None` if none is known.
    #[must_use]
    pub const fn remedy(&self) -> Option<LoopRemedy> {
        if self.vector_spills() > 0 { Some(LoopRemedy::SmallerBlocks) } else { None }
    }

    fn new(entry: &LoopUse<'_>) -> Self {
        // The used slots as a fraction of the capacity. Of equal units, take the first one.
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
            scalar_spills: entry.scalar_spills[0],
            scalar_fills: entry.scalar_spills[1],
            waits: entry.waits,
        }
    }
}

impl CompiledKernel {
    /// The windows of arrays in the compiler's report of vector memory, without their shapes, and their bytes.
    pub(super) fn windows(&self) -> impl Iterator<Item = (&str, u64)> {
        let parts = self.vmem.iter().filter(|vmem| !vmem.estimated).flat_map(|vmem| &vmem.parts);
        parts.filter_map(|part| {
            let (window, _) = part.what.split_once(": ")?;
            window.contains(" window of ").then(|| Some((window, part.bytes?))).flatten()
        })
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

/// The purpose of a part of vector memory, in the compiler's words, without the phrases that all windows have.
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
