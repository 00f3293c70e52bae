//! The sums of the compiler's figures.

use crate::amount::{Amount, Seconds};
use schemars::JsonSchema;
use serde::{Serialize, Serializer};
use xla_shape_hlo::cost::{Costs, Unit};

/// The sums of the compiler's figures. Its JSON has two fields: `cycles` for a TPU, and `seconds` for a GPU.
///
/// ```
/// use xla_shape_answers::cost::ProgramCost;
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse(r#"
/// HloModule m
/// f { p = f32[8]{0} parameter(0)
///   ROOT n = f32[8]{0} negate(p) }
/// ENTRY e { a = f32[8]{0} parameter(0)
///   ROOT b = f32[8]{0} fusion(a), kind=kLoop, calls=f, backend_config={"reification_cost":[
///     {"exec_time_us":1.5,"name":""},{"exec_time_us":1.5,"name":"sol"}]} }"#)?;
/// let sums = ProgramCost::new(&module)?.sums;
/// assert!(sums.are_times());
/// assert_eq!(sums.total.map(|total| total.to_string()).as_deref(), Some("1.50 µs"));
/// assert_eq!((sums.said, sums.without), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, JsonSchema)]
#[schemars(with = "Fields")]
pub struct Sums {
    /// The unit of all figures.
    pub unit: Unit,
    /// The sum that counts each instruction once; `None` without figures, or if the sum does not fit in 64 bits.
    pub once: Option<Amount>,
    /// The sum for one run of the program, in which the body of a loop counts as often as it runs. `None` if the figures are partial, or the sum does
    /// not fit in 64 bits.
    pub total: Option<Amount>,
    /// How many instructions have a figure.
    pub said: usize,
    /// How many instructions have no figure.
    pub without: usize,
    /// For how many instructions the compiler wrote that it does not know the cycles.
    pub flagged: usize,
    /// Whether most figures are missing.
    pub partial: bool,
    /// Whether a sum is larger than a `u64`.
    pub overflowed: bool,
}

/// Why the figures of a program have no total.
///
/// ```
/// use xla_shape_answers::cost::{NoTotal, ProgramCost};
/// use xla_shape_hlo::Module;
///
/// let module = Module::parse("HloModule m\nENTRY e { a = f32[8]{0} parameter(0) ROOT b = f32[8]{0} negate(a) }")?;
/// assert_eq!(ProgramCost::new(&module)?.sums.why_no_total(), Some(NoTotal::NoCycles));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum NoTotal {
    /// For a GPU, most fusions have no figure: the compiler gives them for some GPUs only.
    PartialTimes,
    /// Most figures are missing, as in the files that XLA dumps.
    PartialCycles,
    /// For a GPU, nothing has a figure.
    NoTimes,
    /// Nothing has a figure.
    NoCycles,
    /// The sum does not fit in 64 bits.
    TooLarge,
}

impl Sums {
    pub(super) fn new(costs: &Costs<'_>) -> Self {
        let (unit, total) = (costs.unit(), costs.total());
        let amount = |number| Amount::new(unit, number);
        Self {
            unit,
            once: total.once.map(amount),
            total: total.total.map(amount),
            said: total.known,
            without: total.without,
            flagged: total.flagged,
            partial: total.is_partial,
            overflowed: total.has_overflowed,
        }
    }

    /// Why the figures have no total; `None` if they have one.
    #[must_use]
    pub const fn why_no_total(&self) -> Option<NoTotal> {
        Some(match (self.partial, self.are_times()) {
            (true, true) => NoTotal::PartialTimes,
            (true, false) => NoTotal::PartialCycles,
            _ if self.total.is_some() => return None,
            _ if self.overflowed => NoTotal::TooLarge,
            (false, true) => NoTotal::NoTimes,
            (false, false) => NoTotal::NoCycles,
        })
    }

    /// Whether the figures are times on a GPU.
    #[must_use]
    pub const fn are_times(&self) -> bool {
        matches!(self.unit, Unit::Picoseconds)
    }
}

#[derive(Serialize, JsonSchema)]
struct Fields {
    /// Sums of the compiler's estimates of cycles.
    cycles: Cycles,
    /// For a GPU: sums of times, in seconds; null for other devices.
    seconds: Option<Times>,
}

#[derive(Default, Serialize, JsonSchema)]
struct Cycles {
    /// The sum that counts each instruction once; null without figures, or if the sum does not fit in 64 bits.
    once: Option<u64>,
    /// The sum for one run of the program, in which the body of a loop counts as often as it runs. Null if the figures are partial, or the sum does
    /// not fit in 64 bits.
    total: Option<u64>,
    /// How many instructions have a figure.
    said: usize,
    /// How many instructions have no figure.
    without: usize,
    /// For how many instructions the compiler wrote that it does not know the cycles.
    flagged: usize,
    /// Whether most figures are missing.
    partial: bool,
}

#[derive(Serialize, JsonSchema)]
struct Times {
    /// The sum that counts each instruction once; null without figures.
    once: Option<Seconds>,
    /// The sum for one run of the program, in which the body of a loop counts as often as it runs. Null if the figures are partial.
    total: Option<Seconds>,
    /// How many instructions have a figure.
    said: usize,
    /// How many instructions have no figure.
    without: usize,
    /// Whether most figures are missing.
    partial: bool,
}

/// The fields for sums that may be unknown.
#[derive(Default, Serialize, JsonSchema)]
pub(crate) struct OptionalFields {
    /// Sums of the compiler's cycles; null if one of its figures is not a number.
    cycles: Option<Cycles>,
    /// For a GPU: sums of times, in seconds; null for other devices.
    seconds: Option<Times>,
}

pub(crate) fn optional<S: Serializer>(sums: &Option<Sums>, serializer: S) -> Result<S::Ok, S::Error> {
    let fields = sums
        .map(|sums| sums.fields())
        .map(|Fields { cycles, seconds }| OptionalFields { cycles: Some(cycles), seconds });
    fields.unwrap_or_default().serialize(serializer)
}

impl Sums {
    fn fields(&self) -> Fields {
        let Self { once, total, said, without, flagged, partial, .. } = *self;
        let [cycles_once, cycles_total] = [once, total].map(|sum| sum.and_then(Amount::cycles));
        let [once, total] = [once, total].map(|sum| sum.and_then(Amount::time));
        let are_times = self.are_times();
        let cycles = match are_times {
            false => Cycles { once: cycles_once, total: cycles_total, said, without, flagged, partial },
            true => Cycles::default(),
        };
        let seconds = are_times.then_some(Times { once, total, said, without, partial });
        Fields { cycles, seconds }
    }
}

impl Serialize for Sums {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.fields().serialize(serializer)
    }
}
