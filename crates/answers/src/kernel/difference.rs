//! The differences between two versions of kernels.

use super::{CompiledKernel, LineEntry};
use crate::digest::{Amount, Bundles};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use xla_shape_core::sorting::set_of;

/// A kernel before and after a change. A version without the kernel is `None`.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let kernel = |bundles: u32| {
///     let text = format!(
///         "Schedule analysis:\n\ttotal scheduled bundles: {bundles}\n\t 1.00 scheduled bundles (100.00%): %k = f32[8] custom-call(%x), \
///          custom_call_target=\"tpu_custom_call\"\n"
///     );
///     let mut answer = Kernels::default();
///     answer.add(None, None, &kernels(&[("llo.k.schedule-analysis_final_bundles.txt", text.as_str())]));
///     answer
/// };
/// let mut answer = kernel(20);
/// answer.compare(&kernel(21));
/// let difference = &answer.differences.unwrap()[0];
/// assert_eq!((difference.name.as_str(), difference.after.map(|figures| figures.bundles)), ("k", Some(Some(20))));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct KernelDifference {
    /// The kernel; both names if they differ.
    pub name: String,
    /// The device; null for a dump.
    #[serde(rename = "for")]
    pub target: Option<String>,
    /// The kernel's figures before the change; null if that version does not have the kernel.
    pub before: Option<Figures>,
    /// The kernel's figures after the change; null if that version does not have the kernel.
    pub after: Option<Figures>,
    /// The lines that are not the same, by file and number.
    pub lines: Vec<LineDifference>,
    /// What is missing, uncertain or not understood on either side: the figures may be too small.
    pub notes: Vec<String>,
}

/// The figures of a kernel.
///
/// ```
/// use xla_shape_answers::kernel::{Figure, Kernels};
/// use xla_shape_mosaic::kernels;
///
/// let kernel = |bundles: u32| {
///     let text = format!(
///         "Schedule analysis:\n\ttotal scheduled bundles: {bundles}\n\t 1.00 scheduled bundles (100.00%): %k = f32[8] custom-call(%x), \
///          custom_call_target=\"tpu_custom_call\"\n"
///     );
///     let mut answer = Kernels::default();
///     answer.add(None, None, &kernels(&[("llo.k.schedule-analysis_final_bundles.txt", text.as_str())]));
///     answer
/// };
/// let mut answer = kernel(20);
/// answer.compare(&kernel(21));
/// let difference = &answer.differences.unwrap()[0];
/// let changed = difference.before.unwrap().changed(&difference.after.unwrap());
/// assert_eq!(changed, [(Figure::Bundles, [Some(21), Some(20)])]);
/// ```
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Figures {
    /// The bundles.
    pub bundles: Option<u64>,
    /// The bundles that do nothing.
    pub empty: Option<u64>,
    /// The bundles times the trips of their loops.
    pub executed: Option<u64>,
    /// The relayouts.
    pub relayouts: Option<u64>,
    /// The relayouts that move data.
    pub moving: Option<u64>,
    /// Stores of registers.
    pub spills: u64,
    /// Loads of registers that were stored.
    pub fills: u64,
    /// The bytes of vector memory.
    pub vmem_bytes: Option<u64>,
}

/// A line of Python before and after; `None` if the kernel has no such line.
///
/// ```
/// use xla_shape_answers::kernel::Kernels;
/// use xla_shape_mosaic::kernels;
///
/// let kernel = |line: u32| {
///     let text = format!("0 : {{ %v1_v0 = vadd.f32 %v0_v0, 1.0 /* loc(\"k.py\":{line}:1 to :9) */ }} /* exit bundle: %k = custom-call(%x) */\n");
///     let mut answer = Kernels::default();
///     answer.add(None, None, &kernels(&[("llo.k.final_bundles.txt", text.as_str())]));
///     answer
/// };
/// let mut answer = kernel(5);
/// answer.compare(&kernel(4));
/// let lines = &answer.differences.unwrap()[0].lines;
/// assert_eq!((lines[0].source.as_str(), lines[0].after.is_none(), lines[1].source.as_str()), ("k.py:4", true, "k.py:5"));
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LineDifference {
    /// The file and the line.
    pub source: String,
    /// The line before, as in `lines`; null if there is none.
    pub before: Option<LineEntry>,
    /// The line after.
    pub after: Option<LineEntry>,
}

impl LineDifference {
    /// The change in its bundles. Each counts as often as it runs, if that is known for both versions.
    pub(super) fn amount(&self) -> Amount {
        let executed = [&self.before, &self.after].map(|line| line.as_ref().map_or(Some(0), |line| line.executed));
        match executed {
            [Some(before), Some(after)] => Amount::BundlesChanged(Bundles::Executed, [before, after]),
            _ => Amount::BundlesChanged(Bundles::Once, self.bundles()),
        }
    }

