//! The size of one dimension, as a type.

use core::fmt::Debug;
use typenum::{Bit, UInt, UTerm, Unsigned};
use xla_shape_core::{Dimension, TileDimension};

/// A number in a type: the static size of a dimension, or an entry of a tile.
///
/// ```
/// use xla_shape::types::{Dim, Size, StaticDim};
///
/// assert_eq!(Size::<128>::SIZE, 128);
/// assert_eq!(size_of::<Size<128>>(), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Size<const N: usize>;

/// `*` in a tile: the dimension is combined with the next more minor one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Combine;

/// One dimension of an array, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the size of a dimension",
    label = "expected `Size<N>` or an unsigned number of `typenum`"
)]
pub trait Dim: Copy + 'static {
    /// What the core says of the dimension.
    const DIMENSION: Dimension;
}

/// A dimension whose size is known at compile time, in elements.
#[diagnostic::on_unimplemented(message = "the size of dimension `{Self}` is not known at compile time")]
pub trait StaticDim: Dim + Default {
    /// The size, in elements.
    const SIZE: usize;
}

impl<const N: usize> Dim for Size<N> {
    const DIMENSION: Dimension = Dimension::Static(N);
}

impl<const N: usize> StaticDim for Size<N> {
    const SIZE: usize = N;
}

impl<U: Unsigned, B: Bit> Dim for UInt<U, B>
where
    Self: Unsigned,
{
    const DIMENSION: Dimension = Dimension::Static(<Self as Unsigned>::USIZE);
}

impl<U: Unsigned, B: Bit> StaticDim for UInt<U, B>
where
    Self: Unsigned,
{
    const SIZE: usize = <Self as Unsigned>::USIZE;
}

impl Dim for UTerm {
    const DIMENSION: Dimension = Dimension::Static(0);
}

impl StaticDim for UTerm {
    const SIZE: usize = 0;
}

/// An entry of a tile, as a type: [`Size`] or [`Combine`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an entry of a tile",
    label = "expected `Size<N>` or `Combine`"
)]
pub trait TileEntry: Copy + Debug + Default + 'static {
    /// What the core says of the entry.
    const ENTRY: TileDimension;
}

impl<const N: usize> TileEntry for Size<N> {
    const ENTRY: TileDimension = TileDimension::Size(N);
}

impl TileEntry for Combine {
    const ENTRY: TileDimension = TileDimension::Combine;
}
