//! Array shapes, as types.

use super::array_type::{ArrayType, Itself, StaticArray, WholeArray, takes};
use super::dimensions::{BoundedDimensions, Dimensions, MultiIndex, StaticDimensions};
use super::index::StaticIndex;
use super::layout::LayoutType;
use super::permutation::resolve;
use super::sizes::SizesError;
use super::unroll;
use crate::element::Element;
use crate::sealed::{Sealed, named_in_errors};
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;
use xla_shape_core as model;
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_TEXT;
use xla_shape_core::{ArrayShape, Dimension, ElementType, Sizes, Slot, TransformError};
use xla_shape_relayout::wide::{wide, wide_mut};

/// The shape of an array as a type, which [`shape!`](crate::shape)`(…)` writes: `E` is the element type, `D` a tuple of dimensions, `L` the
/// layout.
///
/// Types that `shape!` writes are equal exactly if the shapes are equal. A size can also be written as another type, as a number of
/// `typenum` or the piece of a shard: such types differ, though the shapes are equal, and [`retype`](crate::Buffer::retype) converts
/// between them. A value of the type holds the sizes that are not static; if all are static, it takes no memory.
///
/// ```
/// use xla_shape::shape;
///
/// type X = shape!(bf16[100,200]{1,0:T(8,128)(2,1)});
/// assert_eq!(X::TEXT, "bf16[100,200]{1,0:T(8,128)(2,1)}");
/// assert_eq!(X::BYTES, 104 * 256 * 2);
/// assert_eq!(X::linear_index([1, 0]), 1);
/// assert_eq!(size_of::<X>(), 0);
/// ```
pub struct Array<E, D, L> {
    dimensions: D,
    element_and_layout: PhantomData<fn() -> (E, L)>,
}

impl<E, D, L> Itself for Array<E, D, L> {
    type Itself = Self;
}

impl<E, D, L> Sealed for Array<E, D, L> {}

impl<E: Element, D: Dimensions, L: LayoutType> Array<E, D, L> {
    /// The type of the elements.
    pub const ELEMENT_TYPE: ElementType = E::TYPE;
    /// The dimensions, dimension 0 first.
    pub const DIMENSIONS: &'static [Dimension] = D::DIMENSIONS;
    /// The number of dimensions.
    pub const NUM_DIMENSIONS: usize = D::DIMENSIONS.len();
    /// The number of dimensions whose size (or bound) is greater than 1.
    pub const TRUE_NUM_DIMENSIONS: usize = Self::SHAPE.true_num_dimensions();
    /// The layout.
    pub const LAYOUT: &'static model::Layout = Self::SHAPE.layout();
    /// The dimensions from the fastest varying one to the slowest.
    pub const MINOR_TO_MAJOR: &'static [usize] = Self::LAYOUT.minor_to_major();
    /// The tiles, in the order in which they are applied.
    pub const TILES: &'static [model::Tile] = Self::LAYOUT.tiles();
    /// The number of the memory space; 0 is the default memory.
    pub const MEMORY_SPACE: u8 = Self::LAYOUT.memory_space();
    /// The shape as a value. Sizes that are known only at run time are bounds or `?`.
    pub const SHAPE: &'static ArrayShape = &ArrayShape::from_static(E::TYPE, D::DIMENSIONS, L::LAYOUT);
    /// The canonical text.
    pub const TEXT: &'static str = {
        assert!(!Self::TEXT_BUFFER.is_cut(), "expected a shape whose text has at most 512 bytes");
        Self::TEXT_BUFFER.as_str()
    };
    /// The stride table: where elements lie in memory, as far as the sizes are known.
    pub const STRIDE_TABLE: &'static StaticStrideTable =
        &match StaticStrideTable::from_dimensions(D::DIMENSIONS, Self::LAYOUT) {
            Ok(table) => table,
            Err(error) => error.panic(),
        };

    /// One dimension, by its number; -1 is the last.
    ///
    /// A number out of range does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{Dimension, shape};
    ///
    /// assert_eq!(<shape!(f32[<=4,128])>::dimension::<-1>(), Dimension::Static(128));
    /// ```
    #[must_use]
    pub const fn dimension<const NUMBER: i64>() -> Dimension {
        named_in_errors!(Self);
        D::DIMENSIONS[const { resolve(NUMBER, Self::SHAPE) }]
    }

    const TEXT_BUFFER: &'static ConstText<MAX_TEXT> = &Self::SHAPE.const_text();
    /// `None` if a dimension is unbounded.
    const SIZES_IN_MEMORY: Option<Sizes> = Self::SHAPE.sizes_in_const();
}

