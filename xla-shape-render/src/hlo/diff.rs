//! What changed between two programs: the memory at the peak, and values.

use super::memory::{Accuracy, source_of};
use crate::answer::json_line;
use crate::words::{self, InUnits, Signed, count, difference, space_name};
use crate::{Answer, Text};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use xla_shape_core::ArrayShape;
use xla_shape_core::compare::ShapeEqual;
use xla_shape_hlo::{Buffer, Instruction, Lifetime, Module, Pairs, Sources, Timeline};

/// A value that is not the same in both, or only in one.
#[derive(Clone, Debug, Serialize)]
struct Change {
    name: String,
    /// Which array of the instruction's value.
    leaf: usize,
    /// What changed: "shape", "layout", "memory space", "added" or "removed".
    change: &'static str,
    before: Option<String>,
    after: Option<String>,
    bytes_before: u64,
    bytes_after: u64,
    /// More bytes than before; negative if it is less.
    bytes: i64,
}

/// A number of the program's memory that is not the same in both.
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

/// What lies in a memory space when it is fullest, in both.
#[derive(Clone, Debug, Serialize)]
struct Peak {
    /// The memory space as people read it.
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
    /// What makes the difference; what it is adds up to `bytes`.
    because: Vec<Cause>,
}

/// Something that lies there at the peak of one program and not of the other one, or with another size.
#[derive(Clone, Debug, Serialize)]
struct Cause {
    /// "only before", "only after" or "other size".
    live: &'static str,
    name: String,
    leaf: usize,
    shape: String,
    /// How many there are of this kind, shape and origin; `bytes` are those of all.
    values: usize,
    bytes: i64,
    op_name: Option<String>,
    source: Option<String>,
}

/// What is not the same in two programs.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// The names of the modules, and how their numbers came about.
    programs: [(String, &'static str); 2],
    totals: Vec<Total>,
    peaks: Vec<Peak>,
    changes: Vec<Change>,
}

impl Difference {
    /// Compares two programs by what is estimated of them.
    #[must_use]
    pub fn new(before: &Module<'_>, after: &Module<'_>) -> Self {
        let (first, second) = (before.memory(), after.memory());
        let timelines = [first.timeline_on(None), second.timeline_on(None)];
        Self::on(before, timelines[0].as_ref(), after, timelines[1].as_ref())
    }

    /// Compares two programs, each with the timeline that is known of it.
    #[must_use]
    pub fn on(
        before: &Module<'_>,
        before_timeline: Option<&Timeline<'_, '_>>,
        after: &Module<'_>,
        after_timeline: Option<&Timeline<'_, '_>>,
    ) -> Self {
        // Both live as long as this call; the shorter lifetime serves for both.
        let pairs = Pairs::new(before, after);
        let program = |module: &Module<'_>, timeline: Option<&Timeline<'_, '_>>| {
            (module.name().unwrap_or("without a name").to_owned(), Accuracy::of(timeline).name())
        };
        let timelines = before_timeline.zip(after_timeline);
        Self {
            programs: [program(before, before_timeline), program(after, after_timeline)],
            totals: timelines.map_or_else(Vec::new, |(before, after)| totals(before, after)),
            peaks: timelines.map_or_else(Vec::new, |timelines| peaks([before, after], timelines.into(), &pairs)),
            changes: changes(before, after, &pairs),
        }
    }

    /// Whether nothing differs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.totals.iter().all(|total| total.bytes == 0)
            && self.peaks.iter().all(|peak| peak.bytes == 0 && peak.because.is_empty())
    }
}

impl Answer for Difference {
    fn text(&self, width: usize) -> Text {
        page(self, width)
    }

    fn json(&self) -> String {
        let totals = self.totals.iter().filter(|total| total.bytes != 0).map(json_line);
        let peaks = self.peaks.iter().filter(|peak| peak.bytes != 0 || !peak.because.is_empty()).map(json_line);
        totals.chain(peaks).chain(self.changes.iter().map(json_line)).collect()
    }
}

fn totals(before: &Timeline<'_, '_>, after: &Timeline<'_, '_>) -> Vec<Total> {
    let (before, after) = (before.account(), after.account());
    let numbers = [
        ("HBM in all", before.device.total(), after.device.total()),
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
            name: space_name(space),
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

/// What lies in a memory space at a step, and which array of which instruction's value it is there.
type Live<'t, 'm, 'a> = (&'t Lifetime<'m, 'a>, (Instruction<'m, 'a>, usize));

fn live<'t, 'm, 'a>(timeline: &'t Timeline<'m, 'a>, space: u8, step: Option<usize>) -> Vec<Live<'t, 'm, 'a>> {
    let Some(step) = step else { return Vec::new() };
    let here = timeline.live_at(step);
    let here = here.filter(|lifetime| lifetime.buffer.memory_space() == space && lifetime.bytes > 0);
    here.map(|lifetime| {
        let own = (lifetime.buffer.instruction, lifetime.buffer.leaf);
        (lifetime, lifetime.tenant_at(step).map_or(own, |tenant| (tenant.instruction, tenant.leaf)))
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
    // What lies there now says more than what lay there first.
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
    // Something else of the same shape makes no difference.
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
    let source = sources.of(buffer.instruction);
    Cause {
        live,
        name: buffer.instruction.name().to_owned(),
        leaf: buffer.leaf,
        shape: buffer.array.to_string(),
        values: 1,
        bytes,
        source: source_of(&source),
        op_name: source.op_name.map(std::borrow::Cow::into_owned),
    }
}

/// What differs in the name only stands together; what differs most comes first.
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
    // A person looks for a value in the newer program.
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

/// How many values are listed.
const MOST_CHANGES: usize = 100;
/// How many lines say what makes a difference at a peak.
const MOST_CAUSES: usize = 12;

// Writing to memory does not fail.
fn page(difference: &Difference, width: usize) -> Text {
    let mut text = Text::new(width);
    for (when, (name, accuracy)) in ["before", "after"].iter().zip(&difference.programs) {
        let _ = writeln!(text, "{when:6}  module {name} ({accuracy})");
    }
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
