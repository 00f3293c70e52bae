//! What generic code knows about the shape of an array: traits.

use super::dimensions::{Dimensions, MultiIndex, StaticDimensions};
use super::index::{Indices, StaticIndex};
use super::layout::LayoutType;
use super::sizes::SizesError;
use crate::element::{Element, Stored};
use crate::sealed::Sealed;
use core::fmt;
use core::marker::PhantomData;
use xla_shape_core as model;
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Slot};
use xla_shape_relayout::wide::wide;

/// The shape of an array as a type; its sizes may be known at compile time or not. Generic kernels are written over this trait.
///
/// [`Array`](super::Array) implements it, and so does [`Part`](crate::block::Part), the shape of a block of a larger array. Arrays with
/// memory of their own are a [`WholeArray`].
///
/// # Safety
/// `unsafe` code relies on this law: **for every index in bounds (each entry less than that of [`sizes`](Self::sizes)), `linear_index_of`
/// returns the position of an element, less than the number of elements that fit in the array's memory** after its prefix. If
/// [`BYTE_SIZE`](Self::BYTE_SIZE) is known, that memory has as many bytes. Different indices have different positions. `sizes` always
/// returns the same value.
///
/// The law follows from the stride table. Tests with random layouts compare stride tables with XLA's definition
/// ([tiled layout](https://openxla.org/xla/tiled_layout)), inverses with the tables, and tables with unbounded dimensions with the tables of
/// the actual sizes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an array",
    label = "expected a type made by `shape!(…)`",
    note = "a `DynBuffer` gets a type by `into_typed` or `dispatch!`; `get` reads one of its elements"
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

    /// The shape as a value. Sizes that are known only at run time are bounds or `?`.
    const SHAPE: &'static ArrayShape;
    /// The canonical text.
    const TEXT: &'static str;
    /// The stride table: where elements lie in memory, as far as the sizes are known.
    const STRIDE_TABLE: &'static StaticStrideTable;
    /// The bytes of the memory that holds the array, padding included; `None` if a dimension is unbounded. For a block, this is the memory
    /// of the whole array.
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
    /// The layout.
    const LAYOUT: &'static model::Layout = Self::SHAPE.layout();
    /// The dimensions from the fastest varying one to the slowest.
    const MINOR_TO_MAJOR: &'static [usize] = Self::SHAPE.layout().minor_to_major();
    /// The tiles, in the order in which they are applied.
    const TILES: &'static [model::Tile] = Self::SHAPE.layout().tiles();
    /// The number of the memory space; 0 is the default memory.
    const MEMORY_SPACE: u8 = Self::SHAPE.layout().memory_space();

    /// The sizes of the dimensions, in elements.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::ArrayType;
    ///
    /// assert_eq!(<shape!(f32[8,128])>::default().sizes(), [8, 128]);
    /// ```
    #[must_use]
    fn sizes(self) -> Self::Index;

    /// The position of an element in memory, in elements. For an index out of bounds, the result is unspecified.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::ArrayType;
    ///
    /// assert_eq!(<shape!(f32[16,256]{1,0:T(8,128)})>::default().linear_index_of([8, 0]), 2048);
    /// ```
    #[must_use]
    fn linear_index_of(self, index: Self::Index) -> usize;

    /// The shape as a value, with the actual sizes of unbounded dimensions; bounds stay bounds.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::ArrayType;
    ///
    /// type Rows = shape!(f32[?,128]);
    /// assert_eq!(Rows::with_sizes([20, 128])?.array_shape().to_string(), "f32[20,128]{1,0}");
    /// # Ok::<(), xla_shape::types::SizesError>(())
    /// ```
    #[must_use]
    fn array_shape(self) -> ArrayShape;

    /// The dimensions of the whole array of which this shape is a part; for a section, only the dimensions that it keeps.
    #[doc(hidden)]
    const MEMORY_DIMENSIONS: &'static [Dimension] = Self::DIMENSIONS;
    /// Whether the array has memory of its own: it is not a block of a larger array.
    #[doc(hidden)]
    const IS_WHOLE_ARRAY: bool = true;

    /// The sizes that determine the strides of unbounded dimensions: those of the whole array.
    #[doc(hidden)]
    #[inline(always)]
    fn sizes_in_memory(self) -> Self::Index {
        self.sizes()
    }

    /// The position of the first element. Positions in the stride table count from it.
    #[doc(hidden)]
    #[inline(always)]
    fn first_position(self) -> usize {
        0
    }

    /// Whether the index is in bounds.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::ArrayType;
    ///
    /// let x = <shape!(f32[8,128])>::default();
    /// assert!(x.has_index([7, 127]) && !x.has_index([8, 0]));
    /// ```
    #[must_use]
    #[inline(always)]
    fn has_index(self, index: Self::Index) -> bool {
        index.as_ref().iter().zip(self.sizes().as_ref()).all(|(index, size)| index < size)
    }

    /// All indices, in row-major order.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::ArrayType;
    ///
    /// assert!(<shape!(f32[2,2])>::default().indices().eq([[0, 0], [0, 1], [1, 0], [1, 1]]));
    /// ```
    #[must_use]
    fn indices(self) -> Indices<Self::Index> {
        Indices::new(self.sizes())
    }
}

