//! The memory of a module's values: bytes, padding, tile formats, layout changes, live ranges and peaks.

mod buffers;
mod calls;
mod heap;
mod live;
mod schedule;
mod sharing;
mod totals;
mod values;

// After `live`, so that documentation shows the methods of `Timeline` in this order.
mod exact;

mod collectives;

#[cfg(feature = "cost")]
pub(crate) use calls::{CallOrder, called, called_in_order};

pub use collectives::{Collective, CollectivePiece};
#[cfg(feature = "proto")]
pub(crate) use exact::written_index;
pub use live::{Lifetime, LiveValue, Peak, Timeline};
pub(crate) use values::parts;

use buffers::HloBuffer;
use schedule::Schedule;
use values::Values;
use xla_shape_core::sorting::sort_by_key;

use crate::module::{Computation, Instruction, Module};
use crate::schema::Key;
use crate::schema::opcode::Opcode;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::fmt::Write;
use xla_shape_core::bitcast::Answer;
use xla_shape_core::tpu::Generation;
use xla_shape_core::{ArrayShape, Shape};

/// The bytes that an array takes in memory, and how many of them hold elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Footprint {
    /// All bytes, including padding.
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
    /// let footprint = Footprint::new(&array).unwrap();
    /// assert_eq!((footprint.bytes, footprint.padding_bytes()), (2048, 1248));
    /// assert_eq!(footprint.expansion(), Some(2.56));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn new(array: &ArrayShape) -> Option<Self> {
        Some(Self { bytes: array.byte_size()?, data_bytes: array.unpadded_byte_size()? })
    }

    /// The bytes of padding.
    #[must_use]
    pub const fn padding_bytes(self) -> u64 {
        self.bytes.saturating_sub(self.data_bytes)
    }

    /// All bytes divided by the bytes of the elements; `None` if there are no elements.
    #[must_use]
    pub fn expansion(self) -> Option<f64> {
        (self.data_bytes > 0).then(|| self.bytes as f64 / self.data_bytes as f64)
    }

    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.data_bytes = self.data_bytes.saturating_add(other.data_bytes);
    }
}

/// An array with a buffer of its own: a parameter of the program, or an array that an instruction defines.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'m> {
    /// The instruction that defines it.
    pub instruction: Instruction<'m>,
    /// Which array of the instruction's shape it is, from 0, in the order in which the shape lists its arrays.
    pub leaf: usize,
    /// The shape of the array.
    pub array: &'m ArrayShape,
    /// Its bytes.
    pub footprint: Footprint,
}

impl Buffer<'_> {
    /// The memory space of the array.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8,128]{1,0:T(8,128)S(1)} parameter(0) }")?;
    /// assert_eq!(module.memory().buffers()[0].memory_space(), 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn memory_space(&self) -> u8 {
        self.array.layout().memory_space()
    }

    /// The element type and the tiles, such as `bf16 T(8,128)(2,1)`, or `f32` for an array without tiles.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = bf16[8,128]{1,0:T(8,128)(2,1)} parameter(0) }")?;
    /// assert_eq!(module.memory().buffers()[0].tile_format(), "bf16 T(8,128)(2,1)");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
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

/// The arrays in one memory space, added up.
///
/// ```
/// let text = "HloModule m, is_scheduled=true
/// ENTRY e { p = f32[8,128]{1,0} parameter(0) a = f32[8,128]{1,0} negate(p) ROOT b = f32[8,128]{1,0} add(p, a) }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let hbm = module.memory().usage()[&0];
/// assert_eq!((hbm.parameters.bytes, hbm.results.bytes, hbm.values.bytes), (4096, 4096, 2 * 4096));
/// assert_eq!(hbm.num_values, 2, "a, and b, which is the result");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Usage {
    /// The parameters of the program.
    pub parameters: Footprint,
    /// Its results.
    pub results: Footprint,
    /// All arrays except parameters, so results too, added up as if each had a buffer of its own.
    pub values: Footprint,
    /// The number of arrays that are not parameters.
    pub num_values: usize,
}

/// The arrays with one tile format, added up.
///
/// ```
/// let text = "ENTRY e { p = f32[4,100]{1,0:T(8,128)} parameter(0) ROOT n = f32[4,100]{1,0:T(8,128)} negate(p) }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let format = module.memory().tile_formats()["f32 T(8,128)"];
/// assert_eq!((format.arrays, format.footprint.bytes), (2, 2 * 4096));
/// assert_eq!(format.footprint.padding_bytes(), 2 * (4096 - 1600), "more than half of the memory holds no element");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FormatUsage {
    /// The number of arrays.
    pub arrays: usize,
    /// Their bytes.
    pub footprint: Footprint,
}

