//! The expected cost of a program: the compiler's cycles or times, by source line, scope and opcode, and each copy with its cause.

mod cause;
mod collectives;
mod convolution;
mod copies;
mod estimates;
mod measured;
mod remedy;
mod run;
mod spread;
pub(crate) mod sums;

use crate::Answer;
use crate::amount;
pub use crate::amount::{Amount, Seconds};
use crate::digest::{self, Digest};
use crate::place::Place;
pub use crate::remedy::{Remedy, Stays};
use crate::source::{line_of_text, scope_of, source_text};
pub use cause::{Cause, FixedBy, Side};
pub use collectives::Collective;
use collectives::collectives;
pub use copies::{Changed, CopyCost};
pub use measured::{
    Measured, MeasuredCollective, MeasuredCopy, MeasuredDoubt, MeasuredInstruction, MeasuredLine, MeasuredModule,
    MeasuredOpcode, MeasuredScope, Runs, Times,
};
pub use run::{MeasuredRun, RunEvent, RunInstruction, RunKind, RunRow};
use schemars::JsonSchema;
use serde::Serialize;
pub use spread::Spread;
use std::cmp::Reverse;
use std::collections::BTreeMap;
pub use sums::{NoTotal, Sums};
use xla_shape_core::Layout;
use xla_shape_core::gpu::Speed;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_hlo::cost::{self, CostError, Figure, InstructionCost};
use xla_shape_hlo::{Instruction, Module, Sources};
use xla_shape_program::{CompileError, CompilerAnswer, Program};

/// What a program is expected to cost, by the compiler's own figures.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_answers::{Answer, cost::{Amount, ProgramCost}};
///
/// let module = Module::parse(r#"
/// HloModule m
/// ENTRY main {
///   a = f32[8,128]{1,0} parameter(0)
///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}}
/// }"#)?;
/// let cost = ProgramCost::new(&module)?;
/// assert_eq!(cost.sums.total, Some(Amount::Cycles(1200)));
/// assert!(cost.json().contains(r#""cycles":{"once":1200,"total":1200,"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A program with a loop, a copy after a collective, and source lines:
///
/// ```
/// use xla_shape_answers::cost::{Amount, Cause, FixedBy, ProgramCost};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse(r#"
/// HloModule m
/// body {
///   i = s32[] parameter(0)
///   ROOT j = s32[] negate(i), metadata={op_name="step/layer/neg" source_file="train.py" source_line=7},
///     backend_config={"window_config":{"estimated_cycles":"10"}}
/// }
/// condition { i = s32[] parameter(0) ROOT more = pred[] constant(false) }
/// sum { x = f32[] parameter(0) y = f32[] parameter(1) ROOT z = f32[] add(x, y) }
/// ENTRY main {
///   a = f32[8,128]{1,0} parameter(0)
///   n = s32[] parameter(1)
///   loop = s32[] while(n), condition=condition, body=body, backend_config={"known_trip_count":{"n":"5"}}
///   all = f32[8,128]{1,0} all-reduce(a), replica_groups={{0,1}}, to_apply=sum
///   b = f32[8,128]{0,1} copy(all), backend_config={"window_config":{"estimated_cycles":"1200"}}
///   ROOT r = (s32[], f32[8,128]{0,1}) tuple(loop, b)
/// }"#)?;
/// let cost = ProgramCost::new(&module)?;
/// assert_eq!((cost.loops[0].instruction.as_str(), cost.loops[0].trips), ("loop", Some(5)));
/// let (copy, second) = (&cost.copies[0], &cost.instructions[1]);
/// assert_eq!((copy.change.to_string().as_str(), copy.share), ("layout", Some(0.96)));
/// let Cause::Layouts { made, used } = &copy.cause else { panic!("the copy changes the layout") };
/// assert!(matches!(&made.by, FixedBy::Instruction { opcode, .. } if opcode == "all-reduce"));
/// assert_eq!(used.layout, "{0,1}");
/// assert_eq!((second.runs, second.total), (Some(5), Some(Amount::Cycles(50))));
/// assert_eq!((cost.lines[1].source.as_deref(), cost.lines[1].amount), (Some("train.py:7"), Some(Amount::Cycles(50))));
/// assert_eq!((cost.scopes[1].scope.as_str(), cost.opcodes[0].opcode.as_str()), ("step/layer", "copy"));
/// assert_eq!((cost.collectives[0].bytes_in, cost.collectives[0].runs), (4096, Some(1)));
/// assert_eq!(cost.without[0].opcode, "all-reduce", "it has no figure");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ProgramCost {
    /// The name of the module; null if it has none.
    pub module: Option<String>,
    /// Sums of the compiler's figures.
    #[serde(flatten)]
    pub sums: Sums,
    /// Instructions without a figure.
    pub without: Vec<Group>,
    /// Which configurations of instructions cannot be read, and why; these instructions have no figure.
    pub unread: Vec<String>,
    /// The loops of the program.
    pub loops: Vec<Loop>,
    /// The conditionals of the program.
    pub branches: Vec<Branch>,
    /// Instructions that only move data, or compute more than they must, the most expensive first.
    pub copies: Vec<CopyCost>,
    /// The costs by source line.
    pub lines: Vec<Line>,
    /// The costs by scope of the user's program.
    pub scopes: Vec<ScopeCost>,
    /// The costs by opcode.
    pub opcodes: Vec<OpcodeCost>,
    /// The instructions with a figure, the most expensive first.
    pub instructions: Vec<Expensive>,
    /// Operations in which devices take part together.
    pub collectives: Vec<Collective>,
    /// With --try: the layouts that were tried.
    pub tried: Vec<Tried>,
    /// For a profile: what it measured of the program; null for anything else.
    pub measured: Option<Box<Measured>>,
}

