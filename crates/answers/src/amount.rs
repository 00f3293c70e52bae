//! The cost of something: cycles of a TPU, or a time on a GPU.

use crate::numbers::{Grouped, count};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use xla_shape_hlo::cost::Unit;

/// A time, exact to the picosecond. Its JSON is a number of seconds, its text has the largest unit that fits.
///
/// ```
/// use xla_shape_answers::cost::Seconds;
///
/// let time = Seconds::from_picoseconds(23_700_000);
/// assert_eq!(time.to_string(), "23.7 µs");
/// assert_eq!(serde_json::to_string(&time)?, "0.0000237");
/// assert_eq!(serde_json::from_str::<Seconds>("2.37e-5")?, time);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, JsonSchema)]
#[schemars(with = "f64", inline)]
pub struct Seconds {
    picoseconds: u64,
}

/// The picoseconds in a second.
const SECOND: f64 = 1e12;

impl Seconds {
    /// A number of picoseconds.
    #[must_use]
    pub const fn from_picoseconds(picoseconds: u64) -> Self {
        Self { picoseconds }
    }

    /// The picoseconds.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.picoseconds
    }

    /// A number of seconds, rounded to picoseconds; `None` if it is negative, not a number, or more than a `u64` of picoseconds.
    ///
    /// ```
    /// use xla_shape_answers::cost::Seconds;
    ///
    /// assert_eq!(Seconds::from_seconds(1e-6).map(Seconds::picoseconds), Some(1_000_000));
    /// assert_eq!(Seconds::from_seconds(-1.0), None);
    /// ```
    #[must_use]
    pub fn from_seconds(seconds: f64) -> Option<Self> {
        let picoseconds = (seconds * SECOND).round();
        // This is also false for NaN.
        let is_time = (0.0..u64::MAX as f64).contains(&picoseconds);
        is_time.then_some(Self { picoseconds: picoseconds as u64 })
    }

    /// The number of seconds.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.picoseconds as f64 / SECOND
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.seconds())
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        Self::from_seconds(seconds)
            .ok_or_else(|| serde::de::Error::custom(format_args!("expected seconds, found {seconds}")))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1e12, "s"), (1e9, "ms"), (1e6, "µs"), (1e3, "ns")];
        let time = self.picoseconds as f64;
        let found = units.into_iter().find(|(unit, _)| time >= *unit);
        // Show three digits, or more if there are more before the point.
        let text = match found {
            // With two decimals, 9.995 would become 10.00, which has four digits.
            Some((unit, name)) if time / unit < 9.995 => format!("{:.2} {name}", time / unit),
            Some((unit, name)) if time / unit < 99.95 => format!("{:.1} {name}", time / unit),
            Some((unit, name)) => format!("{:.0} {name}", time / unit),
            None => format!("{} ps", self.picoseconds),
        };
        f.pad(&text)
    }
}

/// The cost of something, according to the compiler's figures. All amounts of a program have the same unit.
///
/// ```
/// use xla_shape_answers::cost::{Amount, Seconds};
///
/// assert_eq!(Amount::Cycles(1200).to_string(), "1,200 cycles");
/// assert_eq!(Amount::Time(Seconds::from_picoseconds(1_500_000_000)).to_string(), "1.50 ms");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub enum Amount {
    /// Cycles of a TPU's cores.
    Cycles(u64),
    /// A time on a GPU.
    Time(Seconds),
}

impl Amount {
    /// A number of units.
    pub(crate) const fn new(unit: Unit, number: u64) -> Self {
        match unit {
            Unit::Cycles => Self::Cycles(number),
            Unit::Picoseconds => Self::Time(Seconds::from_picoseconds(number)),
        }
    }

    /// The number, in the unit of the program: cycles or picoseconds.
    #[must_use]
    pub const fn number(self) -> u64 {
        match self {
            Self::Cycles(number) => number,
            Self::Time(time) => time.picoseconds(),
        }
    }

    /// The cycles; `None` for a time.
    #[must_use]
    pub const fn cycles(self) -> Option<u64> {
        match self {
            Self::Cycles(cycles) => Some(cycles),
            Self::Time(_) => None,
        }
    }

    /// The time; `None` for cycles.
    #[must_use]
    pub const fn time(self) -> Option<Seconds> {
        match self {
            Self::Cycles(_) => None,
            Self::Time(time) => Some(time),
        }
    }

