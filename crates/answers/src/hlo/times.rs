//! Compares the times of two profiles: of a run, and of its source lines.

use super::causes::{Inputs, Reason};
use crate::cost::{Measured, MeasuredInstruction, Spread};
use crate::source::source_text;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use xla_shape_core::sorting::{map_of, sort_by_key};
use xla_shape_hlo::{Instruction, Module, Pairs};

words! {
    /// What took a different time.
    pub enum TimeChange {
        /// A run of the program.
        Run = "run time",
        /// The instructions of a source line, in one run.
        Line = "line time",
    }
}

/// The measured times of a run or of a source line in two profiles.
///
/// ```
/// use xla_shape_answers::hlo::Difference;
/// use xla_shape_answers::hlo::times::TimeChange;
/// use xla_shape_program::Program;
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb"));
/// let program = Program::read("v6e.xplane.pb", bytes.to_vec())?;
/// let memory = program.memory(None);
/// let same = &Difference::new(&memory, &memory).times[0];
/// assert_eq!((same.change, same.is_clear), (TimeChange::Run, false));
/// assert_eq!(same.picoseconds_before, Some(75_790_000));
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TimeDifference {
    /// The file and the line, such as "train.py:43"; "(no source line)" for instructions without one; "run" for the whole run.
    pub name: String,
    /// What took a different time.
    pub change: TimeChange,
    /// The picoseconds of one run in the first profile: the median of the runs, or the mean of the line; null if nothing of the line ran there.
    pub picoseconds_before: Option<u64>,
    /// The same figure for the second profile.
    pub picoseconds_after: Option<u64>,
    /// Whether the difference is clear. For a line: every time in one of the profiles is longer than every time in the other. For the run: the middle
    /// half of its times in one profile is longer than that in the other. If not, the difference may be chance.
    pub is_clear: bool,
    /// Why the line has other instructions in the second program; null if it has the same instructions, and for the whole run.
    pub cause: Option<Reason>,
    /// The instruction that only one of the programs has for this line and that took the longest time; null if there is none.
    pub instruction: Option<String>,
}

/// The times of a source line in one run: sums of the mean, the shortest and the longest times of its instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Span {
    pub(crate) mean: u64,
    pub(crate) shortest: u64,
    pub(crate) longest: u64,
}

/// The times of one run by source line; none of a profile without runs.
pub(crate) fn spans_by_line(measured: &Measured) -> BTreeMap<Option<&str>, Span> {
    let mut lines = BTreeMap::<Option<&str>, Span>::new();
    if let Some(runs) = &measured.runs {
        for found in &measured.instructions {
            let line = lines.entry(found.source.as_deref()).or_default();
            *line = line.plus(Span::of(found, runs.count as u64));
        }
    }
    lines
}

/// The text for instructions without a source line.
const NO_LINE: &str = "(no source line)";

impl TimeDifference {
    /// The times of all runs.
    pub(crate) fn of_runs(before: Spread, after: Spread) -> Self {
        Self {
            name: "run".to_owned(),
            change: TimeChange::Run,
            picoseconds_before: Some(before.median_picoseconds),
            picoseconds_after: Some(after.median_picoseconds),
            is_clear: before.is_clear_of(after),
            cause: None,
            instruction: None,
        }
    }

    /// The times of a source line in one run.
    pub(crate) fn of_line(source: Option<String>, spans: [Option<Span>; 2]) -> Self {
        Self {
            name: source.unwrap_or_else(|| NO_LINE.to_owned()),
            change: TimeChange::Line,
            picoseconds_before: spans[0].map(|span| span.mean),
            picoseconds_after: spans[1].map(|span| span.mean),
            is_clear: spans[0].zip(spans[1]).is_none_or(|(one, other)| one.is_clear_of(other)),
            cause: None,
            instruction: None,
        }
    }

