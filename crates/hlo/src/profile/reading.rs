//! What is known about a plane while its lines are read.

use super::line::Stats;
use super::plane::Plane;
use super::times::Run;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// What is known about a plane while its lines are read.
pub(super) struct Reading<'r, 'p> {
    pub(super) plane: &'r Plane<'p>,
    pub(super) stats: &'r Stats,
    /// The runs on this plane, each with its module.
    pub(super) runs: Vec<(u32, Run)>,
    /// For runs, the intervals in which instructions ran.
    pub(super) busy: Vec<(u32, i64, i64)>,
    /// The runs of a TPU by time: beginning, end and number.
    pub(super) spans: Vec<(i64, i64, u32)>,
    /// The module and the instruction of the events of a TPU that were looked up before.
    pub(super) known: BTreeMap<EventOfTpu, Option<(u32, u32)>>,
    /// The runs of a CPU by module, number of the run, and device.
    pub(super) of_cpu: BTreeMap<(u32, u64, u64), u32>,
    /// How often the kernels of a GPU ran, by module, instruction, and the metadata of the kernel.
    pub(super) kernels: BTreeMap<(u32, u64, u64), u32>,
}

/// What identifies the instruction of an event of a TPU: the event's metadata, and the module that runs.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EventOfTpu {
    pub(super) is_asynchronous: bool,
    pub(super) metadata: u64,
    pub(super) module: Option<u32>,
}

impl Reading<'_, '_> {
    /// The run that is going on at this time.
    pub(super) fn run_at(&self, time: i64) -> Option<u32> {
        let after = self.spans.partition_point(|(start, ..)| *start <= time);
        let &(_, end, run) = self.spans.get(after.checked_sub(1)?)?;
        (time < end).then_some(run)
    }
}
