//! What a program takes in memory, in the terms of the compiler's own memory analysis.

use super::heap::{Block, aligned, pack};
use super::places::{Place, Role, is_tpu};
use super::schedule::Span;
use crate::Module;
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::memory_space::{CMEM, DEFAULT, GENERIC_FAST, HOST, SEMAPHORE};
use xla_shape_core::tpu::Generation;

/// The step in which the TPU compiler hands out HBM, in bytes.
const HBM_STEP: u64 = 16 << 10;
/// The step in which it hands out other memory.
const STEP: u64 = 512;

/// What a program takes in the memory of the device or of the host, in bytes.
///
/// The terms are those of the compiler (`CompiledMemoryStats`, in JAX `compiled.memory_analysis()`).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Totals {
    /// The parameters.
    pub arguments: u64,
    /// The results, those that lie where a parameter was among them.
    pub outputs: u64,
    /// The results that lie where a parameter was.
    pub aliases: u64,
    /// Everything between, packed.
    pub temporaries: u64,
}

impl Totals {
    /// What must fit: arguments, outputs and temporaries; memory that is both argument and output counts once.
    #[must_use]
    pub const fn total(self) -> u64 {
        let all = self.arguments.saturating_add(self.outputs).saturating_add(self.temporaries);
        all.saturating_sub(self.aliases)
    }

    pub(crate) const fn add(&mut self, role: Role, bytes: u64) {
        let (arguments, outputs, aliases) = match role {
            Role::Argument => (bytes, 0, 0),
            Role::Donated => (bytes, bytes, bytes),
            Role::Output => (0, bytes, 0),
            Role::Constant | Role::Temporary => (0, 0, 0),
        };
        self.arguments = self.arguments.saturating_add(arguments);
        self.outputs = self.outputs.saturating_add(outputs);
        self.aliases = self.aliases.saturating_add(aliases);
    }
}

/// What a program takes in memory.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Account {
    /// In the memory of the device that arguments and results lie in: HBM.
    pub device: Totals,
    /// In the memory of the host.
    pub host: Totals,
    /// The most bytes at one time as the compiler counts them: arguments, results and constants, and of the memory spaces
    /// the one whose temporaries take most at one time. (It does not add the temporaries of several spaces.)
    pub peak: u64,
    /// The bytes of the heap of each memory space, which holds its temporaries.
    pub heaps: BTreeMap<u8, u64>,
    /// Whether the numbers are the compiler's own, and not an estimate.
    pub exact: bool,
    /// The most bytes of temporaries at one time in any one memory space, as the compiler counts them.
    pub(crate) temporary_peak: u64,
}

impl Account {
    /// The bytes of arguments and results, on the device and on the host.
    pub(super) const fn given_bytes(&self) -> u64 {
        let device = Totals { temporaries: 0, ..self.device };
        let host = Totals { temporaries: 0, ..self.host };
        device.total().saturating_add(host.total())
    }

    /// The bytes that one memory space must hold: HBM and the host's memory hold arguments and results, too.
    #[must_use]
    pub fn space_total(&self, space: u8) -> u64 {
        match space {
            DEFAULT => self.device.total(),
            space if is_host(space) => self.host.total(),
            space => self.heaps.get(&space).copied().unwrap_or(0),
        }
    }
}

