//! What differs between two versions of kernels.

use super::{Entry, LineEntry};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel before and after a change; one of them is `None` if only the other version has it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct KernelDifference {
    /// The kernel; both names if they differ.
    pub(super) name: String,
    /// The device; null for a dump.
    #[serde(rename = "for")]
    pub(super) target: Option<String>,
    /// Its figures; null if this version does not have it.
    pub(super) before: Option<Figures>,
    /// Its figures; null if this version does not have it.
    pub(super) after: Option<Figures>,
    /// The lines that are not the same, by file and number.
    pub(super) lines: Vec<LineDifference>,
    /// What is missing, uncertain or not understood on either side: the figures may be too small.
    pub(super) notes: Vec<String>,
}

/// The figures of a kernel.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub(super) struct Figures {
    /// The bundles.
    pub(super) bundles: Option<u64>,
    /// Those that do nothing.
    pub(super) empty: Option<u64>,
    /// The bundles times the trips of their loops.
    pub(super) executed: Option<u64>,
    /// The relayouts.
    pub(super) relayouts: Option<u64>,
    /// Those that move data.
    pub(super) moving: Option<u64>,
    /// Stores of registers.
    pub(super) spills: u64,
    /// Loads of these.
    pub(super) fills: u64,
    /// The bytes of vector memory.
    pub(super) vmem_bytes: Option<u64>,
}

/// A line of Python before and after; `None` if the kernel has no such line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct LineDifference {
    /// The file and the line.
    pub(super) source: String,
    /// The line before, as in `lines`; null if there is none.
    pub(super) before: Option<LineEntry>,
    /// The line after.
    pub(super) after: Option<LineEntry>,
}

/// Compares kernels of the same name and device, in their order. If a device has one kernel in each version, they are compared whatever
/// their names are. A dump does not say its device: its kernels are compared with those of the only device of the other version.
pub(super) fn differences(before: &[Entry], after: &[Entry]) -> Vec<KernelDifference> {
    let devices = [before, after].map(|entries| entries.iter().map(|entry| &entry.target).collect::<BTreeSet<_>>());
    let is_one =
        devices.iter().all(|devices| devices.len() == 1) && devices.iter().flatten().any(|target| target.is_none());
    let is_same = |one: &Option<String>, other: &Option<String>| is_one || one == other;
    let only = |entries: &[Entry], target: &Option<String>| {
        entries.iter().filter(|entry| is_same(&entry.target, target)).count() == 1
    };
    let mut left = before.iter().map(Some).collect::<Vec<_>>();
    let mut found = Vec::new();
    for entry in after {
        let alone = only(before, &entry.target) && only(after, &entry.target);
        let same = |other: &Entry| is_same(&other.target, &entry.target) && (alone || other.name == entry.name);
        let other = left.iter_mut().find(|other| other.is_some_and(same)).and_then(Option::take);
        found.push(KernelDifference::new(other, Some(entry)));
    }
    found.extend(left.into_iter().flatten().map(|entry| KernelDifference::new(Some(entry), None)));
    found
}

impl KernelDifference {
    fn new(before: Option<&Entry>, after: Option<&Entry>) -> Self {
        let titles = [before, after].map(|entry| entry.map(Entry::title));
        let name = match &titles {
            [Some(before), Some(after)] if before != after => format!("{after}, before {before}"),
            [Some(title), _] | [None, Some(title)] => title.clone(),
            [None, None] => String::new(),
        };
        let mut lines: BTreeMap<&str, [Option<&LineEntry>; 2]> = BTreeMap::new();
        for (side, entry) in [before, after].into_iter().enumerate() {
            for line in entry.iter().flat_map(|entry| &entry.lines) {
                if let Some(place) = lines.entry(&line.source).or_default().get_mut(side) {
                    *place = Some(line);
                }
            }
        }
        let lines = lines.into_iter().filter(|(_, [before, after])| before != after);
        let lines = lines.map(|(source, [before, after])| LineDifference {
            source: source.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
        });
        let sides = [(before, "before"), (after, "after")];
        let sides = sides.into_iter().filter_map(|(entry, side)| Some((entry?, side)));
        let notes =
            sides.flat_map(|(entry, side)| entry.doubts().map(move |doubt| format!("{side} the change: {doubt}")));
        Self {
            name,
            notes: notes.collect(),
            target: after.or(before).and_then(|entry| entry.target.clone()),
            before: before.map(Figures::new),
            after: after.map(Figures::new),
            lines: lines.collect(),
        }
    }
}

impl Figures {
    fn new(entry: &Entry) -> Self {
        let relayouts = entry.relayouts.as_ref();
        Self {
            bundles: entry.bundles,
            empty: entry.empty,
            executed: entry.executed,
            relayouts: relayouts.map(|relayouts| relayouts.len() as u64),
            moving: relayouts.map(|_| entry.moving() as u64),
            spills: entry.spills,
            fills: entry.fills,
            vmem_bytes: entry.vmem.as_ref().and_then(|vmem| vmem.bytes),
        }
    }

    /// The figures with their names.
    pub(super) const fn all(&self) -> [(&'static str, Option<u64>); 8] {
        [
            ("bundles", self.bundles),
            ("empty bundles", self.empty),
            ("bundles with trips", self.executed),
            ("relayouts", self.relayouts),
            ("relayouts that move data", self.moving),
            ("spills", Some(self.spills)),
            ("fills", Some(self.fills)),
            ("bytes of vector memory", self.vmem_bytes),
        ]
    }
}
