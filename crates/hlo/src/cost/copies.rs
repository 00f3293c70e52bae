//! The instructions that only move data, or compute more than they must, and who asked for the layouts on both sides.

use super::products::product;
use super::repeats::{Repetition, Selection};
use super::totals::{Costs, InstructionCost};

use crate::schema::{Family, Key};
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::ops::ControlFlow;
use xla_shape_core::compare::LayoutEqual;
use xla_shape_core::{ArrayShape, ElementClass, ElementType};

/// An instruction that only moves data: a copy, a transpose, a reshape that changes positions, a convert that changes the layout and
/// leaves the bits of each element as they are, or a fusion of these alone. This is also an instruction that computes more than it must:
///
/// - a broadcast that repeats elements, if only products read the result;
/// - an elementwise computation, if only gathers read the result, and they read at most half of it;
/// - a fusion for a TPU that computes a matrix product element by element.
#[derive(Clone, Debug)]
pub struct Copy<'m> {
    /// The instruction, and what it costs.
    pub cost: InstructionCost<'m>,
    /// The array that it reads.
    pub from: &'m ArrayShape,
    /// The array that it writes.
    pub to: &'m ArrayShape,
    /// What differs between the two arrays.
    pub change: Change,
    /// What fixed the layout that is read.
    pub producer: Fixed<'m>,
    /// What fixed the layout that is written.
    pub consumer: Fixed<'m>,
    /// For a copy of a parameter: the first other instruction found that reads or returns the parameter in its present layout. If the parameter had
    /// another layout, that instruction might need a copy.
    pub also: Option<Fixed<'m>>,
    /// The parameter, with its number, whose donation would make the copy unnecessary: the program updates the parameter's array and returns
    /// it as a result, and nothing reads the old value after an update. `None` if that is not certain.
    pub donatable: Option<(Instruction<'m>, usize)>,
}

/// What a copy changes.
///
/// ```
/// use xla_shape_hlo::cost::Change;
///
/// let module = xla_shape_hlo::Module::parse("\
/// HloModule m
/// ENTRY e { a = f32[8,128]{1,0:T(8,128)} parameter(0)
///   b = f32[8,128]{1,0:T(8,128)S(1)} copy(a)
///   ROOT c = f32[8,128]{0,1:T(8,128)} copy(b) }")?;
/// let changes: Vec<_> = module.costs()?.copies().iter().map(|copy| copy.change).collect();
/// assert_eq!(changes, [Change::MemorySpace, Change::Layout]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Change {
    /// The order of dimensions or the tiles.
    Layout,
    /// The memory space alone.
    MemorySpace,
    /// Neither layout nor memory space: the copy makes a second buffer with the same contents, so that one of the two can be overwritten.
    Nothing,
    /// How often each element is repeated. Only products read the result, and each could read the smaller array instead; the
    /// [`consumer`](Copy::consumer) is the first of them.
    Repetition {
        /// How many times each element is in the result.
        times: u64,
    },
    /// The value of each element. Only gathers read the result, and each could read the operand of the computation instead; the
    /// [`consumer`](Copy::consumer) is the first of them.
    Values {
        /// How many elements are computed.
        computed: u64,
        /// How many are read.
        gathered: u64,
    },
    /// Nothing is copied: a fusion computes a matrix product element by element. [`consumer`](Copy::consumer) is the fusion itself, and
    /// [`from`](Copy::from) is the larger of the two arrays that it multiplies.
    Product {
        /// How often each element of that array is multiplied.
        times: u64,
    },
}

impl Change {
    /// Whether the change is a copy in the strict sense: the same elements are written again, in the same or another layout. Prefetches, repetitions,
    /// changes of values and products are not.
    ///
    /// ```
    /// use xla_shape_hlo::cost::Change;
    ///
    /// assert!(Change::Layout.is_copy() && Change::Nothing.is_copy());
    /// assert!(!Change::MemorySpace.is_copy() && !Change::Repetition { times: 8 }.is_copy());
    /// ```
    #[must_use]
    pub const fn is_copy(self) -> bool {
        matches!(self, Self::Layout | Self::Nothing)
    }
}

