//! The schedule and the live ranges of values (`HloLiveRange` in `xla/hlo/utils/hlo_live_range.cc`).

use super::calls::called;
use super::values::Values;
use crate::asynchronous::Step;
use crate::{Computation, Instruction, Module, Opcode};
use alloc::collections::BTreeSet;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::sorting::set_of;

const NEVER: u32 = u32::MAX;

/// The steps of a program: one for each instruction, those of a called computation before the caller
/// (`HloLiveRange::FlattenSchedule`).
pub(super) struct Schedule {
    /// The number of the instruction of each step.
    pub(super) steps: Vec<u32>,
    /// The step of each instruction.
    times: Vec<u32>,
    /// For each computation, its first step and the step after its last.
    spans: Vec<(u32, u32)>,
}

/// The live range of a value: first and last step. A value that is live when the program ends has the number of steps as its end.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct LiveRange {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Schedule {
    /// The schedule of the computations that run from the entry points `starts`.
    pub(super) fn new<'m>(module: &'m Module, starts: impl Iterator<Item = Computation<'m>>) -> Self {
        let mut schedule = Self {
            steps: Vec::new(),
            times: vec![NEVER; module.instructions().len()],
            spans: vec![(NEVER, NEVER); module.computations().len()],
        };
        let bindings = AsyncBindings::new(module);
        for start in starts {
            schedule.run(start, &bindings);
        }
        schedule
    }

    /// Walks a computation and its callees, with an explicit stack, since a chain of calls can be long.
    fn run<'m>(&mut self, start: Computation<'m>, bindings: &AsyncBindings) {
        let mut open = Vec::new();
        let enter = |schedule: &mut Self, computation: Computation<'m>| {
            let now = schedule.now();
            // After XLA's `FlattenCallGraph`, each computation has one caller; a second call is ignored.
            let span = schedule.spans.get_mut(computation.number() as usize)?;
            if span.0 != NEVER {
                return None;
            }
            *span = (now, now);
            Some((computation, computation.instructions(), Vec::new(), None::<Instruction<'m>>))
        };
        open.extend(enter(self, start));
        while let Some((computation, instructions, callees, current)) = open.last_mut() {
            if let Some(callee) = callees.pop() {
                open.extend(enter(self, callee));
                continue;
            }
            if let Some(done) = current.take() {
                let now = self.now();
                if let Some(time) = self.times.get_mut(done.number() as usize) {
                    *time = now;
                }
                self.steps.push(done.number());
            }
            if let Some(next) = instructions.next() {
                *callees = bindings.run_before(next);
                callees.reverse();
                *current = Some(next);
            } else {
                let (number, now) = (computation.number(), self.now());
                if let Some(span) = self.spans.get_mut(number as usize) {
                    span.1 = now;
                }
                open.pop();
            }
        }
    }

    fn now(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(NEVER)
    }

    /// The step of an instruction, if it runs.
    pub(super) fn time(&self, instruction: u32) -> Option<u32> {
        self.times.get(instruction as usize).copied().filter(|&time| time != NEVER)
    }

    fn span(&self, computation: Computation<'_>) -> (u32, u32) {
        self.spans.get(computation.number() as usize).copied().unwrap_or((NEVER, NEVER))
    }

    /// The live range of each value (`HloLiveRange::CalculateBufferStartEndMap`). `None` for a value that equals another one, needs no
    /// memory or does not run.
    pub(super) fn live_ranges<'m>(
        &self,
        module: &'m Module,
        computations: &[Computation<'m>],
        values: &Values<'m>,
    ) -> Vec<Option<LiveRange>> {
        let end = self.now();
        let uses = self.last_uses(computations, end);
        let whiles = computations
            .iter()
            .flat_map(|computation| computation.instructions())
            .filter(|instruction| instruction.opcode() == Opcode::While);
        let conditions = set_of(whiles.filter_map(|instruction| Some(called(instruction).first()?.number())));
        let mut ranges = vec![None; values.values().len()];
        for (number, value) in values.values().iter().enumerate() {
            let own = u32::try_from(number).is_ok_and(|number| values.is_canonical(number));
            let Some(instruction) = module.instruction_at(value.instruction).filter(|_| own && !value.is_unallocated)
            else {
                continue;
            };
            let Some(time) = self.time(value.instruction) else { continue };
            let (computation, is_parameter) = (instruction.computation(), instruction.opcode() == Opcode::Parameter);
            let is_entry_point = super::is_entry_point(computation);
            let span = self.span(computation);
            // Parameters are live from the first step of their computation.
            let start = if is_parameter { span.0 } else { time };
            let stays =
                is_parameter && is_entry_point && !u32::try_from(number).is_ok_and(|number| values.is_donated(number));
            let is_condition = is_parameter && conditions.contains(&computation.number());
            let last = if stays {
                end
            } else if is_condition {
                span.1
            } else {
                start
            };
            if let Some(place) = ranges.get_mut(number) {
                *place = Some(LiveRange { start, end: last });
            }
        }
        let mut extend = |value: u32, to: u32| {
            if let Some(Some(range)) = ranges.get_mut(value as usize) {
                range.end = range.end.max(to);
            }
        };
        for computation in computations {
            let root = computation.root().number();
            for instruction in computation.instructions() {
                let number = instruction.number();
                let Some(last) = uses.get(number as usize) else { continue };
                let lives_out = (number == root)
                    .then(|| if super::is_entry_point(*computation) { end } else { self.span(*computation).1 });
                let whole = last.whole.max(lives_out.unwrap_or(0));
                let second = second_element(instruction);
                for (subshape, value) in values.at(number).enumerate() {
                    let tuple_table = if subshape == 0 { last.tuple_table } else { 0 };
                    let part = if second.contains(&subshape) { 0 } else { last.all_but_result };
                    extend(value, whole.max(tuple_table).max(part));
                }
            }
        }
        // The operands of a `ConcatBitcast` are parts of its result, so they end where it begins.
        for (value, result) in values.concat_operands() {
            if let (Some(Some(range)), Some(time)) = (ranges.get_mut(value as usize), self.time(result)) {
                range.end = range.end.min(time.saturating_sub(1)).max(range.start);
            }
        }
        ranges
    }

    /// The last step at which each instruction's value is used.
    fn last_uses(&self, computations: &[Computation<'_>], end: u32) -> Vec<LastUse> {
        let mut uses = vec![LastUse::default(); self.times.len()];
        for instruction in computations.iter().flat_map(|computation| computation.instructions()) {
            let Some(time) = self.time(instruction.number()) else { continue };
            let at = match instruction.opcode() {
                // The initial state of a loop ends where the condition begins.
                Opcode::While => called(instruction).first().map_or(time, |condition| self.span(*condition).0),
                _ => time,
            }
            .min(end);
            for operand in instruction.operands() {
                let Some(used) = operand.instruction().and_then(|used| uses.get_mut(used.number() as usize)) else {
                    continue;
                };
                match instruction.opcode() {
                    // These forward their operands: the users of their values extend the live range.
                    Opcode::Tuple
                    | Opcode::Bitcast
                    | Opcode::OptBarrier
                    | Opcode::Domain
                    | Opcode::AddDependency
                    | Opcode::Call => {}
                    Opcode::GetTupleElement => used.tuple_table = used.tuple_table.max(at),
                    Opcode::CopyDone => used.whole = used.whole.max(at),
                    opcode if opcode.text().ends_with("-done") => used.all_but_result = used.all_but_result.max(at),
                    _ => used.whole = used.whole.max(at),
                }
            }
        }
        uses
    }
}

/// Where the operands of asynchronous operations are bound.
struct AsyncBindings {
    /// The number of parameters of each computation.
    parameters: Vec<usize>,
    /// The starts and updates that a later update takes as its operand.
    updated: BTreeSet<u32>,
}

impl AsyncBindings {
    fn new(module: &Module) -> Self {
        let mut parameters = vec![0_usize; module.computations().len()];
        let mut updated = BTreeSet::new();
        for instruction in module.instructions() {
            if instruction.opcode() == Opcode::Parameter
                && let Some(count) = parameters.get_mut(instruction.computation().number() as usize)
            {
                *count += 1;
            }
            if instruction.asynchronous_step() == Some(Step::Update) {
                let before = instruction.operand(0).and_then(|operand| operand.instruction());
                updated.extend(before.map(|before| before.number()));
            }
        }
        Self { parameters, updated }
    }

    /// The computations that run before an instruction: those that it calls. The computation of an asynchronous operation runs where its last operand
    /// is bound. That can be at an update after the start.
    fn run_before<'m>(&self, instruction: Instruction<'m>) -> Vec<Computation<'m>> {
        // The limit on chained updates; programs have far fewer.
        const MAX_UPDATES: usize = 64;
        let step = instruction.asynchronous_step();
        let is_update = step == Some(Step::Update) && instruction.operands().len() > 1;
        if !is_update && step != Some(Step::Start) {
            return called(instruction);
        }
        let (mut at, mut given) = (instruction, 0_usize);
        for _ in 0..MAX_UPDATES {
            given += at.operands().len();
            if at.asynchronous_step() == Some(Step::Start) {
                let mut callees = called(at);
                callees.retain(|callee| {
                    let parameters = self.parameters.get(callee.number() as usize).copied().unwrap_or(0);
                    // With too few operands, the computation waits for an update; without a later update it runs at once.
                    parameters <= given || !is_update && !self.updated.contains(&at.number())
                });
                return callees;
            }
            // The first operand of an update is the start or update before it.
            given = given.saturating_sub(1);
            match at.operand(0).and_then(|operand| operand.instruction()) {
                Some(before) if before.asynchronous_step().is_some() => at = before,
                _ => break,
            }
        }
        Vec::new()
    }
}

