//! The error of sizes that do not fit a type.

use core::fmt;
use xla_shape_core::{Dimension, ValidationError};

/// Sizes that an array type cannot have.
///
/// ```
/// use xla_shape::shape;
/// use xla_shape::types::SizesError;
///
/// let error = <shape!(f32[<=8,128])>::with_sizes([9, 128]).unwrap_err();
/// assert!(matches!(error, SizesError::Dimension { dimension: 0, found: 9, .. }), "{error}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SizesError {
    /// The size differs from the static one, or exceeds the bound.
    Dimension {
        /// Which dimension.
        dimension: usize,
        /// The dimension of the type.
        expected: Dimension,
        /// The size that was requested, in elements.
        found: usize,
    },
    /// The shape is not valid.
    Invalid(ValidationError),
}

impl fmt::Display for SizesError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimension { dimension, expected: Dimension::Bounded(bound), found } => {
                write!(f, "expected a size of at most {bound} for dimension {dimension}, found {found}")
            }
            Self::Dimension { dimension, expected, found } => {
                write!(f, "expected size {expected} for dimension {dimension}, found {found}")
            }
            Self::Invalid(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SizesError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Dimension { .. } => None,
            Self::Invalid(error) => error.source(),
        }
    }
}
