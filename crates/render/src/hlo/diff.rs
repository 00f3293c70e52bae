//! What changed between two programs: totals, the memory at the peak, and values.

use super::causes::{Inputs, Reason};
use super::limit::{Limit, Measure};
use super::memory::{Accuracy, is_for_tpu, source_text};
use crate::answer::answer_line;
use crate::cost::{CopyCost, ProgramCost};
use crate::words::{self, Grouped, InUnits, Signed, count, difference, space_name};
use crate::{Answer, Text};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use xla_shape_core::ArrayShape;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_hlo::{Buffer, Instruction, Lifetime, Module, Opcode, Pairs, Sources, Timeline};

/// A value that differs between the programs, or is only in one.
#[derive(Clone, Debug, Serialize)]
struct Change {
    name: String,
    /// The number of the array in the instruction's value, from 0.
    leaf: usize,
    /// What changed: "shape", "layout", "memory space", "added" or "removed".
    change: &'static str,
    before: Option<String>,
    after: Option<String>,
    bytes_before: u64,
    bytes_after: u64,
    /// How many bytes more than before; negative if fewer.
    bytes: i64,
}

/// A total of the program's memory.
#[derive(Clone, Debug, Serialize)]
struct Total {
    /// Such as "temporaries".
    name: &'static str,
    /// "total".
    change: &'static str,
    bytes_before: u64,
    bytes_after: u64,
    bytes: i64,
}

/// The peaks of a memory space in both programs.
#[derive(Clone, Debug, Serialize)]
struct Peak {
    /// The name of the memory space.
    name: String,
    /// "peak".
    change: &'static str,
    space: u8,
    bytes_before: u64,
    bytes_after: u64,
    bytes: i64,
    /// The instruction at which the memory space is fullest.
    at_before: Option<String>,
    at_after: Option<String>,
    /// The causes of the difference; their bytes add up to `bytes`.
    because: Vec<Cause>,
}

/// Something that is in memory at the peak of only one program, or has another size in the other.
#[derive(Clone, Debug, Serialize)]
struct Cause {
    /// "only before", "only after" or "other size".
    live: &'static str,
    name: String,
    leaf: usize,
    shape: String,
    /// How many values of this kind, shape and origin there are; `bytes` is their sum.
    values: usize,
    bytes: i64,
    op_name: Option<String>,
    source: Option<String>,
}

/// A number by which both programs are compared.
#[derive(Clone, Debug, Serialize)]
struct Measured {
    name: &'static str,
    /// "measure".
    change: &'static str,
    /// Null if it is not known, such as the cycles of a module without them.
    before: Option<u64>,
    after: Option<u64>,
    /// The difference between the two programs as a whole.
    cause: Reason,
    #[serde(skip)]
    measure: Measure,
}

/// A copy, a collective or a fusion that only one of the programs has.
#[derive(Clone, Debug, Serialize)]
struct Part {
    name: String,
    /// Such as "copy added" or "fusion removed".
    change: &'static str,
    opcode: String,
    shape: String,
    /// The compiler's figure for one run; null if it has none.
    cycles: Option<u64>,
    cause: Reason,
    /// For a copy: what asked for both layouts, and what would remove it.
    because: Option<String>,
    remedy: Option<String>,
    op_name: Option<String>,
    source: Option<String>,
}