/// An instruction that changes the layout of an array.
///
/// ```
/// let text = "ENTRY e { p = f32[16,8]{1,0} parameter(0) ROOT t = f32[8,16]{0,1} transpose(p), dimensions={1,0} }";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let change = module.memory().layout_changes()[0];
/// assert_eq!((change.from.to_string(), change.to.to_string()), ("f32[16,8]{1,0}".into(), "f32[8,16]{0,1}".into()));
/// assert_eq!(change.moved_bytes, 0, "the transpose is a bitcast");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LayoutChange<'m> {
    /// The copy, transpose, reshape or bitcast.
    pub instruction: Instruction<'m>,
    /// The array before.
    pub from: &'m ArrayShape,
    /// The array after.
    pub to: &'m ArrayShape,
    /// The bytes read plus the bytes written; 0 for a bitcast, and for a transpose that is a bitcast.
    pub moved_bytes: u64,
}

/// The memory of a module's values.
///
/// The values are those of the [entry](Module::entry) computation and of the loop bodies, calls and branches that it runs. Values
/// inside a fusion have no buffers. An instruction that forwards its operand, or a part of it, defines no new value: bitcasts, tuples
/// and their elements, loops, and the done of an asynchronous operation (`HloDataflowAnalysis` in
/// `xla/hlo/analysis/hlo_dataflow_analysis.cc`).
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
pub struct Memory<'m> {
    module: &'m Module,
    buffers: Vec<Buffer<'m>>,
    computations: Vec<Computation<'m>>,
    /// The number of the instruction of each step.
    steps: Vec<u32>,
    /// `None` if there are too many values.
    hlo_buffers: Option<Vec<HloBuffer<'m>>>,
    /// On CPUs and GPUs: for each of the `hlo_buffers`, the number of the buffer that represents its memory.
    memories: Option<Vec<u32>>,
    /// Whether every operand is defined before it is used, so that the text order can be a schedule.
    is_ordered: bool,
}

impl Module {
    /// Analyses the memory of the module's values: buffers, live ranges, and what shares an address.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) b = f32[2,4] bitcast(p) ROOT n = f32[2,4] negate(b) }")?;
    /// let memory = module.memory();
    /// let names: Vec<_> = memory.buffers().iter().map(|buffer| buffer.instruction.name()).collect();
    /// assert_eq!(names, ["p", "n"], "a bitcast has no buffer of its own");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn memory(&self) -> Memory<'_> {
        let computations = sequential(self);
        let starts = computations.iter().copied().filter(|computation| is_entry_point(*computation));
        let schedule = Schedule::new(self, starts);
        let values = Values::new(self, &computations);
        let hlo_buffers = values.as_ref().map(|values| buffers::buffers(self, &computations, values, &schedule));
        let memories = values.as_ref().zip(hlo_buffers.as_deref()).filter(|_| !self.is_for_tpu());
        let memories = memories.map(|(values, buffers)| sharing::memories(self, &computations, values, buffers));
        let buffers = hlo_buffers.iter().flatten().filter_map(|buffer| buffer.first_array(self)).collect();
        let is_ordered = self.operands_before_definition().next().is_none();
        Memory { module: self, buffers, computations, steps: schedule.steps, hlo_buffers, memories, is_ordered }
    }
}

/// Whether a computation is an entry point of the program, so that its parameters are values of their own.
pub(crate) fn is_entry_point(computation: Computation<'_>) -> bool {
    computation.module().entry().is_some_and(|entry| entry.number() == computation.number())
        || computation.is_fragment()
}