impl ProgramCost {
    /// Whether the source lines are lines of the compiled text itself, because it had no lines of the user's program. The compiler calls such a text
    /// `-`.
    ///
    /// ```
    /// use xla_shape_answers::cost::ProgramCost;
    /// use xla_shape_hlo::Module;
    ///
    /// let of = |file: &str| {
    ///     let text = format!(
    ///         "HloModule m\nENTRY e {{ a = f32[8] parameter(0) ROOT b = f32[8] negate(a), metadata={{source_file=\"{file}\" source_line=3}}, \
    ///          backend_config={{\"window_config\":{{\"estimated_cycles\":\"9\"}}}} }}"
    ///     );
    ///     Ok::<_, Box<dyn std::error::Error>>(ProgramCost::new(&Module::parse(&text)?)?.has_lines_of_text())
    /// };
    /// assert!(of("-")? && !of("step.py")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn has_lines_of_text(&self) -> bool {
        let mut sources = self.lines.iter().filter_map(|line| line.source.as_deref()).peekable();
        sources.peek().is_some() && sources.all(|source| line_of_text(source).is_some())
    }
}

impl ProgramCost {
    /// The instructions for which a lower bound on their time is used, because the compiler's estimate is not credible.
    pub fn bounded(&self) -> impl Iterator<Item = &Expensive> {
        self.with_basis(Basis::Bound)
    }

    /// The instructions whose time has this basis.
    pub fn with_basis(&self, basis: Basis) -> impl Iterator<Item = &Expensive> {
        self.instructions.iter().filter(move |found| found.basis == basis)
    }

    /// How many instructions have a time that is computed from the bytes that they move; or that some would have one if a GPU were named.
    #[must_use]
    pub fn by_bytes(&self) -> Option<ByBytes> {
        let counted = self.with_basis(Basis::Bytes).count();
        let moves = |opcode: &str| ["copy", "transpose", "custom-call"].contains(&opcode);
        let would = || self.sums.are_times() && self.without.iter().any(|group| moves(&group.opcode));
        match counted {
            0 => would().then_some(ByBytes::WithGpu),
            counted => Some(ByBytes::Counted(counted)),
        }
    }
}

/// The instructions whose time is computed from the bytes that they move.
///
/// ```
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { a = f32[8]{0} parameter(0) ROOT b = f32[8]{0} copy(a) }")?;
/// assert_eq!(ProgramCost::new(&module)?.by_bytes(), None, "on a TPU, nothing does");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByBytes {
    /// This many instructions.
    Counted(usize),
    /// No GPU is named. If one were, the time of some instructions would be computed from their bytes.
    WithGpu,
}

/// The result of compiling the program with some requested layouts.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Tried {
    /// The layouts that were asked for, and where.
    pub asked: Vec<String>,
    /// Whether the compiled program has them.
    pub taken: bool,
    /// The cost of the program with them; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::with_layouts")]
    #[schemars(with = "amount::WithLayouts")]
    pub amount: Option<Amount>,
    /// Its cost without them; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::without_layouts")]
    #[schemars(with = "amount::WithoutLayouts")]
    pub before: Option<Amount>,
    /// The bytes of HBM with them; null if they are not known.
    pub bytes: Option<u64>,
    /// The bytes of HBM without them; null if they are not known.
    pub bytes_before: Option<u64>,
    /// How many copies change a layout with them; null if the compiler refused.
    pub copies: Option<usize>,
    /// How many copies change a layout without them.
    pub copies_before: usize,
    /// Why the compiler refused; null if it did not.
    pub error: Option<String>,
}