/// The differences between two programs: totals of memory, the peak of each memory space, and values.
///
/// Instructions are paired by `op_name`, opcode, shape and operands, not by name (`xla_shape_hlo::Pairs`).
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The name of each module, and how accurate its numbers are.
    programs: [(String, &'static str); 2],
    /// Why the cycles of one of the programs are not known, if a figure cannot be read.
    #[serde(skip)]
    unknown: Option<String>,
    measures: Vec<Measured>,
    parts: Vec<Part>,
    totals: Vec<Total>,
    peaks: Vec<Peak>,
    changes: Vec<Change>,
}

impl Difference {
    /// Compares two programs with estimated memory.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::{Answer, hlo::Difference};
    ///
    /// let module = |size: u32| format!("HloModule m, is_scheduled=true\nENTRY e {{ ROOT p = f32[{size}] parameter(0) }}");
    /// let (before, after) = (module(8), module(9));
    /// let difference = Difference::new(&Module::parse(&before)?, &Module::parse(&after)?);
    /// assert!(difference.json().contains("\"before\":\"f32[8]{0}\",\"after\":\"f32[9]{0}\""));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(before: &Module<'_>, after: &Module<'_>) -> Self {
        let (first, second) = (before.memory(), after.memory());
        let timelines = [first.timeline_on(None), second.timeline_on(None)];
        Self::on(before, timelines[0].as_ref(), after, timelines[1].as_ref())
    }

    /// Compares two programs, each with its timeline. Without both timelines, only values are compared.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::hlo::Difference;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let memory = module.memory();
    /// let timeline = memory.timeline_on(None);
    /// assert!(Difference::on(&module, timeline.as_ref(), &module, timeline.as_ref()).is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn on(
        before: &Module<'_>,
        before_timeline: Option<&Timeline<'_, '_>>,
        after: &Module<'_>,
        after_timeline: Option<&Timeline<'_, '_>>,
    ) -> Self {
        // The two modules have different lifetimes; `Pairs` uses the shorter one for both.
        let pairs = Pairs::new(before, after);
        let program = |module: &Module<'_>, timeline: Option<&Timeline<'_, '_>>| {
            (module.name().unwrap_or("without a name").to_owned(), Accuracy::new(timeline).name())
        };
        let timelines = before_timeline.zip(after_timeline);
        let inputs = Inputs::new(before, after);
        let costs = [before, after].map(ProgramCost::new);
        let unknown = costs.iter().find_map(|cost| cost.as_ref().err()).map(ToString::to_string);
        let costs = costs.map(Result::ok);
        let parts = parts([before, after], &costs, &pairs, &inputs);
        let memory = timelines.map(|(before, after)| [before, after].map(|timeline| timeline.account().device.total()));
        Self {
            unknown,
            measures: measures([before, after], memory, &costs, inputs.overall()),
            parts,
            programs: [program(before, before_timeline), program(after, after_timeline)],
            totals: timelines.map_or_else(Vec::new, |(before, after)| totals(before, after)),
            peaks: timelines.map_or_else(Vec::new, |timelines| peaks([before, after], timelines.into(), &pairs)),
            changes: changes(before, after, &pairs),
        }
    }

    /// The limits that the second program exceeds, as sentences. A number that is not known in both programs exceeds every limit.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::hlo::Difference;
    ///
    /// let before = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8]{0} parameter(0) }")?;
    /// let difference = Difference::new(&before, &before);
    /// assert!(difference.exceeded(&["memory>0".parse()?]).is_empty());
    /// let unknown = difference.exceeded(&["cycles>2%".parse()?]);
    /// assert_eq!(unknown, ["cycles>2%: the cycles are not known in both modules"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn exceeded(&self, limits: &[Limit]) -> Vec<String> {
        let check = |limit: &Limit| {
            let name = limit.measure.name();
            let measured = self.measures.iter().find(|measured| measured.measure == limit.measure)?;
            let (Some(before), Some(after)) = (measured.before, measured.after) else {
                let are = if limit.measure == Measure::Memory { "is" } else { "are" };
                let why = self.unknown.as_ref().map_or(String::new(), |why| format!(" ({why})"));
                return Some(format!("{limit}: the {name} {are} not known in both modules{why}"));
            };
            let numbers = format!("{} before, {} after", Grouped(before), Grouped(after));
            limit.is_exceeded(before, after).then(|| format!("{limit}: {numbers} ({})", measured.cause))
        };
        limits.iter().filter_map(check).collect()
    }

    /// Whether the programs do not differ.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::hlo::Difference;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(Difference::new(&module, &module).is_empty());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.parts.is_empty()
            && self.measures.iter().all(|measured| measured.before == measured.after)
            && self.totals.iter().all(|total| total.bytes == 0)
            && self.peaks.iter().all(|peak| peak.bytes == 0 && peak.because.is_empty())
    }
}

