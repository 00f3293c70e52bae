//! The peaks of two programs, and why they differ.

use crate::numbers::{difference, space_name};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::memory_space::Platform;
use xla_shape_core::sorting::{sort, sort_by, sort_by_key};
use xla_shape_hlo::{Instruction, Lifetime, Module, Pairs, Sources, Timeline};

words! {
    /// The kind of a line about a peak.
    pub enum PeakChange {
        /// What is live at the peak differs.
        Peak = "peak",
    }

    /// At which peak a value is live.
    #[derive(PartialOrd, Ord)]
    pub enum LiveAt {
        /// Only at the peak of the second program.
        After = "only after",
        /// Only at the peak of the first program.
        Before = "only before",
        /// At both peaks, with different sizes.
        OtherSize = "other size",
    }
}

/// The peaks of a memory space in both programs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Peak {
    /// The name of the memory space, such as "S(1) VMEM".
    pub name: String,
    /// What is live at the peak differs.
    pub change: PeakChange,
    /// The number of the memory space.
    pub space: u8,
    /// The bytes in the first program.
    pub bytes_before: u64,
    /// The bytes in the second program.
    pub bytes_after: u64,
    /// How many bytes more in the second program; negative if fewer.
    pub bytes: i64,
    /// The instruction at which the space is fullest in the first program; null if it is not used.
    pub at_before: Option<String>,
    /// The instruction at which the space is fullest in the second program; null if it is not used.
    pub at_after: Option<String>,
    /// The causes of the difference; their `bytes` add up to the `bytes` of the peak.
    pub because: Vec<Cause>,
}

impl Peak {
    /// Whether different arrays are live at the peaks.
    pub(super) const fn is_changed(&self) -> bool {
        self.bytes != 0 || !self.because.is_empty()
    }
}

/// Something that is in memory at the peak of only one program, or that has different sizes in the two programs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Cause {
    /// At which peak it is live.
    pub live: LiveAt,
    /// The name of the instruction.
    pub name: String,
    /// Which array of the instruction's value, from 0.
    pub leaf: usize,
    /// The shape; if the size differs, both with ` -> ` between them.
    pub shape: String,
    /// How many values have this shape and origin.
    pub values: usize,
    /// How many bytes more in the second program; negative if fewer.
    pub bytes: i64,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// The peak of each memory space that one of the programs uses.
pub(super) fn peaks(modules: [&Module; 2], timelines: [&Timeline<'_>; 2], pairs: &Pairs<'_>) -> Vec<Peak> {
    let sources = modules.map(Module::sources);
    let platforms = modules.map(Module::platform);
    let platform = if platforms[0] == Platform::Other { platforms[1] } else { platforms[0] };
    let mut spaces = timelines.map(|timeline| timeline.bytes().keys().copied().collect::<Vec<_>>()).concat();
    sort(&mut spaces);
    spaces.dedup();
    let peak = |space: u8| {
        let steps = timelines.map(|timeline| timeline.peak_step(space));
        let at = |number: usize| {
            let (timeline, step): (&Timeline<'_>, _) = (timelines[number], steps[number]?);
            let name = timeline.instructions().get(step)?.name().to_owned();
            Some((name, timeline.bytes().get(&space)?.get(step).copied()?))
        };
        let (before, after) = (at(0), at(1));
        let bytes = |at: &Option<(String, u64)>| at.as_ref().map_or(0, |(_, bytes)| *bytes);
        let (bytes_before, bytes_after) = (bytes(&before), bytes(&after));
        Peak {
            name: space_name(space, platform),
            change: PeakChange::Peak,
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
type Live<'t, 'm> = (&'t Lifetime<'m>, (Instruction<'m>, usize));

/// What is live in a memory space at a step.
fn live<'t, 'm>(timeline: &'t Timeline<'m>, space: u8, step: Option<usize>) -> Vec<Live<'t, 'm>> {
    let Some(step) = step else { return Vec::new() };
    let here = timeline.live_at(step);
    let here = here.filter(|lifetime| lifetime.buffer.memory_space() == space && lifetime.bytes > 0);
    here.map(|lifetime| {
        let own = (lifetime.buffer.instruction, lifetime.buffer.leaf);
        (lifetime, lifetime.value_at(step).map_or(own, |tenant| (tenant.instruction, tenant.leaf)))
    })
    .collect()
}

/// Why the peaks of a memory space differ. Everything that is live at one of the peaks is either paired with something of the same size, or a cause.
/// So the causes' bytes add up to the difference.
fn causes(
    space: u8,
    timelines: [&Timeline<'_>; 2],
    steps: [Option<usize>; 2],
    sources: &[Sources<'_>; 2],
    pairs: &Pairs<'_>,
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
    let same = |made: Instruction<'_>, leaf: usize, places: &BTreeMap<(u32, usize), usize>| {
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
                ..cause(LiveAt::OtherSize, other, difference(lifetime.bytes, other.bytes), &sources[1])
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
                found.push(cause(LiveAt::OtherSize, other, difference(lifetime.bytes, other.bytes), &sources[1]));
            }
            None => found.push(cause(LiveAt::Before, lifetime, difference(lifetime.bytes, 0), &sources[0])),
        }
    }
    found.extend(
        after
            .into_iter()
            .flatten()
            .map(|(lifetime, _)| cause(LiveAt::After, lifetime, difference(0, lifetime.bytes), &sources[1])),
    );
    grouped(found)
}

fn cause(live: LiveAt, lifetime: &Lifetime<'_>, bytes: i64, sources: &Sources<'_>) -> Cause {
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
fn grouped(mut causes: Vec<Cause>) -> Vec<Cause> {
    let key = |cause: &Cause, other: &Cause| {
        (cause.live, &cause.shape, &cause.op_name).cmp(&(other.live, &other.shape, &other.op_name))
    };
    // After sorting, causes with the same key follow each other, and the first of them takes the others' bytes.
    sort_by(&mut causes, key);
    causes.dedup_by(|cause, first| {
        let is_same = key(cause, first).is_eq();
        if is_same {
            first.values += 1;
            first.bytes = first.bytes.saturating_add(cause.bytes);
        }
        is_same
    });
    sort_by_key(&mut causes, |cause| std::cmp::Reverse(cause.bytes.unsigned_abs()));
    causes
}
