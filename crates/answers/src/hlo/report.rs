//! The report on how much memory the values of a program take, as data.

use super::lists::{collectives, copies, grouped, value};
use super::memory::{Accuracy, AtPeak, Capacity, Memory, TOTALS, capacities, capacity_in};
use super::sharding::Shardings;
use super::starts::Starts;
use super::summary::Summary;
use crate::Answer;
use crate::device::Device;
use crate::digest::{self, Digest};
use crate::names;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::memory_space::{self, Platform};
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::{Account, Buffer, Footprint, Module, Opcode, Severity, Source, Timeline};
use xla_shape_program::{Program, ProgramMemory, Statistics};

/// How much memory the values of a program take, and what is wrong with its instructions.
///
/// `docs/schemas/hlo.json` describes its fields, and `docs/hlo-memory.md` what the numbers mean.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// The first line of the text; null if `memory` is null.
    pub summary: Option<Summary>,
    /// The name of the module; null if it has none.
    pub module: Option<String>,
    /// How many computations the module has.
    pub computations: usize,
    /// How many instructions the module has.
    pub instructions: usize,
    /// How many instructions the module has of each opcode.
    pub opcodes: BTreeMap<String, usize>,
    /// Null if the module has no entry computation, or an operand is used before its definition.
    pub memory: Option<Memory>,
    /// Whether the order of the instructions is the compiler's.
    pub scheduled: bool,
    /// Where the numbers of `memory` come from, and how accurate they are.
    pub accuracy: String,
    /// The accuracy as a value.
    #[serde(skip)]
    pub certainty: Accuracy,
    /// The kind of device that the program is for, which decides the names of memories.
    #[serde(skip)]
    pub platform: Platform,
    /// Whether a device is given.
    #[serde(skip)]
    pub has_device: bool,
    /// The compiler's own files that were used.
    pub files: Vec<String>,
    /// What is doubtful, and which files were ignored.
    pub notes: Vec<String>,
    /// The other modules of the directory or the profile.
    pub other_modules: Vec<String>,
    /// HBM and VMEM of the device; empty without --for, and for a program that is neither scheduled nor divided among its devices yet.
    pub capacity: Vec<Capacity>,
    /// Each memory space, as if every value had memory of its own.
    pub spaces: Vec<Space>,
    /// What is in HBM and VMEM, or in the memory space that --space picks, when it is fullest.
    pub at_peak: Vec<AtPeak>,
    /// What each device has of a program that is not partitioned yet; null for any other program.
    pub sharding: Option<Shardings>,
    /// Operations in which devices take part together.
    pub collectives: Vec<Collective>,
    /// What all collectives move along each axis of the devices' mesh, or along several axes together, the most bytes first.
    pub by_axis: Vec<AxisTraffic>,
    /// The largest copies.
    pub copies: Vec<Copied>,
    /// What is wrong, errors first.
    pub findings: Vec<Finding>,
    /// The shapes with the most padding, over all of their values.
    pub most_padded: Vec<Value>,
    /// The largest values.
    pub largest: Vec<Value>,
    /// Which tiles arrays have.
    pub tile_formats: Vec<TileFormat>,
    /// Copies, bitcasts and reshapes that change the layout.
    pub layout_changes: Vec<LayoutChange>,
}

/// The number of computations and instructions. An asynchronous operation in short form (such as `all-gather-start`) counts as the
/// long form that XLA reads it as: a start instruction and a computation.
struct Counts {
    computations: usize,
    instructions: usize,
    opcodes: BTreeMap<String, usize>,
}

impl Counts {
    fn new(module: &Module) -> Self {
        let mut counts = Self { computations: module.computations().len(), instructions: 0, opcodes: BTreeMap::new() };
        for instruction in module.instructions() {
            let opcode = instruction.opcode();
            let Some((step, operation)) = instruction.long_form() else {
                counts.add(opcode, 1);
                continue;
            };
            counts.add(step, 1);
            if step == Opcode::AsyncStart {
                counts.computations += 1;
                counts.add(Opcode::Parameter, instruction.operands().len());
                counts.add(operation, 1);
            }
        }
        counts
    }

    fn add(&mut self, opcode: Opcode<'_>, count: usize) {
        if count > 0 {
            self.instructions += count;
            *self.opcodes.entry(opcode.to_string()).or_insert(0) += count;
        }
    }
}

