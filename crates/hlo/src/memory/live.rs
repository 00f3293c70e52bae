//! The timeline of a program's memory: which buffers are live at each step.

use super::Buffer;
use super::buffers::HloBuffer;
use super::sharing::{Memory, merged};
use super::totals::estimate;
use crate::account::{Account, Role};
use crate::{Instruction, Module};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::borrow::Borrow;
use xla_shape_core::sorting::{map_of, sort_by_key};
use xla_shape_core::tpu::Generation;

/// The peak of one memory space: the most live bytes at any step.
///
/// ```
/// let text = "HloModule m, is_scheduled=true
/// ENTRY e {
/// p = f32[8,128]{1,0:T(8,128)} parameter(0)
/// a = f32[8,128]{1,0:T(8,128)} negate(p)
/// ROOT b = f32[8,128]{1,0:T(8,128)} add(p, a) }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let peak = module.memory().peaks().unwrap()[&0];
/// assert_eq!((peak.bytes, peak.at.name()), (3 * 4096, "a"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Peak<'m> {
    /// The live bytes at the peak.
    pub bytes: u64,
    /// The instruction of the peak's step. It can be in the body of a loop.
    pub at: Instruction<'m>,
}

/// A value in a buffer, with its live range.
///
/// ```
/// let text = "HloModule m, is_scheduled=true
/// ENTRY e {
/// p = f32[8,128]{1,0:T(8,128)} parameter(0)
/// a = f32[8,128]{1,0:T(8,128)} negate(p)
/// b = f32[8,128]{1,0:T(8,128)} abs(a)
/// ROOT c = f32[8,128]{1,0:T(8,128)} negate(b) }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let timeline = module.memory().timeline().unwrap();
/// let value = timeline.lifetimes().iter().flat_map(|lifetime| &lifetime.values).find(|value| value.instruction.name() == "a");
/// let value = value.unwrap();
/// assert_eq!((value.start, value.end), (1, 2), "from its definition to its use by b");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LiveValue<'m> {
    /// The instruction that defines it; for a phi, the loop or the parameter of its body.
    pub instruction: Instruction<'m>,
    /// Which array of the instruction's shape it is, from 0.
    pub leaf: usize,
    /// The step that defines it.
    pub start: usize,
    /// The last step that uses it.
    pub end: usize,
}

/// A buffer, with the [steps](Timeline::instructions) at which it is live.
#[derive(Clone, Debug)]
pub struct Lifetime<'m> {
    /// The first array in the buffer.
    pub buffer: Buffer<'m>,
    /// How the program uses the buffer.
    pub role: Role,
    /// The bytes that the compiler reserves: those of the array, and for some small arrays more.
    pub bytes: u64,
    /// The first step at which the buffer is live; 0 for parameters, results and constants.
    pub start: usize,
    /// The last step at which it is live; the number of steps if it is live as long as the program runs.
    pub end: usize,
    /// The values in the buffer, one after the other, such as the state of a loop and its updates.
    pub values: Vec<LiveValue<'m>>,
    /// The offset in the heap of its memory space, in bytes; `None` for arguments, results and constants, which are not in a heap.
    pub offset: Option<u64>,
    /// The live ranges. Between two of them, other buffers can use the memory.
    ranges: Vec<(usize, usize)>,
    /// The number of steps of the program.
    num_steps: usize,
}

