//! Slices of TPUs, by name.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;
use xla_shape::tpu::{Generation, UnknownGeneration};

/// A slice of a TPU, such as `v5e:2x2`: a generation, and the number of chips along each axis.
///
/// ```
/// use xla_shape_pjrt::Slice;
///
/// let slice: Slice = "v7x:2x2".parse()?;
/// assert_eq!(slice.to_string(), "tpu7x:2x2x1"); // as the compiler calls it
/// assert_eq!(slice.chips(), 4);
/// assert_eq!("v5e".parse::<Slice>()?, "v5e:2x2".parse()?); // one host
/// # Ok::<(), xla_shape_pjrt::SliceError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slice {
    generation: Generation,
    /// The chips along each axis. There are [`Generation::chip_axes`] of them.
    chips: Vec<u32>,
}

/// Why a text or a list of numbers is not a slice of a TPU.
///
/// ```
/// use xla_shape_pjrt::{Slice, SliceError};
///
/// assert!(matches!("v5e:20x1".parse::<Slice>(), Err(SliceError::TooLong { .. })), "an axis has at most 16 chips");
/// assert!(matches!("v99:2x2".parse::<Slice>(), Err(SliceError::Generation(_))));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SliceError {
    /// The part before the colon is not a generation.
    #[error("{0}")]
    Generation(UnknownGeneration),
    /// libtpu cannot compile for this generation.
    #[error("{0} is not known to the compiler; it knows {known}", known = known())]
    Unsupported(Generation),
    /// The part after the colon is not a list of chips along each axis.
    #[error("expected the chips along each axis of a {generation}, such as {}, found `{}`", usual(*.generation), .found.escape_debug())]
    Chips {
        /// The generation.
        generation: Generation,
        /// The text.
        found: String,
    },
    /// There are more chips along an axis than the generation has.
    #[error("a {generation} has at most {} chips along each axis, found `{}`", longest(*.generation), .found.escape_debug())]
    TooLong {
        /// The generation.
        generation: Generation,
        /// The text.
        found: String,
    },
    /// There are more chips than any TPU has.
    #[error("a TPU has at most {MAX_CHIPS} chips, found {found}")]
    TooMany {
        /// The text.
        found: String,
    },
}

/// More than any TPU has. The limit bounds the memory of libtpu, which allocates for each chip.
const MAX_CHIPS: u64 = 16_384;

/// The largest number of chips along an axis. libtpu ends the process if there are more.
fn longest(generation: Generation) -> u32 {
    generation.longest_axis().unwrap_or(MAX_CHIPS as u32)
}

/// The generations that libtpu knows.
fn known() -> String {
    let mut known = Generation::ALL.iter().filter(|generation| generation.usable_hbm_bytes().is_some());
    let (first, last) = (known.next(), known.next_back());
    first.into_iter().chain(last).map(ToString::to_string).collect::<Vec<_>>().join(" to ")
}

/// The chips of one host, as an example in messages.
fn usual(generation: Generation) -> &'static str {
    if generation.chip_axes() == 3 { "2x2x1" } else { "2x2" }
}

impl Slice {
    /// The slice with these chips along each axis. An axis that is left out has one chip.
    ///
    /// ```
    /// use xla_shape::tpu::Generation;
    /// use xla_shape_pjrt::Slice;
    ///
    /// assert_eq!(Slice::new(Generation::V4, &[2, 2])?.to_string(), "v4:2x2x1");
    /// # Ok::<(), xla_shape_pjrt::SliceError>(())
    /// ```
    ///
    /// # Errors
    /// If libtpu cannot compile for the generation, a number is 0, or there are too many chips, in total or along an axis.
    pub fn new(generation: Generation, chips: &[u32]) -> Result<Self, SliceError> {
        // libtpu does not know these generations: it answers "not a TPU".
        if generation.usable_hbm_bytes().is_none() {
            return Err(SliceError::Unsupported(generation));
        }
        let shown = || chips.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        let axes = generation.chip_axes();
        if chips.is_empty() || chips.len() > axes || chips.contains(&0) {
            return Err(SliceError::Chips { generation, found: shown() });
        }
        let count = chips.iter().try_fold(1_u64, |count, &chips| count.checked_mul(chips.into()));
        if count.is_none_or(|count| count > MAX_CHIPS) {
            return Err(SliceError::TooMany { found: shown() });
        }
        if chips.iter().any(|&chips| chips > longest(generation)) {
            return Err(SliceError::TooLong { generation, found: shown() });
        }
        let mut chips = chips.to_vec();
        chips.resize(axes, 1);
        Ok(Self { generation, chips })
    }

