//! The figures of one instruction: what the TPU compiler writes into `window_config`, and the GPU compiler into `reification_cost`.

use crate::schema::Key;
use crate::{Instruction, Opcode};
use alloc::string::String;
use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use serde_json::Value;
use xla_shape_core::text::Span;

/// What the compiler writes where it has no estimate.
const NOT_SAID: u64 = i64::MAX as u64;

/// The unit in which the costs of a program are counted.
///
/// ```
/// use xla_shape_hlo::{Module, cost::Unit};
///
/// let module = Module::parse(r#"c = f32[8]{0} custom-call(a), custom_call_target="__cublas$gemm""#)?;
/// assert_eq!(module.costs()?.unit(), Unit::Picoseconds, "only programs for GPUs call cuBLAS");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Unit {
    /// Cycles of a TPU's cores.
    Cycles,
    /// Picoseconds, for a GPU: its compiler writes microseconds with decimals, and sums of whole numbers are exact.
    Picoseconds,
}

/// What the compiler expects one run of an instruction to take, in the program's [`Unit`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Figure {
    /// The figure, which may be 0. For a GPU, [`Basis`] says where it comes from.
    Known(u64),
    /// The compiler wrote 9223372036854775807, which means that it has no figure: for example, for work on a SparseCore.
    Flagged,
    /// There is no figure.
    Missing,
}

impl Figure {
    /// The figure, if there is one.
    ///
    /// ```
    /// use xla_shape_hlo::cost::Figure;
    /// assert_eq!(Figure::Known(7).known(), Some(7));
    /// assert_eq!(Figure::Flagged.known(), None);
    /// ```
    #[must_use]
    pub const fn known(self) -> Option<u64> {
        match self {
            Self::Known(figure) => Some(figure),
            Self::Flagged | Self::Missing => None,
        }
    }
}

/// Where the figure of an instruction comes from.
///
/// ```
/// use xla_shape_hlo::cost::Basis;
///
/// // A compiler for GPUs estimates 50 s for a small product, of which it also says that it takes at least 3 µs.
/// let module = xla_shape_hlo::Module::parse(r#"
/// HloModule m
/// f { p = f32[8]{0} parameter(0)
///   ROOT n = f32[8]{0} negate(p) }
/// ENTRY e { a = f32[8]{0} parameter(0)
///   ROOT b = f32[8]{0} fusion(a), kind=kCustom, calls=f, backend_config={"reification_cost":[
///     {"exec_time_us":50000000,"name":""},{"exec_time_us":3,"name":"sol"}]} }"#)?;
/// let costs = module.costs()?;
/// let fusion = &costs.instructions()[0];
/// assert_eq!((fusion.basis, fusion.figure.known()), (Basis::Bound, Some(3_000_000)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Basis {
    /// The compiler's estimate; for a GPU, its bound if that is higher.
    Estimate,
    /// The compiler's bound for a GPU, because the compiler's estimate is more than [`Reification::CREDIBLE`] times the bound.
    Bound,
    /// The bytes that the instruction reads and writes, divided by the bandwidth of the GPU's memory, because the compiler gives
    /// no figure.
    Bytes,
    /// The operations of a convolution, divided by the operations per second of the GPU's matrix units, because that takes longer
    /// than its bytes.
    Operations,
    /// The compiler's estimate of a sort. It is for one pass, and a sort makes many.
    OnePass,
}

/// What a compiler for GPUs says about one run of an instruction (`reification_cost` of its `backend_config`), in
/// picoseconds.
///
/// ```
/// use xla_shape_hlo::cost::Reification;
///
/// let said = Reification { estimate: Some(70), bound: Some(60) };
/// assert!(said.is_credible());
/// assert!(!Reification { estimate: Some(7000), ..said }.is_credible());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reification {
    /// The estimate. For a matrix product, it is the one of `experimental-gemm-cost-model` if the compiler wrote that estimate.
    pub estimate: Option<u64>,
    /// The least time that the instruction can take, which the compiler calls the speed of light (`sol`). For a fusion that the compiler does not
    /// model, `sol` is a meaningless constant (`SolLatencyEstimator::NodeCost` in `xla/service/gpu/model/sol_latency_estimator.cc`); the bound is
    /// then `indexing-cost-model`, an estimate from the bytes that the fusion's tiles read and write.
    pub bound: Option<u64>,
}

impl Reification {
    /// An estimate can be believed if it is at most this many times the bound.
    pub const CREDIBLE: u64 = 20;