/// Instructions of one opcode.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Group {
    /// The opcode.
    pub opcode: String,
    /// How many instructions.
    pub instructions: usize,
}

/// A loop.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Loop {
    /// The name of the instruction.
    pub instruction: String,
    /// How often the body runs each time; null if that is not known: the body then counts once.
    pub trips: Option<u64>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A conditional.
///
/// ```
/// use xla_shape_answers::cost::{Amount, ProgramCost};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse(r#"
/// HloModule m
/// x { p = f32[8]{0} parameter(0)
///   ROOT r = f32[8]{0} negate(p), backend_config={"window_config":{"estimated_cycles":"7"}} }
/// y { q = f32[8]{0} parameter(0)
///   ROOT s = f32[8]{0} exponential(q), backend_config={"window_config":{"estimated_cycles":"90"}} }
/// ENTRY e { i = s32[] parameter(0) a = f32[8]{0} parameter(1)
///   ROOT c = f32[8]{0} conditional(i, a, a), branch_computations={x, y}, metadata={source_file="step.py" source_line=9} }"#)?;
/// let cost = ProgramCost::new(&module)?;
/// assert_eq!((cost.branches[0].branch, cost.sums.total), (1, Some(Amount::Cycles(90))), "only the more expensive one counts");
/// assert_eq!(cost.branches[0].source.as_deref(), Some("step.py:9"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Branch {
    /// The name of the instruction.
    pub instruction: String,
    /// The number of the branch that counts, from 0.
    pub branch: usize,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

/// A source line.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Line {
    /// The file and the line; null for instructions without one.
    pub source: Option<String>,
    /// The cost of all runs.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// How many instructions.
    pub instructions: usize,
}

/// A scope.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ScopeCost {
    /// The op_name without its last part.
    pub scope: String,
    /// The cost of all runs.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// How many instructions.
    pub instructions: usize,
}

/// An opcode.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct OpcodeCost {
    /// The opcode.
    pub opcode: String,
    /// The cost of all runs.
    #[serde(flatten, serialize_with = "amount::all_runs")]
    #[schemars(with = "amount::AllRuns")]
    pub amount: Option<Amount>,
    /// How many instructions.
    pub instructions: usize,
}

/// An instruction.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Expensive {
    /// Its name.
    pub instruction: String,
    /// Its opcode.
    pub opcode: String,
    /// The cost of one run.
    #[serde(flatten, serialize_with = "amount::one_run")]
    #[schemars(with = "amount::OneRun")]
    pub amount: Option<Amount>,
    /// Where that figure comes from.
    pub basis: Basis,
    /// For a GPU: the compiler's own estimate of one run, in seconds; null if it gives none.
    pub estimate_seconds: Option<Seconds>,
    /// For a GPU: the compiler's lower bound on the seconds of one run; null if it gives none.
    pub bound_seconds: Option<Seconds>,
    /// How often it runs; null if it is not known.
    pub runs: Option<u64>,
    /// The cost of all runs; `None` if it is not known.
    #[serde(flatten, serialize_with = "amount::total")]
    #[schemars(with = "amount::Total")]
    pub total: Option<Amount>,
    /// The bytes that one run reads; null if they are not known.
    pub bytes_read: Option<u64>,
    /// The bytes that one run writes; null if they are not known.
    pub bytes_written: Option<u64>,
    /// The shape of its value, with its layout.
    pub shape: String,
    /// The name of the operation in the user's program; null if the module has none.
    pub op_name: Option<String>,
    /// The file and the line, such as "train.py:43"; null if the module has none.
    pub source: Option<String>,
}

