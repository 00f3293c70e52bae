//! Which values a program has, and which of them lie at the same place.
//!
//! XLA's dataflow and alias analyses over the computations that run one after the other: every part of an instruction's
//! value (each array, and each tuple, which is a table of addresses) is a *position*; what one makes and others only pass
//! on is one *value*; values that must have one address (the state of a loop, what is updated in place, what is donated) form
//! one *group*.

use super::calls;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::Shape;

/// How many positions are looked at: far more than programs have, but a short text can ask for any number.
const MAX_POSITIONS: usize = 1 << 24;

/// A value: what is made at one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'m> {
    /// The number of the instruction that makes it; of the loop, call or parameter where several values meet.
    pub(super) instruction: u32,
    /// Which array of the instruction's value; `None` for a tuple.
    pub(super) leaf: Option<usize>,
    /// The shape.
    pub(super) shape: &'m Shape,
    /// Whether several values meet here, such as the first state of a loop and the next one.
    pub(super) meets: bool,
    /// Whether nothing has memory for it, since it is known elsewhere only.
    pub(super) is_void: bool,
}

/// The values of a module.
#[derive(Clone, Debug)]
pub(super) struct Values<'m> {
    /// Where the positions of each instruction begin; the last one is the end.
    starts: Vec<usize>,
    /// The value at each position.
    positions: Vec<u32>,
    values: Vec<Value<'m>>,
    /// The value that each one is.
    same: Sets,
    /// The group of each value.
    groups: Sets,
    /// Operands of a `ConcatBitcast`, which lie side by side in its result: the value, and the instruction.
    side_by_side: Vec<(u32, u32)>,
    /// Arrays of parameters that results are written over.
    donated: BTreeSet<u32>,
}

/// Disjoint sets of numbers.
#[derive(Clone, Debug, Default)]
struct Sets(Vec<u32>);

impl Sets {
    fn find(&self, mut of: u32) -> u32 {
        while let Some(&next) = self.0.get(of as usize) {
            if next == of {
                break;
            }
            of = next;
        }
        of
    }

    /// Whether a number is that of its set.
    fn is_root(&self, number: u32) -> bool {
        self.0.get(number as usize) == Some(&number)
    }

    /// Puts `of` into the set of `into`; that set's number stays.
    fn join(&mut self, of: u32, into: u32) {
        let (of, into) = (self.root(of), self.root(into));
        if let Some(place) = self.0.get_mut(of as usize) {
            *place = into;
        }
    }

    /// Like [`find`](Self::find), and shortens the way for the next time.
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

    fn shorten(&mut self) {
        for number in 0..self.0.len() {
            self.root(u32::try_from(number).unwrap_or(u32::MAX));
        }
    }
}

/// How many positions stand before each element of a tuple and, last, how many there are, counted once for each tuple.
#[derive(Default)]
pub(super) struct Layouts(BTreeMap<*const Shape, Vec<usize>>);

impl Layouts {
    fn of(&mut self, elements: &[Shape]) -> &[usize] {
        self.0.entry(elements.as_ptr()).or_insert_with(|| {
            let mut start = 1_usize;
            let behind = elements.iter().map(|element| {
                start = start.saturating_add(element.subshape_count());
                start
            });
            core::iter::once(1).chain(behind).collect()
        })
    }

    /// How many positions a shape has.
    fn count(&mut self, shape: &Shape) -> usize {
        match shape.tuple_shapes() {
            Some([]) | None => 1,
            Some(elements) => self.of(elements).last().copied().unwrap_or(1),
        }
    }

    /// The first position of the part of a shape with this index, and how many the part has.
    fn part(&mut self, mut shape: &Shape, index: &[usize]) -> Option<(usize, usize)> {
        let mut first = 0_usize;
        for &element in index {
            let elements = shape.tuple_shapes()?;
            shape = elements.get(element)?;
            first = first.saturating_add(self.of(elements).get(element).copied()?);
        }
        Some((first, self.count(shape)))
    }
}

/// What a caller that gives a parameter nothing counts as, in positions: it has none, and a short text can have many.
const NOTHING_GIVEN: usize = 16;

/// Some positions: the first, and how many.
type Positions = (usize, usize);

/// Where a computation is called: what its parameters are there.
struct Caller {
    instruction: u32,
    /// The operand that is the first parameter, and whether there is one operand for each parameter.
    first: usize,
    one_each: bool,
}

