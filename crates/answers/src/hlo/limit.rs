//! Limits on how much more one program may take than another one.

use super::causes::Reason;
use crate::cost::{ProgramCost, Seconds};
use crate::numbers::Grouped;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use xla_shape_hlo::{Module, Opcode};

/// A number of a program that two programs are compared by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Measure {
    /// The bytes of HBM that the program takes.
    Memory,
    /// The cycles of one run, by the compiler's estimates; only a program for a TPU has them.
    Cycles,
    /// The time of one run, by the compiler's estimates; only a program for a GPU has it.
    Seconds,
    /// The measured time of one run, the median of all runs; only a profile has it.
    Time,
    /// How many instructions change the layout of an array and do nothing else.
    Copies,
    /// How many collectives there are.
    Collectives,
    /// How many fusions there are.
    Fusions,
}

impl Measure {
    /// Every measure.
    pub const ALL: [Self; 7] =
        [Self::Memory, Self::Cycles, Self::Seconds, Self::Time, Self::Copies, Self::Collectives, Self::Fusions];

    /// Whether only some programs have this number. For other programs, it is not reported as missing.
    pub(crate) const fn is_of_some(self) -> bool {
        matches!(self, Self::Seconds | Self::Time)
    }

    /// Whether it is a time.
    pub(crate) const fn is_time(self) -> bool {
        matches!(self, Self::Seconds | Self::Time)
    }

    /// Its name, which is its JSON.
    ///
    /// ```
    /// assert_eq!(xla_shape_answers::hlo::Measure::Cycles.name(), "cycles");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cycles => "cycles",
            Self::Seconds => "seconds",
            Self::Time => "time",
            Self::Copies => "copies",
            Self::Collectives => "collectives",
            Self::Fusions => "fusions",
        }
    }
}

/// A measured value. Its JSON is a number; a time is in seconds.
///
/// ```
/// use xla_shape_answers::{cost::Seconds, hlo::Quantity};
///
/// assert_eq!(serde_json::to_string(&Quantity::Number(7))?, "7");
/// assert_eq!(serde_json::to_string(&Quantity::Time(Seconds::from_picoseconds(1_500_000_000_000)))?, "1.5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(with = "f64", inline)]
pub enum Quantity {
    /// A number of bytes, cycles, or things.
    Number(u64),
    /// A time.
    Time(Seconds),
}

impl Quantity {
    /// The number; for a time, its picoseconds.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Time(time) => time.picoseconds(),
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => Grouped(*number).fmt(f),
            Self::Time(time) => time.fmt(f),
        }
    }
}

/// A number of a program: `memory` is its bytes of HBM, and `cost` its cost, if they are known.
pub(crate) fn measure(
    measure: Measure,
    module: &Module,
    memory: Option<u64>,
    cost: Option<&ProgramCost>,
) -> Option<Quantity> {
    let number = match measure {
        Measure::Memory => memory,
        Measure::Cycles => cost?.sums.total?.cycles(),
        Measure::Seconds => return Some(Quantity::Time(cost?.sums.total?.time()?)),
        Measure::Time => {
            let runs = cost?.measured.as_ref()?.runs.as_ref()?;
            return Some(Quantity::Time(Seconds::from_picoseconds(runs.spread.median_picoseconds)));
        }
        Measure::Copies => Some(cost?.copies.iter().filter(|copy| copy.changes_layout()).count() as u64),
        Measure::Collectives => Some(module.collectives().len() as u64),
        Measure::Fusions => {
            let fusions = module.instructions().filter(|instruction| instruction.opcode() == Opcode::Fusion);
            Some(fusions.count() as u64)
        }
    };
    number.map(Quantity::Number)
}

/// By how much a number may grow from one program to the next, such as `cycles>+2%` or `copies>0`.
///
/// ```
/// use xla_shape_answers::hlo::{Growth, Limit, LimitError, Measure};
///
/// let limit: Limit = "cycles>+2%".parse()?;
/// assert_eq!((limit.measure, limit.growth), (Measure::Cycles, Growth::Percent(2.0)));
/// assert!(!limit.is_exceeded(1000, 1020));
/// assert!(limit.is_exceeded(1000, 1021));
/// assert!("copies>0".parse::<Limit>()?.is_exceeded(3, 4));
/// let error: LimitError = "cycle>2%".parse::<Limit>().unwrap_err();
/// assert_eq!(error.to_string(), "expected one of memory, cycles, seconds, time, copies, collectives, fusions at 0, found `cycle`");
/// # Ok::<(), LimitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
pub struct Limit {
    /// The number that is compared.
    pub measure: Measure,
    /// The most by which the number may grow.
    pub growth: Growth,
}

/// The most by which a number may grow.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Growth {
    /// This number of bytes, cycles, picoseconds, or things.
    By(u64),
    /// A percentage of the number before.
    Percent(f64),
}

