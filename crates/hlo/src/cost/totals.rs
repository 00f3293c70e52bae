//! The cost of a whole program. The body of a loop counts as often as it runs; of a conditional, the most expensive
//! branch counts.

use super::bytes::time;
use super::figure::{Basis, CostError, Figure, Reification, Said, Trouble, Unit, said};
use crate::memory::{CallOrder, called, called_in_order};
use crate::schema::Key;
use crate::trips::trip_count;
use crate::{Instruction, Module, Opcode};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::vec::Vec;
use core::iter::Sum;
use xla_shape_core::Shape;
use xla_shape_core::gpu::Speed;

/// What one instruction of a program is expected to cost.
#[derive(Clone, Debug)]
pub struct InstructionCost<'m> {
    /// The instruction.
    pub instruction: Instruction<'m>,
    /// What one run takes.
    pub figure: Figure,
    /// Where the figure comes from.
    pub basis: Basis,
    /// The compiler's figures for a GPU; `None` for a TPU, or if the compiler says nothing.
    pub reification: Option<Reification>,
    /// How often each loop over its windows runs (`iteration_bounds`), the outermost loop first; empty if the compiler does not say.
    pub iteration_bounds: Vec<u64>,
    /// How often it runs in one run of the program, as [`TotalCost::total`] counts: 0 in a branch that does not count. `None` if that number is larger
    /// than a `u64`.
    pub runs: Option<u64>,
    /// Whether it is in a loop whose trip count is unknown, so that [`runs`](Self::runs) counts one iteration only.
    pub is_in_unknown_loop: bool,
    /// The bytes of its operands' arrays, padding included. `None` if the size of one is not known.
    pub bytes_read: Option<u64>,
    /// The bytes of its result's arrays, padding included. `None` if the size of one is not known.
    pub bytes_written: Option<u64>,
}

impl InstructionCost<'_> {
    /// What all its runs take. `None` without a figure, or if the number is larger than a `u64`.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8]{0} parameter(0)
    ///   ROOT b = f32[8]{0} copy(a), backend_config={"window_config":{"estimated_cycles":"12"}}
    /// }"#)?;
    /// assert_eq!(module.costs()?.instructions()[0].total(), Some(12));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.figure.known()?.checked_mul(self.runs?)
    }
}

/// A loop of a program.
///
/// ```
/// let module = xla_shape_hlo::Module::parse(r#"
/// HloModule m
/// c { q = s32[] parameter(0)
///   ROOT t = pred[] custom-call(q), custom_call_target="more" }
/// b { p = s32[] parameter(0)
///   ROOT r = s32[] negate(p), backend_config={"window_config":{"estimated_cycles":"7"}} }
/// ENTRY e { a = s32[] parameter(0)
///   ROOT w = s32[] while(a), condition=c, body=b, backend_config={"known_trip_count":{"n":"3"}} }"#)?;
/// let costs = module.costs()?;
/// assert_eq!((costs.loops()[0].instruction.name(), costs.loops()[0].trips), ("w", Some(3)));
/// assert_eq!(costs.total().total, Some(3 * 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct LoopCost<'m> {
    /// The `while`.
    pub instruction: Instruction<'m>,
    /// The trip count: how often the body runs each time. `None` if it is not known; the body then counts once.
    pub trips: Option<u64>,
}

/// A `conditional` of a program.
///
/// ```
/// let module = xla_shape_hlo::Module::parse(r#"
/// HloModule m
/// x { p = f32[8]{0} parameter(0)
///   ROOT r = f32[8]{0} negate(p), backend_config={"window_config":{"estimated_cycles":"7"}} }
/// y { q = f32[8]{0} parameter(0)
///   ROOT s = f32[8]{0} exponential(q), backend_config={"window_config":{"estimated_cycles":"90"}} }
/// ENTRY e { i = s32[] parameter(0)
///   a = f32[8]{0} parameter(1)
///   ROOT c = f32[8]{0} conditional(i, a, a), branch_computations={x, y} }"#)?;
/// let costs = module.costs()?;
/// assert_eq!(costs.branches()[0].branch, 1, "y takes more cycles than x");
/// assert_eq!(costs.total().total, Some(90));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct BranchCost<'m> {
    /// The `conditional`.
    pub instruction: Instruction<'m>,
    /// The branch that counts, from 0: the first one that costs the most.
    pub branch: usize,
}