    /// The four chips of one host.
    ///
    /// ```
    /// # use xla_shape::tpu::Generation;
    /// # use xla_shape_pjrt::Slice;
    /// assert_eq!(Slice::host(Generation::V5e)?.to_string(), "v5e:2x2");
    /// # Ok::<(), xla_shape_pjrt::SliceError>(())
    /// ```
    ///
    /// # Errors
    /// If libtpu cannot compile for the generation.
    pub fn host(generation: Generation) -> Result<Self, SliceError> {
        Self::new(generation, &[2, 2])
    }

    /// The generation.
    ///
    /// ```
    /// # use xla_shape_pjrt::Slice;
    /// assert_eq!("TPU v5 lite".parse::<Slice>()?.generation(), xla_shape::tpu::Generation::V5e);
    /// # Ok::<(), xla_shape_pjrt::SliceError>(())
    /// ```
    #[must_use]
    pub const fn generation(&self) -> Generation {
        self.generation
    }

    /// The number of chips.
    ///
    /// ```
    /// # use xla_shape_pjrt::Slice;
    /// assert_eq!("v4:2x2x4".parse::<Slice>()?.chips(), 16);
    /// # Ok::<(), xla_shape_pjrt::SliceError>(())
    /// ```
    #[must_use]
    pub fn chips(&self) -> u64 {
        self.chips.iter().map(|&chips| u64::from(chips)).product()
    }

    /// The number of devices.
    ///
    /// ```
    /// # use xla_shape_pjrt::Slice;
    /// assert_eq!("v4:2x2x4".parse::<Slice>()?.devices(), 32);
    /// assert_eq!("v5e:2x4".parse::<Slice>()?.devices(), 8);
    /// # Ok::<(), xla_shape_pjrt::SliceError>(())
    /// ```
    #[must_use]
    pub fn devices(&self) -> u64 {
        self.chips() * self.generation.devices_per_chip()
    }
}

impl fmt::Display for Slice {
    /// Writes the compiler's name for the slice.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chips = self.chips.iter().map(u32::to_string).collect::<Vec<_>>().join("x");
        f.pad(&format!("{}:{chips}", self.generation.topology_name()))
    }
}

impl FromStr for Slice {
    type Err = SliceError;