struct Reader<'m, 'a> {
    module: &'m Module<'a>,
    layouts: Layouts,
    callers: BTreeMap<u32, Vec<Caller>>,
    /// The update of what has begun asynchronously, which gives it more operands.
    updates: BTreeMap<u32, Instruction<'m, 'a>>,
    /// Values that meet, as positions that are known later.
    meetings: Vec<(u32, Vec<usize>)>,
    in_place: Vec<(usize, usize)>,
    /// For each fused computation, which result is written over which parameter.
    fused: BTreeMap<u32, Vec<(Vec<usize>, usize)>>,
    /// How many positions meet.
    met: usize,
    known: Values<'m>,
}

impl<'m> Values<'m> {
    /// The values of computations that run, called ones first; `None` if there are more than can be looked at.
    pub(super) fn new<'a>(module: &'m Module<'a>, computations: &[Computation<'m, 'a>]) -> Option<Self> {
        let mut layouts = Layouts::default();
        let mut starts = Vec::with_capacity(module.instructions().len());
        let mut next = 0_usize;
        let mut runs = vec![false; module.computations().len()];
        for computation in computations {
            if let Some(runs) = runs.get_mut(computation.number() as usize) {
                *runs = true;
            }
        }
        for instruction in module.instructions() {
            starts.push(next);
            if runs.get(instruction.computation().number() as usize) == Some(&true) {
                next = next.saturating_add(layouts.count(instruction.shape()));
            }
        }
        starts.push(next);
        if next > MAX_POSITIONS {
            return None;
        }
        let known = Self {
            starts,
            positions: vec![u32::MAX; next],
            values: Vec::new(),
            same: Sets::default(),
            groups: Sets::default(),
            side_by_side: Vec::new(),
            donated: BTreeSet::new(),
        };
        let mut reader = Reader {
            module,
            layouts,
            callers: BTreeMap::new(),
            updates: BTreeMap::new(),
            meetings: Vec::new(),
            in_place: Vec::new(),
            fused: BTreeMap::new(),
            met: 0,
            known,
        };
        reader.find_callers(computations);
        for computation in computations {
            for instruction in computation.instructions() {
                reader.read(instruction, *computation)?;
            }
        }
        reader.finish()
    }

    pub(super) fn values(&self) -> &[Value<'m>] {
        &self.values
    }

    /// Whether a value is one of its own, and not another one's other name.
    pub(super) fn is_own(&self, value: u32) -> bool {
        self.same.is_root(value)
    }

    /// The number of the value's group.
    pub(super) fn group(&self, value: u32) -> u32 {
        self.groups.find(self.same.find(value))
    }

    /// The values at the positions of an instruction.
    pub(super) fn of(&self, instruction: u32) -> impl ExactSizeIterator<Item = u32> + '_ {
        let (start, length) = self.positions_of(instruction);
        let positions = self.positions.get(start..start.saturating_add(length)).unwrap_or(&[]);
        positions.iter().map(|&value| self.same.find(value))
    }

    /// Whether a result of the program is written over this value, an array of a parameter.
    pub(super) fn is_donated(&self, value: u32) -> bool {
        self.donated.contains(&value)
    }

    /// Whether a value is a parameter of the program that its caller keeps, so that nothing is written over it: the compiler
    /// makes a copy first.
    fn is_kept(&self, module: &Module<'_>, value: u32) -> bool {
        let made = self.values.get(value as usize).and_then(|value| module.instruction_at(value.instruction));
        made.is_some_and(|made| made.opcode() == Opcode::Parameter && super::runs(made.computation()))
            && !self.is_donated(value)
    }

    /// The operands of every `ConcatBitcast`, and the instruction in whose result they lie side by side.
    pub(super) fn side_by_side(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.side_by_side.iter().map(|&(value, instruction)| (self.same.find(value), instruction))
    }

    fn positions_of(&self, instruction: u32) -> Positions {
        let at = instruction as usize;
        let start = self.starts.get(at).copied().unwrap_or(0);
        let end = self.starts.get(at.saturating_add(1)).copied().unwrap_or(start);
        (start, end.saturating_sub(start))
    }
}

