//! Which values are live at the same time.

use super::{Buffer, Footprint, num_arrays, runs};
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::Shape;

/// The most bytes that are needed at any time in one memory space.
#[derive(Clone, Copy, Debug)]
pub struct Peak<'m, 'a> {
    /// The bytes.
    pub bytes: u64,
    /// The instruction of the entry computation during which they are needed.
    pub at: Instruction<'m, 'a>,
}

/// When an array takes memory, in steps: instruction N of the entry computation is step N.
#[derive(Clone, Copy, Debug)]
pub struct Lifetime<'m, 'a> {
    /// The array.
    pub buffer: Buffer<'m, 'a>,
    /// The step that makes it; parameters of the program are there from step 0.
    pub made: usize,
    /// The last step that needs it; after the last step of all, the number of steps, for what the program returns.
    pub last_use: usize,
}

/// What the entry computation of a scheduled module needs in memory, step by step.
///
/// Instructions run one after the other; a value takes memory from where it is made to its last use, parameters and
/// results of the program all the time. While a loop, call or branch runs, what it needs most comes on top. A value
/// that lies where another one did, as XLA decides when it assigns buffers, is counted as if it did not.
///
/// ```
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m, is_scheduled=true
/// ENTRY main {
///   a = f32[256]{0} parameter(0)
///   b = f32[512]{0} concatenate(a, a), dimensions={0}
///   c = f32[256]{0} slice(b), slice={[0:256]}
///   ROOT d = f32[256]{0} add(c, c)
/// }")?;
/// let timeline = module.memory().timeline().unwrap();
/// assert_eq!(timeline.bytes()[&0], [1024, 3 * 1024, 4 * 1024, 3 * 1024]);
/// let step = timeline.peak_step(0).unwrap();
/// assert_eq!(timeline.instructions()[step].name(), "c");
/// let live: Vec<_> = timeline.live_at(step).map(|buffer| buffer.instruction.name()).collect();
/// assert_eq!(live, ["a", "b", "c"]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timeline<'m, 'a> {
    instructions: Vec<Instruction<'m, 'a>>,
    lifetimes: Vec<Lifetime<'m, 'a>>,
    live: BTreeMap<u8, Vec<u64>>,
}

impl<'m, 'a> Timeline<'m, 'a> {
    /// The instruction of each step.
    #[must_use]
    pub fn instructions(&self) -> &[Instruction<'m, 'a>] {
        &self.instructions
    }

    /// The bytes that are needed during each step, for each memory space that is used.
    #[must_use]
    pub const fn bytes(&self) -> &BTreeMap<u8, Vec<u64>> {
        &self.live
    }

    /// The arrays of the entry computation, in the order in which they are made.
    #[must_use]
    pub fn lifetimes(&self) -> &[Lifetime<'m, 'a>] {
        &self.lifetimes
    }

    /// The arrays of the entry computation that are in memory during a step.
    pub fn live_at(&self, step: usize) -> impl Iterator<Item = Buffer<'m, 'a>> {
        let live = self.lifetimes.iter().filter(move |lifetime| (lifetime.made..=lifetime.last_use).contains(&step));
        live.map(|lifetime| lifetime.buffer)
    }

    /// The step during which one memory space is fullest, the first of them if there are several.
    #[must_use]
    pub fn peak_step(&self, space: u8) -> Option<usize> {
        let steps = self.live.get(&space)?.iter().enumerate();
        let peak = steps.reduce(|peak, step| if step.1 > peak.1 { step } else { peak });
        peak.map(|(step, _)| step)
    }

    /// The most bytes that are needed at any time in each memory space.
    #[must_use]
    pub fn peaks(&self) -> BTreeMap<u8, Peak<'m, 'a>> {
        let peak = |(&space, bytes): (&u8, &Vec<u64>)| {
            let step = self.peak_step(space)?;
            Some((space, Peak { bytes: *bytes.get(step)?, at: *self.instructions.get(step)? }))
        };
        self.live.iter().filter_map(peak).collect()
    }
}

