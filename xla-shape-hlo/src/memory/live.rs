//! Which arrays are in memory at the same time.

use super::Buffer;
use super::account::{Account, estimate};
use super::places::{Place, Role};
use crate::{Instruction, Module};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::tpu::Generation;

/// The most bytes that are needed at any time in one memory space.
#[derive(Clone, Copy, Debug)]
pub struct Peak<'m, 'a> {
    /// The bytes.
    pub bytes: u64,
    /// The instruction during which they are needed; inside a loop, one of its body.
    pub at: Instruction<'m, 'a>,
}

/// A value that lies in a place for some time, after others and before others.
#[derive(Clone, Copy, Debug)]
pub struct Tenant<'m, 'a> {
    /// The instruction that makes it. It may be a loop, or a parameter of its body, with values that others made.
    pub instruction: Instruction<'m, 'a>,
    /// Which array of the instruction's value.
    pub leaf: usize,
    /// The step that makes it.
    pub made: usize,
    /// The last step that needs it.
    pub last_use: usize,
}

/// When a place in memory is taken, in [steps](Timeline::instructions).
#[derive(Clone, Debug)]
pub struct Lifetime<'m, 'a> {
    /// The array that lies there first.
    pub buffer: Buffer<'m, 'a>,
    /// What it is to the program.
    pub role: Role,
    /// The bytes that the compiler reserves: the array's, and for some small arrays more.
    pub bytes: u64,
    /// The first step at which the place is taken; 0 for parameters, constants, and what the program returns.
    pub made: usize,
    /// The last step at which it is taken; the number of steps for what lives as long as the program.
    pub last_use: usize,
    /// The values there, one after the other; all have the same address, such as the state of a loop.
    pub tenants: Vec<Tenant<'m, 'a>>,
    /// Where the place begins in the heap of its memory space, in bytes; `None` for what is not in a heap: arguments,
    /// results and constants.
    pub offset: Option<u64>,
    /// The steps at which it is taken. Between two of them, others can lie there.
    spans: Vec<(usize, usize)>,
}

impl<'m, 'a> Lifetime<'m, 'a> {
    /// Whether the place is taken during a step.
    #[must_use]
    pub fn is_live_at(&self, step: usize) -> bool {
        let next = self.spans.partition_point(|&(_, last)| last < step);
        self.spans.get(next).is_some_and(|&(first, _)| first <= step)
    }

    /// The value that lies there during a step.
    #[must_use]
    pub fn tenant_at(&self, step: usize) -> Option<&Tenant<'m, 'a>> {
        self.tenants.iter().rev().find(|tenant| (tenant.made..=tenant.last_use).contains(&step))
    }

    /// From which step to which the place is taken, in order.
    #[must_use]
    pub fn spans(&self) -> &[(usize, usize)] {
        &self.spans
    }
}

/// What a scheduled module needs in memory, step by step.
///
/// There is one step for each instruction that runs, those of the condition and the body of a loop before the loop, as XLA
/// counts them. A value takes memory from the step that makes it to its last use; parameters and results of the program take
/// memory all the time. Values at one address, such as the state of a loop and what its body returns, are counted once.
///
/// ```
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m, is_scheduled=true
/// ENTRY main {
///   a = f32[8,128]{1,0:T(8,128)} parameter(0)
///   b = f32[8,128]{1,0:T(8,128)} negate(a)
///   ROOT c = f32[8,128]{1,0:T(8,128)} add(a, b)
/// }")?;
/// let memory = module.memory();
/// let timeline = memory.timeline().unwrap();
/// assert_eq!(timeline.bytes()[&0], [2 * 4096, 3 * 4096, 3 * 4096]);
/// let step = timeline.peak_step(0).unwrap();
/// assert_eq!(timeline.instructions()[step].name(), "b");
/// let live: Vec<_> = timeline.live_at(step).map(|lifetime| lifetime.buffer.instruction.name()).collect();
/// assert_eq!(live, ["a", "b", "c"]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Timeline<'m, 'a> {
    instructions: Vec<Instruction<'m, 'a>>,
    lifetimes: Vec<Lifetime<'m, 'a>>,
    live: BTreeMap<u8, Vec<u64>>,
    account: Account,
    is_scheduled: bool,
}