impl<'m, 'a> Reader<'m, 'a> {
    fn find_callers(&mut self, computations: &[Computation<'m, 'a>]) {
        for instruction in computations.iter().flat_map(|computation| computation.instructions()) {
            if instruction.opcode().text().ends_with("-update")
                && let Some(begun) = instruction.operand(0).and_then(|operand| operand.instruction())
            {
                self.updates.insert(begun.number(), instruction);
            }
            let is_conditional = instruction.opcode() == Opcode::Conditional;
            let one_each = !is_conditional && instruction.opcode() != Opcode::While;
            for (number, callee) in calls::called(instruction).into_iter().enumerate() {
                let first = if is_conditional { number.saturating_add(1) } else { 0 };
                let caller = Caller { instruction: instruction.number(), first, one_each };
                self.callers.entry(callee.number()).or_default().push(caller);
            }
        }
    }

    /// The positions of an operand.
    fn operand(&self, instruction: Instruction<'m, 'a>, operand: usize) -> Option<Positions> {
        let operand = instruction.operand(operand)?.instruction()?;
        let positions = self.known.positions_of(operand.number());
        (positions.1 > 0).then_some(positions)
    }

    /// The positions of an operand that is given where an operation begins or in an update of it.
    fn given(&self, by: Instruction<'m, 'a>, operand: usize) -> Option<Positions> {
        // Updates of updates: more than programs have.
        const MOST: usize = 64;
        let (mut by, mut operand) = (by, operand);
        for _ in 0..MOST {
            let Some(later) = operand.checked_sub(by.operands().len()) else { return self.operand(by, operand) };
            // The first operand of an update is what it updates.
            operand = later.saturating_add(1);
            by = self.updates.get(&by.number()).copied()?;
        }
        None
    }

    fn new_value(
        &mut self,
        instruction: Instruction<'m, 'a>,
        leaf: Option<usize>,
        shape: &'m Shape,
        meets: bool,
    ) -> u32 {
        let number = u32::try_from(self.known.values.len()).unwrap_or(u32::MAX);
        let value = Value { instruction: instruction.number(), leaf, shape, meets, is_void: false };
        self.known.values.push(value);
        number
    }

    /// Says which values the positions of an instruction are.
    fn read(&mut self, instruction: Instruction<'m, 'a>, computation: Computation<'m, 'a>) -> Option<()> {
        let (start, length) = self.known.positions_of(instruction.number());
        self.pass_on(instruction, computation, start, length)?;
        let mut leaf = 0_usize;
        for (offset, shape) in parts(instruction.shape()).take(length).enumerate() {
            let is_tuple = shape.tuple_shapes().is_some();
            let number = (!is_tuple).then_some(leaf);
            let has_memory = matches!(shape, Shape::Array(_) | Shape::Buffer(_) | Shape::Tuple(_));
            if matches!(shape, Shape::Array(_) | Shape::Buffer(_)) {
                leaf = leaf.saturating_add(1);
            }
            let position = start.saturating_add(offset);
            match self.known.positions.get(position).copied() {
                Some(u32::MAX) => {
                    let value = self.new_value(instruction, number, shape, false);
                    if let Some(made) = self.known.values.last_mut() {
                        made.is_void = !has_memory;
                    }
                    self.set(position, value);
                }
                Some(value) => {
                    // Where values meet, the place is not known before.
                    if let Some(known) = self.known.values.get_mut(value as usize)
                        && known.meets
                        && known.instruction == instruction.number()
                    {
                        known.leaf = number;
                        known.shape = shape;
                        known.is_void |= !has_memory;
                    }
                }
                None => {}
            }
        }
        self.write_in_place(instruction, start);
        Some(())
    }

    fn set(&mut self, position: usize, value: u32) {
        if let Some(place) = self.known.positions.get_mut(position) {
            *place = value;
        }
    }

    /// Notes that `length` positions from `to` on are those from `from` on.
    fn alias(&mut self, to: usize, from: usize, length: usize) {
        for (to, from) in (to..to.saturating_add(length)).zip(from..) {
            if let Some(value) = self.known.positions.get(from).copied() {
                self.set(to, value);
            }
        }
    }

    /// Notes that at `length` positions from `start` on, the values from each of `sources` on meet.
    fn meet(&mut self, instruction: Instruction<'m, 'a>, start: usize, length: usize, sources: &[usize]) -> Option<()> {
        self.met = self.met.saturating_add(length.saturating_mul(sources.len()));
        if self.met > MAX_POSITIONS {
            return None;
        }
        for offset in 0..length {
            let value = self.new_value(instruction, None, instruction.shape(), true);
            self.set(start.saturating_add(offset), value);
            let sources = sources.iter().map(|source| source.saturating_add(offset)).collect();
            self.meetings.push((value, sources));
        }
        Some(())
    }