impl<'m> Memory<'m> {
    /// The arrays with buffers of their own: parameters of the program first, then in the order in which they are defined. Of several
    /// arrays that share a buffer, the list has the first.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let memory = module.memory();
    /// let bytes: Vec<_> = memory.buffers().iter().map(|buffer| buffer.footprint.bytes).collect();
    /// assert_eq!(bytes, [32, 32]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn buffers(&self) -> &[Buffer<'m>] {
        &self.buffers
    }

    /// The module whose memory this is.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert_eq!(module.memory().module().name(), Some("m"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn module(&self) -> &'m Module {
        self.module
    }

    /// The computations whose values have buffers, callees before callers.
    ///
    /// ```
    /// let text = "HloModule m\nf { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }
    /// ENTRY e { p = f32[8] parameter(0) ROOT y = f32[8] fusion(p), kind=kLoop, calls=f }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let memory = module.memory();
    /// let names: Vec<_> = memory.computations().iter().map(|computation| computation.name()).collect();
    /// assert_eq!(names, ["e"], "values inside a fusion have no buffers");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn computations(&self) -> &[Computation<'m>] {
        &self.computations
    }

    /// The same memory, with the [`buffers`](Self::buffers) of one memory space only.
    ///
    /// ```
    /// use xla_shape_core::memory_space::HOST;
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("ENTRY e { p = f32[8]{0:S(5)} parameter(0) ROOT n = f32[8]{0} negate(p) }")?;
    /// let memory = module.memory();
    /// assert_eq!((memory.buffers().len(), memory.in_space(HOST).buffers().len()), (2, 1));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn in_space(&self, space: u8) -> Self {
        let buffers = self.buffers.iter().filter(|buffer| buffer.memory_space() == space).copied().collect();
        Self { buffers, ..self.clone() }
    }

    /// Adds up the buffers of each memory space.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let hbm = module.memory().usage()[&0];
    /// assert_eq!((hbm.parameters.bytes, hbm.results.bytes, hbm.num_values), (32, 32, 1));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn usage(&self) -> BTreeMap<u8, Usage> {
        let mut spaces: BTreeMap<u8, Usage> = BTreeMap::new();
        for buffer in &self.buffers {
            let usage = spaces.entry(buffer.memory_space()).or_default();
            if buffer.instruction.opcode() == Opcode::Parameter {
                usage.parameters.add(buffer.footprint);
            } else {
                usage.values.add(buffer.footprint);
                usage.num_values += 1;
            }
        }
        let results = self.module.entry().map(|entry| entry.root().shape());
        for array in results.into_iter().flat_map(Shape::arrays) {
            if let Some(footprint) = Footprint::new(array) {
                spaces.entry(array.layout().memory_space()).or_default().results.add(footprint);
            }
        }
        spaces
    }

    /// The `count` largest arrays, the largest first.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = f32[8] parameter(0) ROOT b = f32[9,8] broadcast(p), dimensions={1} }")?;
    /// assert_eq!(module.memory().largest(1)[0].instruction.name(), "b");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn largest(&self, count: usize) -> Vec<Buffer<'m>> {
        self.first_by(count, |buffer| buffer.footprint.bytes)
    }

    /// The `count` arrays with the most bytes of padding, the most padded first.
    ///
    /// ```
    /// let text = "ENTRY e { p = f32[8,128]{1,0:T(8,128)} parameter(0) ROOT s = f32[1,1]{1,0:T(8,128)} slice(p), slice={[0:1],[0:1]} }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let worst = module.memory().most_padded(1)[0];
    /// assert_eq!((worst.instruction.name(), worst.footprint.padding_bytes()), ("s", 4092));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn most_padded(&self, count: usize) -> Vec<Buffer<'m>> {
        self.first_by(count, |buffer| buffer.footprint.padding_bytes())
    }

    fn first_by(&self, count: usize, key: impl Fn(&Buffer<'m>) -> u64) -> Vec<Buffer<'m>> {
        if count == 0 {
            return Vec::new();
        }
        let mut keys: Vec<u64> = self.buffers.iter().map(&key).collect();
        let least = match keys.len().checked_sub(count) {
            Some(place) => *keys.select_nth_unstable(place).1,
            None => 0,
        };
        // Only these are sorted. Several may have the least key, so there can be more than `count`.
        let mut buffers: Vec<_> = self.buffers.iter().filter(|buffer| key(buffer) >= least).copied().collect();
        sort_by_key(&mut buffers, |buffer| Reverse(key(buffer)));
        buffers.truncate(count);
        buffers
    }

    /// Adds up the buffers of each [tile format](Buffer::tile_format).
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("ENTRY e { p = bf16[8,128]{1,0:T(8,128)(2,1)} parameter(0) }")?;
    /// let formats = module.memory().tile_formats();
    /// assert_eq!(formats["bf16 T(8,128)(2,1)"].arrays, 1);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn tile_formats(&self) -> BTreeMap<String, FormatUsage> {
        let mut formats: BTreeMap<String, FormatUsage> = BTreeMap::new();
        for buffer in &self.buffers {
            let usage = formats.entry(buffer.tile_format()).or_default();
            usage.arrays += 1;
            usage.footprint.add(buffer.footprint);
        }
        formats
    }

    /// All transposes, and the copies, reshapes and bitcasts whose operand and result have different layouts. Layouts that differ only in the memory
    /// space count as equal.
    ///
    /// ```
    /// let text = "ENTRY e { p = f32[16,8]{1,0} parameter(0) ROOT c = f32[16,8]{0,1} copy(p) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// let change = module.memory().layout_changes()[0];
    /// assert_eq!(change.moved_bytes, 2 * 16 * 8 * 4, "it reads and writes every element");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn layout_changes(&self) -> Vec<LayoutChange<'m>> {
        let instructions = self.computations.iter().flat_map(|computation| computation.instructions());
        instructions.filter_map(layout_change).collect()
    }

    /// The program's memory step by step. `None` if the module is not scheduled, if an operand is used before its definition, or if the
    /// module has more than 16 million subshapes (arrays and tuples in the shapes of all instructions).
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert!(module.memory().timeline().is_none(), "it is not scheduled");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn timeline(&self) -> Option<Timeline<'m>> {
        self.module.is_scheduled().then(|| self.timeline_on(None)).flatten()
    }

    /// The program's memory on a device, step by step. Without a schedule, instructions are taken to run in text order. `None` if the
    /// module has no entry computation, uses an operand before its definition, or has more than 16 million subshapes.
    ///
    /// Without a device, the estimate assumes the VMEM of v5e, and can be off by some hundred bytes.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }")?;
    /// let timeline = module.memory().timeline_on(Some(Generation::V5e)).unwrap();
    /// assert_eq!(timeline.bytes()[&0].len(), 2, "a step for each instruction");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn timeline_on(&self, device: Option<Generation>) -> Option<Timeline<'m>> {
        let hlo_buffers = self.hlo_buffers.as_deref().filter(|_| self.is_ordered && !self.steps.is_empty())?;
        Some(Timeline::new(self.module, &self.steps, hlo_buffers, self.memories.as_deref(), device))
    }

    /// The peak of live bytes in each memory space; `None` if there is no [timeline](Self::timeline).
    ///
    /// ```
    /// let text = "HloModule m, is_scheduled=true\nENTRY e { p = f32[8] parameter(0) ROOT n = f32[8] negate(p) }";
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.memory().peaks().unwrap()[&0].bytes, 64);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn peaks(&self) -> Option<BTreeMap<u8, Peak<'m>>> {
        self.timeline().map(|timeline| timeline.peaks())
    }
}