/// A finding of the module's check.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// An error is what XLA's verifier refuses; a hint is what it accepts and a person should look at.
    #[serde(serialize_with = "names::severity")]
    #[schemars(with = "String")]
    pub severity: Severity,
    /// The name of the instruction.
    pub instruction: String,
    /// What is wrong.
    pub message: String,
    /// Where in the text of the module: the first byte and the one after the last, counted from 0.
    pub span: [usize; 2],
    /// The finding as text.
    #[serde(skip)]
    pub text: String,
}

/// The findings of a module, errors first.
fn findings(module: &Module) -> Vec<Finding> {
    let mut found = module.check();
    sort_by_key(&mut found, |finding| core::cmp::Reverse(finding.severity()));
    let finding = |found: xla_shape_hlo::Finding<'_>| Finding {
        severity: found.severity(),
        instruction: found.instruction().name().to_owned(),
        message: found.problem().to_string(),
        span: [found.span().start, found.span().end],
        text: found.to_string(),
    };
    found.into_iter().map(finding).collect()
}

/// The least number of instructions of a module that is checked on a thread of its own: a thread takes as long to start as some hundreds take to check.
const MANY: usize = 2_000;

/// The findings of a module, and what `meanwhile` returns. A large module is checked on a thread of its own, unless the system has none to give.
fn with_findings<T>(module: &Module, meanwhile: impl FnOnce() -> T) -> (Vec<Finding>, T) {
    if cfg!(target_family = "wasm") || module.instructions().len() < MANY {
        return (findings(module), meanwhile());
    }
    std::thread::scope(|scope| {
        let checking = std::thread::Builder::new().spawn_scoped(scope, || findings(module));
        let other = meanwhile();
        let found = checking.map_or_else(
            |_| findings(module),
            |checking| checking.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
        );
        (found, other)
    })
}

/// The parameters and values in one memory space, as if each had memory of its own.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Space {
    /// Its number.
    pub space: u8,
    /// The bytes of parameters and all values.
    pub bytes: u64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
    /// How many values there are, without parameters.
    pub values: usize,
    /// The bytes of the parameters.
    pub parameter_bytes: u64,
    /// The bytes of the results.
    pub result_bytes: u64,
    /// The most bytes that are live at one time; null without a schedule.
    pub peak_bytes: Option<u64>,
    /// The instruction at which these bytes are live; null without a schedule.
    pub peak_at: Option<String>,
}

/// A value, or several of one shape.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Value {
    /// The name of the instruction.
    pub name: String,
    /// Which array of the instruction's value, from 0: the value may be a tuple.
    pub leaf: usize,
    /// The opcode of the instruction.
    pub opcode: String,
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The bytes of one value, with padding.
    pub bytes: u64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
    /// `bytes` divided by the bytes of the elements alone; null for an array without elements.
    pub expansion: Option<f64>,
    /// How many values have this shape; 1 in `largest`.
    pub values: usize,
    /// The bytes of all of these values.
    pub all_bytes: u64,
    /// How many of `all_bytes` are padding.
    pub all_padding_bytes: u64,
    /// Where it comes from.
    #[serde(flatten)]
    pub place: Place,
}

/// Where something comes from in the user's program.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Place {
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file of the user's program; null if the module has none.
    pub file: Option<String>,
    /// The line in the file; null if the module has none.
    pub line: Option<usize>,
}

impl Place {
    pub(crate) fn new(source: Source<'_>) -> Self {
        Self {
            op_name: source.op_name.map(std::borrow::Cow::into_owned),
            file: source.file.map(std::borrow::Cow::into_owned),
            line: source.line,
        }
    }

    /// The file and the line, such as `train.py:43`; the op_name if the file is not known.
    pub fn shown(&self) -> Option<String> {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => Some(format!("{file}:{line}")),
            (Some(file), None) => Some(file.clone()),
            (None, _) => self.op_name.clone(),
        }
    }
}