impl Answer for Difference {
    const SCHEMA: &'static str = "xla-shape/hlo-diff/1";

    fn text(&self, width: usize) -> Text {
        page(self, width)
    }

    fn json(&self) -> String {
        let measures = self.measures.iter().filter(|measured| measured.before != measured.after);
        let totals = self.totals.iter().filter(|total| total.bytes != 0);
        let peaks = self.peaks.iter().filter(|peak| peak.bytes != 0 || !peak.because.is_empty());
        let measures = measures.map(|measured| answer_line(Self::SCHEMA, measured));
        let parts = self.parts.iter().map(|part| answer_line(Self::SCHEMA, part));
        let totals = totals.map(|total| answer_line(Self::SCHEMA, total));
        let peaks = peaks.map(|peak| answer_line(Self::SCHEMA, peak));
        let changes = self.changes.iter().map(|change| answer_line(Self::SCHEMA, change));
        measures.chain(parts).chain(totals).chain(peaks).chain(changes).collect()
    }
}

/// The numbers by which programs are compared.
fn measures(
    modules: [&Module<'_>; 2],
    memory: Option<[u64; 2]>,
    costs: &[Option<ProgramCost>; 2],
    cause: Reason,
) -> Vec<Measured> {
    let of = |measure: Measure, side: usize| -> Option<u64> {
        let instructions = |is: fn(Instruction<'_, '_>) -> bool| {
            modules[side].instructions().filter(|&instruction| is(instruction)).count() as u64
        };
        match measure {
            Measure::Memory => memory.map(|bytes| bytes[side]),
            Measure::Cycles => costs[side].as_ref()?.cycles.total,
            Measure::Copies => {
                Some(costs[side].as_ref()?.copies.iter().filter(|copy| copy.changes_layout()).count() as u64)
            }
            Measure::Collectives => Some(modules[side].collectives().len() as u64),
            Measure::Fusions => Some(instructions(|instruction| instruction.opcode() == Opcode::Fusion)),
        }
    };
    let measured = |measure: Measure| Measured {
        name: measure.name(),
        change: "measure",
        before: of(measure, 0),
        after: of(measure, 1),
        cause,
        measure,
    };
    Measure::ALL.into_iter().map(measured).collect()
}

/// The copies, collectives and fusions that only one of both programs has.
fn parts(
    modules: [&Module<'_>; 2],
    costs: &[Option<ProgramCost>; 2],
    pairs: &Pairs<'_, '_>,
    inputs: &Inputs<'_>,
) -> Vec<Part> {
    let copies = [0, 1].map(|side: usize| {
        let copies = costs[side].iter().flat_map(|cost| &cost.copies).filter(|copy| copy.changes_layout());
        copies.map(|copy| (copy.number, copy)).collect::<BTreeMap<u32, &CopyCost>>()
    });
    let collectives = modules.map(|module| {
        let all = module.collectives().into_iter().map(|found| found.instruction.number());
        all.collect::<BTreeSet<u32>>()
    });
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
                _ if collectives[side].contains(&number) => {
                    other.is_none_or(|other| !collectives[1 - side].contains(&other))
                }
                (None, Opcode::Fusion) => pair.is_none_or(|pair| pair.opcode() != Opcode::Fusion),
                _ => continue,
            };
            if !is_alone {
                continue;
            }
            let change = match (copy.is_some(), instruction.opcode() == Opcode::Fusion, side) {
                (true, _, 0) => "copy removed",
                (true, _, _) => "copy added",
                (false, true, 0) => "fusion removed",
                (false, true, _) => "fusion added",
                (false, false, 0) => "collective removed",
                (false, false, _) => "collective added",
            };
            let source = sources[side].get(instruction);
            parts.push(Part {
                name: instruction.name().to_owned(),
                change,
                opcode: instruction.opcode().to_string(),
                shape: instruction.shape().to_string(),
                cycles: copy.and_then(|copy| copy.cycles),
                cause: inputs.reason(instruction, side),
                because: copy.map(|copy| copy.cause.clone()),
                remedy: copy.and_then(|copy| copy.remedy.clone()),
                source: source_text(&source),
                op_name: source.op_name.map(std::borrow::Cow::into_owned),
            });
        }
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.cycles));
    parts
}

