//! The data of a page: the program's buffers, when each is live, and how much is live at each step.

use super::super::graph::{Graph, Limits, Node};
use super::super::show::Fact;
use crate::web::Strings;
use crate::words::{shortened, space_name};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use xla_shape_answers::hlo::Report;
use xla_shape_answers::hlo::memory::Roles;
use xla_shape_answers::hlo::show::Facts;
use xla_shape_answers::source::{is_argument, path, source_text};
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::{Buffer, Instruction, Lifetime, Memory, Module, Opcode, Sources, Timeline};
use xla_shape_program::ProgramMemory;

/// How much a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Detail {
    /// How many buffers of a memory space are in the page.
    pub(super) buffers: usize,
    /// How many instructions are in the graph of the page.
    pub(super) nodes: usize,
    /// How many columns a curve has. If there are more steps, each column shows the largest value of its steps.
    pub(super) columns: usize,
    /// How many characters of a name or a shape are shown.
    pub(super) text: usize,
}

impl Detail {
    pub(super) const MOST: Self = Self { buffers: 6000, nodes: 10_000, columns: 1000, text: 400 };

    /// Less detail. After enough calls, one buffer of each space is left.
    pub(super) fn smaller(self) -> Self {
        let less = |number: usize, least: usize| (number * 2 / 3).max(least);
        Self {
            buffers: less(self.buffers, 1),
            nodes: less(self.nodes, 1),
            columns: less(self.columns, 1),
            text: less(self.text, 40),
        }
    }
}

/// A program with everything that a page may show, computed once.
pub(super) struct Shown<'p, 'm> {
    module: &'m Module,
    memory: &'p Memory<'m>,
    timeline: Option<&'p Timeline<'m>>,
    report: &'p Report,
    facts: Facts<'p, 'm>,
}

impl<'p, 'm> Shown<'p, 'm> {
    pub(super) fn new(memory: &'p ProgramMemory<'m>, report: &'p Report) -> Self {
        let (module, timeline) = (memory.program().module(), memory.timeline());
        Self { module, memory: memory.values(), timeline, report, facts: Facts::new(module, timeline) }
    }
}

/// The data that the script reads. Texts are indices into `strings`.
#[derive(Serialize)]
pub(super) struct Data {
    module: String,
    /// How accurate the numbers are.
    accuracy: String,
    /// How many steps the program has; 0 without a schedule.
    steps: usize,
    strings: Vec<String>,
    /// The scopes around operations, outermost first.
    paths: Vec<Vec<usize>>,
    spaces: Vec<Space>,
    buffers: Vec<Record>,
    /// The instructions of the buffers, and those around them.
    nodes: Vec<Node>,
}

#[derive(Serialize)]
struct Space {
    space: u8,
    name: String,
    /// How many buffers there are, and their bytes together.
    count: usize,
    bytes: u64,
    /// The bytes of the heap in which buffers have offsets; 0 if they have none.
    heap: u64,
    /// The bytes of this memory that the program uses, and that the device has; 0 if that is not known.
    used: u64,
    capacity: u64,
    /// The step at which the most bytes are live.
    peak: usize,
    /// How many steps each column of the curve has.
    every: usize,
    /// Step, live bytes, and the name of the instruction.
    curve: Vec<(usize, u64, usize)>,
    rest: Rest,
}

/// The buffers of a memory space that the page shows only as a sum.
#[derive(Default, Serialize)]
struct Rest {
    count: usize,
    bytes: u64,
    /// How many bytes of these buffers are live at each point of the curve.
    curve: Vec<u64>,
    /// Where they are, on a grid of [`ROWS`] rows of the heap by [`COLUMNS`] columns of steps: row, first column, last column.
    places: Vec<(usize, usize, usize)>,
}

/// The grid on which the places of these buffers are drawn.
const ROWS: u64 = 128;
const COLUMNS: usize = 256;