impl<'m> Lifetime<'m> {
    /// Whether the buffer is live at a step.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// b = f32[8,128]{1,0:T(8,128)} abs(a)
    /// ROOT c = f32[8,128]{1,0:T(8,128)} negate(b) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// let a = timeline.lifetimes().iter().find(|lifetime| lifetime.buffer.instruction.name() == "a").unwrap();
    /// let live: Vec<_> = (0..4).map(|step| a.is_live_at(step)).collect();
    /// assert_eq!(live, [false, true, true, false], "from its definition to its use by b");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn is_live_at(&self, step: usize) -> bool {
        // The first range that does not end before the step.
        let next = self.ranges.partition_point(|&(_, last)| last < step);
        self.ranges.get(next).is_some_and(|&(first, _)| first <= step)
    }

    /// Makes the buffer live as long as the program runs.
    pub(super) fn stays(&mut self) {
        let end = self.end.max(self.num_steps);
        (self.start, self.end, self.ranges) = (0, end, vec![(0, end)]);
    }

    /// The value in the buffer at a step.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// assert_eq!(timeline.lifetimes()[1].value_at(1).unwrap().instruction.name(), "n");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn value_at(&self, step: usize) -> Option<&LiveValue<'m>> {
        // At the step where one value ends and the next one begins, the buffer holds the next one.
        self.values.iter().rev().find(|value| (value.start..=value.end).contains(&step))
    }

    /// The live ranges as pairs of first and last step, in order.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// b = f32[8,128]{1,0:T(8,128)} abs(a)
    /// ROOT c = f32[8,128]{1,0:T(8,128)} negate(b) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// let a = timeline.lifetimes().iter().find(|lifetime| lifetime.buffer.instruction.name() == "a").unwrap();
    /// assert_eq!(a.live_ranges(), [(1, 2)]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn live_ranges(&self) -> &[(usize, usize)] {
        &self.ranges
    }
}

/// A program's memory, step by step.
///
/// There is one step for each instruction that runs. The steps of a loop's condition and body come before the loop, as in XLA's
/// `HloLiveRange` (`xla/hlo/utils/hlo_live_range.cc`). A value is live from the step that defines it to its last use; parameters and
/// results of the program are live at every step. Values that share a buffer, such as the state of a loop and what its body
/// returns, count once.
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
pub struct Timeline<'m> {
    instructions: Vec<Instruction<'m>>,
    lifetimes: Vec<Lifetime<'m>>,
    /// On CPUs and GPUs, for each lifetime: the number of the buffer that represents its memory.
    numbers: Vec<u32>,
    /// On CPUs and GPUs: the buffers that share memory in the estimate, with their numbers, each as a lifetime of its own. They are needed when
    /// the compiler's assignment replaces the estimate, because it says where each of them really is.
    unshared: Vec<(u32, Lifetime<'m>)>,
    live: BTreeMap<u8, Vec<u64>>,
    account: Account,
    warnings: Vec<String>,
    is_scheduled: bool,
    is_assigned: bool,
    is_for_tpu: bool,
}

impl<'m> Timeline<'m> {
    pub(super) fn new(
        module: &'m Module,
        steps: &[u32],
        buffers: &[HloBuffer<'m>],
        memories: Option<&[u32]>,
        device: Option<Generation>,
    ) -> Self {
        let instructions: Vec<_> = steps.iter().filter_map(|&step| module.instruction_at(step)).collect();
        let lifetime = |buffer: &HloBuffer<'m>, offset| lifetime(module, buffer, offset, instructions.len());
        let (mut numbers, mut unshared) = (Vec::new(), Vec::new());
        // On CPUs and GPUs, buffers share memory, and each piece of shared memory is one lifetime. The buffers in it are kept separately,
        // too, because a compiler's assignment may have a place for each of them (`take_assignable`).
        let (account, lifetimes): (_, Vec<_>) = if let Some(memories) = memories {
            let merged = merged(buffers, memories);
            let (account, offsets) = estimate(module, &merged, device);
            let lifetimes = merged.iter().zip(offsets).filter_map(|(memory, offset)| {
                let found = lifetime(memory.borrow(), offset)?;
                numbers.push(memory.number);
                Some(found)
            });
            let lifetimes = lifetimes.collect();
            let is_shared = |number: u32, memory: u32| {
                let found = merged.binary_search_by_key(&memory, |memory| memory.number).ok();
                number != memory || found.and_then(|place| merged.get(place)).is_some_and(Memory::is_shared)
            };
            let all = (0_u32..).zip(buffers).zip(memories);
            let all = all.filter(|((number, _), memory)| is_shared(*number, **memory));
            unshared.extend(all.filter_map(|((number, buffer), _)| Some((number, lifetime(buffer, None)?))));
            (account, lifetimes)
        } else {
            let (account, offsets) = estimate(module, buffers, device);
            (account, buffers.iter().zip(offsets).filter_map(|(buffer, offset)| lifetime(buffer, offset)).collect())
        };
        let live = walk(instructions.len(), &lifetimes);
        Self {
            instructions,
            lifetimes,
            numbers,
            unshared,
            live,
            account,
            warnings: Vec::new(),
            is_scheduled: module.is_scheduled(),
            is_assigned: false,
            is_for_tpu: module.is_for_tpu(),
        }
    }

    /// Replaces the estimated offsets and sizes by the compiler's.
    pub(super) fn replace(&mut self, lifetimes: Vec<Lifetime<'m>>, account: Account, warnings: Vec<String>) {
        self.live = walk(self.instructions.len(), &lifetimes);
        (self.lifetimes, self.account, self.warnings) = (lifetimes, account, warnings);
        self.is_assigned = true;
    }

    /// The lifetimes of all buffers to which the compiler's assignment can give a place: one for each buffer, also of buffers that share memory.
    pub(super) fn take_assignable(&mut self) -> Vec<Lifetime<'m>> {
        if self.unshared.is_empty() {
            return self.lifetimes.clone();
        }
        let unshared = core::mem::take(&mut self.unshared);
        let is_alone = |number: u32| unshared.binary_search_by_key(&number, |(number, _)| *number).is_err();
        let alone = self.numbers.iter().zip(&self.lifetimes).filter(|(number, _)| is_alone(**number));
        let mut all: Vec<_> = alone.map(|(number, lifetime)| (*number, lifetime.clone())).collect();
        all.extend(unshared);
        sort_by_key(&mut all, |(number, _)| *number);
        all.into_iter().map(|(_, lifetime)| lifetime).collect()
    }

