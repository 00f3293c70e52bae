//! Which values are live at the same time.

use super::{Footprint, num_arrays, runs};
use crate::hlo::{Computation, Instruction, Module, Opcode};
use crate::shape::{ArrayShape, Shape};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The most bytes that are needed at any time in one memory space.
#[derive(Clone, Copy, Debug)]
pub struct Peak<'m, 'a> {
    /// The bytes.
    pub bytes: usize,
    /// The instruction of the entry computation during which they are needed.
    pub at: Instruction<'m, 'a>,
}

/// Where an array of an instruction's value lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    /// In memory of its own.
    New,
    /// Where an array of an operand lies: which operand, and which of its arrays.
    Operand(usize, usize),
}

/// How many arrays stand before each element of a tuple, counted once for each tuple.
#[derive(Default)]
pub(super) struct Starts(BTreeMap<*const Shape, Vec<usize>>);

impl Starts {
    /// How many arrays stand before element `index` of a tuple.
    fn before(&mut self, tuple: &Shape, index: usize) -> usize {
        let elements = tuple.tuple_shapes().unwrap_or(&[]);
        let starts = self.0.entry(elements.as_ptr()).or_insert_with(|| {
            let mut start = 0_usize;
            let starts = elements.iter().map(|element| {
                let before = start;
                start = start.saturating_add(num_arrays(element));
                before
            });
            starts.collect()
        });
        starts.get(index).copied().unwrap_or(0)
    }

    /// The first array of the part of a shape with this index, and how many arrays the part has.
    fn part(&mut self, mut shape: &Shape, index: &[usize]) -> Option<(usize, usize)> {
        let mut first = 0_usize;
        for &element in index {
            first = first.saturating_add(self.before(shape, element));
            shape = shape.tuple_shapes()?.get(element)?;
        }
        Some((first, num_arrays(shape)))
    }
}

