//! Computes the values of a module and their buffers: the dataflow and alias analyses.

use super::{Sets, SubshapeOffsets, Subshapes, Value, Values, body, parts};
use crate::asynchronous::Step;
use crate::memory::{calls, is_entry_point};
use crate::schema::Key;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::Shape;

/// The limit on subshapes. Real programs have far fewer, but a short text can have any number.
const MAX_SUBSHAPES: usize = 1 << 24;

/// How many subshapes count towards the limit for a caller that passes no operand for a parameter. Such a caller has no subshapes to count, but a
/// short text can have many such callers.
const NO_OPERAND_EFFORT: usize = 16;

/// The limit on chained updates of an asynchronous operation; programs have far fewer.
const MAX_UPDATES: usize = 64;

/// A call of a computation, and how operands map to its parameters.
struct Caller {
    instruction: u32,
    /// The operand for the first parameter.
    first: usize,
    /// Whether each parameter has an operand of its own; otherwise there is one operand for the only parameter.
    one_each: bool,
}

/// The state of the analysis.
struct Dataflow<'m> {
    module: &'m Module,
    offsets: SubshapeOffsets,
    callers: BTreeMap<u32, Vec<Caller>>,
    /// For each asynchronous start or update, the update after it that adds operands.
    updates: BTreeMap<u32, Instruction<'m>>,
    /// Each phi, and the subshapes whose values it merges.
    phis: Vec<(u32, Vec<usize>)>,
    /// Pairs of subshapes of an operand and a result that is written in place.
    in_place: Vec<(usize, usize)>,
    /// For each fused computation: the shape index of each result that updates a parameter, and the parameter.
    fused: BTreeMap<u32, Vec<(Vec<usize>, usize)>>,
    /// The number of phi inputs so far.
    phi_inputs: usize,
    result: Values<'m>,
}

impl<'m> Values<'m> {
    /// Analyses computations that run, given callees first. `None` if there are more than [`MAX_SUBSHAPES`] subshapes.
    pub(in crate::memory) fn new(module: &'m Module, computations: &[Computation<'m>]) -> Option<Self> {
        let mut offsets = SubshapeOffsets::default();
        let mut starts = Vec::with_capacity(module.instructions().len());
        let mut next = 0_usize;
        let mut is_run = vec![false; module.computations().len()];
        for computation in computations {
            if let Some(runs) = is_run.get_mut(computation.number() as usize) {
                *runs = true;
            }
        }
        for instruction in module.instructions() {
            starts.push(next);
            if is_run.get(instruction.computation().number() as usize) == Some(&true) {
                next = next.saturating_add(offsets.count(instruction.shape()));
            }
        }
        starts.push(next);
        if next > MAX_SUBSHAPES {
            return None;
        }
        let result = Self {
            starts,
            value_of: vec![u32::MAX; next],
            values: Vec::new(),
            canonical: Sets::default(),
            buffers: Sets::default(),
            concat_operands: Vec::new(),
            donated: BTreeSet::new(),
        };
        let mut dataflow = Dataflow {
            module,
            offsets,
            callers: BTreeMap::new(),
            updates: BTreeMap::new(),
            phis: Vec::new(),
            in_place: Vec::new(),
            fused: BTreeMap::new(),
            phi_inputs: 0,
            result,
        };
        dataflow.find_callers(computations);
        for computation in computations {
            for instruction in computation.instructions() {
                dataflow.assign(instruction, *computation)?;
            }
        }
        dataflow.finish()
    }
}

