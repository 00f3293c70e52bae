//! What the values of a module take in memory: bytes, padding, formats, layout changes, and the most at any time.

mod account;
mod calls;
mod collectives;
mod exact;
mod heap;
mod live;
mod places;
mod schedule;
mod values;

pub use account::{Account, Totals};
pub use collectives::Collective;
#[cfg(feature = "proto")]
pub(crate) use exact::written_index;
pub use live::{Lifetime, Peak, Tenant, Timeline};
pub use places::Role;
pub(crate) use values::parts;

use places::Place;
use schedule::Schedule;
use values::Values;

use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Write;
use xla_shape_core::bitcast::Answer;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape};

/// How many bytes something takes in memory, and how many of them hold elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Footprint {
    /// All bytes, with padding.
    pub bytes: u64,
    /// The bytes that the elements alone would take ([`ArrayShape::unpadded_byte_size`]).
    pub data_bytes: u64,
}

impl Footprint {
    /// The footprint of an array; `None` if a dimension is unbounded.
    ///
    /// ```
    /// use xla_shape_core::ArrayShape;
    /// use xla_shape_hlo::Footprint;
    ///
    /// let array: ArrayShape = "bf16[4,100]{1,0:T(8,128)(2,1)}".parse()?;
    /// let footprint = Footprint::of(&array).unwrap();
    /// assert_eq!((footprint.bytes, footprint.padding_bytes()), (2048, 1248));
    /// assert_eq!(footprint.expansion(), Some(2.56));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn of(array: &ArrayShape) -> Option<Self> {
        Some(Self { bytes: array.byte_size()?, data_bytes: array.unpadded_byte_size()? })
    }

    /// The bytes that hold no element.
    #[must_use]
    pub const fn padding_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.data_bytes)
    }

    /// Its bytes, divided by those of its elements alone; `None` if there are no elements.
    #[must_use]
    pub fn expansion(self) -> Option<f64> {
        (self.data_bytes > 0).then(|| self.bytes as f64 / self.data_bytes as f64)
    }

    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.data_bytes = self.data_bytes.saturating_add(other.data_bytes);
    }
}

/// An array in memory that an instruction makes, or that is given to the program.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'m, 'a> {
    /// The instruction.
    pub instruction: Instruction<'m, 'a>,
    /// Which array of the instruction's value, counted in the order in which they are written.
    pub leaf: usize,
    /// The array.
    pub array: &'m ArrayShape,
    /// What it takes.
    pub footprint: Footprint,
}

impl Buffer<'_, '_> {
    /// The memory space that it lies in.
    #[must_use]
    pub const fn memory_space(&self) -> u8 {
        self.array.layout().memory_space()
    }

    /// The way in which it is tiled, such as `bf16 T(8,128)(2,1)`; `f32` alone where there are no tiles.
    #[must_use]
    pub fn tile_format(&self) -> String {
        let mut format = String::from(self.array.element_type().name());
        for (i, tile) in self.array.layout().tiles().iter().enumerate() {
            // Writing to a `String` does not fail.
            let _ = write!(format, "{}{tile}", if i == 0 { " T" } else { "" });
        }
        format
    }
}

/// What lies in one memory space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// The parameters of the program.
    pub parameters: Footprint,
    /// Its results.
    pub results: Footprint,
    /// All values that it makes, as if each had separate memory.
    pub values: Footprint,
    /// How many values that are.
    pub num_values: usize,
}

/// How often one way of tiling occurs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FormatUsage {
    /// How many arrays have it.
    pub arrays: usize,
    /// What they take.
    pub footprint: Footprint,
}

/// An instruction that gives an array another layout.
#[derive(Clone, Copy, Debug)]
pub struct LayoutChange<'m, 'a> {
    /// The copy, transpose or bitcast.
    pub instruction: Instruction<'m, 'a>,
    /// The array before.
    pub from: &'m ArrayShape,
    /// The array after.
    pub to: &'m ArrayShape,
    /// The bytes that are read and written: none for a bitcast, and for a transpose that moves no element.
    pub moved_bytes: u64,
}

/// What the values of a module take in memory.
///
/// Values are those of the [entry](Module::entry) computation and of the computations that it runs one after the other (loops,
/// calls and branches); inside a fusion there are none. An instruction makes no new value if its value is its operand, or a
/// part of it: bitcasts, tuples and their elements, loops, and the end of an asynchronous operation.
///
/// ```
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("\
/// HloModule m, is_scheduled=true
/// ENTRY main {
///   a = f32[4,100]{1,0:T(8,128)} parameter(0)
///   b = f32[4,100]{1,0:T(8,128)} negate(a)
///   ROOT c = f32[4,100]{1,0:T(8,128)} add(a, b)
/// }")?;
/// let memory = module.memory();
/// assert_eq!(memory.usage()[&0].parameters.bytes, 4096);
/// assert_eq!(memory.most_padded(1)[0].footprint.padding_bytes(), 4096 - 1600);
/// assert_eq!(memory.peaks().unwrap()[&0].bytes, 3 * 4096);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Memory<'m, 'a> {
    module: &'m Module<'a>,
    buffers: Vec<Buffer<'m, 'a>>,
    computations: Vec<Computation<'m, 'a>>,
    /// The number of the instruction of each step.
    steps: Vec<u32>,
    /// `None` where there are too many values to look at.
    places: Option<Vec<Place<'m>>>,
}