words! {
    /// Where the figure of an instruction comes from.
    ///
    /// ```
    /// use xla_shape_answers::cost::{Basis, ProgramCost};
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse(r#"
    /// HloModule m
    /// ENTRY e { a = f32[1000]{0} parameter(0)
    ///   ROOT b = (f32[1000]{0}, u8[0]{0}) custom-call(a), custom_call_target="__cublas$gemm" }"#)?;
    /// let speed = xla_shape_core::gpu::Speed { bytes_per_second: 8_000_000_000, gpu: None };
    /// let cost = ProgramCost::at(&module, Some(speed))?;
    /// assert_eq!(cost.instructions[0].basis, Basis::Bytes);
    /// assert_eq!(cost.sums.total.map(|total| total.to_string()).as_deref(), Some("1.00 µs"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub enum Basis {
        /// The compiler's estimate; for a GPU, its bound if that is higher.
        Estimate = "estimate",
        /// The compiler's bound for a GPU, because its estimate is more than 20 times as long.
        Bound = "bound",
        /// The bytes that it reads and writes, divided by the bandwidth of the GPU's memory, because the compiler says nothing.
        Bytes = "bytes over bandwidth",
        /// The operations of a convolution, divided by the operations per second of the GPU's matrix units, because moving its bytes takes less time.
        Operations = "operations over peak",
        /// The compiler's estimate of a sort, which covers only one of the sort's many passes.
        OnePass = "one pass of a sort",
    }
}

impl From<cost::Basis> for Basis {
    fn from(basis: cost::Basis) -> Self {
        match basis {
            cost::Basis::Estimate => Self::Estimate,
            cost::Basis::Bound => Self::Bound,
            cost::Basis::Bytes => Self::Bytes,
            cost::Basis::Operations => Self::Operations,
            cost::Basis::OnePass => Self::OnePass,
        }
    }
}

impl Answer for ProgramCost {
    const SCHEMA: &'static str = "xla-shape/cost/1";

    /// The copies and source lines that cost the most. With a profile, those that took the longest time.
    fn digest(&self) -> Digest {
        if let Some(measured) = &self.measured {
            return measured.digest();
        }
        let copies = self.copies.iter().map(|copy| digest::Cause {
            name: format!("%{}", copy.instruction),
            amount: copy.total.map(digest::Amount::Cost).or(copy.bytes.map(digest::Amount::Bytes)),
            source: copy.source.clone(),
            because: Some(copy.cause.to_string()),
            remedy: copy.remedy.as_ref().map(ToString::to_string),
        });
        let lines = self.lines.iter().filter_map(|line| {
            let amount = line.amount.map(digest::Amount::Cost);
            Some(digest::Cause { name: line.source.clone()?, amount, ..digest::Cause::default() })
        });
        let causes = digest::largest_of(copies.collect(), lines);
        let shown = self.instructions.first().map(|found| &found.instruction);
        let show = shown.or(self.copies.first().map(|copy| &copy.instruction)).map(|shown| digest::show(shown));
        Digest { causes, next: show.into_iter().chain([vec!["hlo".into(), digest::Word::File(0)]]).collect() }
    }
}

impl ProgramCost {
    /// The expected cost of the program in a module.
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn new(module: &Module) -> Result<Self, CostError> {
        Self::at(module, None)
    }

    /// The expected cost of an opened program. Like [`new`](Self::new), but with the speed of the program's GPU, if that is known ([`Program::gpu`]).
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn of(program: &Program) -> Result<Self, CostError> {
        Self::with(program.module(), program.gpu().map(Speed::from), Some(program))
    }

    /// The expected cost of a program that a compiler has compiled.
    ///
    /// # Errors
    /// If the compiled module or its figures cannot be read.
    pub fn of_compiled(said: &CompilerAnswer) -> Result<Self, CompileError> {
        let cost = Self::at(&said.module()?, said.speed());
        cost.map_err(|error| CompileError::Refused(error.to_string()))
    }

    /// Like [`new`](Self::new), for a GPU with this speed ([`Module::costs_at`]).
    ///
    /// # Errors
    /// As [`Module::costs`].
    pub fn at(module: &Module, speed: Option<Speed>) -> Result<Self, CostError> {
        Self::with(module, speed, None)
    }

