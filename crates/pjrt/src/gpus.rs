//! GPUs to compile for, by name and number.

use std::fmt;
use std::str::FromStr;
use thiserror::Error;
use xla_shape::gpu::{Gpu, UnknownGpu};

/// GPUs to compile for, such as `h100:2x8`: which, and how many. This machine need not have them.
///
/// ```
/// use xla_shape::gpu::Gpu;
/// use xla_shape_pjrt::Gpus;
///
/// let gpus: Gpus = "A100-80:2x8".parse()?;
/// assert_eq!(gpus.gpu(), Some(Gpu::A100Sxm80));
/// assert_eq!((gpus.to_string().as_str(), gpus.count()), ("a100-80:2x8", 16));
/// assert_eq!("h100".parse::<Gpus>()?.count(), 8); // one host
/// # Ok::<(), xla_shape_pjrt::GpusError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Gpus {
    /// `None` for the GPU in the user's own description.
    gpu: Option<Gpu>,
    /// Slices, hosts of a slice and GPUs of a host; `None` if the text does not give them.
    counts: Option<[u32; 3]>,
}

/// Why a text does not name GPUs.
///
/// ```
/// use xla_shape_pjrt::{Gpus, GpusError};
///
/// assert!(matches!("h100:0".parse::<Gpus>(), Err(GpusError::Counts { .. })));
/// assert!(matches!("a100".parse::<Gpus>(), Err(GpusError::Gpu(_))), "of which there are two");
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum GpusError {
    /// The part before the colon is not a GPU.
    #[error("{0}")]
    Gpu(UnknownGpu),
    /// The part after the colon does not say how many GPUs there are.
    #[error("expected how many GPUs, such as 8 for one host or 2x8 for two, found `{}`", .found.escape_debug())]
    Counts {
        /// The text.
        found: String,
    },
    /// The text asks for more GPUs than the limit.
    #[error("at most {MAX_GPUS} GPUs, found {}", .found.escape_debug())]
    TooMany {
        /// The text.
        found: String,
    },
}

/// The compiler allocates memory for each GPU, so this limits its memory.
const MAX_GPUS: u64 = 16_384;

/// One host with as many GPUs as NVIDIA's HGX boards have.
const HOST: [u32; 3] = [1, 1, 8];

/// The name of the GPU in the user's own description.
const DESCRIBED: &str = "gpu";

impl Gpus {
    /// The GPUs of one host: 8.
    ///
    /// ```
    /// use xla_shape::gpu::Gpu;
    /// use xla_shape_pjrt::Gpus;
    ///
    /// assert_eq!(Gpus::host(Gpu::H200), "h200".parse()?);
    /// # Ok::<(), xla_shape_pjrt::GpusError>(())
    /// ```
    #[must_use]
    pub const fn host(gpu: Gpu) -> Self {
        Self { gpu: Some(gpu), counts: None }
    }

    /// The GPU; `None` for the GPU in the user's own description: its name is `gpu`, as in `gpu:2x8`.
    #[must_use]
    pub const fn gpu(&self) -> Option<Gpu> {
        self.gpu
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts().into_iter().map(u64::from).product()
    }

    fn counts(&self) -> [u32; 3] {
        self.counts.unwrap_or(HOST)
    }

    /// The numbers of slices, hosts and GPUs as the compiler writes them, such as `1x2x8`.
    pub(crate) fn topology(&self) -> String {
        self.counts().map(|count| count.to_string()).join("x")
    }
}

impl fmt::Display for Gpus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.gpu.map_or(DESCRIBED, Gpu::name);
        let counts = match self.counts {
            None => return f.pad(name),
            Some([1, 1, gpus]) => gpus.to_string(),
            Some([1, hosts, gpus]) => format!("{hosts}x{gpus}"),
            Some(counts) => counts.map(|count| count.to_string()).join("x"),
        };
        f.pad(&format!("{name}:{counts}"))
    }
}

impl FromStr for Gpus {
    type Err = GpusError;

