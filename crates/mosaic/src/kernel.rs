//! [`Kernel`]: puts the files of a kernel together.

use crate::applied::instructions;
use crate::branches::least_executions;
use crate::bundles::{Bundle, Bundles, Slot};
use crate::loops::{Loop, executions, loops};
use crate::operands::{Operand, Operands, is_relayout, last_types, layout_texts};
use crate::schedule::{Schedule, Unit, Utilization};
use crate::values::Instructions;
use crate::vmem::{VmemUse, vmem_limit};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::sorting::set_of;
use xla_shape_core::tpu::vector::{Offset, RelayoutStep, VectorLayout};
use xla_shape_core::{ArrayShape, Dimension};
use xla_shape_hlo::find_spelled_shapes;
use xla_shape_mlir::{MlirError, Source};
use xla_shape_mlir::{Module, Operation};

/// The texts of a kernel that a dump has. A missing text is `None`, and so are the fields of [`Kernel`] that come from it.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let bundles = "   0   :  { %v2_v0 = vlaneseq.b32 }\n 0x1   :  {}\n";
/// let kernel = Kernel::read(Texts { bundles: Some(bundles), ..Texts::default() })?;
/// assert_eq!((kernel.bundles, kernel.empty), (Some(2), Some(1)));
/// assert_eq!(kernel.relayouts, None, "that needs Mosaic's text");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, Copy, Default, Debug)]
pub struct Texts<'a> {
    /// Mosaic's MLIR after the stage `infer-vector-layout`. It is read only if the next stage, `relayout-insertion`, has no text.
    pub inferred: Option<&'a str>,
    /// Mosaic's MLIR after the stage `relayout-insertion`.
    pub relayout: Option<&'a str>,
    /// Mosaic's MLIR after the stage `apply-vector-layout`, in which relayouts are instructions.
    pub applied: Option<&'a str>,
    /// The final bundles.
    pub bundles: Option<&'a str>,
    /// The analysis of the schedule.
    pub schedule: Option<&'a str>,
    /// The slots that each bundle uses.
    pub utilization: Option<&'a str>,
}

impl<'a> Texts<'a> {
    /// Mosaic's text of the latest stage that still has the kernel's vectors whole.
    #[must_use]
    pub fn mosaic(&self) -> Option<&'a str> {
        self.relayout.or(self.inferred)
    }
}

/// What the compiler says about a kernel.
#[derive(Clone, Default, Debug)]
#[non_exhaustive]
pub struct Kernel<'a> {
    /// The name of the kernel's function in Python.
    pub name: Option<String>,
    /// The grid: how often the kernel's body runs along each of its dimensions.
    pub grid: Option<Vec<u64>>,
    /// The texts that the kernel was read from.
    pub texts: Texts<'a>,
    /// The number of operations that have an `out_layout`, relayouts among them.
    pub operations: Option<u64>,
    /// How often these operations use a vector. Each use in another layout than the vector's needs a relayout.
    pub operands: Option<u64>,
    /// The vectors that these operations compute, in the order of the text.
    pub values: Vec<VectorValue<'a>>,
    /// The relayouts that the compiler inserted, in the order of the text. If there is only the text of the stage before, those that it
    /// would insert: one for each operand that is needed in another layout.
    pub relayouts: Option<Vec<Relayout<'a>>>,
    /// Loads and stores that do not begin at the first row and column of a register.
    pub unaligned: Vec<Access<'a>>,
    /// The kernel's arguments that are in vector memory (VMEM).
    pub windows: Vec<Window>,
    /// The number of final bundles.
    pub bundles: Option<u64>,
    /// The number of bundles without slots.
    pub empty: Option<u64>,
    /// The final bundles themselves.
    pub scheduled: Option<Bundles<'a>>,
    /// The loops.
    pub loops: Vec<LoopUse<'a>>,
    /// The units, with the slots that they use.
    pub units: Vec<Unit<'a>>,
    /// The number of stores of registers to memory, because there are too few registers.
    pub spills: u64,
    /// The number of loads of registers that were spilled.
    pub fills: u64,
    /// How many of those stores and loads are of scalar registers; the others are of vector and mask registers.
    pub scalar_spills: [u64; 2],
    /// The Python lines, sorted by file and line.
    pub lines: BTreeMap<Source<'a>, Line>,
    /// The number of vector slots, and how many of them have a Python line.
    pub vector_slots: [u64; 2],
    /// Bundles times the trips of their loops, as if no branch were taken; `None` if some trips are not known.
    pub executed: Option<u64>,
    /// The empty bundles among those.
    pub executed_empty: Option<u64>,
    /// The slots that those bundles use of each unit; empty if some trips are not known, or the dump has no utilization.
    pub executed_units: Vec<Unit<'a>>,
    /// The bundles that execute at least: a lower bound. It leaves out the iterations of a loop in which a branch skips a bundle, or may
    /// skip it. `None` if it is not known where a branch leads, or if one leads into the middle of a loop.
    pub least: Option<u64>,
    /// The vector memory, from the compiler's report.
    pub vmem: Option<VmemUse>,
    /// The limit of vector memory that the program sets for the kernel, in bytes.
    pub vmem_limit: Option<u64>,
    /// What was not understood, each with its number of occurrences.
    pub unread: BTreeMap<String, u64>,
}

