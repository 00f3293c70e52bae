//! The measurements of a profile, joined with the program's module: by line, scope and opcode, and each copy with its cause.

use super::estimates::{DIFFERS, Estimates, Expected};
use super::{Cause, Changed, Collective, CopyCost, Remedy, Spread};
use crate::amount::{Amount, Seconds};
use crate::digest::{self, Digest};
use crate::source::{scope_of, source_text};
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use xla_shape_core::gpu::Gpu;
use xla_shape_core::sorting::{map_of, set_of, sort, sort_by_key};
use xla_shape_hlo::cost::{Costs, InstructionCost};
use xla_shape_hlo::profile::{InstructionTimes, Profile, ProfiledModule, Run};
use xla_shape_hlo::{Instruction, Opcode, Readers, Sources};
use xla_shape_program::Program;

/// The text for the scope of instructions that the module lacks.
pub(super) const NOT_IN_MODULE: &str = "(not in the module)";

/// What a profile measured of a program. All times are whole picoseconds, over all runs and devices unless they say otherwise.
///
/// ```
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_program::Program;
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb"));
/// let program = Program::read("train.xplane.pb", bytes.to_vec())?;
/// let measured = ProgramCost::of(&program).unwrap().measured.unwrap();
/// assert_eq!(measured.runs.unwrap().count, 6, "three on each of two devices");
/// assert_eq!(measured.lines[0].source.as_deref(), Some("train.py:8"));
/// assert_eq!(measured.scopes[0].scope, "jit(step)/mlp");
/// assert_eq!(measured.opcodes[0].opcode.as_deref(), Some("fusion"));
/// assert_eq!(measured.instructions[0].times.count, 6);
/// assert_eq!(measured.copies[0].source.as_deref(), Some("train.py:4"));
/// assert_eq!((measured.collectives.len(), measured.modules[0].module.as_str()), (0, "jit_step(6)"));
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// The module's name in the profile, with the number of its program.
    pub module: String,
    /// What the profile calls the device; null if it does not say.
    pub device: Option<String>,
    /// On how many devices the program ran; null if the profile does not say.
    pub devices: Option<usize>,
    /// The runs of the program; null if the profile does not say when they began and ended.
    pub runs: Option<Runs>,
    /// The sum of the times of all instructions. What ran inside a loop counts once: in its own row, not in the loop's. The times of a CPU's threads
    /// are added, even if they ran at the same time.
    pub picoseconds: u64,
    /// The part of these times in which instructions only moved data, from 0 to 1.
    pub moved: f64,
    /// The bytes per second that the device's memory can move at most; null if neither the profile nor the device's name says.
    pub peak_bytes_per_second: Option<u64>,
    /// The floating-point operations per second that the device can do at most; null if the profile does not say.
    pub peak_flops_per_second: Option<u64>,
    /// For a TPU: how many picoseconds each of the compiler's cycles took. This is the median over the instructions, weighted by their times; null if
    /// too few instructions have cycles. An estimate is this number times the cycles, so estimates only show which instructions differ from the
    /// others.
    pub picoseconds_per_cycle: Option<f64>,
    /// The instructions that only move data, or compute more than they must, the longest time first.
    pub copies: Vec<MeasuredCopy>,
    /// The times by source line.
    pub lines: Vec<MeasuredLine>,
    /// The times by scope of the user's program.
    pub scopes: Vec<MeasuredScope>,
    /// The times by opcode.
    pub opcodes: Vec<MeasuredOpcode>,
    /// The instructions that ran, the longest time first.
    pub instructions: Vec<MeasuredInstruction>,
    /// Operations in which devices take part together, the longest time first.
    pub collectives: Vec<MeasuredCollective>,
    /// All modules of the profile, the longest time first.
    pub modules: Vec<MeasuredModule>,
    /// How many instructions of the profile are not in the module. Their times count, without a line.
    pub unknown_instructions: usize,
    /// Events of the profile that end before they begin. They do not count.
    pub impossible_events: u64,
    /// Events of the profile that begin during another event of the same line and end after it. Both events count in full.
    pub overlapping_events: u64,
    /// Events of instructions whose program the profile does not name. They do not count.
    pub unassigned_events: u64,
}

