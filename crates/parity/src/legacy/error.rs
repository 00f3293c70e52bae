//! [`LegacyError`].

use core::fmt;
use xla_shape_core::ValidationError;

/// Why a shape in a layout of 2017 is not valid.
///
/// ```
/// use xla_shape_core::ElementType;
/// use xla_shape_parity::legacy::{LegacyError, LegacyShape};
///
/// let error = LegacyShape::new(ElementType::F32, &[2, 3], &[0, 1], &[3, 2], None).unwrap_err();
/// assert_eq!(error, LegacyError::WidthTooSmall { dimension: 1, width: 2, size: 3 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum LegacyError {
    /// The array is not valid in its modern layout.
    Invalid(ValidationError),
    /// `padded_dimensions` must give a width for every dimension.
    WidthCount {
        /// How many dimensions the array has.
        dimensions: usize,
        /// How many widths there are.
        widths: usize,
    },
    /// A padded dimension is at least as wide as its size.
    WidthTooSmall {
        /// Which dimension.
        dimension: usize,
        /// Its width.
        width: u64,
        /// Its size.
        size: u64,
    },
    /// The width of a padded dimension fits in an `i64`.
    WidthTooLarge {
        /// Which dimension.
        dimension: usize,
        /// Its width.
        width: u64,
    },
    /// A padding value is one of the numbers 0 to 5, as in the schema of 2017.
    UnknownPaddingValue {
        /// The number.
        number: i32,
    },
}

impl From<ValidationError> for LegacyError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for LegacyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(error) => error.fmt(f),
            Self::WidthCount { dimensions, widths } => {
                write!(
                    f,
                    "expected padded_dimensions to have a width for each of {dimensions} dimensions, found {widths}"
                )
            }
            Self::WidthTooSmall { width, size, .. } => {
                write!(f, "expected a padded dimension at least as wide as its size {size}, found {width}")
            }
            Self::WidthTooLarge { width, .. } => {
                write!(f, "expected a padded dimension's width that fits in an i64, found {width}")
            }
            Self::UnknownPaddingValue { number } => {
                write!(f, "expected the number of a padding value (0 to 5), found {number}")
            }
        }
    }
}

impl core::error::Error for LegacyError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Invalid(error) => Some(error),
            _ => None,
        }
    }
}