/// A change of a vector's layout that the compiler inserted.
///
/// ```
/// use xla_shape_core::tpu::vector::RelayoutStep;
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%y = xir_tc.relayout %x {in_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">],
///     out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32> -> vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let relayout = &kernel.relayouts.unwrap()[0];
/// assert_eq!((relayout.from.as_str(), relayout.to.as_str()), ("32,{3,0},(8,128)", "32,{0,0},(8,128)"));
/// assert!(matches!(relayout.steps.as_deref(), Some([RelayoutStep::Rows { .. }])), "it moves all rows by 3");
/// assert_eq!((relayout.free, relayout.registers), (Some(false), Some([18, 16])));
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Relayout<'a> {
    /// The layout before, as the compiler wrote it.
    pub from: String,
    /// The layout after.
    pub to: String,
    /// The vector's element type and sizes, as an array without a layout.
    pub shape: String,
    /// The Python line that needs the relayout; `None` if the dump has no locations.
    pub source: Option<Source<'a>>,
    /// The steps of the relayout; empty if a vector in the first layout can be used in the second as it is. `None` if a layout or the vector was
    /// not understood.
    pub steps: Option<Vec<RelayoutStep>>,
    /// Whether it needs no instruction: by the compiler's next stage if the dump has it, otherwise by the layouts, and because an equal
    /// vector has been changed to the same layout before. `None` if a layout or the vector was not understood.
    pub free: Option<bool>,
    /// The numbers of instructions that it became in the compiler's next stage, by name. `None` if the dump does not have that stage.
    pub instructions: Option<BTreeMap<&'a str, u64>>,
    /// The number of registers before and after.
    pub registers: Option<[u64; 2]>,
}

/// A vector that an operation computes.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%x = k.make {out_layout = [#xir_tc.vpad<"32,{0,0},(8,128)">]} : vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let value = &kernel.values[0];
/// assert_eq!((value.operation, value.shape.as_str()), ("k.make", "f32[64,256]"));
/// assert_eq!(value.registers, Some(8 * 2), "one for 8 rows of 128");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct VectorValue<'a> {
    /// The operation, such as `arith.addf`.
    pub operation: &'a str,
    /// Its element type and sizes, as an array without a layout.
    pub shape: String,
    /// The vector layout.
    pub layout: VectorLayout,
    /// The number of its registers; `None` if the vector cannot have this layout.
    pub registers: Option<u64>,
    /// The Python line.
    pub source: Option<Source<'a>>,
}

/// A load or store whose vector does not begin at the first row or column of a register.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = r#"%x = xir.vector_load %m {out_layout = [#xir_tc.vpad<"32,{3,0},(8,128)">]} : vector<64x256xf32>"#;
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let access = &kernel.unaligned[0];
/// assert_eq!((access.operation, access.shape.as_str()), ("xir.vector_load", "f32[64,256]"));
/// assert_eq!(access.layout.to_string(), "32,{3,0},(8,128)", "begins at the fourth row of a register");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Access<'a> {
    /// The operation, such as `xir.vector_load`.
    pub operation: &'a str,
    /// The vector layout.
    pub layout: VectorLayout,
    /// The vector's element type and sizes, as an array without a layout.
    pub shape: String,
    /// The line.
    pub source: Option<Source<'a>>,
    /// The relayouts from or to a layout with the same offsets that move rows or columns.
    pub relayouts: u64,
}