impl<E: Element, D: BoundedDimensions, L: LayoutType> Array<E, D, L> {
    /// The number of elements, or the most that there can be.
    pub const ELEMENTS: usize = Self::SIZES.elements as usize;
    /// The number of elements that the memory has room for, padding included.
    pub const PHYSICAL_ELEMENTS: usize = Self::SIZES.physical_elements as usize;
    /// The bytes of the array, padding included.
    pub const BYTES: usize = Self::SIZES.bytes as usize;

    /// Whether every position holds an element: there is no padding, except for
    /// [`tail_padding_alignment_in_elements`](model::Layout::tail_padding_alignment_in_elements).
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// type Wide = shape!(f32[32,256]{1,0:T(8,128)});
    /// type Narrow = shape!(f32[32,100]{1,0:T(8,128)}); // one tile wide: rows of 128
    /// assert_eq!((Wide::IS_EXHAUSTIVE, Wide::IS_STRIDED), (true, false));
    /// assert_eq!((Narrow::IS_EXHAUSTIVE, Narrow::IS_STRIDED), (false, true));
    /// ```
    pub const IS_EXHAUSTIVE: bool = Self::STRIDE_TABLE.with_extents(wide(D::EXTENTS)).is_exhaustive();
    /// Whether positions are the sum of `index · stride` over the dimensions.
    pub const IS_STRIDED: bool = Self::STRIDE_TABLE.with_extents(wide(D::EXTENTS)).is_strided_in_const();
    /// Whether the layout is strided and exhaustive: the elements are contiguous, one dimension after the other.
    pub const IS_CONTIGUOUS: bool = Self::IS_EXHAUSTIVE && Self::IS_STRIDED;

    const SIZES: Sizes = match Self::SIZES_IN_MEMORY {
        Some(sizes) => sizes,
        None => panic!("an array with a bound for every dimension has a size"),
    };

    /// The position of an element, in elements. For an index out of bounds, the result is unspecified; see
    /// [`checked_linear_index`](Self::checked_linear_index).
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// assert_eq!(<shape!(f32[16,256]{1,0:T(8,128)})>::linear_index([8, 0]), 2048);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn linear_index(index: D::Index) -> usize {
        unroll::linear_index::<Self>(index.as_ref())
    }

    /// The position of an element, in elements; `None` if the index is out of bounds.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// assert_eq!(<shape!(f32[8,128])>::checked_linear_index([7, 127]), Some(1023));
    /// assert_eq!(<shape!(f32[8,128])>::checked_linear_index([8, 0]), None);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn checked_linear_index(index: D::Index) -> Option<usize> {
        let inside = index.as_ref().iter().zip(D::EXTENTS).all(|(index, extent)| index < extent);
        inside.then(|| Self::linear_index(index))
    }

    /// What is at a position, in elements: an element with its index, or padding. A bounded dimension counts with its whole bound.
    ///
    /// ```
    /// use xla_shape::{Slot, shape};
    ///
    /// type Tiled = shape!(f32[2,3]{1,0:T(2,4)});
    /// assert_eq!(Tiled::multi_index(4), Slot::Element([1, 0]));
    /// assert_eq!(Tiled::multi_index(3), Slot::Padding);
    /// ```
    #[must_use]
    #[inline]
    pub fn multi_index(position: usize) -> Slot<D::Index> {
        let mut index = D::Index::ORIGIN;
        let mut values = [0; StaticStrideTable::MAX_INTERMEDIATES];
        let table = Self::STRIDE_TABLE.with_extents(wide(D::EXTENTS));
        table.multi_index_with(position as u64, wide_mut(index.as_mut()), &mut values).map(|()| index)
    }
}