/// Places the temporaries and adds up what the program takes; with the offset of each place that lies in a heap.
///
/// `generation` is the device, if it is known; it decides the size of small tables of addresses, and how much VMEM there is.
pub(super) fn estimate(
    module: &Module<'_>,
    places: &[Place<'_>],
    generation: Option<Generation>,
) -> (Account, Vec<Option<u64>>) {
    let is_tpu = is_tpu(module);
    let mut account = Account::default();
    let mut heaps: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
    let (mut constants, mut tables) = (0_u64, 0_u64);
    for (number, place) in places.iter().enumerate() {
        let bytes = match place.addresses {
            Some(addresses) => table_bytes(addresses, generation, is_tpu),
            None => place.bytes,
        };
        match place.role {
            Role::Temporary if place.addresses.is_some() => tables = tables.saturating_add(u64::from(is_tpu)),
            Role::Temporary => heaps.entry(place.space).or_default().push(number),
            Role::Constant => constants = constants.saturating_add(bytes),
            role if is_host(place.space) => account.host.add(role, bytes),
            role => account.device.add(role, bytes),
        }
    }
    let mut offsets = vec![None; places.len()];
    let mut most = 0_u64;
    for (space, numbers) in heaps {
        let here: Vec<&Place<'_>> = numbers.iter().filter_map(|&number| places.get(number)).collect();
        most = most.max(counted_peak(&here, matches!(space, GENERIC_FAST | CMEM)));
        let blocks: Vec<Block> = here.iter().map(|place| Block { bytes: place.bytes, spans: place.spans() }).collect();
        let (found, packed) = pack(&blocks, step(space, is_tpu));
        for (number, offset) in numbers.iter().zip(found) {
            if let Some(place) = offsets.get_mut(*number) {
                *place = Some(offset);
            }
        }
        let heap = match space {
            // What only counts loops needs no memory, and then tables of addresses need none either.
            DEFAULT if is_tpu && here.iter().all(|place| place.is_scalar_control(module)) => 0,
            DEFAULT if is_tpu => aligned(packed, HBM_STEP).saturating_add(tables.saturating_mul(HBM_STEP)),
            GENERIC_FAST | CMEM if is_tpu => fast_heap(&here, packed, generation.filter(|_| space == GENERIC_FAST)),
            _ => packed,
        };
        if heap > 0 {
            account.heaps.insert(space, heap);
        }
    }
    let heap = |space: u8| account.heaps.get(&space).copied().unwrap_or(0);
    (account.device.temporaries, account.host.temporaries) = (heap(DEFAULT), heap(HOST));
    account.temporary_peak = most;
    account.peak = account.given_bytes().saturating_add(constants).saturating_add(most);
    (account, offsets)
}

/// The step in which offsets of a memory space go.
const fn step(space: u8, is_tpu: bool) -> u64 {
    match space {
        _ if !is_tpu => 64,
        DEFAULT => HBM_STEP,
        SEMAPHORE => 4,
        _ => STEP,
    }
}

/// The bytes of a table of so many addresses: four bytes for each, in steps that depend on the device.
fn table_bytes(addresses: usize, generation: Option<Generation>, is_tpu: bool) -> u64 {
    if !is_tpu {
        return (addresses as u64).saturating_mul(8);
    }
    let step = match generation {
        Some(generation) if generation >= Generation::V5p => 32,
        _ => STEP,
    };
    aligned((addresses as u64).saturating_mul(4), step).max(if addresses == 0 { 0 } else { step })
}

/// The most bytes that the compiler counts at one time. In memory that it fills itself, a value that takes over the place of
/// another one counts beside it while it does, unless both are the state of a loop.
fn counted_peak(places: &[&Place<'_>], takes_over: bool) -> u64 {
    let mut changes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    let mut count = |span: Span, bytes: u64| {
        let begin = &mut changes.entry(span.start).or_default().0;
        *begin = begin.saturating_add(bytes);
        let end = &mut changes.entry(span.end.saturating_add(1)).or_default().1;
        *end = end.saturating_add(bytes);
    };
    for place in places {
        if !takes_over {
            place.spans().into_iter().for_each(|span| count(span, place.bytes));
            continue;
        }
        for (number, tenant) in place.tenants.iter().enumerate() {
            let next = place.tenants.get(number.saturating_add(1));
            let hands_on = next.is_some_and(|next| next.meets && next.span.start == tenant.span.end);
            // Something that lives for one step only is still there in it.
            let end = if hands_on { tenant.span.end.saturating_sub(1) } else { tenant.span.end };
            if end >= tenant.span.start {
                count(Span { start: tenant.span.start, end }, place.bytes);
            }
        }
    }
    most_at_once(changes)
}

fn most_at_once(changes: BTreeMap<u32, (u64, u64)>) -> u64 {
    let mut live = 0_u64;
    // What ends before a step is gone when that step begins.
    let steps = changes.into_values().map(|(more, less)| {
        live = live.saturating_sub(less).saturating_add(more);
        live
    });
    steps.max().unwrap_or(0)
}

/// The bytes that the compiler is likely to use of memory that it fills itself. It moves values in and out as long as that
/// pays, so the heap is between what lives at one time and what packing by time takes.
fn fast_heap(places: &[&Place<'_>], packed: u64, generation: Option<Generation>) -> u64 {
    let mut changes: BTreeMap<u32, (u64, u64)> = BTreeMap::new();
    for place in places {
        for span in place.spans() {
            let begin = &mut changes.entry(span.start).or_default().0;
            *begin = begin.saturating_add(place.bytes);
            let end = &mut changes.entry(span.end.saturating_add(1)).or_default().1;
            *end = end.saturating_add(place.bytes);
        }
    }
    let live = most_at_once(changes);
    let slack = live.saturating_add((live / 100).saturating_mul(9));
    packed.min(slack).min(usable_fast_bytes(generation))
}

/// How much VMEM the compiler gives to values: the rest belongs to the kernels while they run.
fn usable_fast_bytes(generation: Option<Generation>) -> u64 {
    const MIB: u64 = 1 << 20;
    let Some(generation) = generation else { return 112 * MIB };
    let kernels = if generation == Generation::V6e { 32 * MIB } else { 16 * MIB };
    generation.vmem_bytes().saturating_sub(kernels)
}

/// Whether a memory space belongs to the host.
const fn is_host(space: u8) -> bool {
    space == HOST
}