    /// Fills in the positions that only pass values on.
    fn pass_on(
        &mut self,
        instruction: Instruction<'m, 'a>,
        computation: Computation<'m, 'a>,
        start: usize,
        length: usize,
    ) -> Option<()> {
        let shape = instruction.shape();
        match instruction.opcode() {
            Opcode::Parameter if !super::runs(computation) => {
                let number = instruction.parameter_number().unwrap_or(usize::MAX);
                let callers = self.callers.remove(&computation.number()).unwrap_or_default();
                let sources: Vec<usize> = callers
                    .iter()
                    .filter_map(|caller| {
                        let operand = caller.first.saturating_add(if caller.one_each { number } else { 0 });
                        let by = self.module.instruction_at(caller.instruction)?;
                        self.given(by, operand).map(|(from, _)| from)
                    })
                    .collect();
                let without = callers.len().saturating_sub(sources.len());
                self.met = self.met.saturating_add(without.saturating_mul(NOTHING_GIVEN));
                if self.met > MAX_POSITIONS {
                    return None;
                }
                // The body of a loop gets what it returned, too.
                let looped = callers.iter().filter_map(|caller| {
                    let by = self.module.instruction_at(caller.instruction)?;
                    (by.opcode() == Opcode::While).then(|| body(by)).flatten()
                });
                let looped: Vec<usize> = looped.map(|body| self.known.positions_of(body.root().number()).0).collect();
                self.callers.insert(computation.number(), callers);
                let sources = [sources, looped].concat();
                if sources.is_empty() {
                    let value = self.new_value(instruction, None, shape, true);
                    if let Some(void) = self.known.values.last_mut() {
                        void.is_void = true;
                    }
                    (0..length).for_each(|offset| self.set(start.saturating_add(offset), value));
                    return Some(());
                }
                self.meet(instruction, start, length, &sources)?;
            }
            Opcode::Bitcast | Opcode::OptBarrier | Opcode::Domain | Opcode::AllReduceDone | Opcode::AddDependency => {
                self.alias_operand(instruction, 0, start, length)
            }
            Opcode::Tuple => {
                let mut at = start.saturating_add(1);
                for number in 0..instruction.operands().len() {
                    let count = self.operand(instruction, number).map_or(1, |(_, count)| count);
                    self.alias_operand(
                        instruction,
                        number,
                        at,
                        count.min(start.saturating_add(length).saturating_sub(at)),
                    );
                    at = at.saturating_add(count);
                }
            }
            Opcode::GetTupleElement => {
                let index = instruction.attribute("index").and_then(|index| index.number().ok());
                if let Some(index) = index {
                    self.alias_part(instruction, &[index], start, length);
                }
            }
            Opcode::While => {
                let first = self.operand(instruction, 0).map(|(from, _)| from);
                let next = body(instruction).map(|body| self.known.positions_of(body.root().number()).0);
                let sources: Vec<usize> = first.into_iter().chain(next).collect();
                self.meet(instruction, start, length, &sources)?;
            }
            Opcode::Call | Opcode::Conditional => {
                let callees = calls::called(instruction);
                let sources: Vec<usize> = callees
                    .iter()
                    .map(|callee| self.known.positions_of(callee.root().number()))
                    .filter(|(_, count)| *count == length)
                    .map(|(from, _)| from)
                    .collect();
                if !sources.is_empty() {
                    self.meet(instruction, start, length, &sources)?;
                }
            }
            Opcode::CopyStart => self.alias_into(instruction, 0, &[1], start),
            Opcode::Send => self.alias_into(instruction, 0, &[0], start),
            Opcode::CopyDone | Opcode::RecvDone => {
                let index = if instruction.opcode() == Opcode::RecvDone { &[][..] } else { &[0][..] };
                self.alias_part(instruction, index, start, length);
            }
            Opcode::AllReduceStart => {}
            opcode => match opcode.text().rsplit_once('-') {
                Some((_, "start")) => {
                    let given = shape.tuple_shapes().and_then(|elements| elements.first());
                    match given {
                        Some(Shape::Tuple(_)) => {
                            for number in 0..instruction.operands().len() {
                                self.alias_into(instruction, number, &[0, number], start);
                            }
                        }
                        Some(_) if instruction.operands().len() == 1 => self.alias_into(instruction, 0, &[0], start),
                        _ => {}
                    }
                    if let Some(callee) = calls::called(instruction).first()
                        && let Some((to, count)) = self.layouts.part(shape, &[1])
                    {
                        let (from, found) = self.known.positions_of(callee.root().number());
                        self.alias(start.saturating_add(to), from, count.min(found));
                    }
                }
                Some((_, "update")) if instruction.operands().len() == 1 => {
                    self.alias_operand(instruction, 0, start, length);
                }
                Some((_, "update")) => {
                    // Operands that come later stand after those that the tuple already has.
                    let tuple = instruction.operand(0).and_then(|operand| operand.shape());
                    let bound = tuple.and_then(|tuple| self.layouts.part(tuple, &[0]));
                    let to = self.layouts.part(shape, &[0]);
                    if let (Some((from, count)), Some((to, found)), Some((first, _))) =
                        (bound, to, self.operand(instruction, 0))
                    {
                        let (first, to) = (first.saturating_add(from), start.saturating_add(to));
                        self.alias(to, first, count.min(found));
                        let mut at = to.saturating_add(count);
                        for number in 1..instruction.operands().len() {
                            let count = self.operand(instruction, number).map_or(1, |(_, count)| count);
                            let left = to.saturating_add(found).saturating_sub(at);
                            self.alias_operand(instruction, number, at, count.min(left));
                            at = at.saturating_add(count);
                        }
                    }
                    let begun = instruction.operand(0).and_then(|operand| operand.instruction());
                    let callee = begun.and_then(|begun| calls::called(begun).first().copied());
                    if let (Some(callee), Some((to, count))) = (callee, self.layouts.part(shape, &[1])) {
                        let (from, found) = self.known.positions_of(callee.root().number());
                        if count == found {
                            self.alias(start.saturating_add(to), from, count);
                        }
                    }
                }
                Some((_, "done")) => self.alias_part(instruction, &[1], start, length),
                _ => {}
            },
        }
        Some(())
    }

