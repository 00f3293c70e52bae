//! What the page knows of a program: its buffers, when each is live, and what is live at each step.

use super::super::memory::{is_argument, path, source_of};
use super::super::report::Report;
use crate::words::{shortened, space_name};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use xla_shape_hlo::{Buffer, Instruction, Lifetime, Memory, Module, Opcode, Sources, Timeline};

/// How much a page shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Detail {
    /// How many buffers of a memory space the page knows.
    pub(super) buffers: usize,
    /// How many columns a curve has; of more steps, each column shows the fullest of its own.
    pub(super) columns: usize,
    /// How many characters of a name or a shape are shown.
    pub(super) text: usize,
}

impl Detail {
    pub(super) const MOST: Self = Self { buffers: 6000, columns: 1000, text: 400 };

    /// A little less; in the end one buffer of each space.
    pub(super) fn smaller(self) -> Self {
        let less = |number: usize, least: usize| (number * 2 / 3).max(least);
        Self { buffers: less(self.buffers, 1), columns: less(self.columns, 1), text: less(self.text, 40) }
    }
}

/// A program, asked once for all that a page may show of it.
pub(super) struct Program<'p, 'm, 'a> {
    module: &'m Module<'a>,
    memory: Memory<'m, 'a>,
    timeline: Option<&'p Timeline<'m, 'a>>,
    report: &'p Report,
    sources: Sources<'m>,
}

impl<'p, 'm, 'a> Program<'p, 'm, 'a> {
    pub(super) fn new(module: &'m Module<'a>, timeline: Option<&'p Timeline<'m, 'a>>, report: &'p Report) -> Self {
        Self { module, memory: module.memory(), timeline, report, sources: module.sources() }
    }
}

/// What the script reads. Texts are numbers of `strings`.
#[derive(Serialize)]
pub(super) struct Data {
    module: String,
    /// How the numbers came about.
    accuracy: &'static str,
    /// How many steps the program has; 0 without a schedule.
    steps: usize,
    strings: Vec<String>,
    /// What encloses operations, from the outermost scope on.
    paths: Vec<Vec<usize>>,
    spaces: Vec<Space>,
    buffers: Vec<Record>,
}

#[derive(Serialize)]
struct Space {
    space: u8,
    name: String,
    /// How many buffers there are, and what they take together, in bytes.
    count: usize,
    bytes: u64,
    /// The bytes of the heap in which buffers have offsets; 0 if they have none.
    heap: u64,
    /// What the program takes of this memory in all, and what the device has of it; 0 where that is not known.
    used: u64,
    capacity: u64,
    /// The step at which most is live.
    peak: usize,
    /// Step, bytes that are live, and the name of the instruction.
    curve: Vec<(usize, u64, usize)>,
}

/// Space, name, array of the value, opcode, shape, bytes, padding, role, op_name, which of the paths, source, offset or -1, and
/// the steps from which to which it is live, one after the other.
type Record = (u8, usize, usize, usize, usize, u64, u64, usize, usize, usize, usize, i64, Vec<usize>);

/// A buffer with what is known of its life.
struct Life<'m, 'a> {
    buffer: Buffer<'m, 'a>,
    /// The instruction whose place in the user's program is shown.
    named: Instruction<'m, 'a>,
    bytes: u64,
    role: &'static str,
    is_argument: bool,
    offset: Option<u64>,
    spans: Vec<(usize, usize)>,
}

/// Texts and lists of them, each once.
#[derive(Default)]
struct Strings {
    numbers: HashMap<String, usize>,
    all: Vec<String>,
    path_numbers: HashMap<Vec<usize>, usize>,
    paths: Vec<Vec<usize>>,
}

impl Strings {
    fn number(&mut self, text: &str, most: usize) -> usize {
        let text = shortened(text, most);
        if let Some(&number) = self.numbers.get(text.as_ref()) {
            return number;
        }
        self.all.push(text.clone().into_owned());
        self.numbers.insert(text.into_owned(), self.all.len() - 1);
        self.all.len() - 1
    }

    fn path(&mut self, path: &[String], most: usize) -> usize {
        let path = path.iter().map(|part| self.number(part, most)).collect::<Vec<_>>();
        *self.path_numbers.entry(path).or_insert_with_key(|path| {
            self.paths.push(path.clone());
            self.paths.len() - 1
        })
    }
}