/// The place of every array of an instruction's value.
pub(super) fn places(instruction: Instruction<'_, '_>, starts: &mut Starts) -> Vec<Place> {
    let count = num_arrays(instruction.shape());
    let mut places = vec![Place::New; count];
    let operand = |operand: usize| instruction.operand(operand).and_then(|operand| operand.shape());
    let mut alias = |from: usize, operand: usize, first: usize, length: usize| {
        for (place, leaf) in places.iter_mut().skip(from).take(length).zip(first..) {
            *place = Place::Operand(operand, leaf);
        }
    };
    match instruction.opcode() {
        Opcode::Bitcast
        | Opcode::While
        | Opcode::OptBarrier
        | Opcode::AddDependency
        | Opcode::Domain
        | Opcode::AsyncUpdate
        | Opcode::AllReduceDone => alias(0, 0, 0, count),
        Opcode::Tuple => {
            let mut from = 0;
            for (number, shape) in instruction.operands().map(|operand| operand.shape()).enumerate() {
                let length = shape.map_or(0, num_arrays);
                alias(from, number, 0, length);
                from = from.saturating_add(length);
            }
        }
        Opcode::GetTupleElement => {
            let index = instruction.attribute("index").and_then(|index| index.number().ok());
            if let (Some(index), Some(tuple)) = (index, operand(0)) {
                alias(0, 0, starts.before(tuple, index), count);
            }
        }
        // The tuple of a copy has the copy in front, those of others the operands.
        Opcode::CopyDone => alias(0, 0, 0, count),
        Opcode::AsyncDone | Opcode::SliceDone | Opcode::AllGatherDone | Opcode::CollectivePermuteDone => {
            if let Some(tuple) = operand(0) {
                alias(0, 0, starts.before(tuple, 1), count);
            }
        }
        Opcode::CopyStart => alias(1, 0, 0, operand(0).map_or(0, num_arrays)),
        Opcode::AsyncStart | Opcode::SliceStart | Opcode::AllGatherStart | Opcode::CollectivePermuteStart => {
            let mut from = 0;
            for (number, shape) in instruction.operands().map(|operand| operand.shape()).enumerate() {
                let length = shape.map_or(0, num_arrays);
                alias(from, number, 0, length);
                from = from.saturating_add(length);
            }
        }
        Opcode::Fusion | Opcode::CustomCall => {
            let aliases = instruction.attribute("output_to_operand_aliasing").map(|value| value.aliases());
            for written in aliases.and_then(Result::ok).into_iter().flatten() {
                if let Some(shape) = operand(written.parameter)
                    && let Some((to, length)) = starts.part(instruction.shape(), &written.result_index)
                    && let Some((from, _)) = starts.part(shape, &written.parameter_index)
                {
                    alias(to, written.parameter, from, length);
                }
            }
        }
        _ => {}
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
pub(super) fn callees<'m, 'a>(computation: Computation<'m, 'a>) -> Vec<Computation<'m, 'a>> {
    computation.instructions().flat_map(called).collect()
}

/// For each memory space, the most bytes that a computation makes at any time, and when.
type Peaks<'m, 'a> = BTreeMap<u8, Peak<'m, 'a>>;

/// The peaks of the program; `computations` has called ones first.
pub(super) fn peaks<'m, 'a>(module: &'m Module<'a>, computations: &[Computation<'m, 'a>]) -> Peaks<'m, 'a> {
    let mut done: Vec<Option<Peaks<'m, 'a>>> = vec![None; module.computations().len()];
    let mut program = Peaks::new();
    for &computation in computations {
        let peaks = peaks_of(computation, &done);
        if computation.is_entry() {
            program.clone_from(&peaks);
        }
        if let Some(place) = done.get_mut(computation.number() as usize) {
            *place = Some(peaks);
        }
    }
    program
}

/// An array that takes memory while a computation runs.
#[derive(Clone, Copy)]
struct Slot<'m> {
    array: &'m ArrayShape,
    last_use: usize,
}

fn peaks_of<'m, 'a>(computation: Computation<'m, 'a>, done: &[Option<Peaks<'m, 'a>>]) -> Peaks<'m, 'a> {
    let instructions: Vec<_> = computation.instructions().collect();
    let first = instructions.first().map_or(0, |instruction| instruction.number());
    let place_of = |number: u32| number.checked_sub(first).map(|place| place as usize);
    let mut starts = Starts::default();
    let mut slots: Vec<Slot<'m>> = Vec::new();
    // The slots of each instruction's arrays; those of a caller have none.
    let mut values: Vec<Vec<Option<usize>>> = Vec::with_capacity(instructions.len());
    let mut last_uses = vec![0_usize; instructions.len()];
    let mut made = Vec::with_capacity(instructions.len());
    for (at, &instruction) in instructions.iter().enumerate() {
        let is_given = instruction.opcode() == Opcode::Parameter && !runs(computation);
        let places = places(instruction, &mut starts);
        let first_slot = slots.len();
        let mut value = Vec::with_capacity(places.len());
        let operands: Vec<_> = instruction
            .operands()
            .map(|operand| operand.instruction().and_then(|operand| place_of(operand.number())))
            .collect();
        let only_aliases = !places.is_empty() && !places.contains(&Place::New);
        for (array, place) in super::arrays(instruction.shape()).zip(places) {
            value.push(match place {
                Place::New if is_given => None,
                Place::New => {
                    slots.push(Slot { array, last_use: at });
                    slots.len().checked_sub(1)
                }
                Place::Operand(operand, leaf) => {
                    let operand = operands.get(operand).copied().flatten();
                    operand.and_then(|operand| values.get(operand)?.get(leaf).copied().flatten())
                }
            });
        }
        values.push(value);
        made.push(first_slot..slots.len());
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
    walk(&instructions, &slots, &made, done)
}

/// Goes through the instructions in order and keeps count.
fn walk<'m, 'a>(
    instructions: &[Instruction<'m, 'a>],
    slots: &[Slot<'m>],
    made: &[core::ops::Range<usize>],
    done: &[Option<Peaks<'m, 'a>>],
) -> Peaks<'m, 'a> {
    let mut dying: Vec<Vec<usize>> = vec![Vec::new(); instructions.len()];
    for (number, slot) in slots.iter().enumerate() {
        if let Some(dying) = dying.get_mut(slot.last_use) {
            dying.push(number);
        }
    }
    let space = |slot: &Slot<'m>| slot.array.layout().memory_space();
    let bytes = |slot: &Slot<'m>| Footprint::of(slot.array).map_or(0, |footprint| footprint.bytes);
    let mut peaks = Peaks::new();
    let mut live: BTreeMap<u8, usize> = BTreeMap::new();
    let mut note = |space: u8, bytes: usize, at: Instruction<'m, 'a>| {
        let peak = peaks.entry(space).or_insert(Peak { bytes: 0, at });
        if bytes > peak.bytes {
            *peak = Peak { bytes, at };
        }
    };
    // The parameters of the program are there before its first instruction.
    let is_there = |at: usize| instructions.get(at).is_some_and(|found| found.opcode() == Opcode::Parameter);
    for (_, made) in made.iter().enumerate().filter(|(at, _)| is_there(*at)) {
        for slot in slots.get(made.clone()).unwrap_or(&[]) {
            let live = live.entry(space(slot)).or_default();
            *live = live.saturating_add(bytes(slot));
        }
    }
    for (at, (&instruction, made)) in instructions.iter().zip(made).enumerate() {
        for callee in called(instruction) {
            let inside = done.get(callee.number() as usize).and_then(Option::as_ref);
            for (&space, peak) in inside.into_iter().flatten() {
                note(space, peak.bytes.saturating_add(live.get(&space).copied().unwrap_or(0)), instruction);
            }
        }
        if !is_there(at) {
            for slot in slots.get(made.clone()).unwrap_or(&[]) {
                let live = live.entry(space(slot)).or_default();
                *live = live.saturating_add(bytes(slot));
            }
        }
        for (&space, &bytes) in &live {
            note(space, bytes, instruction);
        }
        for slot in dying.get(at).into_iter().flatten().filter_map(|&slot| slots.get(slot)) {
            if let Some(live) = live.get_mut(&space(slot)) {
                *live = live.saturating_sub(bytes(slot));
            }
        }
    }
    peaks
}