/// The last steps at which an instruction's value, or parts of it, are used.
#[derive(Clone, Copy, Default)]
struct LastUse {
    /// The last use of the whole value.
    whole: u32,
    /// That of the outermost tuple index table.
    tuple_table: u32,
    /// That of all subshapes except those of the second tuple element, which is the result of an asynchronous operation.
    all_but_result: u32,
}

/// The subshapes of the second element of an asynchronous start, which is the result of the operation.
fn second_element(instruction: Instruction<'_>) -> core::ops::Range<usize> {
    let elements = instruction.shape().tuple_shapes().unwrap_or(&[]);
    let count = |element: usize| elements.get(element).map_or(0, xla_shape_core::Shape::subshape_count);
    if instruction.opcode().text().ends_with("-start") && elements.len() > 1 {
        let first = count(0) + 1;
        first..first + count(1)
    } else {
        0..0
    }
}

#[cfg(test)]
mod tests {
    use crate::Module;
    use alloc::vec::Vec;

    fn steps(text: &str) -> Vec<alloc::string::String> {
        let module = Module::parse(text).unwrap();
        let memory = module.memory();
        let timeline = memory.timeline().unwrap();
        timeline.instructions().iter().map(|instruction| instruction.name().into()).collect()
    }

    #[test]
    fn a_call_runs_where_its_last_operand_is_given() {
        let module = |entry: &str| {
            alloc::format!(
                "HloModule m, is_scheduled=true\nc {{\n  x = f32[8]{{0}} parameter(0)\n  ROOT n = f32[8]{{0}} negate(x)\n}}\n\
                 ENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n{entry}}}\n"
            )
        };
        let early = "  s = ((f32[8]{0}), f32[8]{0}, s32[]) async-start(p), calls=c\n  a = f32[8]{0} abs(p)\n  \
                     ROOT d = f32[8]{0} async-done(s)\n";
        assert_eq!(steps(&module(early)), ["p", "x", "n", "s", "a", "d"]);
        let late = "  s = ((), (), s32[]) async-start(), calls=c\n  a = f32[8]{0} abs(p)\n  \
                    u = ((f32[8]{0}), f32[8]{0}, s32[]) async-update(s, a)\n  ROOT d = f32[8]{0} async-done(u)\n";
        assert_eq!(steps(&module(late)), ["p", "s", "a", "x", "n", "u", "d"]);
        // Without its operands, the computation runs at the start.
        let never = "  s = ((), f32[8]{0}, s32[]) async-start(), calls=c\n  ROOT d = f32[8]{0} async-done(s)\n";
        assert_eq!(steps(&module(never)), ["p", "x", "n", "s", "d"]);
    }
}