    /// Like [`at`](Self::at), with the measurements of the program's profile, if it has one.
    pub(crate) fn with(module: &Module, speed: Option<Speed>, program: Option<&Program>) -> Result<Self, CostError> {
        let (costs, errors) = module.costs_at(speed);
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        let (readers, sources) = (module.readers(), module.sources());
        let sums = Sums::new(&costs);
        let mut without = BTreeMap::<String, usize>::new();
        for cost in costs.instructions().iter().filter(|cost| cost.figure == Figure::Missing) {
            *without.entry(cost.instruction.opcode().to_string()).or_default() += 1;
        }
        let mut without: Vec<_> =
            without.into_iter().map(|(opcode, instructions)| Group { opcode, instructions }).collect();
        sort_by_key(&mut without, |group| Reverse(group.instructions));
        let source = |instruction: Instruction<'_>| source_text(&sources.get(instruction));
        let loops = costs.loops().iter().map(|found| Loop {
            instruction: found.instruction.name().to_owned(),
            trips: found.trips,
            source: source(found.instruction),
        });
        let branches = costs.branches().iter().map(|found| Branch {
            instruction: found.instruction.name().to_owned(),
            branch: found.branch,
            source: source(found.instruction),
        });
        // If figures are missing, shares and sums by line would be wrong.
        let counted = if sums.partial { &[][..] } else { costs.instructions() };
        let mut copies: Vec<_> = costs.copies().iter().map(|copy| CopyCost::new(copy, &sources, &sums)).collect();
        sort_by_key(&mut copies, |copy| Reverse((copy.total, copy.bytes)));
        let sums_by = |name: &dyn Fn(Instruction<'_>) -> Option<String>| grouped(counted, &sums, name);
        let lines = sums_by(&|instruction| source_text(&sources.get(instruction)));
        let scopes = sums_by(&|instruction| Some(scope_of(sources.get(instruction).op_name.as_deref())));
        let opcodes = sums_by(&|instruction| Some(instruction.opcode().to_string()));
        let named = |name: Option<String>| name.unwrap_or_default();
        let collectives = collectives(module, &costs, &readers, &sources);
        let measured = program.and_then(|program| Measured::new(program, &costs, &copies, &collectives));
        Ok(Self {
            module: module.name().map(str::to_owned),
            sums,
            without,
            unread: costs.unread().iter().map(|(_, error)| error.to_string()).collect(),
            loops: loops.collect(),
            branches: branches.collect(),
            copies,
            lines: lines
                .into_iter()
                .map(|(source, amount, instructions)| Line { source, amount, instructions })
                .collect(),
            scopes: scopes
                .into_iter()
                .map(|(scope, amount, instructions)| ScopeCost { scope: named(scope), amount, instructions })
                .collect(),
            opcodes: opcodes
                .into_iter()
                .map(|(opcode, amount, instructions)| OpcodeCost { opcode: named(opcode), amount, instructions })
                .collect(),
            instructions: expensive(costs.instructions(), &sums, &sources),
            collectives,
            tried: Vec::new(),
            measured: measured.map(Box::new),
        })
    }

    /// The layouts that would remove copies, and where to ask for each, the most expensive copy first. There is one layout for each place.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_answers::cost::ProgramCost;
    /// use xla_shape_answers::place::Place;
    ///
    /// let module = Module::parse("\
    /// HloModule m
    /// ENTRY main {
    ///   a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a)
    /// }")?;
    /// let cost = ProgramCost::new(&module)?;
    /// assert_eq!(cost.remedies(), [(Place::Parameter(0, vec![]), "{0,1}".parse()?)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn remedies(&self) -> Vec<(Place, Layout)> {
        let mut remedies: Vec<(Place, Layout)> = Vec::new();
        for (place, layout) in self.copies.iter().filter_map(|copy| copy.remedy.as_ref()?.asked()) {
            // The first remedy for a place counts: copies with the highest cost come first.
            if remedies.iter().all(|(other, _)| other != place) {
                remedies.push((place.clone(), layout.clone()));
            }
        }
        remedies
    }

