//! What has an id in a message, and who calls whom.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{
    HloScheduleProto, HloScheduleProtoSequencesEntry, computation_field, instruction_field, module_field,
};
use super::wire::{Content, Field, Fields, Record, present, text};
use super::words::{self, name};
use crate::asynchronous::{Step, step};
use crate::module::Items;
use crate::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

type Result<T> = core::result::Result<T, HloProtoError>;

/// An instruction: what is asked for again and again, and where its fields are.
#[derive(Clone, Copy)]
pub(crate) struct Entry<'p> {
    pub(crate) name: &'p str,
    pub(crate) opcode: Opcode<'p>,
    /// The number of the opcode.
    pub(crate) number: u8,
    pub(crate) id: i64,
    /// Its fields among all.
    fields: Items,
    /// The numbers of the fields below 128 that are there.
    present: u128,
}

/// A computation.
pub(crate) struct Group<'p> {
    pub(crate) name: &'p str,
    pub(crate) id: i64,
    pub(crate) root_id: i64,
    pub(crate) thread: &'p str,
    pub(crate) program_shape: Option<&'p [u8]>,
    /// The places of its instructions.
    pub(crate) instructions: Range<usize>,
    /// Ids and places of the instructions, sorted, where they do not grow from one to the next.
    sorted: Vec<(i64, usize)>,
}

/// The single instruction that an asynchronous operation is.
#[derive(Clone, Copy)]
pub(crate) struct Wrapped {
    /// The place of its computation.
    pub(crate) computation: usize,
    /// The place of the instruction.
    pub(crate) root: usize,
}

/// Where what has an id is.
pub(crate) struct Ids<'p> {
    pub(crate) groups: Vec<Group<'p>>,
    pub(crate) entries: Vec<Entry<'p>>,
    /// The fields of all instructions: they are walked once.
    fields: Vec<Field<'p>>,
    /// Ids and places of the computations, sorted.
    computations: Vec<(i64, usize)>,
    /// The places of instructions that call, with the places of what they call, in the order of the instructions.
    calls: Vec<(usize, Vec<usize>)>,
    schedule: HloScheduleProto,
    has_schedule: bool,
    /// For each computation, whether it is a single instruction beside its parameters.
    singles: Vec<bool>,
    /// The instruction that begins an asynchronous operation, by the place of each of its steps.
    starts: BTreeMap<usize, usize>,
}

/// Sorts ids; an id that is there twice is an error.
fn sorted(ids: impl Iterator<Item = (i64, usize)>, what: &'static str) -> Result<Vec<(i64, usize)>> {
    let mut ids: Vec<_> = ids.collect();
    ids.sort_unstable();
    let again = ids.windows(2).find_map(|pair| match pair {
        [(first, _), (second, _)] if first == second => Some(*first),
        _ => None,
    });
    match again {
        Some(id) => Err(HloProtoError::new(HloProtoErrorKind::DuplicateId { what, id })),
        None => Ok(ids),
    }
}

fn find(ids: &[(i64, usize)], id: i64) -> Option<usize> {
    let place = ids.binary_search_by_key(&id, |(id, _)| *id).ok()?;
    ids.get(place).map(|(_, index)| *index)
}

impl<'p> Ids<'p> {
    pub(crate) fn new(module: &Record<'p>) -> Result<Self> {
        let schedule: Option<HloScheduleProto> = module.message(module_field::schedule)?;
        let mut ids = Self {
            groups: Vec::new(),
            entries: Vec::new(),
            fields: Vec::new(),
            computations: Vec::new(),
            calls: Vec::new(),
            has_schedule: schedule.is_some(),
            schedule: schedule.unwrap_or_default(),
            singles: Vec::new(),
            starts: BTreeMap::new(),
        };
        // An instruction of a compiler takes more bytes than this, and so does a field: nothing grows twice.
        let bytes = module.each(module_field::computations).map(<[u8]>::len).fold(0, usize::saturating_add);
        ids.entries.reserve(bytes / 128);
        ids.fields.reserve(bytes / 12);
        for bytes in module.each(module_field::computations) {
            ids.computation_entries(bytes)?;
        }
        ids.schedule.sequences.sort_by_key(|sequence| sequence.key);
        ids.computations = sorted(ids.groups.iter().map(|group| group.id).zip(0..), "computation")?;
        for group in &mut ids.groups {
            let entries = ids.entries.get(group.instructions.clone()).unwrap_or(&[]);
            if !entries.is_sorted_by(|a, b| a.id < b.id) {
                let of_entries = entries.iter().map(|entry| entry.id).zip(group.instructions.clone());
                let of_entries = sorted(of_entries, "instruction");
                group.sorted =
                    of_entries.map_err(|error| error.within(format_args!("computation `{}`", group.name)))?;
            }
        }
        ids.calls()?;
        ids.check_calls()?;
        ids.asynchronous()?;
        Ok(ids)
    }

