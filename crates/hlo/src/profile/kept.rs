//! The single events of some runs, from which a picture of the runs can be drawn.

use super::events::Event;
use super::times::Run;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// The events of one line of a profile: of one device, and of one thread of a CPU or stream of a GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EventRow {
    /// The number of the device in [`Profile::devices`](super::Profile::devices).
    pub device: usize,
    /// The name of the line, such as "XLA Ops" or the name of a thread.
    pub line: String,
    /// Whether the line has asynchronous instructions, which ran at the same time as those of the other lines. If so, the
    /// [`instruction`](KeptEvent::instruction) of an event is an index into
    /// [`ProfiledModule::asynchronous`](super::ProfiledModule::asynchronous), otherwise into
    /// [`ProfiledModule::instructions`](super::ProfiledModule::instructions).
    pub is_asynchronous: bool,
    /// The events, in no order.
    pub events: Vec<KeptEvent>,
}

/// One execution of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct KeptEvent {
    /// When it began, in picoseconds after the beginning of the first run on its plane. If the profile has no runs, the time is counted from
    /// a moment that is the same for all events of the plane.
    pub start: i64,
    /// How long it took, in picoseconds.
    pub duration: u64,
    /// The number of the instruction.
    pub instruction: u32,
}

/// Which events are to be kept, and the events that are kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// The name of the module; empty if nothing is kept.
    module: String,
    /// The runs, each with the time from which the starts of its events are counted.
    runs: Vec<(Run, i64)>,
    most: usize,
    rows: Vec<EventRow>,
    /// The number of rows of earlier lines; then the name and the kind of the current line.
    before: usize,
    line: String,
    is_asynchronous: bool,
    count: usize,
    left_out: u64,
}

impl Kept {
    pub(super) fn new(module: &str, runs: Vec<(Run, i64)>, most: usize) -> Self {
        Self { module: module.to_owned(), runs, most, ..Self::default() }
    }

    pub(super) fn rows(&self) -> &[EventRow] {
        &self.rows
    }

    pub(super) const fn left_out(&self) -> u64 {
        self.left_out
    }

    pub(super) fn begin_line(&mut self, name: &str, is_asynchronous: bool) {
        if !self.module.is_empty() {
            (self.before, self.line, self.is_asynchronous) = (self.rows.len(), name.to_owned(), is_asynchronous);
        }
    }

    /// Keeps an event if it belongs to one of the runs.
    pub(super) fn add(&mut self, event: &Event, device: usize, module: &str) {
        if self.module.is_empty() || module != self.module {
            return;
        }
        let is_in = |run: &Run| {
            let end = run.start.saturating_add_unsigned(run.duration);
            run.device == device && (run.start..=end).contains(&event.start)
        };
        let run = self.runs.iter().find(|(run, _)| is_in(run));
        if run.is_none() && !self.runs.is_empty() {
            return;
        }
        let start = event.start.saturating_sub(run.map_or(0, |(_, start)| *start));
        let event = KeptEvent { start, duration: event.duration, instruction: event.instruction };
        let of_line = self.rows.iter_mut().skip(self.before).find(|row| row.device == device);
        match of_line {
            Some(row) => row.events.push(event),
            None => self.rows.push(EventRow {
                device,
                line: self.line.clone(),
                is_asynchronous: self.is_asynchronous,
                events: Vec::from([event]),
            }),
        }
        self.count += 1;
        // Events are left out only when there are twice as many as may be kept, so that each event is examined only a few times.
        if self.count > self.most.saturating_mul(2) {
            self.leave_out();
        }
    }

    /// Drops the shortest events, so that at most `most` are left.
    #[expect(clippy::arithmetic_side_effects, reason = "each event counts once")]
    pub(super) fn leave_out(&mut self) {
        let mut durations =
            self.rows.iter().flat_map(|row| &row.events).map(|event| event.duration).collect::<Vec<_>>();
        let Some(left) = durations.len().checked_sub(self.most).filter(|left| *left > 0) else { return };
        let (_, &mut shortest, longer) = durations.select_nth_unstable(left.saturating_sub(1));
        // Some of the events that are exactly as long as the longest dropped one can be kept, as far as there is room.
        let mut equal = self.most.saturating_sub(longer.iter().filter(|duration| **duration > shortest).count());
        for row in &mut self.rows {
            row.events.retain(|event| {
                let stays = event.duration > shortest || (event.duration == shortest && equal > 0);
                equal = equal.saturating_sub(usize::from(stays && event.duration == shortest));
                stays
            });
        }
        self.count = self.most;
        self.left_out += left as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::{Event, Kept, Run};
    use alloc::vec::Vec;

    #[test]
    fn the_longest_events_of_the_runs_are_kept() {
        let run = |device, start| (Run { device, start, duration: 100, busy: 0 }, start);
        let mut kept = Kept::new("m(1)", Vec::from([run(0, 1000), run(1, 2000)]), 3);
        let event = |start, duration| Event { start, duration, module: 0, instruction: 7, run: None };
        kept.begin_line("a", false);
        for (start, duration) in [(1000, 5), (1010, 9), (1101, 50), (999, 50), (1020, 9), (1030, 9)] {
            kept.add(&event(start, duration), 0, "m(1)");
        }
        kept.add(&event(1000, 99), 0, "n(1)");
        kept.add(&event(2001, 8), 1, "m(1)");
        kept.begin_line("b", true);
        kept.add(&event(2002, 9), 1, "m(1)");
        kept.leave_out();
        let rows = kept.rows().iter().map(|row| {
            let events = row.events.iter().map(|event| (event.start, event.duration)).collect::<Vec<_>>();
            (row.device, row.line.as_str(), row.is_asynchronous, events)
        });
        let expected = [
            (0, "a", false, Vec::from([(10, 9), (20, 9), (30, 9)])),
            (1, "a", false, Vec::new()),
            (1, "b", true, Vec::new()),
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        assert_eq!(kept.left_out(), 3);
    }
}