    /// Adds the result of compiling the program with some requested layouts: its cost, or why the compiler refused; and the bytes of HBM that the
    /// program takes without and with these layouts.
    ///
    /// ```
    /// use xla_shape_answers::cost::{Amount, ProgramCost};
    /// use xla_shape_hlo::Module;
    ///
    /// let module = Module::parse(r#"
    /// HloModule m
    /// ENTRY e { a = f32[8,128]{1,0} parameter(0)
    ///   ROOT b = f32[8,128]{0,1} copy(a), backend_config={"window_config":{"estimated_cycles":"1200"}} }"#)?;
    /// let with_layouts = Module::parse("HloModule m\nENTRY e { ROOT a = f32[8,128]{0,1} parameter(0) }")?;
    /// let mut cost = ProgramCost::new(&module)?;
    /// cost.add_tried(&cost.remedies(), Ok((&ProgramCost::new(&with_layouts)?, true)), [Some(8192), Some(4096)]);
    /// let tried = &cost.tried[0];
    /// assert_eq!((tried.asked[0].as_str(), tried.taken), ("{0,1} at parameter 0", true));
    /// assert_eq!((tried.before, tried.copies_before, tried.copies), (Some(Amount::Cycles(1200)), 1, Some(0)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_tried(
        &mut self,
        asked: &[(Place, Layout)],
        result: Result<(&Self, bool), String>,
        bytes: [Option<u64>; 2],
    ) {
        let asked = asked.iter().map(|(place, layout)| format!("{layout} at {place}"));
        let copies = |cost: &Self| cost.copies.iter().filter(|copy| copy.changes_layout()).count();
        self.tried.push(Tried {
            asked: asked.collect(),
            taken: result.as_ref().is_ok_and(|(_, taken)| *taken),
            amount: result.as_ref().ok().and_then(|(cost, _)| cost.sums.total),
            before: self.sums.total,
            bytes: bytes[1],
            bytes_before: bytes[0],
            copies: result.as_ref().ok().map(|(cost, _)| copies(cost)),
            copies_before: copies(self),
            error: result.err(),
        });
    }

    /// The cost of all runs of each opcode.
    #[must_use]
    pub fn by_opcode(&self) -> BTreeMap<String, Amount> {
        self.opcodes.iter().filter_map(|cost| Some((cost.opcode.clone(), cost.amount?))).collect()
    }

    /// The number of loops whose trip count is not known.
    #[must_use]
    pub fn unknown_loops(&self) -> usize {
        self.loops.iter().filter(|found| found.trips.is_none()).count()
    }

    /// The source lines with their costs, the most expensive first; `None` for instructions without a line.
    pub fn lines(&self) -> impl Iterator<Item = (Option<&str>, Amount)> {
        self.lines.iter().filter_map(|line| Some((line.source.as_deref(), line.amount?)))
    }

    /// The cost of the instructions that only move data; `None` if none of them has a figure.
    #[must_use]
    pub fn moved(&self) -> Option<Amount> {
        self.copies
            .iter()
            .filter(|copy| copy.change.only_moves())
            .filter_map(|copy| copy.total)
            .reduce(Amount::saturating_add)
    }
}

/// The cost of all runs by name, the most expensive first: the name, the cost, and how many instructions have the name.
fn grouped(
    costs: &[InstructionCost<'_>],
    sums: &Sums,
    name: &dyn Fn(Instruction<'_>) -> Option<String>,
) -> Vec<(Option<String>, Option<Amount>, usize)> {
    let mut groups = BTreeMap::<Option<String>, (u64, usize)>::new();
    for cost in costs {
        // Instructions that do not run cost nothing, and have no row.
        let Some(total) = cost.total().filter(|_| cost.runs != Some(0)) else { continue };
        let group = groups.entry(name(cost.instruction)).or_default();
        group.0 = group.0.saturating_add(total);
        group.1 += 1;
    }
    let amount = |number| Some(Amount::new(sums.unit, number));
    let mut groups: Vec<_> =
        groups.into_iter().map(|(name, (total, instructions))| (name, amount(total), instructions)).collect();
    sort_by_key(&mut groups, |(_, total, _)| Reverse(*total));
    groups
}

/// The instructions with a figure, the most expensive first.
fn expensive(costs: &[InstructionCost<'_>], sums: &Sums, sources: &Sources<'_>) -> Vec<Expensive> {
    let mut all: Vec<_> = costs.iter().filter_map(|cost| Some((cost, cost.figure.known()?))).collect();
    sort_by_key(&mut all, |(cost, figure)| Reverse((cost.total(), *figure)));
    let amount = |number| Amount::new(sums.unit, number);
    let entry = |(cost, figure): (&InstructionCost<'_>, u64)| {
        let source = sources.get(cost.instruction);
        let said =
            |part: fn(cost::Reification) -> Option<u64>| cost.reification.and_then(part).map(Seconds::from_picoseconds);
        Expensive {
            instruction: cost.instruction.name().to_owned(),
            opcode: cost.instruction.opcode().to_string(),
            amount: Some(amount(figure)),
            basis: cost.basis.into(),
            estimate_seconds: said(|said| said.estimate),
            bound_seconds: said(|said| said.bound),
            runs: cost.runs.filter(|_| !cost.is_in_unknown_loop),
            total: cost.total().map(amount),
            bytes_read: cost.bytes_read,
            bytes_written: cost.bytes_written,
            shape: cost.instruction.shape().to_string(),
            source: source_text(&source),
            op_name: source.op_name.map(std::borrow::Cow::into_owned),
        }
    };
    all.into_iter().map(entry).collect()
}
