//! Which buffers share memory on CPUs and GPUs (`BufferAssigner` in `xla/service/buffer_assignment.cc`, `HeapSimulator` in
//! `xla/service/heap_simulator/heap_simulator.cc`).
//!
//! From the largest to the smallest, each buffer takes the memory of a result or of a donated parameter, if that memory is large enough and free
//! while the buffer lives. The other buffers go into a heap. In the heap, a value can take over the memory of an operand whose last use is the
//! instruction that makes the value, but only if that instruction may overwrite the operand (`HloDataflowAnalysis::CanShareOperandBufferWithUser`).

use super::buffers::{BufferValue, HloBuffer};
use super::calls::called;
use super::values::{Values, parts};
use crate::account::Role;
use crate::asynchronous::Step;
use crate::readers::Readers;
use crate::schema::Key;
use crate::schema::opcode::{Family, Opcode};
use crate::{Computation, Instruction, Module};
use alloc::borrow::Cow;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cell::Cell;
use core::cmp::Reverse;
use xla_shape_core::Shape;
use xla_shape_core::sorting::sort_by_key;

/// The limit on steps: pairs of values that are compared, and operands that are looked at. Buffers that are not processed by then keep memory of
/// their own.
const MAX_EFFORT: usize = 1 << 24;

/// For each buffer of a program for a CPU or a GPU, the number of the buffer that represents its memory. Buffers with the same number share memory.
pub(super) fn memories<'m>(
    module: &'m Module,
    computations: &[Computation<'m>],
    values: &Values<'m>,
    buffers: &[HloBuffer<'m>],
) -> Vec<u32> {
    let mut sharing = Sharing::new(module, values, buffers);
    sharing.assign(&Positions::new(module, computations));
    sharing.take_over();
    sharing.owner
}

/// Memory that buffers share, with all the values that it holds.
pub(super) struct Memory<'b, 'm> {
    /// The number of the buffer that represents the memory.
    pub(super) number: u32,
    /// That buffer if it is alone in the memory, otherwise a buffer made of the values of all buffers in it.
    buffer: Cow<'b, HloBuffer<'m>>,
}

impl Memory<'_, '_> {
    /// Whether several buffers are in it.
    pub(super) const fn is_shared(&self) -> bool {
        matches!(self.buffer, Cow::Owned(_))
    }
}

impl<'m> Borrow<HloBuffer<'m>> for Memory<'_, 'm> {
    fn borrow(&self) -> &HloBuffer<'m> {
        &self.buffer
    }
}

/// The memories of [`memories`], by their numbers.
pub(super) fn merged<'b, 'm>(buffers: &'b [HloBuffer<'m>], memories: &[u32]) -> Vec<Memory<'b, 'm>> {
    let numbered = || (0_u32..).zip(buffers).zip(memories.iter().copied());
    let owners = numbered().filter(|((number, _), memory)| number == memory);
    let mut merged: Vec<_> =
        owners.map(|((number, buffer), _)| Memory { number, buffer: Cow::Borrowed(buffer) }).collect();
    for ((_, member), memory) in numbered().filter(|((number, _), memory)| number != memory) {
        let found = merged.binary_search_by_key(&memory, |memory| memory.number).ok();
        let Some(memory) = found.and_then(|place| merged.get_mut(place)) else { continue };
        let buffer = memory.buffer.to_mut();
        buffer.values.extend(member.values.iter().copied());
        buffer.bytes = buffer.bytes.max(member.bytes);
    }
    for memory in &mut merged {
        if let Cow::Owned(buffer) = &mut memory.buffer {
            sort_by_key(&mut buffer.values, |value| value.range);
        }
    }
    merged
}

struct Sharing<'s, 'm> {
    module: &'m Module,
    values: &'s Values<'m>,
    buffers: &'s [HloBuffer<'m>],
    readers: Readers<'m>,
    is_gpu: bool,
    /// For each value: the number of its buffer, and its place in the buffer's list of values.
    place_of: Vec<Option<(u32, u32)>>,
    /// For each buffer: the buffer that represents its memory.
    owner: Vec<u32>,
    /// For each buffer that represents a memory: the other buffers in that memory.
    others: Vec<Vec<u32>>,
    /// How many steps are left.
    effort: Cell<usize>,
}

