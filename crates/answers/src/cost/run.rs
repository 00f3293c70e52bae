//! One run of a program as a profile measured it, event by event, with the memory that was in use.

use super::measured::{Measured, NOT_IN_MODULE};
use crate::source::{scope_of, source_text};
use std::collections::BTreeMap;
use xla_shape_core::sorting::{map_of, set_of, sort_by_key};
use xla_shape_hlo::profile::{EventRow, KeptEvent, Profile};
use xla_shape_program::ProgramMemory;

/// One run of a program, event by event.
///
/// ```
/// use xla_shape_answers::cost::{MeasuredRun, ProgramCost, RunEvent, RunInstruction, RunKind, RunRow};
/// use xla_shape_program::Program;
///
/// let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/train.xplane.pb");
/// let program = Program::open(path)?;
/// let measured = ProgramCost::of(&program).unwrap().measured.unwrap();
/// let events = program.events_of_run(1000)?.unwrap();
/// let run = MeasuredRun::new(&program.memory(None), &measured, &events);
/// let row: &RunRow = &run.rows[0];
/// let first: RunEvent = row.events[0];
/// let instruction: &RunInstruction = &run.instructions[first.instruction as usize];
/// assert_eq!((instruction.name.as_str(), instruction.kind), ("copy.11", RunKind::Copy));
/// assert!(instruction.live_bytes.unwrap() > 1000 && run.left_out == 0);
/// # Ok::<(), xla_shape_program::OpenError>(())
/// ```
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// The lines of the profile. All lines of a device come one after the other.
    pub rows: Vec<RunRow>,
    /// The instructions that ran.
    pub instructions: Vec<RunInstruction>,
    /// How many events are left out. If there are too many events, the shortest ones are left out.
    pub left_out: u64,
}

/// The events of one line of a profile: of a device, a thread of a CPU or a stream of a GPU.
#[derive(Clone, Debug)]
pub struct RunRow {
    /// What the profile calls the device, such as "/device:TPU:0".
    pub device: String,
    /// What the profile calls the line.
    pub line: String,
    /// Whether its instructions ran at the same time as those of other lines.
    pub is_asynchronous: bool,
    /// The events, in the order of their beginnings; of those that begin together, the longest first.
    pub events: Vec<RunEvent>,
}

/// One execution of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RunEvent {
    /// When it began, in picoseconds after the first event on a device with the same clock.
    pub start: u64,
    /// How long it took, in picoseconds.
    pub picoseconds: u64,
    /// The index of its instruction in the run's `instructions`.
    pub instruction: u32,
}

/// What an instruction does, as far as a picture distinguishes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RunKind {
    /// It computes.
    Computation,
    /// It only moves data.
    Copy,
    /// Devices take part in it together.
    Collective,
}

/// An instruction of a run.
#[derive(Clone, Debug)]
pub struct RunInstruction {
    /// Its name.
    pub name: String,
    /// Its opcode; `None` if the module does not have it.
    pub opcode: Option<String>,
    /// The file and the line, such as "train.py:43"; `None` without one.
    pub source: Option<String>,
    /// The scope of the user's program.
    pub scope: String,
    /// What it does.
    pub kind: RunKind,
    /// The bytes of HBM that are in use while it runs; `None` if that is not known.
    pub live_bytes: Option<u64>,
}

impl MeasuredRun {
    /// The events of a run, with the memory of its program and its measurements; `events` is
    /// [`events_of_run`](xla_shape_program::Program::events_of_run) of the same program.
    #[must_use]
    pub fn new(memory: &ProgramMemory<'_>, measured: &Measured, events: &Profile) -> Self {
        let module = memory.program().module();
        let (names, sources) = (map_of(module.instructions().map(|found| (found.name(), found))), module.sources());
        let copies = measured.copies.iter().filter(|copy| copy.change.only_moves());
        let copies = set_of(copies.map(|copy| copy.instruction.as_str()));
        let collectives = set_of(measured.collectives.iter().map(|found| found.instruction.as_str()));
        let steps = memory.timeline().into_iter().flat_map(|timeline| {
            let live = timeline.bytes().get(&0).into_iter().flatten();
            timeline.instructions().iter().zip(live).map(|(instruction, bytes)| (instruction.number(), *bytes))
        });
        let live = map_of(steps);
        let instruction = |name: &str| {
            let found = names.get(name).copied();
            let source = found.map(|found| sources.get(found)).unwrap_or_default();
            let kind = match (copies.contains(name), collectives.contains(name)) {
                (true, _) => RunKind::Copy,
                (_, true) => RunKind::Collective,
                _ => RunKind::Computation,
            };
            RunInstruction {
                name: name.to_owned(),
                opcode: found.map(|found| found.opcode().to_string()),
                source: source_text(&source),
                scope: found.map_or(NOT_IN_MODULE.to_owned(), |_| scope_of(source.op_name.as_deref())),
                kind,
                live_bytes: found.and_then(|found| live.get(&found.number()).copied()),
            }
        };
        let ran = events.modules().iter().find(|found| found.name() == measured.module);
        let of_module = ran.into_iter().flat_map(|found| found.instructions());
        let beside = ran.into_iter().flat_map(|found| found.asynchronous());
        let instructions = of_module.chain(beside).map(|(name, _)| instruction(name)).collect();
        // Asynchronous instructions come after the module's other ones.
        let before_beside = ran.map_or(0, |found| found.instructions().len()) as u32;
        let mut rows = events.events().iter().filter(|row| !row.events.is_empty()).collect::<Vec<_>>();
        let device = |row: &EventRow| events.devices().get(row.device).map_or("", |device| device.name.as_str());
        // Sort by the number of the device: a shorter name has a smaller number.
        sort_by_key(&mut rows, |row| (device(row).len(), device(row), row.is_asynchronous));
        // Devices that share a clock get the same start, the first of their events.
        let clock = |row: &EventRow| device(row).split(", ").next().unwrap_or_default().to_owned();
        let mut first = BTreeMap::<String, i64>::new();
        for row in &rows {
            let start = row.events.iter().map(|event| event.start).min().unwrap_or(0);
            first.entry(clock(row)).and_modify(|first| *first = start.min(*first)).or_insert(start);
        }
        let rows = rows.into_iter().map(|row| {
            let first = first.get(&clock(row)).copied().unwrap_or(0);
            let number = if row.is_asynchronous { before_beside } else { 0 };
            let event = |event: &KeptEvent| RunEvent {
                start: u64::try_from(event.start.saturating_sub(first)).unwrap_or(0),
                picoseconds: event.duration,
                instruction: event.instruction.saturating_add(number),
            };
            let mut events = row.events.iter().map(event).collect::<Vec<_>>();
            sort_by_key(&mut events, |event| (event.start, std::cmp::Reverse(event.picoseconds)));
            RunRow {
                device: device(row).to_owned(),
                line: row.line.clone(),
                is_asynchronous: row.is_asynchronous,
                events,
            }
        });
        Self { rows: rows.collect(), instructions, left_out: events.events_left_out() }
    }

    /// How long it took from the first event to the end of the last one, in picoseconds.
    #[must_use]
    pub fn picoseconds(&self) -> u64 {
        let events = self.rows.iter().flat_map(|row| &row.events);
        events.map(|event| event.start.saturating_add(event.picoseconds)).max().unwrap_or(0)
    }
}