impl<'m> Dataflow<'m> {
    fn find_callers(&mut self, computations: &[Computation<'m>]) {
        for instruction in computations.iter().flat_map(|computation| computation.instructions()) {
            if instruction.opcode().text().ends_with("-update")
                && let Some(updated) = instruction.operand(0).and_then(|operand| operand.instruction())
            {
                self.updates.insert(updated.number(), instruction);
            }
            let is_conditional = instruction.opcode() == Opcode::Conditional;
            let one_each = !is_conditional && instruction.opcode() != Opcode::While;
            for (number, callee) in calls::called(instruction).into_iter().enumerate() {
                let first = if is_conditional { number + 1 } else { 0 };
                let caller = Caller { instruction: instruction.number(), first, one_each };
                self.callers.entry(callee.number()).or_default().push(caller);
            }
        }
    }

    /// The subshapes of an operand.
    fn operand(&self, instruction: Instruction<'m>, operand: usize) -> Option<Subshapes> {
        self.subshapes(instruction.operand(operand)?.instruction()?)
    }

    fn subshapes(&self, instruction: Instruction<'m>) -> Option<Subshapes> {
        let subshapes = self.result.subshapes_of(instruction.number());
        (subshapes.1 > 0).then_some(subshapes)
    }

    /// An operand of an operation. Those of an asynchronous operation are the operands of its start, then those of its updates.
    fn bound_operand(&self, by: Instruction<'m>, operand: usize) -> Option<Instruction<'m>> {
        let (mut by, mut operand) = (by, operand);
        for _ in 0..MAX_UPDATES {
            let Some(later) = operand.checked_sub(by.operands().len()) else {
                return by.operand(operand)?.instruction();
            };
            // The first operand of an update is the start or update before it.
            operand = later + 1;
            by = self.updates.get(&by.number()).copied()?;
        }
        None
    }

    fn new_value(&mut self, instruction: Instruction<'m>, leaf: Option<usize>, shape: &'m Shape, is_phi: bool) -> u32 {
        let number = u32::try_from(self.result.values.len()).unwrap_or(u32::MAX);
        let value = Value { instruction: instruction.number(), leaf, shape, is_phi, is_unallocated: false };
        self.result.values.push(value);
        number
    }

    /// Assigns values to the subshapes of an instruction.
    fn assign(&mut self, instruction: Instruction<'m>, computation: Computation<'m>) -> Option<()> {
        let (start, length) = self.result.subshapes_of(instruction.number());
        self.forward(instruction, computation, start, length)?;
        let mut leaf = 0_usize;
        for (offset, shape) in parts(instruction.shape()).take(length).enumerate() {
            let is_tuple = shape.tuple_shapes().is_some();
            let number = (!is_tuple).then_some(leaf);
            let has_memory = matches!(shape, Shape::Array(_) | Shape::Buffer(_) | Shape::Tuple(_));
            if matches!(shape, Shape::Array(_) | Shape::Buffer(_)) {
                leaf += 1;
            }
            let subshape = start + offset;
            match self.result.value_of.get(subshape).copied() {
                Some(u32::MAX) => {
                    let value = self.new_value(instruction, number, shape, false);
                    if let Some(value) = self.result.values.last_mut() {
                        value.is_unallocated = !has_memory;
                    }
                    self.set(subshape, value);
                }
                Some(value) => {
                    // A phi was created before its subshape was known.
                    if let Some(phi) = self.result.values.get_mut(value as usize)
                        && phi.is_phi
                        && phi.instruction == instruction.number()
                    {
                        phi.leaf = number;
                        phi.shape = shape;
                        phi.is_unallocated |= !has_memory;
                    }
                }
                None => {}
            }
        }
        self.write_in_place(instruction, start);
        Some(())
    }

    fn set(&mut self, subshape: usize, value: u32) {
        if let Some(place) = self.result.value_of.get_mut(subshape) {
            *place = value;
        }
    }

    /// Forwards values: `length` subshapes from `to` on get the values of those from `from` on.
    fn alias(&mut self, to: usize, from: usize, length: usize) {
        for (to, from) in (to..to + length).zip(from..) {
            if let Some(value) = self.result.value_of.get(from).copied() {
                self.set(to, value);
            }
        }
    }

    /// Defines a phi at each of the `length` subshapes from `start` on. Phi `i` merges the values of the subshapes `source + i`, for each of
    /// `sources`.
    fn define_phis(
        &mut self,
        instruction: Instruction<'m>,
        start: usize,
        length: usize,
        sources: &[usize],
    ) -> Option<()> {
        self.phi_inputs = self.phi_inputs.saturating_add(length.saturating_mul(sources.len()));
        if self.phi_inputs > MAX_SUBSHAPES {
            return None;
        }
        for offset in 0..length {
            let value = self.new_value(instruction, None, instruction.shape(), true);
            self.set(start + offset, value);
            let sources = sources.iter().map(|source| source + offset).collect();
            self.phis.push((value, sources));
        }
        Some(())
    }

    /// Fills in the subshapes that forward values, and the phis (`HloDataflowAnalysis::UpdateInstructionValueSet`).
    fn forward(
        &mut self,
        instruction: Instruction<'m>,
        computation: Computation<'m>,
        start: usize,
        length: usize,
    ) -> Option<()> {
        let shape = instruction.shape();
        match instruction.opcode() {
            Opcode::Parameter if !is_entry_point(computation) => {
                let number = instruction.parameter_number().unwrap_or(usize::MAX);
                let callers = self.callers.remove(&computation.number()).unwrap_or_default();
                let sources: Vec<usize> = callers
                    .iter()
                    .filter_map(|caller| {
                        let operand = caller.first + if caller.one_each { number } else { 0 };
                        let by = self.module.instruction_at(caller.instruction)?;
                        self.subshapes(self.bound_operand(by, operand)?).map(|(from, _)| from)
                    })
                    .collect();
                let without = callers.len().saturating_sub(sources.len());
                self.phi_inputs = self.phi_inputs.saturating_add(without.saturating_mul(NO_OPERAND_EFFORT));
                if self.phi_inputs > MAX_SUBSHAPES {
                    return None;
                }
                // The body of a loop also gets the value that it returned.
                let looped = callers.iter().filter_map(|caller| {
                    let by = self.module.instruction_at(caller.instruction)?;
                    (by.opcode() == Opcode::While).then(|| body(by)).flatten()
                });
                let looped: Vec<usize> = looped.map(|body| self.result.subshapes_of(body.root().number()).0).collect();
                self.callers.insert(computation.number(), callers);
                let sources = [sources, looped].concat();
                if sources.is_empty() {
                    let value = self.new_value(instruction, None, shape, true);
                    if let Some(void) = self.result.values.last_mut() {
                        void.is_unallocated = true;
                    }
                    (0..length).for_each(|offset| self.set(start + offset, value));
                    return Some(());
                }
                self.define_phis(instruction, start, length, &sources)?;
            }
            Opcode::AllReduceDone if instruction.long_form().is_some() => {
                self.alias_part(instruction, &[1], start, length);
            }
            Opcode::Bitcast | Opcode::OptBarrier | Opcode::Domain | Opcode::AllReduceDone | Opcode::AddDependency => {
                self.alias_operand(instruction, 0, start, length)
            }
            Opcode::Tuple => {
                let mut at = start + 1;
                for number in 0..instruction.operands().len() {
                    let count = self.operand(instruction, number).map_or(1, |(_, count)| count);
                    self.alias_operand(instruction, number, at, count.min((start + length).saturating_sub(at)));
                    at += count;
                }
            }
            Opcode::GetTupleElement => {
                let index = instruction.value_of(Key::Index).and_then(|index| index.number().ok());
                if let Some(index) = index {
                    self.alias_part(instruction, &[index], start, length);
                }
            }
            Opcode::While => {
                let first = self.operand(instruction, 0).map(|(from, _)| from);
                let next = body(instruction).map(|body| self.result.subshapes_of(body.root().number()).0);
                let sources: Vec<usize> = first.into_iter().chain(next).collect();
                self.define_phis(instruction, start, length, &sources)?;
            }
            Opcode::Call | Opcode::Conditional => {
                let callees = calls::called(instruction);
                let sources: Vec<usize> = callees
                    .iter()
                    .map(|callee| self.result.subshapes_of(callee.root().number()))
                    .filter(|(_, count)| *count == length)
                    .map(|(from, _)| from)
                    .collect();
                if !sources.is_empty() {
                    self.define_phis(instruction, start, length, &sources)?;
                }
            }
            Opcode::CopyStart => self.alias_into(instruction, 0, &[1], start),
            Opcode::Send => self.alias_into(instruction, 0, &[0], start),
            Opcode::CopyDone => self.alias_part(instruction, &[0], start, length),
            // The tuple and the token are new values (`HloDataflowAnalysis::UpdateRecvDoneValueSet`).
            Opcode::RecvDone => {
                if let Some((to, count)) = self.offsets.part(shape, &[0]) {
                    self.alias_part(instruction, &[0], start + to, count);
                }
            }
            Opcode::AllReduceStart if instruction.long_form().is_none() => {}
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
                        && let Some((to, count)) = self.offsets.part(shape, &[1])
                    {
                        let (from, found) = self.result.subshapes_of(callee.root().number());
                        self.alias(start + to, from, count.min(found));
                    }
                }
                Some((_, "update")) if instruction.operands().len() == 1 => {
                    self.alias_operand(instruction, 0, start, length);
                }
                Some((_, "update")) => {
                    // Newly bound operands follow those that the tuple already has.
                    let tuple = instruction.operand(0).and_then(|operand| operand.shape());
                    let bound = tuple.and_then(|tuple| self.offsets.part(tuple, &[0]));
                    let to = self.offsets.part(shape, &[0]);
                    if let (Some((from, count)), Some((to, found)), Some((first, _))) =
                        (bound, to, self.operand(instruction, 0))
                    {
                        let (first, to) = (first + from, start + to);
                        self.alias(to, first, count.min(found));
                        let mut at = to + count;
                        for number in 1..instruction.operands().len() {
                            let count = self.operand(instruction, number).map_or(1, |(_, count)| count);
                            let left = (to + found).saturating_sub(at);
                            self.alias_operand(instruction, number, at, count.min(left));
                            at += count;
                        }
                    }
                    let callee = Self::start_of(instruction).and_then(|start| calls::called(start).first().copied());
                    if let (Some(callee), Some((to, count))) = (callee, self.offsets.part(shape, &[1])) {
                        let (from, found) = self.result.subshapes_of(callee.root().number());
                        if count == found {
                            self.alias(start + to, from, count);
                        }
                    }
                }
                Some((_, "done")) => self.alias_part(instruction, &[1], start, length),
                _ => {}
            },
        }
        Some(())
    }