impl Rest {
    /// Adds up buffers of a program with `steps` steps; `points` are the steps of the curve, in order.
    fn new(rest: &[&Life<'_>], points: &[usize], steps: usize, heap: u64) -> Self {
        // The change of the live bytes at each step, and of the occupied cells at each column of the grid.
        let mut changes = vec![0_i128; if rest.is_empty() { 0 } else { steps + 2 }];
        let mut grid = vec![[0_i64; COLUMNS + 1]; if rest.is_empty() { 0 } else { ROWS as usize }];
        let column =
            |step: usize| (step as u128 * COLUMNS as u128 / steps.max(1) as u128).min(COLUMNS as u128 - 1) as usize;
        let row = |offset: u64| {
            (u128::from(offset) * u128::from(ROWS) / u128::from(heap.max(1))).min(u128::from(ROWS) - 1) as usize
        };
        for life in rest {
            for &(first, last) in &life.spans {
                let (first, last) = (first.min(steps), last.min(steps));
                changes[first] += i128::from(life.bytes);
                changes[last + 1] -= i128::from(life.bytes);
                let Some(offset) = life.offset else { continue };
                for cells in &mut grid[row(offset)..=row(offset.saturating_add(life.bytes.saturating_sub(1)))] {
                    cells[column(first)] += 1;
                    cells[column(last) + 1] -= 1;
                }
            }
        }
        let mut live = 0;
        let live = changes.iter().map(|change| {
            live += change;
            u64::try_from(live).unwrap_or(u64::MAX)
        });
        let live = live.collect::<Vec<_>>();
        let mut places = Vec::new();
        for (row, cells) in grid.iter().enumerate() {
            let (mut taken, mut begun) = (0, None);
            for (column, change) in cells.iter().enumerate() {
                taken += change;
                match (begun, taken > 0) {
                    (None, true) => begun = Some(column),
                    (Some(first), false) => {
                        places.push((row, first, column - 1));
                        begun = None;
                    }
                    _ => {}
                }
            }
        }
        Self {
            count: rest.len(),
            bytes: rest.iter().fold(0, |sum, life| sum.saturating_add(life.bytes)),
            curve: if rest.is_empty() {
                Vec::new()
            } else {
                points.iter().filter_map(|&step| live.get(step).copied()).collect()
            },
            places,
        }
    }
}

/// Memory space, place in `nodes` or -1, array of the value, shape, bytes, padding, role, op_name, index into `paths`, source, offset or -1,
/// the first and last step of each time that it is live, name and opcode.
type Record = (u8, i64, usize, usize, u64, u64, usize, usize, usize, usize, i64, Vec<usize>, usize, usize);

/// A buffer, and when and where it is live.
struct Life<'m> {
    buffer: Buffer<'m>,
    /// The instruction whose op_name and source line are shown.
    named: Instruction<'m>,
    bytes: u64,
    role: &'static str,
    is_argument: bool,
    offset: Option<u64>,
    spans: Vec<(usize, usize)>,
}

impl Life<'_> {
    fn is_live_at(&self, step: usize) -> bool {
        self.spans.iter().any(|&(first, last)| first <= step && step <= last)
    }
}

impl Data {
    /// The data of a program, or of one of its memory spaces.
    pub(super) fn new(shown: &Shown<'_, '_>, only: Option<u8>, detail: Detail) -> Self {
        let Shown { module, memory, timeline, report, facts } = shown;
        let (lives, steps) = lives(memory, *timeline, &facts.sources, &facts.roles);
        let curves = timeline.map(|timeline| curves(timeline, detail.columns)).unwrap_or_default();
        let mut strings = Strings::new();
        let mut data = Self {
            module: shortened(module.name().unwrap_or("module"), detail.text).into_owned(),
            accuracy: [&report.accuracy]
                .into_iter()
                .chain(&report.notes)
                .map(String::as_str)
                .collect::<Vec<_>>()
                .join("; "),
            steps,
            strings: Vec::new(),
            paths: Vec::new(),
            spaces: Vec::new(),
            buffers: Vec::new(),
            nodes: Vec::new(),
        };
        let mut shown = Vec::new();
        let mut spaces = memory.usage().into_keys().collect::<Vec<_>>();
        spaces.retain(|space| only.is_none_or(|only| only == *space));
        for space in spaces {
            let here = |life: &&Life<'_>| life.buffer.memory_space() == space && life.bytes > 0;
            let mut here = lives.iter().filter(here).collect::<Vec<_>>();
            if here.is_empty() {
                continue;
            }
            let (peak, every, curve) = curves.get(&space).cloned().unwrap_or_default();
            // A page draws a limited number of buffers and shows the others as one sum. Buffers that are live at the peak are drawn first, because
            // readers look for them; then the largest.
            sort_by_key(&mut here, |life| (!life.is_live_at(peak), Reverse(life.bytes)));
            let points = curve.iter().map(|point| point.0).collect::<Vec<_>>();
            let curve = curve.into_iter().map(|(step, bytes, name)| (step, bytes, strings.number(&name, detail.text)));
            let capacity = report.capacity.iter().find(|capacity| capacity.space == space);
            let heap = here.iter().filter_map(|life| life.offset?.checked_add(life.bytes)).max().unwrap_or(0);
            let (count, bytes) = (here.len(), here.iter().fold(0, |sum: u64, life| sum.saturating_add(life.bytes)));
            let rest = here.split_off(detail.buffers.min(here.len()));
            data.spaces.push(Space {
                space,
                used: capacity.map_or(0, |capacity| capacity.used),
                capacity: capacity.map_or(0, |capacity| capacity.bytes),
                name: space_name(space, report.platform),
                count,
                bytes,
                heap,
                peak,
                every,
                curve: curve.collect(),
                rest: Rest::new(&rest, &points, steps, heap),
            });
            shown.extend(here);
        }
        let starts: Vec<_> = shown.iter().map(|life| life.buffer.instruction).collect();
        let have_buffers: HashSet<_> = starts.iter().map(|start| start.number()).collect();
        let limits = Limits { nodes: detail.nodes, rows: MOST_FACTS, text: detail.text };
        // The page already has the facts about buffers, and it writes operands and readers as links.
        let wants = |instruction: Instruction<'_>, fact: Fact| match fact {
            Fact::Operand | Fact::Reader => false,
            Fact::Cycles | Fact::Time | Fact::Called => true,
            _ => !have_buffers.contains(&instruction.number()),
        };
        let graph = Graph::around(module, facts, &starts, limits, &mut strings, wants);
        let record = |life: &&Life<'_>| record(life, &facts.sources, &graph.places, &mut strings, detail.text);
        data.buffers = shown.iter().map(record).collect();
        data.nodes = graph.nodes;
        data.strings = strings.all;
        data.paths = strings.paths;
        data
    }
}

