//! Which buffers have one memory on CPUs and GPUs (`BufferAssigner` in `xla/service/buffer_assignment.cc`, `HeapSimulator` in
//! `xla/service/heap_simulator/heap_simulator.cc`).
//!
//! From the largest buffer to the smallest, each takes the memory of a result or of a donated parameter if that is large enough and free
//! while it lives. The others go into a heap, where a value can take over the memory of an operand that ends where it begins. Two values
//! that meet in one step have one memory only if the instruction may overwrite that operand (`HloDataflowAnalysis::CanShareOperandBufferWithUser`).

use super::buffers::{BufferValue, HloBuffer};
use super::values::{Values, parts};
use crate::account::Role;
use crate::readers::Readers;
use crate::schema::Key;
use crate::schema::opcode::{Family, Opcode};
use crate::{Computation, Instruction, Module};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::Cell;
use core::cmp::Reverse;
use xla_shape_core::Shape;

/// The limit on pairs of values that are compared. Buffers beyond it keep memory of their own.
const MAX_PAIRS: usize = 1 << 24;

/// The buffers of a program for a CPU or a GPU, each with all values that have its memory.
pub(super) fn shared<'m>(
    module: &'m Module,
    computations: &[Computation<'m>],
    values: &Values<'m>,
    buffers: &[HloBuffer<'m>],
) -> Vec<HloBuffer<'m>> {
    let mut sharing = Sharing::new(module, values, buffers);
    sharing.assign(&post_order(module, computations));
    sharing.take_over();
    sharing.merged()
}

struct Sharing<'s, 'm> {
    module: &'m Module,
    values: &'s Values<'m>,
    buffers: &'s [HloBuffer<'m>],
    readers: Readers<'m>,
    is_gpu: bool,
    /// By value: its buffer, and its place in it.
    place_of: BTreeMap<u32, (usize, usize)>,
    /// By buffer: the first buffer in the same memory.
    owner: Vec<usize>,
    /// The buffers in each memory, by the first one.
    members: BTreeMap<usize, Vec<usize>>,
    /// How many pairs of values were compared.
    pairs: Cell<usize>,
}