    /// The instruction of each step.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// assert_eq!(timeline.instructions()[1].name(), "n");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn instructions(&self) -> &[Instruction<'m>] {
        &self.instructions
    }

    /// For each memory space in use, the live bytes at each step.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// b = f32[8,128]{1,0:T(8,128)} abs(a)
    /// ROOT c = f32[8,128]{1,0:T(8,128)} negate(b) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// assert_eq!(timeline.bytes()[&0], [2, 3, 4, 3].map(|arrays| arrays * 4096), "p and c are live at every step");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn bytes(&self) -> &BTreeMap<u8, Vec<u64>> {
        &self.live
    }

    /// The buffers with their live ranges: those of parameters first, the others in the order in which they are defined.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// ROOT b = f32[8,128]{1,0:T(8,128)} abs(a) }";
    /// let module = Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// let names: Vec<_> = timeline.lifetimes().iter().map(|lifetime| lifetime.buffer.instruction.name()).collect();
    /// assert_eq!(names, ["p", "a", "b"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn lifetimes(&self) -> &[Lifetime<'m>] {
        &self.lifetimes
    }

    /// The buffers that are live at a step.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// ROOT b = f32[8,128]{1,0:T(8,128)} abs(a) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// let live: Vec<_> = timeline.live_at(0).map(|lifetime| lifetime.buffer.instruction.name()).collect();
    /// assert_eq!(live, ["p", "b"], "parameters and results are live at every step");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    pub fn live_at(&self, step: usize) -> impl Iterator<Item = &Lifetime<'m>> {
        self.lifetimes.iter().filter(move |lifetime| lifetime.is_live_at(step))
    }

    /// The step with the most live bytes in a memory space; the first of several. `None` if nothing is in the memory space.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// ROOT b = f32[8,128]{1,0:T(8,128)} abs(a) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// assert_eq!(timeline.peak_step(0), Some(1));
    /// assert_eq!(timeline.peak_step(1), None, "nothing is in VMEM");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn peak_step(&self, space: u8) -> Option<usize> {
        let steps = self.live.get(&space)?.iter().enumerate();
        let peak = steps.reduce(|peak, step| if step.1 > peak.1 { step } else { peak });
        peak.map(|(step, _)| step)
    }

    /// The peak of each memory space in use.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true
    /// ENTRY e {
    /// p = f32[8,128]{1,0:T(8,128)} parameter(0)
    /// a = f32[8,128]{1,0:T(8,128)} negate(p)
    /// ROOT b = f32[8,128]{1,0:T(8,128)} abs(a) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let peak = module.memory().timeline().unwrap().peaks()[&0];
    /// assert_eq!((peak.bytes, peak.at.name()), (3 * 4096, "a"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn peaks(&self) -> BTreeMap<u8, Peak<'m>> {
        let peak = |(&space, bytes): (&u8, &Vec<u64>)| {
            let step = self.peak_step(space)?;
            Some((space, Peak { bytes: *bytes.get(step)?, at: *self.instructions.get(step)? }))
        };
        map_of(self.live.iter().filter_map(peak))
    }

    /// The totals.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let timeline = module.memory().timeline().unwrap();
    /// let device = timeline.account().device;
    /// assert_eq!((device.arguments, device.outputs, timeline.account().exact), (32, 32, false));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn account(&self) -> &Account {
        &self.account
    }

    /// Replaces the totals, for example by those of the compiler's memory analysis.
    #[must_use]
    pub fn with_account(self, account: Account) -> Self {
        Self { account, ..self }
    }

    /// Whether offsets and sizes are [the compiler's](Self::with_assignment); otherwise they are an estimate.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(!module.memory().timeline().unwrap().is_assigned(), "without the compiler's files it is an estimate");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_assigned(&self) -> bool {
        self.is_assigned
    }

    /// Whether the module is compiled for a TPU: only TPU modules have tiled arrays.
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true\nENTRY e { ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert!(module.memory().timeline().unwrap().is_for_tpu());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_for_tpu(&self) -> bool {
        self.is_for_tpu
    }

    /// Warnings about values for which the compiler's [buffer assignment](Self::with_assignment) has no memory, or too little. Each begins
    /// without a capital and ends without a period, so that it can follow the name of the file.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether the module has a schedule; otherwise the steps are in text order.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(!module.memory().timeline_on(None).unwrap().is_scheduled());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn is_scheduled(&self) -> bool {
        self.is_scheduled
    }
}

