//! How much more one program may take than another one.

use super::causes::Reason;
use crate::cost::ProgramCost;
use crate::numbers::Grouped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use xla_shape_hlo::{Module, Opcode};

/// A number of a program that two programs are compared by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The bytes of HBM that the program takes.
    Memory,
    /// The cycles of one run, by the compiler's estimates.
    Cycles,
    /// How many instructions change the layout of an array and do nothing else.
    Copies,
    /// How many collectives there are.
    Collectives,
    /// How many fusions there are.
    Fusions,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 5] = [Self::Memory, Self::Cycles, Self::Copies, Self::Collectives, Self::Fusions];

    /// Its name.
    ///
    /// ```
    /// assert_eq!(xla_shape_answers::hlo::Measure::Cycles.name(), "cycles");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cycles => "cycles",
            Self::Copies => "copies",
            Self::Collectives => "collectives",
            Self::Fusions => "fusions",
        }
    }
}

/// A number of a program: `memory` is its bytes of HBM, and `cost` what it costs, if they are known.
pub(crate) fn measure(
    measure: Measure,
    module: &Module,
    memory: Option<u64>,
    cost: Option<&ProgramCost>,
) -> Option<u64> {
    match measure {
        Measure::Memory => memory,
        Measure::Cycles => cost?.cycles.total,
        Measure::Copies => Some(cost?.copies.iter().filter(|copy| copy.changes_layout()).count() as u64),
        Measure::Collectives => Some(module.collectives().len() as u64),
        Measure::Fusions => {
            let fusions = module.instructions().filter(|instruction| instruction.opcode() == Opcode::Fusion);
            Some(fusions.count() as u64)
        }
    }
}

/// By how much a number may grow from one program to the next, such as `cycles>+2%` or `copies>0`.
///
/// ```
/// use xla_shape_answers::hlo::{Limit, Measure};
///
/// let limit: Limit = "cycles>+2%".parse()?;
/// assert_eq!(limit.measure, Measure::Cycles);
/// assert!(!limit.is_exceeded(1000, 1020));
/// assert!(limit.is_exceeded(1000, 1021));
/// assert!("copies>0".parse::<Limit>()?.is_exceeded(3, 4));
/// let error = "cycle>2%".parse::<Limit>().unwrap_err();
/// assert_eq!(error.to_string(), "expected one of memory, cycles, copies, collectives, fusions at 0, found `cycle`");
/// # Ok::<(), xla_shape_answers::hlo::LimitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Limit {
    /// What is compared.
    pub measure: Measure,
    /// The most by which it may grow: a number, or hundredths of the number before.
    pub growth: Growth,
}

/// The most by which a number may grow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Growth {
    /// A number: bytes, cycles, or how many there are.
    By(u64),
    /// A part of the number before, in percent.
    Percent(f64),
}

impl Limit {
    /// The limits of a guard whose user names none: 2 % of the cycles, 1 % of the memory, no copy and no collective.
    ///
    /// ```
    /// let limits = xla_shape_answers::hlo::Limit::USUAL.map(|limit| limit.to_string());
    /// assert_eq!(limits, ["cycles>2%", "memory>1%", "copies>0", "collectives>0"]);
    /// ```
    pub const USUAL: [Self; 4] = [
        Self { measure: Measure::Cycles, growth: Growth::Percent(2.0) },
        Self { measure: Measure::Memory, growth: Growth::Percent(1.0) },
        Self { measure: Measure::Copies, growth: Growth::By(0) },
        Self { measure: Measure::Collectives, growth: Growth::By(0) },
    ];

    /// The usual limits, first those of numbers that are known, then the others.
    pub(crate) fn usual(is_known: impl Fn(Measure) -> bool) -> (Vec<Self>, Vec<Self>) {
        Self::USUAL.into_iter().partition(|limit| is_known(limit.measure))
    }

    /// A sentence if a number grew more than it may, or is not known in both programs. `unknown` says why, if that is known.
    pub(crate) fn complaint(
        &self,
        [before, after]: [Option<u64>; 2],
        unknown: Option<&str>,
        cause: Reason,
    ) -> Option<String> {
        let (Some(before), Some(after)) = (before, after) else {
            let are = if self.measure == Measure::Memory { "is" } else { "are" };
            let why = unknown.map_or(String::new(), |why| format!(" ({why})"));
            return Some(format!("{self}: the {} {are} not known in both modules{why}", self.measure.name()));
        };
        let numbers = format!("{} before, {} after", Grouped(before), Grouped(after));
        self.is_exceeded(before, after).then(|| format!("{self}: {numbers} ({cause})"))
    }

    /// Whether a number grew more than it may.
    ///
    /// ```
    /// let limit: xla_shape_answers::hlo::Limit = "memory>1MiB".parse()?;
    /// assert!(!limit.is_exceeded(0, 1 << 20));
    /// # Ok::<(), xla_shape_answers::hlo::LimitError>(())
    /// ```
    #[must_use]
    pub fn is_exceeded(&self, before: u64, after: u64) -> bool {
        match self.growth {
            Growth::By(most) => after > before.saturating_add(most),
            Growth::Percent(most) => after > before && (after - before) as f64 * 100.0 > before as f64 * most,
        }
    }
}

impl FromStr for Limit {
    type Err = LimitError;

    fn from_str(text: &str) -> Result<Self, LimitError> {
        let error = |expected: &str, found: &str, position: usize| LimitError {
            expected: expected.to_owned(),
            found: found.to_owned(),
            position,
        };
        let end = text.find('>').unwrap_or(text.len());
        let (name, rest) = text.split_at(end);
        let names = Measure::ALL.map(Measure::name).join(", ");
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == name.trim());
        let measure = measure.ok_or_else(|| error(&format!("one of {names}"), name, 0))?;
        let number = rest.strip_prefix('>').ok_or_else(|| error("`>`", rest, end))?;
        let number = number.trim();
        let number = number.strip_prefix('+').unwrap_or(number);
        if !number.starts_with(|first: char| first.is_ascii_digit()) {
            let start = text.trim_end().len() - number.len();
            return Err(error("a number or percent, such as 0 or 2%", number, start));
        }
        // What is read ends where the text does, apart from spaces.
        let start = text.trim_end().len() - number.len();
        let growth = match number.strip_suffix('%') {
            Some(percent) => {
                let percent =
                    percent.trim().parse().ok().filter(|percent: &f64| percent.is_finite() && *percent >= 0.0);
                Growth::Percent(percent.ok_or_else(|| error("a number of percent, such as 2%", number, start))?)
            }
            None if measure == Measure::Memory => {
                let bytes = xla_shape_hlo::byte_count(number);
                Growth::By(bytes.ok_or_else(|| error("bytes or percent, such as 16MiB or 2%", number, start))?)
            }
            None => {
                Growth::By(number.parse().map_err(|_| error("a number or percent, such as 0 or 2%", number, start))?)
            }
        };
        Ok(Self { measure, growth })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.growth {
            Growth::By(most) => write!(f, "{}>{most}", self.measure.name()),
            Growth::Percent(most) => write!(f, "{}>{most}%", self.measure.name()),
        }
    }
}

/// Why a text is not a [`Limit`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitError {
    expected: String,
    found: String,
    position: usize,
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, found, position } = self;
        match found.as_str() {
            "" => write!(f, "expected {expected} at {position}, found the end"),
            found => write!(f, "expected {expected} at {position}, found `{found}`"),
        }
    }
}

impl std::error::Error for LimitError {}