    /// Sorts by difference, the largest first.
    pub(crate) fn sort(rows: &mut [Self]) {
        sort_by_key(rows, |row| {
            Reverse(row.picoseconds_before.unwrap_or(0).abs_diff(row.picoseconds_after.unwrap_or(0)))
        });
    }
}

impl Span {
    fn is_clear_of(self, other: Self) -> bool {
        self.longest < other.shortest || other.longest < self.shortest
    }

    fn of(instruction: &MeasuredInstruction, runs: u64) -> Self {
        let times = &instruction.times;
        // The time of instructions that ran inside this one, such as the body of a loop.
        let inside = times.total_picoseconds.saturating_sub(times.picoseconds);
        let of_run = |all: u128| u64::try_from(all / u128::from(runs.max(1))).unwrap_or(u64::MAX);
        // The instruction's own time in one run, if every execution took `one` picoseconds. Of the time inside, only the sum is known.
        let bound = |one: u64| of_run((u128::from(one) * u128::from(times.count)).saturating_sub(inside.into()));
        Self {
            mean: of_run(times.picoseconds.into()),
            shortest: bound(times.shortest_picoseconds),
            longest: bound(times.longest_picoseconds),
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            mean: self.mean.saturating_add(other.mean),
            shortest: self.shortest.saturating_add(other.shortest),
            longest: self.longest.saturating_add(other.longest),
        }
    }
}

/// A source line in one program.
#[derive(Default)]
struct Line<'m> {
    span: Span,
    /// The instructions that have no pair in the other program, with their times.
    alone: Vec<(u64, Instruction<'m>)>,
}

/// The differences between two profiles, the largest first; none if one of the programs was not measured, or has no runs.
pub(super) fn times(
    modules: [&Module; 2],
    measured: [Option<&Measured>; 2],
    pairs: &Pairs<'_>,
    inputs: &Inputs<'_>,
) -> Vec<TimeDifference> {
    let [Some(before), Some(after)] = measured else { return Vec::new() };
    let (Some(runs_before), Some(runs_after)) = (&before.runs, &after.runs) else { return Vec::new() };
    let counts = [runs_before, runs_after].map(|runs| runs.count as u64);
    let mut lines = BTreeMap::<Option<String>, [Option<Line<'_>>; 2]>::new();
    for (side, measured) in [before, after].into_iter().enumerate() {
        let names = modules[side].instructions().map(|instruction| (instruction.name(), instruction));
        let names = map_of(names);
        for found in &measured.instructions {
            let instruction = names.get(found.instruction.as_str()).copied();
            let source = instruction.and_then(|instruction| source_text(&inputs.source(instruction, side)));
            let line = lines.entry(source).or_default()[side].get_or_insert_default();
            let span = Span::of(found, counts[side]);
            line.span = line.span.plus(span);
            let pair = instruction.and_then(|one| if side == 0 { pairs.after(one) } else { pairs.before(one) });
            line.alone.extend(instruction.filter(|_| pair.is_none()).map(|instruction| (span.mean, instruction)));
        }
    }
    let row = |(source, sides): (Option<String>, [Option<Line<'_>>; 2])| {
        let alone = sides.iter().enumerate().flat_map(|(side, line)| {
            line.iter().flat_map(move |line| line.alone.iter().map(move |(time, found)| (*time, side, *found)))
        });
        let alone = alone.max_by_key(|(time, ..)| *time);
        let spans = sides.each_ref().map(|line| line.as_ref().map(|line| line.span));
        TimeDifference {
            cause: alone.map(|(_, side, instruction)| inputs.reason(instruction, side)),
            instruction: alone.map(|(.., instruction)| instruction.name().to_owned()),
            ..TimeDifference::of_line(source, spans)
        }
    };
    let mut rows = lines.into_iter().map(row).collect::<Vec<_>>();
    TimeDifference::sort(&mut rows);
    let run = TimeDifference::of_runs(runs_before.spread, runs_after.spread);
    std::iter::once(run).chain(rows).collect()
}