/// The most facts of an instruction.
const MOST_FACTS: usize = 12;

fn record(
    life: &Life<'_>,
    sources: &Sources<'_>,
    places: &HashMap<u32, usize>,
    strings: &mut Strings,
    most: usize,
) -> Record {
    let buffer = life.buffer;
    let source = sources.get(life.named);
    let place = source_text(&source).unwrap_or_default();
    (
        buffer.memory_space(),
        places.get(&buffer.instruction.number()).and_then(|&place| i64::try_from(place).ok()).unwrap_or(-1),
        buffer.leaf,
        strings.number(&buffer.array.to_string(), most),
        life.bytes,
        buffer.footprint.padding_bytes(),
        strings.number(life.role, most),
        strings.number(source.op_name.as_deref().unwrap_or(""), most),
        strings.path(&path(source.op_name.as_deref(), life.is_argument), most),
        strings.number(&place, most),
        life.offset.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(-1),
        life.spans.iter().flat_map(|&(first, last)| [first, last]).collect(),
        strings.number(buffer.instruction.name(), most),
        strings.number(&buffer.instruction.opcode().to_string(), most),
    )
}

/// All buffers with their lifetimes, and how many steps the program has.
fn lives<'m>(
    memory: &Memory<'m>,
    timeline: Option<&Timeline<'m>>,
    sources: &Sources<'m>,
    roles: &Roles,
) -> (Vec<Life<'m>>, usize) {
    let Some(timeline) = timeline else {
        let life = |&buffer: &Buffer<'m>| {
            let is_argument = buffer.instruction.opcode() == Opcode::Parameter;
            Life {
                buffer,
                named: buffer.instruction,
                bytes: buffer.footprint.bytes,
                role: if is_argument { "argument" } else { "value" },
                is_argument,
                offset: None,
                spans: Vec::new(),
            }
        };
        return (memory.buffers().iter().map(life).collect(), 0);
    };
    let life = |lifetime: &Lifetime<'m>| Life {
        buffer: lifetime.buffer,
        named: named(lifetime, sources),
        bytes: lifetime.bytes,
        role: roles.of(lifetime).name(),
        is_argument: is_argument(lifetime.role),
        offset: lifetime.offset,
        spans: lifetime.live_ranges().to_vec(),
    };
    (timeline.lifetimes().iter().map(life).collect(), timeline.instructions().len())
}

/// The first instruction with an op_name whose value is stored in the buffer: loops and their parameters have no op_name, but their buffers
/// hold values of other instructions.
fn named<'m>(lifetime: &Lifetime<'m>, sources: &Sources<'m>) -> Instruction<'m> {
    let own = lifetime.buffer.instruction;
    let tenants = lifetime.values.iter().map(|tenant| tenant.instruction);
    std::iter::once(own).chain(tenants).find(|made| sources.get(*made).op_name.is_some()).unwrap_or(own)
}

/// The step with the most bytes, how many steps each column of a curve has, and its points: step, bytes and instruction.
type Curve = (usize, usize, Vec<(usize, u64, String)>);

/// The curve of each memory space. If there are more steps than columns, each column has the largest value of its steps.
fn curves(timeline: &Timeline<'_>, columns: usize) -> HashMap<u8, Curve> {
    let name = |step: usize| timeline.instructions().get(step).map_or("", |instruction| instruction.name());
    let curve = |(&space, bytes): (&u8, &Vec<_>)| {
        let per_column = bytes.len().div_ceil(columns).max(1);
        let points = bytes.chunks(per_column).zip((0..).step_by(per_column)).filter_map(|(chunk, first)| {
            let fullest = chunk.iter().enumerate().reduce(|most, step| if step.1 > most.1 { step } else { most });
            let (offset, &bytes) = fullest?;
            Some((first + offset, bytes, name(first + offset).to_owned()))
        });
        (space, (timeline.peak_step(space).unwrap_or(0), per_column, points.collect()))
    };
    timeline.bytes().iter().map(curve).collect()
}
