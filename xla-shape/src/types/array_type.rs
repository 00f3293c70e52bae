//! What is known of the shape of an array by its type.

use super::dimensions::{Dimensions, MultiIndex, StaticDimensions};
use super::index::{Indices, StaticIndex};
use super::layout::LayoutType;
use super::sizes::SizesError;
use crate::element::{Element, Stored};
use crate::sealed::Sealed;
use crate::wide::wide;
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core as model;
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Slot};

/// The shape of an array, whose sizes may or may not be known at compile time: what generic kernels name.
///
/// [`Array`](super::Array) implements it, and [`Part`](crate::block::Part), the shape of a block of a larger array. Arrays in memory of
/// their own are a [`WholeArray`].
///
/// # Safety
/// `unsafe` code relies on this law: **for every index inside [`sizes`](Self::sizes), `linear_index_of` is the position of an
/// element, less than the number of elements that fit in the memory of the array**, behind its prefix. That memory is
/// [`BYTE_SIZE`](Self::BYTE_SIZE) bytes long if that is known. Different indices have different positions. `sizes` always gives
/// the same answer.
///
/// The law follows from the stride table. Tests compare the table with XLA's definition, its inverse with it, and tables with
/// unbounded dimensions with those of their sizes, for random layouts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an array",
    label = "expected a type made by `shape!(…)`"
)]
pub unsafe trait ArrayType: Copy + fmt::Debug + Send + Sync + 'static + Sealed {
    /// The type of the elements.
    type Element: Element;
    /// The dimensions.
    type Dimensions: Dimensions<Index = Self::Index>;
    /// The layout in memory.
    type Layout: LayoutType;
    /// The index of an element.
    type Index: MultiIndex;

    /// The shape as a value; sizes that are known only at run time are bounds or `?`.
    const SHAPE: &'static ArrayShape;
    /// The canonical text.
    const TEXT: &'static str;
    /// Where the elements are in memory, as far as the sizes are known.
    const STRIDE_TABLE: &'static StaticStrideTable;
    /// The bytes of the memory that holds the array, padding included; `None` if a dimension is unbounded. Of a block, that is
    /// the memory of the whole array.
    const BYTE_SIZE: Option<usize>;
    /// Whether all sizes are known at compile time.
    const IS_STATIC: bool;

    /// The type of the elements.
    const ELEMENT_TYPE: ElementType = <Self::Element as Element>::TYPE;
    /// The dimensions, dimension 0 first.
    const DIMENSIONS: &'static [Dimension] = Self::SHAPE.dimensions();
    /// The number of dimensions.
    const NUM_DIMENSIONS: usize = Self::SHAPE.num_dimensions();
    /// The number of dimensions whose size (or bound) is greater than 1.
    const TRUE_NUM_DIMENSIONS: usize = Self::SHAPE.true_num_dimensions();
    /// How the elements lie in memory.
    const LAYOUT: &'static model::Layout = Self::SHAPE.layout();
    /// The dimensions from the fastest varying one to the slowest.
    const MINOR_TO_MAJOR: &'static [usize] = Self::SHAPE.layout().minor_to_major();
    /// The tiles, in the order in which they are applied.
    const TILES: &'static [model::Tile] = Self::SHAPE.layout().tiles();
    /// The number of the memory space; 0 is the default memory.
    const MEMORY_SPACE: u8 = Self::SHAPE.layout().memory_space();

    /// The sizes of the dimensions, in elements.
    #[must_use]
    fn sizes(self) -> Self::Index;

    /// The position of an element in memory, in elements. For an index out of bounds, the result is unspecified.
    #[must_use]
    fn linear_index_of(self, index: Self::Index) -> usize;

    /// The shape as a value, with the sizes of unbounded dimensions put in; bounds stay bounds.
    #[must_use]
    fn array_shape(self) -> ArrayShape;

    /// The shape of the whole array that the memory holds.
    #[doc(hidden)]
    const MEMORY_SHAPE: &'static ArrayShape = Self::SHAPE;
    /// Whether the memory is all the array's, not that of a larger one.
    #[doc(hidden)]
    const IS_WHOLE_ARRAY: bool = true;

    /// The sizes that the strides of unbounded dimensions follow from: those of the whole array.
    #[doc(hidden)]
    #[inline(always)]
    fn sizes_in_memory(self) -> Self::Index {
        self.sizes()
    }

    /// The position of the first element; positions from the stride table are added to it.
    #[doc(hidden)]
    #[inline(always)]
    fn first_position(self) -> usize {
        0
    }

    /// Whether there is an element with this index.
    #[must_use]
    #[inline(always)]
    fn has_index(self, index: Self::Index) -> bool {
        index.as_ref().iter().zip(self.sizes().as_ref()).all(|(index, size)| index < size)
    }

    /// Every index, in row-major order.
    #[must_use]
    fn indices(self) -> Indices<Self::Index> {
        Indices::new(self.sizes())
    }
}

