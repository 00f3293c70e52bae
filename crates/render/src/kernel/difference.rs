//! What differs between two versions of kernels.

use super::{Entry, LineEntry};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A kernel before and after a change; one of them is `None` if only the other version has it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct KernelDifference {
    pub(super) name: String,
    #[serde(rename = "for")]
    pub(super) target: Option<String>,
    pub(super) before: Option<Figures>,
    pub(super) after: Option<Figures>,
    /// The lines that are not the same.
    pub(super) lines: Vec<LineDifference>,
    /// What is missing, doubtful or not understood.
    pub(super) notes: Vec<String>,
}

/// The figures of a kernel.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Figures {
    pub(super) bundles: Option<u64>,
    pub(super) empty: Option<u64>,
    pub(super) executed: Option<u64>,
    pub(super) relayouts: Option<u64>,
    pub(super) moving: Option<u64>,
    pub(super) spills: u64,
    pub(super) fills: u64,
    pub(super) vmem_bytes: Option<u64>,
}

/// A line of Python before and after; `None` if the kernel has no such line.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LineDifference {
    pub(super) source: String,
    pub(super) before: Option<LineEntry>,
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