/// How long the runs of a program took on each device, in picoseconds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Runs {
    /// The number of runs, on all devices.
    pub count: usize,
    /// The sum.
    pub picoseconds: u64,
    /// The mean.
    pub mean_picoseconds: u64,
    /// The shortest one.
    pub shortest_picoseconds: u64,
    /// The longest one.
    pub longest_picoseconds: u64,
    /// The median of the runs' times, and the middle half.
    #[serde(flatten)]
    pub spread: Spread,
    /// The time in which at least one instruction ran, in all runs together.
    pub busy_picoseconds: u64,
    /// The time in which no instruction ran, in all runs together.
    pub idle_picoseconds: u64,
    /// The time between each run and the next one on the same device.
    pub between_picoseconds: u64,
}

/// A source line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredLine {
    /// The file and the line, such as "train.py:43"; null for instructions without one.
    pub source: Option<String>,
    /// The times of its instructions.
    pub picoseconds: u64,
    /// Its share of the times of all instructions, from 0 to 1.
    pub share: f64,
    /// How many instructions.
    pub instructions: usize,
}

/// A scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredScope {
    /// The op_name without its last part.
    pub scope: String,
    /// The times of its instructions.
    pub picoseconds: u64,
    /// Its share of the times of all instructions, from 0 to 1.
    pub share: f64,
    /// How many instructions.
    pub instructions: usize,
}

/// An opcode.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredOpcode {
    /// The opcode; null for instructions that the module does not have.
    pub opcode: Option<String>,
    /// The times of its instructions.
    pub picoseconds: u64,
    /// Its share of the times of all instructions, from 0 to 1.
    pub share: f64,
    /// How many instructions.
    pub instructions: usize,
}

/// How long an instruction took.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Times {
    /// How many events it has. On a GPU, each kernel is one event.
    pub count: u64,
    /// How often it was executed: less than `count` if an execution has several kernels on a GPU, and null if these kernels did not run equally
    /// often. The mean time of an execution is `total_picoseconds` divided by this number.
    pub executions: Option<u64>,
    /// The sum of its own times, without the instructions that ran inside of it.
    pub picoseconds: u64,
    /// Its share of the times of all instructions, from 0 to 1.
    pub share: f64,
    /// The sum of its times, with the instructions that ran inside of it.
    pub total_picoseconds: u64,
    /// The mean of its events, with the instructions that ran inside of it.
    pub mean_picoseconds: u64,
    /// The shortest event.
    pub shortest_picoseconds: u64,
    /// The longest event.
    pub longest_picoseconds: u64,
}