/// The shape of an array in memory of its own, not of a block in a larger one: what [`Buffer`](crate::Buffer) is made with.
///
/// Only [`Array`](super::Array) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a whole array",
    label = "expected a type made by `shape!(…)`",
    note = "a block is a part of a larger array; `to_buffer` and `copy_to` copy it into memory of its own"
)]
pub trait WholeArray: ArrayType + Itself<Itself = Self> {
    /// The shape with these sizes.
    ///
    /// # Errors
    /// If a size is not the static one or larger than the bound, or the array is larger than fits in an i64.
    fn with_sizes(sizes: Self::Index) -> Result<Self, SizesError>;

    /// The bytes that the array takes, padding included.
    #[must_use]
    fn byte_size(self) -> usize;

    /// The run-time shape as a value of this type, if it is one.
    ///
    /// An unbounded dimension takes any static size. A bounded one takes its own bound, as a bound or as a static size,
    /// and its size is then the bound; a smaller array places its elements differently, or has less memory.
    #[must_use]
    fn from_array_shape(shape: &ArrayShape) -> Option<Self>;
}

/// The Rust type of the elements of arrays of shape `S`.
///
/// ```
/// use xla_shape::element::Plain;
/// use xla_shape::types::{ArrayType, ValueOf};
/// use xla_shape::{Buffer, View, shape};
///
/// fn count<S: ArrayType<Element: Plain>>(x: View<'_, S>, wanted: ValueOf<S>) -> usize {
///     let mut found = 0;
///     x.for_each(|x| found += usize::from(x == wanted));
///     found
/// }
/// assert_eq!(count(Buffer::<shape!(s32[2,3]{1,0:T(2,4)})>::filled(7).view(), 7), 6);
/// ```
pub type ValueOf<S> = <<S as ArrayType>::Element as Stored>::Value;

/// Whether a dimension of a type can be one that turns up at run time, or in another type.
pub(crate) const fn takes(wanted: Dimension, found: Dimension) -> bool {
    match (wanted, found) {
        (Dimension::Unbounded, Dimension::Static(_) | Dimension::Unbounded) => true,
        // All of the bound: the same memory. A smaller array has its elements elsewhere, or less memory.
        (Dimension::Bounded(wanted), Dimension::Bounded(found) | Dimension::Static(found))
        | (Dimension::Static(wanted), Dimension::Static(found)) => wanted == found,
        _ => false,
    }
}

/// Macros go through this trait, so that a wrong type gives one error where it is written.
///
/// Implemented for arrays alone: with a blanket implementation, the compiler would go on with any type, and report further
/// errors.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an array",
    label = "expected a type made by `shape!(…)`"
)]
pub trait Itself {
    /// `Self`.
    type Itself;

    /// Stands for the type.
    const ITSELF: PhantomData<Self::Itself> = PhantomData;
}

/// An array shape whose sizes are all known at compile time.
///
/// Only [`Array`](super::Array) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a static array shape",
    label = "expected a type made by `shape!(…)` with static sizes"
)]
pub trait StaticArray: WholeArray<Dimensions: StaticDimensions> + Default {
    /// The sizes of the dimensions, in elements.
    const SIZES: &'static [usize];
    /// The number of elements.
    const ELEMENTS: usize;
    /// The number of elements that there is room for, padding included.
    const PHYSICAL_ELEMENTS: usize;
    /// The bytes that the array takes, padding included.
    const BYTES: usize;
    /// Whether there is an element at every position; see [`Array::IS_EXHAUSTIVE`](super::Array::IS_EXHAUSTIVE).
    const IS_EXHAUSTIVE: bool = Self::STRIDE_TABLE.as_ref(wide(Self::SIZES)).is_exhaustive();
    /// Whether positions are a sum of `index · stride` over the dimensions.
    const IS_STRIDED: bool = Self::STRIDE_TABLE.as_ref(wide(Self::SIZES)).is_strided_in_const();
    /// Whether the layout is strided and exhaustive: the elements of one dimension after the other, side by side.
    const IS_CONTIGUOUS: bool = Self::IS_EXHAUSTIVE && Self::IS_STRIDED;

    /// The position of an element, in elements. For an index out of bounds, the result is unspecified.
    #[must_use]
    fn linear_index(index: Self::Index) -> usize;

    /// The position of an element, in elements; `None` if the index is out of bounds.
    #[must_use]
    fn checked_linear_index(index: Self::Index) -> Option<usize> {
        let inside = index.as_ref().iter().zip(Self::SIZES).all(|(index, size)| index < size);
        inside.then(|| Self::linear_index(index))
    }

    /// The position of the element with a constant index, in elements.
    ///
    /// An index out of bounds does not compile. That shows in `cargo build`, not in `cargo check`.
    #[must_use]
    fn linear_index_at<I: StaticIndex<Self::Dimensions>>(index: I) -> usize;

    /// What is at a position, in elements: an element with its index, or padding.
    #[must_use]
    fn multi_index(position: usize) -> Slot<Self::Index>;
}