/// The lifetime of a buffer of arrays; `None` for a tuple's index table.
fn lifetime<'m>(
    module: &'m Module,
    hlo_buffer: &HloBuffer<'m>,
    offset: Option<u64>,
    num_steps: usize,
) -> Option<Lifetime<'m>> {
    let buffer = hlo_buffer.first_array(module)?;
    let values: Vec<_> = hlo_buffer
        .values
        .iter()
        .filter_map(|value| {
            Some(LiveValue {
                instruction: module.instruction_at(value.instruction)?,
                leaf: value.leaf?,
                start: value.range.start as usize,
                end: value.range.end as usize,
            })
        })
        .collect();
    let ranges: Vec<(usize, usize)> = if hlo_buffer.role.is_always() {
        vec![(0, num_steps)]
    } else {
        hlo_buffer.ranges().iter().map(|range| (range.start as usize, range.end as usize)).collect()
    };
    let (start, end) = (ranges.first()?.0, ranges.last()?.1);
    let (role, bytes) = (hlo_buffer.role, hlo_buffer.bytes);
    Some(Lifetime { buffer, role, bytes, start, end, values, offset, ranges, num_steps })
}

/// For each memory space, the live bytes at each of `steps` steps.
fn walk(steps: usize, lifetimes: &[Lifetime<'_>]) -> BTreeMap<u8, Vec<u64>> {
    // The steps at which bytes become live or are freed. Within a step, bytes that become live come first.
    let mut changes: BTreeMap<u8, Vec<(usize, bool, u64)>> = BTreeMap::new();
    for lifetime in lifetimes {
        let here = changes.entry(lifetime.buffer.memory_space()).or_default();
        for &(first, last) in &lifetime.ranges {
            here.extend([(first, false, lifetime.bytes), (last + 1, true, lifetime.bytes)]);
        }
    }
    let curve = |mut changes: Vec<(usize, bool, u64)>| {
        sort_by_key(&mut changes, |&(at, ceases, _)| (at, ceases));
        let mut changes = changes.into_iter().peekable();
        let mut live = 0_u64;
        let step = |step: usize| {
            while let Some((_, ceases, bytes)) = changes.next_if(|&(at, ..)| at <= step) {
                live = if ceases { live.saturating_sub(bytes) } else { live.saturating_add(bytes) };
            }
            live
        };
        (0..steps).map(step).collect()
    };
    map_of(changes.into_iter().map(|(space, changes)| (space, curve(changes))))
}