/// An instruction that ran.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredInstruction {
    /// Its name.
    pub instruction: String,
    /// Its opcode; null if the module does not have it.
    pub opcode: Option<String>,
    /// How long it took.
    #[serde(flatten)]
    pub times: Times,
    /// The bytes of its operands and its result, padding included, in any memory; null if they are not known, or other instructions run inside it.
    pub bytes: Option<u64>,
    /// `bytes` divided by the mean time of an execution; null if either is not known.
    pub bytes_per_second: Option<u64>,
    /// The floating-point operations of one execution, as the profile says; null if it does not.
    pub flops: Option<u64>,
    /// `flops` divided by the mean time of an execution; null if it is not known.
    pub flops_per_second: Option<u64>,
    /// What the compiler expected of one execution; null without a figure.
    pub estimate_picoseconds: Option<u64>,
    /// The mean time of an execution divided by that estimate; null if either is not known.
    pub over_estimate: Option<f64>,
    /// Whether it took more than 1.5 times the estimate, or less than the estimate divided by 1.5.
    pub differs: bool,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// An instruction that only moves data, or computes more than it must.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredCopy {
    /// The name of the instruction.
    pub instruction: String,
    /// The opcode.
    pub opcode: String,
    /// How long it took.
    #[serde(flatten)]
    pub times: Times,
    /// For an asynchronous copy on a TPU: the times from its start to its end; otherwise null.
    pub asynchronous_picoseconds: Option<u64>,
    /// The bytes that one run reads and writes, with padding; null if they are not known.
    pub bytes: Option<u64>,
    /// The shape before.
    pub from: String,
    /// The shape after.
    pub to: String,
    /// What the copy changes.
    pub change: Changed,
    /// Why the copy is there, as a sentence.
    pub cause: Cause,
    /// What would remove it; null if nothing is known.
    pub remedy: Option<Remedy>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A collective.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredCollective {
    /// The name of the instruction.
    pub instruction: String,
    /// The opcode.
    pub opcode: String,
    /// How long it took. For an asynchronous collective, this is the time of the two instructions that start and end it, which is how long the
    /// program waits.
    #[serde(flatten)]
    pub times: Times,
    /// For an asynchronous collective on a TPU: the times from its start to its end; otherwise null.
    pub asynchronous_picoseconds: Option<u64>,
    /// The bytes of the operands on one device, in each run.
    pub bytes_in: u64,
    /// The bytes of the results on one device, in each run.
    pub bytes_out: u64,
    /// The larger of `bytes_in` and `bytes_out`, divided by the mean time. If `asynchronous_picoseconds` is not null, that is the time from start to
    /// end. Null if the collective took no time.
    pub bytes_per_second: Option<u64>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A module of the profile.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct MeasuredModule {
    /// Its name, with the number of its program.
    pub module: String,
    /// How many runs the profile has, on all devices; null if it does not say.
    pub runs: Option<usize>,
    /// The time of all its runs, or else of all its instructions.
    pub picoseconds: u64,
    /// Whether the profile has the module, not only its times.
    pub is_there: bool,
}

impl Times {
    fn new(times: &InstructionTimes, all: u64) -> Self {
        Self {
            count: times.count,
            executions: times.executions(),
            picoseconds: times.own,
            share: share(times.own, all),
            total_picoseconds: times.total,
            mean_picoseconds: times.mean(),
            shortest_picoseconds: times.shortest,
            longest_picoseconds: times.longest,
        }
    }

    /// How often it was executed, and the mean time of an execution; `None` if it is not known how often.
    #[must_use]
    pub fn of_executions(&self) -> Option<(u64, u64)> {
        let executions = self.executions?;
        Some((executions, self.total_picoseconds.checked_div(executions)?))
    }
}

/// What makes the times of a profile doubtful.
///
/// ```
/// use xla_shape_answers::cost::{Measured, MeasuredDoubt};
///
/// assert_eq!(Measured::DIFFERS, 1.5);
/// assert_ne!(MeasuredDoubt::ImpossibleEvents(1), MeasuredDoubt::OverlappingEvents(1));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum MeasuredDoubt {
    /// The number of instructions in the profile that the module lacks. Their times have no source line.
    UnknownInstructions(usize),
    /// The number of events that end before they begin. They are ignored.
    ImpossibleEvents(u64),
    /// The number of events that overlap. Their full times are counted.
    OverlappingEvents(u64),
    /// The number of events whose program is not known. They are ignored.
    UnassignedEvents(u64),
    /// The picoseconds of a cycle. The profile does not give the clock, so this is the median over the instructions with an estimate and a time.
    EstimatesByMedian(f64),
}

impl Measured {
    /// An instruction [differs](MeasuredInstruction::differs) from its estimate if its mean time is more than this many times the estimate, or the
    /// estimate more than this many times the mean time.
    pub const DIFFERS: f64 = DIFFERS;

    /// What makes the times doubtful.
    #[must_use]
    pub fn doubts(&self) -> Vec<MeasuredDoubt> {
        let some = |events: u64| Some(events).filter(|&events| events > 0);
        let unknown = Some(self.unknown_instructions).filter(|&unknown| unknown > 0);
        let doubts = [
            unknown.map(MeasuredDoubt::UnknownInstructions),
            some(self.impossible_events).map(MeasuredDoubt::ImpossibleEvents),
            some(self.overlapping_events).map(MeasuredDoubt::OverlappingEvents),
            some(self.unassigned_events).map(MeasuredDoubt::UnassignedEvents),
            self.picoseconds_per_cycle.map(MeasuredDoubt::EstimatesByMedian),
        ];
        doubts.into_iter().flatten().collect()
    }
}