fn totals(before: &Timeline<'_, '_>, after: &Timeline<'_, '_>) -> Vec<Total> {
    let (before, after) = (before.account(), after.account());
    let numbers = [
        ("total", before.device.total(), after.device.total()),
        ("arguments", before.device.arguments, after.device.arguments),
        ("outputs", before.device.outputs, after.device.outputs),
        ("aliases", before.device.aliases, after.device.aliases),
        ("temporaries", before.device.temporaries, after.device.temporaries),
        ("peak", before.peak, after.peak),
        ("host", before.host.total(), after.host.total()),
    ];
    let total = |(name, bytes_before, bytes_after)| Total {
        name,
        change: "total",
        bytes_before,
        bytes_after,
        bytes: difference(bytes_before, bytes_after),
    };
    numbers.into_iter().map(total).collect()
}

fn peaks(modules: [&Module<'_>; 2], timelines: [&Timeline<'_, '_>; 2], pairs: &Pairs<'_, '_>) -> Vec<Peak> {
    let sources = modules.map(Module::sources);
    let is_tpu = modules.into_iter().any(is_for_tpu);
    let mut spaces = timelines.map(|timeline| timeline.bytes().keys().copied().collect::<Vec<_>>()).concat();
    spaces.sort_unstable();
    spaces.dedup();
    let peak = |space: u8| {
        let steps = timelines.map(|timeline| timeline.peak_step(space));
        let at = |number: usize| {
            let (timeline, step): (&Timeline<'_, '_>, _) = (timelines[number], steps[number]?);
            let name = timeline.instructions().get(step)?.name().to_owned();
            Some((name, timeline.bytes().get(&space)?.get(step).copied()?))
        };
        let (before, after) = (at(0), at(1));
        let bytes = |at: &Option<(String, u64)>| at.as_ref().map_or(0, |(_, bytes)| *bytes);
        let (bytes_before, bytes_after) = (bytes(&before), bytes(&after));
        Peak {
            name: space_name(space, is_tpu),
            change: "peak",
            space,
            bytes_before,
            bytes_after,
            bytes: difference(bytes_before, bytes_after),
            at_before: before.map(|(name, _)| name),
            at_after: after.map(|(name, _)| name),
            because: causes(space, timelines, steps, &sources, pairs),
        }
    };
    spaces.into_iter().map(peak).collect()
}

/// A lifetime that is live in a memory space at a step, and the value that is stored there at that step: its instruction and array.
type Live<'t, 'm, 'a> = (&'t Lifetime<'m, 'a>, (Instruction<'m, 'a>, usize));

fn live<'t, 'm, 'a>(timeline: &'t Timeline<'m, 'a>, space: u8, step: Option<usize>) -> Vec<Live<'t, 'm, 'a>> {
    let Some(step) = step else { return Vec::new() };
    let here = timeline.live_at(step);
    let here = here.filter(|lifetime| lifetime.buffer.memory_space() == space && lifetime.bytes > 0);
    here.map(|lifetime| {
        let own = (lifetime.buffer.instruction, lifetime.buffer.leaf);
        (lifetime, lifetime.value_at(step).map_or(own, |tenant| (tenant.instruction, tenant.leaf)))
    })
    .collect()
}

