//! The ids of computations and instructions in a message, and the call graph.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{
    HloScheduleProto, HloScheduleProtoSequencesEntry, computation_field, instruction_field, module_field,
};
use super::wire::{Content, Field, Fields, Record, present, text};
use super::words::{self, name};
use crate::asynchronous::{Step, has_two_meanings, step};
use crate::module::Items;
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;
use xla_shape_core::sorting::{sort, sort_by_key};

type Result<T> = core::result::Result<T, HloProtoError>;

/// An instruction: the fields that are often needed, and where the others are.
#[derive(Clone, Copy)]
pub(crate) struct InstructionEntry<'p> {
    pub(crate) name: &'p str,
    pub(crate) opcode: Opcode<'p>,
    /// The index of the opcode in [`Opcode::ALL`].
    pub(crate) number: u8,
    pub(crate) id: i64,
    /// Its fields in [`Ids::fields`].
    fields: Items,
    /// A bit set of the field numbers that occur. It leaves out numbers from 128 on.
    present: u128,
}

/// A computation.
pub(crate) struct ComputationEntry<'p> {
    pub(crate) name: &'p str,
    pub(crate) id: i64,
    pub(crate) root_id: i64,
    pub(crate) thread: &'p str,
    pub(crate) program_shape: Option<&'p [u8]>,
    /// The indices of its instructions.
    pub(crate) instructions: Range<usize>,
    /// The ids and indices of the instructions, sorted by id. Empty if they are in this order already.
    sorted: Vec<(i64, usize)>,
}

/// The operation that an asynchronous instruction in short form wraps.
#[derive(Clone, Copy)]
pub(crate) struct Wrapped {
    /// The index of the computation.
    pub(crate) computation: usize,
    /// The index of the instruction.
    pub(crate) root: usize,
}

/// The computations and instructions of a message, to be found by id.
pub(crate) struct Ids<'p> {
    pub(crate) groups: Vec<ComputationEntry<'p>>,
    pub(crate) entries: Vec<InstructionEntry<'p>>,
    /// The fields of all instructions, parsed once.
    fields: Vec<Field<'p>>,
    /// The ids and indices of the computations, sorted by id.
    computations: Vec<(i64, usize)>,
    /// The indices of calling instructions, in order, each with the indices of its callees.
    calls: Vec<(usize, Vec<usize>)>,
    schedule: HloScheduleProto,
    has_schedule: bool,
    /// The operation that an asynchronous start, update or done in short form wraps, by the index of that instruction.
    wrapped: BTreeMap<usize, Wrapped>,
}