    /// Whether the estimate can be believed: it is at most [`CREDIBLE`](Self::CREDIBLE) times the bound, or there is no bound.
    #[must_use]
    pub const fn is_credible(self) -> bool {
        match (self.estimate, self.bound) {
            (Some(estimate), Some(bound)) => estimate <= bound.saturating_mul(Self::CREDIBLE),
            _ => true,
        }
    }

    /// The figure that counts, and where it comes from.
    fn figure(self) -> (Figure, Basis) {
        let most = self.estimate.max(self.bound);
        let (figure, basis) = if self.is_credible() { (most, Basis::Estimate) } else { (self.bound, Basis::Bound) };
        (figure.map_or(Figure::Missing, Figure::Known), basis)
    }
}

/// Why the costs of a program cannot be added up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CostError {
    span: Span,
    message: String,
}

impl CostError {
    pub(super) const fn new(span: Span, message: String) -> Self {
        Self { span, message }
    }

    /// Where the instruction is in the module's text, in bytes.
    ///
    /// ```
    /// let text = r#"c = f32[] copy(a), backend_config={"window_config":{"estimated_cycles":"many"}}"#;
    /// let module = xla_shape_hlo::Module::parse(text)?;
    /// assert_eq!(module.costs().unwrap_err().span().start, 0);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn span(&self) -> Span {
        self.span
    }
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for CostError {}

/// Why an instruction's figures cannot be used.
pub(super) enum Trouble {
    /// The configuration is not in the form in which the compiler writes it.
    Unread(CostError),
    /// There is a figure, but it is not a number.
    NoNumber(CostError),
}

/// What the compiler says about one run of an instruction.
pub(super) struct Said {
    pub(super) figure: Figure,
    pub(super) basis: Basis,
    /// How often each loop over its windows runs, on a TPU.
    pub(super) iteration_bounds: Vec<u64>,
    /// The compiler's figures for a GPU.
    pub(super) reification: Option<Reification>,
}

impl Said {
    /// The compiler says nothing.
    pub(super) const fn nothing() -> Self {
        Self { figure: Figure::Missing, basis: Basis::Estimate, iteration_bounds: Vec::new(), reification: None }
    }
}

/// What the compiler says about an instruction of a program whose costs are in this unit.
pub(super) fn said(instruction: Instruction<'_>, unit: Unit) -> Result<Said, Trouble> {
    match unit {
        Unit::Cycles => window(instruction),
        Unit::Picoseconds => reification(instruction),
    }
}

/// What is wrong with an instruction's configuration.
fn wrong(instruction: Instruction<'_>, what: &str) -> CostError {
    CostError::new(instruction.span(), alloc::format!("{}: {what}", instruction.name()))
}

/// The value of a key of an instruction's configuration; `None` if the key is missing. `form` describes the expected value, for errors.
fn value(instruction: Instruction<'_>, key: &str, form: &str) -> Result<Option<Value>, Trouble> {
    let unread = |what: &str| Trouble::Unread(wrong(instruction, what));
    let text = match instruction.config() {
        None => return Ok(None),
        Some(Ok(text)) => text,
        Some(Err(error)) => return Err(unread(&alloc::format!("cannot read `backend_config`: {error}"))),
    };
    let quoted = alloc::format!("\"{key}\"");
    let found = text.split_once(&quoted).and_then(|(_, rest)| rest.trim_start().strip_prefix(':'));
    let Some(rest) = found else { return Ok(None) };
    // Reads the value of the key and stops there, because the rest of a configuration may be long.
    match serde_json::Deserializer::from_str(rest).into_iter::<Value>().next() {
        Some(Ok(Value::Null)) => Ok(None),
        Some(Ok(value)) => Ok(Some(value)),
        Some(Err(error)) => Err(unread(&alloc::format!("cannot read `{key}`: {error}"))),
        None => Err(unread(&alloc::format!("expected `{key}` to be {form}, found the end"))),
    }
}