    /// Forwards an operand to an instruction's subshapes.
    fn alias_operand(&mut self, instruction: Instruction<'m>, operand: usize, to: usize, length: usize) {
        if let Some((from, count)) = self.operand(instruction, operand) {
            self.alias(to, from, length.min(count));
        }
    }

    /// Forwards a part of the first operand to an instruction's subshapes.
    fn alias_part(&mut self, instruction: Instruction<'m>, index: &[usize], to: usize, length: usize) {
        let shape = instruction.operand(0).and_then(|operand| operand.shape());
        let part = shape.and_then(|shape| self.offsets.part(shape, index));
        if let (Some((from, count)), Some((start, _))) = (part, self.operand(instruction, 0)) {
            self.alias(to, start + from, length.min(count));
        }
    }

    /// Forwards an operand to a part of an instruction's subshapes.
    fn alias_into(&mut self, instruction: Instruction<'m>, operand: usize, index: &[usize], start: usize) {
        let part = self.offsets.part(instruction.shape(), index);
        if let (Some((to, count)), Some((from, found))) = (part, self.operand(instruction, operand)) {
            self.alias(start + to, from, count.min(found));
        }
    }

    /// The start of the asynchronous operation that this instruction is a step of.
    fn start_of(instruction: Instruction<'m>) -> Option<Instruction<'m>> {
        let mut at = instruction;
        for _ in 0..MAX_UPDATES {
            match at.asynchronous_step()? {
                Step::Start => return Some(at),
                _ => at = at.operand(0)?.instruction()?,
            }
        }
        None
    }

    /// Collects the parts of an instruction's result that are written in place of its operands
    /// (`HloDataflowAnalysis::GetInPlaceInputOutputPairs`).
    fn write_in_place(&mut self, instruction: Instruction<'m>, start: usize) {
        let mut pairs: Vec<(Vec<usize>, usize, Vec<usize>)> = Vec::new();
        // The operation that computes the result, and where in the instruction's shape that is. In short form, the operation itself is
        // not in the program: its last operands are those of the start or of an update, and its attributes are those of the start.
        let (by, opcode, part) = match instruction.short_form() {
            Some((_, Step::Update)) if instruction.operands().len() == 1 => return,
            Some((operation, Step::Start | Step::Update)) => {
                (Self::start_of(instruction).unwrap_or(instruction), Opcode::from_text(operation), &[1][..])
            }
            _ => (instruction, instruction.opcode(), &[][..]),
        };
        let shape = part.iter().try_fold(instruction.shape(), |shape, &element| shape.tuple_shapes()?.get(element));
        let elements = shape.and_then(Shape::tuple_shapes).map(<[Shape]>::len);
        match opcode {
            Opcode::DynamicUpdateSlice | Opcode::SetDimensionSize => pairs.push((vec![], 0, vec![])),
            Opcode::Scatter | Opcode::AllReduceStart => match elements {
                None => pairs.push((vec![], 0, vec![])),
                Some(elements) => pairs.extend((0..elements).map(|number| (vec![number], number, vec![]))),
            },
            Opcode::Fusion => {
                if let Some(fused) = by.callee(Key::Calls) {
                    let outputs = self.fused.entry(fused.number()).or_insert_with(|| updates(fused));
                    // Only results that are in the fusion's shape count; the fused computation may have more.
                    let is_there = |result: &[usize]| result.iter().all(|&number| number < elements.unwrap_or(0));
                    let found = outputs.iter().take_while(|(result, _)| is_there(result));
                    pairs.extend(found.map(|(result, parameter)| (result.clone(), *parameter, vec![])));
                }
            }
            Opcode::CustomCall if part.is_empty() && is_concat_bitcast(instruction) => {
                for number in 0..instruction.operands().len() {
                    if let Some((from, _)) = self.operand(instruction, number)
                        && let Some(&value) = self.result.value_of.get(from)
                    {
                        self.result.concat_operands.push((value, instruction.number()));
                    }
                }
            }
            _ => {}
        }
        let written = |of: Instruction<'m>| {
            let value = of.value_of(Key::OutputToOperandAliasing);
            let aliases = value.and_then(|value| value.aliases().ok()).into_iter().flatten();
            aliases.map(|alias| (alias.result_index, alias.parameter, alias.parameter_index))
        };
        // If the wrapped operation cannot have this attribute, the attribute in the text belongs to the asynchronous start itself.
        let of_operation = opcode.has(Key::OutputToOperandAliasing);
        if of_operation {
            pairs.extend(written(by));
        }
        for (result, operand, index) in pairs {
            let Some(operand) = self.bound_operand(by, operand) else { continue };
            self.share(instruction, start, &[part, &result].concat(), operand, &index);
        }
        let mut of_instruction = Vec::new();
        for same in same_addresses(instruction) {
            let operands = instruction.operands().len();
            let result = same.iter().find_map(|number| number.checked_sub(operands));
            let operand = same.iter().copied().find(|&number| number < operands);
            if let (Some(result), Some(operand)) = (result, operand) {
                let is_tuple = instruction.shape().tuple_shapes().is_some();
                of_instruction.push((if is_tuple { vec![result] } else { vec![] }, operand, vec![]));
            }
        }
        if !of_operation || by.number() != instruction.number() {
            of_instruction.extend(written(instruction));
        }
        for (result, operand, index) in of_instruction {
            if let Some(operand) = instruction.operand(operand).and_then(|operand| operand.instruction()) {
                self.share(instruction, start, &result, operand, &index);
            }
        }
    }

