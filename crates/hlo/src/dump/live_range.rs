//! `live-range.txt`: the live range of every value (`HloLiveRange::ToString` in `xla/hlo/utils/hlo_live_range.cc`).

use super::{DumpError, wrong};
use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// A `live-range.txt`: the schedule, and the live range of every value.
///
/// ```
/// use xla_shape_hlo::dump::LiveRanges;
///
/// let text = "\
/// HloLiveRange (max 2):
///   InstructionSequence:
///     0:x
///     1:y
///   BufferLiveRange:
///     x{}:0-2
///     y{}:1-2
///   Live ranges at 1 (peak):
///     x{}: 4096 bytes (cumulative: 4096 bytes)
/// ";
/// let ranges = LiveRanges::parse(text)?;
/// assert_eq!(ranges.steps(), ["x", "y"]);
/// assert_eq!(ranges.get("y{}"), Some((1, 2)));
/// # Ok::<(), xla_shape_hlo::dump::DumpError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LiveRanges {
    steps: Vec<String>,
    ranges: BTreeMap<String, (u32, u32)>,
}

impl LiveRanges {
    /// Parses the file.
    ///
    /// # Errors
    /// If the text is not a live range file, or a line does not have the form that XLA writes.
    pub fn parse(text: &str) -> Result<Self, DumpError> {
        let expected = "HloLiveRange (max";
        if !text.starts_with(expected) {
            return Err(DumpError::NotThisFile { expected });
        }
        let mut found = Self::default();
        let mut in_ranges = false;
        for (number, line) in (2_usize..).zip(text.lines().skip(1)) {
            match line.trim() {
                "InstructionSequence:" => in_ranges = false,
                "BufferLiveRange:" => in_ranges = true,
                section if section.starts_with("Live ranges at") => break,
                range if in_ranges => {
                    // `fusion.3{0}:12-40`. Names can contain colons, steps cannot.
                    let read = range.rsplit_once(':').and_then(|(name, steps)| {
                        let (from, to) = steps.split_once('-')?;
                        Some((name.to_owned(), (from.parse().ok()?, to.parse().ok()?)))
                    });
                    let (name, range) = read.ok_or_else(|| wrong(number, "a value and its steps", line))?;
                    found.ranges.insert(name, range);
                }
                step => {
                    let (_, name) = step.split_once(':').ok_or_else(|| wrong(number, "an instruction", line))?;
                    found.steps.push(name.to_owned());
                }
            }
        }
        Ok(found)
    }

    /// The instructions, in the order in which they run.
    #[must_use]
    pub fn steps(&self) -> &[String] {
        &self.steps
    }

    /// The first and the last step of a value, named by instruction and shape index, such as `copy-start.1{0}`.
    #[must_use]
    pub fn get(&self, value: &str) -> Option<(u32, u32)> {
        self.ranges.get(value).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::LiveRanges;
    use alloc::string::ToString;

    #[test]
    fn what_is_no_live_range_is_an_error() {
        let message = |text: &str| LiveRanges::parse(text).unwrap_err().to_string();
        assert_eq!(message(""), "the file does not begin with `HloLiveRange (max`");
        assert_eq!(
            message("HloLiveRange (max 1):\n  InstructionSequence:\n    x"),
            "line 3: expected an instruction, found `x`"
        );
        assert_eq!(
            message("HloLiveRange (max 1):\n  BufferLiveRange:\n    x{}:1"),
            "line 3: expected a value and its steps, found `x{}:1`"
        );
    }
}
