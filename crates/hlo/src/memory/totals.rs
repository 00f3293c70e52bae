//! A program's memory totals, in the terms of the compiler's memory analysis (`CompiledMemoryStats` in
//! `xla/pjrt/pjrt_executable.h`).

use super::buffers::HloBuffer;
use super::heap::{HeapBuffer, aligned, lifetimes, pack, pack_by_size};
use super::schedule::LiveRange;
use crate::Module;
use crate::account::{Account, HBM_STEP, Role, is_host};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use xla_shape_core::gpu::BUFFER_ALIGNMENT;
use xla_shape_core::memory_space::{CMEM, DEFAULT, GENERIC_FAST, HOST, is_semaphore};
use xla_shape_core::tpu::Generation;

/// The alignment on CPUs (`MinAlign` in `xla/backends/cpu/alignment.h`), in bytes.
const CPU_STEP: u64 = 64;

/// The alignment of other TPU memory, in bytes.
const ALIGNMENT: u64 = 512;

/// Packs the temporaries into heaps and adds up the totals. Also returns the offset of each buffer that is in a heap.
///
/// `generation` is the device, if known. It decides the size of tuple index tables and how much VMEM there is.
pub(super) fn estimate<'m>(
    module: &Module,
    buffers: &[impl Borrow<HloBuffer<'m>>],
    generation: Option<Generation>,
) -> (Account, Vec<Option<u64>>) {
    let is_tpu = module.is_for_tpu();
    let other_step = if is_tpu || !module.is_for_gpu() { CPU_STEP } else { BUFFER_ALIGNMENT };
    let mut account = Account::default();
    let mut heaps: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    let (mut constants, mut tables) = (0_u64, 0_usize);
    // On CPUs and GPUs, each index table of a tuple has memory of its own, before the heap.
    let mut other_tables = 0_u64;
    for (number, buffer) in buffers.iter().map(Borrow::borrow).enumerate() {
        let bytes = match buffer.addresses {
            Some(addresses) => table_bytes(addresses, generation, is_tpu),
            None => buffer.bytes,
        };
        match buffer.role {
            Role::Temporary if buffer.addresses.is_some() && is_tpu => tables += 1,
            Role::Temporary if buffer.addresses.is_some() => {
                other_tables = aligned(other_tables, other_step).saturating_add(bytes);
            }
            Role::Temporary => heaps.entry(buffer.space).or_default().push(number),
            Role::Constant => constants = constants.saturating_add(bytes),
            role if is_host(buffer.space) => account.host.add(role, bytes),
            role => account.device.add(role, bytes),
        }
    }
    let mut offsets = vec![None; buffers.len()];
    let mut most = 0_u64;
    for (space, numbers) in heaps {
        let here: Vec<&HloBuffer<'_>> =
            numbers.iter().filter_map(|&number| Some(buffers.get(number)?.borrow())).collect();
        most = most.max(counted_peak(&here, matches!(space, GENERIC_FAST | CMEM)));
        let keeps_gaps = is_tpu && space == DEFAULT;
        // Empty buffers take nothing.
        let values = |buffer: &&HloBuffer<'_>| match buffer.bytes {
            0 => Vec::new(),
            _ => buffer.values.iter().map(|value| value.range).collect(),
        };
        let lifetimes = if is_tpu { Vec::new() } else { lifetimes(&here.iter().map(values).collect::<Vec<_>>()) };
        let heap_buffer = |(number, buffer): (usize, &&HloBuffer<'_>)| {
            let first_end = buffer.values.first().map_or(0, |first| first.range.end);
            HeapBuffer {
                bytes: buffer.bytes,
                is_early: buffer.is_wrapped_result(module),
                first_end,
                ranges: if keeps_gaps { buffer.hull().into_iter().collect() } else { buffer.ranges() },
                lifetime: lifetimes.get(number).copied().unwrap_or(0),
            }
        };
        let heap_buffers: Vec<HeapBuffer> = here.iter().enumerate().map(heap_buffer).collect();
        let pack = if is_tpu { pack } else { pack_by_size };
        let (found, packed) = pack(&heap_buffers, if is_tpu { alignment(space) } else { other_step });
        for (number, offset) in numbers.iter().zip(found) {
            if let Some(buffer) = offsets.get_mut(*number) {
                *buffer = Some(offset);
            }
        }
        let heap = match space {
            // If all temporaries are single elements in registers, neither they nor tuple index tables need memory.
            DEFAULT if is_tpu && here.iter().all(|buffer| buffer.is_in_register(module)) => 0,
            DEFAULT if is_tpu => aligned(packed, HBM_STEP).saturating_add((tables as u64).saturating_mul(HBM_STEP)),
            GENERIC_FAST | CMEM if is_tpu => fast_heap(&here, packed, generation.filter(|_| space == GENERIC_FAST)),
            _ => packed,
        };
        if heap > 0 {
            account.heaps.insert(space, heap);
        }
    }
    if other_tables > 0 {
        let heap = account.heaps.entry(DEFAULT).or_default();
        *heap = match *heap {
            0 => other_tables,
            heap => aligned(other_tables, other_step).saturating_add(heap),
        };
    }
    let heap = |space: u8| account.heaps.get(&space).copied().unwrap_or(0);
    (account.device.temporaries, account.host.temporaries) = (heap(DEFAULT), heap(HOST));
    account.temporary_peak = most;
    account.peak = account.given_bytes().saturating_add(constants).saturating_add(most);
    (account, offsets)
}