impl<'m, 'a> Timeline<'m, 'a> {
    pub(super) fn new(module: &'m Module<'a>, steps: &[u32], places: &[Place<'m>], device: Option<Generation>) -> Self {
        let instructions: Vec<_> = steps.iter().filter_map(|&step| module.instruction_at(step)).collect();
        let (account, offsets) = estimate(module, places, device);
        let lifetimes = places.iter().zip(offsets);
        let lifetimes = lifetimes.filter_map(|(place, offset)| lifetime(module, place, offset, instructions.len()));
        let lifetimes: Vec<_> = lifetimes.collect();
        let live = walk(instructions.len(), &lifetimes);
        Self { instructions, lifetimes, live, account, is_scheduled: module.is_scheduled() }
    }

    /// Takes other places and sizes.
    pub(super) fn replace(&mut self, lifetimes: Vec<Lifetime<'m, 'a>>, account: Account) {
        self.live = walk(self.instructions.len(), &lifetimes);
        (self.lifetimes, self.account) = (lifetimes, account);
    }

    /// What the program takes in all.
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Whether the order of instructions is the compiler's, and not only that of the text.
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        self.is_scheduled
    }

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

    /// Every place that arrays take, those of parameters first, then in the order in which they are made.
    #[must_use]
    pub fn lifetimes(&self) -> &[Lifetime<'m, 'a>] {
        &self.lifetimes
    }

    /// The places that are taken during a step.
    pub fn live_at(&self, step: usize) -> impl Iterator<Item = &Lifetime<'m, 'a>> {
        self.lifetimes.iter().filter(move |lifetime| lifetime.is_live_at(step))
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

/// The lifetime of a place that arrays take; `None` for a table of addresses.
fn lifetime<'m, 'a>(
    module: &'m Module<'a>,
    place: &Place<'m>,
    offset: Option<u64>,
    end: usize,
) -> Option<Lifetime<'m, 'a>> {
    let buffer = place.buffer(module)?;
    let tenants: Vec<_> = place
        .tenants
        .iter()
        .filter_map(|tenant| {
            Some(Tenant {
                instruction: module.instruction_at(tenant.instruction)?,
                leaf: tenant.leaf?,
                made: tenant.span.start as usize,
                last_use: tenant.span.end as usize,
            })
        })
        .collect();
    let spans: Vec<(usize, usize)> = if place.role.is_always() {
        vec![(0, end)]
    } else {
        place.spans().iter().map(|span| (span.start as usize, span.end as usize)).collect()
    };
    let (made, last_use) = (spans.first()?.0, spans.last()?.1);
    Some(Lifetime { buffer, role: place.role, bytes: place.bytes, made, last_use, tenants, offset, spans })
}

/// The bytes that are needed during each of `steps` steps, for each memory space.
fn walk(steps: usize, lifetimes: &[Lifetime<'_, '_>]) -> BTreeMap<u8, Vec<u64>> {
    let mut changes: BTreeMap<u8, BTreeMap<usize, (u64, u64)>> = BTreeMap::new();
    for lifetime in lifetimes {
        let here = changes.entry(lifetime.buffer.memory_space()).or_default();
        for &(first, last) in &lifetime.spans {
            let begin = &mut here.entry(first).or_default().0;
            *begin = begin.saturating_add(lifetime.bytes);
            let end = &mut here.entry(last.saturating_add(1)).or_default().1;
            *end = end.saturating_add(lifetime.bytes);
        }
    }
    let curve = |changes: BTreeMap<usize, (u64, u64)>| {
        let mut changes = changes.into_iter().peekable();
        let mut live = 0_u64;
        let step = |step: usize| {
            while let Some((_, (more, less))) = changes.next_if(|&(at, _)| at <= step) {
                live = live.saturating_add(more).saturating_sub(less);
            }
            live
        };
        (0..steps).map(step).collect()
    };
    changes.into_iter().map(|(space, changes)| (space, curve(changes))).collect()
}
