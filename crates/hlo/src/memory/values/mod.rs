//! The values of a program, and which of them share a buffer: XLA's dataflow analysis (`HloDataflowAnalysis` in
//! `xla/hlo/analysis/hlo_dataflow_analysis.cc`) and alias analysis (`HloAliasAnalysis` in `xla/hlo/analysis/hlo_alias_analysis.cc`).
//!
//! - A *subshape* is a part of an instruction's shape: each array, and each tuple, which is an index table of addresses. XLA names
//!   it by the instruction and a `ShapeIndex` (`HloPosition`); here all subshapes have consecutive numbers.
//! - A *value* (`HloValue`) is defined at one subshape. Other subshapes only forward it: bitcasts, tuples and their elements.
//! - A *phi* is a value that merges several: the state of a loop, the result of a conditional.
//! - A *buffer* (`HloBuffer`) is a set of values that must have one address: the state of a loop, a value and its in-place update,
//!   a donated parameter and the result.

mod dataflow;

use crate::schema::Key;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use xla_shape_core::Shape;

/// A value: what one subshape defines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'m> {
    /// The number of the instruction that defines it; of a phi, the loop, call or parameter.
    pub(super) instruction: u32,
    /// Which array of the instruction's shape it is; `None` for a tuple.
    pub(super) leaf: Option<usize>,
    pub(super) shape: &'m Shape,
    /// Whether it is a phi, such as the state of a loop, which merges the initial state and that of the next iteration.
    pub(super) is_phi: bool,
    /// Whether it needs no memory: a token, for example, or a parameter without a caller.
    pub(super) is_unallocated: bool,
}

/// The values of a module.
#[derive(Clone, Debug)]
pub(super) struct Values<'m> {
    /// The first subshape of each instruction; the last entry is the number of subshapes.
    starts: Vec<usize>,
    /// The value at each subshape.
    value_of: Vec<u32>,
    values: Vec<Value<'m>>,
    /// For each value, the value that it equals: a phi that merges only one other value equals that value.
    canonical: Sets,
    /// The buffer of each value.
    buffers: Sets,
    /// The operands of `ConcatBitcast` custom calls, each with the number of the call. They are adjacent parts of the call's result.
    concat_operands: Vec<(u32, u32)>,
    /// The values of parameters that share a buffer with a result.
    donated: BTreeSet<u32>,
}

/// Disjoint sets of numbers (union-find).
#[derive(Clone, Debug, Default)]
struct Sets(Vec<u32>);

impl Sets {
    fn find(&self, mut number: u32) -> u32 {
        while let Some(&next) = self.0.get(number as usize) {
            if next == number {
                break;
            }
            number = next;
        }
        number
    }

    /// Whether a number represents its set.
    fn is_root(&self, number: u32) -> bool {
        self.0.get(number as usize) == Some(&number)
    }

    /// Merges the set of `of` into the set of `into`, whose representative stays.
    fn join(&mut self, of: u32, into: u32) {
        let (of, into) = (self.root(of), self.root(into));
        if let Some(place) = self.0.get_mut(of as usize) {
            *place = into;
        }
    }

    /// [`find`](Self::find) with path compression.
    fn root(&mut self, of: u32) -> u32 {
        let root = self.find(of);
        let mut at = of;
        while let Some(place) = self.0.get_mut(at as usize) {
            if *place == root {
                break;
            }
            at = core::mem::replace(place, root);
        }
        root
    }