impl<'a> Module<'a> {
    /// What the values of the module take in memory.
    #[must_use]
    pub fn memory(&self) -> Memory<'_, 'a> {
        let computations = sequential(self);
        let starts = computations.iter().copied().filter(|computation| runs(*computation));
        let schedule = Schedule::new(self, starts);
        let places =
            Values::new(self, &computations).map(|values| places::places(self, &computations, &values, &schedule));
        let buffers = places.iter().flatten().filter_map(|place| place.buffer(self)).collect();
        Memory { module: self, buffers, computations, steps: schedule.steps, places }
    }
}

/// Whether a computation is where a program begins, so that its parameters are values of its own.
fn runs(computation: Computation<'_, '_>) -> bool {
    computation.module().entry().is_some_and(|entry| entry.number() == computation.number())
        || computation.is_fragment()
}

impl<'m, 'a> Memory<'m, 'a> {
    /// Every array that has separate memory: those of the program's parameters first, then in the order in which they are made.
    /// An array at the same place as another one is not in the list.
    #[must_use]
    pub fn buffers(&self) -> &[Buffer<'m, 'a>] {
        &self.buffers
    }

    /// The computations whose values lie in memory, called ones first.
    #[must_use]
    pub fn computations(&self) -> &[Computation<'m, 'a>] {
        &self.computations
    }

    /// The same for one memory space alone.
    #[must_use]
    pub fn in_space(&self, space: u8) -> Self {
        let buffers = self.buffers.iter().filter(|buffer| buffer.memory_space() == space).copied().collect();
        Self { buffers, ..self.clone() }
    }

    /// The sums for each memory space.
    #[must_use]
    pub fn usage(&self) -> BTreeMap<u8, Usage> {
        let mut spaces: BTreeMap<u8, Usage> = BTreeMap::new();
        for buffer in &self.buffers {
            let usage = spaces.entry(buffer.memory_space()).or_default();
            if buffer.instruction.opcode() == Opcode::Parameter {
                usage.parameters.add(buffer.footprint);
            } else {
                usage.values.add(buffer.footprint);
                usage.num_values = usage.num_values.saturating_add(1);
            }
        }
        let results = self.module.entry().map(|entry| entry.root().shape());
        for array in results.into_iter().flat_map(arrays) {
            if let Some(footprint) = Footprint::of(array) {
                spaces.entry(array.layout().memory_space()).or_default().results.add(footprint);
            }
        }
        spaces
    }

    /// The `count` largest arrays, the largest first.
    #[must_use]
    pub fn largest(&self, count: usize) -> Vec<Buffer<'m, 'a>> {
        self.first_by(count, |buffer| buffer.footprint.bytes)
    }

    /// The `count` arrays with the most bytes of padding, the worst first.
    #[must_use]
    pub fn most_padded(&self, count: usize) -> Vec<Buffer<'m, 'a>> {
        self.first_by(count, |buffer| buffer.footprint.padding_bytes())
    }

    fn first_by(&self, count: usize, key: impl Fn(&Buffer<'m, 'a>) -> u64) -> Vec<Buffer<'m, 'a>> {
        let mut buffers = self.buffers.clone();
        buffers.sort_by_key(|buffer| Reverse(key(buffer)));
        buffers.truncate(count);
        buffers
    }

    /// The ways in which arrays are tiled ([`Buffer::tile_format`]).
    #[must_use]
    pub fn tile_formats(&self) -> BTreeMap<String, FormatUsage> {
        let mut formats: BTreeMap<String, FormatUsage> = BTreeMap::new();
        for buffer in &self.buffers {
            let usage = formats.entry(buffer.tile_format()).or_default();
            usage.arrays = usage.arrays.saturating_add(1);
            usage.footprint.add(buffer.footprint);
        }
        formats
    }

    /// The copies and bitcasts whose operand and result have different layouts, apart from the memory space, and all
    /// transposes.
    #[must_use]
    pub fn layout_changes(&self) -> Vec<LayoutChange<'m, 'a>> {
        let instructions = self.computations.iter().flat_map(|computation| computation.instructions());
        instructions.filter_map(layout_change).collect()
    }