    /// Notes a computation and its instructions.
    fn computation_entries(&mut self, bytes: &'p [u8]) -> Result<()> {
        use computation_field as number;
        let first = self.entries.len();
        let mut group = Group {
            name: "",
            id: 0,
            root_id: 0,
            thread: "",
            program_shape: None,
            instructions: first..first,
            sorted: Vec::new(),
        };
        for field in Fields::of(bytes) {
            let field = field?;
            match (field.number, field.content) {
                (number::name, Content::Bytes(bytes)) => group.name = text(bytes)?,
                (number::instructions, Content::Bytes(bytes)) => {
                    let place = |error: HloProtoError| error.within(format_args!("computation `{}`", group.name));
                    let entry = entry(bytes, &mut self.fields).map_err(place)?;
                    self.entries.push(entry);
                }
                (number::program_shape, Content::Bytes(bytes)) => group.program_shape = Some(bytes),
                (number::id, Content::Number(id)) => group.id = id as i64,
                (number::root_id, Content::Number(id)) => group.root_id = id as i64,
                (number::execution_thread, Content::Bytes(bytes)) => group.thread = text(bytes)?,
                _ => {}
            }
        }
        name(group.name)?;
        group.instructions.end = self.entries.len();
        self.groups.push(group);
        Ok(())
    }

    /// Whether the order in which some computation runs is known.
    pub(crate) fn is_scheduled(&self) -> bool {
        !self.schedule.sequences.is_empty()
    }

