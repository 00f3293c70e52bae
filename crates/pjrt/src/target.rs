//! Devices to compile for, of any kind.

use crate::gpus::{Gpus, GpusError};
use crate::slice::{Slice, SliceError};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;
use xla_shape::gpu::Gpu;
use xla_shape::tpu::Generation;

/// Devices to compile for: a slice of a TPU, or GPUs.
///
/// ```
/// use xla_shape_pjrt::Target;
///
/// assert!(matches!("v5e:2x2".parse()?, Target::Tpu(_)));
/// assert!(matches!("h100:8".parse()?, Target::Gpu(_)));
/// # Ok::<(), xla_shape_pjrt::TargetError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// A slice of a TPU.
    Tpu(Slice),
    /// GPUs.
    Gpu(Gpus),
}

/// Why a text names no devices to compile for.
///
/// ```
/// use xla_shape_pjrt::{Target, TargetError};
///
/// assert!(matches!("v5e:0x1".parse::<Target>(), Err(TargetError::Slice(_))));
/// assert!(matches!("h100:0".parse::<Target>(), Err(TargetError::Gpus(_))));
/// assert!(matches!("z80".parse::<Target>(), Err(TargetError::Unknown { .. })));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The text names a TPU, but not a slice of it.
    #[error(transparent)]
    Slice(#[from] SliceError),
    /// The text names a GPU, but the number of GPUs is wrong.
    #[error(transparent)]
    Gpus(#[from] GpusError),
    /// No device has this name.
    #[error("expected a TPU ({}) or a GPU ({}); found `{}`", names(Generation::ALL), names(Gpu::ALL), .found.escape_debug())]
    Unknown {
        /// The name.
        found: String,
    },
}

impl Target {
    /// The number of devices.
    ///
    /// ```
    /// use xla_shape_pjrt::Target;
    ///
    /// assert_eq!(("v5e:2x4".parse::<Target>()?.devices(), "h100:8".parse::<Target>()?.devices()), (8, 8));
    /// # Ok::<(), xla_shape_pjrt::TargetError>(())
    /// ```
    #[must_use]
    pub fn devices(&self) -> u64 {
        match self {
            Self::Tpu(slice) => slice.devices(),
            Self::Gpu(gpus) => gpus.count(),
        }
    }
}

fn names(all: &[impl fmt::Display]) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tpu(slice) => slice.fmt(f),
            Self::Gpu(gpus) => gpus.fmt(f),
        }
    }
}

impl From<Slice> for Target {
    fn from(slice: Slice) -> Self {
        Self::Tpu(slice)
    }
}

impl From<&Slice> for Target {
    fn from(slice: &Slice) -> Self {
        Self::Tpu(slice.clone())
    }
}

impl From<&Self> for Target {
    fn from(target: &Self) -> Self {
        target.clone()
    }
}

impl From<Gpus> for Target {
    fn from(gpus: Gpus) -> Self {
        Self::Gpu(gpus)
    }
}

impl FromStr for Target {
    type Err = TargetError;

    /// Reads what [`Slice`] and [`Gpus`] read.
    ///
    /// # Errors
    /// If it is neither.
    fn from_str(text: &str) -> Result<Self, TargetError> {
        match (text.parse::<Slice>(), text.parse::<Gpus>()) {
            (Ok(slice), _) => Ok(Self::Tpu(slice)),
            (_, Ok(gpus)) => Ok(Self::Gpu(gpus)),
            // The text is neither. If it is the name of a TPU or of a GPU, or similar to one, return the error for that kind of device.
            (Err(error), _) if !matches!(error, SliceError::Generation(_)) => Err(error.into()),
            (_, Err(error)) if !matches!(error, GpusError::Gpu(_)) => Err(error.into()),
            (_, Err(GpusError::Gpu(name))) if name.meant().next().is_some() => Err(GpusError::Gpu(name).into()),
            (Err(SliceError::Generation(name)), _) if name.meant().next().is_some() => {
                Err(SliceError::Generation(name).into())
            }
            _ => Err(TargetError::Unknown { found: text.to_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn both_kinds_are_read_and_printed() {
        for (text, name) in
            [("v5e", "v5e:2x2"), ("tpu7x-2x2x1", "tpu7x:2x2x1"), ("nvidia-l4", "l4"), ("B200:2x8", "b200:2x8")]
        {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), name);
            assert_eq!(name.parse(), Ok(target));
        }
    }

    #[test]
    fn errors_are_those_of_the_device_that_is_meant() {
        let error = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert!(error("v5e:0x1").starts_with("expected the chips along each axis of a v5e"));
        assert!(error("v6").ends_with("did you mean `v6e`?"));
        assert!(error("v100").ends_with("did you mean `v100-16` or `v100-32`?"));
        assert!(error("h100:9999999").starts_with("at most"));
        let unknown = error("z80\n");
        assert!(unknown.starts_with("expected a TPU (v2, v3,") && unknown.ends_with("; found `z80\\n`"), "{unknown}");
    }
}
