//! The dimensions of an array, as a tuple of types.

use core::fmt::Debug;
use core::hash::Hash;
use xla_shape_core::Dimension;

/// The index of an element: one number for each dimension, dimension 0 first.
pub trait MultiIndex: Copy + Eq + Hash + Debug + Send + Sync + AsRef<[usize]> + AsMut<[usize]> + 'static {
    /// The index of the first element.
    const ORIGIN: Self;
}

impl<const N: usize> MultiIndex for [usize; N] {
    const ORIGIN: Self = [0; N];
}

/// The dimensions of an array: a tuple of [`Dim`](super::Dim), dimension 0 first.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dimensions",
    label = "expected a tuple of up to 12 `Size<N>`"
)]
pub trait Dimensions: Copy + 'static {
    /// The index of an element.
    type Index: MultiIndex;

    /// What the core says of the dimensions.
    const DIMENSIONS: &'static [Dimension];
}

/// Dimensions whose sizes are all known at compile time.
#[diagnostic::on_unimplemented(message = "the sizes of `{Self}` are not all known at compile time")]
pub trait StaticDimensions: Dimensions + Default {
    /// The sizes, in elements.
    const SIZES: &'static [usize];
}