    /// Notes that an instruction's positions are those of an operand.
    fn alias_operand(&mut self, instruction: Instruction<'m, 'a>, operand: usize, to: usize, length: usize) {
        if let Some((from, count)) = self.operand(instruction, operand) {
            self.alias(to, from, length.min(count));
        }
    }

    /// Notes that an instruction's positions are those of a part of its first operand.
    fn alias_part(&mut self, instruction: Instruction<'m, 'a>, index: &[usize], to: usize, length: usize) {
        let shape = instruction.operand(0).and_then(|operand| operand.shape());
        let part = shape.and_then(|shape| self.layouts.part(shape, index));
        if let (Some((from, count)), Some((start, _))) = (part, self.operand(instruction, 0)) {
            self.alias(to, start.saturating_add(from), length.min(count));
        }
    }

    /// Notes that a part of an instruction's positions are those of an operand.
    fn alias_into(&mut self, instruction: Instruction<'m, 'a>, operand: usize, index: &[usize], start: usize) {
        let part = self.layouts.part(instruction.shape(), index);
        if let (Some((to, count)), Some((from, found))) = (part, self.operand(instruction, operand)) {
            self.alias(start.saturating_add(to), from, count.min(found));
        }
    }

    /// Notes which parts of an instruction's value are written over its operands.
    fn write_in_place(&mut self, instruction: Instruction<'m, 'a>, start: usize) {
        let mut pairs: Vec<(Vec<usize>, usize, Vec<usize>)> = Vec::new();
        let elements = instruction.shape().tuple_shapes().map(<[Shape]>::len);
        match instruction.opcode() {
            Opcode::DynamicUpdateSlice | Opcode::SetDimensionSize => pairs.push((vec![], 0, vec![])),
            Opcode::Scatter | Opcode::AllReduceStart => match elements {
                None => pairs.push((vec![], 0, vec![])),
                Some(elements) => pairs.extend((0..elements).map(|number| (vec![number], number, vec![]))),
            },
            Opcode::Fusion => {
                let fused = instruction.attribute("calls").and_then(|calls| calls.name().ok());
                if let Some(fused) = fused.and_then(|name| self.module.computation(name)) {
                    let outputs = self.fused.entry(fused.number()).or_insert_with(|| updates(fused));
                    // Only those that the fusion's own shape has: its results may be fewer than those of what it calls.
                    let is_there = |result: &[usize]| result.iter().all(|&number| number < elements.unwrap_or(0));
                    let found = outputs.iter().take_while(|(result, _)| is_there(result));
                    pairs.extend(found.map(|(result, parameter)| (result.clone(), *parameter, vec![])));
                }
            }
            Opcode::CustomCall if is_concat_bitcast(instruction) => {
                for number in 0..instruction.operands().len() {
                    if let Some((from, _)) = self.operand(instruction, number)
                        && let Some(&value) = self.known.positions.get(from)
                    {
                        self.known.side_by_side.push((value, instruction.number()));
                    }
                }
            }
            _ => {}
        }
        for same in same_addresses(instruction) {
            let operands = instruction.operands().len();
            let result = same.iter().find_map(|number| number.checked_sub(operands));
            let operand = same.iter().copied().find(|&number| number < operands);
            if let (Some(result), Some(operand)) = (result, operand) {
                let index = if elements.is_some() { vec![result] } else { vec![] };
                pairs.push((index, operand, vec![]));
            }
        }
        let written = instruction.attribute("output_to_operand_aliasing").and_then(|value| value.aliases().ok());
        pairs.extend(written.into_iter().flatten().map(|a| (a.result_index, a.parameter, a.parameter_index)));
        for (result, operand, index) in pairs {
            let shape = instruction.operand(operand).and_then(|operand| operand.shape());
            let from = shape.and_then(|shape| self.layouts.part(shape, &index));
            let to = self.layouts.part(instruction.shape(), &result);
            if let (Some((to, _)), Some((from, _)), Some((first, _))) = (to, from, self.operand(instruction, operand)) {
                self.in_place.push((first.saturating_add(from), start.saturating_add(to)));
            }
        }
    }