    /// The instruction at this place.
    #[inline]
    pub(crate) fn entry(&self, place: usize) -> Option<&Entry<'p>> {
        self.entries.get(place)
    }

    /// The fields of an instruction.
    pub(crate) fn fields(&self, entry: &Entry<'p>) -> &[Field<'p>] {
        entry.fields.of(&self.fields)
    }

    /// Puts the fields of an instruction into a record.
    #[inline]
    pub(crate) fn read(&self, entry: &Entry<'p>, record: &mut Record<'p>) {
        record.take(self.fields(entry), entry.present);
    }

    /// The fields of an instruction as a record of its own.
    pub(crate) fn record(&self, entry: &Entry<'p>) -> Record<'p> {
        let mut record = Record::default();
        self.read(entry, &mut record);
        record
    }

    /// Finds which computations the instructions call. Ids of none are left to be said where the instruction is read.
    fn calls(&mut self) -> Result<()> {
        let calls = present(instruction_field::called_computation_ids);
        for (entry, place) in self.entries.iter().zip(0..).filter(|(entry, _)| entry.present & calls != 0) {
            let record = self.record(entry);
            let mut called = Vec::new();
            for id in record.numbers(instruction_field::called_computation_ids) {
                called.extend(find(&self.computations, id?));
            }
            if !called.is_empty() {
                self.calls.push((place, called));
            }
        }
        Ok(())
    }

    /// The calls of a computation's instructions.
    fn calls_of(&self, computation: usize) -> &[(usize, Vec<usize>)] {
        let instructions = self.groups.get(computation).map_or(0..0, |group| group.instructions.clone());
        let first = self.calls.partition_point(|(place, _)| *place < instructions.start);
        let last = self.calls.partition_point(|(place, _)| *place < instructions.end);
        self.calls.get(first..last).unwrap_or(&[])
    }

    /// The first computation that the instruction at this place calls.
    fn first_called(&self, place: usize) -> Option<usize> {
        let call = self.calls.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        self.calls.get(call)?.1.first().copied()
    }

    /// Finds what begins asynchronous operations, and which computations may stand in short where they are called.
    fn asynchronous(&mut self) -> Result<()> {
        let is_single = |(group, computation): (&Group<'p>, usize)| {
            let root = self.root(computation);
            group.instructions.clone().all(|place| {
                Some(place) == root || self.entry(place).is_some_and(|entry| entry.opcode == Opcode::Parameter)
            })
        };
        self.singles = self.groups.iter().zip(0..).map(is_single).collect();
        for (group, computation) in self.groups.iter().zip(0..) {
            for place in group.instructions.clone() {
                let Some(entry) = self.entries.get(place) else { continue };
                let start = match step(entry.opcode) {
                    None => continue,
                    Some(Step::Start) => Some(place),
                    Some(_) => {
                        let operand = self.record(entry).numbers(instruction_field::operand_ids).next();
                        let before = operand.transpose()?.and_then(|id| self.instruction(id, computation));
                        before.and_then(|before| self.starts.get(&before).copied())
                    }
                };
                if let Some(start) = start {
                    self.starts.insert(place, start);
                }
            }
        }
        Ok(())
    }

    /// The place of the computation with this id.
    pub(crate) fn computation(&self, id: i64) -> Option<usize> {
        find(&self.computations, id)
    }

    /// The computations that an instruction calls.
    pub(crate) fn called(&self, instruction: &Record<'p>) -> Result<Vec<usize>> {
        let called = instruction.numbers(instruction_field::called_computation_ids).map(|id| {
            let id = id?;
            let unknown = HloProtoErrorKind::UnknownId { what: "a computation", id };
            self.computation(id).ok_or_else(|| HloProtoError::new(unknown).within("called_computation_ids"))
        });
        called.collect()
    }

    /// The place of the instruction of the computation at this place with this id.
    #[inline]
    pub(crate) fn instruction(&self, id: i64, computation: usize) -> Option<usize> {
        let group = self.groups.get(computation)?;
        // Most messages number them in their order.
        let place = group.instructions.start.checked_add(usize::try_from(id & 0xffff_ffff).ok()?)?;
        if place < group.instructions.end && self.entries.get(place).is_some_and(|found| found.id == id) {
            return Some(place);
        }
        // Older messages number instructions in a module, or write only the lower half, as XLA reads it.
        let find = |id: i64| {
            if !group.sorted.is_empty() {
                return find(&group.sorted, id);
            }
            let entries = self.entries.get(group.instructions.clone())?;
            let place = entries.binary_search_by_key(&id, |entry| entry.id).ok()?;
            group.instructions.start.checked_add(place)
        };
        find(id).or_else(|| find(id & 0xffff_ffff))
    }

    /// The place of the root of the computation at this place.
    pub(crate) fn root(&self, computation: usize) -> Option<usize> {
        self.instruction(self.groups.get(computation)?.root_id, computation)
    }

    /// The places of the instructions with the ids in this field.
    pub(crate) fn named<'s>(
        &'s self,
        instruction: &'s Record<'p>,
        field: u32,
        called: &'static str,
        computation: usize,
    ) -> impl Iterator<Item = Result<usize>> + use<'s, 'p> {
        instruction.numbers(field).map(move |id| {
            let id = id?;
            self.instruction(id, computation).ok_or_else(|| unknown_instruction(id).within(called))
        })
    }

    /// The error about an instruction that another one needs, and that the schedule has not.
    #[cold]
    pub(crate) fn unscheduled(&self, place: usize) -> HloProtoError {
        unknown_instruction(self.entry(place).map_or(0, |entry| entry.id)).within("schedule")
    }

    /// The places of a computation's instructions in the order in which they run, or as the message has them.
    pub(crate) fn order(&self, computation: usize) -> Result<Vec<usize>> {
        let Some(group) = self.groups.get(computation) else { return Ok(Vec::new()) };
        let sequences = &self.schedule.sequences;
        let of_group = sequences.binary_search_by_key(&group.id, |sequence| sequence.key).ok();
        let sequence = of_group.and_then(|place| sequences.get(place)).filter(|_| self.has_schedule);
        let Some(HloScheduleProtoSequencesEntry { value, .. }) = sequence else {
            return Ok(group.instructions.clone().collect());
        };
        let scheduled = value.as_ref().map_or(&[][..], |value| value.instruction_ids.as_slice());
        let mut order = Vec::with_capacity(scheduled.len());
        for &id in scheduled {
            let place = self.instruction(id, computation);
            order.push(place.ok_or_else(|| unknown_instruction(id).within("schedule"))?);
        }
        let ids = scheduled.iter().copied().zip(0..);
        if !scheduled.is_sorted_by(|a, b| a < b) {
            sorted(ids, "instruction").map_err(|error| error.within("schedule"))?;
        }
        Ok(order)
    }

    /// The places of the computations in the order in which XLA prints them: before each one that is not called, those that it
    /// calls, as its instructions call them in the order of their ids. One that stands in short in an asynchronous operation is
    /// left out.
    pub(crate) fn post_order(&self) -> Vec<usize> {
        let count = self.groups.len();
        let calls: Vec<_> = (0..count).map(|index| self.sorted_calls(index)).collect();
        let mut called = vec![false; count];
        for &index in calls.iter().flatten().copied().flatten() {
            if let Some(called) = called.get_mut(index) {
                *called = true;
            }
        }
        let hidden = self.hidden();
        let (mut seen, mut order) = (vec![false; count], Vec::with_capacity(count));
        for &(_, root) in &self.computations {
            if called.get(root).copied().unwrap_or(true) {
                continue;
            }
            // A computation, and how many of its calling instructions were followed.
            let mut open = vec![(root, 0_usize)];
            while let Some((index, next)) = open.pop() {
                let Some(group) = calls.get(index).and_then(|calls| calls.get(next)) else {
                    order.push(index);
                    continue;
                };
                open.push((index, next.saturating_add(1)));
                // The last one that an instruction calls is seen first.
                for &inner in group.iter().rev() {
                    if !core::mem::replace(seen.get_mut(inner).unwrap_or(&mut true), true) {
                        open.push((inner, 0));
                    }
                }
            }
        }
        order.retain(|&index| !hidden.get(index).copied().unwrap_or(false));
        order
    }

    /// The places of the computations that the instructions of one call, each for itself, in the order of their ids.
    fn sorted_calls(&self, computation: usize) -> Vec<&[usize]> {
        let mut calls: Vec<_> = self.calls_of(computation).iter().collect();
        calls.sort_by_key(|(place, _)| self.entry(*place).map(|entry| entry.id));
        calls.into_iter().map(|(_, called)| called.as_slice()).collect()
    }

    /// Which computations stand in short where they are called, so that they are not printed.
    fn hidden(&self) -> Vec<bool> {
        let mut hidden = vec![false; self.groups.len()];
        let starts = self.starts.iter().filter(|(step, start)| step == start);
        for called in starts.filter_map(|(&start, _)| self.first_called(start)) {
            if let (Some(&is_single), Some(hidden)) = (self.singles.get(called), hidden.get_mut(called)) {
                *hidden = is_single;
            }
        }
        hidden
    }

    /// What an asynchronous operation does, if that is a single instruction: it stands in the place of its steps.
    pub(crate) fn wrapped(&self, place: usize) -> Option<Wrapped> {
        let computation = self.first_called(*self.starts.get(&place)?)?;
        self.singles.get(computation).filter(|is_single| **is_single)?;
        Some(Wrapped { computation, root: self.root(computation)? })
    }

    /// Checks that no computation calls itself, however far around.
    fn check_calls(&self) -> Result<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let count = self.groups.len();
        let mut states = vec![State::New; count];
        for start in 0..count {
            // A computation, which of its calls was followed last, and which of what that calls.
            let mut open = vec![(start, 0_usize, 0_usize)];
            while let Some((computation, call, next)) = open.pop() {
                let Some(state) = states.get_mut(computation) else { continue };
                if (call, next) == (0, 0) {
                    match *state {
                        State::Done => continue,
                        State::Open => {
                            let called = self.groups.get(computation).map_or("", |found| found.name);
                            let error = HloProtoError::new(HloProtoErrorKind::CallCycle);
                            return Err(error.within(format_args!("computation `{called}`")));
                        }
                        State::New => *state = State::Open,
                    }
                }
                let Some((_, called)) = self.calls_of(computation).get(call) else {
                    *state = State::Done;
                    continue;
                };
                match called.get(next) {
                    Some(&called) => {
                        open.push((computation, call, next.saturating_add(1)));
                        open.push((called, 0, 0));
                    }
                    // What calls, calls something: the first place of all is not asked for twice.
                    None => open.push((computation, call.saturating_add(1), 0)),
                }
            }
        }
        Ok(())
    }
}

fn unknown_instruction(id: i64) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id })
}

/// Reads what is asked for of an instruction again and again, and keeps its fields.
fn entry<'p>(bytes: &'p [u8], fields: &mut Vec<Field<'p>>) -> Result<Entry<'p>> {
    use instruction_field as number;
    let (mut name, mut opcode, mut id, mut all) = (&[][..], &[][..], 0, 0);
    let first = fields.len();
    for field in Fields::of(bytes) {
        let field = field?;
        fields.push(field);
        all |= present(field.number);
        match (field.number, field.content) {
            (number::name, Content::Bytes(bytes)) => name = bytes,
            (number::opcode, Content::Bytes(bytes)) => opcode = bytes,
            (number::id, Content::Number(number)) => id = number as i64,
            _ => {}
        }
    }
    let opcode = text(opcode)?;
    let number = Opcode::number(opcode).unwrap_or(u8::MAX);
    Ok(Entry {
        name: words::name(text(name)?)?,
        opcode: Opcode::numbered(number, opcode),
        number,
        id,
        fields: Items::new(first, fields.len()),
        present: all,
    })
}