impl Measured {
    /// The measurements of a program's profile; `None` if it was not opened from a profile.
    pub(super) fn new(
        program: &Program,
        costs: &Costs<'_>,
        copies: &[CopyCost],
        collectives: &[Collective],
    ) -> Option<Self> {
        let (profile, measured) = (program.profile()?, program.measured()?);
        let module = program.module();
        let (sources, readers) = (module.sources(), module.readers());
        let names = module.instructions().map(|instruction| (instruction.name(), instruction));
        let names = map_of(names);
        let all = measured.instructions().map(|(_, times)| times.own).fold(0, u64::saturating_add);
        let estimates = Estimates::new(costs, measured);
        let device = measured.runs().first().map_or(0, |run| run.device);
        let device = profile.devices().get(device);
        let mut rows = measured
            .instructions()
            .filter(|(_, times)| times.count > 0)
            .map(|(name, times)| row(name, times, all, names.get(name).copied(), &estimates, &sources))
            .collect::<Vec<_>>();
        sort_by_key(&mut rows, |row| Reverse(row.times.picoseconds));
        let by_name = map_of(measured.instructions());
        let beside = map_of(measured.asynchronous());
        let copies = copied(copies, &by_name, &beside, all);
        let moved = copies
            .iter()
            .filter(|copy| copy.change.only_moves())
            .map(|copy| copy.times.picoseconds)
            .fold(0, u64::saturating_add);
        let sums = |name: &dyn Fn(Option<Instruction<'_>>) -> Option<String>| grouped(&rows, &names, name);
        let lines = sums(&|found| source_text(&sources.get(found?)));
        let scopes = sums(&|found| Some(scope_of(sources.get(found?).op_name.as_deref())));
        let opcodes = sums(&|found| Some(found?.opcode().to_string()));
        let doubts = profile.doubts();
        let devices = set_of(measured.runs().iter().map(|run| run.device)).len();
        Some(Self {
            module: measured.name().to_owned(),
            device: device.and_then(|device| device.kind.clone()),
            devices: (devices > 0).then_some(devices),
            runs: Runs::new(measured.runs()),
            picoseconds: all,
            moved: share(moved, all),
            peak_bytes_per_second: device
                .and_then(|device| device.bytes_per_second)
                .or_else(|| program.gpu().map(Gpu::bytes_per_second)),
            peak_flops_per_second: device.and_then(|device| device.flops_per_second),
            picoseconds_per_cycle: estimates.picoseconds_per_cycle(),
            copies,
            lines: lines
                .into_iter()
                .map(|(source, picoseconds, instructions)| MeasuredLine {
                    source,
                    picoseconds,
                    share: share(picoseconds, all),
                    instructions,
                })
                .collect(),
            scopes: scopes
                .into_iter()
                .map(|(scope, picoseconds, instructions)| MeasuredScope {
                    scope: scope.unwrap_or_else(|| NOT_IN_MODULE.to_owned()),
                    picoseconds,
                    share: share(picoseconds, all),
                    instructions,
                })
                .collect(),
            opcodes: opcodes
                .into_iter()
                .map(|(opcode, picoseconds, instructions)| MeasuredOpcode {
                    opcode,
                    picoseconds,
                    share: share(picoseconds, all),
                    instructions,
                })
                .collect(),
            unknown_instructions: rows.iter().filter(|row| row.opcode.is_none()).count(),
            instructions: rows,
            collectives: together(collectives, &names, &readers, &by_name, &beside, all),
            modules: modules(profile),
            impossible_events: doubts.impossible,
            overlapping_events: doubts.overlapping,
            unassigned_events: doubts.unassigned,
        })
    }
}

impl Measured {
    /// The copies and source lines that took the longest time.
    pub(super) fn digest(&self) -> Digest {
        let time = |picoseconds| {
            let time = Seconds::from_picoseconds(picoseconds);
            // The times are sums over all runs.
            let amount = match &self.runs {
                Some(runs) => digest::Amount::Measured(time, runs.count),
                None => digest::Amount::Cost(Amount::Time(time)),
            };
            (picoseconds > 0).then_some(amount)
        };
        let copies = self.copies.iter().map(|copy| digest::Cause {
            name: format!("%{}", copy.instruction),
            amount: time(copy.times.picoseconds),
            source: copy.source.clone(),
            because: Some(copy.cause.to_string()),
            remedy: copy.remedy.as_ref().map(ToString::to_string),
        });
        let lines = self.lines.iter().filter_map(|line| {
            Some(digest::Cause {
                name: line.source.clone()?,
                amount: time(line.picoseconds),
                ..digest::Cause::default()
            })
        });
        let causes = digest::largest_of(copies.collect(), lines);
        let shown = self.instructions.iter().find(|found| found.opcode.is_some());
        let show = shown.map(|found| digest::show(&found.instruction));
        Digest { causes, next: show.into_iter().chain([vec!["hlo".into(), digest::Word::File(0)]]).collect() }
    }
}

impl Runs {
    fn new(runs: &[Run]) -> Option<Self> {
        let count = runs.len();
        let sum = |part: fn(&Run) -> u64| runs.iter().map(part).fold(0, u64::saturating_add);
        let (picoseconds, busy) = (sum(|run| run.duration), sum(|run| run.busy));
        let mut sorted = runs.iter().map(|run| (run.device, run.start, run.duration)).collect::<Vec<_>>();
        sort(&mut sorted);
        // Between runs that overlap, 0 picoseconds pass.
        let between = sorted.windows(2).filter_map(|pair| {
            let [(device, start, duration), (next_device, next, _)] = *pair else { return None };
            let gap = i128::from(next) - i128::from(start) - i128::from(duration);
            (device == next_device).then(|| u64::try_from(gap.max(0)).unwrap_or(u64::MAX))
        });
        Some(Self {
            count,
            picoseconds,
            mean_picoseconds: picoseconds.checked_div(count as u64)?,
            shortest_picoseconds: runs.iter().map(|run| run.duration).min()?,
            longest_picoseconds: runs.iter().map(|run| run.duration).max()?,
            spread: Spread::of(runs.iter().map(|run| run.duration))?,
            busy_picoseconds: busy,
            idle_picoseconds: picoseconds.saturating_sub(busy),
            between_picoseconds: between.fold(0, u64::saturating_add),
        })
    }
}

/// A part as a fraction of a sum; 0 if the sum is 0.
fn share(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

/// The amount per second, if `amount` takes this many picoseconds; `None` for 0 picoseconds.
fn per_second(amount: u64, picoseconds: u64) -> Option<u64> {
    const SECOND: u128 = 1_000_000_000_000;
    (u128::from(amount) * SECOND).checked_div(picoseconds.into()).map(|rate| u64::try_from(rate).unwrap_or(u64::MAX))
}

/// Whether other instructions run inside it. Its time then includes theirs, but its bytes do not.
fn contains_others(instruction: Instruction<'_>) -> bool {
    matches!(instruction.opcode(), Opcode::While | Opcode::Conditional | Opcode::Call)
}

fn row(
    name: &str,
    times: &InstructionTimes,
    all: u64,
    found: Option<Instruction<'_>>,
    estimates: &Estimates<'_>,
    sources: &Sources<'_>,
) -> MeasuredInstruction {
    let cost = found.filter(|found| !contains_others(*found)).and_then(|found| estimates.cost(found));
    let bytes = cost.and_then(bytes_of);
    let Expected { picoseconds, over, differs } = estimates.compare(cost, times);
    let mean = times.mean_of_executions();
    let rate = |amount: Option<u64>| per_second(amount?, mean?);
    let source = found.map(|found| sources.get(found)).unwrap_or_default();
    MeasuredInstruction {
        instruction: name.to_owned(),
        opcode: found.map(|found| found.opcode().to_string()),
        times: Times::new(times, all),
        bytes,
        bytes_per_second: rate(bytes),
        flops: times.flops,
        flops_per_second: rate(times.flops),
        estimate_picoseconds: picoseconds,
        over_estimate: over,
        differs,
        source: source_text(&source),
        op_name: source.op_name.map(std::borrow::Cow::into_owned),
    }
}

fn bytes_of(cost: &InstructionCost<'_>) -> Option<u64> {
    cost.bytes_read?.checked_add(cost.bytes_written?)
}

/// The times by name, the longest first: the name, the time, and how many instructions have it.
fn grouped(
    rows: &[MeasuredInstruction],
    names: &BTreeMap<&str, Instruction<'_>>,
    name: &dyn Fn(Option<Instruction<'_>>) -> Option<String>,
) -> Vec<(Option<String>, u64, usize)> {
    let mut groups = BTreeMap::<Option<String>, (u64, usize)>::new();
    for row in rows {
        let group = groups.entry(name(names.get(row.instruction.as_str()).copied())).or_default();
        group.0 = group.0.saturating_add(row.times.picoseconds);
        group.1 += 1;
    }
    let mut groups: Vec<_> =
        groups.into_iter().map(|(name, (time, instructions))| (name, time, instructions)).collect();
    sort_by_key(&mut groups, |(_, time, _)| Reverse(*time));
    groups
}

type ByName<'a> = BTreeMap<&'a str, &'a InstructionTimes>;

/// The copies that ran.
fn copied(copies: &[CopyCost], by_name: &ByName<'_>, beside: &ByName<'_>, all: u64) -> Vec<MeasuredCopy> {
    let row = |copy: &CopyCost| {
        let times = by_name.get(copy.instruction.as_str()).filter(|times| times.count > 0)?;
        Some(MeasuredCopy {
            instruction: copy.instruction.clone(),
            opcode: copy.opcode.clone(),
            times: Times::new(times, all),
            asynchronous_picoseconds: beside.get(copy.instruction.as_str()).map(|times| times.total),
            bytes: copy.bytes,
            from: copy.from.clone(),
            to: copy.to.clone(),
            change: copy.change,
            cause: copy.cause.clone(),
            remedy: copy.remedy.clone(),
            op_name: copy.op_name.clone(),
            source: copy.source.clone(),
        })
    };
    let mut copies = copies.iter().filter_map(row).collect::<Vec<_>>();
    sort_by_key(&mut copies, |copy| Reverse(copy.times.picoseconds));
    copies
}

/// The collectives that ran.
fn together<'m>(
    collectives: &[Collective],
    names: &BTreeMap<&str, Instruction<'m>>,
    readers: &Readers<'m>,
    by_name: &ByName<'_>,
    beside: &ByName<'_>,
    all: u64,
) -> Vec<MeasuredCollective> {
    let row = |found: &Collective| {
        let start = names.get(found.instruction.as_str()).copied();
        let done = start.into_iter().flat_map(|start| readers.of(start).collect::<Vec<_>>());
        let done = done.into_iter().find(|reader| reader.opcode().text().ends_with("-done"));
        // An instruction alone, such as all-gather, or two, such as all-gather-start and all-gather-done.
        let parts = [Some(found.instruction.as_str()), done.map(Instruction::name)];
        let parts = parts.into_iter().flatten().filter_map(|name| by_name.get(name)).collect::<Vec<_>>();
        let beside = beside.get(found.instruction.as_str());
        let mut times: InstructionTimes = ***parts.first()?;
        if let [_, end] = &parts[..] {
            // The start and the end are one execution.
            times.total = times.total.saturating_add(end.total);
            times.own = times.own.saturating_add(end.own);
            times.shortest = times.shortest.saturating_add(end.shortest);
            times.longest = times.longest.saturating_add(end.longest);
        }
        let mean = beside.map_or(times.mean_of_executions(), |times| times.mean_of_executions());
        Some(MeasuredCollective {
            instruction: found.instruction.clone(),
            opcode: found.opcode.clone(),
            times: Times::new(&times, all),
            asynchronous_picoseconds: beside.map(|times| times.total),
            bytes_in: found.bytes_in,
            bytes_out: found.bytes_out,
            bytes_per_second: mean.and_then(|mean| per_second(found.bytes_in.max(found.bytes_out), mean)),
            source: found.source.clone(),
        })
    };
    let mut collectives = collectives.iter().filter_map(row).collect::<Vec<_>>();
    sort_by_key(&mut collectives, |found| Reverse(found.times.picoseconds));
    collectives
}

/// The modules of a profile, the one with the longest time first.
fn modules(profile: &Profile) -> Vec<MeasuredModule> {
    let row = |module: &ProfiledModule| MeasuredModule {
        module: module.name().to_owned(),
        runs: Some(module.runs().len()).filter(|runs| *runs > 0),
        picoseconds: module.picoseconds(),
        is_there: module.message().is_some(),
    };
    let mut modules = profile.modules().iter().map(row).collect::<Vec<_>>();
    sort_by_key(&mut modules, |module| Reverse(module.picoseconds));
    modules
}