impl Limit {
    /// The limits of `guard` if the user names none: 2 % more cycles (for a GPU, time), 1 % more memory, no additional copy and no additional
    /// collective. With a profile, also 5 % more measured time.
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

    /// The usual limits, divided into limits of numbers that are known and limits of other numbers. If the estimated time is known, its limit
    /// replaces the limit of cycles.
    pub(crate) fn usual(is_known: impl Fn(Measure) -> bool) -> (Vec<Self>, Vec<Self>) {
        let measured = |limit: Self| match limit.measure {
            // The compiler for GPUs estimates seconds, not cycles.
            Measure::Cycles if is_known(Measure::Seconds) => Self { measure: Measure::Seconds, ..limit },
            _ => limit,
        };
        let time = Self { measure: Measure::Time, growth: Growth::Percent(5.0) };
        let time = is_known(Measure::Time).then_some(time);
        time.into_iter().chain(Self::USUAL.map(measured)).partition(|limit| is_known(limit.measure))
    }

    /// Checks whether a number grew more than it may, or is not known in one of the programs. `unknown` says why it is not known, if there is a
    /// reason.
    pub(crate) fn exceeded(
        self,
        [before, after]: [Option<Quantity>; 2],
        unknown: Option<&str>,
        cause: Reason,
    ) -> Option<Exceeded> {
        let (Some(before), Some(after)) = (before, after) else {
            return Some(Exceeded::Unknown { limit: self, why: unknown.map(str::to_owned) });
        };
        let grew = Exceeded::Grew { limit: self, before, after, cause };
        self.is_exceeded(before.number(), after.number()).then_some(grew)
    }

    /// Whether a number grew more than it may; times are in picoseconds.
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
        // For example `cycles>2%` or `memory > +16MiB`.
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
        // The number ends at the end of the text, except for spaces.
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
            None if measure.is_time() => {
                let time = number.parse().ok().and_then(Seconds::from_seconds);
                let time = time.ok_or_else(|| error("seconds or percent, such as 1e-5 or 2%", number, start))?;
                Growth::By(time.picoseconds())
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
            Growth::By(most) if self.measure.is_time() => {
                write!(f, "{}>{}", self.measure.name(), Seconds::from_picoseconds(most).seconds())
            }
            Growth::By(most) => write!(f, "{}>{most}", self.measure.name()),
            Growth::Percent(most) => write!(f, "{}>{most}%", self.measure.name()),
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A limit that a program exceeds. Its text, which is its JSON, is a sentence.
///
/// ```
/// use xla_shape_answers::hlo::{Difference, Exceeded, Quantity, Reason};
/// use xla_shape_hlo::Module;
/// use xla_shape_program::Program;
///
/// let of_size = |size: u32| format!("HloModule m, is_scheduled=true\nENTRY e {{ ROOT p = f32[{size}]{{0}} parameter(0) }}");
/// let [before, after] = [Module::parse(&of_size(8))?, Module::parse(&of_size(9))?].map(Program::from);
/// let difference = Difference::new(&before.memory(None), &after.memory(None));
/// let limit = "memory>0".parse()?;
/// let [before, after] = [32, 36].map(Quantity::Number);
/// assert_eq!(difference.exceeded(&[limit]), [Exceeded::Grew { limit, before, after, cause: Reason::Source }]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, JsonSchema)]
#[schemars(with = "String", inline)]
#[non_exhaustive]
pub enum Exceeded {
    /// A number grew more than it may.
    Grew {
        /// The limit.
        limit: Limit,
        /// The number before.
        before: Quantity,
        /// The number after.
        after: Quantity,
        /// Why the number grew.
        cause: Reason,
    },
    /// A number is not known in one of the programs.
    Unknown {
        /// The limit.
        limit: Limit,
        /// Why it is not known, if that is known.
        why: Option<String>,
    },
    /// Data that were written for the earlier program no longer fit the arguments and results.
    Layouts {
        /// How many arrays are not kept as they were; 0 if arguments or results cannot be compared.
        changed: usize,
    },
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grew { limit, before, after, cause } => {
                write!(f, "{limit}: {before} before, {after} after ({cause})")
            }
            Self::Unknown { limit, why } => {
                let are = if matches!(limit.measure, Measure::Memory | Measure::Time) { "is" } else { "are" };
                write!(f, "{limit}: the {} {are} not known in both modules", limit.measure.name())?;
                why.as_ref().map_or(Ok(()), |why| write!(f, " ({why})"))
            }
            Self::Layouts { changed: 0 } => {
                f.write_str("the arguments or results are not those of the record, so their layouts cannot be the same")
            }
            Self::Layouts { changed: 1 } => f.write_str("1 argument or result is not kept as the record says"),
            Self::Layouts { changed } => write!(f, "{changed} arguments and results are not kept as the record says"),
        }
    }
}

impl Serialize for Exceeded {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
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