    /// Settles which values are the same, and which lie at the same place.
    fn finish(mut self) -> Option<Values<'m>> {
        let count = self.known.values.len();
        let count = u32::try_from(count).ok()?;
        self.known.same = Sets((0..count).collect());
        self.known.groups = Sets((0..count).collect());
        self.drop_trivial_meetings();
        let Self { module, mut layouts, meetings, in_place, mut known, .. } = self;
        known.same.shorten();
        let value_at = |known: &Values<'m>, position: usize| {
            known.positions.get(position).filter(|&&value| value != u32::MAX).map(|&value| known.same.find(value))
        };
        if let Some(entry) = module.entry() {
            let mut parameters = BTreeMap::new();
            for parameter in entry.instructions().filter(|instruction| instruction.opcode() == Opcode::Parameter) {
                parameters.insert(parameter.parameter_number(), parameter);
            }
            let root = entry.root();
            for donated in donations(module) {
                let parameter = parameters.get(&Some(donated.parameter));
                if let Some(parameter) = parameter
                    && let Some((from, _)) = layouts.part(parameter.shape(), &donated.parameter_index)
                    && let Some((to, _)) = layouts.part(root.shape(), &donated.result_index)
                    && let Some(from) = value_at(&known, known.positions_of(parameter.number()).0.saturating_add(from))
                    && let Some(to) = value_at(&known, known.positions_of(root.number()).0.saturating_add(to))
                {
                    known.groups.join(to, from);
                    known.donated.insert(from);
                }
            }
        }
        for (value, sources) in &meetings {
            if known.is_own(*value) {
                for source in sources {
                    if let Some(source) = value_at(&known, *source)
                        && !known.is_kept(module, source)
                    {
                        known.groups.join(source, *value);
                    }
                }
            }
        }
        for (from, to) in in_place {
            if let (Some(from), Some(to)) = (value_at(&known, from), value_at(&known, to))
                && !known.is_kept(module, from)
            {
                known.groups.join(to, from);
            }
        }
        known.groups.shorten();
        Some(known)
    }

    /// Where the same value arrives from everywhere, as what a loop hands on unchanged, there is no value of its own.
    fn drop_trivial_meetings(&mut self) {
        let mut users: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let value_at = |known: &Values<'m>, position: usize| known.positions.get(position).copied();
        for (number, (_, sources)) in self.meetings.iter().enumerate() {
            for source in sources.iter().filter_map(|&source| value_at(&self.known, source)) {
                users.entry(source).or_default().push(number);
            }
        }
        let mut waiting: Vec<usize> = (0..self.meetings.len()).rev().collect();
        // Every meeting is looked at again when one of its sources turns out to be another value; what a text can ask for is
        // bounded, and a meeting that stays is only a name more for one place.
        let mut effort = self.met.saturating_mul(64).saturating_add(1 << 16);
        while let Some(number) = waiting.pop() {
            let Some((value, sources)) = self.meetings.get(number) else { continue };
            if !self.known.is_own(*value) {
                continue;
            }
            effort = effort.saturating_sub(sources.len().saturating_add(1));
            if effort == 0 {
                return;
            }
            let mut only = None;
            let mut several = false;
            let Values { positions, same, .. } = &mut self.known;
            for source in sources.iter().filter_map(|&source| positions.get(source)) {
                let source = same.root(*source);
                if source != *value {
                    several |= only.is_some_and(|only| only != source);
                    only = Some(source);
                }
            }
            if let Some(only) = only
                && !several
            {
                let value = *value;
                self.known.same.join(value, only);
                let mut moved = users.remove(&value).unwrap_or_default();
                effort = effort.saturating_sub(moved.len());
                // Those that are settled are not looked at again: lists stay short, however often they are handed on.
                moved.retain(|&user| self.meetings.get(user).is_some_and(|(user, _)| self.known.same.is_root(*user)));
                waiting.extend(moved.iter().copied());
                users.entry(only).or_default().extend(moved);
            }
        }
    }
}