    /// The bundles of the line before and after. If one version does not have the line, its number is 0.
    pub(super) fn bundles(&self) -> [u64; 2] {
        [&self.before, &self.after].map(|line| line.as_ref().map_or(0, |line| line.bundles))
    }
}

/// Compares kernels of the same name and device, in their order. If a device has one kernel in each version, they are compared even if their names
/// differ. A dump does not say which device it is for. If the other version has only one device, the dump is taken to be for that device.
pub(super) fn differences(before: &[CompiledKernel], after: &[CompiledKernel]) -> Vec<KernelDifference> {
    let devices = [before, after].map(|entries| set_of(entries.iter().map(|entry| &entry.target)));
    let is_one =
        devices.iter().all(|devices| devices.len() == 1) && devices.iter().flatten().any(|target| target.is_none());
    let is_same = |one: &Option<String>, other: &Option<String>| is_one || one == other;
    let only = |entries: &[CompiledKernel], target: &Option<String>| {
        entries.iter().filter(|entry| is_same(&entry.target, target)).count() == 1
    };
    // Kernels of the first version that are not compared yet. Each is taken once, so kernels of the same name are compared in their order.
    let mut left = before.iter().map(Some).collect::<Vec<_>>();
    let mut found = Vec::new();
    for entry in after {
        // If each version has only one kernel on the device, it is the same kernel, even if it was renamed.
        let alone = only(before, &entry.target) && only(after, &entry.target);
        let same =
            |other: &CompiledKernel| is_same(&other.target, &entry.target) && (alone || other.name == entry.name);
        let other = left.iter_mut().find(|other| other.is_some_and(same)).and_then(Option::take);
        found.push(KernelDifference::new(other, Some(entry)));
    }
    found.extend(left.into_iter().flatten().map(|entry| KernelDifference::new(Some(entry), None)));
    found
}

impl KernelDifference {
    fn new(before: Option<&CompiledKernel>, after: Option<&CompiledKernel>) -> Self {
        let titles = [before, after].map(|entry| entry.map(CompiledKernel::title));
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
        // A line that costs the same on both sides is not a difference.
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
    fn new(entry: &CompiledKernel) -> Self {
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

    /// All figures with their names.
    #[must_use]
    pub const fn all(&self) -> [(Figure, Option<u64>); 8] {
        [
            (Figure::Bundles, self.bundles),
            (Figure::Empty, self.empty),
            (Figure::Executed, self.executed),
            (Figure::Relayouts, self.relayouts),
            (Figure::Moving, self.moving),
            (Figure::Spills, Some(self.spills)),
            (Figure::Fills, Some(self.fills)),
            (Figure::VmemBytes, self.vmem_bytes),
        ]
    }

    /// The figures that differ, among those that decide how long a kernel takes and whether it fits: each with both numbers.
    #[must_use]
    pub fn changed(&self, after: &Self) -> Vec<(Figure, [Option<u64>; 2])> {
        let has_trips = self.executed.is_some() && after.executed.is_some();
        let bundles = if has_trips { Figure::Executed } else { Figure::Bundles };
        let decisive = [bundles, Figure::Moving, Figure::Spills, Figure::VmemBytes];
        let figures = self.all().into_iter().zip(after.all());
        let figures = figures.map(|((figure, before), (_, after))| (figure, [before, after]));
        figures.filter(|(figure, [before, after])| decisive.contains(figure) && before != after).collect()
    }
}

words! {
    /// A number about a kernel, or about a program.
    ///
    /// ```
    /// use xla_shape_answers::kernel::Figure;
    ///
    /// assert_eq!(Figure::Executed.to_string(), "bundles with trips");
    /// ```
    pub enum Figure {
        /// How many instructions of a program have bundles.
        Instructions = "instructions with bundles",
        /// The bundles.
        Bundles = "bundles",
        /// The bundles that do nothing.
        Empty = "empty bundles",
        /// The bundles times the trips of their loops.
        Executed = "bundles with trips",
        /// The bundles that do nothing times the trips of their loops.
        ExecutedEmpty = "empty ones with trips",
        /// The fewest bundles that can execute, over all trips.
        Least = "least bundles",
        /// The relayouts.
        Relayouts = "relayouts",
        /// The relayouts that move data.
        Moving = "relayouts that move data",
        /// Stores of registers.
        Spills = "spills",
        /// Loads of registers that were stored.
        Fills = "fills",
        /// The bytes of vector memory of a kernel.
        VmemBytes = "bytes of vector memory",
        /// The most bytes of vector memory of an instruction.
        MostVmemBytes = "most bytes of vector memory",
    }
}