/// An argument of a kernel in vector memory: a window of an operand or result, or scratch.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let text = "func.func @k(%x: memref<64x256xf32, #xir.tiled<(8,128),[2,1]>, #xir.memory_space<vmem, tc>>) \
///     attributes {iteration_bounds = array<i64: 4>} {\n}";
/// let kernel = Kernel::read(Texts { relayout: Some(text), ..Texts::default() })?;
/// let window = &kernel.windows[0];
/// assert_eq!((window.name.as_str(), window.shape.as_str()), ("x", "f32[64,256]{1,0:T(8,128)}"));
/// assert_eq!((window.bytes, window.buffers), (Some(65_536), 2), "the grid of 4 steps moves it");
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Window {
    /// The name of the argument.
    pub name: String,
    /// The array in memory, with its layout; the compiler's text if it was not understood.
    pub shape: String,
    /// The bytes of one buffer; `None` if they are not known, as where a size is not.
    pub bytes: Option<u64>,
    /// The number of buffers: two where the grid moves a window, so that the next window is copied while the kernel's body runs.
    pub buffers: u64,
}

/// A loop, with counts of what is in it.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let bundles = "\
///    0   :  { %s1_s0 = smov.u32 0 }
///  0x1 LB: > { %s3_s0 = sphi %s1_s0, %s4_s0  ;;  %s4_s0 = sadd.s32 1, %s3_s0 }
///  0x2   : > { %p5_p0 = scmp.ge.s32.totalorder %s4_s0, 32 }
///  0x3   : > { %6 = sbr.rel (!%p5_p0) target = $region4 }
///  0x4   :  {}
///  0x5   :  { %7 = vsyncpa [#allocation4], 1 }
/// ";
/// let kernel = Kernel::read(Texts { bundles: Some(bundles), ..Texts::default() })?;
/// let inner = &kernel.loops[0];
/// assert_eq!((inner.bundles, inner.empty, inner.found.trips), (4, 1, Some(32)));
/// assert_eq!(kernel.executed, Some(2 + 32 * 4));
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct LoopUse<'a> {
    /// The loop.
    pub found: Loop<'a>,
    /// The number of its bundles, including those of inner loops.
    pub bundles: u64,
    /// How many of them have no slots.
    pub empty: u64,
    /// The slots that the loop's bundles use of each unit; `capacity` counts the slots of one bundle.
    pub units: Vec<Unit<'a>>,
    /// The number of stores of registers to memory, because there are too few registers.
    pub spills: u64,
    /// The number of loads of registers that were spilled.
    pub fills: u64,
    /// How many of those stores and loads are of scalar registers; the others are of vector and mask registers.
    pub scalar_spills: [u64; 2],
    /// The number of waits for copies between memories.
    pub waits: u64,
    /// The first and the last Python line with slots in the loop, in the file that has the most of them.
    pub lines: Option<(Source<'a>, Source<'a>)>,
}

/// What the compiler made of a Python line.
///
/// ```
/// use xla_shape_mosaic::{Kernel, Texts};
///
/// let bundles = r#" 0x1   :  { %v2_v0 = vld [vmem:[#allocation3]]  /* loc("k.py":7:3 to :9) */ }"#;
/// let kernel = Kernel::read(Texts { bundles: Some(bundles), ..Texts::default() })?;
/// let (source, line) = kernel.lines.first_key_value().unwrap();
/// assert_eq!((source.file, source.line), ("k.py", 7));
/// assert_eq!((line.bundles, line.slots), (1, 1));
/// # Ok::<(), xla_shape_mlir::MlirError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Line {
    /// The number of its operations whose results are vectors in registers.
    pub operations: u64,
    /// The number of registers that these results take.
    pub registers: u64,
    /// The number of its relayouts.
    pub relayouts: u64,
    /// How many of them move data.
    pub moving: u64,
    /// The number of bundles that have a slot of the line.
    pub bundles: u64,
    /// The number of its slots.
    pub slots: u64,
    /// Its bundles, each times the trips of the loops around it; `None` if some trips are not known.
    pub executed: Option<u64>,
}

