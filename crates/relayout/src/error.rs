//! Errors of a relayout.

use crate::memory::OutOfMemory;
use std::fmt;
use xla_shape_core::{ElementType, StrideTableError, ValidationError};

/// One of the two arrays of a relayout.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan, RelayoutError, Side};
///
/// let shape: ArrayShape = "u8[4]".parse()?;
/// let error = Plan::new(&shape, &shape, &Options::new())?.run(&[0; 4], &mut [0; 3]).unwrap_err();
/// assert_eq!(error, RelayoutError::BufferSizeMismatch { side: Side::Destination, expected: 4, found: 3 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The array that is read.
    Source,
    /// The array that is written.
    Destination,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source",
            Self::Destination => "destination",
        })
    }
}

/// Why a relayout is not possible.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_relayout::{Options, Plan, RelayoutError};
///
/// let [from, to]: [ArrayShape; 2] = ["f32[2,3]".parse()?, "f32[2,4]".parse()?];
/// let error = Plan::check(&from, &to, &Options::new()).unwrap_err();
/// assert_eq!(error, RelayoutError::DimensionMismatch { dimension: 1, source: 3, destination: 4 });
/// assert_eq!(error.to_string(), "expected size 3 of the source in the destination's dimension 1, found 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum RelayoutError {
    /// The element types differ.
    ElementTypeMismatch {
        /// The source's element type.
        source: ElementType,
        /// The destination's element type.
        destination: ElementType,
    },
    /// The element sizes differ, and neither side is the packed form of the other.
    ElementSizeMismatch {
        /// The bits of one element in the source.
        source: usize,
        /// The bits of one element in the destination.
        destination: usize,
    },
    /// The numbers of dimensions differ.
    NumDimensionsMismatch {
        /// How many the source has.
        source: usize,
        /// How many the destination has.
        destination: usize,
    },
    /// The sizes (or bounds) of a dimension differ.
    DimensionMismatch {
        /// The destination's dimension.
        dimension: usize,
        /// The size of the source's dimension that becomes this dimension.
        source: usize,
        /// The size of this dimension in the destination.
        destination: usize,
    },
    /// The given list is not a permutation of the source's dimensions.
    InvalidPermutation {
        /// What was given.
        permutation: Vec<usize>,
        /// How many dimensions the source has.
        num_dimensions: usize,
    },
    /// A dimension is unbounded, so the positions of elements are not known.
    UnboundedDimension {
        /// In which array.
        side: Side,
        /// Which dimension.
        dimension: usize,
    },
    /// The layout has splits: the array lies in several memories.
    Split {
        /// Which array.
        side: Side,
    },
    /// The array spans more positions than fit in an `i64`.
    TooLarge {
        /// Which array.
        side: Side,
    },
    /// The element that padding is filled with does not have as many bytes as an element of the array.
    FillSizeMismatch {
        /// The bytes of one element.
        expected: usize,
        /// How many bytes were given.
        found: usize,
    },
    /// The requested layout does not fit the array.
    Invalid(ValidationError),
    /// There is not enough memory for the result.
    OutOfMemory(OutOfMemory),
    /// A buffer does not have exactly the bytes of its array.
    BufferSizeMismatch {
        /// Which buffer.
        side: Side,
        /// The size of the array, in bytes.
        expected: usize,
        /// The size of the buffer, in bytes.
        found: usize,
    },
    /// The caller ended the copy before it was complete.
    Interrupted,
}

impl RelayoutError {
    pub(super) fn from_table_error(side: Side, error: StrideTableError) -> Self {
        match error {
            StrideTableError::UnboundedDimension { dimension } => Self::UnboundedDimension { side, dimension },
            _ => Self::TooLarge { side },
        }
    }
}

impl fmt::Display for RelayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ElementTypeMismatch { source, destination } => {
                write!(f, "expected a destination of {source} like the source, found {destination}")
            }
            Self::ElementSizeMismatch { source, destination } => {
                write!(f, "expected destination elements of {source} bits like in the source, found {destination} bits")
            }
            Self::NumDimensionsMismatch { source, destination } => {
                write!(f, "expected a destination with {source} dimensions like the source, found {destination}")
            }
            Self::DimensionMismatch { dimension, source, destination } => {
                write!(f, "expected size {source} of the source in the destination's dimension {dimension}, ")?;
                write!(f, "found {destination}")
            }
            Self::InvalidPermutation { permutation, num_dimensions } => {
                write!(f, "expected a permutation of the source's {num_dimensions} dimensions, found {permutation:?}")
            }
            Self::UnboundedDimension { side, dimension } => {
                write!(f, "expected known sizes, found the {side}'s dimension {dimension} unbounded")
            }
            Self::Split { side } => {
                write!(f, "expected arrays in one memory, found a {side} with splits")
            }
            Self::TooLarge { side } => write!(f, "the {side} spans more positions than fit in an i64"),
            Self::FillSizeMismatch { expected, found } => {
                write!(f, "expected {expected} bytes of one element to fill padding with, found {found}")
            }
            Self::Invalid(error) => error.fmt(f),
            Self::OutOfMemory(error) => error.fmt(f),
            Self::BufferSizeMismatch { side, expected, found } => {
                write!(f, "expected a {side} of {expected} bytes, found {found}")
            }
            Self::Interrupted => f.write_str("the copy was interrupted"),
        }
    }
}

impl std::error::Error for RelayoutError {
    /// The source of the inner error, whose text `Display` already shows.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Invalid(error) => error.source(),
            Self::OutOfMemory(error) => error.source(),
            _ => None,
        }
    }
}

impl From<ValidationError> for RelayoutError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl From<OutOfMemory> for RelayoutError {
    fn from(error: OutOfMemory) -> Self {
        Self::OutOfMemory(error)
    }
}