fn causes(
    space: u8,
    timelines: [&Timeline<'_, '_>; 2],
    steps: [Option<usize>; 2],
    sources: &[Sources<'_>; 2],
    pairs: &Pairs<'_, '_>,
) -> Vec<Cause> {
    let before = live(timelines[0], space, steps[0]);
    let mut after: Vec<_> = live(timelines[1], space, steps[1]).into_iter().map(Some).collect();
    // Lifetimes are paired by the value that is stored at the peak; if that finds no pair, by their first value.
    let mut by_now: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    let mut by_first: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    for (place, entry) in after.iter().enumerate() {
        if let Some((lifetime, (now, leaf))) = entry {
            by_now.insert((now.number(), *leaf), place);
            by_first.insert((lifetime.buffer.instruction.number(), lifetime.buffer.leaf), place);
        }
    }
    let mut found: Vec<Cause> = Vec::new();
    let mut left = Vec::new();
    let mut waiting = Vec::new();
    let same = |made: Instruction<'_, '_>, leaf: usize, places: &BTreeMap<(u32, usize), usize>| {
        places.get(&(pairs.after(made)?.number(), leaf)).copied()
    };
    for (lifetime, (now, leaf)) in before {
        match same(now, leaf, &by_now).and_then(|place| after.get_mut(place)?.take()) {
            Some(other) => waiting.push((lifetime, Some(other))),
            None => waiting.push((lifetime, None)),
        }
    }
    for (lifetime, other) in waiting {
        let first = same(lifetime.buffer.instruction, lifetime.buffer.leaf, &by_first);
        let other = other.or_else(|| after.get_mut(first?)?.take());
        match other {
            Some((other, _)) if other.bytes == lifetime.bytes => {}
            Some((other, _)) => found.push(Cause {
                shape: format!("{} -> {}", lifetime.buffer.array, other.buffer.array),
                ..cause("other size", other, difference(lifetime.bytes, other.bytes), &sources[1])
            }),
            None => left.push(lifetime),
        }
    }
    // Two values of the same shape cancel out, even if they are not paired.
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, entry) in after.iter().enumerate() {
        if let Some((lifetime, _)) = entry {
            same.entry(lifetime.buffer.array.to_string()).or_default().push(place);
        }
    }
    for lifetime in left {
        let place = same.get_mut(&lifetime.buffer.array.to_string()).and_then(Vec::pop);
        match place.and_then(|place| after.get_mut(place).and_then(Option::take)) {
            Some((other, _)) if other.bytes == lifetime.bytes => {}
            Some((other, _)) => {
                found.push(cause("other size", other, difference(lifetime.bytes, other.bytes), &sources[1]));
            }
            None => found.push(cause("only before", lifetime, difference(lifetime.bytes, 0), &sources[0])),
        }
    }
    found.extend(
        after
            .into_iter()
            .flatten()
            .map(|(lifetime, _)| cause("only after", lifetime, difference(0, lifetime.bytes), &sources[1])),
    );
    grouped(found)
}

fn cause(live: &'static str, lifetime: &Lifetime<'_, '_>, bytes: i64, sources: &Sources<'_>) -> Cause {
    let buffer = lifetime.buffer;
    let source = sources.get(buffer.instruction);
    Cause {
        live,
        name: buffer.instruction.name().to_owned(),
        leaf: buffer.leaf,
        shape: buffer.array.to_string(),
        values: 1,
        bytes,
        source: source_text(&source),
        op_name: source.op_name.map(std::borrow::Cow::into_owned),
    }
}