impl<E: Element, D: StaticDimensions, L: LayoutType> Array<E, D, L> {
    /// The position of the element with a constant index, in elements, as a constant.
    ///
    /// An index out of bounds does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{index, shape};
    ///
    /// assert_eq!(<shape!(f32[3,5]{1,0:T(2,2)})>::linear_index_at(index![2, 3]), 17);
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn linear_index_at<I: StaticIndex<D>>(_: I) -> usize {
        named_in_errors!(Self);
        const { unroll::position_at::<Self, I>() }
    }
}

// SAFETY: `D::sizes` always returns the same sizes (the law of `Dim`): each is the static one, or at most the bound. For indices below
// them, the stride table (of the bounds, or of the sizes of unbounded dimensions) gives different positions below its number of positions.
// `byte_size` has room for as many elements after the prefix.
unsafe impl<E: Element, D: Dimensions, L: LayoutType> ArrayType for Array<E, D, L> {
    type Element = E;
    type Dimensions = D;
    type Layout = L;
    type Index = D::Index;

    const SHAPE: &'static ArrayShape = Self::SHAPE;
    const TEXT: &'static str = Self::TEXT;
    const STRIDE_TABLE: &'static StaticStrideTable = Self::STRIDE_TABLE;
    const BYTE_SIZE: Option<usize> = match Self::SIZES_IN_MEMORY {
        Some(sizes) => Some(sizes.bytes as usize),
        None => None,
    };
    const IS_STATIC: bool = {
        let (dimensions, mut i) = (D::DIMENSIONS, 0);
        while i < dimensions.len() && matches!(dimensions[i], Dimension::Static(_)) {
            i += 1;
        }
        i == dimensions.len()
    };

    #[inline(always)]
    fn sizes(self) -> D::Index {
        self.dimensions.sizes()
    }

    #[inline(always)]
    fn linear_index_of(self, index: D::Index) -> usize {
        if const { Self::SIZES_IN_MEMORY.is_some() } {
            unroll::linear_index::<Self>(index.as_ref())
        } else {
            unroll::scaled_linear_index::<Self>(index.as_ref(), self.sizes().as_ref())
        }
    }

    fn array_shape(self) -> ArrayShape {
        match self.bound_shape() {
            Ok(shape) => shape,
            Err(_) => unreachable!("`with_sizes` made the same shape before"),
        }
    }
}

impl<E: Element, D: Dimensions, L: LayoutType> WholeArray for Array<E, D, L> {
    #[inline]
    fn with_sizes(sizes: D::Index) -> Result<Self, SizesError> {
        Self::with_sizes(sizes)
    }

    #[inline]
    fn byte_size(self) -> usize {
        self.byte_size()
    }

    fn from_array_shape(shape: &ArrayShape) -> Option<Self> {
        let sizes = shape.dimensions();
        if shape.element_type() != E::TYPE || shape.layout() != Self::LAYOUT || sizes.len() != Self::NUM_DIMENSIONS {
            return None;
        }
        let mut index = D::Index::ORIGIN;
        for ((entry, found), wanted) in index.as_mut().iter_mut().zip(sizes).zip(D::DIMENSIONS) {
            if !takes(*wanted, *found) {
                return None;
            }
            *entry = found.extent()? as usize;
        }
        Self::with_sizes(index).ok()
    }
}