/// Sorts ids; a duplicate id is an error.
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
            wrapped: BTreeMap::new(),
        };
        // Real instructions and fields take more bytes than this, so the lists do not grow.
        let bytes = module.each(module_field::computations).map(<[u8]>::len).sum::<usize>();
        ids.entries.reserve(bytes / 128);
        ids.fields.reserve(bytes / 12);
        for bytes in module.each(module_field::computations) {
            ids.computation_entries(bytes)?;
        }
        sort_by_key(&mut ids.schedule.sequences, |sequence| sequence.key);
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

    /// Adds a computation and its instructions.
    fn computation_entries(&mut self, bytes: &'p [u8]) -> Result<()> {
        use computation_field as number;
        let first = self.entries.len();
        let mut group = ComputationEntry {
            name: "",
            id: 0,
            root_id: 0,
            thread: "",
            program_shape: None,
            instructions: first..first,
            sorted: Vec::new(),
        };
        for field in Fields::new(bytes) {
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

    /// Whether some computation has a schedule.
    pub(crate) fn is_scheduled(&self) -> bool {
        !self.schedule.sequences.is_empty()
    }

    /// The instruction with this index.
    #[inline]
    pub(crate) fn entry(&self, place: usize) -> Option<&InstructionEntry<'p>> {
        self.entries.get(place)
    }

    /// The fields of an instruction.
    pub(crate) fn fields(&self, entry: &InstructionEntry<'p>) -> &[Field<'p>] {
        entry.fields.slice(&self.fields)
    }

    /// Copies the fields of an instruction into a record.
    #[inline]
    pub(crate) fn read(&self, entry: &InstructionEntry<'p>, record: &mut Record<'p>) {
        record.take(self.fields(entry), entry.present);
    }

    /// The fields of an instruction as a record of its own.
    pub(crate) fn record(&self, entry: &InstructionEntry<'p>) -> Record<'p> {
        let mut record = Record::default();
        self.read(entry, &mut record);
        record
    }

    /// Finds the callees of all instructions. Unknown ids are reported when the instruction is read.
    fn calls(&mut self) -> Result<()> {
        let calls = present(instruction_field::CALLED_COMPUTATION_IDS);
        for (entry, place) in self.entries.iter().zip(0..).filter(|(entry, _)| entry.present & calls != 0) {
            let record = self.record(entry);
            let mut called = Vec::new();
            for id in record.numbers(instruction_field::CALLED_COMPUTATION_IDS) {
                called.extend(find(&self.computations, id?));
            }
            if !called.is_empty() {
                self.calls.push((place, called));
            }
        }
        Ok(())
    }

    /// The calls by a computation's instructions.
    fn calls_of(&self, computation: usize) -> &[(usize, Vec<usize>)] {
        let instructions = self.groups.get(computation).map_or(0..0, |group| group.instructions.clone());
        let first = self.calls.partition_point(|(place, _)| *place < instructions.start);
        let last = self.calls.partition_point(|(place, _)| *place < instructions.end);
        self.calls.get(first..last).unwrap_or(&[])
    }

    /// The first computation that the instruction with this index calls.
    fn first_called(&self, place: usize) -> Option<usize> {
        let call = self.calls.binary_search_by_key(&place, |(place, _)| *place).ok()?;
        self.calls.get(call)?.1.first().copied()
    }

    /// Finds the asynchronous operations that are printed in short form.
    fn asynchronous(&mut self) -> Result<()> {
        for (group, computation) in self.groups.iter().zip(0..) {
            for place in group.instructions.clone() {
                let Some(entry) = self.entries.get(place) else { continue };
                let wrapped = match step(entry.opcode) {
                    None => continue,
                    Some(Step::Start) => self.expressible(place)?,
                    Some(_) => {
                        let operand = self.record(entry).numbers(instruction_field::OPERAND_IDS).next();
                        let before = operand.transpose()?.and_then(|id| self.instruction(id, computation));
                        before.and_then(|before| self.wrapped(before))
                    }
                };
                if let Some(wrapped) = wrapped {
                    self.wrapped.insert(place, wrapped);
                }
            }
        }
        Ok(())
    }

    /// The operation that an asynchronous start wraps, if the short form can express it:
    ///
    /// - The computation of the start has a single operation, whose operands are the parameters in order.
    /// - Each parameter is an operand of the start. If a later `async-update` binds some of the parameters, the result here is `None`. XLA prints the
    ///   short form even then, and loses these parameters.
    /// - At most one of the two, the start or the operation, states what it writes in place.
    fn expressible(&self, start: usize) -> Result<Option<Wrapped>> {
        let Some(computation) = self.first_called(start) else { return Ok(None) };
        let (Some(group), Some(root)) = (self.groups.get(computation), self.root(computation)) else { return Ok(None) };
        let operands = |place: usize| {
            let record = self.entry(place).map(|entry| self.record(entry)).unwrap_or_default();
            record.list(instruction_field::OPERAND_IDS)
        };
        let mut parameters = Vec::new();
        for place in group.instructions.clone().filter(|place| *place != root) {
            match self.entry(place).filter(|entry| entry.opcode == Opcode::Parameter) {
                Some(entry) => {
                    parameters.push((self.record(entry).number(instruction_field::PARAMETER_NUMBER), place));
                }
                None => return Ok(None),
            }
        }
        sort(&mut parameters);
        let of_root = operands(root)?.into_iter().map(|id| self.instruction(id, computation));
        let in_place = |place: usize| {
            self.entry(place).is_some_and(|entry| entry.present & Key::OutputToOperandAliasing.field_bits() != 0)
        };
        let is_clear = !(in_place(start) && in_place(root))
            && self.entry(root).is_some_and(|root| !has_two_meanings(root.opcode, parameters.len()));
        let says_all = is_clear
            && of_root.eq(parameters.iter().map(|(_, place)| Some(*place)))
            && operands(start)?.len() == parameters.len();
        Ok(says_all.then_some(Wrapped { computation, root }))
    }

    /// The index of the computation with this id.
    pub(crate) fn computation(&self, id: i64) -> Option<usize> {
        find(&self.computations, id)
    }

    /// The names of the computations that an instruction calls.
    pub(crate) fn called(&self, instruction: &Record<'p>) -> Result<Vec<&'p str>> {
        let called = instruction.numbers(instruction_field::CALLED_COMPUTATION_IDS).map(|id| {
            let id = id?;
            let unknown = HloProtoErrorKind::UnknownId { what: "a computation", id };
            let found = self.computation(id).and_then(|place| self.groups.get(place)).map(|group| group.name);
            found.ok_or_else(|| HloProtoError::new(unknown).within("called_computation_ids"))
        });
        called.collect()
    }

    /// The index of the instruction with this id in the computation with this index.
    #[inline]
    pub(crate) fn instruction(&self, id: i64, computation: usize) -> Option<usize> {
        let group = self.groups.get(computation)?;
        // In most messages, ids are consecutive.
        let place = group.instructions.start.checked_add(usize::try_from(id & 0xffff_ffff).ok()?)?;
        if place < group.instructions.end && self.entries.get(place).is_some_and(|found| found.id == id) {
            return Some(place);
        }
        // Older messages number instructions consecutively in the whole module, or have only the lower half of an id; XLA accepts both.
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

    /// The index of the root of the computation with this index.
    pub(crate) fn root(&self, computation: usize) -> Option<usize> {
        self.instruction(self.groups.get(computation)?.root_id, computation)
    }

    /// The indices of the instructions with the ids in this field.
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

    /// The error about an instruction that is not in the schedule although another one needs it.
    #[cold]
    pub(crate) fn unscheduled(&self, place: usize) -> HloProtoError {
        unknown_instruction(self.entry(place).map_or(0, |entry| entry.id)).within("schedule")
    }

    /// The error about an operand that comes after its user in the message. XLA refuses it, whatever the schedule
    /// (`HloInstruction::CreateFromProto` in `xla/hlo/ir/hlo_instruction.cc`).
    #[cold]
    pub(crate) fn operand_after_user(&self, place: usize) -> HloProtoError {
        let id = self.entry(place).map_or(0, |entry| entry.id);
        let unknown = HloProtoErrorKind::UnknownId { what: "an earlier instruction of the computation", id };
        HloProtoError::new(unknown).within("operand_ids")
    }

    /// The indices of a computation's instructions in schedule order or, without a schedule, in message order.
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

    /// The indices of the computations in XLA's print order (`HloModule::MakeComputationPostOrder` in `xla/hlo/ir/hlo_module.cc`): a
    /// post-order walk from the computations that nothing calls, with calls in the order of instruction ids. Computations printed in
    /// short form are left out.
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
            // A computation, and the number of its calling instructions that were followed.
            let mut open = vec![(root, 0_usize)];
            while let Some((index, next)) = open.pop() {
                let Some(group) = calls.get(index).and_then(|calls| calls.get(next)) else {
                    order.push(index);
                    continue;
                };
                open.push((index, next + 1));
                // XLA visits the callees of one instruction in reverse order.
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

    /// The callees of each calling instruction of a computation, in the order of instruction ids.
    fn sorted_calls(&self, computation: usize) -> Vec<&[usize]> {
        let mut calls: Vec<_> = self.calls_of(computation).iter().collect();
        sort_by_key(&mut calls, |(place, _)| self.entry(*place).map(|entry| entry.id));
        calls.into_iter().map(|(_, called)| called.as_slice()).collect()
    }

    /// Which computations are not printed on their own, because all their callers are printed in short form.
    fn hidden(&self) -> Vec<bool> {
        let mut hidden = vec![false; self.groups.len()];
        let mut set = |computation: usize, value: bool| {
            if let Some(hidden) = hidden.get_mut(computation) {
                *hidden = value;
            }
        };
        self.wrapped.values().for_each(|wrapped| set(wrapped.computation, true));
        for (place, called) in self.calls.iter().filter(|(place, _)| !self.wrapped.contains_key(place)) {
            // An update or done only repeats what its start calls.
            let step = self.entry(*place).and_then(|entry| step(entry.opcode));
            if !matches!(step, Some(Step::Update | Step::Done)) {
                called.iter().for_each(|&computation| set(computation, false));
            }
        }
        hidden
    }

    /// The wrapped operation of an asynchronous instruction, if it is printed in short form.
    pub(crate) fn wrapped(&self, place: usize) -> Option<Wrapped> {
        self.wrapped.get(&place).copied()
    }

    /// Checks that no computation calls itself, directly or through others.
    fn check_calls(&self) -> Result<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum Visit {
            New,
            Open,
            Done,
        }
        let count = self.groups.len();
        let mut visits = vec![Visit::New; count];
        for start in 0..count {
            // A computation, the index of the calling instruction to follow next, and the index of its callee.
            let mut open = vec![(start, 0_usize, 0_usize)];
            while let Some((computation, call, next)) = open.pop() {
                let Some(visit) = visits.get_mut(computation) else { continue };
                if (call, next) == (0, 0) {
                    match *visit {
                        Visit::Done => continue,
                        Visit::Open => {
                            let called = self.groups.get(computation).map_or("", |found| found.name);
                            let error = HloProtoError::new(HloProtoErrorKind::CallCycle);
                            return Err(error.within(format_args!("computation `{called}`")));
                        }
                        Visit::New => *visit = Visit::Open,
                    }
                }
                let Some((_, called)) = self.calls_of(computation).get(call) else {
                    *visit = Visit::Done;
                    continue;
                };
                match called.get(next) {
                    Some(&called) => {
                        open.push((computation, call, next + 1));
                        open.push((called, 0, 0));
                    }
                    // Every calling instruction has a callee, so (0, 0) occurs only on entry.
                    None => open.push((computation, call + 1, 0)),
                }
            }
        }
        Ok(())
    }
}

fn unknown_instruction(id: i64) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id })
}

/// Parses an instruction, and appends its fields.
fn entry<'p>(bytes: &'p [u8], fields: &mut Vec<Field<'p>>) -> Result<InstructionEntry<'p>> {
    use instruction_field as number;
    let (mut name, mut opcode, mut id, mut all) = (&[][..], &[][..], 0, 0);
    let first = fields.len();
    for field in Fields::new(bytes) {
        let field = field?;
        fields.push(field);
        all |= present(field.number);
        match (field.number, field.content) {
            (number::NAME, Content::Bytes(bytes)) => name = bytes,
            (number::OPCODE, Content::Bytes(bytes)) => opcode = bytes,
            (number::ID, Content::Number(number)) => id = number as i64,
            _ => {}
        }
    }
    let opcode = text(opcode)?;
    let number = Opcode::number(opcode).unwrap_or(u8::MAX);
    Ok(InstructionEntry {
        name: words::name(text(name)?)?,
        opcode: Opcode::numbered(number, || opcode),
        number,
        id,
        fields: Items::new(first, fields.len()),
        present: all,
    })
}
