//! How long instructions and programs ran, in picoseconds.

use super::error::{ProfileError, ProfileErrorKind};
use super::plane::Result;

/// How long all executions of one instruction took, over all runs of its program and all devices, in picoseconds.
///
/// ```
/// use xla_shape_hlo::profile::{InstructionTimes, Profile};
///
/// let bytes = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpus/profiles/v6e.xplane.pb"));
/// let profile = Profile::read(bytes)?;
/// let times: &InstructionTimes = profile.modules()[0].instructions().next().unwrap().1;
/// assert_eq!((times.shortest, times.mean(), times.longest), (75_566_250, 75_754_166, 75_911_250));
/// # Ok::<(), xla_shape_hlo::profile::ProfileError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct InstructionTimes {
    /// How many events it has: on a GPU, each of its kernels is one. See [`executions`](Self::executions).
    pub count: u64,
    /// The sum of their durations.
    pub total: u64,
    /// The sum without the time of instructions that ran inside of it, such as those of a loop's body. These sums, over all instructions, add up to
    /// the time of the program.
    pub own: u64,
    /// The shortest duration.
    pub shortest: u64,
    /// The longest duration.
    pub longest: u64,
    /// The floating-point operations of one execution, as the profile says; `None` if it does not.
    pub flops: Option<u64>,
    /// The number of events that are kernels of a GPU, except the first kernel of each execution.
    further_kernels: u64,
    /// Whether its kernels did not all run equally often.
    is_uneven: bool,
}

impl InstructionTimes {
    /// How often it was executed. If one execution launches several kernels of a GPU, this is less than `count`. `None` if these kernels did not run
    /// equally often.
    #[must_use]
    pub const fn executions(&self) -> Option<u64> {
        if self.is_uneven { None } else { self.count.checked_sub(self.further_kernels) }
    }

    /// The mean duration of one execution with all its kernels, rounded down; `None` if it was not executed, or it is not known how often.
    #[must_use]
    pub const fn mean_of_executions(&self) -> Option<u64> {
        match self.executions() {
            Some(executions) => self.total.checked_div(executions),
            None => None,
        }
    }

    /// Records another kernel of the instruction on a GPU: how often the instruction's first kernel ran on the device, and how often this one ran.
    #[expect(clippy::arithmetic_side_effects, reason = "a sum of fewer than 2^32 numbers below 2^32")]
    pub(super) fn note_kernel(&mut self, first: u32, count: u32) {
        self.is_uneven |= count != first;
        self.further_kernels += u64::from(count);
    }

    /// The mean duration of its events, rounded down; 0 if it did not run.
    #[must_use]
    pub const fn mean(&self) -> u64 {
        match self.total.checked_div(self.count) {
            Some(mean) => mean,
            None => 0,
        }
    }

    /// Adds one event.
    pub(super) fn add(&mut self, duration: u64, own: u64) -> Result<()> {
        let too_long = || ProfileError::new(ProfileErrorKind::TooLong);
        self.shortest = if self.count == 0 { duration } else { self.shortest.min(duration) };
        self.longest = self.longest.max(duration);
        self.count = self.count.checked_add(1).ok_or_else(too_long)?;
        self.total = self.total.checked_add(duration).ok_or_else(too_long)?;
        self.own = self.own.checked_add(own).ok_or_else(too_long)?;
        Ok(())
    }
}

/// One run of a program on one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Run {
    /// The number of the device in [`Profile::devices`](super::Profile::devices).
    pub device: usize,
    /// When it began, in picoseconds from a moment that is the same for all runs on this device.
    pub start: i64,
    /// How long it took, in picoseconds.
    pub duration: u64,
    /// For how long at least one instruction of the program ran, in picoseconds.
    pub busy: u64,
}

/// Events of a profile that are not counted, or may be counted wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Doubts {
    /// Events that end before they begin, or outside of the times that a profile can have. They are not counted.
    pub impossible: u64,
    /// Events that begin during another event of their line and end after it. Both are counted in full.
    pub overlapping: u64,
    /// Events of instructions whose program the profile does not name. They are not counted.
    pub unassigned: u64,
}

/// The picoseconds that at least one of these intervals covers. The intervals are sorted here.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "the added intervals do not overlap and are in the range of an `i64`, so their sum fits in a `u64`"
)]
pub(super) fn covered(intervals: &mut [(i64, i64)]) -> u64 {
    intervals.sort_unstable();
    let (mut covered, mut end) = (0_u64, i64::MIN);
    for &(start, stop) in &*intervals {
        let start = start.max(end);
        if stop > start {
            covered += stop.abs_diff(start);
            end = stop;
        }
    }
    covered
}

#[cfg(test)]
mod tests {
    use super::{InstructionTimes, covered};

    #[test]
    fn executions_are_known_if_kernels_run_equally_often() {
        let mut times = InstructionTimes::default();
        (1..=6).try_for_each(|duration| times.add(duration, duration)).unwrap();
        assert_eq!((times.executions(), times.mean_of_executions()), (Some(6), Some(3)));
        times.note_kernel(2, 2);
        times.note_kernel(1, 1);
        assert_eq!((times.executions(), times.mean_of_executions(), times.mean()), (Some(3), Some(7), 3));
        times.note_kernel(2, 1);
        assert_eq!((times.executions(), times.mean_of_executions()), (None, None));
        assert_eq!(InstructionTimes::default().mean_of_executions(), None);
    }

    #[test]
    fn intervals_that_overlap_count_once() {
        assert_eq!(covered(&mut []), 0);
        assert_eq!(covered(&mut [(5, 9), (0, 3), (2, 4), (6, 8), (9, 9)]), 8);
        assert_eq!(covered(&mut [(i64::MIN, i64::MAX), (0, 1)]), u64::MAX);
    }
}
