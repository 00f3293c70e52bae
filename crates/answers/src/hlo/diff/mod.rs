//! What changed between two programs: totals, the memory at the peak, and values.

mod instructions;
mod peak;
mod programs;

pub use instructions::{Differing, Instructions};
pub use peak::{Cause, LiveAt, Peak, PeakChange};
pub use programs::{Programs, ProgramsChange};

use super::causes::{Inputs, Reason};
use super::limit::{Exceeded, Limit, Measure, Quantity, measure};
use super::memory::Accuracy;
use super::times::{TimeDifference, times};
use crate::amount;
use crate::cost::{Amount, Cause as CopyCause, CopyCost, NoTotal, ProgramCost, Remedy};
use crate::digest::{self, Digest};
use crate::numbers::difference;
use crate::source::source_text;
use crate::{Answer, answer_line};
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::ArrayShape;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_core::sorting::{map_of, set_of, sort_by_key};
use xla_shape_hlo::{Buffer, Module, Opcode, Pairs, Timeline};
use xla_shape_program::{Program, ProgramMemory};

words! {
    /// How a value differs between the two programs.
    pub enum ValueChange {
        /// The sizes or the element type.
        Shape = "shape",
        /// The layout.
        Layout = "layout",
        /// Only the memory space.
        MemorySpace = "memory space",
        /// Only the second program has the value.
        Added = "added",
        /// Only the first program has the value.
        Removed = "removed",
    }

    /// What was added or removed.
    pub enum PartChange {
        /// A copy that only the second program has.
        CopyAdded = "copy added",
        /// A copy that only the first program has.
        CopyRemoved = "copy removed",
        /// A collective that only the second program has.
        CollectiveAdded = "collective added",
        /// A collective that only the first program has.
        CollectiveRemoved = "collective removed",
        /// A fusion that only the second program has.
        FusionAdded = "fusion added",
        /// A fusion that only the first program has.
        FusionRemoved = "fusion removed",
    }

    /// A total of a program's memory.
    pub enum TotalName {
        /// All of the device's memory that the program needs.
        Total = "total",
        /// The parameters.
        Arguments = "arguments",
        /// The results.
        Outputs = "outputs",
        /// The results that are in the memory of a parameter.
        Aliases = "aliases",
        /// What the program needs while it runs.
        Temporaries = "temporaries",
        /// The most that is in use at one time.
        Peak = "peak",
        /// The memory of the host.
        Host = "host",
    }

    /// The kind of a line about a total.
    pub enum TotalChange {
        /// The total differs.
        Total = "total",
    }

    /// The kind of a line about a number.
    pub enum MeasureChange {
        /// The number differs.
        Measure = "measure",
    }
}

/// A value that differs between the programs, or is only in one of them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Change {
    /// The name of the instruction, in the second program if it is there.
    pub name: String,
    /// Which array of the instruction's value, from 0.
    pub leaf: usize,
    /// What differs.
    pub change: ValueChange,
    /// The shape in the first program; null if the value was added.
    pub before: Option<String>,
    /// The shape in the second program; null if the value was removed.
    pub after: Option<String>,
    /// The bytes in the first program.
    pub bytes_before: u64,
    /// The bytes in the second program.
    pub bytes_after: u64,
    /// How many bytes more in the second program; negative if fewer.
    pub bytes: i64,
    /// Why the value differs, or is only in one program.
    pub cause: Reason,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A total of the program's memory.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Total {
    /// Which total.
    pub name: TotalName,
    /// The total differs.
    pub change: TotalChange,
    /// The bytes in the first program.
    pub bytes_before: u64,
    /// The bytes in the second program.
    pub bytes_after: u64,
    /// How many bytes more in the second program; negative if fewer.
    pub bytes: i64,
}

/// A number by which both programs are compared.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Measured {
    /// Which number.
    #[serde(rename = "name")]
    pub measure: Measure,
    /// The number differs.
    pub change: MeasureChange,
    /// The number in the first program, memory in bytes and times in seconds; null if it is not known.
    pub before: Option<Quantity>,
    /// The number in the second program; null if it is not known.
    pub after: Option<Quantity>,
    /// Why the number differs: the cause of the difference between the programs as a whole, unless one of the files lacks the compiler's figures.
    pub cause: Reason,
}