/// A collective operation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Collective {
    /// The name of the instruction.
    pub name: String,
    /// The opcode.
    pub opcode: String,
    /// XLA's name of the element type; null if the operand is not an array.
    pub element_type: Option<String>,
    /// The bytes of the operands on one device, in each run.
    pub bytes_in: u64,
    /// The bytes of the results on one device, in each run.
    pub bytes_out: u64,
    /// The groups of devices, or the pairs, as the module writes them; null if it does not.
    pub groups: Option<String>,
    /// The axes of the devices' mesh along which it communicates, from major to minor; empty if the module names no mesh, or if it communicates along
    /// no axis.
    pub axes: Vec<String>,
    /// How many places along the axis each device sends its data, such as 1 for the next device; null if this is not the same for all devices.
    pub shift: Option<i64>,
    /// XLA's text of the first operand on one device; null if it has none.
    pub operand: Option<String>,
    /// If the first operand is an argument: the user's name of it; otherwise null.
    pub argument: Option<String>,
    /// How often it runs; null if a loop around it does not say.
    pub runs: Option<u64>,
    /// Where it comes from.
    #[serde(flatten)]
    pub place: Place,
}

/// What collectives move along axes of the devices' mesh.
///
/// ```
/// use xla_shape_answers::hlo::Report;
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
///
/// let program = Program::from(Module::parse("\
/// HloModule m, is_scheduled=true, num_partitions=4
/// ENTRY e { p = f32[8]{0} parameter(0), metadata={op_name=\"x\"}
///   s = f32[8]{0} collective-permute(p), source_target_pairs={{0,1},{1,0},{2,3},{3,2}}
///   ROOT g = f32[16]{0} all-gather(s), replica_groups=mesh['d'=2,'m'=2] {'d'}, dimensions={0} }")?);
/// let report = Report::new(&program.memory(None), None, 10, None);
/// let along = report.by_axis.iter().map(|found| (found.axes[0].as_str(), found.collectives, found.bytes));
/// assert_eq!(along.collect::<Vec<_>>(), [("d", 1, Some(32)), ("m", 1, Some(32))]);
/// let permute = report.collectives.iter().find(|found| found.name == "s").unwrap();
/// assert_eq!((permute.shift, permute.argument.as_deref()), (Some(1), Some("x")));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct AxisTraffic {
    /// The axes, from major to minor.
    pub axes: Vec<String>,
    /// How many collectives communicate along them.
    pub collectives: usize,
    /// The bytes of their operands on one device in all their runs; null if the trip count of a loop is not known.
    pub bytes: Option<u64>,
}

/// A copy, and the instructions that read it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Copied {
    /// The name of the instruction.
    pub name: String,
    /// The opcode.
    pub opcode: String,
    /// The shape of the copy, with its layout.
    pub shape: String,
    /// The bytes of the copy.
    pub bytes: u64,
    /// The memory space of the source.
    pub from_space: u8,
    /// The memory space of the copy.
    pub to_space: u8,
    /// Instructions that read the copy, at most three.
    pub read_by: Vec<String>,
}

/// Arrays of one element type in the same tiles.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TileFormat {
    /// The element type and the tiles.
    pub format: String,
    /// How many arrays.
    pub arrays: usize,
    /// Their bytes, with padding.
    pub bytes: u64,
    /// How many of `bytes` are padding.
    pub padding_bytes: u64,
}

/// A change of the layout.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LayoutChange {
    /// The name of the instruction.
    pub name: String,
    /// The opcode.
    pub opcode: String,
    /// The shape before.
    pub from: String,
    /// The shape after.
    pub to: String,
    /// The bytes that are read and written; 0 if no byte moves, as in a bitcast.
    pub moved_bytes: u64,
    /// Where it comes from.
    #[serde(flatten)]
    pub place: Place,
}

/// The kind of device that the program shows; if it shows none, that of the named device.
fn platform(module: &Module, device: Option<Device>) -> Platform {
    match (module.platform(), device) {
        (Platform::Other, Some(device)) => device.platform(),
        (platform, _) => platform,
    }
}

impl Answer for Report {
    const SCHEMA: &'static str = "xla-shape/hlo/1";

