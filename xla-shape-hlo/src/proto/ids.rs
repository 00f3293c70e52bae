//! What has an id in a message, and who calls whom.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{HloComputationProto, HloInstructionProto, HloModuleProto, HloScheduleProtoSequencesEntry};
use super::words::name;
use crate::asynchronous::{Step, step};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;

type Result<T> = core::result::Result<T, HloProtoError>;

/// The single instruction that an asynchronous operation is.
pub(crate) struct Wrapped<'p> {
    pub(crate) root: &'p HloInstructionProto,
    pub(crate) computation: &'p HloComputationProto,
}

/// Where what has an id is.
pub(crate) struct Ids<'p> {
    module: &'p HloModuleProto,
    /// Ids and places of the computations, sorted.
    computations: Vec<(i64, usize)>,
    /// For each computation, ids and places of its instructions, sorted.
    instructions: Vec<Vec<(i64, usize)>>,
    /// The schedule of each computation, sorted by its id.
    schedule: Vec<(i64, &'p [i64])>,
    /// For each computation, whether it is a single instruction beside its parameters.
    singles: Vec<bool>,
    /// The instruction that begins an asynchronous operation, by computation and instruction.
    starts: BTreeMap<(i64, i64), &'p HloInstructionProto>,
    /// The place of the computation that was asked for last.
    last: Cell<usize>,
}