/// The stage after which a text of Mosaic was written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// `infer-vector-layout`: each operation says in which layouts it needs its operands.
    Inferred,
    /// `relayout-insertion`: each operand has the layout that is needed.
    Relayout,
}

impl<'a> Kernel<'a> {
    /// Reads the texts of a kernel.
    ///
    /// # Errors
    ///
    /// If Mosaic's text is not valid MLIR syntax, for example because the file was cut off.
    ///
    /// ```
    /// use xla_shape_mosaic::{Kernel, Texts};
    ///
    /// let schedule = "Schedule analysis:\n\ttotal scheduled bundles: 21\n\tempty scheduled bundles: 1\n";
    /// let kernel = Kernel::read(Texts { schedule: Some(schedule), ..Texts::default() })?;
    /// assert_eq!((kernel.bundles, kernel.operations), (Some(21), None)); // there is no text of operations
    /// # Ok::<(), xla_shape_mlir::MlirError>(())
    /// ```
    pub fn read(texts: Texts<'a>) -> Result<Self, MlirError> {
        let mut kernel = Self::of_bundles(texts);
        if let Some(text) = texts.relayout {
            let module = Module::parse(text)?;
            let instructions = texts.applied.and_then(|text| instructions(&module, &Module::parse(text).ok()?));
            kernel.not_read(
                "texts of the stage apply-vector-layout",
                u64::from(texts.applied.is_some() && instructions.is_none()),
            );
            kernel.read_operations(&module, Stage::Relayout, instructions);
        } else if let Some(text) = texts.inferred {
            kernel.read_operations(&Module::parse(text)?, Stage::Inferred, None);
        }
        Ok(kernel)
    }

    /// Reads all texts except Mosaic's.
    pub(crate) fn of_bundles(texts: Texts<'a>) -> Self {
        let mut kernel = Self { texts, ..Self::default() };
        let utilization = texts.utilization.map(Utilization::parse).unwrap_or_default();
        kernel.units = utilization.units().to_vec();
        kernel.not_read("lines of the utilization", utilization.unread());
        let schedule = texts.schedule.map(Schedule::parse).unwrap_or_default();
        (kernel.bundles, kernel.empty) = (schedule.total, schedule.empty);
        kernel.vmem_limit = schedule.instruction.and_then(vmem_limit);
        if let Some(text) = texts.bundles {
            let bundles = Bundles::parse(text);
            kernel.read_bundles(&bundles, &utilization);
            kernel.scheduled = Some(bundles);
        }
        kernel
    }

    /// The bundles that execute at most. It is more than [`least`](Self::least) if it is open whether a branch skips a bundle: that depends on values or on
    /// the core, or took too long to compute. `None` if `least` is not known, or a loop around such a bundle has unknown trips.
    #[must_use]
    pub fn most(&self) -> Option<u64> {
        let bundles = self.scheduled.as_ref()?;
        let found = loops(bundles);
        let least = least_executions(bundles, &found)?;
        let mut counts = least.iter().zip(executions(&found, least.len()));
        counts.try_fold(0, |sum: u64, (bundle, trips)| {
            Some(sum.saturating_add(if bundle.is_open { trips? } else { bundle.least }))
        })
    }

    pub(crate) fn not_read(&mut self, what: &str, times: u64) {
        if times > 0 {
            let known = self.unread.entry(what.to_owned()).or_default();
            *known = known.saturating_add(times);
        }
    }