    /// The largest arrays at the peak of the first memory space.
    fn digest(&self) -> Digest {
        let errors = self.findings.iter().map(|finding| digest::Cause {
            name: format!("%{}", finding.instruction),
            because: Some(format!("{}: {}", finding.severity.name(), finding.message)),
            ..digest::Cause::default()
        });
        let residents = self.at_peak.first().map(|peak| peak.largest.as_slice()).unwrap_or_default();
        let largest = residents.iter().map(|resident| digest::Cause {
            name: format!("%{}", resident.name),
            amount: Some(digest::Amount::Bytes(resident.bytes)),
            source: resident.source().or_else(|| resident.op_name.clone()),
            because: Some(format!("{} {}", resident.role.name(), resident.shape)),
            remedy: resident.remedy.as_ref().map(ToString::to_string),
        });
        let show = residents.first().map(|largest| digest::show(&largest.name));
        // Padding of less than a hundredth of the memory is not worth a command.
        let needed = self.summary.as_ref().map_or(0, |summary| summary.needed_bytes);
        let matters = |padded: &&Value| padded.padding_bytes > 0 && padded.padding_bytes >= needed / 100;
        let advise =
            self.most_padded.first().filter(matters).map(|padded| vec!["advise".into(), padded.shape.clone().into()]);
        let cost = vec!["cost".into(), digest::Word::File(0)];
        let next = show.into_iter().chain([cost]).chain(advise).collect();
        // The largest array always comes first, however many findings there are.
        let causes = largest.clone().take(1).chain(errors.take(1)).chain(largest.skip(1));
        Digest { causes: causes.take(digest::MOST).collect(), next }
    }
}