/// The shape of an array with memory of its own, not of a block in a larger one. Buffers are made with such shapes.
///
/// Only [`Array`](super::Array) implements it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of a whole array",
    label = "expected a type made by `shape!(…)`",
    note = "a block is a part of a larger array; `to_buffer` and `copy_to` copy it into memory of its own"
)]
pub trait WholeArray: ArrayType + Itself<Itself = Self> {
    /// The shape with these sizes. See [`Array::with_sizes`](super::Array::with_sizes).
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::WholeArray;
    ///
    /// fn rows<S: WholeArray<Index = [usize; 2]>>(rows: usize) -> Option<S> {
    ///     S::with_sizes([rows, 128]).ok()
    /// }
    /// assert!(rows::<shape!(f32[?,128])>(20).is_some());
    /// assert!(rows::<shape!(f32[8,128])>(20).is_none());
    /// ```
    ///
    /// # Errors
    /// If a size differs from the static one or exceeds the bound, or the array has more bytes than fit in an `i64`.
    fn with_sizes(sizes: Self::Index) -> Result<Self, SizesError>;

    /// The bytes of the array, padding included.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::WholeArray;
    ///
    /// fn bytes<S: WholeArray + Default>() -> usize {
    ///     S::default().byte_size()
    /// }
    /// assert_eq!(bytes::<shape!(f32[5,100]{1,0:T(8,128)})>(), 4096);
    /// ```
    #[must_use]
    fn byte_size(self) -> usize;

    /// Converts a shape that is known at run time to this type; `None` if the type does not stand for it.
    ///
    /// An unbounded dimension accepts any static size. A bounded dimension accepts only its own bound, as a bound or as a
    /// static size, and its size is then the bound. A smaller size is refused: such an array has its elements at other positions, or less memory.
    ///
    /// ```
    /// use xla_shape::types::WholeArray;
    /// use xla_shape::{ArrayShape, shape};
    ///
    /// let shape: ArrayShape = "f32[8,128]".parse()?;
    /// assert!(<shape!(f32[?,128])>::from_array_shape(&shape).is_some());
    /// assert!(<shape!(f32[16,128])>::from_array_shape(&shape).is_none());
    /// # Ok::<(), xla_shape::ParseError>(())
    /// ```
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

/// Whether a dimension of a type accepts this dimension of another shape.
pub(crate) const fn takes(wanted: Dimension, found: Dimension) -> bool {
    match (wanted, found) {
        (Dimension::Unbounded, Dimension::Static(_) | Dimension::Unbounded) => true,
        // Equal bounds take the same memory. With a smaller bound, elements may have other positions, or there is less memory.
        (Dimension::Bounded(wanted), Dimension::Bounded(found) | Dimension::Static(found))
        | (Dimension::Static(wanted), Dimension::Static(found)) => wanted == found,
        _ => false,
    }
}

/// Macros name types through this trait, so that a wrong type causes one error at its place.
///
/// Only arrays implement it. With a blanket implementation, the compiler would continue with any type and report more errors.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the shape of an array",
    label = "expected a type made by `shape!(…)`",
    note = "a `DynBuffer` gets a type by `into_typed` or `dispatch!`; `get` reads one of its elements"
)]
pub trait Itself {
    /// `Self`.
    type Itself;