    fn read_bundles(&mut self, bundles: &Bundles<'a>, utilization: &Utilization<'a>) {
        let all = bundles.bundles();
        self.not_read("bundles", bundles.unread());
        self.not_read("bundles that are cut off", u64::from(bundles.is_cut_off()));
        let (count, empty) = (all.len() as u64, bundles.empty() as u64);
        if self.bundles.is_some_and(|total| total != count) {
            self.not_read("differences between the bundles and their analysis", 1);
        }
        // If the file of bundles was cut off, the schedule analysis still has all counts.
        if self.bundles.is_none() || !bundles.is_cut_off() {
            (self.bundles, self.empty) = (Some(count), Some(empty));
        }
        let rows = utilization.rows();
        if !rows.is_empty() && rows.len() != all.len() {
            self.not_read("differences between the bundles and their utilization", 1);
        }
        let found = loops(bundles);
        let times = executions(&found, all.len());
        let least = least_executions(bundles, &found);
        self.least = least.map(|all| all.iter().fold(0, |sum: u64, bundle| sum.saturating_add(bundle.least)));
        if rows.len() == all.len() && times.iter().all(Option::is_some) {
            self.executed_units = utilization.units().iter().map(|unit| Unit { used: 0, ..*unit }).collect();
            for (row, times) in rows.iter().zip(times.iter().flatten()) {
                for (unit, used) in self.executed_units.iter_mut().zip(row) {
                    unit.used = unit.used.saturating_add(used.saturating_mul(*times));
                }
            }
        }
        self.scalar_spills = scalar_spills(all);
        let mut executed = Some(0_u64);
        let mut executed_empty = Some(0_u64);
        for (bundle, times) in all.iter().zip(times) {
            if bundle.is_empty() {
                executed_empty = sum(executed_empty, times);
            }
            executed = sum(executed, times);
            let mut here: BTreeMap<Source<'a>, u64> = BTreeMap::new();
            for slot in bundle.slots().iter().filter(|slot| !slot.is_pseudo()) {
                self.spills = self.spills.saturating_add(u64::from(slot.is_spill()));
                self.fills = self.fills.saturating_add(u64::from(slot.is_fill()));
                let [vectors, known] = &mut self.vector_slots;
                *vectors = vectors.saturating_add(u64::from(slot.is_vector()));
                if let Some(source) = slot.source() {
                    *known = known.saturating_add(u64::from(slot.is_vector()));
                    let slots = here.entry(source).or_default();
                    *slots = slots.saturating_add(1);
                }
            }
            for (source, slots) in here {
                let line = self.lines.entry(source).or_default();
                line.slots = line.slots.saturating_add(slots);
                line.bundles = line.bundles.saturating_add(1);
                line.executed = sum(line.executed, times);
            }
        }
        (self.executed, self.executed_empty) = (executed, executed_empty);
        self.loops = found.into_iter().map(|found| LoopUse::new(found, bundles, utilization)).collect();
    }