/// Joins causes that differ only in the name, and sorts them by their bytes.
fn grouped(causes: Vec<Cause>) -> Vec<Cause> {
    let mut groups: BTreeMap<(&'static str, String, Option<String>), Cause> = BTreeMap::new();
    for cause in causes {
        let key = (cause.live, cause.shape.clone(), cause.op_name.clone());
        match groups.get_mut(&key) {
            Some(group) => {
                group.values += 1;
                group.bytes = group.bytes.saturating_add(cause.bytes);
            }
            None => {
                groups.insert(key, cause);
            }
        }
    }
    let mut groups: Vec<Cause> = groups.into_values().collect();
    groups.sort_by_key(|cause| std::cmp::Reverse(cause.bytes.unsigned_abs()));
    groups
}

fn changes(before: &Module<'_>, after: &Module<'_>, pairs: &Pairs<'_, '_>) -> Vec<Change> {
    let (before, after) = (before.memory(), after.memory());
    let mut others: BTreeMap<(u32, usize), &Buffer<'_, '_>> =
        after.buffers().iter().map(|buffer| ((buffer.instruction.number(), buffer.leaf), buffer)).collect();
    let mut changes = Vec::new();
    for buffer in before.buffers() {
        let other = pairs.after(buffer.instruction);
        let other = other.and_then(|other| others.remove(&(other.number(), buffer.leaf)));
        changes.extend(change(Some(buffer), other));
    }
    changes.extend(others.into_values().filter_map(|buffer| change(None, Some(buffer))));
    changes.sort_by_key(|change| std::cmp::Reverse(change.bytes.unsigned_abs()));
    changes
}

fn change(before: Option<&Buffer<'_, '_>>, after: Option<&Buffer<'_, '_>>) -> Option<Change> {
    let change = kind(before.map(|buffer| buffer.array), after.map(|buffer| buffer.array))?;
    let bytes = |buffer: Option<&Buffer<'_, '_>>| buffer.map_or(0, |buffer| buffer.footprint.bytes);
    let (bytes_before, bytes_after) = (bytes(before), bytes(after));
    // A value that is in both programs has its name in the second one, which is the one that people look at.
    let named = after.or(before)?;
    Some(Change {
        name: named.instruction.name().to_owned(),
        leaf: named.leaf,
        change,
        before: before.map(|buffer| buffer.array.to_string()),
        after: after.map(|buffer| buffer.array.to_string()),
        bytes_before,
        bytes_after,
        bytes: difference(bytes_before, bytes_after),
    })
}

fn kind(before: Option<&ArrayShape>, after: Option<&ArrayShape>) -> Option<&'static str> {
    match (before, after) {
        (None, None) => None,
        (None, Some(_)) => Some("added"),
        (Some(_), None) => Some("removed"),
        (Some(before), Some(after)) if before == after => None,
        (Some(before), Some(after)) if !before.same_dimensions(after) || !before.same_element_type(after) => {
            Some("shape")
        }
        (Some(before), Some(after)) => {
            let equal = ShapeEqual::new().ignore_memory_space_in_layout();
            let same_place = equal.compare_arrays(before, after);
            Some(if same_place { "memory space" } else { "layout" })
        }
    }
}

/// The text lists at most this many values.
const MOST_CHANGES: usize = 100;
/// The text lists at most this many copies, collectives and fusions.
const MOST_PARTS: usize = 30;
/// The text lists at most this many causes of a difference at a peak.
const MOST_CAUSES: usize = 12;

// Writing to a `Text` does not fail.
fn page(difference: &Difference, width: usize) -> Text {
    let mut text = Text::new(width);
    for (when, (name, accuracy)) in ["before", "after"].iter().zip(&difference.programs) {
        let _ = writeln!(text, "{when:6}  module {name} ({accuracy})");
    }
    if let Some(why) = &difference.unknown {
        let _ = writeln!(text, "note: the cycles are not compared: {why}");
    }
    measured_lines(&mut text, difference);
    for peak in &difference.peaks {
        peak_lines(&mut text, peak);
    }
    if !difference.totals.is_empty() {
        text.heading("Memory");
        let _ = writeln!(text, "  {:>10}  {:>10}  {:>11}", "before", "after", "difference");
    }
    for total in difference.totals.iter().filter(|total| total.bytes_before > 0 || total.bytes_after > 0) {
        let _ = writeln!(
            text,
            "  {:>10}  {:>10}  {:>11}  {}",
            InUnits(total.bytes_before).to_string(),
            InUnits(total.bytes_after).to_string(),
            Signed(total.bytes).to_string(),
            total.name
        );
    }
    text.heading("Values");
    for change in difference.changes.iter().take(MOST_CHANGES) {
        let shapes = match (&change.before, &change.after) {
            (Some(before), Some(after)) => format!("{before} -> {after}"),
            (before, after) => before.iter().chain(after).cloned().collect(),
        };
        let _ = writeln!(
            text,
            "{:>11}  {:12}  {}  {shapes}",
            Signed(change.bytes).to_string(),
            change.change,
            words::value_name(&change.name, change.leaf)
        );
    }
    if difference.changes.len() > MOST_CHANGES {
        let more = count((difference.changes.len() - MOST_CHANGES) as u64, "more", "more");
        let _ = writeln!(text, "             … and {more}; --format json has all");
    }
    let total = difference.changes.iter().fold(0_i64, |sum, change| sum.saturating_add(change.bytes));
    let changes = &difference.changes;
    let of = |kind: &str| changes.iter().filter(|change| change.change == kind).count();
    let _ = writeln!(
        text,
        "{} shapes, {} layouts and {} memory spaces changed; {} values added, {} removed; {} in all",
        of("shape"),
        of("layout"),
        of("memory space"),
        of("added"),
        of("removed"),
        Signed(total),
    );
    text
}