/// A copy, a collective or a fusion that only one of the programs has.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Part {
    /// The name of the instruction.
    pub name: String,
    /// What differs.
    pub change: PartChange,
    /// The opcode.
    pub opcode: String,
    /// The shape of its value, with its layout.
    pub shape: String,
    /// What one run costs; `None` without a figure.
    #[serde(flatten, serialize_with = "amount::one_run")]
    #[schemars(with = "amount::OneRun")]
    pub amount: Option<Amount>,
    /// Why only one of the programs has it.
    pub cause: Reason,
    /// For a copy: why it is there, as a sentence; null for other instructions.
    pub because: Option<CopyCause>,
    /// For a copy in the second program: what would remove it; null if nothing is known, and for everything else.
    pub remedy: Option<Remedy>,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// The differences between two programs: totals of memory, the peak of each memory space, and values.
///
/// Instructions are paired by `op_name`, opcode, shape and operands, not by name (`xla_shape_hlo::Pairs`).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// The name of each module, and how accurate its numbers are.
    pub programs: [(String, Accuracy); 2],
    /// If a figure of one of the programs cannot be read, or only one of them has figures: why the cycles are not compared.
    #[serde(skip)]
    pub unknown: Option<String>,
    /// The numbers by which both programs are compared.
    pub measures: Vec<Measured>,
    /// For two profiles: the median time of a run, then the times of its source lines, sorted by difference; otherwise empty.
    pub times: Vec<TimeDifference>,
    /// The copies, collectives and fusions that only one program has.
    pub parts: Vec<Part>,
    /// The totals of memory.
    pub totals: Vec<Total>,
    /// The peaks of the memory spaces.
    pub peaks: Vec<Peak>,
    /// The values that differ.
    pub changes: Vec<Change>,
    /// Whether the instructions differ.
    pub instructions: Instructions,
}