fn layout_change<'m>(instruction: Instruction<'m>) -> Option<LayoutChange<'m>> {
    let (from, to) = (instruction.operand(0)?.shape()?.array()?, instruction.shape().array()?);
    // An omitted layout is the default one. If it is not known whether the instruction is a bitcast, it is taken to move data.
    let stays = match instruction.opcode() {
        Opcode::Copy => from.layout_change_is_bitcast(to),
        Opcode::Transpose => {
            let permutation = instruction.value_of(Key::Dimensions).and_then(|value| value.numbers().ok())?;
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
    #[expect(clippy::arithmetic_side_effects, reason = "the bytes of an array fit in an `i64`")]
    let moved_bytes = if stays { 0 } else { bytes(from) + bytes(to) };
    Some(LayoutChange { instruction, from, to, moved_bytes })
}

/// Whether two layouts have the same order of dimensions and the same tiles.
fn is_same_format(from: &ArrayShape, to: &ArrayShape) -> bool {
    from.layout().tiles() == to.layout().tiles() && from.layout().minor_to_major() == to.layout().minor_to_major()
}

/// The computations that run, callees before callers. Cycles, which XLA refuses, are not followed.
fn sequential<'m>(module: &'m Module) -> Vec<Computation<'m>> {
    let mut seen = vec![false; module.computations().len()];
    let mut order = Vec::new();
    let mut visit = |computation: Computation<'_>| {
        seen.get_mut(computation.number() as usize).is_some_and(|seen| !core::mem::replace(seen, true))
    };
    // An explicit stack, since a chain of calls can be long.
    let mut stack = Vec::new();
    let starts = module.computations().filter(|computation| is_entry_point(*computation));
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
    use crate::Module;
    use alloc::vec::Vec;

    #[test]
    fn the_first_arrays_of_a_ranking_are_those_of_the_whole_ranking() {
        let text =
            "ENTRY e { a = f32[8] parameter(0) b = f32[16] parameter(1) c = f32[8] negate(a) d = f32[16] negate(b)
          e = f32[8] negate(c) ROOT f = f32[4] slice(a), slice={[0:4]} }";
        let module = Module::parse(text).unwrap();
        let memory = module.memory();
        let names = |count: usize| memory.largest(count).iter().map(|one| one.instruction.name()).collect::<Vec<_>>();
        let all = ["b", "d", "a", "c", "e", "f"];
        for count in 0..=all.len() + 1 {
            assert_eq!(
                names(count),
                all[..count.min(all.len())],
                "arrays of the same size are in the order of the module"
            );
        }
    }

    #[test]
    fn only_the_largest_piece_of_a_split_counts() {
        let split = "f32[64,128]{1,0:T(8,128)SC(1:32)}".parse().unwrap();
        let footprint = Footprint::new(&split).unwrap();
        assert_eq!((footprint.data_bytes, footprint.padding_bytes()), (64 * 96 * 4, 64 * 32 * 4));
    }
}