    /// Reads `h100` for one host, `h100:8`, `h100:2x8` for two hosts, or `h100:2x4x8` for two slices of four hosts. The GPU may have any
    /// name that [`Gpu::from_name`] knows. `gpu` is the GPU in the user's own description.
    ///
    /// # Errors
    /// If the text is not a GPU of the core's table, a number is 0, or there are too many.
    fn from_str(text: &str) -> Result<Self, GpusError> {
        // Slurm writes `gpu:h100:8`, so the numbers follow the last colon.
        let is_counts = |text: &str| text.is_empty() || text.starts_with(|first: char| first.is_ascii_digit());
        let (name, counts) = match text.rsplit_once(':') {
            Some((name, counts)) if is_counts(counts) && !is_described_name(text) => (name, Some(counts)),
            _ => (text, None),
        };
        let gpu = match name.eq_ignore_ascii_case(DESCRIBED) {
            true => None,
            false => Some(name.parse().map_err(|error| match name.split_once(':') {
                // In `h100:x`, the name is right and the number is wrong.
                Some((before, after)) if Gpu::from_name(before).is_some() => {
                    GpusError::Counts { found: after.to_owned() }
                }
                _ => GpusError::Gpu(error),
            })?),
        };
        Ok(Self { gpu, counts: counts.map(read_counts).transpose()? })
    }
}

/// Whether the whole text is a name, such as `gpu:4090`.
fn is_described_name(text: &str) -> bool {
    !text.ends_with(':') && Gpu::from_name(text).is_some()
}

fn read_counts(text: &str) -> Result<[u32; 3], GpusError> {
    let wrong = || GpusError::Counts { found: text.to_owned() };
    let mut counts = [1; 3];
    let parts = text.split('x').collect::<Vec<_>>();
    // A text with fewer than three counts gives the last ones; the others stay 1.
    let first = counts.len().checked_sub(parts.len()).ok_or_else(wrong)?;
    let mut all = 1_u64;
    for (count, digits) in counts[first..].iter_mut().zip(parts) {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(wrong());
        }
        *count = digits.parse().map_err(|_| GpusError::TooMany { found: text.to_owned() })?;
        if *count == 0 {
            return Err(wrong());
        }
        let product = all.checked_mul(u64::from(*count)).filter(|&all| all <= MAX_GPUS);
        all = product.ok_or_else(|| GpusError::TooMany { found: text.to_owned() })?;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::Gpus;

    #[test]
    fn names_and_numbers_are_read() {
        for (text, name, count, topology) in [
            ("H100", "h100", 8, "1x1x8"),
            ("b200:8", "b200:8", 8, "1x1x8"),
            ("l4:1", "l4:1", 1, "1x1x1"),
            ("nvidia-a100-80gb:2x8", "a100-80:2x8", 16, "1x2x8"),
            ("gpu:h100:4", "h100:4", 4, "1x1x4"),
            ("gpu:4090", "rtx4090", 8, "1x1x8"),
            ("h200:2x4x8", "h200:2x4x8", 64, "2x4x8"),
            ("gpu:4", "gpu:4", 4, "1x1x4"),
            ("GPU", "gpu", 8, "1x1x8"),
        ] {
            let gpus: Gpus = text.parse().unwrap();
            assert_eq!((gpus.to_string().as_str(), gpus.count(), gpus.topology().as_str()), (name, count, topology));
            assert_eq!(name.parse(), Ok(gpus));
        }
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let counts = "expected how many GPUs, such as 8 for one host or 2x8 for two, found ";
        for (text, message) in [
            ("h100:0", format!("{counts}`0`")),
            ("h100:", format!("{counts}``")),
            ("h100:x", format!("{counts}`x`")),
            ("h100:2x", format!("{counts}`2x`")),
            ("h100:1x1x1x1", format!("{counts}`1x1x1x1`")),
            ("h100:8+1", format!("{counts}`8+1`")),
            ("h100:128x129", "at most 16384 GPUs, found 128x129".to_owned()),
            ("h100:99999999999", "at most 16384 GPUs, found 99999999999".to_owned()),
        ] {
            assert_eq!(text.parse::<Gpus>().unwrap_err().to_string(), message, "{text}");
        }
        let error = "a100:8".parse::<Gpus>().unwrap_err().to_string();
        assert!(error.contains("found `a100`; did you mean `a100-40`, "), "{error}");
    }
}