/// Where an array of an instruction's value lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In memory of its own.
    New,
    /// Where an array of an operand lies: which operand, and which of its arrays.
    Operand(usize, usize),
}

/// How many arrays stand before each element of a tuple and, last, how many there are; counted once for each tuple, since
/// a short text can ask for those of a long tuple again and again.
#[derive(Default)]
pub(crate) struct Starts(BTreeMap<*const Shape, Vec<usize>>);

impl Starts {
    fn of(&mut self, elements: &[Shape]) -> &[usize] {
        self.0.entry(elements.as_ptr()).or_insert_with(|| {
            let mut start = 0_usize;
            let behind = elements.iter().map(|element| {
                start = start.saturating_add(num_arrays(element));
                start
            });
            core::iter::once(0).chain(behind).collect()
        })
    }

    /// How many arrays stand before element `index` of a tuple.
    fn before(&mut self, tuple: &Shape, index: usize) -> usize {
        self.of(tuple.tuple_shapes().unwrap_or(&[])).get(index).copied().unwrap_or(0)
    }

    /// How many arrays a shape has.
    fn count(&mut self, shape: &Shape) -> usize {
        match shape.tuple_shapes() {
            Some(elements) => self.of(elements).last().copied().unwrap_or(0),
            None => num_arrays(shape),
        }
    }

    /// The first array of the part of a shape with this index, and how many arrays the part has.
    fn part(&mut self, mut shape: &Shape, index: &[usize]) -> Option<(usize, usize)> {
        let mut first = 0_usize;
        for &element in index {
            first = first.saturating_add(self.before(shape, element));
            shape = shape.tuple_shapes()?.get(element)?;
        }
        Some((first, self.count(shape)))
    }
}

/// Notes that so many arrays from number `from` on lie where those of an operand do, from its array `first` on.
fn alias(places: &mut [Place], from: usize, operand: usize, first: usize, length: usize) {
    for (place, leaf) in places.iter_mut().skip(from).take(length).zip(first..) {
        *place = Place::Operand(operand, leaf);
    }
}

/// Notes that the operands from number `first` on lie one behind the other, from array `from` on.
fn alias_in_order(
    places: &mut [Place],
    mut from: usize,
    instruction: Instruction<'_, '_>,
    first: usize,
    starts: &mut Starts,
) {
    for (number, operand) in instruction.operands().enumerate().skip(first) {
        let length = operand.shape().map_or(0, |shape| starts.count(shape));
        alias(places, from, number, 0, length);
        from = from.saturating_add(length);
    }
}

/// The place of every array of an instruction's value.
pub(crate) fn places(instruction: Instruction<'_, '_>, starts: &mut Starts) -> Vec<Place> {
    let count = num_arrays(instruction.shape());
    let mut places = vec![Place::New; count];
    let operand = |operand: usize| instruction.operand(operand).and_then(|operand| operand.shape());
    match instruction.opcode() {
        Opcode::Bitcast | Opcode::While | Opcode::OptBarrier | Opcode::AddDependency | Opcode::Domain => {
            alias(&mut places, 0, 0, 0, count);
        }
        Opcode::Tuple => alias_in_order(&mut places, 0, instruction, 0, starts),
        Opcode::GetTupleElement => {
            let index = instruction.attribute("index").and_then(|index| index.number().ok());
            if let (Some(index), Some(tuple)) = (index, operand(0)) {
                alias(&mut places, 0, 0, starts.before(tuple, index), count);
            }
        }
        // The tuples of these have in front what arrives, or what is sent.
        Opcode::CopyStart => alias(&mut places, 1, 0, 0, operand(0).map_or(0, |shape| starts.count(shape))),
        Opcode::Send => alias(&mut places, 0, 0, 0, operand(0).map_or(0, |shape| starts.count(shape))),
        Opcode::CopyDone | Opcode::RecvDone | Opcode::AllReduceDone => alias(&mut places, 0, 0, 0, count),
        // Its value is the result alone.
        Opcode::AllReduceStart => {}
        // Other operations that go on while others run begin with a tuple of operands, result, and what they need
        // besides. `fusion-start` is short for an `async-start` of a fusion, and so on for all opcodes.
        opcode => match opcode.text().rsplit_once('-') {
            Some((_, "start")) if instruction.shape().tuple_shapes().is_some() => {
                alias_in_order(&mut places, 0, instruction, 0, starts);
            }
            Some((_, "update")) if instruction.operands().len() == 1 => alias(&mut places, 0, 0, 0, count),
            Some((_, "update")) => {
                // Operands that come later stand behind those that the tuple already has.
                let bound = operand(0).and_then(|tuple| starts.part(tuple, &[0])).map_or(0, |(_, length)| length);
                alias(&mut places, 0, 0, 0, bound);
                alias_in_order(&mut places, bound, instruction, 1, starts);
            }
            Some((_, "done")) => {
                if let Some(tuple) = operand(0) {
                    alias(&mut places, 0, 0, starts.before(tuple, 1), count);
                }
            }
            _ => {}
        },
    }
    let written = instruction.attribute("output_to_operand_aliasing").map(|value| value.aliases());
    for written in written.and_then(Result::ok).into_iter().flatten() {
        if let Some(shape) = operand(written.parameter)
            && let Some((to, length)) = starts.part(instruction.shape(), &written.result_index)
            && let Some((from, _)) = starts.part(shape, &written.parameter_index)
        {
            alias(&mut places, to, written.parameter, from, length);
        }
    }
    places
}

