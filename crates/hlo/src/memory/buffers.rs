//! Buffers: values that share one address (XLA's `HloBuffer`), with their role and size.

use super::schedule::{LiveRange, Schedule};
use super::values::Values;
use super::{Buffer, Footprint};
use crate::account::Role;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, Shape, memory_space};

/// A value in a buffer, with its live range.
#[derive(Clone, Copy, Debug)]
pub(super) struct BufferValue<'m> {
    /// Its number among the values of the program.
    pub(super) number: u32,
    pub(super) instruction: u32,
    pub(super) leaf: Option<usize>,
    pub(super) shape: &'m Shape,
    pub(super) range: LiveRange,
    /// Whether it is a phi, such as the state of a loop.
    pub(super) is_phi: bool,
}

/// Values that share one address.
#[derive(Clone, Debug)]
pub(super) struct HloBuffer<'m> {
    /// The values, in the order of their live ranges.
    pub(super) values: Vec<BufferValue<'m>>,
    pub(super) role: Role,
    /// The memory space.
    pub(super) space: u8,
    /// The bytes of the largest value; 0 for a tuple's index table, whose size depends on the device.
    pub(super) bytes: u64,
    /// For a tuple's index table, the number of addresses.
    pub(super) addresses: Option<usize>,
}

impl<'m> HloBuffer<'m> {
    /// The first array in the buffer; `None` for a tuple's index table.
    pub(super) fn first_array(&self, module: &'m Module) -> Option<Buffer<'m>> {
        let first = self.values.first()?;
        let array = first.shape.array()?;
        let instruction = module.instruction_at(first.instruction)?;
        let footprint = Footprint::new(array).unwrap_or_default();
        Some(Buffer { instruction, leaf: first.leaf?, array, footprint })
    }

    /// The live ranges of the values, merged if they touch.
    pub(super) fn ranges(&self) -> Vec<LiveRange> {
        let mut ranges: Vec<LiveRange> = Vec::new();
        for value in &self.values {
            match ranges.last_mut() {
                Some(last) if value.range.start <= last.end => last.end = last.end.max(value.range.end),
                _ => ranges.push(value.range),
            }
        }
        ranges
    }

    /// From the first step at which a value is live to the last one.
    pub(super) fn hull(&self) -> Option<LiveRange> {
        let end = self.values.iter().map(|value| value.range.end).max()?;
        Some(LiveRange { start: self.values.first()?.range.start, end })
    }

    /// Whether the first value is the result of the operation that an asynchronous instruction in short form wraps.
    pub(super) fn is_wrapped_result(&self, module: &Module) -> bool {
        self.values.first().is_some_and(|first| {
            let defined = module.instruction_at(first.instruction);
            defined.zip(first.leaf).is_some_and(|(defined, leaf)| defined.is_wrapped_result(leaf))
        })
    }

    /// Whether the compiler keeps the values in registers: single elements, such as loop counters.
    pub(super) fn is_in_register(&self, module: &Module) -> bool {
        self.values.iter().all(|value| {
            value.shape.array().is_some_and(|array| array.elements() == Some(1))
                && !module.instruction_at(value.instruction).is_some_and(needs_memory_for_one_element)
        })
    }
}

/// Whether a single element that an instruction computes goes through memory. It does in three cases: it is computed from arrays with several elements,
/// or broadcast, so that it comes from the vector unit; or it is a result of an all-reduce of several operands, which packs them in memory. Other single
/// elements stay in registers.
pub(super) fn needs_memory_for_one_element(instruction: Instruction<'_>) -> bool {
    let is_array = |shape: &Shape| shape.array().is_some_and(|array| array.elements() != Some(1));
    matches!(instruction.opcode(), Opcode::Broadcast | Opcode::Fusion | Opcode::Reduce)
        || instruction.opcode() == Opcode::AllReduce && instruction.shape().tuple_shapes().is_some()
        || instruction.shape().array().is_some()
            && instruction.operands().filter_map(|operand| operand.shape()).any(is_array)
}

/// The bytes of an array. Semaphores are adjacent: they have no padding, whatever their tiles.
pub(super) fn taken_bytes(array: &ArrayShape) -> u64 {
    let is_semaphore = memory_space::is_semaphore(array.layout().memory_space());
    let bytes = if is_semaphore { array.unpadded_byte_size() } else { array.byte_size() };
    bytes.unwrap_or(0)
}

/// The bytes that the compiler reserves for an array. On a TPU, the size of an array without tiles is rounded up to a multiple of
/// 1,024 elements, except for semaphores.
pub(super) fn reserved_bytes(array: &ArrayShape, is_tpu: bool) -> u64 {
    const LINE: u64 = 1024;
    let bytes = taken_bytes(array);
    let layout = array.layout();
    if !is_tpu || !layout.tiles().is_empty() || memory_space::is_semaphore(layout.memory_space()) {
        return bytes;
    }
    // The bytes of one element are `bytes / elements`, so this is also right for packed elements of less than a byte.
    let elements = array.elements().unwrap_or(0);
    let lines = elements.div_ceil(LINE).saturating_mul(LINE);
    bytes.checked_mul(lines).and_then(|bytes| bytes.checked_div(elements)).unwrap_or(bytes)
}

/// The buffers of a module: those of the program's parameters first, the others by the start of their live range.
pub(super) fn buffers<'m>(
    module: &'m Module,
    computations: &[Computation<'m>],
    values: &Values<'m>,
    schedule: &Schedule,
) -> Vec<HloBuffer<'m>> {
    let ranges = schedule.live_ranges(module, computations, values);
    // A value without a live range is in code that never runs, and takes no memory.
    let mut groups: BTreeMap<u32, Vec<BufferValue<'m>>> = BTreeMap::new();
    for ((number, value), range) in (0_u32..).zip(values.values()).zip(&ranges) {
        if let Some(range) = *range {
            let value = BufferValue {
                number,
                instruction: value.instruction,
                leaf: value.leaf,
                shape: value.shape,
                range,
                is_phi: value.is_phi,
            };
            groups.entry(values.buffer(number)).or_default().push(value);
        }
    }
    // The values of the root are results.
    let mut results = alloc::collections::BTreeSet::new();
    for computation in computations.iter().filter(|computation| super::is_entry_point(**computation)) {
        results.extend(values.at(computation.root().number()).map(|value| values.buffer(value)));
    }
    let is_tpu = module.is_for_tpu();
    let mut buffers: Vec<HloBuffer<'m>> = groups
        .into_iter()
        .map(|(group, mut values)| {
            let opcode =
                |value: &BufferValue<'_>| module.instruction_at(value.instruction).map(|defined| defined.opcode());
            let is_given = |value: &BufferValue<'_>| {
                module.instruction_at(value.instruction).is_some_and(|defined| {
                    defined.opcode() == Opcode::Parameter && super::is_entry_point(defined.computation())
                })
            };
            // If a parameter and a result share the buffer, the program may overwrite the parameter with the result.
            let role = match (values.iter().any(is_given), results.contains(&group)) {
                (true, true) => Role::Donated,
                (true, false) => Role::Argument,
                (false, true) => Role::Output,
                _ if values.iter().any(|value| opcode(value) == Some(Opcode::Constant)) => Role::Constant,
                _ => Role::Temporary,
            };
            sort_by_key(&mut values, |value| value.range);
            truncate_overlaps(&mut values);
            let first = values.first();
            let addresses = first.and_then(|first| first.shape.tuple_shapes()).map(<[Shape]>::len);
            let space = first.and_then(|first| first.shape.array()).map_or(0, |array| array.layout().memory_space());
            let bytes = values.iter().filter_map(|value| value.shape.array());
            let bytes = bytes.map(|array| reserved_bytes(array, is_tpu)).max().unwrap_or(0);
            HloBuffer { values, role, space, bytes, addresses }
        })
        .collect();
    sort_by_key(&mut buffers, |buffer| {
        let given = matches!(buffer.role, Role::Argument | Role::Donated);
        (!given, buffer.values.first().map(|first| (first.range.start, first.instruction, first.leaf)))
    });
    buffers
}

/// Ends the live range of each value in a buffer where the next one begins (`HloLiveRange::NormalizeAliasedBuffers` in
/// `xla/hlo/utils/hlo_live_range.cc`).
fn truncate_overlaps(values: &mut [BufferValue<'_>]) {
    for number in 1..values.len() {
        if let Some([before, after]) = values.get_mut(number.saturating_sub(1)..=number)
            && before.range.end >= after.range.start
        {
            after.range.end = after.range.end.max(before.range.end);
            before.range.end = after.range.start;
        }
    }
}