/// What fixed the layout of a value.
///
/// ```
/// use xla_shape_hlo::cost::Fixed;
///
/// let module = xla_shape_hlo::Module::parse("\
/// HloModule m
/// ENTRY e { a = f32[8,128]{1,0} parameter(0)
///   ROOT b = f32[8,128]{0,1} copy(a) }")?;
/// let copy = &module.costs()?.copies()[0];
/// assert!(matches!(copy.producer, Fixed::Parameter { number: 0, .. }), "another layout of parameter 0 …");
/// assert!(matches!(copy.consumer, Fixed::Result { .. }), "… or of the result makes the copy unnecessary");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub enum Fixed<'m> {
    /// The layout of a parameter of the program.
    Parameter {
        /// The parameter.
        instruction: Instruction<'m>,
        /// Its number.
        number: usize,
        /// The position of the array in a tuple; empty for a parameter that is an array.
        index: Vec<usize>,
    },
    /// The layout of a result of the program.
    Result {
        /// The position of the array in the result tuple; empty for a result that is an array.
        index: Vec<usize>,
    },
    /// The state of a loop, which has one layout in all iterations.
    Loop(Instruction<'m>),
    /// An argument or the result of a computation that a call, a conditional or an asynchronous operation runs.
    Caller(Instruction<'m>),
    /// A custom call, whose operands and results have the layouts that its author asked for.
    CustomCall(Instruction<'m>),
    /// A matrix product or convolution, which works on certain layouts only.
    Product(Instruction<'m>),
    /// A collective.
    Collective(Instruction<'m>),
    /// Another instruction.
    Other(Instruction<'m>),
    /// Nothing that is known fixes the layout; for example, the value has no readers.
    Unknown,
}

impl Copy<'_> {
    /// Whether it is a fusion that contains only copies, so the dimensions stay the same.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// f { p = f32[8,8]{1,0} parameter(0)
    ///   ROOT c = f32[8,8]{0,1} copy(p) }
    /// ENTRY main { a = f32[8,8]{1,0} parameter(0)
    ///   ROOT b = f32[8,8]{0,1} fusion(a), kind=kLoop, calls=f }")?;
    /// assert!(module.costs()?.copies()[0].is_fused_copy());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_fused_copy(&self) -> bool {
        is_fused_copy(self.cost.instruction)
    }
}

impl Fixed<'_> {
    /// A rank by how much choice of layout the instruction leaves: the lowest number leaves the least choice.
    const fn rank(&self) -> u8 {
        match self {
            Self::Parameter { .. } | Self::Result { .. } => 0,
            Self::CustomCall(_) => 1,
            Self::Product(_) => 2,
            Self::Collective(_) => 3,
            Self::Loop(_) | Self::Caller(_) => 4,
            Self::Other(_) => 5,
            Self::Unknown => 6,
        }
    }
}

impl<'m> Costs<'m> {
    /// The instructions that run and only move data, or compute more than they must, in the order of the text.
    ///
    /// ```
    /// use xla_shape_hlo::cost::{Change, Fixed};
    ///
    /// let module = xla_shape_hlo::Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a)
    /// }")?;
    /// let copies = module.costs()?.copies();
    /// assert_eq!(copies[0].change, Change::Layout);
    /// assert!(matches!(copies[0].producer, Fixed::Parameter { number: 0, .. }));
    /// assert!(matches!(copies[0].consumer, Fixed::Result { .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn copies(&self) -> Vec<Copy<'m>> {
        let Some(first) = self.instructions().first() else { return Vec::new() };
        let search = Search::new(first.instruction.module());
        self.instructions().iter().filter_map(|cost| search.copy(cost)).collect()
    }
}

/// Who reads the arrays of a module, prepared for lookups.
pub(super) struct Search<'m> {
    /// For a tuple and the position of an array in it, the instructions that take the array out.
    elements: BTreeMap<(u32, usize), Vec<Instruction<'m>>>,
    /// The readers of each instruction's value, except those that take arrays out of a tuple.
    readers: BTreeMap<u32, Vec<Instruction<'m>>>,
    /// For a tuple and one of its operands, the first position of the operand.
    positions: BTreeMap<(u32, u32), usize>,
    /// The bodies and conditions of loops.
    loops: BTreeSet<u32>,
}

