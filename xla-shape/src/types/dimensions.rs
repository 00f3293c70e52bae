//! The dimensions of an array, as a tuple of types.

use crate::sealed::Sealed;
use core::fmt::Debug;
use core::hash::Hash;
use xla_shape_core::Dimension;

/// The index of an element: one number for each dimension, dimension 0 first.
pub trait MultiIndex:
    Copy + Eq + Hash + Debug + Send + Sync + AsRef<[usize]> + AsMut<[usize]> + 'static + Sealed
{
    /// The index of the first element.
    const ORIGIN: Self;
}

impl<const N: usize> Sealed for [usize; N] {}

impl<const N: usize> MultiIndex for [usize; N] {
    const ORIGIN: Self = [0; N];
}

/// The dimensions of an array: a tuple of [`Dim`](super::Dim), dimension 0 first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dimensions",
    label = "expected a tuple of up to 12 dimensions, such as `(Size<8>, Size<128>)`"
)]
pub trait Dimensions: Copy + Debug + Send + Sync + 'static + Sealed {
    /// The index of an element.
    type Index: MultiIndex;

    /// The dimensions as values.
    const DIMENSIONS: &'static [Dimension];
    /// The name of each size; `None` for sizes without a name.
    const NAMES: &'static [Option<&'static str>];

    /// The sizes, in elements.
    ///
    /// ```
    /// use xla_shape::types::{Dimensions, Size};
    ///
    /// assert_eq!((Size::<8>, Size::<128>).sizes(), [8, 128]);
    /// ```
    #[must_use]
    fn sizes(self) -> Self::Index;

    /// The dimensions with these sizes.
    ///
    /// ```
    /// use xla_shape::types::{Bounded, Dimensions, Size};
    ///
    /// type D = (Bounded<8>, Size<128>);
    /// assert!(D::with_sizes([5, 128]).is_ok());
    /// assert_eq!(D::with_sizes([5, 64]).err(), Some(1));
    /// ```
    ///
    /// # Errors
    /// The number of the first dimension whose size differs from the static one or exceeds the bound.
    fn with_sizes(sizes: Self::Index) -> Result<Self, usize>;
}

/// Dimensions whose sizes, or bounds of them, are known at compile time, so that strides are constants.
#[diagnostic::on_unimplemented(message = "a dimension of `{Self}` is unbounded")]
pub trait BoundedDimensions: Dimensions {
    /// The sizes, or bounds, in elements.
    const EXTENTS: &'static [usize];
}

/// Dimensions whose sizes are all known at compile time.
#[diagnostic::on_unimplemented(message = "the sizes of `{Self}` are not all known at compile time")]
pub trait StaticDimensions: BoundedDimensions + Default {
    /// The sizes, in elements.
    const SIZES: &'static [usize] = Self::EXTENTS;
}