    /// What the program needs in memory step by step, if the module is scheduled. `None` also where the module's values have too many
    /// arrays to be examined: more than 16 million, where the parts of a tuple count each time that it is passed on.
    #[must_use]
    pub fn timeline(&self) -> Option<Timeline<'m, 'a>> {
        self.module.is_scheduled().then(|| self.timeline_on(None)).flatten()
    }

    /// What the program needs in memory on a device, step by step; for a module without a schedule, as if instructions ran in
    /// the order of the text. `None` if there is no computation to run, or the values have more than 16 million arrays.
    ///
    /// Without a device, the estimate assumes the VMEM of v5e, and may differ by some hundred bytes.
    #[must_use]
    pub fn timeline_on(&self, device: Option<Generation>) -> Option<Timeline<'m, 'a>> {
        let places = self.places.as_deref().filter(|_| !self.steps.is_empty())?;
        Some(Timeline::new(self.module, &self.steps, places, device))
    }

    /// The most bytes that are needed at any time in each memory space, if the module is scheduled: the peaks of the
    /// [timeline](Self::timeline).
    #[must_use]
    pub fn peaks(&self) -> Option<BTreeMap<u8, Peak<'m, 'a>>> {
        self.timeline().map(|timeline| timeline.peaks())
    }
}

fn layout_change<'m, 'a>(instruction: Instruction<'m, 'a>) -> Option<LayoutChange<'m, 'a>> {
    let (from, to) = (instruction.operand(0)?.shape()?.array()?, instruction.shape().array()?);
    // Where a layout is left out, XLA means the default one, and the shape has it; what cannot be compared is taken to move.
    let stays = match instruction.opcode() {
        Opcode::Copy => from.layout_change_is_bitcast(to),
        Opcode::Transpose => {
            let permutation = instruction.attribute("dimensions").and_then(|value| value.numbers().ok())?;
            from.transpose_is_bitcast(to, &permutation)
        }
        Opcode::Reshape => from.reshape_is_bitcast(to),
        Opcode::Bitcast if !is_same_format(from, to) => {
            return Some(LayoutChange { instruction, from, to, moved_bytes: 0 });
        }
        _ => return None,
    };
    let stays = !matches!(stays, Ok(Answer::No(_)) | Err(_));
    let is_plain_copy = instruction.opcode() == Opcode::Copy && is_same_format(from, to);
    if is_plain_copy || stays && instruction.opcode() == Opcode::Reshape {
        return None;
    }
    let bytes = |array: &ArrayShape| array.byte_size().unwrap_or(0);
    let moved_bytes = if stays { 0 } else { bytes(from).saturating_add(bytes(to)) };
    Some(LayoutChange { instruction, from, to, moved_bytes })
}

/// Whether two arrays are laid out by the same rule, whatever their memory spaces.
fn is_same_format(from: &ArrayShape, to: &ArrayShape) -> bool {
    from.layout().tiles() == to.layout().tiles() && from.layout().minor_to_major() == to.layout().minor_to_major()
}

/// The arrays of a shape, in the order in which they are written.
fn arrays(shape: &Shape) -> impl Iterator<Item = &ArrayShape> {
    let mut stack = vec![core::slice::from_ref(shape).iter()];
    core::iter::from_fn(move || {
        loop {
            let Some(shape) = stack.last_mut()?.next() else {
                stack.pop();
                continue;
            };
            match shape {
                Shape::Array(array) | Shape::Buffer(array) => return Some(array),
                Shape::Tuple(elements) => stack.push(elements.iter()),
                Shape::Token | Shape::Opaque => {}
            }
        }
    })
}

/// The computations that run one after the other, called ones first. Calls in a circle, which XLA does not have, are
/// not followed.
fn sequential<'m, 'a>(module: &'m Module<'a>) -> Vec<Computation<'m, 'a>> {
    let mut seen = vec![false; module.computations().len()];
    let mut order = Vec::new();
    let mut visit = |computation: Computation<'_, '_>| {
        seen.get_mut(computation.number() as usize).is_some_and(|seen| !core::mem::replace(seen, true))
    };
    // A stack of its own: a chain of calls may be long.
    let mut stack = Vec::new();
    let starts = module.computations().filter(|computation| runs(*computation));
    for start in starts {
        if visit(start) {
            stack.push((start, calls::callees(start)));
        }
        while let Some((computation, callees)) = stack.last_mut() {
            match callees.pop() {
                Some(callee) if visit(callee) => stack.push((callee, calls::callees(callee))),
                Some(_) => {}
                None => {
                    order.push(*computation);
                    stack.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::Footprint;

    #[test]
    fn only_the_largest_piece_of_a_split_counts() {
        let split = "f32[64,128]{1,0:T(8,128)SC(1:32)}".parse().unwrap();
        let footprint = Footprint::of(&split).unwrap();
        assert_eq!((footprint.data_bytes, footprint.padding_bytes()), (64 * 96 * 4, 64 * 32 * 4));
    }
}
