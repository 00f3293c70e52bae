//! The size of one dimension, as a type.

use super::constants::Constant;
use crate::sealed::Sealed;
use core::fmt::Debug;
use typenum::{Bit, UInt, UTerm, Unsigned};
use xla_shape_core::{Dimension, TileDimension};

/// A number in a type: the static size of a dimension, or an entry of a tile.
///
/// ```
/// use xla_shape::types::{Size, StaticDim};
///
/// assert_eq!(Size::<128>::SIZE, 128);
/// assert_eq!(size_of::<Size<128>>(), 0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Size<const N: usize>;

/// `<=N`: a size that is known at run time and at most `N`; memory is laid out as for the size `N`.
///
/// ```
/// use xla_shape::types::{Bounded, Dim};
///
/// assert_eq!(Bounded::<8>::with_size(5).map(Dim::size), Some(5));
/// assert_eq!(Bounded::<8>::with_size(9), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bounded<const N: usize>(usize);

/// `?`: a size that is known at run time.
///
/// ```
/// use xla_shape::types::{Dim, Unbounded};
///
/// assert_eq!(Unbounded::with_size(5).map(Dim::size), Some(5));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Unbounded(usize);

/// A size that is known at run time and has a name: a single lower-case word in [`shape!`](crate::shape), of at most 16 letters.
///
/// For an array, a name means the same as `?`: any size. Kernels that XLA calls (`xla-shape-ffi`) check that a name stands for the same
/// size in all of their parameters.
///
/// ```
/// use xla_shape::types::{Array, Dim, Named, Size};
/// use xla_shape::{Buffer, Dimension, View, shape};
///
/// type Rows = shape!(f32[rows,128]);
/// type Row = Named<'r', 'o', 'w', 's'>;
/// assert_eq!((Row::NAME, Row::DIMENSION), (Some("rows"), Dimension::Unbounded));
///
/// fn count(x: View<Rows>) -> usize {
///     let [rows, _] = x.sizes();
///     rows
/// }
/// let x = Buffer::<Rows>::zeroed_with(Rows::with_sizes([3, 128])?)?;
/// assert_eq!(count(x.view()), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Named<
    const A: char,
    const B: char = '\0',
    const C: char = '\0',
    const D: char = '\0',
    const E: char = '\0',
    const F: char = '\0',
    const G: char = '\0',
    const H: char = '\0',
    const I: char = '\0',
    const J: char = '\0',
    const K: char = '\0',
    const L: char = '\0',
    const M: char = '\0',
    const N: char = '\0',
    const O: char = '\0',
    const P: char = '\0',
>(usize);

/// `*` in a tile: the dimension is combined with the next more minor one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Combine;

/// One dimension of an array, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the size of a dimension",
    label = "expected `Size<N>`, `Bounded<N>`, `Unbounded`, `Named` or an unsigned number of `typenum`"
)]
pub trait Dim: Copy + Debug + Send + Sync + 'static + Sealed {
    /// The dimension as a value.
    const DIMENSION: Dimension;
    /// The name of the size; only [`Named`] has one.
    const NAME: Option<&'static str> = None;

    /// The size, in elements.
    ///
    /// ```
    /// use xla_shape::types::{Dim, Size};
    ///
    /// assert_eq!(Size::<128>.size(), 128);
    /// ```
    #[must_use]
    fn size(self) -> usize;

    /// The dimension with this size; `None` if it cannot have this size.
    ///
    /// ```
    /// use xla_shape::types::{Bounded, Dim};
    ///
    /// assert!(Bounded::<8>::with_size(5).is_some() && Bounded::<8>::with_size(9).is_none());
    /// ```
    #[must_use]
    fn with_size(size: usize) -> Option<Self>;
}

/// A dimension whose size, or a bound of it, is known at compile time, so that strides are constants.
///
/// ```
/// use xla_shape::types::{Bounded, BoundedDim, Size};
///
/// assert_eq!(<Size<128> as BoundedDim>::EXTENT, 128);
/// assert_eq!(<Bounded<8> as BoundedDim>::EXTENT, 8, "memory is for the largest size");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is an unbounded dimension",
    label = "what depends on the layout in memory is not known at compile time"
)]
pub trait BoundedDim: Dim {
    /// The size or the bound, in elements.
    const EXTENT: usize;
}