impl Difference {
    /// Compares two programs. Only values are compared unless both have an entry computation.
    ///
    /// ```
    /// use xla_shape_answers::hlo::{Difference, Quantity, Reason, diff};
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    ///
    /// let program = |end: &str| {
    ///     let text = format!("HloModule m, is_scheduled=true\nENTRY e {{ p = f32[1024]{{0}} parameter(0) {end} }}");
    ///     Module::parse(&text).map(Program::from)
    /// };
    /// let before = program("ROOT n = f32[1024]{0} negate(p)")?;
    /// let after = program(
    ///     "n = f32[1024]{0} negate(p) ROOT g = f32[2048]{0} all-gather(n), dimensions={0}, replica_groups={{0,1}}",
    /// )?;
    /// let difference = Difference::new(&before.memory(None), &after.memory(None));
    /// let memory = &difference.measures[0];
    /// assert_eq!((memory.before, memory.after), (Some(Quantity::Number(8192)), Some(Quantity::Number(16384))));
    /// assert_eq!((memory.cause, memory.change), (Reason::Sharding, diff::MeasureChange::Measure));
    /// assert_eq!((difference.parts[0].name.as_str(), difference.parts[0].change), ("g", diff::PartChange::CollectiveAdded));
    /// assert_eq!((difference.totals[2].name, difference.totals[2].bytes), (diff::TotalName::Outputs, 4096));
    /// assert_eq!(difference.totals[2].change, diff::TotalChange::Total);
    /// let peak = &difference.peaks[0];
    /// assert_eq!((peak.change, peak.at_after.as_deref()), (diff::PeakChange::Peak, Some("n")));
    /// assert_eq!((peak.because[0].live, peak.because[0].bytes), (diff::LiveAt::After, 8192));
    /// assert_eq!((difference.changes[0].change, difference.changes[0].bytes_after), (diff::ValueChange::Added, 8192));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(before: &ProgramMemory<'_>, after: &ProgramMemory<'_>) -> Self {
        let [before_timeline, after_timeline] = [before.timeline(), after.timeline()];
        let programs = [before.program(), after.program()];
        let [before, after] = programs.map(Program::module);
        // The Rust lifetimes of the two modules differ; `Pairs` uses the shorter one for both.
        let pairs = Pairs::new(before, after);
        let program = |module: &Module, timeline: Option<&Timeline<'_>>| {
            (module.name().unwrap_or("without a name").to_owned(), Accuracy::new(timeline))
        };
        let timelines = before_timeline.zip(after_timeline);
        let inputs = Inputs::new(before, after);
        let costs = programs.map(ProgramCost::of);
        let unknown = costs.iter().find_map(|cost| cost.as_ref().err()).map(ToString::to_string);
        let costs = costs.map(Result::ok);
        let unknown = unknown.or_else(|| {
            let without = ["first", "second"].into_iter().zip([0, 1]).find(|(_, side)| lacks_figures(&costs, *side));
            without.map(|(which, _)| format!("the {which} module lacks the compiler's figures"))
        });
        let parts = parts([before, after], &costs, &pairs, &inputs);
        let measured = costs.each_ref().map(|cost| cost.as_ref().and_then(|cost| cost.measured.as_deref()));
        let times = times([before, after], measured, &pairs, &inputs);
        let memory = timelines.map(|(before, after)| [before, after].map(|timeline| timeline.account().device.total()));
        let instructions = Instructions::new([before, after], &pairs);
        let programs = [program(before, before_timeline), program(after, after_timeline)];
        let mut measures = measures([before, after], memory, &costs, inputs.overall());
        // One program needs the same memory, by whichever file it is counted. If the instructions differ, so may the memory.
        let is_counted_otherwise =
            instructions.same != Some(false) && instructions.differing == 0 && programs[0].1 != programs[1].1;
        for measured in &mut measures {
            if measured.measure == Measure::Memory && is_counted_otherwise {
                measured.cause = Reason::Figures;
            }
        }
        Self {
            unknown,
            times,
            measures,
            parts,
            programs,
            totals: timelines.map_or_else(Vec::new, |(before, after)| totals(before, after)),
            peaks: timelines.map_or_else(Vec::new, |timelines| peak::peaks([before, after], timelines.into(), &pairs)),
            changes: changes([before, after], &pairs, &inputs),
            instructions,
        }
    }

    /// The limits that the second program exceeds. A number that is not known in one of the programs exceeds every limit.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::Difference;
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?);
    /// let memory = program.memory(None);
    /// let difference = Difference::new(&memory, &memory);
    /// assert!(difference.exceeded(&["memory>0".parse()?]).is_empty());
    /// let unknown = difference.exceeded(&["cycles>2%".parse()?]);
    /// assert_eq!(unknown[0].to_string(), "cycles>2%: the cycles are not known in both modules");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn exceeded(&self, limits: &[Limit]) -> Vec<Exceeded> {
        let check = |limit: &Limit| {
            let found = self.measures.iter().find(|measured| measured.measure == limit.measure);
            let numbers = found.map_or([None, None], |found| [found.before, found.after]);
            let cause = found.map_or(Reason::Compiler, |found| found.cause);
            // The other numbers do not depend on the compiler's figures.
            let is_of_cost = matches!(limit.measure, Measure::Cycles | Measure::Seconds | Measure::Copies);
            let exceeded = limit.exceeded(numbers, self.unknown.as_deref().filter(|_| is_of_cost), cause)?;
            // A time that may be longer only by chance does not exceed a limit.
            let is_chance = matches!(exceeded, Exceeded::Grew { .. }) && limit.measure == Measure::Time;
            let is_clear = self.times.first().is_none_or(|run| run.is_clear);
            (!is_chance || is_clear).then_some(exceeded)
        };
        limits.iter().filter_map(check).collect()
    }

    /// The limits of `guard` if the user names none ([`Limit::USUAL`]), except for numbers that the first program lacks.
    ///
    /// ```
    /// use xla_shape_answers::hlo::Difference;
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?);
    /// let memory = program.memory(None);
    /// let limits: Vec<_> = Difference::new(&memory, &memory).usual_limits().iter().map(ToString::to_string).collect();
    /// assert_eq!(limits, ["memory>1%", "copies>0", "collectives>0"], "the module does not say its cycles");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn usual_limits(&self) -> Vec<Limit> {
        let is_known = |of| self.measures.iter().any(|measured| measured.measure == of && measured.before.is_some());
        Limit::usual(is_known).0
    }

    /// Whether no figure and no value differs. Instructions may still differ: [`instructions`](Self::instructions) says whether both are the same
    /// program.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_program::Program;
    /// use xla_shape_answers::hlo::Difference;
    ///
    /// let program = Program::from(Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?);
    /// assert!(Difference::new(&program.memory(None), &program.memory(None)).is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.parts.is_empty()
            && self.measures.iter().all(|measured| measured.before == measured.after)
            && self.totals.iter().all(|total| total.bytes == 0)
            && !self.peaks.iter().any(Peak::is_changed)
    }
}