/// What a program costs, in its [`Unit`], and how many instructions the cost leaves out.
///
/// ```
/// let module = xla_shape_hlo::Module::parse(r#"
/// HloModule m
/// ENTRY e { a = f32[8]{0} parameter(0)
///   b = f32[8]{0} copy(a), backend_config={"window_config":{"estimated_cycles":"12"}}
///   ROOT c = f32[8]{0} negate(b) }"#)?;
/// let total = module.costs()?.total();
/// assert_eq!((total.total, total.known), (Some(12), 1));
/// assert_eq!(total.without, 1, "the program takes longer: c has no figure");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TotalCost {
    /// The sum of all figures, each instruction counted once, and one inside of a fusion with its fusion. `None` if no instruction has a figure, or if the sum is larger than a `u64`.
    pub once: Option<u64>,
    /// The cost of one run of the program. The body of a loop counts as often as it runs; of a conditional, the most expensive branch
    /// counts. `None` if no instruction has a figure, if the module is [partial](Self::is_partial), or if the sum is larger than a
    /// `u64`.
    pub total: Option<u64>,
    /// How many instructions have a figure.
    pub known: usize,
    /// How many instructions run, and do more than name values, but have no figure. Instructions that [`flagged`](Self::flagged) counts are not
    /// included.
    pub without: usize,
    /// For how many instructions the compiler wrote that it has no estimate.
    pub flagged: usize,
    /// Whether most fusions lack their figures while other instructions have some, as in the files that XLA dumps: the sum
    /// would say nothing about the program.
    pub is_partial: bool,
    /// Whether a sum or a product is larger than a `u64`.
    pub has_overflowed: bool,
}

/// What the instructions of a program are expected to cost. Made by [`Module::costs`].
#[derive(Clone, Debug)]
pub struct Costs<'m> {
    instructions: Vec<InstructionCost<'m>>,
    loops: Vec<LoopCost<'m>>,
    branches: Vec<BranchCost<'m>>,
    unread: Vec<(Instruction<'m>, CostError)>,
    unit: Unit,
    total: TotalCost,
    /// By the number of an instruction: the cost of the computations that it runs. A loop has the cost of all its iterations.
    inside: BTreeMap<u32, u64>,
}

impl<'m> Costs<'m> {
    /// The instructions that run by themselves, not inside of a fusion or of a reducer, in the order of the text. Parameters, constants, tuples and the
    /// like are left out.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse("
    /// HloModule m
    /// ENTRY main { a = f32[8]{0} parameter(0)
    ///   ROOT b = f32[8]{0} negate(a) }")?;
    /// let costs = module.costs()?;
    /// assert_eq!(costs.instructions().len(), 1);
    /// assert_eq!(costs.total().without, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn instructions(&self) -> &[InstructionCost<'m>] {
        &self.instructions
    }

    /// The loops that run, in the order of the text.
    #[must_use]
    pub fn loops(&self) -> &[LoopCost<'m>] {
        &self.loops
    }

    /// The conditionals that run, in the order of the text.
    #[must_use]
    pub fn branches(&self) -> &[BranchCost<'m>] {
        &self.branches
    }

    /// The instructions whose `backend_config` cannot be read, and why, in the order of the text. They count as instructions
    /// without a figure.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// ENTRY main { a = f32[8]{0} parameter(0)
    ///   ROOT b = f32[8]{0} copy(a), backend_config={"window_config":[]} }"#)?;
    /// let costs = module.costs()?;
    /// assert_eq!(costs.unread()[0].1.to_string(), "b: expected `window_config` to be an object, found []");
    /// assert_eq!(costs.total().without, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn unread(&self) -> &[(Instruction<'m>, CostError)] {
        &self.unread
    }

    /// What one run of an instruction takes: its own figure plus the cost of the computations that it runs, such as all iterations of a loop. 0 if
    /// the compiler gives no figure for any of these.
    ///
    /// ```
    /// let module = xla_shape_hlo::Module::parse(r#"
    /// HloModule m
    /// f { p = f32[8]{0} parameter(0)
    ///   ROOT r = f32[8]{0} negate(p), backend_config={"window_config":{"estimated_cycles":"7"}} }
    /// ENTRY main { a = f32[8]{0} parameter(0)
    ///   ROOT c = f32[8]{0} call(a), to_apply=f }"#)?;
    /// assert_eq!(module.costs()?.cost_of(module.instruction("c").unwrap()), 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cost_of(&self, instruction: Instruction<'_>) -> u64 {
        let number = instruction.number();
        let place = self.instructions.binary_search_by_key(&number, |cost| cost.instruction.number()).ok();
        let own = place.and_then(|place| self.instructions.get(place)?.figure.known()).unwrap_or(0);
        own.saturating_add(self.inside.get(&number).copied().unwrap_or(0))
    }

    /// The sums.
    #[must_use]
    pub const fn total(&self) -> TotalCost {
        self.total
    }

    /// The unit of all figures and sums.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, cost::Unit};
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// assert_eq!(module.costs()?.unit(), Unit::Cycles);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn unit(&self) -> Unit {
        self.unit
    }
}