    /// Compresses all paths.
    fn compress(&mut self) {
        for number in 0..self.0.len() {
            self.root(u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
}

/// A cache, by tuple: the offset of each element among the tuple's subshapes and, last, the number of subshapes.
#[derive(Default)]
pub(super) struct SubshapeOffsets(BTreeMap<*const Shape, Vec<usize>>);

impl SubshapeOffsets {
    fn starts(&mut self, elements: &[Shape]) -> &[usize] {
        self.0.entry(elements.as_ptr()).or_insert_with(|| {
            let mut start = 1_usize;
            let ends = elements.iter().map(|element| {
                start += element.subshape_count();
                start
            });
            core::iter::once(1).chain(ends).collect()
        })
    }

    /// The number of subshapes of a shape.
    fn count(&mut self, shape: &Shape) -> usize {
        match shape.tuple_shapes() {
            Some([]) | None => 1,
            Some(elements) => self.starts(elements).last().copied().unwrap_or(1),
        }
    }

    /// The offset of the part of a shape with this shape index, and the number of its subshapes.
    fn part(&mut self, mut shape: &Shape, index: &[usize]) -> Option<(usize, usize)> {
        let mut first = 0_usize;
        for &element in index {
            let elements = shape.tuple_shapes()?;
            shape = elements.get(element)?;
            first += self.starts(elements).get(element).copied()?;
        }
        Some((first, self.count(shape)))
    }
}

/// Consecutive subshapes: the first, and how many.
type Subshapes = (usize, usize);

impl<'m> Values<'m> {
    pub(super) fn values(&self) -> &[Value<'m>] {
        &self.values
    }

    /// Whether a value does not equal another one.
    pub(super) fn is_canonical(&self, value: u32) -> bool {
        self.canonical.is_root(value)
    }

    /// The number of the value's buffer.
    pub(super) fn buffer(&self, value: u32) -> u32 {
        self.buffers.find(self.canonical.find(value))
    }

    /// The values at the subshapes of an instruction.
    pub(super) fn at(&self, instruction: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let (start, length) = self.subshapes_of(instruction);
        let subshapes = self.value_of.get(start..start + length).unwrap_or(&[]);
        subshapes.iter().map(|&value| self.canonical.find(value))
    }

    /// Whether this value of a parameter shares a buffer with a result of the program.
    pub(super) fn is_donated(&self, value: u32) -> bool {
        self.donated.contains(&value)
    }

    /// Whether a value is a parameter of the program that is not donated. The program must not overwrite such a value, so the compiler inserts a copy
    /// (`xla/service/copy_insertion.cc`).
    fn is_read_only(&self, module: &Module, value: u32) -> bool {
        let definition = self.values.get(value as usize).and_then(|value| module.instruction_at(value.instruction));
        definition
            .is_some_and(|found| found.opcode() == Opcode::Parameter && super::is_entry_point(found.computation()))
            && !self.is_donated(value)
    }

    /// The operands of every `ConcatBitcast`, each with the instruction whose result contains it.
    pub(super) fn concat_operands(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.concat_operands.iter().map(|&(value, instruction)| (self.canonical.find(value), instruction))
    }

    fn subshapes_of(&self, instruction: u32) -> Subshapes {
        let at = instruction as usize;
        let start = self.starts.get(at).copied().unwrap_or(0);
        let end = self.starts.get(at + 1).copied().unwrap_or(start);
        (start, end.saturating_sub(start))
    }
}

/// The subshapes of a shape in pre-order: the whole shape first.
pub(crate) fn parts(shape: &Shape) -> impl Iterator<Item = &Shape> {
    let mut whole = Some(shape);
    // For each tuple around the next part, its elements that are still to come.
    let mut open: Vec<core::slice::Iter<'_, Shape>> = Vec::new();
    core::iter::from_fn(move || {
        let next = match whole.take() {
            Some(shape) => shape,
            None => loop {
                match open.last_mut()?.next() {
                    Some(shape) => break shape,
                    None => {
                        open.pop();
                    }
                }
            },
        };
        if let Some(elements) = next.tuple_shapes() {
            open.push(elements.iter());
        }
        Some(next)
    })
}

/// The body of a loop.
pub(super) fn body<'m>(instruction: Instruction<'m>) -> Option<Computation<'m>> {
    instruction.callee(Key::Body)
}