impl Answer for Difference {
    const SCHEMA: &'static str = "xla-shape/hlo-diff/1";

    /// The causes are the values that make a peak differ (without a peak, the values that differ), and the added and removed copies, collectives and
    /// fusions. Bytes cannot be compared with cycles, so the list begins with the largest cause of each kind. Without such causes, it has the
    /// instructions that differ.
    fn digest(&self) -> Digest {
        let at_peaks = self.peaks.iter().flat_map(|peak| &peak.because).map(|cause| digest::Cause {
            name: format!("%{}", cause.name),
            amount: Some(digest::Amount::MoreBytes(cause.bytes)),
            source: cause.source.clone().or_else(|| cause.op_name.clone()),
            because: Some(format!("{} {}", cause.live, cause.shape)),
            remedy: None,
        });
        let values = self.changes.iter().filter(|change| change.bytes != 0).map(|change| digest::Cause {
            name: format!("%{}", change.name),
            amount: Some(digest::Amount::MoreBytes(change.bytes)),
            source: change.source.clone().or_else(|| change.op_name.clone()),
            because: Some(format!("{}: {}", change.change, change.cause)),
            remedy: None,
        });
        let parts = self.parts.iter().map(|part| digest::Cause {
            name: format!("%{}", part.name),
            amount: part.amount.map(digest::Amount::Cost),
            source: part.source.clone(),
            because: Some(format!("{}: {}", part.change, part.cause)),
            remedy: part.remedy.as_ref().map(ToString::to_string),
        });
        let memory = digest::largest(at_peaks.collect());
        let memory = if memory.is_empty() { digest::largest(values.collect()) } else { memory };
        let parts = digest::largest(parts.collect());
        let firsts = [&memory, &parts].into_iter().filter_map(|causes| causes.first());
        let rest = [&parts, &memory].into_iter().flat_map(|causes| causes.iter().skip(1));
        let mut causes = firsts.chain(rest).take(digest::MOST).cloned().collect::<Vec<_>>();
        if causes.is_empty() {
            causes.extend(
                self.instructions
                    .examples
                    .iter()
                    .map(|example| digest::Cause { name: example.to_string(), ..digest::Cause::default() }),
            );
        }
        let after = |verb: &str| vec![verb.into(), digest::Word::File(1)];
        let next = if causes.is_empty() { Vec::new() } else { vec![after("cost"), after("hlo")] };
        Digest { causes, next }
    }

    fn json(&self) -> String {
        self.lines().map(|line| answer_line(Self::SCHEMA, &line)).collect()
    }
}