/// The computations that run while an instruction does, with values of their own.
fn called<'m, 'a>(instruction: Instruction<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    let keys: &[&str] = match instruction.opcode() {
        Opcode::While => &["condition", "body"],
        Opcode::Call => &["to_apply"],
        Opcode::Conditional => &["branch_computations", "true_computation", "false_computation"],
        _ => return Vec::new(),
    };
    let values = keys.iter().filter_map(|key| instruction.attribute(key));
    let names = values.filter_map(|value| value.names().ok()).flatten();
    names.filter_map(|name| instruction.module().computation(name)).collect()
}

/// The computations that run while one does, with values of their own.
pub(crate) fn callees<'m, 'a>(computation: Computation<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    computation.instructions().flat_map(called).collect()
}

/// The most bytes that a computation makes at any time in each memory space.
type Bytes = BTreeMap<u8, u64>;

/// The timeline of the program; `computations` has called ones first.
pub(crate) fn timeline<'m, 'a>(module: &'m Module<'a>, computations: &[Computation<'m, 'a>]) -> Timeline<'m, 'a> {
    let mut done: Vec<Option<Bytes>> = vec![None; module.computations().len()];
    let mut program = Timeline { instructions: Vec::new(), lifetimes: Vec::new(), live: BTreeMap::new() };
    for &computation in computations {
        let timeline = timeline_of(computation, &done);
        if let Some(place) = done.get_mut(computation.number() as usize) {
            *place = Some(timeline.peaks().into_iter().map(|(space, peak)| (space, peak.bytes)).collect());
        }
        if computation.is_entry() {
            program = timeline;
        }
    }
    program
}