impl<'s, 'm> Sharing<'s, 'm> {
    fn new(module: &'m Module, values: &'s Values<'m>, buffers: &'s [HloBuffer<'m>]) -> Self {
        let mut place_of = BTreeMap::new();
        for (number, buffer) in buffers.iter().enumerate() {
            place_of.extend(buffer.values.iter().enumerate().map(|(place, value)| (value.number, (number, place))));
        }
        Self {
            module,
            values,
            buffers,
            readers: module.readers(),
            is_gpu: is_for_gpu(module),
            place_of,
            owner: (0..buffers.len()).collect(),
            members: (0..buffers.len()).map(|number| (number, vec![number])).collect(),
            pairs: Cell::new(0),
        }
    }

    fn buffer(&self, number: usize) -> Option<&'s HloBuffer<'m>> {
        self.buffers.get(number)
    }

    fn owner_of(&self, buffer: usize) -> usize {
        self.owner.get(buffer).copied().unwrap_or(buffer)
    }

    /// Puts all that is in the memory of `other` into that of `first`.
    fn join(&mut self, first: usize, other: usize) {
        let moved = self.members.remove(&other).unwrap_or_default();
        for number in &moved {
            if let Some(owner) = self.owner.get_mut(*number) {
                *owner = first;
            }
        }
        self.members.entry(first).or_default().extend(moved);
    }

    /// Gives temporaries the memory of results and donated parameters (`BufferAssigner::AssignSingleHloBuffer`).
    /// `position` has the place of each instruction in the order in which XLA takes buffers of one size.
    fn assign(&mut self, position: &[u32]) {
        let mut order: Vec<usize> = (0..self.buffers.len()).collect();
        order.sort_by_key(|&number| {
            self.buffer(number).map(|buffer| {
                let first = buffer.values.iter().filter_map(|value| position.get(value.instruction as usize)).min();
                (Reverse(buffer.bytes), !lives_out(buffer), first, number)
            })
        });
        // The memories that can take others, from the largest to the smallest.
        let mut memories = Vec::new();
        for number in order {
            let Some(buffer) = self.buffer(number) else { continue };
            if buffer.addresses.is_some() || matches!(buffer.role, Role::Argument | Role::Constant) {
                continue;
            }
            if buffer.role == Role::Donated {
                memories.push(number);
                continue;
            }
            // Those of the operands come first, then the smallest one.
            let operands = buffer.values.iter().filter_map(|value| self.module.instruction_at(value.instruction));
            let operands =
                operands.flat_map(|instruction| instruction.operands().filter_map(|operand| operand.instruction()));
            let of_operands = operands.filter_map(|operand| {
                let value = self.values.at(operand.number()).next()?;
                Some(self.owner_of(self.place_of.get(&value)?.0)).filter(|owner| memories.contains(owner))
            });
            let candidates = of_operands.collect::<Vec<_>>().into_iter().chain(memories.iter().rev().copied());
            let found = candidates.into_iter().find(|memory| self.fits(*memory, number));
            match found {
                Some(memory) => self.join(memory, number),
                None if lives_out(buffer) => memories.push(number),
                None => {}
            }
        }
    }

    /// Whether a buffer can have a memory that others have already (`BufferAssigner::MaybeAssignBuffer`).
    fn fits(&self, memory: usize, number: usize) -> bool {
        let (Some(owner), Some(buffer)) = (self.buffer(memory), self.buffer(number)) else { return false };
        let is_large_enough = if lives_out(buffer) { owner.bytes == buffer.bytes } else { owner.bytes >= buffer.bytes };
        if memory == number || owner.space != buffer.space || !is_large_enough {
            return false;
        }
        let members = self.members.get(&memory).map_or(&[][..], Vec::as_slice);
        let values = members.iter().filter_map(|member| self.buffers.get(*member)).map(|member| member.values.len());
        if !self.may_compare(values.sum::<usize>().saturating_mul(buffer.values.len())) {
            return false;
        }
        let mut taken = members.iter().filter_map(|member| self.buffers.get(*member)).flat_map(|member| &member.values);
        taken.all(|taken| buffer.values.iter().all(|value| !self.interfere(value, taken)))
    }

    /// Counts comparisons; `false` if there were too many.
    fn may_compare(&self, pairs: usize) -> bool {
        self.pairs.set(self.pairs.get().saturating_add(pairs));
        self.pairs.get() <= MAX_PAIRS
    }

    /// Whether two values must be in different memories (`BufferAssigner::LiveRangeInterferes`).
    fn interfere(&self, value: &BufferValue<'m>, taken: &BufferValue<'m>) -> bool {
        let is_copied = self.module.instruction_at(value.instruction).is_some_and(|instruction| {
            instruction.opcode() == Opcode::Copy && self.use_of(instruction, taken.number).is_some()
        });
        let (one, other) = (value.range, taken.range);
        is_copied
            || match () {
                () if one.start > other.end || other.start > one.end => false,
                () if one.end == other.start => !self.overwrites(taken, value),
                () if other.end == one.start => !self.overwrites(value, taken),
                () => true,
            }
    }

    /// The operand and the subshape in which an instruction uses a value.
    fn use_of(&self, user: Instruction<'m>, value: u32) -> Option<(usize, Instruction<'m>, usize)> {
        user.operands().enumerate().find_map(|(number, operand)| {
            let operand = operand.instruction()?;
            let subshape = self.values.at(operand.number()).position(|found| found == value)?;
            Some((number, operand, subshape))
        })
    }

    /// Whether the instruction that defines `value` may write it over the operand that is `used`.
    fn overwrites(&self, value: &BufferValue<'m>, used: &BufferValue<'m>) -> bool {
        let Some(user) = self.module.instruction_at(value.instruction) else { return false };
        let Some((number, operand, subshape)) = self.use_of(user, used.number) else { return false };
        let Some(from) = parts(operand.shape()).nth(subshape) else { return false };
        let opcode = user.opcode();
        if operand.opcode() == Opcode::Constant || opcode == Opcode::Copy {
            return false;
        }
        if opcode == Opcode::Fusion && self.is_gpu {
            return self.gpu_fusion_overwrites(user, number, value, from);
        }
        if from != value.shape {
            return false;
        }
        match opcode {
            Opcode::Fusion => self.fusion_overwrites(user, number),
            Opcode::While | Opcode::Conditional => true,
            Opcode::DynamicUpdateSlice | Opcode::Scatter | Opcode::SetDimensionSize => {
                self.is_only_use(user, operand, number, 0)
            }
            Opcode::TriangularSolve => self.is_only_use(user, operand, number, 1),
            Opcode::Sort => {
                let is_read_once = self.readers.of(operand).count() == 1;
                is_read_once && (user.operands().len() == 1 || value.leaf == Some(number))
            }
            _ => is_elementwise(user, number),
        }
    }

    fn is_only_use(&self, user: Instruction<'m>, operand: Instruction<'m>, number: usize, wanted: usize) -> bool {
        let uses =
            user.operands().filter_map(|found| found.instruction()).filter(|found| found.number() == operand.number());
        number == wanted && uses.count() == 1
    }

    /// Whether all that a loop fusion computes from a parameter, it computes element by element.
    fn fusion_overwrites(&self, fusion: Instruction<'m>, number: usize) -> bool {
        let kind = fusion.attribute("kind").map(|kind| kind.text());
        let Some(fused) = fusion.callee(Key::Calls) else { return false };
        let Some(parameter) = parameter_of(fused.instructions(), number) else { return false };
        match kind {
            Some("kLoop" | "kInput") => {
                let is_allowed = |user: Instruction<'m>, operand: usize| {
                    is_elementwise(user, operand) || user.opcode() == Opcode::Tuple
                };
                self.all_uses(parameter, is_allowed).is_some()
            }
            Some("kOutput") if fused.root().opcode() == Opcode::Add => {
                let root = fused.root();
                let is_product = |operand: Option<Instruction<'m>>| {
                    operand.is_some_and(|operand| matches!(operand.opcode(), Opcode::Dot | Opcode::Convolution))
                };
                let [first, second] =
                    [0, 1].map(|number| root.operand(number).and_then(|operand| operand.instruction()));
                let other = if is_product(first) { second } else { first.filter(|_| is_product(second)) };
                let reads = self.readers.of(parameter).count();
                reads == 1 && other.is_some_and(|other| other.number() == parameter.number())
            }
            _ => false,
        }
    }

    /// On a GPU, a fusion may also read an operand through bitcasts, and the slices that it overwrites (`FusionCanShareBufferHint` in
    /// `xla/service/gpu/alias_info.cc`).
    fn gpu_fusion_overwrites(
        &self,
        fusion: Instruction<'m>,
        number: usize,
        value: &BufferValue<'m>,
        from: &Shape,
    ) -> bool {
        let (Some(from), Some(to)) = (from.array(), value.shape.array()) else { return false };
        if from.elements() != to.elements() || from.element_bits() != to.element_bits() {
            return false;
        }
        let Some(fused) = fusion.callee(Key::Calls) else { return false };
        let Some(parameter) = parameter_of(fused.instructions(), number) else { return false };
        let mut output = fused.root();
        if output.opcode() == Opcode::Tuple {
            let part = value.leaf.and_then(|leaf| output.operand(leaf)).and_then(|operand| operand.instruction());
            let Some(part) = part else { return false };
            output = part;
        }
        let written = match output.opcode() {
            Opcode::Bitcast => output.operand(0).and_then(|operand| operand.instruction()).unwrap_or(output),
            _ => output,
        };
        let is_update = written.opcode() == Opcode::DynamicUpdateSlice;
        let is_allowed = |user: Instruction<'m>, operand: usize| {
            let is_root = user.opcode() == Opcode::Tuple && user.number() == fused.root().number();
            let reads_what_is_written = is_update
                && (user.opcode() == Opcode::DynamicSlice
                    && user.operand(0).and_then(|one| one.instruction()).map(|one| one.number())
                        == written.operand(0).and_then(|one| one.instruction()).map(|one| one.number())
                    || user.number() == written.number());
            user.opcode() == Opcode::Bitcast
                || is_elementwise(user, operand) && user.opcode() != Opcode::Copy
                || reads_what_is_written
                || is_root
                    && user
                        .operand(operand)
                        .and_then(|one| one.instruction())
                        .is_some_and(|one| one.number() == output.number())
        };
        self.all_uses(parameter, is_allowed).is_some_and(|reached| reached.contains(&output.number()))
    }

    /// The instructions that use a value, directly or not, if each use is allowed.
    fn all_uses(
        &self,
        of: Instruction<'m>,
        is_allowed: impl Fn(Instruction<'m>, usize) -> bool,
    ) -> Option<BTreeSet<u32>> {
        let (mut reached, mut open) = (BTreeSet::from([of.number()]), vec![of]);
        while let Some(used) = open.pop() {
            for user in self.readers.of(used) {
                let places = user.operands().enumerate().filter(|(_, operand)| {
                    operand.instruction().is_some_and(|operand| operand.number() == used.number())
                });
                for (place, _) in places {
                    if !is_allowed(user, place) {
                        return None;
                    }
                }
                if reached.insert(user.number()) {
                    open.push(user);
                }
            }
        }
        Some(reached)
    }

    /// Lets values of the heap take over the memory of operands that end where they begin (`HeapSimulator::RunComputation`).
    fn take_over(&mut self) {
        let mut begins: Vec<_> = (0..self.buffers.len())
            .filter(|&number| self.is_in_heap(number))
            .filter_map(|number| Some((self.buffer(number)?.values.first()?, number)))
            .collect();
        begins.sort_by_key(|(first, number)| (first.range.start, first.instruction, *number));
        let mut given = BTreeSet::new();
        for (first, number) in begins {
            let Some(user) = self.module.instruction_at(first.instruction) else { continue };
            let operands = user.operands().filter_map(|operand| operand.instruction());
            let used = operands.flat_map(|operand| self.values.at(operand.number())).collect::<Vec<_>>();
            let taken = used.into_iter().find_map(|value| {
                let &(other, place) = self.place_of.get(&value)?;
                let used = self.buffer(other)?.values.get(place)?;
                let ends_here = used.range.end == first.range.start && used.range.start < first.range.start;
                let is_other = self.owner_of(other) != self.owner_of(number) && self.is_in_heap(other);
                let is_free = || self.overwrites(first, used) && self.are_apart(other, number, first.range.start);
                (ends_here && is_other && !given.contains(&value) && is_free()).then_some((value, other))
            });
            if let Some((value, other)) = taken {
                given.insert(value);
                self.join(self.owner_of(other), self.owner_of(number));
            }
        }
    }

    /// Whether a buffer is in the heap: a temporary array that has no memory of a result.
    fn is_in_heap(&self, number: usize) -> bool {
        let is_temporary = |buffer: &HloBuffer<'_>| buffer.role == Role::Temporary && buffer.addresses.is_none();
        self.buffer(number).is_some_and(is_temporary) && self.buffer(self.owner_of(number)).is_some_and(is_temporary)
    }

    /// Whether the values in the memories of two buffers never live at one time, except at this step.
    fn are_apart(&self, one: usize, other: usize, except: u32) -> bool {
        let all = |number: usize| {
            let members = self.members.get(&self.owner_of(number)).map_or(&[][..], Vec::as_slice);
            members.iter().filter_map(|member| self.buffers.get(*member)).flat_map(|buffer| &buffer.values)
        };
        self.may_compare(all(one).count().saturating_mul(all(other).count()))
            && all(one).all(|one| {
                all(other).all(|other| {
                    let meet = one.range.end == other.range.start && other.range.start == except;
                    meet || one.range.start > other.range.end || other.range.start > one.range.end
                })
            })
    }

    /// One buffer for each memory.
    fn merged(self) -> Vec<HloBuffer<'m>> {
        let Self { buffers, members, .. } = self;
        let merge = |(owner, members): (usize, Vec<usize>)| {
            let mut buffer = buffers.get(owner)?.clone();
            for member in members.iter().filter(|member| **member != owner).filter_map(|member| buffers.get(*member)) {
                buffer.values.extend(member.values.iter().copied());
                buffer.bytes = buffer.bytes.max(member.bytes);
            }
            buffer.values.sort_by_key(|value| value.range);
            Some(buffer)
        };
        members.into_iter().filter_map(merge).collect()
    }
}