    /// Reads `v5e:2x2`, or `v5e` for the chips of one host. The generation may have any name that [`Generation::from_name`] knows;
    /// Google Cloud's `v5litepod-4` is one host, too.
    ///
    /// # Errors
    /// If the text is not a slice of a TPU that libtpu knows.
    fn from_str(text: &str) -> Result<Self, SliceError> {
        let (name, chips) = text.split_once(':').map_or((text, None), |(name, chips)| (name, Some(chips)));
        let (generation, size) = Generation::split_name(name)
            .ok_or_else(|| SliceError::Generation(UnknownGeneration { name: name.to_owned() }))?;
        let Some(text) = chips.or_else(|| size.contains('x').then_some(size)) else {
            // Google Cloud's names give the number of chips or cores, not the axes: the axes are only known if there is one host.
            let count = size.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end_matches('t');
            let of_machine = size.ends_with('t') || generation.size_counts_chips();
            return match count {
                "" => Self::host(generation),
                "4" if of_machine => Self::host(generation),
                "8" if !of_machine => Self::host(generation),
                _ => Err(SliceError::Chips { generation, found: size.to_owned() }),
            };
        };
        let found = || SliceError::Chips { generation, found: text.to_owned() };
        let number = |digits: &str| {
            let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| digits.parse()).ok_or_else(found)
        };
        let mut chips = Vec::new();
        for digits in text.split('x') {
            chips.push(number(digits)?.map_err(|_| SliceError::TooMany { found: text.to_owned() })?);
        }
        Self::new(generation, &chips).map_err(|error| match error {
            SliceError::Chips { .. } => found(),
            error => error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Slice;

    #[test]
    fn names_are_those_of_the_compiler() {
        for (text, name, chips) in [
            ("v2:2x2", "v2:2x2", 4),
            ("v3", "v3:2x2", 4),
            ("v4:2x2", "v4:2x2x1", 4),
            ("v4:2x2x4", "v4:2x2x4", 16),
            ("v5e:16x16", "v5e:16x16", 256),
            ("v5e:1x1", "v5e:1x1", 1),
            ("v5e:4", "v5e:4x1", 4),
            ("v3:128x128", "v3:128x128", 16_384),
            ("v6e:64x2", "v6e:64x2", 128),
            ("v5p", "v5p:2x2x1", 4),
            ("v6e:2x2", "v6e:2x2", 4),
            ("v7x", "tpu7x:2x2x1", 4),
            ("tpu7x:4x4x4", "tpu7x:4x4x4", 64),
            ("V5e:2x4", "v5e:2x4", 8),
            ("TPU v5 lite", "v5e:2x2", 4),
            ("v5litepod-4", "v5e:2x2", 4),
            ("v4-8", "v4:2x2x1", 4),
            ("tpu7x-2x2x4", "tpu7x:2x2x4", 16),
            ("ct6e-standard-4t", "v6e:2x2", 4),
        ] {
            let slice: Slice = text.parse().unwrap();
            assert_eq!((slice.to_string().as_str(), slice.chips()), (name, chips));
            assert_eq!(name.parse::<Slice>().unwrap(), slice);
        }
    }

    #[test]
    fn errors_say_what_is_wrong_with_a_slice() {
        for (text, message) in [
            ("v5e:0x1", "expected the chips along each axis of a v5e, such as 2x2, found `0x1`"),
            ("v5e:2x2x1", "expected the chips along each axis of a v5e, such as 2x2, found `2x2x1`"),
            ("v4:", "expected the chips along each axis of a v4, such as 2x2x1, found ``"),
            ("v4:2x+2", "expected the chips along each axis of a v4, such as 2x2x1, found `2x+2`"),
            ("v4:2 x2", "expected the chips along each axis of a v4, such as 2x2x1, found `2 x2`"),
            ("v5e:99999x99999", "a TPU has at most 16384 chips, found 99999x99999"),
            ("v5e:99999999999x1", "a TPU has at most 16384 chips, found 99999999999x1"),
            ("v5e:32x2", "a v5e has at most 16 chips along each axis, found `32x2`"),
            ("v5e:2x17", "a v5e has at most 16 chips along each axis, found `2x17`"),
            ("v5e:128x128", "a v5e has at most 16 chips along each axis, found `128x128`"),
            ("v6e:16385x1", "a TPU has at most 16384 chips, found 16385x1"),
            ("v8i:2x2", "v8i is not known to the compiler; it knows v2 to v7x"),
        ] {
            assert_eq!(text.parse::<Slice>().unwrap_err().to_string(), message);
        }
        let error = "v5litepod-16".parse::<Slice>().unwrap_err().to_string();
        assert_eq!(error, "expected the chips along each axis of a v5e, such as 2x2, found `16`");
        let error = "v5q:2x2".parse::<Slice>().unwrap_err().to_string();
        assert!(error.starts_with("expected a generation of TPUs: v2, v3,"), "{error}");
    }
}
