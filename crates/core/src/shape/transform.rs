//! Transformations of shapes: permuting and inserting dimensions. `xla-shape-parity` makes XLA's other transformations from these.
//!
//! The layout follows the dimensions: tiles and attributes stay, and splits stay with their dimensions.

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::layout::number::{DimensionError, DimensionNumber, resolve_permutation};
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// Why a shape cannot be transformed.
///
/// ```
/// use xla_shape_core::ArrayShape;
///
/// let shape: ArrayShape = "f32[4]".parse()?;
/// let error = shape.with_dimensions(&[3]).unwrap_err();
/// assert_eq!(error.to_string(), "expected a size of 4 for dimension 0, found 3");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TransformError {
    /// A dimension number is out of range, repeated, or missing.
    Dimension(DimensionError),
    /// The result would not be valid.
    Invalid(ValidationError),
    /// Only complex elements have a real and an imaginary part.
    NotComplex {
        /// The element type.
        element_type: ElementType,
    },
    /// An unbounded dimension cannot become static: it has no size.
    UnboundedDimension {
        /// Which dimension.
        dimension: usize,
    },
    /// The dimension cannot have this size.
    SizeMismatch {
        /// Which dimension.
        dimension: usize,
        /// The dimension, which limits the size.
        expected: Dimension,
        /// The size.
        found: u64,
    },
    /// The two shapes have different tuple structures.
    StructureMismatch,
    /// Only a tuple has elements.
    NotATuple,
    /// The shape has no part of the required kind at this index.
    NoSuchPart,
}

impl From<DimensionError> for TransformError {
    fn from(error: DimensionError) -> Self {
        Self::Dimension(error)
    }
}

impl From<ValidationError> for TransformError {
    fn from(error: ValidationError) -> Self {
        Self::Invalid(error)
    }
}

impl fmt::Display for TransformError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dimension(error) => error.fmt(f),
            Self::Invalid(error) => error.fmt(f),
            Self::NotComplex { element_type } => write!(f, "expected a complex element type, found {element_type}"),
            Self::UnboundedDimension { dimension } => {
                write!(f, "expected dimension {dimension} to have a size or a bound, found `?`")
            }
            Self::SizeMismatch { dimension, expected, found } => {
                write!(f, "expected a size of {expected} for dimension {dimension}, found {found}")
            }
            Self::StructureMismatch => f.write_str("the tuples have different structures"),
            Self::NotATuple => f.write_str("expected a tuple, found another kind of shape"),
            Self::NoSuchPart => {
                f.write_str("expected a part of the shape at this index, found none of the required kind")
            }
        }
    }
}

impl core::error::Error for TransformError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Dimension(error) => Some(error),
            Self::Invalid(error) => Some(error),
            _ => None,
        }
    }
}

type Result<T> = core::result::Result<T, TransformError>;

impl ArrayShape {
    /// The number of a dimension, counted from the front.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3,5]".parse()?;
    /// assert_eq!(shape.get_dimension_number(-1), Ok(2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such dimension.
    pub fn get_dimension_number(
        &self,
        dimension: impl Into<DimensionNumber>,
    ) -> core::result::Result<usize, DimensionError> {
        dimension.into().resolve(self.num_dimensions())
    }

    /// The array with permuted dimensions: dimension `i` of the result is dimension `permutation[i]` of this array. The
    /// layout is permuted, too, so that every element keeps its position.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "bf16[2,3,5]{2,1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(shape.permute_dimensions([2, 0, 1])?.to_string(), "bf16[5,2,3]{0,2,1:T(8,128)(2,1)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `permutation` does not name every dimension once, or if a size of 0 now comes after sizes whose product
    /// overflows.
    pub fn permute_dimensions(
        &self,
        permutation: impl IntoIterator<Item = impl Into<DimensionNumber>>,
    ) -> Result<Self> {
        let permutation = resolve_permutation(permutation, self.num_dimensions())?;
        // Dimension `old` of this array is dimension `inverse[old]` of the result.
        let mut inverse = vec![0; permutation.len()];
        for (new, &old) in permutation.iter().enumerate() {
            if let Some(entry) = inverse.get_mut(old) {
                *entry = new;
            }
        }
        let renumber = |old: usize| inverse.get(old).copied();
        let layout =
            self.layout().reordered(self.layout().minor_to_major().iter().filter_map(|&d| renumber(d)), renumber);
        self.with_parts(permutation.iter().filter_map(|&old| self.dimensions().get(old).copied()), layout)
    }

    /// The array with one more dimension, whose number is `number`; the numbers of the dimensions from there on
    /// increase by 1. In `minor_to_major`, the new dimension has index `place`: 0 makes it the most minor one.
    ///
    /// ```
    /// let shape: xla_shape_core::ArrayShape = "f32[2,3]{0,1}".parse()?;
    /// assert_eq!(shape.insert_dimension(1, 7.into(), 0)?.to_string(), "f32[2,7,3]{1,0,2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `number` or `place` is out of range for the dimensions of the result, or the result is too large.
    pub fn insert_dimension(
        &self,
        number: impl Into<DimensionNumber>,
        dimension: Dimension,
        place: usize,
    ) -> Result<Self> {
        let count = self.num_dimensions() + 1;
        let number = number.into().resolve(count)?;
        let place = DimensionNumber::from(place).resolve(count)?;
        let renumber = |old: usize| Some(if old < number { old } else { old + 1 });
        let (minor, major) = self.layout().minor_to_major().split_at_checked(place).unwrap_or_default();
        let order = minor.iter().copied().filter_map(renumber).chain([number]);
        let layout = self.layout().reordered(order.chain(major.iter().copied().filter_map(renumber)), renumber);
        let (before, behind) = self.dimensions().split_at_checked(number).unwrap_or_default();
        self.with_parts(before.iter().copied().chain([dimension]).chain(behind.iter().copied()), layout)
    }

    /// The array with other dimensions and another layout.
    pub(crate) fn with_parts(&self, dimensions: impl Iterator<Item = Dimension>, layout: Layout) -> Result<Self> {
        Ok(Self::new(self.element_type(), &dimensions.collect::<Vec<_>>(), layout)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::{ArrayShape, TransformError};
    use alloc::string::ToString;

    #[test]
    fn every_error_has_its_message() {
        let shape: ArrayShape = "f32[2,3]".parse().unwrap();
        let message = |result: Result<ArrayShape, TransformError>| result.unwrap_err().to_string();
        assert_eq!(message(shape.permute_dimensions([0])), "expected one entry for each of 2 dimensions, found 1");
        let number = "expected a dimension number from -3 to 2, found 3";
        assert_eq!(message(shape.insert_dimension(3, 1.into(), 0)), number);
        assert_eq!(message(shape.insert_dimension(0, 1.into(), 3)), number);
        assert_eq!(
            message(shape.insert_dimension(0, u64::MAX.into(), 0)),
            "expected a dimension's size that fits in an i64, found 18446744073709551615"
        );
    }
}