    /// Notes that a part of an instruction's result is written in place of a part of an operand.
    fn share(
        &mut self,
        instruction: Instruction<'m>,
        start: usize,
        result: &[usize],
        operand: Instruction<'m>,
        index: &[usize],
    ) {
        let from = self.offsets.part(operand.shape(), index);
        let to = self.offsets.part(instruction.shape(), result);
        if let (Some((to, _)), Some((from, _)), Some((first, _))) = (to, from, self.subshapes(operand)) {
            self.in_place.push((first + from, start + to));
        }
    }

    /// Resolves phis, and merges values into buffers.
    fn finish(mut self) -> Option<Values<'m>> {
        let count = self.result.values.len();
        let count = u32::try_from(count).ok()?;
        self.result.canonical = Sets((0..count).collect());
        self.result.buffers = Sets((0..count).collect());
        self.optimize_phis();
        let Self { module, mut offsets, phis, in_place, mut result, .. } = self;
        result.canonical.compress();
        let value_at = |result: &Values<'m>, subshape: usize| {
            result.value_of.get(subshape).filter(|&&value| value != u32::MAX).map(|&value| result.canonical.find(value))
        };
        // A donated parameter and the result that takes its memory are one buffer.
        if let Some(entry) = module.entry() {
            let mut parameters = BTreeMap::new();
            for parameter in entry.instructions().filter(|instruction| instruction.opcode() == Opcode::Parameter) {
                parameters.insert(parameter.parameter_number(), parameter);
            }
            let root = entry.root();
            for donated in donations(module) {
                let parameter = parameters.get(&Some(donated.parameter));
                if let Some(parameter) = parameter
                    && let Some((from, _)) = offsets.part(parameter.shape(), &donated.parameter_index)
                    && let Some((to, _)) = offsets.part(root.shape(), &donated.result_index)
                    && let Some(from) = value_at(&result, result.subshapes_of(parameter.number()).0 + from)
                    && let Some(to) = value_at(&result, result.subshapes_of(root.number()).0 + to)
                {
                    result.buffers.join(to, from);
                    result.donated.insert(from);
                }
            }
        }
        // A loop or a conditional merges several values into one phi, and all of them share the phi's buffer. A parameter that must not be
        // overwritten keeps a buffer of its own.
        for (value, sources) in &phis {
            if result.is_canonical(*value) {
                for source in sources {
                    if let Some(source) = value_at(&result, *source)
                        && !result.is_read_only(module, source)
                    {
                        result.buffers.join(source, *value);
                    }
                }
            }
        }
        for (from, to) in in_place {
            if let (Some(from), Some(to)) = (value_at(&result, from), value_at(&result, to))
                && !result.is_read_only(module, from)
            {
                result.buffers.join(to, from);
            }
        }
        result.buffers.compress();
        Some(result)
    }

    /// Replaces each phi that merges only one other value by that value, such as loop state that the body does not change
    /// (`HloDataflowAnalysis::OptimizePhiValues`, `PhiGraph::Optimize`).
    fn optimize_phis(&mut self) {
        let mut users: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        let value_at = |result: &Values<'m>, subshape: usize| result.value_of.get(subshape).copied();
        for (number, (_, sources)) in self.phis.iter().enumerate() {
            for source in sources.iter().filter_map(|&source| value_at(&self.result, source)) {
                users.entry(source).or_default().push(number);
            }
        }
        let mut waiting: Vec<usize> = (0..self.phis.len()).rev().collect();
        // A phi is examined again when one of its inputs is replaced. The effort is bounded because of hostile texts. A phi that remains does no
        // harm: it only adds a value to the same buffer.
        // There are at most `MAX_SUBSHAPES` inputs.
        let mut effort = self.phi_inputs * 64 + (1 << 16);
        while let Some(number) = waiting.pop() {
            let Some((value, sources)) = self.phis.get(number) else { continue };
            if !self.result.is_canonical(*value) {
                continue;
            }
            effort = effort.saturating_sub(sources.len() + 1);
            if effort == 0 {
                return;
            }
            let mut only = None;
            let mut several = false;
            let Values { value_of, canonical, .. } = &mut self.result;
            for source in sources.iter().filter_map(|&source| value_of.get(source)) {
                let source = canonical.root(*source);
                if source != *value {
                    several |= only.is_some_and(|only| only != source);
                    only = Some(source);
                }
            }
            if let Some(only) = only
                && !several
            {
                let value = *value;
                self.result.canonical.join(value, only);
                let mut moved = users.remove(&value).unwrap_or_default();
                effort = effort.saturating_sub(moved.len());
                // Replaced phis are dropped from the list, so that it stays short however often it is moved.
                moved.retain(|&user| self.phis.get(user).is_some_and(|(user, _)| self.result.canonical.is_root(*user)));
                waiting.extend(moved.iter().copied());
                users.entry(only).or_default().extend(moved);
            }
        }
    }
}