/// The parts of a shape, the whole first, in the order of positions.
pub(crate) fn parts(shape: &Shape) -> impl Iterator<Item = &Shape> {
    let mut whole = Some(shape);
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

/// What `input_output_alias` says.
fn donations(module: &Module<'_>) -> Vec<crate::Alias> {
    let donated = module.attribute("input_output_alias").and_then(|value| value.aliases().ok());
    donated.unwrap_or_default()
}

/// Which operands and results the TPU compiler gave one address (`aliasing_operands`): results are numbered after the
/// operands.
fn same_addresses(instruction: Instruction<'_, '_>) -> Vec<Vec<usize>> {
    let config = instruction.attribute("backend_config").and_then(|config| config.unquoted().ok());
    let lists = config.as_deref().and_then(|config| config.split_once("\"aliasing_operands\":{\"lists\":["));
    let Some((_, lists)) = lists else { return Vec::new() };
    let mut found = Vec::new();
    let mut rest = lists;
    while let Some(list) = rest.trim_start_matches(',').strip_prefix("{\"indices\":[") {
        let Some((numbers, behind)) = list.split_once("]}") else { break };
        found.push(numbers.split(',').filter_map(|number| number.trim_matches('"').parse().ok()).collect());
        rest = behind;
    }
    found
}

fn is_concat_bitcast(instruction: Instruction<'_, '_>) -> bool {
    let target = instruction.attribute("custom_call_target").and_then(|target| target.string().ok());
    target.is_some_and(|target| target == "ConcatBitcast")
}

/// The body of a loop.
pub(super) fn body<'m, 'a>(instruction: Instruction<'m, 'a>) -> Option<Computation<'m, 'a>> {
    instruction.module().computation(instruction.attribute("body")?.name().ok()?)
}

/// Which results of a fused computation update one of its parameters: the index of the result, and the parameter.
fn updates(computation: Computation<'_, '_>) -> Vec<(Vec<usize>, usize)> {
    let root = computation.root();
    if root.opcode() != Opcode::Tuple {
        return updated(root).map(|parameter| (vec![], parameter)).into_iter().collect();
    }
    let results = root.operands().enumerate();
    results.filter_map(|(number, result)| Some((vec![number], updated(result.instruction()?)?))).collect()
}

/// The parameter that an instruction of a fused computation updates.
fn updated(instruction: Instruction<'_, '_>) -> Option<usize> {
    let update = behind_bitcasts(instruction)?;
    if !matches!(update.opcode(), Opcode::DynamicUpdateSlice | Opcode::Scatter) || update.shape().array().is_none() {
        return None;
    }
    behind_bitcasts(update.operand(0)?.instruction()?)?.parameter_number()
}

fn behind_bitcasts<'m, 'a>(mut instruction: Instruction<'m, 'a>) -> Option<Instruction<'m, 'a>> {
    // Operands stand before their users; a text that has it otherwise ends here, too.
    for _ in 0..64 {
        if instruction.opcode() != Opcode::Bitcast {
            break;
        }
        instruction = instruction.operand(0)?.instruction()?;
    }
    Some(instruction)
}