impl Report {
    /// Reports on a program, for the device into which it must fit. Lists have at most `top` entries; `only` picks a memory space.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_answers::Answer;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::{Device, Report};
    ///
    /// let text = "HloModule m\nENTRY e { ROOT p = f32[8,100]{1,0:T(8,128)} parameter(0) }";
    /// let program = Program::from(Module::parse(text)?);
    /// let report = Report::new(&program.memory(None), None, 10, None);
    /// assert!(report.json().contains("\"needed_bytes\":4096"));
    /// let device = Device::Generation(Generation::V6e);
    /// let report = Report::new(&program.memory(device.generation()), Some(device), 10, None);
    /// assert!(report.json().contains("\"generation\":\"v6e\",\"gpu\":null,\"assumed\":false"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// The report on a program with a copy:
    ///
    /// ```
    /// use xla_shape_answers::hlo::Report;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    ///
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    ///   p = f32[8,100]{1,0:T(8,128)} parameter(0)
    ///   ROOT c = f32[8,100]{0,1:T(8,128)} copy(p)
    /// }";
    /// let program = Program::from(Module::parse(text)?);
    /// let report = Report::new(&program.memory(None), None, 10, None);
    /// let device = &report.memory.as_ref().unwrap().device;
    /// assert_eq!((device.arguments, device.outputs), (4096, 104 * 128 * 4));
    /// assert_eq!(report.summary.as_ref().unwrap().largest.as_ref().unwrap().name, "c");
    /// assert_eq!((report.spaces[0].parameter_bytes, report.tile_formats[0].arrays), (4096, 2));
    /// assert_eq!((report.largest[0].padding_bytes, report.largest[0].place.line), (104 * 128 * 4 - 3200, None));
    /// let peak = &report.at_peak[0];
    /// assert_eq!((peak.largest[0].name.as_str(), peak.by_opcode[0].values), ("c", 1));
    /// assert_eq!((report.layout_changes[0].name.as_str(), report.layout_changes[0].moved_bytes), ("c", 4096 + 104 * 128 * 4));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// The report on a program with shardings, on a device with a host:
    ///
    /// ```
    /// use xla_shape_answers::hlo::{Device, Report, memory::Accuracy};
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    ///
    /// let text = "HloModule m, is_scheduled=true, num_partitions=4
    /// ENTRY e {
    ///   p = f32[8,128]{1,0:T(8,128)} parameter(0), sharding={devices=[4,1]<=[4]}
    ///   q = f32[8,128]{1,0:T(8,128)S(5)} parameter(1), sharding={replicated}
    ///   ROOT r = f32[8,128]{1,0:T(8,128)} negate(p), metadata={op_name=\"step/layer/neg\"}
    /// }";
    /// let program = Program::from(Module::parse(text)?);
    /// let report = Report::new(&program.memory(None), Some(Device::Generation(Generation::V5e)), 10, None);
    /// assert_eq!((report.memory.as_ref().unwrap().host.arguments, report.certainty), (4096, Accuracy::Estimate));
    /// assert_eq!((report.capacity[1].space, report.capacity[1].bytes), (1, 128 << 20), "VMEM");
    /// assert_eq!((report.at_peak[0].scopes[1].name.as_str(), report.at_peak[0].scopes[1].values), ("step/layer", 1));
    /// let shardings = report.sharding.as_ref().unwrap();
    /// assert_eq!((shardings.devices, shardings.parameters.arrays), (4, 2));
    /// assert_eq!(shardings.shardings[0].sharding, "{replicated}");
    /// assert_eq!((shardings.replicated[0].name.as_str(), shardings.replicated[0].replication), ("q", 4));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    ///
    /// Findings, collectives between devices, and copies between memories:
    ///
    /// ```
    /// # use {xla_shape_answers::hlo::Report, xla_shape_hlo::{Module, Severity}, xla_shape_program::Program};
    /// let text = "HloModule m, is_scheduled=true, num_partitions=2
    /// sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
    /// ENTRY e {
    ///   p = f32[8,128]{1,0:T(8,128)} parameter(0)
    ///   r = f32[8,128]{1,0:T(8,128)} all-reduce(p), replica_groups={{0,1}}, to_apply=sum
    ///   c = f32[8,128]{1,0:T(8,128)S(1)} copy(r)
    ///   ROOT n = f32[8,64]{1,0:T(8,128)} negate(c)
    /// }";
    /// let program = Program::from(Module::parse(text)?);
    /// let report = Report::new(&program.memory(None), None, 10, None);
    /// let (all_reduce, copy, wrong) = (&report.collectives[0], &report.copies[0], &report.findings[0]);
    /// assert_eq!((all_reduce.bytes_in, all_reduce.groups.as_deref()), (4096, Some("{{0,1}}")));
    /// assert_eq!(all_reduce.operand.as_deref(), Some("f32[8,128]{1,0:T(8,128)}"));
    /// assert!(report.by_axis.is_empty(), "no collective names a mesh");
    /// assert_eq!((copy.to_space, copy.read_by[0].as_str()), (1, "n"));
    /// assert_eq!((wrong.severity, wrong.instruction.as_str()), (Severity::Error, "n"), "it has other sizes than its operand");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(memory: &ProgramMemory<'_>, device: Option<Device>, top: usize, only: Option<u8>) -> Self {
        let (findings, report) =
            with_findings(memory.program().module(), || Self::unchecked(memory, device, top, only));
        Self { findings, ..report }
    }

    /// The memory of a program on this device, and the report on it. Takes less time than [`ProgramMemory`] and [`new`](Self::new) one after the
    /// other: the memory of a large program is counted while its instructions are checked.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::{Device, Report};
    ///
    /// let text = "HloModule m\nENTRY e { ROOT p = f32[8,100]{1,0:T(8,128)} parameter(0) }";
    /// let program = Program::from(Module::parse(text)?);
    /// let (memory, report) = Report::with_memory(&program, Some(Device::Generation(Generation::V6e)), 10, None);
    /// assert_eq!(memory.values().buffers().len(), 1);
    /// assert_eq!(report.summary.unwrap().needed_bytes, 4096);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_memory(
        program: &Program,
        device: Option<Device>,
        top: usize,
        only: Option<u8>,
    ) -> (ProgramMemory<'_>, Self) {
        let (findings, (memory, report)) = with_findings(program.module(), || {
            let memory = program.memory(device.and_then(Device::generation));
            let report = Self::unchecked(&memory, device, top, only);
            (memory, report)
        });
        (memory, Self { findings, ..report })
    }

    /// The report without findings.
    fn unchecked(memory: &ProgramMemory<'_>, device: Option<Device>, top: usize, only: Option<u8>) -> Self {
        let report = Self::unchecked_values(memory.values(), memory.timeline(), device, top, only);
        let report = memory.statistics().into_iter().fold(report, Self::with_statistics);
        let [files, mut notes, other_modules] =
            [memory.files(), memory.notes(), memory.program().others()].map(<[String]>::to_vec);
        let summary = report.summary.map(|summary| summary.with_program(memory.program()));
        if summary.as_ref().is_some_and(Summary::is_too_large) {
            notes.extend(super::donation::note(memory.program().module()));
        }
        Self { summary, files, notes, other_modules, ..report }
    }

    /// Reports on values and their timeline, without files of the compiler.
    pub fn of_values<'m>(
        memory: &xla_shape_hlo::Memory<'m>,
        timeline: Option<&Timeline<'m>>,
        device: Option<Device>,
        top: usize,
        only: Option<u8>,
    ) -> Self {
        let (findings, report) =
            with_findings(memory.module(), || Self::unchecked_values(memory, timeline, device, top, only));
        Self { findings, ..report }
    }

    /// The report on values, without findings.
    fn unchecked_values<'m>(
        memory: &xla_shape_hlo::Memory<'m>,
        timeline: Option<&Timeline<'m>>,
        device: Option<Device>,
        top: usize,
        only: Option<u8>,
    ) -> Self {
        let module = memory.module();
        let account = timeline.map(Timeline::account);
        let wanted = |space: u8| only.is_none_or(|only| only == space);
        let peaks = timeline.filter(|timeline| timeline.is_scheduled()).map(Timeline::peaks);
        let (starts, certainty) = (Starts::new(module), Accuracy::new(timeline));
        let spaces = memory.usage().into_iter().filter(|(space, _)| wanted(*space)).map(|(space, usage)| {
            let peak = peaks.as_ref().and_then(|peaks| peaks.get(&space));
            let sum = |part: fn(Footprint) -> u64| part(usage.parameters).saturating_add(part(usage.values));
            Space {
                space,
                bytes: sum(|footprint| footprint.bytes),
                padding_bytes: sum(Footprint::padding_bytes),
                values: usage.num_values,
                parameter_bytes: usage.parameters.bytes,
                result_bytes: usage.results.bytes,
                peak_bytes: peak.map(|peak| peak.bytes),
                peak_at: peak.map(|peak| starts.name(peak.at).to_owned()),
            }
        });
        let spaces = spaces.collect();
        let in_space = only.map(|only| memory.in_space(only));
        let here = in_space.as_ref().unwrap_or(memory);
        let mut largest = here.largest(top);
        largest.retain(|buffer| buffer.footprint.bytes > 0);
        let is_padded = |buffer: &&Buffer<'_>| buffer.footprint.padding_bytes() > 0;
        let padded = here.most_padded(here.buffers().iter().filter(is_padded).count());
        let counts = Counts::new(module);
        let tile_formats = here.tile_formats().into_iter().map(|(format, usage)| TileFormat {
            format,
            arrays: usage.arrays,
            bytes: usage.footprint.bytes,
            padding_bytes: usage.footprint.padding_bytes(),
        });
        let mut tile_formats = tile_formats.collect::<Vec<_>>();
        sort_by_key(&mut tile_formats, |format| std::cmp::Reverse(format.bytes));
        let sources = module.sources();
        let (collectives, by_axis) = collectives(module, &starts, top);
        let mut changes = memory.layout_changes();
        changes.retain(|change| wanted(change.to.layout().memory_space()));
        sort_by_key(&mut changes, |change| {
            (std::cmp::Reverse(change.moved_bytes), starts.named(change.instruction).number())
        });
        Self {
            summary: account.map(|account| Summary::new(module, timeline, &starts, device, account)),
            module: module.name().map(str::to_owned),
            computations: counts.computations,
            instructions: counts.instructions,
            opcodes: counts.opcodes,
            memory: account.map(Memory::new),
            scheduled: module.is_scheduled(),
            accuracy: certainty.note(),
            certainty,
            platform: platform(module, device),
            has_device: device.is_some(),
            files: Vec::new(),
            notes: Vec::new(),
            other_modules: Vec::new(),
            capacity: device
                .zip(account)
                .filter(|_| !matches!(certainty, Accuracy::Undivided { .. }))
                .map_or_else(Vec::new, |(device, account)| capacities(device, account)),
            spaces,
            at_peak: at_peak(module, timeline, &starts, top, only),
            sharding: Shardings::new(module, device, top),
            collectives,
            by_axis,
            copies: copies(memory, &starts, &wanted, top),
            findings: Vec::new(),
            most_padded: grouped(&sources, &starts, padded, top),
            largest: largest.iter().map(|buffer| value(&sources, &starts, buffer)).collect(),
            tile_formats,
            layout_changes: changes
                .into_iter()
                .take(top)
                .map(|change| LayoutChange {
                    name: starts.name(change.instruction).to_owned(),
                    opcode: starts.opcode(change.instruction),
                    from: change.from.to_string(),
                    to: change.to.to_string(),
                    moved_bytes: change.moved_bytes,
                    place: Place::new(starts.source(&sources, change.instruction)),
                })
                .collect(),
        }
    }
}