    fn read_operations(
        &mut self,
        module: &Module<'a>,
        stage: Stage,
        mut became: Option<BTreeMap<usize, Instructions<'a>>>,
    ) {
        self.not_read("lines of Mosaic's text", module.unread().len() as u64);
        let has_main = module.operations().iter().any(is_main);
        let (mut operations, mut count, mut relayouts, mut accesses) = (0_u64, 0_u64, Vec::new(), Vec::new());
        let mut operands = Operands::default();
        for (number, operation) in module.operations().iter().enumerate() {
            match operation.name() {
                "module" | "builtin.module" => {
                    self.name = self.name.take().or_else(|| symbol(operation));
                }
                "func.func" if is_main(operation) || (!has_main && self.windows.is_empty()) => {
                    self.read_function(operation)
                }
                _ => {}
            }
            let results = operation.attribute("out_layout").map(|text| self.layouts(text));
            let source = module.source(operation);
            let vectors = || last_types(operation);
            if let Some(results) = &results {
                operations = operations.saturating_add(1);
                let vectors = vectors();
                // The types of the results are the last ones.
                let types = results.iter().rev().zip(vectors.iter().rev()).rev();
                let values = types.filter_map(|(layout, vector)| {
                    let layout = (*layout)?;
                    let registers = registers(&layout, vector);
                    Some(VectorValue { operation: operation.name(), shape: plain(vector), layout, registers, source })
                });
                let values = values.collect::<Vec<_>>();
                let registers = values.iter().filter_map(|value| value.registers).fold(0, u64::saturating_add);
                self.values.extend(values);
                if let Some(source) = source {
                    let line = self.lines.entry(source).or_default();
                    line.operations = line.operations.saturating_add(1);
                    line.registers = line.registers.saturating_add(registers);
                }
            }
            let used = operands.next(operation);
            self.not_read("operations whose operands are not clear", u64::from(used.is_none()));
            let used = used.unwrap_or_default();
            if is_relayout(operation) {
                let before = operation.attribute("in_layout").and_then(|text| layout_texts(text).next());
                let after = operation.attribute("out_layout").and_then(|text| layout_texts(text).next());
                let repeated = used.first().is_some_and(|operand| operand.repeated);
                let [before, after] = [before, after].map(Option::unwrap_or_default);
                let mut relayout = Relayout::new(before, after, vectors().last(), repeated, source);
                relayout.instructions = became.as_mut().and_then(|became| became.remove(&number));
                relayout.free = relayout.instructions.as_ref().map(BTreeMap::is_empty).or(relayout.free);
                self.add_relayout(relayout, &mut relayouts);
            } else {
                count = count.saturating_add(used.len() as u64);
                // The compiler inserts a relayout wherever the two layouts differ.
                for operand in used.iter().filter(|operand| stage == Stage::Inferred && operand.from != operand.to) {
                    let Operand { from, to, vector, repeated } = operand;
                    operations = operations.saturating_add(1);
                    self.add_relayout(Relayout::new(from, to, vector.as_ref(), *repeated, source), &mut relayouts);
                }
            }
            let (loads, stores) = (operation.name().ends_with("load"), operation.name().ends_with("store"));
            let layouts = if loads { results } else { operation.attribute("in_layout").map(|text| self.layouts(text)) };
            let layout = layouts.into_iter().flatten().next().flatten().filter(|_| loads || stores);
            if let (Some(layout), Some(vector)) = (layout, vectors().last())
                && layout.offsets().iter().any(|offset| !matches!(offset, Offset::Fixed(0) | Offset::Replicated))
            {
                let shape = plain(vector);
                accesses.push(Access { operation: operation.name(), layout, shape, source, relayouts: 0 });
            }
        }
        let mut with_offsets: BTreeMap<_, u64> = BTreeMap::new();
        for relayout in relayouts.iter().filter(|relayout| relayout.steps.iter().flatten().any(shifts)) {
            let layouts = [&relayout.from, &relayout.to].into_iter().filter_map(|text| text.parse().ok());
            for offsets in set_of(layouts.map(|layout| offsets(&layout))) {
                let times = with_offsets.entry(offsets).or_default();
                *times = times.saturating_add(1);
            }
        }
        for access in &mut accesses {
            access.relayouts = with_offsets.get(&offsets(&access.layout)).copied().unwrap_or(0);
        }
        // The text of another stage or of another compiler has no layouts, so the counts are not known.
        if operations > 0 {
            (self.operations, self.operands, self.relayouts) = (Some(operations), Some(count), Some(relayouts));
        } else {
            self.not_read("texts without vector layouts", 1);
        }
        self.unaligned = accesses;
    }

    fn add_relayout(&mut self, relayout: Relayout<'a>, relayouts: &mut Vec<Relayout<'a>>) {
        if relayout.steps.is_none() {
            self.not_read("relayouts", 1);
        }
        if let Some(source) = relayout.source {
            let line = self.lines.entry(source).or_default();
            line.relayouts = line.relayouts.saturating_add(1);
            let moves = relayout.free == Some(false);
            line.moving = line.moving.saturating_add(u64::from(moves));
        }
        relayouts.push(relayout);
    }

    /// The grid and the arguments of the kernel's function.
    fn read_function(&mut self, operation: &Operation<'a>) {
        let text = operation.texts().first().copied().unwrap_or("");
        self.grid = operation.attribute("iteration_bounds").and_then(bounds);
        let arguments = text.split_once('(').map_or("", |(_, rest)| rest);
        self.windows.clear();
        let moves = self.grid.as_ref().is_some_and(|grid| grid.iter().any(|&steps| steps > 1));
        let moved = if moves { 2 } else { 1 };
        let arguments = xla_shape_mlir::split_at_commas(arguments);
        let arguments = arguments.iter().filter_map(|argument| argument.trim().strip_prefix('%')).collect::<Vec<_>>();
        // The last arguments are scratch, in whatever memory.
        let scratch = arguments.len().saturating_sub(scratch_operands(operation));
        for (number, argument) in arguments.into_iter().enumerate() {
            let Some((name, of)) = argument.split_once(": ").filter(|(_, of)| of.starts_with("memref<")) else {
                continue;
            };
            if !of.contains("vmem") {
                continue;
            }
            let array = memory(argument);
            let shape = array.as_ref().map_or_else(|| of.to_owned(), ToString::to_string);
            let bytes = array.and_then(|array| array.byte_size());
            if bytes.is_none() {
                self.not_read("sizes of arguments", 1);
            }
            let buffers = if number < scratch { moved } else { 1 };
            self.windows.push(Window { name: name.to_owned(), shape, bytes, buffers });
        }
    }