impl<'s, 'm> Sharing<'s, 'm> {
    fn new(module: &'m Module, values: &'s Values<'m>, buffers: &'s [HloBuffer<'m>]) -> Self {
        let mut place_of = Vec::new();
        for (number, buffer) in (0_u32..).zip(buffers) {
            for (place, value) in (0_u32..).zip(&buffer.values) {
                let value = value.number as usize;
                if place_of.len() <= value {
                    place_of.resize(value + 1, None);
                }
                if let Some(found) = place_of.get_mut(value) {
                    *found = Some((number, place));
                }
            }
        }
        Self {
            module,
            values,
            buffers,
            readers: module.readers(),
            is_gpu: module.is_for_gpu(),
            place_of,
            owner: (0_u32..).take(buffers.len()).collect(),
            others: vec![Vec::new(); buffers.len()],
            effort: Cell::new(MAX_EFFORT),
        }
    }

    fn buffer(&self, number: u32) -> Option<&'s HloBuffer<'m>> {
        self.buffers.get(number as usize)
    }

    fn place_of(&self, value: u32) -> Option<(u32, u32)> {
        *self.place_of.get(value as usize)?
    }

    fn owner_of(&self, buffer: u32) -> u32 {
        self.owner.get(buffer as usize).copied().unwrap_or(buffer)
    }

    /// The buffers in one memory: `owner`, which represents it, and the others.
    fn members(&self, owner: u32) -> impl Iterator<Item = &'s HloBuffer<'m>> + Clone {
        let others = self.others.get(owner as usize).map_or(&[][..], Vec::as_slice);
        core::iter::once(owner).chain(others.iter().copied()).filter_map(|number| self.buffer(number))
    }

    /// Moves all buffers in the memory of `other` to the memory of `first`.
    fn join(&mut self, first: u32, other: u32) {
        let mut moved = self.others.get_mut(other as usize).map(core::mem::take).unwrap_or_default();
        moved.push(other);
        for number in &moved {
            if let Some(owner) = self.owner.get_mut(*number as usize) {
                *owner = first;
            }
        }
        if let Some(others) = self.others.get_mut(first as usize) {
            others.append(&mut moved);
        }
    }

    /// Subtracts steps from those that are left.
    fn work(&self, steps: usize) {
        self.effort.set(self.effort.get().saturating_sub(steps));
    }

    /// Whether no steps are left, so that the result is incomplete.
    fn is_exhausted(&self) -> bool {
        self.effort.get() == 0
    }

    /// Gives temporaries the memory of results and donated parameters (`BufferAssigner::AssignSingleHloBuffer`).
    /// XLA processes buffers of the same size in the order of the `positions` of the instructions that make them.
    fn assign(&mut self, positions: &Positions) {
        let mut order: Vec<u32> = (0_u32..).take(self.buffers.len()).collect();
        sort_by_key(&mut order, |&number| {
            self.buffer(number).map(|buffer| {
                let first = buffer.values.iter().filter_map(|value| positions.of(self.module, value)).min();
                (Reverse(buffer.bytes), !lives_out(buffer), first, number)
            })
        });
        // The memories that can take others, from the largest to the smallest.
        let mut memories = Vec::new();
        let mut is_memory = vec![false; self.buffers.len()];
        let open = |memories: &mut Vec<u32>, is_memory: &mut Vec<bool>, number: u32| {
            memories.push(number);
            if let Some(is_memory) = is_memory.get_mut(number as usize) {
                *is_memory = true;
            }
        };
        for number in order {
            if self.is_exhausted() {
                return;
            }
            let Some(buffer) = self.buffer(number) else { continue };
            if buffer.addresses.is_some() || matches!(buffer.role, Role::Argument | Role::Constant) {
                continue;
            }
            if buffer.role == Role::Donated {
                open(&mut memories, &mut is_memory, number);
                continue;
            }
            // Try the memories of the operands first, then the smallest one that fits.
            let operands = buffer.values.iter().filter_map(|value| self.module.instruction_at(value.instruction));
            let operands =
                operands.flat_map(|instruction| instruction.operands().filter_map(|operand| operand.instruction()));
            let of_operands = operands.filter_map(|operand| {
                let value = self.values.at(operand.number()).next()?;
                let owner = self.owner_of(self.place_of(value)?.0);
                is_memory.get(owner as usize).is_some_and(|is_memory| *is_memory).then_some(owner)
            });
            let candidates = of_operands.collect::<Vec<_>>().into_iter().chain(memories.iter().rev().copied());
            let mut candidates = candidates.into_iter().take_while(|_| !self.is_exhausted());
            let found = candidates.find(|memory| self.fits(*memory, number));
            match found {
                Some(memory) => self.join(memory, number),
                None if lives_out(buffer) => open(&mut memories, &mut is_memory, number),
                None => {}
            }
        }
    }

    /// Whether a buffer can be placed in memory that other buffers already share (`BufferAssigner::MaybeAssignBuffer`).
    fn fits(&self, memory: u32, number: u32) -> bool {
        self.work(1);
        let (Some(owner), Some(buffer)) = (self.buffer(memory), self.buffer(number)) else { return false };
        let is_large_enough = if lives_out(buffer) { owner.bytes == buffer.bytes } else { owner.bytes >= buffer.bytes };
        if memory == number || owner.space != buffer.space || !is_large_enough {
            return false;
        }
        let is_free = self.members(memory).flat_map(|member| &member.values).all(|taken| {
            self.work(buffer.values.len());
            !self.is_exhausted() && buffer.values.iter().all(|value| !self.interfere(value, taken))
        });
        is_free && !self.is_exhausted()
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
            self.work(self.values.at(operand.number()).len() + 1);
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

    /// Whether a fusion may write its result over this operand: each element of the result must depend on no element of the operand but the one with
    /// the same index. In loop and input fusions, all users of the parameter must be elementwise; in an output fusion, the parameter is added to a
    /// product.
    fn fusion_overwrites(&self, fusion: Instruction<'m>, number: usize) -> bool {
        let kind = fusion.attribute("kind").map(|kind| kind.text());
        let Some(fused) = fusion.callee(Key::Calls) else { return false };
        let Some(parameter) = self.parameter_of(fused, number) else { return false };
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

    /// Whether a fusion on a GPU can write its result over this operand. There, it may also read the operand through bitcasts, or as the slice that
    /// it overwrites (`FusionCanShareBufferHint` in `xla/service/gpu/alias_info.cc`).
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
        let Some(parameter) = self.parameter_of(fused, number) else { return false };
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

    /// The instructions that use a value, directly or through others; `None` if one of these uses is not allowed, or no steps are left.
    fn all_uses(
        &self,
        of: Instruction<'m>,
        is_allowed: impl Fn(Instruction<'m>, usize) -> bool,
    ) -> Option<BTreeSet<u32>> {
        let (mut reached, mut open) = (BTreeSet::from([of.number()]), vec![of]);
        while let Some(used) = open.pop() {
            for user in self.readers.of(used) {
                self.work(user.operands().len() + 1);
                if self.is_exhausted() {
                    return None;
                }
                // A user may read the value in several operands: each of these uses must be allowed.
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

    fn parameter_of(&self, fused: Computation<'m>, number: usize) -> Option<Instruction<'m>> {
        self.work(fused.instructions().len());
        fused.instructions().find(|one| one.opcode() == Opcode::Parameter && one.parameter_number() == Some(number))
    }

    /// Lets each value of the heap take over the memory of an operand whose live range ends where the value's begins
    /// (`HeapSimulator::RunComputation`).
    fn take_over(&mut self) {
        let mut begins: Vec<_> = (0_u32..)
            .take(self.buffers.len())
            .filter(|&number| self.is_in_heap(number))
            .filter_map(|number| Some((self.buffer(number)?.values.first()?, number)))
            .collect();
        sort_by_key(&mut begins, |(first, number)| (first.range.start, first.instruction, *number));
        let mut given = BTreeSet::new();
        for (first, number) in begins {
            if self.is_exhausted() {
                return;
            }
            let Some(user) = self.module.instruction_at(first.instruction) else { continue };
            let operands = user.operands().filter_map(|operand| operand.instruction());
            let used = operands.flat_map(|operand| self.values.at(operand.number())).collect::<Vec<_>>();
            let taken = used.into_iter().find_map(|value| {
                let (other, place) = self.place_of(value)?;
                let used = self.buffer(other)?.values.get(place as usize)?;
                let ends_here = used.range.end == first.range.start && used.range.start < first.range.start;
                let is_other = self.owner_of(other) != self.owner_of(number) && self.is_in_heap(other);
                // If an instruction reads a value through a tuple or a bitcast, the value is not its operand, so it cannot
                // take over the value's memory (`IsUserOf`).
                let is_operand = |operand: Instruction<'m>| operand.number() == used.instruction;
                let is_read = user.operands().filter_map(|operand| operand.instruction()).any(is_operand);
                let is_free =
                    || is_read && self.overwrites(first, used) && self.are_apart(other, number, first.range.start);
                (ends_here && is_other && !given.contains(&value) && is_free()).then_some((value, other))
            });
            if let Some((value, other)) = taken {
                given.insert(value);
                self.join(self.owner_of(other), self.owner_of(number));
            }
        }
    }

    /// Whether a buffer is in the heap: it is a temporary array, and is not in the memory of a result or a donated parameter.
    fn is_in_heap(&self, number: u32) -> bool {
        let is_temporary = |buffer: &HloBuffer<'_>| buffer.role == Role::Temporary && buffer.addresses.is_none();
        self.buffer(number).is_some_and(is_temporary) && self.buffer(self.owner_of(number)).is_some_and(is_temporary)
    }

    /// Whether no value in the memory of `one` is live at the same time as a value in the memory of `other`, except at the step `except`.
    fn are_apart(&self, one: u32, other: u32, except: u32) -> bool {
        let all = |number: u32| self.members(self.owner_of(number)).flat_map(|member| &member.values);
        let num_others = all(other).count();
        let is_apart = all(one).all(|one| {
            self.work(num_others);
            !self.is_exhausted()
                && all(other).all(|other| {
                    let meet = one.range.end == other.range.start && other.range.start == except;
                    meet || one.range.start > other.range.end || other.range.start > one.range.end
                })
        });
        is_apart && !self.is_exhausted()
    }
}

/// The place of each instruction, callers before callees; in a computation, the operands of an instruction come before it, the first one first
/// (`HloComputation::MakeInstructionPostOrder` in `xla/hlo/ir/hlo_computation.cc`).
struct Positions {
    instructions: Vec<u32>,
    /// For each asynchronous start in short form, by its number: the place of the operation that it wraps. In XLA, this operation is in a
    /// computation of its own.
    wrapped: BTreeMap<u32, u32>,
}

impl Positions {
    #[expect(clippy::arithmetic_side_effects, reason = "fewer than 2^31 instructions have at most two places each")]
    fn new<'m>(module: &'m Module, computations: &[Computation<'m>]) -> Self {
        enum Callee<'m> {
            Computation(Computation<'m>),
            Operation(u32),
        }
        let mut found = Self { instructions: vec![u32::MAX; module.instructions().len()], wrapped: BTreeMap::new() };
        let (readers, mut next) = (module.readers(), 0_u32);
        let mut is_open = vec![false; found.instructions.len()];
        let mut has_begun = vec![false; module.computations().len()];
        let starts = computations.iter().filter(|computation| super::is_entry_point(**computation));
        let mut open: Vec<_> = starts.map(|computation| Callee::Computation(*computation)).collect();
        while let Some(callee) = open.pop() {
            let computation = match callee {
                Callee::Operation(start) => {
                    found.wrapped.insert(start, next);
                    next += 1;
                    continue;
                }
                Callee::Computation(computation) => computation,
            };
            let begun = has_begun.get_mut(computation.number() as usize);
            if begun.is_none_or(|begun| core::mem::replace(begun, true)) {
                continue;
            }
            found.add(computation, &readers, &mut is_open, &mut next);
            let first = open.len();
            for instruction in computation.instructions() {
                if matches!(instruction.short_form(), Some((_, Step::Start))) {
                    open.push(Callee::Operation(instruction.number()));
                }
                open.extend(called(instruction).into_iter().map(Callee::Computation));
            }
            open.get_mut(first..).unwrap_or_default().reverse();
        }
        found
    }

    /// Numbers the instructions of a computation from `next` on, operands before their readers.
    #[expect(clippy::arithmetic_side_effects, reason = "as in `new`")]
    fn add<'m>(&mut self, computation: Computation<'m>, readers: &Readers<'m>, is_open: &mut [bool], next: &mut u32) {
        let unread = computation.instructions().filter(|one| readers.of(*one).next().is_none());
        let mut open = unread.collect::<Vec<_>>();
        open.reverse();
        while let Some(&instruction) = open.last() {
            let number = instruction.number() as usize;
            let (Some(place), Some(is_open)) = (self.instructions.get_mut(number), is_open.get_mut(number)) else {
                break;
            };
            // An instruction is visited twice. At the second visit, all its operands have their places.
            if *is_open {
                open.pop();
                if *place == u32::MAX {
                    *place = *next;
                    *next += 1;
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

    /// The place of the instruction that makes a value.
    fn of(&self, module: &Module, value: &BufferValue<'_>) -> Option<u32> {
        let wrapped = self.wrapped.get(&value.instruction).filter(|_| {
            let start = module.instruction_at(value.instruction);
            start.zip(value.leaf).is_some_and(|(start, leaf)| start.is_wrapped_result(leaf))
        });
        wrapped.or_else(|| self.instructions.get(value.instruction as usize)).copied()
    }
}

/// Whether the value of a buffer is a result of the program.
fn lives_out(buffer: &HloBuffer<'_>) -> bool {
    matches!(buffer.role, Role::Output | Role::Donated)
}

/// Whether each element of the result depends only on the element of this operand at the same index
/// (`HloInstruction::IsElementwiseOnOperand`).
fn is_elementwise(instruction: Instruction<'_>, operand: usize) -> bool {
    match instruction.opcode() {
        Opcode::DynamicUpdateSlice => operand == 0,
        Opcode::Copy | Opcode::BitcastConvert | Opcode::ReducePrecision | Opcode::Map => true,
        opcode => opcode.family() == Family::Elementwise,
    }
}