impl<'m> Search<'m> {
    fn new(module: &'m Module) -> Self {
        let (mut elements, mut readers) = (BTreeMap::<_, Vec<_>>::new(), BTreeMap::<_, Vec<_>>::new());
        let (mut positions, mut loops) = (BTreeMap::new(), BTreeSet::new());
        for reader in module.instructions() {
            if reader.opcode() == Opcode::While {
                let called = [Key::Body, Key::Condition].into_iter().filter_map(|key| reader.callee(key));
                loops.extend(called.map(|called| called.number()));
            }
            for (position, operand) in reader.operands().enumerate() {
                let Some(value) = operand.instruction().map(Instruction::number) else { continue };
                let element = reader.value_of(Key::Index).and_then(|element| element.number().ok());
                match (reader.opcode(), element) {
                    (Opcode::GetTupleElement, Some(element)) => {
                        elements.entry((value, element)).or_default().push(reader)
                    }
                    // If a tuple has a value twice, the value's first position counts.
                    (Opcode::Tuple, _) if positions.contains_key(&(reader.number(), value)) => {}
                    (opcode, _) => {
                        if opcode == Opcode::Tuple {
                            positions.insert((reader.number(), value), position);
                        }
                        let all: &mut Vec<_> = readers.entry(value).or_default();
                        if all.last() != Some(&reader) {
                            all.push(reader);
                        }
                    }
                }
            }
        }
        Self { elements, readers, positions, loops }
    }

    fn copy(&self, cost: &InstructionCost<'m>) -> Option<Copy<'m>> {
        let instruction = cost.instruction;
        let larger = match self.repetition(instruction) {
            Some(Repetition { source, times, product }) => {
                Some((source, Change::Repetition { times }, Fixed::Product(product)))
            }
            None => match self.selection(instruction) {
                Some(Selection { source, computed, gathered, gather }) => {
                    Some((source, Change::Values { computed, gathered }, Fixed::Other(gather)))
                }
                None => product(instruction).map(|Repetition { source, times, product }| {
                    (source, Change::Product { times }, Fixed::Product(product))
                }),
            },
        };
        if let Some((source, change, consumer)) = larger {
            let (from, to) = (source.shape().array()?, instruction.shape().arrays().next()?);
            let producer = self.producer(source);
            return Some(Copy {
                cost: cost.clone(),
                from,
                to,
                change,
                producer,
                consumer,
                also: None,
                donatable: None,
            });
        }
        let source = moved(instruction)?;
        let from = source.shape().array()?;
        let to = instruction.shape().arrays().next()?;
        let is_copy = matches!(instruction.opcode(), Opcode::Copy | Opcode::CopyStart | Opcode::Convert)
            || is_fused_copy(instruction);
        let change = match is_copy {
            true if from.layout() == to.layout() => Change::Nothing,
            true if LayoutEqual::new().ignore_memory_space().compare(from.layout(), to.layout()) => Change::MemorySpace,
            _ => Change::Layout,
        };
        let (producer, consumer) = (self.producer(source), self.consumer(instruction));
        let also = if change == Change::Layout { self.also(&producer, instruction) } else { None };
        let moves = change == Change::MemorySpace;
        let donatable = if change == Change::Layout { None } else { self.donatable(instruction, moves) };
        Some(Copy { cost: cost.clone(), from, to, change, producer, consumer, also, donatable })
    }

    /// The instructions that take the array at this position out of a tuple.
    pub(super) fn elements_of(&self, tuple: Instruction<'m>, position: usize) -> &[Instruction<'m>] {
        self.elements.get(&(tuple.number(), position)).map(Vec::as_slice).unwrap_or_default()
    }

    /// The instructions that take any array out of a tuple.
    pub(super) fn all_elements_of(&self, tuple: Instruction<'m>) -> impl Iterator<Item = &Instruction<'m>> {
        self.elements.range((tuple.number(), 0)..=(tuple.number(), usize::MAX)).flat_map(|(_, readers)| readers)
    }

    /// The readers of a value, except those that take an array out of a tuple.
    pub(super) fn readers_of(&self, value: Instruction<'m>) -> &[Instruction<'m>] {
        self.readers.get(&value.number()).map(Vec::as_slice).unwrap_or_default()
    }

    /// What fixes the layout of a parameter or result of a computation other than the entry: a loop, or the instruction
    /// that calls the computation.
    fn outside(&self, instruction: Instruction<'m>) -> Fixed<'m> {
        match self.loops.contains(&instruction.computation().number()) {
            true => Fixed::Loop(instruction),
            false => Fixed::Caller(instruction),
        }
    }
}

/// Whether an instruction is a fusion that only copies its operand.
fn is_fused_copy(instruction: Instruction<'_>) -> bool {
    let copies = |fused: Computation<'_>| {
        fused.instructions().all(|inside| match inside.opcode() {
            Opcode::Parameter | Opcode::Copy => true,
            Opcode::Convert => keeps_bits(inside),
            _ => false,
        })
    };
    instruction.opcode() == Opcode::Fusion && instruction.callee(Key::Calls).is_some_and(copies)
}

/// The operand of an instruction that only moves it; `None` for other instructions.
pub(super) fn moved<'m>(instruction: Instruction<'m>) -> Option<Instruction<'m>> {
    let source = instruction.operand(0)?.instruction()?;
    let array = || Some((source.shape().array()?, instruction.shape().array()?));
    let moves = match instruction.opcode() {
        Opcode::Copy | Opcode::CopyStart => true,
        Opcode::Transpose => {
            let permutation = instruction.value_of(Key::Dimensions)?.numbers().ok()?;
            let (from, to) = array()?;
            !from.transpose_is_bitcast(to, &permutation).is_ok_and(|answer| answer.is_yes())
        }
        Opcode::Reshape => {
            let is_free = |(from, to): (&ArrayShape, &ArrayShape)| {
                from.reshape_is_bitcast(to).is_ok_and(|answer| answer.is_yes())
            };
            array().is_some_and(|shapes| !is_free(shapes))
        }
        Opcode::Convert => keeps_bits(instruction) && !has_same_layout(instruction),
        Opcode::Fusion => instruction.operands().len() == 1 && instruction.callee(Key::Calls).is_some_and(only_moves),
        _ => false,
    };
    moves.then_some(source)
}