    /// The layouts in an attribute; scalars have none. Counts the layouts that were not understood.
    fn layouts(&mut self, text: &str) -> Vec<Option<VectorLayout>> {
        let texts = layout_texts(text);
        let layouts =
            texts.map(|text| if text == "none" { Ok(None) } else { text.parse().map(Some).map_err(|_| text) });
        let mut found = Vec::new();
        for layout in layouts {
            match layout {
                Ok(layout) => found.push(layout),
                Err(text) => {
                    self.not_read(&alloc::format!("the vector layout {text}"), 1);
                    found.push(None);
                }
            }
        }
        found
    }
}

impl Default for Line {
    /// A line without operations and slots.
    fn default() -> Self {
        Self { operations: 0, registers: 0, relayouts: 0, moving: 0, bundles: 0, slots: 0, executed: Some(0) }
    }
}

impl<'a> Relayout<'a> {
    /// `repeated`: an equal vector has been changed to the same layout before.
    fn new(from: &str, to: &str, vector: Option<&ArrayShape>, repeated: bool, source: Option<Source<'a>>) -> Self {
        let (from, to) = (from.to_owned(), to.to_owned());
        let layouts = from.parse::<VectorLayout>().ok().zip(to.parse::<VectorLayout>().ok());
        let known = layouts.zip(vector).zip(vector.and_then(sizes));
        let steps = known.as_ref().and_then(|(((from, to), _), sizes)| from.relayout(to, sizes).ok());
        let free = known.as_ref().and_then(|(((from, to), _), sizes)| from.relayout_is_free(to, sizes).ok());
        let free = free.map(|free| free || repeated);
        let registers =
            known.and_then(|(((from, to), vector), _)| Some([registers(&from, vector)?, registers(&to, vector)?]));
        let shape = vector.map(plain).unwrap_or_default();
        Self { from, to, shape, source, steps, free, instructions: None, registers }
    }
}

impl<'a> LoopUse<'a> {
    fn new(found: Loop<'a>, bundles: &Bundles<'a>, utilization: &Utilization<'a>) -> Self {
        let count = found.last.saturating_sub(found.first) + 1;
        let inside = || bundles.bundles().iter().skip(found.first).take(count);
        let slots = |wanted: fn(&Slot<'a>) -> bool| {
            inside().flat_map(|bundle| bundle.slots()).filter(|slot| wanted(slot)).count() as u64
        };
        let mut units = utilization.units().iter().map(|unit| Unit { used: 0, ..*unit }).collect::<Vec<_>>();
        // A row of the utilization is a bundle; with another number of rows, it is of another program.
        if utilization.rows().len() == bundles.bundles().len() {
            for row in utilization.rows().iter().skip(found.first).take(count) {
                units.iter_mut().zip(row).for_each(|(unit, used)| unit.used = unit.used.saturating_add(*used));
            }
        }
        let sources = inside().flat_map(|bundle| bundle.slots()).filter_map(Slot::source);
        let mut files: BTreeMap<&str, (u64, Source<'a>, Source<'a>)> = BTreeMap::new();
        for source in sources {
            let (times, first, last) = files.entry(source.file).or_insert((0, source, source));
            (*times, *first, *last) = (times.saturating_add(1), (*first).min(source), (*last).max(source));
        }
        // A loop may have instructions of functions from other files: the file with the most instructions is named.
        let lines = files.into_values().max_by_key(|(times, ..)| *times).map(|(_, first, last)| (first, last));
        Self {
            bundles: count as u64,
            empty: inside().filter(|bundle| bundle.is_empty()).count() as u64,
            spills: slots(Slot::is_spill),
            fills: slots(Slot::is_fill),
            scalar_spills: scalar_spills(inside()),
            waits: slots(Slot::is_wait),
            units,
            lines,
            found,
        }
    }
}