/// The alignment of offsets in a memory space of a TPU, in bytes.
const fn alignment(space: u8) -> u64 {
    match space {
        DEFAULT => HBM_STEP,
        _ if is_semaphore(space) => 4,
        _ => ALIGNMENT,
    }
}

/// The bytes of a tuple's index table: eight for each address; on a TPU four, with an alignment that depends on the device.
fn table_bytes(addresses: usize, generation: Option<Generation>, is_tpu: bool) -> u64 {
    if !is_tpu {
        return (addresses as u64).saturating_mul(8);
    }
    let step = generation.map_or(ALIGNMENT, Generation::tuple_table_step);
    aligned((addresses as u64).saturating_mul(4), step).max(if addresses == 0 { 0 } else { step })
}

/// The peak that the compiler counts. In VMEM and CMEM, where the compiler places values itself, a value and its successor in the
/// same buffer both count at the step of the change, unless the successor is a phi.
fn counted_peak(buffers: &[&HloBuffer<'_>], counts_both: bool) -> u64 {
    let mut changes = ByteDeltas::default();
    let mut count = |range: LiveRange, bytes: u64| changes.add(range.start as usize, range.end as usize, bytes);
    for buffer in buffers {
        if !counts_both {
            buffer.ranges().into_iter().for_each(|range| count(range, buffer.bytes));
            continue;
        }
        for (number, value) in buffer.values.iter().enumerate() {
            let next = buffer.values.get(number + 1);
            let becomes_phi = next.is_some_and(|next| next.is_phi && next.range.start == value.range.end);
            // A value whose live range is a single step still counts in that step.
            let end = if becomes_phi { value.range.end.saturating_sub(1) } else { value.range.end };
            if end >= value.range.start {
                count(LiveRange { start: value.range.start, end }, buffer.bytes);
            }
        }
    }
    changes.most_at_once()
}

/// The bytes allocated and freed at each step.
#[derive(Default)]
pub(super) struct ByteDeltas(BTreeMap<usize, (u64, u64)>);

impl ByteDeltas {
    /// Adds bytes that are live from step `first` to step `last`, both included.
    pub(super) fn add(&mut self, first: usize, last: usize, bytes: u64) {
        let begin = &mut self.0.entry(first).or_default().0;
        *begin = begin.saturating_add(bytes);
        let end = &mut self.0.entry(last + 1).or_default().1;
        *end = end.saturating_add(bytes);
    }

    /// The peak: the most bytes at any step.
    pub(super) fn most_at_once(self) -> u64 {
        let mut live = 0_u64;
        // What ended in the step before is freed first.
        let steps = self.0.into_values().map(|(more, less)| {
            live = live.saturating_sub(less).saturating_add(more);
            live
        });
        steps.max().unwrap_or(0)
    }
}

/// An estimate of the heap in VMEM or CMEM, where the compiler's memory space assignment moves values in and out. The heap is
/// between the peak of live bytes and the size of a heap packed in order of time.
fn fast_heap(buffers: &[&HloBuffer<'_>], packed: u64, generation: Option<Generation>) -> u64 {
    let mut changes = ByteDeltas::default();
    for buffer in buffers {
        buffer.ranges().iter().for_each(|range| changes.add(range.start as usize, range.end as usize, buffer.bytes));
    }
    let live = changes.most_at_once();
    let slack = live.saturating_add((live / 100).saturating_mul(9));
    packed.min(slack).min(usable_fast_bytes(generation))
}

/// The bytes of VMEM for values; the compiler reserves the rest for running kernels.
fn usable_fast_bytes(generation: Option<Generation>) -> u64 {
    const MIB: u64 = 1 << 20;
    let Some(generation) = generation else { return 112 * MIB };
    generation.vmem_bytes().saturating_sub(generation.reserved_vmem_bytes())
}

#[cfg(test)]
mod tests {
    use crate::Module;

    /// The body of this loop reads the state early and computes the next state late. Between the two, no other value may take the memory of the state
    /// in HBM. The compiler packed a convolution over 2 GB like this (`big_halo_conv` for v4).
    #[test]
    fn the_state_of_a_loop_keeps_its_memory_in_between() {
        let call = |name: &str, rows: usize, operand: &str| {
            alloc::format!(
                "  {name} = f32[{rows},1024]{{1,0:T(8,128)}} custom-call({operand}), custom_call_target=\"t\"\n"
            )
        };
        let (one, two, three, next) =
            (call("one", 256, "x"), call("two", 512, "one"), call("three", 768, "two"), call("next", 1024, "three"));
        let state = "(s32[]{:T(128)}, f32[1024,1024]{1,0:T(8,128)})";
        let text = alloc::format!(
            "HloModule m, is_scheduled=true\n\
             c {{\n  q = {state} parameter(0)\n  j = s32[]{{:T(128)}} get-tuple-element(q), index=0\n  \
             ROOT l = pred[]{{:T(512)}} compare(j, j), direction=LT\n}}\n\
             b {{\n  p = {state} parameter(0)\n  i = s32[]{{:T(128)}} get-tuple-element(p), index=0\n  \
             x = f32[1024,1024]{{1,0:T(8,128)}} get-tuple-element(p), index=1\n{one}{two}{three}{next}  \
             ROOT t = {state} tuple(i, next)\n}}\n\
             ENTRY e {{\n  a = f32[1024,1024]{{1,0:T(8,128)}} parameter(0)\n  n = f32[1024,1024]{{1,0:T(8,128)}} negate(a)\n  \
             z = s32[]{{:T(128)}} constant(0)\n  k = s32[]{{:T(128)}} copy(z)\n  s = {state} tuple(k, n)\n  \
             w = {state} while(s), condition=c, body=b\n  y = f32[1024,1024]{{1,0:T(8,128)}} get-tuple-element(w), index=1\n  \
             ROOT r = f32[1024,1024]{{1,0:T(8,128)}} negate(y)\n}}\n"
        );
        let module = Module::parse(&text).unwrap();
        let timeline = module.memory().timeline().unwrap();
        // The state takes 4 MiB, the other three values 1, 2 and 3 MiB. `two` would fit into the memory of the state, but does not take it.
        assert_eq!(timeline.account().device.temporaries >> 20, 10);
    }

    /// Arrays without tiles take whole lines of 1,024 elements, but semaphores of all kinds only their own bytes, as in the buffer
    /// assignments of SparseCore's offloaded gathers for v7x.
    #[test]
    fn semaphores_have_no_padding() {
        let text = "HloModule m, is_scheduled=true\n\
            ENTRY e {\n  a = f32[8,128]{1,0:T(8,128)} parameter(0)\n  \
            s = (s32[12]{0:S(8)}, s32[5]{0:S(10)}, s32[3]{0:S(2)}, s32[2]{0:S(4)}) custom-call(a), custom_call_target=\"t\"\n  \
            ROOT r = f32[8,128]{1,0:T(8,128)} custom-call(s, a), custom_call_target=\"t\"\n}\n";
        let module = Module::parse(text).unwrap();
        let timeline = module.memory().timeline().unwrap();
        let heaps = &timeline.account().heaps;
        assert_eq!([8, 10, 2, 4].map(|space| heaps.get(&space).copied()), [Some(48), Some(20), Some(12), Some(4096)]);
    }
}