impl Report {
    /// Replaces the totals by those of the compiler's memory analysis, and adds the bytes of the program's code.
    ///
    /// ```
    /// use xla_shape_hlo::{Account, Module};
    /// use xla_shape_answers::Answer;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::Report;
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?);
    /// let report = Report::new(&program.memory(None), None, 10, None).with_account(&Account::default(), 7, None);
    /// assert!(report.json().contains("\"generated_code\":7"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_account(self, account: &Account, generated_code: u64, device: Option<Device>) -> Self {
        let space = memory_space::DEFAULT;
        let memory = Memory::with_code(account, generated_code);
        let hbm = device.and_then(|device| capacity_in(device, space, memory.device.used()));
        let others = self.capacity.into_iter().filter(|capacity| capacity.space != space);
        let capacity = hbm.into_iter().chain(others).collect();
        let summary = self.summary.map(|summary| summary.divided().with_needed(memory.device.used()));
        let (accuracy, certainty) = (TOTALS.to_owned(), Accuracy::Totals);
        Self { summary, memory: Some(memory), capacity, accuracy, certainty, has_device: device.is_some(), ..self }
    }

    /// The severity of the worst finding; `None` without findings.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, Severity};
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::Report;
    ///
    /// let text = "HloModule m\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[9] negate(p) }";
    /// let program = Program::from(Module::parse(text)?);
    /// assert_eq!(Report::new(&program.memory(None), None, 10, None).worst(), Some(Severity::Error));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        let is_there = |severity: &Severity| self.findings.iter().any(|found| found.severity == *severity);
        [Severity::Error, Severity::Hint].into_iter().find(is_there)
    }
}