/// A sum: `None` once it is larger than a `u64`.
#[derive(Clone, Copy)]
struct Checked(Option<u64>);

impl Sum<u64> for Checked {
    fn sum<I: Iterator<Item = u64>>(mut numbers: I) -> Self {
        Self(numbers.try_fold(0_u64, u64::checked_add))
    }
}

/// Whether an instruction needs no figure of its own: it only names values, or only runs computations, whose instructions have figures.
fn is_free(opcode: Opcode<'_>) -> bool {
    use Opcode as O;
    // The time of an asynchronous operation counts at its start.
    opcode.text().ends_with("-done")
        || matches!(
            opcode,
            O::Parameter
                | O::Constant
                | O::Tuple
                | O::GetTupleElement
                | O::Bitcast
                | O::AfterAll
                | O::AddDependency
                | O::OptBarrier
                | O::PartitionId
                | O::ReplicaId
                | O::While
                | O::Conditional
                | O::Call
                | O::AsyncStart
                | O::AsyncUpdate
        )
}

/// Adds up what the program costs, and says what is wrong with it: figures that are not numbers, and calls in a circle.
pub(super) fn costs(module: &Module, speed: Option<Speed>) -> (Costs<'_>, Vec<CostError>) {
    let unit = if module.is_for_gpu() { Unit::Picoseconds } else { Unit::Cycles };
    let CallOrder { callees_first: order, circle } = CallOrder::new(module, called);
    let circle = circle.map(|(caller, called)| {
        let message = alloc::format!("{}: its computation {} calls itself", caller.name(), called.name());
        CostError::new(caller.span(), message)
    });
    let mut errors: Vec<CostError> = circle.into_iter().collect();
    let mut unread = Vec::new();
    let mut all_said = Vec::new();
    let speed = speed.filter(|_| unit == Unit::Picoseconds);
    for instruction in module.instructions() {
        let mut said = said(instruction, unit).unwrap_or_else(|trouble| {
            match trouble {
                Trouble::Unread(error) => unread.push((instruction, error)),
                Trouble::NoNumber(error) => errors.push(error),
            }
            Said::nothing()
        });
        let missing = speed.filter(|_| said.figure == Figure::Missing);
        if let Some((time, basis)) = missing.and_then(|speed| time(instruction, speed)) {
            (said.figure, said.basis) = (Figure::Known(time), basis);
        }
        all_said.push(said);
    }
    let figure = |instruction: Instruction<'_>| {
        all_said.get(instruction.number() as usize).map_or(Figure::Missing, |said| said.figure)
    };

    let mut inside_of: BTreeMap<u32, u64> = BTreeMap::new();
    // What one run of each computation costs; `None` if that is larger than a `u64`.
    let mut sums: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    let mut chosen: BTreeMap<u32, usize> = BTreeMap::new();
    let mut trips: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    for &number in &order {
        let Some(computation) = module.computation_at(number) else { continue };
        let mut sum = Some(0_u64);
        for instruction in computation.instructions() {
            let inside: Vec<Option<u64>> = called_in_order(instruction)
                .iter()
                .map(|called| called.and_then(|called| sums.get(&called.number()).copied()).unwrap_or(Some(0)))
                .collect();
            let all = || inside.iter().copied().try_fold(0_u64, |sum, next| sum.checked_add(next?));
            let inside = match instruction.opcode() {
                Opcode::While => {
                    let count = trip_count(instruction);
                    trips.insert(instruction.number(), count);
                    all().and_then(|all| all.checked_mul(count.unwrap_or(1)))
                }
                Opcode::Conditional => {
                    // A sum that is too large for a `u64` counts as larger than any other.
                    let cost = |branch: &Option<u64>| (branch.is_none(), branch.unwrap_or(0));
                    let most = inside.iter().enumerate().rev().max_by_key(|(_, branch)| cost(branch));
                    if let Some((branch, _)) = most {
                        chosen.insert(instruction.number(), branch);
                    }
                    most.map_or(Some(0), |(_, branch)| *branch)
                }
                _ => all(),
            };
            if inside != Some(0) {
                inside_of.insert(instruction.number(), inside.unwrap_or(u64::MAX));
            }
            sum = sum.zip(inside).and_then(|(sum, inside)| sum.checked_add(inside));
            if let Some(figure) = figure(instruction).known() {
                sum = sum.and_then(|sum| sum.checked_add(figure));
            }
        }
        sums.insert(number, sum);
    }

    // How often each computation runs, callers first.
    let mut runs: BTreeMap<u32, Option<u64>> = BTreeMap::new();
    let mut in_unknown_loop: BTreeSet<u32> = BTreeSet::new();
    for &number in order.iter().rev() {
        let Some(computation) = module.computation_at(number) else { continue };
        if crate::memory::is_entry_point(computation) {
            runs.insert(number, Some(1));
        }
        let times = *runs.entry(number).or_insert(Some(0));
        for instruction in computation.instructions() {
            let trips = trips.get(&instruction.number()).copied();
            let factor = trips.flatten().unwrap_or(1);
            if trips == Some(None) || in_unknown_loop.contains(&number) {
                in_unknown_loop.extend(called(instruction).iter().map(|called| called.number()));
            }
            for (branch, called) in called_in_order(instruction).iter().enumerate() {
                let Some(called) = called else { continue };
                let counts = chosen.get(&instruction.number()).is_none_or(|&chosen| chosen == branch);
                let more = if counts { times.and_then(|times| times.checked_mul(factor)) } else { Some(0) };
                let sum = runs.entry(called.number()).or_insert(Some(0));
                *sum = sum.zip(more).and_then(|(sum, more)| sum.checked_add(more));
            }
        }
    }

    let mut instructions = Vec::new();
    let (mut fusions, mut fusions_without) = (0_usize, 0_usize);
    let mut totals = TotalCost::default();
    for (instruction, said) in module.instructions().zip(all_said) {
        // What an instruction inside of a fusion or of a reducer takes counts with the instruction that calls it.
        let Some(&runs) = runs.get(&instruction.computation().number()) else { continue };
        let (figure, opcode) = (said.figure, instruction.opcode());
        // An instruction that could not be read has no opcode.
        if figure == Figure::Missing && (is_free(opcode) || opcode.text().is_empty()) {
            continue;
        }
        match figure {
            Figure::Known(_) => totals.known += 1,
            Figure::Flagged => totals.flagged += 1,
            Figure::Missing => totals.without += 1,
        }
        // The compiler gives no figure for some fusions of the kind `kCustom`; all other fusions have one.
        if opcode == Opcode::Fusion && instruction.name_of(Key::FusionKind) != Some("kCustom") {
            fusions += 1;
            fusions_without += usize::from(figure == Figure::Missing);
        }
        let operands = instruction.operands().filter_map(|operand| operand.shape());
        instructions.push(InstructionCost {
            instruction,
            figure,
            basis: said.basis,
            reification: said.reification,
            iteration_bounds: said.iteration_bounds,
            runs,
            is_in_unknown_loop: in_unknown_loop.contains(&instruction.computation().number()),
            bytes_read: bytes(operands),
            bytes_written: bytes_written(instruction),
        });
    }
    let Checked(once) = instructions.iter().filter_map(|cost| cost.figure.known()).sum();
    // Each fragment counts as a program; their costs are added.
    let begin = module.computations().filter(|computation| crate::memory::is_entry_point(*computation));
    let total = begin
        .map(|computation| sums.get(&computation.number()).copied().flatten())
        .try_fold(0_u64, |sum, next| sum.checked_add(next?));
    totals.is_partial = totals.known + totals.flagged > 0 && fusions_without > fusions / 2;
    totals.has_overflowed = totals.known > 0 && (once.is_none() || total.is_none());
    totals.once = once.filter(|_| totals.known > 0);
    totals.total = total.filter(|_| totals.known > 0 && !totals.is_partial && errors.is_empty());
    let loops = trips
        .iter()
        .filter_map(|(&number, &trips)| Some(LoopCost { instruction: module.instruction_at(number)?, trips }));
    let branches = chosen
        .iter()
        .filter_map(|(&number, &branch)| Some(BranchCost { instruction: module.instruction_at(number)?, branch }));
    let (loops, branches) = (loops.collect(), branches.collect());
    (Costs { instructions, loops, branches, unread, unit, total: totals, inside: inside_of }, errors)
}

/// The bytes that an instruction writes.
pub(super) fn bytes_written(instruction: Instruction<'_>) -> Option<u64> {
    bytes(core::iter::once(instruction.computed_shape()))
}

/// The bytes of all arrays of some shapes.
pub(super) fn bytes<'s>(shapes: impl Iterator<Item = &'s Shape>) -> Option<u64> {
    shapes.flat_map(Shape::arrays).map(|array| array.byte_size()).try_fold(0_u64, |sum, bytes| sum.checked_add(bytes?))
}