/// One line of the JSON: a difference between two modules, or the two modules as a whole.
// Hidden, because it exists only to be written as JSON; `Difference` has the lists.
#[doc(hidden)]
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Line<'a> {
    /// A number by which both programs are compared.
    Measured(&'a Measured),
    /// The measured time of a run or of a source line.
    Time(&'a TimeDifference),
    /// A copy, a collective or a fusion that only one program has.
    Part(&'a Part),
    /// A total of the program's memory.
    Total(&'a Total),
    /// The peak of a memory space.
    Peak(&'a Peak),
    /// A value.
    Change(&'a Change),
    /// Both programs as a whole. This line is always there, and always last.
    Programs(Programs<'a>),
}

impl Difference {
    fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let last = Line::Programs(Programs::new(self));
        let totals = self.totals.iter().filter(|total| total.bytes != 0);
        let peaks = self.peaks.iter().filter(|peak| peak.is_changed());
        let measures = self.changed_measures().map(Line::Measured);
        let (parts, changes) = (self.parts.iter().map(Line::Part), self.changes.iter().map(Line::Change));
        let times = self.times.iter().map(Line::Time);
        measures
            .chain(times)
            .chain(parts)
            .chain(totals.map(Line::Total))
            .chain(peaks.map(Line::Peak))
            .chain(changes)
            .chain([last])
    }
}

impl Difference {
    /// The numbers that differ.
    pub fn changed_measures(&self) -> impl Iterator<Item = &Measured> {
        self.measures.iter().filter(|measured| measured.before != measured.after)
    }
}

/// The numbers by which programs are compared.
fn measures(
    modules: [&Module; 2],
    memory: Option<[u64; 2]>,
    costs: &[Option<ProgramCost>; 2],
    cause: Reason,
) -> Vec<Measured> {
    let of = |of: Measure, side: usize| -> Option<Quantity> {
        measure(of, modules[side], memory.map(|bytes| bytes[side]), costs[side].as_ref())
    };
    let lacks_figures = cause != Reason::Optimization && [0, 1].into_iter().any(|side| lacks_figures(costs, side));
    let measured = |measure: Measure| {
        let (before, after) = (of(measure, 0), of(measure, 1));
        let is_of_figures = matches!(measure, Measure::Cycles | Measure::Seconds);
        let cause = if lacks_figures && is_of_figures { Reason::Figures } else { cause };
        Measured { measure, change: MeasureChange::Measure, before, after, cause }
    };
    let measures = Measure::ALL.into_iter().map(measured);
    measures.filter(|found| found.measure != Measure::Time || found.before.or(found.after).is_some()).collect()
}

/// Whether a module lacks the compiler's figures, as the files that XLA dumps do, and the other one has them. A module with nothing to run lacks
/// none.
fn lacks_figures(costs: &[Option<ProgramCost>; 2], side: usize) -> bool {
    let sums = |side: usize| costs[side].as_ref().map(|cost| cost.sums);
    let has_total = sums(1 - side).is_some_and(|sums| sums.total.is_some());
    let lacks = sums(side)
        .is_some_and(|sums| sums.without > 0 && sums.why_no_total().is_some_and(|why| why != NoTotal::TooLarge));
    has_total && lacks
}

/// The copies, collectives and fusions that only one of the programs has.
fn parts(modules: [&Module; 2], costs: &[Option<ProgramCost>; 2], pairs: &Pairs<'_>, inputs: &Inputs<'_>) -> Vec<Part> {
    let copies = [0, 1].map(|side: usize| {
        let copies = costs[side].iter().flat_map(|cost| &cost.copies).filter(|copy| copy.changes_layout());
        map_of(copies.map(|copy: &CopyCost| (copy.number, copy)))
    });
    let collectives = modules.map(Module::collectives);
    let numbers = |side: usize| collectives[side].iter().map(|found| found.instruction.number());
    let counted = [0, 1].map(|side| set_of(numbers(side)));
    // A collective may be paired with any piece of a collective that was split.
    let all = |side: usize| collectives[side].iter().flat_map(|found| found.instructions().map(|found| found.number()));
    let collectives = [0, 1].map(|side| set_of(all(side)));
    let sources = modules.map(Module::sources);
    let mut parts = Vec::new();
    for (side, module) in modules.into_iter().enumerate() {
        for instruction in module.instructions() {
            let number = instruction.number();
            let pair = if side == 0 { pairs.after(instruction) } else { pairs.before(instruction) };
            let copy = copies[side].get(&number);
            let other = pair.map(|pair| pair.number());
            let is_alone = match (copy, instruction.opcode()) {
                (Some(_), _) => other.is_none_or(|other| !copies[1 - side].contains_key(&other)),
                _ if counted[side].contains(&number) => {
                    other.is_none_or(|other| !collectives[1 - side].contains(&other))
                }
                (None, Opcode::Fusion) => pair.is_none_or(|pair| pair.opcode() != Opcode::Fusion),
                _ => continue,
            };
            if !is_alone {
                continue;
            }
            let change = match (copy.is_some(), instruction.opcode() == Opcode::Fusion, side) {
                (true, _, 0) => PartChange::CopyRemoved,
                (true, _, _) => PartChange::CopyAdded,
                (false, true, 0) => PartChange::FusionRemoved,
                (false, true, _) => PartChange::FusionAdded,
                (false, false, 0) => PartChange::CollectiveRemoved,
                (false, false, _) => PartChange::CollectiveAdded,
            };
            let source = sources[side].get(instruction);
            parts.push(Part {
                name: instruction.name().to_owned(),
                change,
                opcode: instruction.opcode().to_string(),
                shape: instruction.shape().to_string(),
                amount: copy.and_then(|copy| copy.amount),
                cause: inputs.reason(instruction, side),
                because: copy.map(|copy| copy.cause.clone()),
                remedy: copy.filter(|_| change == PartChange::CopyAdded).and_then(|copy| copy.remedy.clone()),
                source: source_text(&source),
                op_name: source.op_name.map(std::borrow::Cow::into_owned),
            });
        }
    }
    sort_by_key(&mut parts, |part| std::cmp::Reverse(part.amount));
    parts
}

fn totals(before: &Timeline<'_>, after: &Timeline<'_>) -> Vec<Total> {
    let (before, after) = (before.account(), after.account());
    let numbers = [
        (TotalName::Total, before.device.total(), after.device.total()),
        (TotalName::Arguments, before.device.arguments, after.device.arguments),
        (TotalName::Outputs, before.device.outputs, after.device.outputs),
        (TotalName::Aliases, before.device.aliases, after.device.aliases),
        (TotalName::Temporaries, before.device.temporaries, after.device.temporaries),
        (TotalName::Peak, before.peak, after.peak),
        (TotalName::Host, before.host.total(), after.host.total()),
    ];
    let total = |(name, bytes_before, bytes_after)| Total {
        name,
        change: TotalChange::Total,
        bytes_before,
        bytes_after,
        bytes: difference(bytes_before, bytes_after),
    };
    numbers.into_iter().map(total).collect()
}

fn changes([before, after]: [&Module; 2], pairs: &Pairs<'_>, inputs: &Inputs<'_>) -> Vec<Change> {
    let (before, after) = (before.memory(), after.memory());
    let mut others = map_of(after.buffers().iter().map(|buffer| ((buffer.instruction.number(), buffer.leaf), buffer)));
    let mut changes = Vec::new();
    for buffer in before.buffers() {
        let other = pairs.after(buffer.instruction);
        let other = other.and_then(|other| others.remove(&(other.number(), buffer.leaf)));
        changes.extend(change(Some(buffer), other, inputs));
    }
    changes.extend(others.into_values().filter_map(|buffer| change(None, Some(buffer), inputs)));
    sort_by_key(&mut changes, |change| std::cmp::Reverse(change.bytes.unsigned_abs()));
    changes
}

fn change(before: Option<&Buffer<'_>>, after: Option<&Buffer<'_>>, inputs: &Inputs<'_>) -> Option<Change> {
    let change = kind(before.map(|buffer| buffer.array), after.map(|buffer| buffer.array))?;
    let bytes = |buffer: Option<&Buffer<'_>>| buffer.map_or(0, |buffer| buffer.footprint.bytes);
    let (bytes_before, bytes_after) = (bytes(before), bytes(after));
    // If both programs have the value, use its name in the second one, which is the program that people look at.
    let named = after.or(before)?;
    let side = usize::from(after.is_some());
    let source = inputs.source(named.instruction, side);
    Some(Change {
        name: named.instruction.name().to_owned(),
        leaf: named.leaf,
        change,
        before: before.map(|buffer| buffer.array.to_string()),
        after: after.map(|buffer| buffer.array.to_string()),
        bytes_before,
        bytes_after,
        bytes: difference(bytes_before, bytes_after),
        cause: inputs.reason_of_change(change, named.instruction, side),
        source: source_text(&source),
        op_name: source.op_name.map(std::borrow::Cow::into_owned),
    })
}

fn kind(before: Option<&ArrayShape>, after: Option<&ArrayShape>) -> Option<ValueChange> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some(ValueChange::Added),
        (Some(_), None) => Some(ValueChange::Removed),
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) if !before.same_dimensions(after) || !before.same_element_type(after) => {
            Some(ValueChange::Shape)
        }
        (Some(before), Some(after)) => {
            let equal = ShapeEqual::new().ignore_memory_space_in_layout();
            let same_place = equal.compare_arrays(before, after);
            Some(if same_place { ValueChange::MemorySpace } else { ValueChange::Layout })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, Measure, Reason};
    use xla_shape_hlo::Module;
    use xla_shape_program::Program;

    /// PJRT's text of a compiled program, and the text that XLA dumps, without most of the compiler's figures.
    const TEXTS: [&str; 2] = [
        "HloModule m, is_scheduled=true\nENTRY e {\n p = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) parameter(0)\n \
         x = f32[8,128]{1,0:T(8,128)} get-tuple-element(p), index=0\n y = f32[8,128]{1,0:T(8,128)} get-tuple-element(p), index=1\n \
         ROOT a = f32[8,128]{1,0:T(8,128)} add(x, y), backend_config={\"flag_configs\":[],\"window_config\":{\"estimated_cycles\":\"300\"},\
         \"aliasing_operands\":{\"lists\":[]}}\n}",
        "HloModule m, is_scheduled=true\nENTRY e {\n p = (f32[8,128]{1,0:T(8,128)}, f32[8,128]{1,0:T(8,128)}) parameter(0)\n \
         ROOT a = f32[8,128]{1,0:T(8,128)} add(p#0, p#1), backend_config={\"aliasing_operands\":{\"lists\":[]},\"flag_configs\":[]}\n}",
    ];

    fn difference(before: &str, after: &str) -> Difference {
        let [before, after] = [before, after].map(|text| Program::from(Module::parse(text).unwrap()));
        Difference::new(&before.memory(None), &after.memory(None))
    }

    #[test]
    fn a_text_without_figures_is_no_other_program() {
        for (sides, which) in [([0, 1], "second"), ([1, 0], "first")] {
            let found = difference(TEXTS[sides[0]], TEXTS[sides[1]]);
            let changed: Vec<_> = found.changed_measures().map(|measured| (measured.measure, measured.cause)).collect();
            assert_eq!(changed, [(Measure::Cycles, Reason::Figures)]);
            assert!(found.changes.is_empty() && found.parts.is_empty());
            assert_eq!(
                (found.instructions.same, found.instructions.differing),
                (None, 0),
                "one text does not say all of it"
            );
            let why = format!("the {which} module lacks the compiler's figures");
            assert_eq!(found.unknown.as_ref(), Some(&why));
            let exceeded = found.exceeded(&["cycles>2%".parse().unwrap()]);
            assert_eq!(exceeded[0].to_string(), format!("cycles>2%: the cycles are not known in both modules ({why})"));
        }
        let other = difference(TEXTS[0], &TEXTS[1].replace("add(", "multiply("));
        assert_eq!((other.instructions.same, other.instructions.differing), (Some(false), 2));
        let short = TEXTS[0].replace("\"window_config\":{\"estimated_cycles\":\"300\"},", "");
        let same = difference(&short, TEXTS[1]);
        assert!(same.is_empty() && same.unknown.is_none());
        assert_eq!((same.instructions.same, same.instructions.differing), (Some(true), 0));
        // A program with nothing to run lacks no figures.
        let empty = "HloModule m, is_scheduled=true\nENTRY e {\n ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0)\n}";
        let nothing = difference(TEXTS[0], empty);
        assert_eq!((nothing.measures[1].measure, nothing.measures[1].cause), (Measure::Cycles, Reason::Source));
        // Both have figures, so the compiler must be the cause.
        let slower = difference(TEXTS[0], &TEXTS[0].replace("300", "400"));
        assert_eq!((slower.measures[1].measure, slower.measures[1].cause), (Measure::Cycles, Reason::Compiler));
    }
}