impl Report {
    /// Adds the size of the code, which only the compiler's memory analysis has.
    fn with_statistics(mut self, statistics: &Statistics) -> Self {
        if let Some(memory) = &mut self.memory {
            memory.device.generated_code = statistics.generated_code();
            memory.device.peak_is_computed = statistics.peak().is_none();
        }
        let needed = self.memory.as_ref().map(|memory| memory.device.used());
        self.summary = self.summary.zip(needed).map(|(summary, needed)| summary.with_needed(needed));
        // The code is in HBM, too.
        let code = statistics.generated_code().unwrap_or(0);
        let with_code = |capacity: Capacity| match capacity.space {
            memory_space::DEFAULT => capacity.with_more(code),
            _ => capacity,
        };
        self.capacity = self.capacity.into_iter().map(with_code).collect();
        self
    }
}

fn at_peak<'m>(
    module: &'m Module,
    timeline: Option<&Timeline<'m>>,
    starts: &Starts<'m>,
    top: usize,
    only: Option<u8>,
) -> Vec<AtPeak> {
    let spaces = only.map_or_else(|| vec![memory_space::DEFAULT, memory_space::GENERIC_FAST], |only| vec![only]);
    spaces.into_iter().filter_map(|space| AtPeak::new(module, timeline?, starts, space, top)).collect()
}

#[cfg(test)]
mod tests {
    use super::{MANY, Report};
    use std::fmt::Write as _;
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    #[test]
    fn a_large_module_has_the_findings_of_a_small_one() {
        let report = |count: usize| {
            let mut text = "HloModule m, is_scheduled=true\nENTRY e {\n  n0 = f32[8]{0} parameter(0)\n".to_owned();
            for number in 1..count {
                let _ = writeln!(text, "  n{number} = f32[8]{{0}} negate(n{})", number - 1);
            }
            text.push_str("  ROOT wrong = f32[9]{0} negate(n0)\n}\n");
            let program = Program::from(Module::parse(&text).unwrap());
            let (memory, report) = Report::with_memory(&program, None, 10, None);
            let again = Report::new(&memory, None, 10, None);
            for report in [&report, &again] {
                assert_eq!(report.instructions, count + 1);
                let found: Vec<_> = report.findings.iter().map(|found| found.instruction.as_str()).collect();
                assert_eq!(found, ["wrong"]);
            }
            report.findings[0].message.clone()
        };
        assert_eq!(report(MANY), report(2), "checked on a thread of its own, and on the same one");
    }
}