/// What an instruction's `window_config` says: its cycles, and how often each loop over its windows runs.
fn window(instruction: Instruction<'_>) -> Result<Said, Trouble> {
    let unread = |what: &str| Trouble::Unread(wrong(instruction, what));
    let window = match value(instruction, "window_config", "an object")? {
        None => return Ok(Said::nothing()),
        Some(Value::Object(window)) => window,
        Some(other) => return Err(unread(&alloc::format!("expected `window_config` to be an object, found {other}"))),
    };
    let figure = match window.get("estimated_cycles") {
        None => Figure::Missing,
        Some(found) => match number(found) {
            Some(NOT_SAID) => Figure::Flagged,
            Some(cycles) => Figure::Known(cycles),
            None => {
                let message = alloc::format!("expected `estimated_cycles` to be a number, found {found}");
                return Err(Trouble::NoNumber(wrong(instruction, &message)));
            }
        },
    };
    let iteration_bounds = match window.get("iteration_bounds") {
        None => Vec::new(),
        Some(found) => {
            let numbers = found.as_array().and_then(|bounds| bounds.iter().map(number).collect::<Option<Vec<u64>>>());
            let wrong = || unread(&alloc::format!("expected `iteration_bounds` to be numbers, found {found}"));
            numbers.ok_or_else(wrong)?
        }
    };
    Ok(Said { figure, iteration_bounds, ..Said::nothing() })
}

/// What an instruction's `reification_cost` says: the figures of the compiler's models, by their names.
fn reification(instruction: Instruction<'_>) -> Result<Said, Trouble> {
    let rows = match value(instruction, "reification_cost", "a list")? {
        None => return Ok(Said::nothing()),
        Some(Value::Array(rows)) => rows,
        Some(other) => {
            let message = alloc::format!("expected `reification_cost` to be a list, found {other}");
            return Err(Trouble::Unread(wrong(instruction, &message)));
        }
    };
    let (mut estimate, mut light, mut indexing, mut product) = (None, None, None, None);
    for row in &rows {
        let place = match row.get("name").and_then(Value::as_str).unwrap_or_default() {
            "" => &mut estimate,
            "sol" => &mut light,
            "indexing-cost-model" => &mut indexing,
            "experimental-gemm-cost-model" => &mut product,
            _ => continue,
        };
        // Protobuf leaves out a field that is 0.
        let Some(found) = row.get("exec_time_us") else {
            *place = Some(0);
            continue;
        };
        // A model that divided by zero has no figure.
        if found.as_str().is_some_and(|text| ["Infinity", "-Infinity", "NaN"].contains(&text)) {
            continue;
        }
        let Some(time) = picoseconds(found) else {
            let message = alloc::format!("expected `exec_time_us` to be a time, found {found}");
            return Err(Trouble::NoNumber(wrong(instruction, &message)));
        };
        *place = Some(time);
    }
    // The constant `NO_MODEL` is not a bound, so the other model's figure replaces it.
    let bound = light.filter(|&light| light != NO_MODEL).or(indexing);
    // For a product, the model of products is closer to the times of an H200 than the model without a name.
    let estimate = product.or(estimate);
    let reification = Reification { estimate: estimate.or(indexing).or(light), bound };
    let (figure, basis) = match reification.figure() {
        (figure, Basis::Estimate) if sorts(instruction) => (figure, Basis::OnePass),
        said => said,
    };
    let is_said = estimate.is_some() || light.is_some() || indexing.is_some();
    Ok(Said { figure, basis, reification: is_said.then_some(reification), ..Said::nothing() })
}

/// Whether an instruction is a sort, or a fusion with one.
fn sorts(instruction: Instruction<'_>) -> bool {
    let inside = instruction.callee(Key::Calls).filter(|_| instruction.opcode() == Opcode::Fusion);
    let mut inside = inside.into_iter().flat_map(|called| called.instructions());
    instruction.opcode() == Opcode::Sort || inside.any(|inside| inside.opcode() == Opcode::Sort)
}

/// The bound (`sol`), in picoseconds, that the compiler writes for instructions that it does not model: `kLowCost`, which is 1, times 0.01 µs.
const NO_MODEL: u64 = 10_000;

/// Microseconds as whole picoseconds; `None` if the value is not a number of at least 0. A time above `i64::MAX` picoseconds becomes `i64::MAX`.
fn picoseconds(microseconds: &Value) -> Option<u64> {
    let time = microseconds.as_f64().filter(|time| *time >= 0.0)?;
    // The conversion to `u64` saturates, and adding 0.5 makes it round to nearest.
    Some(((time * 1e6 + 0.5) as u64).min(NOT_SAID))
}

/// A number as protobuf writes it in JSON: 64-bit ones are strings.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok(),
        value => value.as_u64(),
    }
    .filter(|&number| number <= NOT_SAID)
}