/// The numbers that differ, and the copies, collectives and fusions that come or go.
fn measured_lines(text: &mut Text, difference: &Difference) {
    let known = |measured: &&Measured| measured.before.is_some() || measured.after.is_some();
    let changed: Vec<_> =
        difference.measures.iter().filter(known).filter(|measured| measured.before != measured.after).collect();
    if !changed.is_empty() {
        text.heading("What changed");
    }
    for measured in changed {
        let [before, after] = [measured.before, measured.after].map(|number| match (number, measured.measure) {
            (None, _) => "not known".to_owned(),
            (Some(bytes), Measure::Memory) => InUnits(bytes).to_string(),
            (Some(number), _) => Grouped(number).to_string(),
        });
        let percent = match (measured.before, measured.after) {
            (Some(before), Some(after)) if before > 0 => {
                format!(" ({:+.1} %)", (after as f64 - before as f64) / before as f64 * 100.0)
            }
            _ => String::new(),
        };
        let _ = writeln!(text, "  {:11} {before} -> {after}{percent}: {}", measured.name, measured.cause);
    }
    if !difference.parts.is_empty() {
        text.heading("Copies, collectives and fusions");
    }
    for part in difference.parts.iter().take(MOST_PARTS) {
        let cycles = part.cycles.map_or(String::new(), |cycles| format!("  {} cycles", Grouped(cycles)));
        let source = part.source.as_ref().map_or(String::new(), |source| format!("  {source}"));
        let _ = writeln!(text, "  {:18} %{}{cycles}{source}: {}", part.change, part.name, part.cause);
        if let Some(because) = &part.because {
            text.hanging("      ", because);
        }
        if let Some(remedy) = part.remedy.as_ref().filter(|_| part.change == "copy added") {
            text.hanging("      ", &format!("to remove it: {remedy}"));
        }
    }
    if let Some(more) = difference.parts.len().checked_sub(MOST_PARTS).filter(|&more| more > 0) {
        let _ = writeln!(text, "  … and {more} more; --format json has all");
    }
}

fn peak_lines(text: &mut Text, peak: &Peak) {
    let at = |name: &Option<String>| name.as_ref().map_or(String::new(), |name| format!(" at %{name}"));
    text.heading(&format!(
        "Peak of {}: {}{} before, {}{} after, {}",
        peak.name,
        InUnits(peak.bytes_before),
        at(&peak.at_before),
        InUnits(peak.bytes_after),
        at(&peak.at_after),
        if peak.bytes == 0 { "the same".to_owned() } else { Signed(peak.bytes).to_string() },
    ));
    for cause in peak.because.iter().take(MOST_CAUSES) {
        let like = match cause.values {
            1 => String::new(),
            values => format!("  {}", count(values as u64, "value", "values")),
        };
        let origin = [&cause.op_name, &cause.source].into_iter().flatten();
        let origin: String = origin.map(|part| format!("  {part}")).collect();
        let _ = writeln!(
            text,
            "{:>13}  {:11}  {}  {}{like}{origin}",
            Signed(cause.bytes).to_string(),
            cause.live,
            words::value_name(&cause.name, cause.leaf),
            cause.shape
        );
    }
    if peak.because.len() > MOST_CAUSES {
        let rest = peak.because.iter().skip(MOST_CAUSES).fold(0_i64, |sum, cause| sum.saturating_add(cause.bytes));
        let _ = writeln!(text, "{:>13}  {} more", Signed(rest).to_string(), peak.because.len() - MOST_CAUSES);
    }
}