impl Data {
    /// The data of a program, or of one of its memory spaces.
    pub(super) fn new(program: &Program<'_, '_, '_>, only: Option<u8>, detail: Detail) -> Self {
        let Program { module, memory, timeline, report, sources } = program;
        let (lives, steps) = lives(memory, *timeline, sources);
        let curves = timeline.map(|timeline| curves(timeline, detail.columns)).unwrap_or_default();
        let mut strings = Strings::default();
        // The empty text is number 0.
        strings.number("", 1);
        let mut data = Self {
            module: shortened(module.name().unwrap_or("module"), detail.text).into_owned(),
            accuracy: report.accuracy,
            steps,
            strings: Vec::new(),
            paths: Vec::new(),
            spaces: Vec::new(),
            buffers: Vec::new(),
        };
        let mut spaces = memory.usage().into_keys().collect::<Vec<_>>();
        spaces.retain(|space| only.is_none_or(|only| only == *space));
        for space in spaces {
            let here = |life: &&Life<'_, '_>| life.buffer.memory_space() == space && life.bytes > 0;
            let mut here = lives.iter().filter(here).collect::<Vec<_>>();
            if here.is_empty() {
                continue;
            }
            here.sort_by_key(|life| Reverse(life.bytes));
            let (peak, curve) = curves.get(&space).cloned().unwrap_or_default();
            let curve = curve.into_iter().map(|(step, bytes, name)| (step, bytes, strings.number(&name, detail.text)));
            let capacity = report.capacity.iter().find(|capacity| capacity.space == space);
            data.spaces.push(Space {
                space,
                used: capacity.map_or(0, |capacity| capacity.used),
                capacity: capacity.map_or(0, |capacity| capacity.bytes),
                name: space_name(space),
                count: here.len(),
                bytes: here.iter().fold(0, |sum, life| sum.saturating_add(life.bytes)),
                heap: here.iter().filter_map(|life| life.offset?.checked_add(life.bytes)).max().unwrap_or(0),
                peak,
                curve: curve.collect(),
            });
            here.truncate(detail.buffers);
            data.buffers.extend(here.into_iter().map(|life| record(life, sources, &mut strings, detail.text)));
        }
        data.strings = strings.all;
        data.paths = strings.paths;
        data
    }
}

fn record(life: &Life<'_, '_>, sources: &Sources<'_>, strings: &mut Strings, most: usize) -> Record {
    let buffer = life.buffer;
    let source = sources.of(life.named);
    let place = source_of(&source).unwrap_or_default();
    (
        buffer.memory_space(),
        strings.number(buffer.instruction.name(), most),
        buffer.leaf,
        strings.number(&buffer.instruction.opcode().to_string(), most),
        strings.number(&buffer.array.to_string(), most),
        life.bytes,
        buffer.footprint.padding_bytes(),
        strings.number(life.role, most),
        strings.number(source.op_name.as_deref().unwrap_or(""), most),
        strings.path(&path(source.op_name.as_deref(), life.is_argument), most),
        strings.number(&place, most),
        life.offset.and_then(|offset| i64::try_from(offset).ok()).unwrap_or(-1),
        life.spans.iter().flat_map(|&(first, last)| [first, last]).collect(),
    )
}

/// All buffers with their lives, and how many steps the program has.
fn lives<'m, 'a>(
    memory: &Memory<'m, 'a>,
    timeline: Option<&Timeline<'m, 'a>>,
    sources: &Sources<'m>,
) -> (Vec<Life<'m, 'a>>, usize) {
    let Some(timeline) = timeline else {
        let life = |&buffer: &Buffer<'m, 'a>| {
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
    let life = |lifetime: &Lifetime<'m, 'a>| Life {
        buffer: lifetime.buffer,
        named: named(lifetime, sources),
        bytes: lifetime.bytes,
        role: lifetime.role.name(),
        is_argument: is_argument(lifetime.role),
        offset: lifetime.offset,
        spans: lifetime.spans().to_vec(),
    };
    (timeline.lifetimes().iter().map(life).collect(), timeline.instructions().len())
}

/// The first that lies there and has a name in the user's program: a loop and its parameters only hold what others made.
fn named<'m, 'a>(lifetime: &Lifetime<'m, 'a>, sources: &Sources<'m>) -> Instruction<'m, 'a> {
    let own = lifetime.buffer.instruction;
    let tenants = lifetime.tenants.iter().map(|tenant| tenant.instruction);
    std::iter::once(own).chain(tenants).find(|made| sources.of(*made).op_name.is_some()).unwrap_or(own)
}

/// The step with the most bytes, and the points of a curve: step, bytes and instruction.
type Curve = (usize, Vec<(usize, u64, String)>);

/// The curve of each memory space. Of more steps than there are columns, each column has the fullest of its own.
fn curves(timeline: &Timeline<'_, '_>, columns: usize) -> HashMap<u8, Curve> {
    let name = |step: usize| timeline.instructions().get(step).map_or("", |instruction| instruction.name());
    let curve = |(&space, bytes): (&u8, &Vec<_>)| {
        let per_column = bytes.len().div_ceil(columns).max(1);
        let points = bytes.chunks(per_column).zip((0..).step_by(per_column)).filter_map(|(chunk, first)| {
            let fullest = chunk.iter().enumerate().reduce(|most, step| if step.1 > most.1 { step } else { most });
            let (offset, &bytes) = fullest?;
            Some((first + offset, bytes, name(first + offset).to_owned()))
        });
        (space, (timeline.peak_step(space).unwrap_or(0), points.collect()))
    };
    timeline.bytes().iter().map(curve).collect()
}
