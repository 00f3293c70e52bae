//! How much the times of runs differ.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xla_shape_core::sorting::sort;

/// The median of times and the middle half of them, in picoseconds. A few very long runs, such as the first one, do not change them.
///
/// ```
/// use xla_shape_answers::cost::Spread;
///
/// let before = Spread::of([10, 11, 12, 90]).unwrap();
/// assert_eq!((before.lower_quartile_picoseconds, before.median_picoseconds, before.upper_quartile_picoseconds), (11, 12, 12));
/// assert!(before.is_clear_of(Spread::of([14, 15]).unwrap()) && !before.is_clear_of(Spread::of([12, 15]).unwrap()));
/// assert_eq!(Spread::of([]), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Spread {
    /// The median; of an even number of times, the larger of the two in the middle.
    pub median_picoseconds: u64,
    /// A quarter of the times are shorter than this. If there are fewer than four times, it is the shortest one.
    pub lower_quartile_picoseconds: u64,
    /// A quarter of the times are longer than this. If there are fewer than four times, it is the longest one.
    pub upper_quartile_picoseconds: u64,
}

impl Spread {
    /// The spread of these times; `None` without any.
    #[must_use]
    pub fn of(times: impl IntoIterator<Item = u64>) -> Option<Self> {
        let mut times = times.into_iter().collect::<Vec<_>>();
        sort(&mut times);
        let quarter = times.len() / 4;
        Some(Self {
            median_picoseconds: *times.get(times.len() / 2)?,
            lower_quartile_picoseconds: *times.get(quarter)?,
            upper_quartile_picoseconds: *times.iter().rev().nth(quarter)?,
        })
    }

    /// Whether all of the middle half of the times is above, or below, the middle half of the other times. If not, the difference may be chance.
    #[must_use]
    pub const fn is_clear_of(self, other: Self) -> bool {
        self.upper_quartile_picoseconds < other.lower_quartile_picoseconds
            || other.upper_quartile_picoseconds < self.lower_quartile_picoseconds
    }
}
