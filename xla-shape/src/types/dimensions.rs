//! The dimensions of an array, as a tuple of types.

use super::array_type::ArrayType;
use crate::sealed::Sealed;
use core::fmt::Debug;
use core::hash::Hash;
use xla_shape_core::Dimension;

/// The index of an element: one number for each dimension, dimension 0 first.
///
/// ```
/// use xla_shape::types::MultiIndex;
///
/// fn dimensions<I: MultiIndex>() -> usize {
///     I::ORIGIN.as_ref().len()
/// }
/// assert_eq!(dimensions::<[usize; 3]>(), 3);
/// ```
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

/// An index with as many numbers as `Index`. Each type of index implements it for itself.
///
/// The bound of the methods that take a second shape, such as [`windows`](crate::Buffer::windows).
///
/// ```
/// use xla_shape::block::Border;
/// use xla_shape::element::F32;
/// use xla_shape::types::{ArrayType, MultiIndex, SameRank, StaticArray};
/// use xla_shape::{Buffer, shape};
///
/// /// The first elements of each dimension, in a layout of the caller's.
/// fn corner<S, P>(x: &Buffer<S>) -> Buffer<P>
/// where
///     S: ArrayType<Element = F32>,
///     P: StaticArray<Element = F32, Index: SameRank<S::Index>>,
/// {
///     let mut corner = Buffer::<P>::zeroed();
///     x.copy_window_to(&mut corner, S::Index::ORIGIN, S::Index::ORIGIN, Border::None).unwrap();
///     corner
/// }
///
/// let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as f32);
/// let corner: Buffer<shape!(f32[2,3]{0,1})> = corner(&x);
/// assert_eq!(corner.as_slice(), [0.0, 1000.0, 1.0, 1001.0, 2.0, 1002.0]);
/// ```
#[diagnostic::on_unimplemented(
    message = "expected a shape with the index `{Index}`, found one with the index `{Self}`",
    label = "expected as many dimensions as the array has"
)]
pub trait SameRank<Index>: MultiIndex {
    /// `T` itself. It exists only if `Self` is the index type of `T`. Bounds are on this type instead of on `T`, so that they do not cause a
    /// second error if the numbers of dimensions differ.
    #[doc(hidden)]
    type Of<T: ArrayType>: ArrayType;
}

impl<Index: MultiIndex> SameRank<Index> for Index {
    type Of<T: ArrayType> = T;
}

/// The index type that all arrays with the dimensions of `T` share. It is the same type as `T::Index`. But where generic code requires two arrays
/// to have the same dimensions, the compiler does not conclude that they have the same index type.
pub(crate) type IndexOf<T> = <<T as ArrayType>::Dimensions as Dimensions>::Index;

/// Converts the common index type to the index type of `T`; see [`IndexOf`].
#[inline(always)]
pub(crate) fn own_index<T: ArrayType>(index: IndexOf<T>) -> T::Index {
    index
}

/// Converts the index type of `T` to the common index type; see [`IndexOf`].
#[inline(always)]
pub(crate) fn common_index<T: ArrayType>(index: T::Index) -> IndexOf<T> {
    index
}

/// The sizes of a shape, in the common index type; see [`IndexOf`].
#[inline(always)]
pub(crate) fn sizes_of<T: ArrayType>(shape: T) -> IndexOf<T> {
    shape.sizes()
}

/// Converts an index to another type with as many numbers. Fails the compilation if the numbers of entries differ.
#[inline(always)]
pub(crate) fn same_index<A: MultiIndex, B: MultiIndex>(index: A) -> B {
    const { assert!(size_of::<A>() == size_of::<B>(), "expected indices of as many numbers") };
    let mut same = B::ORIGIN;
    same.as_mut().copy_from_slice(index.as_ref());
    same
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
///
/// ```
/// use xla_shape::types::{Bounded, BoundedDimensions, Size};
///
/// assert_eq!(<(Bounded<8>, Size<128>) as BoundedDimensions>::EXTENTS, [8, 128]);
/// ```
#[diagnostic::on_unimplemented(message = "a dimension of `{Self}` is unbounded")]
pub trait BoundedDimensions: Dimensions {
    /// The sizes, or bounds, in elements.
    const EXTENTS: &'static [usize];
}

/// Dimensions whose sizes are all known at compile time.
///
/// ```
/// use xla_shape::types::{Size, StaticDimensions};
///
/// fn elements<D: StaticDimensions>() -> usize {
///     D::SIZES.iter().product()
/// }
/// assert_eq!(elements::<(Size<8>, Size<128>)>(), 1024);
/// ```
#[diagnostic::on_unimplemented(message = "the sizes of `{Self}` are not all known at compile time")]
pub trait StaticDimensions: BoundedDimensions + Default {
    /// The sizes, in elements.
    const SIZES: &'static [usize] = Self::EXTENTS;
}