    /// Another number in the same unit.
    ///
    /// ```
    /// use xla_shape_answers::cost::Amount;
    ///
    /// assert_eq!(Amount::Cycles(7).with_number(9), Amount::Cycles(9));
    /// ```
    #[must_use]
    pub const fn with_number(self, number: u64) -> Self {
        match self {
            Self::Cycles(_) => Self::Cycles(number),
            Self::Time(_) => Self::Time(Seconds::from_picoseconds(number)),
        }
    }

    /// The sum, in the unit of `self`.
    #[must_use]
    pub const fn saturating_add(self, other: Self) -> Self {
        self.with_number(self.number().saturating_add(other.number()))
    }

    /// The text for a column whose heading says "cycles": only the number. A time keeps its unit.
    #[must_use]
    pub fn in_column(self) -> String {
        match self {
            Self::Cycles(cycles) => Grouped(cycles).to_string(),
            Self::Time(time) => time.to_string(),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cycles(cycles) => f.pad(&count(*cycles, "cycle", "cycles")),
            Self::Time(time) => time.fmt(f),
        }
    }
}

/// Writes an amount as two fields of the object around it, one of which is null. Each use of the macro names the fields.
macro_rules! fields {
    ($($function:ident: $form:ident { $(#[$cycles_about:meta])* $cycles:ident, $(#[$seconds_about:meta])* $seconds:ident })*) => {$(
        #[derive(Serialize, JsonSchema)]
        pub(crate) struct $form {
            $(#[$cycles_about])*
            $cycles: Option<u64>,
            $(#[$seconds_about])*
            $seconds: Option<Seconds>,
        }

        pub(crate) fn $function<S: Serializer>(amount: &Option<Amount>, serializer: S) -> Result<S::Ok, S::Error> {
            let form = $form { $cycles: amount.and_then(Amount::cycles), $seconds: amount.and_then(Amount::time) };
            form.serialize(serializer)
        }
    )*};
}

fields! {
    one_run: OneRun {
        /// The compiler's cycles for one run; null if it gives none.
        cycles,
        /// For a GPU: the seconds of one run; null without a figure.
        seconds
    }
    all_runs: AllRuns {
        /// The cycles of all runs; null if they are not known.
        cycles,
        /// For a GPU: the seconds of all runs; null if they are not known.
        seconds
    }
    total: Total {
        /// The cycles of all runs; null if they are not known.
        total,
        /// For a GPU: the seconds of all runs; null if they are not known.
        total_seconds
    }
    hidden: Hidden {
        /// The cycles of the instructions between its start and its end; null if it is not asynchronous.
        hidden_by_cycles,
        /// For a GPU: the seconds of these instructions; null if it is not asynchronous.
        hidden_by_seconds
    }
    with_layouts: WithLayouts {
        /// The cycles of the program with these layouts; null if they are not known.
        cycles,
        /// For a GPU: the seconds of the program with these layouts; null if they are not known.
        seconds
    }
    before: Before {
        /// The cycles of the record; null if the line has none.
        before,
        /// For a GPU: the seconds of the record; null if the line has none.
        before_seconds
    }
    after: After {
        /// The cycles now; null if the line has none.
        after,
        /// For a GPU: the seconds now; null if the line has none.
        after_seconds
    }
    without_layouts: WithoutLayouts {
        /// The cycles without these layouts; null if they are not known.
        cycles_before,
        /// For a GPU: the seconds without these layouts; null if they are not known.
        seconds_before
    }
}

#[cfg(test)]
mod tests {
    use super::Seconds;

    #[test]
    fn times_have_three_digits_and_the_largest_unit_that_fits() {
        for (picoseconds, text) in [
            (0, "0 ps"),
            (999, "999 ps"),
            (1000, "1.00 ns"),
            (9_994_999, "9.99 µs"),
            (9_996_000, "10.0 µs"),
            (1_451_500, "1.45 µs"),
            (123_456_789_012, "123 ms"),
            (10_600_000_000_000, "10.6 s"),
            (6_668_082_282_710_750, "6668 s"),
        ] {
            assert_eq!(Seconds::from_picoseconds(picoseconds).to_string(), text);
        }
    }

    #[test]
    fn what_is_not_a_time_is_refused() {
        for text in ["-1", "1e300", "\"1\"", "null"] {
            assert!(serde_json::from_str::<Seconds>(text).is_err(), "{text}");
        }
    }
}