    /// A value that stands for the type.
    const ITSELF: PhantomData<Self::Itself> = PhantomData;
}

/// The shape of an array whose sizes are all known at compile time.
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
    /// The number of elements that the memory has room for, padding included.
    const PHYSICAL_ELEMENTS: usize;
    /// The bytes of the array, padding included.
    const BYTES: usize;
    /// Whether every position holds an element; see [`Array::IS_EXHAUSTIVE`](super::Array::IS_EXHAUSTIVE).
    const IS_EXHAUSTIVE: bool = Self::STRIDE_TABLE.with_extents(wide(Self::SIZES)).is_exhaustive();
    /// Whether positions are the sum of `index · stride` over the dimensions.
    const IS_STRIDED: bool = Self::STRIDE_TABLE.with_extents(wide(Self::SIZES)).is_strided_in_const();
    /// Whether the layout is strided and exhaustive: the elements are contiguous, one dimension after the other.
    const IS_CONTIGUOUS: bool = Self::IS_EXHAUSTIVE && Self::IS_STRIDED;

    /// The position of an element, in elements. For an index out of bounds, the result is unspecified.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::StaticArray;
    ///
    /// fn second_row<S: StaticArray<Index = [usize; 2]>>() -> usize {
    ///     S::linear_index([1, 0])
    /// }
    /// assert_eq!(second_row::<shape!(f32[16,256]{1,0:T(8,128)})>(), 128);
    /// ```
    #[must_use]
    fn linear_index(index: Self::Index) -> usize;

    /// The position of an element, in elements; `None` if the index is out of bounds.
    ///
    /// ```
    /// use xla_shape::shape;
    /// use xla_shape::types::StaticArray;
    ///
    /// fn position<S: StaticArray<Index = [usize; 2]>>(index: [usize; 2]) -> Option<usize> {
    ///     S::checked_linear_index(index)
    /// }
    /// assert_eq!(position::<shape!(f32[8,128])>([8, 0]), None);
    /// ```
    #[must_use]
    fn checked_linear_index(index: Self::Index) -> Option<usize> {
        let inside = index.as_ref().iter().zip(Self::SIZES).all(|(index, size)| index < size);
        inside.then(|| Self::linear_index(index))
    }

    /// The position of the element with a constant index, in elements.
    ///
    /// An index out of bounds does not compile; that shows in `cargo build`, not in `cargo check`. See
    /// [`Array::linear_index_at`](super::Array::linear_index_at) for an example.
    #[must_use]
    fn linear_index_at<I: StaticIndex<Self::Dimensions>>(index: I) -> usize;

    /// What is at a position, in elements: an element with its index, or padding.
    ///
    /// ```
    /// use xla_shape::types::StaticArray;
    /// use xla_shape::{Slot, shape};
    ///
    /// fn slot<S: StaticArray>(position: usize) -> Slot<S::Index> {
    ///     S::multi_index(position)
    /// }
    /// assert_eq!(slot::<shape!(f32[2,3]{1,0:T(2,4)})>(3), Slot::Padding);
    /// ```
    #[must_use]
    fn multi_index(position: usize) -> Slot<Self::Index>;
}
