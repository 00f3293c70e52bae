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

    /// What the core says of the dimensions.
    const DIMENSIONS: &'static [Dimension];
    /// The names of the sizes, for those that have one.
    const NAMES: &'static [Option<&'static str>];

    /// The sizes, in elements.
    #[must_use]
    fn sizes(self) -> Self::Index;

    /// The dimensions with these sizes, or the number of the first one that cannot have its size.
    ///
    /// # Errors
    /// If a size is not the static one, or larger than the bound.
    fn with_sizes(sizes: Self::Index) -> Result<Self, usize>;
}

/// Dimensions that memory can be laid out for at compile time.
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