/// The entries of the module's `input_output_alias`.
fn donations(module: &Module) -> Vec<crate::Alias> {
    let donated = module.value_of(Key::InputOutputAlias).and_then(|value| value.aliases().ok());
    donated.unwrap_or_default()
}

/// The operands and results to which the TPU compiler assigns one address (`aliasing_operands` in `backend_config`). Results are
/// numbered after the operands.
fn same_addresses(instruction: Instruction<'_>) -> Vec<Vec<usize>> {
    let config = instruction.value_of(Key::BackendConfig).and_then(|config| config.unquoted().ok());
    let lists = config.as_deref().and_then(|config| config.split_once("\"aliasing_operands\":{\"lists\":["));
    let Some((_, lists)) = lists else { return Vec::new() };
    let mut found = Vec::new();
    let mut rest = lists;
    while let Some(list) = rest.trim_start_matches(',').strip_prefix("{\"indices\":[") {
        let Some((numbers, tail)) = list.split_once("]}") else { break };
        found.push(numbers.split(',').filter_map(|number| number.trim_matches('"').parse().ok()).collect());
        rest = tail;
    }
    found
}

fn is_concat_bitcast(instruction: Instruction<'_>) -> bool {
    let target = instruction.value_of(Key::CustomCallTarget).and_then(|target| target.string().ok());
    target.is_some_and(|target| target == "ConcatBitcast")
}

/// The results of a fused computation that update one of its parameters: the shape index of the result, and the parameter.
fn updates(computation: Computation<'_>) -> Vec<(Vec<usize>, usize)> {
    let root = computation.root();
    if root.opcode() != Opcode::Tuple {
        return updated(root).map(|parameter| (vec![], parameter)).into_iter().collect();
    }
    let results = root.operands().enumerate();
    results.filter_map(|(number, result)| Some((vec![number], updated(result.instruction()?)?))).collect()
}

/// The parameter that an instruction of a fused computation updates in place.
fn updated(instruction: Instruction<'_>) -> Option<usize> {
    let update = skip_bitcasts(instruction)?;
    if !matches!(update.opcode(), Opcode::DynamicUpdateSlice | Opcode::Scatter) || update.shape().array().is_none() {
        return None;
    }
    skip_bitcasts(update.operand(0)?.instruction()?)?.parameter_number()
}

fn skip_bitcasts<'m>(mut instruction: Instruction<'m>) -> Option<Instruction<'m>> {
    // The limit ends cycles, which only an invalid module has.
    for _ in 0..64 {
        if instruction.opcode() != Opcode::Bitcast {
            break;
        }
        instruction = instruction.operand(0)?.instruction()?;
    }
    Some(instruction)
}