/// The place of each instruction, callers before callees; in a computation, the operands of an instruction come before it, the first one first
/// (`HloComputation::MakeInstructionPostOrder` in `xla/hlo/ir/hlo_computation.cc`).
fn post_order(module: &Module, computations: &[Computation<'_>]) -> Vec<u32> {
    let readers = module.readers();
    let mut position = vec![u32::MAX; module.instructions().len()];
    let mut is_open = vec![false; position.len()];
    let mut next = 0_u32;
    for computation in computations.iter().rev() {
        let unread = computation.instructions().filter(|one| readers.of(*one).next().is_none());
        let mut open = unread.collect::<Vec<_>>();
        open.reverse();
        while let Some(&instruction) = open.last() {
            let number = instruction.number() as usize;
            let (Some(place), Some(is_open)) = (position.get_mut(number), is_open.get_mut(number)) else { break };
            // The second time, all operands have their places.
            if *is_open {
                open.pop();
                if *place == u32::MAX {
                    *place = next;
                    next = next.saturating_add(1);
                }
                continue;
            }
            *is_open = true;
            let operands = instruction.operands().filter_map(|operand| operand.instruction());
            let first = open.len();
            open.extend(operands);
            open.get_mut(first..).unwrap_or_default().reverse();
        }
    }
    position
}

/// Whether the value of a buffer is a result of the program.
fn lives_out(buffer: &HloBuffer<'_>) -> bool {
    matches!(buffer.role, Role::Output | Role::Donated)
}

/// Whether each element of the result depends on the same element of an operand alone (`HloInstruction::IsElementwiseOnOperand`).
fn is_elementwise(instruction: Instruction<'_>, operand: usize) -> bool {
    match instruction.opcode() {
        Opcode::DynamicUpdateSlice => operand == 0,
        Opcode::Copy | Opcode::BitcastConvert | Opcode::ReducePrecision | Opcode::Map => true,
        opcode => opcode.family() == Family::Elementwise,
    }
}

fn parameter_of<'m>(mut all: impl Iterator<Item = Instruction<'m>>, number: usize) -> Option<Instruction<'m>> {
    all.find(|one| one.opcode() == Opcode::Parameter && one.parameter_number() == Some(number))
}

/// Whether a module without tiles is for a GPU: the names of its libraries and configurations are in no module for a CPU.
pub(super) fn is_for_gpu(module: &Module) -> bool {
    ["fusion_backend_config", "__cublas", "__cudnn", "fingerprint_before_lhs", "__triton"]
        .iter()
        .any(|words| module.text().contains(words))
}