impl<E: Element, D: Dimensions, L: LayoutType> Array<E, D, L> {
    /// The shape with these sizes.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// type Rows = shape!(f32[<=8,128]);
    /// assert!(Rows::with_sizes([5, 128]).is_ok());
    /// assert!(Rows::with_sizes([9, 128]).is_err() && Rows::with_sizes([5, 64]).is_err());
    /// ```
    ///
    /// # Errors
    /// If a size differs from the static one or exceeds the bound, or the array has more bytes than fit in an `i64`.
    #[inline]
    pub fn with_sizes(sizes: D::Index) -> Result<Self, SizesError> {
        let dimensions = D::with_sizes(sizes).map_err(|dimension| SizesError::Dimension {
            dimension,
            expected: D::DIMENSIONS[dimension],
            found: sizes.as_ref()[dimension],
        })?;
        let array = Self { dimensions, element_and_layout: PhantomData };
        if const { Self::SIZES_IN_MEMORY.is_none() } && array.quick_byte_size().is_none() {
            array.bound_shape()?;
        }
        Ok(array)
    }

    /// The bytes of the array, padding included.
    ///
    /// ```
    /// use xla_shape::shape;
    ///
    /// type Rows = shape!(f32[?,128]{1,0:T(8,128)});
    /// assert_eq!(Rows::with_sizes([20, 128])?.byte_size(), 24 * 128 * 4);
    /// # Ok::<(), xla_shape::types::SizesError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn byte_size(self) -> usize {
        match const { <Self as ArrayType>::BYTE_SIZE } {
            Some(bytes) => bytes,
            None => self.quick_byte_size().unwrap_or_else(|| self.slow_byte_size()) as usize,
        }
    }

    /// The bytes of the array, if no stride table is needed to compute them.
    #[inline(always)]
    fn quick_byte_size(self) -> Option<u64> {
        let sizes = self.sizes();
        match const { Self::SHAPE.plain_element_bytes() } {
            Some(bytes) => ArrayShape::plain_byte_size(bytes, wide(sizes.as_ref())),
            None => Self::SHAPE.quick_byte_size(wide(sizes.as_ref())),
        }
    }

    #[cold]
    fn slow_byte_size(self) -> u64 {
        self.array_shape().byte_size().unwrap_or(u64::MAX)
    }

    /// The shape with the actual sizes of unbounded dimensions, if it is valid.
    fn bound_shape(self) -> Result<ArrayShape, SizesError> {
        Self::SHAPE.with_dimensions(wide(self.sizes().as_ref())).map_err(|error| match error {
            TransformError::Invalid(error) => SizesError::Invalid(error),
            other => unreachable!("the sizes are those of the type's dimensions: {other}"),
        })
    }
}

impl<E: Element, D: StaticDimensions, L: LayoutType> StaticArray for Array<E, D, L> {
    const SIZES: &'static [usize] = D::SIZES;
    const ELEMENTS: usize = Self::ELEMENTS;
    const PHYSICAL_ELEMENTS: usize = Self::PHYSICAL_ELEMENTS;
    const BYTES: usize = Self::BYTES;

    #[inline(always)]
    fn linear_index(index: D::Index) -> usize {
        Self::linear_index(index)
    }

    #[inline(always)]
    fn linear_index_at<I: StaticIndex<D>>(_: I) -> usize {
        named_in_errors!(Self);
        const { unroll::position_at::<Self, I>() }
    }

    #[inline]
    fn multi_index(position: usize) -> Slot<D::Index> {
        Self::multi_index(position)
    }
}

impl<E, D: Copy, L> Clone for Array<E, D, L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E, D: Copy, L> Copy for Array<E, D, L> {}

impl<E, D: Default, L> Default for Array<E, D, L> {
    fn default() -> Self {
        Self { dimensions: D::default(), element_and_layout: PhantomData }
    }
}

impl<E, D: PartialEq, L> PartialEq for Array<E, D, L> {
    fn eq(&self, other: &Self) -> bool {
        self.dimensions == other.dimensions
    }
}

impl<E, D: Eq, L> Eq for Array<E, D, L> {}

impl<E, D: Hash, L> Hash for Array<E, D, L> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dimensions.hash(state);
    }
}

/// Prints the shape's text.
impl<E: Element, D: Dimensions, L: LayoutType> fmt::Debug for Array<E, D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::TEXT)
    }
}

/// Prints the shape's text.
impl<E: Element, D: Dimensions, L: LayoutType> fmt::Display for Array<E, D, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(Self::TEXT)
    }
}
