//! Events that contain each other: an instruction's own time is the time during which no instruction inside of it runs.

use super::plane::Result;
use super::times::{Doubts, InstructionTimes, covered};
use alloc::vec::Vec;

/// One execution of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) start: i64,
    pub(super) duration: u64,
    /// The module, and the instruction in it.
    pub(super) module: u32,
    pub(super) instruction: u32,
    /// The run, if it is known.
    pub(super) run: Option<u32>,
}

impl Event {
    /// The end. It never saturates: events whose end does not fit in an `i64` were not taken.
    fn end(&self) -> i64 {
        self.start.saturating_add_unsigned(self.duration)
    }
}

/// Calls `add` with each event of one line and the part of its duration that is its own. Adds to `busy` the intervals in which runs are busy.
///
/// As in `AggregateXPlane` of `xla/tsl/profiler/utils/xplane_utils.cc`, an event that begins during an earlier event and ends after it is not inside
/// of that event.
#[expect(clippy::arithmetic_side_effects, reason = "each event counts at most twice")]
pub(super) fn add_line(
    events: &mut [Event],
    doubts: &mut Doubts,
    busy: &mut Vec<(u32, i64, i64)>,
    mut add: impl FnMut(&Event, u64) -> Result<()>,
) -> Result<()> {
    events.sort_unstable_by_key(|event| (event.start, core::cmp::Reverse(event.duration)));
    // The events around the current one, from the outside in, each with the time of the events directly inside of it.
    let mut open: Vec<(Event, u64)> = Vec::new();
    let mut close = |event: Event, inside: u64, doubts: &mut Doubts| {
        let own = event.duration.checked_sub(inside).unwrap_or_else(|| {
            // The events inside of it overlap each other, so their times add up to more than its own.
            doubts.overlapping += 1;
            0
        });
        add(&event, own)
    };
    for &event in &*events {
        while let Some(&(outer, inside)) = open.last()
            && outer.end() < event.end().max(event.start.saturating_add(1))
        {
            open.pop();
            if outer.end() > event.start {
                doubts.overlapping += 1;
            }
            close(outer, inside, doubts)?;
        }
        let around = open.last_mut();
        // The event around this one already shows that the run is busy.
        if around.as_ref().is_none_or(|(outer, _)| outer.run != event.run) {
            busy.extend(event.run.map(|run| (run, event.start, event.end())));
        }
        if let Some((_, inside)) = around {
            *inside = inside.saturating_add(event.duration);
        }
        open.push((event, 0));
    }
    while let Some((event, inside)) = open.pop() {
        close(event, inside, doubts)?;
    }
    Ok(())
}

/// For each run, the picoseconds in which one of its events ran. The intervals are sorted here.
pub(super) fn busy_by_run(busy: &mut [(u32, i64, i64)], mut set: impl FnMut(u32, u64)) {
    busy.sort_unstable();
    let mut intervals = Vec::new();
    for of_run in busy.chunk_by(|(one, ..), (other, ..)| one == other) {
        intervals.clear();
        intervals.extend(of_run.iter().map(|&(_, start, end)| (start, end)));
        if let Some(&(run, ..)) = of_run.first() {
            set(run, covered(&mut intervals));
        }
    }
}

/// Adds an asynchronous execution. Instructions that run at the same time are not inside of it, so all of its time is its own.
pub(super) fn add_asynchronous(times: &mut InstructionTimes, duration: u64) -> Result<()> {
    times.add(duration, duration)
}

#[cfg(test)]
mod tests {
    use super::{Event, add_line, busy_by_run};
    use crate::profile::Doubts;
    use alloc::collections::BTreeMap;
    use alloc::vec::Vec;

    fn own(events: &[(u32, i64, u64)]) -> (BTreeMap<u32, u64>, Doubts, u64) {
        let event = |&(instruction, start, duration)| Event { start, duration, module: 0, instruction, run: Some(0) };
        let mut events = events.iter().map(event).collect::<Vec<_>>();
        let (mut own, mut doubts, mut busy) = (BTreeMap::new(), Doubts::default(), Vec::new());
        let add = |event: &Event, part| {
            let sum: &mut u64 = own.entry(event.instruction).or_default();
            *sum = sum.saturating_add(part);
            Ok(())
        };
        add_line(&mut events, &mut doubts, &mut busy, add).unwrap();
        let mut all = 0;
        // There is one run.
        busy_by_run(&mut busy, |_, time| all = time);
        (own, doubts, all)
    }

    #[test]
    fn a_loop_has_only_what_its_body_leaves() {
        // Instruction 1 is a loop of two iterations: 2 and 3, then 2 again; 4 is inside of 3. After the loop comes 5.
        let events = [(1, 0, 100), (2, 5, 20), (3, 30, 20), (4, 31, 10), (2, 60, 20), (5, 100, 7)];
        let (times, doubts, busy) = own(&events);
        assert_eq!(times, BTreeMap::from([(1, 40), (2, 40), (3, 10), (4, 10), (5, 7)]));
        assert_eq!((times.values().sum::<u64>(), busy, doubts), (107, 107, Doubts::default()));
        // The order in the file does not matter.
        let mut reversed = events;
        reversed.reverse();
        assert_eq!(own(&reversed).0, times);
    }

    #[test]
    fn what_ends_after_the_event_around_it_is_not_inside_of_it() {
        let (times, doubts, busy) = own(&[(1, 0, 10), (2, 5, 10)]);
        assert_eq!((times, doubts.overlapping, busy), (BTreeMap::from([(1, 10), (2, 10)]), 1, 15));
        // Events that follow each other directly do not overlap. An event of no duration at the end of another one is not inside of it.
        let (_, doubts, busy) = own(&[(1, 0, 10), (2, 10, 10), (3, 20, 0)]);
        assert_eq!((doubts.overlapping, busy), (0, 20));
    }
}
