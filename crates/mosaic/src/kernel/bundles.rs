//! What the bundles of a kernel say: how often they execute, their loops, spills and lines.

use super::Kernel;
use crate::branches::least_executions;
use crate::bundles::{Bundle, Bundles, Slot};
use crate::loops::{Loop, executions, loops};
use crate::schedule::{Unit, Utilization};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort;
use xla_shape_mlir::Source;

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

impl Default for Line {
    /// A line without operations and slots.
    fn default() -> Self {
        Self { operations: 0, registers: 0, relayouts: 0, moving: 0, bundles: 0, slots: 0, executed: Some(0) }
    }
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
    /// How many of these bundles have no slots.
    pub empty: u64,
    /// For each unit, the slots that the loop's bundles use; `capacity` counts the slots of one bundle.
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

impl<'a> Kernel<'a> {
    /// How many bundles execute at most. More than [`least`](Self::least) if it is unknown whether a branch skips a bundle, because that depends on
    /// values or on the core, or would take too long to compute. `None` if `least` is not known, or a loop around such a bundle has unknown trips.
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

    pub(super) fn read_bundles(&mut self, bundles: &Bundles<'a>, utilization: &Utilization<'a>) {
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
        #[expect(clippy::arithmetic_side_effects, reason = "each slot and each bundle of a text counts once")]
        for (bundle, times) in all.iter().zip(times) {
            if bundle.is_empty() {
                executed_empty = sum(executed_empty, times);
            }
            executed = sum(executed, times);
            let mut here: BTreeMap<Source<'a>, u64> = BTreeMap::new();
            for slot in bundle.slots().iter().filter(|slot| !slot.is_pseudo()) {
                self.spills += u64::from(slot.is_spill());
                self.fills += u64::from(slot.is_fill());
                let [vectors, known] = &mut self.vector_slots;
                *vectors += u64::from(slot.is_vector());
                if let Some(source) = slot.source() {
                    *known += u64::from(slot.is_vector());
                    let slots = here.entry(source).or_default();
                    *slots += 1;
                }
            }
            for (source, slots) in here {
                let line = self.lines.entry(source).or_default();
                line.slots += slots;
                line.bundles += 1;
                line.executed = sum(line.executed, times);
            }
        }
        (self.executed, self.executed_empty) = (executed, executed_empty);
        self.loops = found.into_iter().map(|found| LoopUse::new(found, bundles, utilization)).collect();
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
        let mut sources = inside().flat_map(|bundle| bundle.slots()).filter_map(Slot::source).collect::<Vec<_>>();
        sort(&mut sources);
        // A loop may have instructions of functions from other files: the file with the most instructions is named.
        let largest = sources.chunk_by(|a, b| a.file == b.file).max_by_key(|same| same.len());
        let lines = largest.and_then(|same| same.first().copied().zip(same.last().copied()));
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