/// Sorts ids; an id that is there twice is an error.
fn sorted(ids: impl Iterator<Item = i64>, what: &'static str) -> Result<Vec<(i64, usize)>> {
    let mut ids: Vec<_> = ids.zip(0_usize..).collect();
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
    pub(crate) fn new(module: &'p HloModuleProto) -> Result<Self> {
        let computations = sorted(module.computations.iter().map(|computation| computation.id), "computation")?;
        let instructions = module.computations.iter().map(|computation| {
            let ids = sorted(computation.instructions.iter().map(|instruction| instruction.id), "instruction");
            ids.map_err(|error| error.within(alloc::format!("computation `{}`", computation.name)))
        });
        let instructions = instructions.collect::<Result<Vec<_>>>()?;
        let sequences = module.schedule.as_ref().map_or(&[][..], |schedule| schedule.sequences.as_slice());
        let ids_of = |sequence: &'p HloScheduleProtoSequencesEntry| {
            sequence.value.as_ref().map_or(&[][..], |value| value.instruction_ids.as_slice())
        };
        let mut schedule: Vec<_> = sequences.iter().map(|sequence| (sequence.key, ids_of(sequence))).collect();
        schedule.sort_unstable();
        let (singles, starts, last) = (Vec::new(), BTreeMap::new(), Cell::new(0));
        let mut ids = Self { module, computations, instructions, schedule, singles, starts, last };
        ids.check_calls()?;
        ids.asynchronous();
        Ok(ids)
    }

    /// Finds what begins asynchronous operations, and which computations may stand in short where they are called.
    fn asynchronous(&mut self) {
        let is_single = |computation: &HloComputationProto| {
            let root = self.root(computation).map(|root| root.id);
            let is_plain = |found: &HloInstructionProto| Some(found.id) == root || found.opcode == "parameter";
            computation.instructions.iter().all(is_plain)
        };
        self.singles = self.module.computations.iter().map(is_single).collect();
        for computation in &self.module.computations {
            for instruction in &computation.instructions {
                let start = match step(&instruction.opcode) {
                    None => continue,
                    Some(Step::Start) => Some(instruction),
                    Some(_) => {
                        let before = instruction.operand_ids.first().and_then(|&id| self.instruction(id, computation));
                        before.and_then(|before| self.starts.get(&(computation.id, before.id)).copied())
                    }
                };
                if let Some(start) = start {
                    self.starts.insert((computation.id, instruction.id), start);
                }
            }
        }
    }

    pub(crate) fn computation(&self, id: i64) -> Option<&'p HloComputationProto> {
        self.module.computations.get(find(&self.computations, id)?)
    }

    /// The computations that an instruction calls.
    pub(crate) fn called(&self, instruction: &HloInstructionProto) -> Result<Vec<&'p HloComputationProto>> {
        let called = instruction.called_computation_ids.iter().map(|&id| {
            let unknown = HloProtoErrorKind::UnknownId { what: "a computation", id };
            self.computation(id).ok_or_else(|| HloProtoError::new(unknown).within("called_computation_ids"))
        });
        called.collect()
    }

    /// The instruction of this computation with this id.
    pub(crate) fn instruction(&self, id: i64, computation: &HloComputationProto) -> Option<&'p HloInstructionProto> {
        let is_it =
            |index: &usize| self.module.computations.get(*index).is_some_and(|found| found.id == computation.id);
        let index = Some(self.last.get()).filter(is_it).or_else(|| find(&self.computations, computation.id))?;
        self.last.set(index);
        let of_computation = self.module.computations.get(index)?;
        // Most messages number them in their order.
        let place = usize::try_from(id & 0xffff_ffff).ok()?;
        if let Some(found) = of_computation.instructions.get(place).filter(|found| found.id == id) {
            return Some(found);
        }
        // Older messages number instructions in a module, or write only the lower half, as XLA reads it.
        let ids = self.instructions.get(index)?;
        let place = find(ids, id).or_else(|| find(ids, id & 0xffff_ffff));
        of_computation.instructions.get(place?)
    }

    pub(crate) fn root(&self, computation: &HloComputationProto) -> Option<&'p HloInstructionProto> {
        self.instruction(computation.root_id, computation)
    }

    /// The names of these instructions.
    pub(crate) fn named(&self, ids: &[i64], computation: &HloComputationProto) -> Result<Vec<&'p str>> {
        self.names(ids, computation, "control_predecessor_ids").collect()
    }

    pub(crate) fn operands(
        &self,
        instruction: &'p HloInstructionProto,
        computation: &'p HloComputationProto,
    ) -> impl Iterator<Item = Result<&'p str>> {
        self.names(&instruction.operand_ids, computation, "operand_ids")
    }

    fn names<'s>(
        &'s self,
        ids: &'s [i64],
        computation: &'s HloComputationProto,
        field: &'static str,
    ) -> impl Iterator<Item = Result<&'p str>> + use<'s, 'p> {
        ids.iter().map(move |&id| {
            let unknown = || HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id };
            let found = self.instruction(id, computation);
            name(&found.ok_or_else(|| HloProtoError::new(unknown()).within(field))?.name)
        })
    }

    /// The instructions of a computation in the order in which they run, or as the message has them.
    pub(crate) fn order(&self, computation: &'p HloComputationProto) -> Result<Vec<&'p HloInstructionProto>> {
        let sequence = self.schedule.binary_search_by_key(&computation.id, |(id, _)| *id).ok();
        let sequence = sequence.and_then(|place| self.schedule.get(place)).map(|(_, ids)| *ids);
        let Some(sequence) = sequence.filter(|_| self.module.schedule.is_some()) else {
            return Ok(computation.instructions.iter().collect());
        };
        sorted(sequence.iter().copied(), "instruction").map_err(|error| error.within("schedule"))?;
        let scheduled = sequence.iter().map(|&id| {
            let unknown = HloProtoErrorKind::UnknownId { what: "an instruction of the computation", id };
            self.instruction(id, computation).ok_or_else(|| HloProtoError::new(unknown).within("schedule"))
        });
        scheduled.collect()
    }

    /// The computations in the order in which XLA prints them: before each one that is not called, those that it calls, as
    /// its instructions call them in the order of their ids. One that stands in short in an asynchronous operation is left out.
    pub(crate) fn post_order(&self) -> Vec<&'p HloComputationProto> {
        let computations = &self.module.computations;
        let count = computations.len();
        let calls: Vec<_> = (0..count).map(|index| self.calls(index)).collect();
        let mut called = vec![false; count];
        for &index in calls.iter().flatten().flatten() {
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
        order.into_iter().filter_map(|index| computations.get(index)).collect()
    }

    /// The places of the computations that the instructions of one call, each for itself, in the order of their ids.
    fn calls(&self, index: usize) -> Vec<Vec<usize>> {
        let instructions = self.module.computations.get(index).map_or(&[][..], |found| found.instructions.as_slice());
        let mut calling: Vec<_> =
            instructions.iter().filter(|instruction| !instruction.called_computation_ids.is_empty()).collect();
        calling.sort_by_key(|instruction| instruction.id);
        let places = |instruction: &HloInstructionProto| {
            let ids = instruction.called_computation_ids.iter();
            ids.filter_map(|&id| find(&self.computations, id)).collect()
        };
        calling.into_iter().map(places).collect()
    }

    /// Which computations stand in short where they are called, so that they are not printed.
    fn hidden(&self) -> Vec<bool> {
        let mut hidden = vec![false; self.module.computations.len()];
        let instructions = self.module.computations.iter().flat_map(|computation| &computation.instructions);
        for start in instructions.filter(|instruction| instruction.opcode == "async-start") {
            let called = start.called_computation_ids.first().and_then(|&id| find(&self.computations, id));
            let place = called.and_then(|index| Some((self.singles.get(index)?, hidden.get_mut(index)?)));
            if let Some((&is_single, hidden)) = place {
                *hidden = is_single;
            }
        }
        hidden
    }

    /// What an asynchronous operation does, if that is a single instruction: it stands in its place.
    pub(crate) fn wrapped(
        &self,
        instruction: &HloInstructionProto,
        computation: &HloComputationProto,
    ) -> Option<Wrapped<'p>> {
        let start = self.starts.get(&(computation.id, instruction.id))?;
        let index = find(&self.computations, *start.called_computation_ids.first()?)?;
        let computation = self.module.computations.get(index).filter(|_| self.singles.get(index) == Some(&true))?;
        Some(Wrapped { root: self.root(computation)?, computation })
    }

    /// Checks that no computation calls itself, however far around.
    fn check_calls(&self) -> Result<()> {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let calls = |computation: &HloComputationProto| {
            let ids = computation.instructions.iter().flat_map(|instruction| &instruction.called_computation_ids);
            ids.filter_map(|&id| find(&self.computations, id)).collect()
        };
        let calls: Vec<Vec<usize>> = self.module.computations.iter().map(calls).collect();
        let mut states = vec![State::New; calls.len()];
        for start in 0..calls.len() {
            // A computation, and how many of its calls were followed.
            let mut open = vec![(start, 0_usize)];
            while let Some((computation, next)) = open.pop() {
                let Some(state) = states.get_mut(computation) else { continue };
                if next == 0 {
                    match *state {
                        State::Done => continue,
                        State::Open => {
                            let called = self.module.computations.get(computation).map_or("", |found| &found.name);
                            let error = HloProtoError::new(HloProtoErrorKind::CallCycle);
                            return Err(error.within(alloc::format!("computation `{called}`")));
                        }
                        State::New => *state = State::Open,
                    }
                }
                match calls.get(computation).and_then(|calls| calls.get(next)) {
                    Some(&called) => {
                        open.push((computation, next.saturating_add(1)));
                        open.push((called, 0));
                    }
                    None => *state = State::Done,
                }
            }
        }
        Ok(())
    }
}