/// The timeline of a computation whose callees are `done`.
fn timeline_of<'m, 'a>(computation: Computation<'m, 'a>, done: &[Option<Bytes>]) -> Timeline<'m, 'a> {
    let instructions: Vec<_> = computation.instructions().collect();
    let first = instructions.first().map_or(0, |instruction| instruction.number());
    let place_of = |number: u32| number.checked_sub(first).map(|place| place as usize);
    let mut starts = Starts::default();
    let mut slots: Vec<Lifetime<'m, 'a>> = Vec::new();
    // The slots of each instruction's arrays; those of a caller have none.
    let mut values: Vec<Vec<Option<usize>>> = Vec::with_capacity(instructions.len());
    let mut last_uses = vec![0_usize; instructions.len()];
    for (at, &instruction) in instructions.iter().enumerate() {
        let is_given = instruction.opcode() == Opcode::Parameter && !runs(computation);
        let places = places(instruction, &mut starts);
        let mut value = Vec::with_capacity(places.len());
        let operands: Vec<_> = instruction
            .operands()
            .map(|operand| operand.instruction().and_then(|operand| place_of(operand.number())))
            .collect();
        let only_aliases = !places.is_empty() && !places.contains(&Place::New);
        for (leaf, (array, place)) in super::arrays(instruction.shape()).zip(places).enumerate() {
            value.push(match place {
                Place::New if is_given => None,
                Place::New => {
                    // The parameters are there before the first instruction.
                    let first = if instruction.opcode() == Opcode::Parameter { 0 } else { at };
                    let footprint = Footprint::of(array).unwrap_or_default();
                    let buffer = Buffer { instruction, leaf, array, footprint };
                    slots.push(Lifetime { buffer, made: first, last_use: at });
                    slots.len().checked_sub(1)
                }
                Place::Operand(operand, leaf) => {
                    let operand = operands.get(operand).copied().flatten();
                    operand.and_then(|operand| values.get(operand)?.get(leaf).copied().flatten())
                }
            });
        }
        values.push(value);
        // What only renames its operands uses of them what its own value has.
        let users = if only_aliases && instruction.opcode() != Opcode::While { &[][..] } else { &operands[..] };
        for operand in users.iter().copied().flatten() {
            if let Some(last) = last_uses.get_mut(operand) {
                *last = (*last).max(at);
            }
        }
        if let Some(last) = last_uses.get_mut(at) {
            *last = (*last).max(at);
        }
    }
    let end = instructions.len();
    let root = place_of(computation.root().number());
    for (at, value) in values.iter().enumerate() {
        let last_use = if Some(at) == root { end } else { last_uses.get(at).copied().unwrap_or(at) };
        let stays = runs(computation)
            && instructions.get(at).is_some_and(|instruction| instruction.opcode() == Opcode::Parameter);
        for slot in value.iter().copied().flatten() {
            if let Some(slot) = slots.get_mut(slot) {
                slot.last_use = slot.last_use.max(if stays { end } else { last_use });
            }
        }
    }
    let live = walk(&instructions, &slots, done);
    Timeline { instructions, lifetimes: slots, live }
}

/// Goes through the instructions in order and keeps count: the bytes needed during each, for each memory space.
fn walk(
    instructions: &[Instruction<'_, '_>],
    lifetimes: &[Lifetime<'_, '_>],
    done: &[Option<Bytes>],
) -> BTreeMap<u8, Vec<u64>> {
    let mut made: Vec<Vec<Buffer<'_, '_>>> = vec![Vec::new(); instructions.len()];
    let mut dying = made.clone();
    for lifetime in lifetimes {
        if let Some(made) = made.get_mut(lifetime.made) {
            made.push(lifetime.buffer);
        }
        if let Some(dying) = dying.get_mut(lifetime.last_use) {
            dying.push(lifetime.buffer);
        }
    }
    let mut steps: BTreeMap<u8, Vec<u64>> = BTreeMap::new();
    let mut note = |space: u8, at: usize, bytes: u64| {
        let steps = steps.entry(space).or_insert_with(|| vec![0; instructions.len()]);
        if let Some(step) = steps.get_mut(at) {
            *step = bytes.max(*step);
        }
    };
    let mut live = Bytes::new();
    for (at, ((&instruction, made), dying)) in instructions.iter().zip(&made).zip(&dying).enumerate() {
        for callee in called(instruction) {
            let inside = done.get(callee.number() as usize).and_then(Option::as_ref);
            for (&space, bytes) in inside.into_iter().flatten() {
                note(space, at, bytes.saturating_add(live.get(&space).copied().unwrap_or(0)));
            }
        }
        for buffer in made {
            let live = live.entry(buffer.memory_space()).or_default();
            *live = live.saturating_add(buffer.footprint.bytes);
        }
        for (&space, &bytes) in &live {
            note(space, at, bytes);
        }
        for buffer in dying {
            if let Some(live) = live.get_mut(&buffer.memory_space()) {
                *live = live.saturating_sub(buffer.footprint.bytes);
            }
        }
    }
    steps
}