/// The stores and the loads of scalar registers, because there are too few.
fn scalar_spills<'a: 'b, 'b>(bundles: impl IntoIterator<Item = &'b Bundle<'a>>) -> [u64; 2] {
    let slots = bundles.into_iter().flat_map(|bundle| bundle.slots()).filter(|slot| slot.is_of_scalar_spill());
    let (stores, loads): (Vec<_>, Vec<_>) = slots.partition(|slot| slot.is_spill());
    [stores, loads].map(|slots| slots.len() as u64)
}

fn sum(total: Option<u64>, more: Option<u64>) -> Option<u64> {
    total.zip(more).map(|(total, more)| total.saturating_add(more))
}

/// Whether an operation is the kernel's function, not one that computes the place of a block.
pub(crate) fn is_main(operation: &Operation<'_>) -> bool {
    operation.attributes().iter().any(|(name, _)| name.ends_with(".main"))
}

/// The bounds of a grid, such as 2 and 4 of `array<i64: 2, 4>`; `None` if one depends on values.
pub(crate) fn bounds(text: &str) -> Option<Vec<u64>> {
    let (_, bounds) = text.split_once(": ")?;
    bounds.trim_end_matches('>').split(',').map(|bound| bound.trim().parse().ok()).collect()
}

/// The symbol that an operation defines, such as `k` of `module @k`.
pub(crate) fn symbol(operation: &Operation<'_>) -> Option<String> {
    let (_, name) = operation.texts().first()?.split_once('@')?;
    let name = match name.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => name.split(|c: char| c.is_whitespace() || matches!(c, '(' | '{')).next()?,
    };
    (!name.is_empty()).then(|| name.to_owned())
}

fn sizes(vector: &ArrayShape) -> Option<Vec<u64>> {
    let size = |dimension: &Dimension| match dimension {
        Dimension::Static(size) => Some(*size),
        _ => None,
    };
    vector.dimensions().iter().map(size).collect()
}

fn registers(layout: &VectorLayout, vector: &ArrayShape) -> Option<u64> {
    layout.registers(&sizes(vector)?).ok()
}

/// An array as text, without its layout.
fn plain(array: &ArrayShape) -> String {
    let text = array.to_string();
    text.split('{').next().unwrap_or("").to_owned()
}

/// Whether a step moves elements because of an offset.
const fn shifts(step: &RelayoutStep) -> bool {
    matches!(step, RelayoutStep::Rows { .. } | RelayoutStep::Columns { .. })
}

/// The offsets of a layout, to be compared and sorted; those of replicated dimensions are `None`.
fn offsets(layout: &VectorLayout) -> [Option<u64>; 2] {
    layout.offsets().map(|offset| match offset {
        Offset::Fixed(offset) => Some(offset),
        Offset::Replicated => None,
    })
}

/// The number of a kernel's last arguments that are scratch.
pub(crate) fn scratch_operands(function: &Operation<'_>) -> usize {
    let number = function.attribute("scratch_operands").and_then(|number| number.split(' ').next()?.parse().ok());
    number.unwrap_or(0)
}

/// The array of `memref<16x256xf32, …>`, without its tiles.
pub(crate) fn plain_memory(of: &str) -> Option<ArrayShape> {
    find_spelled_shapes(of).next()?.shape.array().cloned()
}

/// The array of `%x: memref<16x256xf32, #xir.tiled<(8,128),[2,1]>, …>`, with its tiles.
pub(crate) fn memory(argument: &str) -> Option<ArrayShape> {
    let plain_shape = plain(&plain_memory(argument)?);
    let Some((_, tiled)) = argument.split_once("tiled<") else { return plain_shape.parse().ok() };
    let tiles = tiled.split(",[").next()?;
    let rank = plain_shape.parse::<ArrayShape>().ok()?.dimensions().len();
    let order = (0..rank).rev().map(|number| number.to_string()).collect::<Vec<_>>().join(",");
    alloc::format!("{plain_shape}{{{order}:T{tiles}}}").parse().ok()
}