/// A dimension whose size is known at compile time.
///
/// ```
/// use xla_shape::types::{Size, StaticDim};
///
/// fn in_two<D: StaticDim>() -> usize {
///     2 * D::SIZE
/// }
/// assert_eq!(in_two::<Size<128>>(), 256);
/// ```
#[diagnostic::on_unimplemented(
    message = "the size of dimension `{Self}` is not known at compile time",
    note = "in `shape!`, `?`, a bound such as `<=8` and a lower-case word are sizes that are known only at run time; a constant `n` is written in braces: `{{n}}`",
    note = "arrays with such sizes are made by `zeroed_with`, `filled_with` and `from_fn_with`; `x[[i, j]]` is an element, and the methods of `x.into_dyn()` check at run time"
)]
pub trait StaticDim: BoundedDim + Default {
    /// The size, in elements.
    const SIZE: usize = Self::EXTENT;
}

/// Implements the traits of a dimension without a value.
macro_rules! static_dim {
    ($({$($generics:tt)*})? $dim:ty, $size:expr $(, where $bounded:ty: $bound:path)?) => {
        impl<$($($generics)*)?> Sealed for $dim $(where $bounded: $bound)? {}

        impl<$($($generics)*)?> Dim for $dim $(where $bounded: $bound)? {
            const DIMENSION: Dimension = Dimension::Static($size as u64);

            #[inline(always)]
            fn size(self) -> usize {
                $size
            }

            #[inline(always)]
            fn with_size(size: usize) -> Option<Self> {
                (size == $size).then(Self::default)
            }
        }

        impl<$($($generics)*)?> BoundedDim for $dim $(where $bounded: $bound)? {
            const EXTENT: usize = $size;
        }

        impl<$($($generics)*)?> StaticDim for $dim $(where $bounded: $bound)? {}
    };
}

static_dim!({const N: usize} Size<N>, N);
static_dim!(UTerm, 0);
static_dim!({U: Unsigned + Debug + Send + Sync, B: Bit + Debug + Send + Sync} UInt<U, B>, <Self as Unsigned>::USIZE, where Self: Unsigned);

impl<const N: usize> Sealed for Bounded<N> {}
impl Sealed for Unbounded {}
impl Sealed for Combine {}

impl<const N: usize> Dim for Bounded<N> {
    const DIMENSION: Dimension = Dimension::Bounded(N as u64);

    #[inline(always)]
    fn size(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn with_size(size: usize) -> Option<Self> {
        (size <= N).then_some(Self(size))
    }
}

impl<const N: usize> BoundedDim for Bounded<N> {
    const EXTENT: usize = N;
}

impl Dim for Unbounded {
    const DIMENSION: Dimension = Dimension::Unbounded;

    #[inline(always)]
    fn size(self) -> usize {
        self.0
    }

    #[inline(always)]
    fn with_size(size: usize) -> Option<Self> {
        Some(Self(size))
    }
}

/// Implements the traits of a named dimension with these letters.
macro_rules! named_dim {
    ($($letter:ident)*) => {
        impl<$(const $letter: char),*> Named<$($letter),*> {
            const LETTERS: &'static [u8] = &[$($letter as u8),*];
            const TEXT: &'static str = {
                let mut len = 0;
                while len < Self::LETTERS.len() && Self::LETTERS[len] != 0 {
                    len += 1;
                }
                match core::str::from_utf8(Self::LETTERS.split_at(len).0) {
                    Ok(name) => name,
                    Err(_) => panic!("expected a name of ASCII letters"),
                }
            };
        }

        impl<$(const $letter: char),*> Sealed for Named<$($letter),*> {}

        impl<$(const $letter: char),*> Dim for Named<$($letter),*> {
            const DIMENSION: Dimension = Dimension::Unbounded;
            const NAME: Option<&'static str> = Some(Self::TEXT);

            #[inline(always)]
            fn size(self) -> usize {
                self.0
            }

            #[inline(always)]
            fn with_size(size: usize) -> Option<Self> {
                Some(Self(size))
            }
        }
    };
}

named_dim!(A B C D E F G H I J K L M N O P);

impl<const N: usize> Constant<TileDimension> for Size<N> {
    const VALUE: TileDimension = TileDimension::Size(N as u64);
}

impl Constant<TileDimension> for Combine {
    const VALUE: TileDimension = TileDimension::Combine;
}

impl<const N: usize> Constant<usize> for Size<N> {
    const VALUE: usize = N;
}