/// Whether a `convert` leaves the bits of each element as they are: between equal types, or between integers of one width.
fn keeps_bits(convert: Instruction<'_>) -> bool {
    let types = || {
        let from = convert.operand(0)?.shape()?.array()?.element_type();
        Some((from, convert.shape().array()?.element_type()))
    };
    let is_integer =
        |found: ElementType| matches!(found.class(), ElementClass::SignedInteger | ElementClass::UnsignedInteger);
    types().is_some_and(|(from, to)| from == to || (is_integer(from) && is_integer(to) && from.bits() == to.bits()))
}

/// Whether an instruction's array has the same layout as its operand, memory space included.
fn has_same_layout(instruction: Instruction<'_>) -> bool {
    let from = instruction.operand(0).and_then(|operand| operand.shape()?.array());
    let to = instruction.shape().array();
    from.zip(to).is_some_and(|(from, to)| from.layout() == to.layout())
}

/// Whether a computation does nothing but return its parameter in another shape or layout.
fn only_moves(computation: Computation<'_>) -> bool {
    let moves = |inside: Instruction<'_>| match inside.opcode() {
        Opcode::Copy | Opcode::Transpose | Opcode::Reshape => true,
        Opcode::Convert => keeps_bits(inside) && !has_same_layout(inside),
        _ => false,
    };
    let keeps = |inside: Instruction<'_>| match inside.opcode() {
        Opcode::Parameter | Opcode::Bitcast => true,
        Opcode::Convert => keeps_bits(inside),
        _ => false,
    };
    computation.instructions().any(moves) && computation.instructions().all(|inside| moves(inside) || keeps(inside))
}

/// The limit on instructions that are followed to find what fixed a layout. If none of them shows that, the answer is [`Fixed::Unknown`].
const LONGEST_CHAIN: usize = 64;

/// The limit on readers of one value; further readers are ignored.
const MOST_READERS: usize = 1000;

/// Whether an instruction passes an array on with its layout unchanged.
fn hands_on(instruction: Instruction<'_>) -> bool {
    use Opcode as O;
    match instruction.opcode() {
        O::Bitcast | O::CopyStart | O::CopyDone | O::OptBarrier | O::AddDependency => true,
        O::Copy => keeps_layout(instruction).unwrap_or(false),
        _ => false,
    }
}

/// Whether a copy has the same layout as its operand, apart from the memory space.
fn keeps_layout(copy: Instruction<'_>) -> Option<bool> {
    let (from, to) = (copy.operand(0)?.shape()?.array()?, copy.shape().array()?);
    Some(LayoutEqual::new().ignore_memory_space().compare(from.layout(), to.layout()))
}

impl<'m> Search<'m> {
    /// What fixed the layout of an instruction's value, found by following the value back to where it is made.
    fn producer(&self, mut instruction: Instruction<'m>) -> Fixed<'m> {
        // The element of each tuple that the value was taken from, the innermost last.
        let mut index: Vec<usize> = Vec::new();
        for _ in 0..LONGEST_CHAIN {
            let opcode = instruction.opcode();
            match opcode {
                Opcode::Parameter if instruction.computation().is_entry() => {
                    index.reverse();
                    let Some(number) = instruction.parameter_number() else { return Fixed::Unknown };
                    return Fixed::Parameter { instruction, number, index };
                }
                Opcode::Parameter => return self.outside(instruction),
                Opcode::While => return Fixed::Loop(instruction),
                Opcode::GetTupleElement => {
                    index.extend(instruction.value_of(Key::Index).and_then(|index| index.number().ok()));
                }
                Opcode::Tuple => {
                    let element = index.pop().and_then(|element| instruction.operand(element)?.instruction());
                    let Some(element) = element else { return Fixed::Unknown };
                    instruction = element;
                    continue;
                }
                _ if hands_on(instruction) => {}
                _ => return fixed_by(instruction),
            }
            let Some(operand) = instruction.operand(0).and_then(|operand| operand.instruction()) else {
                return Fixed::Unknown;
            };
            instruction = operand;
        }
        Fixed::Unknown
    }

    /// What fixed the layout of an instruction's value, found by following the value to its readers. If there are several, the one that leaves
    /// the least choice counts.
    fn consumer(&self, instruction: Instruction<'m>) -> Fixed<'m> {
        let mut found = Fixed::Unknown;
        let _ = self.uses((instruction, Vec::new()), None, &mut |fixed| {
            if fixed.rank() < found.rank() {
                found = fixed;
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// The first use, other than this copy, of the parameter that the copy reads, in the parameter's present layout.
    fn also(&self, producer: &Fixed<'m>, copy: Instruction<'m>) -> Option<Fixed<'m>> {
        let Fixed::Parameter { instruction, index, .. } = producer else { return None };
        let mut found = None;
        let _ = self.uses((*instruction, index.clone()), Some(copy), &mut |fixed| {
            // Another copy does not need the layout either.
            if matches!(fixed, Fixed::Other(reader) if moved(reader).is_some()) {
                return ControlFlow::Continue(());
            }
            found = Some(fixed);
            ControlFlow::Break(())
        });
        found
    }

    /// Calls `found` for each use of an array, with what fixes the layout there; the use `without` is skipped. `array` is an instruction and
    /// the index of the array in its value.
    fn uses(
        &self,
        array: (Instruction<'m>, Vec<usize>),
        without: Option<Instruction<'m>>,
        found: &mut dyn FnMut(Fixed<'m>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        // The values that have the same array, with the position of the array in each.
        let mut open = alloc::vec![array];
        for _ in 0..LONGEST_CHAIN {
            let Some((value, index)) = open.pop() else { break };
            if value.is_root() {
                found(match value.computation().is_entry() {
                    true => Fixed::Result { index: index.clone() },
                    false => self.outside(value),
                })?;
            }
            if let Some((first, rest)) = index.split_first() {
                let elements = self.elements_of(value, *first);
                open.extend(elements.iter().take(MOST_READERS).map(|reader| (*reader, rest.to_vec())));
            }
            for &reader in self.readers_of(value).iter().take(MOST_READERS).filter(|reader| Some(**reader) != without) {
                match (reader.opcode(), self.positions.get(&(reader.number(), value.number()))) {
                    (Opcode::Tuple, Some(&position)) => {
                        let index = core::iter::once(position).chain(index.iter().copied());
                        open.push((reader, index.collect()));
                    }
                    _ if hands_on(reader) => open.push((reader, index.clone())),
                    (Opcode::While, _) => found(Fixed::Loop(reader))?,
                    _ => found(fixed_by(reader))?,
                }
            }
        }
        ControlFlow::Continue(())
    }
}

/// How an instruction that makes or reads an array fixes its layout.
fn fixed_by<'m>(instruction: Instruction<'m>) -> Fixed<'m> {
    let family = instruction.opcode().family();
    let has_product = || {
        let computation = instruction.callee(Key::Calls);
        computation.is_some_and(|fused| fused.instructions().any(|inside| inside.opcode().family() == Family::Product))
    };
    match (instruction.opcode(), family) {
        (Opcode::CustomCall, _) => Fixed::CustomCall(instruction),
        (_, Family::Product) => Fixed::Product(instruction),
        (Opcode::Fusion, _) if has_product() => Fixed::Product(instruction),
        (_, Family::Collective) => Fixed::Collective(instruction),
        (Opcode::AllGatherStart | Opcode::AllReduceStart | Opcode::CollectivePermuteStart, _) => {
            Fixed::Collective(instruction)
        }
        _ => Fixed::Other(instruction),
    }
}

#[cfg(test)]
mod tests {
    use super::{Change, Fixed};
    use crate::Module;
    use alloc::vec;

    #[test]
    fn copies_know_who_asked() {
        let text = "HloModule m, is_scheduled=true
moves {
  p = f32[8,128]{1,0} parameter(0)
  b = f32[8,128]{1,0} bitcast(p)
  ROOT c = f32[8,128]{0,1} copy(b)
}
ENTRY e {
  a = (f32[8,128]{1,0}, f32[128,8]{1,0}) parameter(0)
  x = f32[8,128]{1,0} get-tuple-element(a), index=0
  y = f32[128,8]{1,0} get-tuple-element(a), index=1
  m = f32[8,128]{0,1} fusion(x), kind=kLoop, calls=moves
  k = f32[8,128]{0,1} custom-call(m), custom_call_target=\"tpu_custom_call\"
  back = f32[8,128]{1,0} copy(k)
  fast = f32[128,8]{1,0:S(1)} copy(y)
  d = f32[8,8]{1,0} dot(back, fast), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  same = f32[8,8]{1,0} copy(d)
  ROOT t = (f32[8,128]{1,0}, f32[8,8]{1,0}) tuple(back, same)
}
";
        let module = Module::parse(text).unwrap();
        let costs = module.costs().unwrap();
        let copies = costs.copies();
        let names: vec::Vec<_> = copies.iter().map(|copy| (copy.cost.instruction.name(), copy.change)).collect();
        let expected =
            [("m", Change::Layout), ("back", Change::Layout), ("fast", Change::MemorySpace), ("same", Change::Nothing)];
        assert_eq!(names, expected);
        let [m, back, fast, same] = &copies[..] else { panic!("four copies") };
        assert!(matches!(&m.producer, Fixed::Parameter { number: 0, index, .. } if *index == [0]));
        assert!(matches!(&m.consumer, Fixed::CustomCall(call) if call.name() == "k"));
        assert!(matches!(&back.producer, Fixed::CustomCall(call) if call.name() == "k"));
        assert!(matches!(&back.consumer, Fixed::Result { index } if *index == [0]));
        assert!(matches!(&fast.consumer, Fixed::Product(dot) if dot.name() == "d"));
        assert!(matches!(&same.producer, Fixed::Product(dot) if dot.name() == "d"));
        assert!(matches!(&same.consumer, Fixed::Result { index } if *index == [1]));
    }

    #[test]
    fn converts_that_keep_the_bits_are_copies() {
        let changes = |from: &str, to: &str| {
            let text = alloc::format!("HloModule m\nENTRY e {{ a = {from} parameter(0)\n  ROOT c = {to} convert(a) }}");
            let module = Module::parse(&text).unwrap();
            let costs = module.costs().unwrap();
            costs.copies().iter().map(|copy| copy.change).collect::<vec::Vec<_>>()
        };
        assert_eq!(changes("f32[8,128]{1,0}", "f32[8,128]{0,1}"), [Change::Layout]);
        assert_eq!(changes("u32[8,128]{1,0}", "s32[8,128]{0,1}"), [Change::Layout]);
        assert_eq!(changes("f32[8,128]{1,0}", "f32[8,128]{1,0:S(1)}"), [Change::MemorySpace]);
        // These conversions compute new values, or change nothing.
        assert_eq!(changes("f32[8,128]{1,0}", "bf16[8,128]{0,1}"), []);
        assert_eq!(changes("f32[8,128]{1,0}", "s32[8,128]{0,1}"), []);
        assert_eq!(changes("pred[8,128]{1,0}", "u8[8,128]{0,1}"), []);
        assert_eq!(changes("f32[8,128]{1,0}", "f32[8,128]{1,0}"), []);
        let fused = "HloModule m
f { p = s32[8,128]{1,0} parameter(0)
  c = u32[8,128]{1,0} convert(p)
  ROOT d = u32[8,128]{0,1} copy(c) }
ENTRY e { a = s32[8,128]{1,0} parameter(0)
  ROOT m = u32[8,128]{0,1} fusion(a), kind=kLoop, calls=f }
";
        let module = Module::parse(fused).unwrap();
        let costs = module.costs().unwrap();
        assert!(matches!(&costs.copies()[..], [copy] if copy.change == Change::Layout && copy.is_fused_copy()));
    }
}
