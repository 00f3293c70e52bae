//! The shape of a block.

use crate::sealed::Sealed;
use crate::types::{ArrayType, MultiIndex, SameRank, StaticArray};
use std::fmt;
use std::marker::PhantomData;
use xla_shape_core::map::{StaticStrideTable, StrideTableRef};
use xla_shape_core::text::ConstText;
use xla_shape_core::{ArrayShape, Dimension};

/// The shape of a block `P` of an array of shape `S`: its sizes are those of `P`, or smaller at the end of the array.
///
/// Made by [`block`](crate::Buffer::block) and the other methods that return blocks. They require that `P` has the element type and the layout
/// of `S`. The `impl`s for `Part` do not repeat this bound, so that a wrong `P` causes one error, instead of another one for each method of the
/// block.
pub struct Part<S: ArrayType, P> {
    whole: S,
    /// The index of the first element in the whole array.
    origin: S::Index,
    /// The position of the first element in memory.
    first: usize,
    sizes: S::Index,
    part: PhantomData<fn() -> P>,
}

/// The shape of a block of an array of shape `S`: it has the array's element type, its layout with the tiles and the memory space, and as
/// many dimensions. The bound of generic functions that cut arrays.
///
/// ```
/// use xla_shape::block::BlockOf;
/// use xla_shape::element::F32;
/// use xla_shape::types::ArrayType;
/// use xla_shape::{Buffer, View, shape};
///
/// fn largest_sum<P: BlockOf<S>, S: ArrayType<Element = F32>>(x: View<S>) -> f32 {
///     x.blocks::<P>().map(|block| block.fold(0.0, |sum, x| sum + x)).fold(f32::MIN, f32::max)
/// }
///
/// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::from_fn(|[i, _]| if i < 8 { 2.0 } else { 1.0 });
/// assert_eq!(largest_sum::<shape!(f32[8,128]{1,0:T(8,128)}), _>(x.view()), 2.0 * 1024.0);
/// ```
pub trait BlockOf<S: ArrayType> {
    /// The shape itself.
    type Shape: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>;
}

impl<S: ArrayType, P: ArrayType> BlockOf<S> for P
where
    P::Index: SameRank<S::Index, Of<P>: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>>,
{
    type Shape = <P::Index as SameRank<S::Index>>::Of<P>;
}

impl<S: ArrayType, P> Clone for Part<S, P> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ArrayType, P> Copy for Part<S, P> {}

impl<S: ArrayType, P> fmt::Debug for Part<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?} of {:?}", self.sizes, self.origin, self.whole)
    }
}

impl<S: ArrayType, P> Sealed for Part<S, P> {}

impl<S, P> Part<S, P>
where
    S: ArrayType,
    P: StaticArray<Index = S::Index>,
{
    /// Whether every block is full: the sizes are those of the type.
    pub(super) const IS_EVEN: bool = {
        let (sizes, dimensions, mut i) = (P::SIZES, S::SHAPE.dimensions(), 0);
        // Full blocks need no sizes at run time: loops over them have constant trip counts.
        let mut even = S::IS_STATIC;
        while i < dimensions.len() {
            even = even
                && match dimensions[i] {
                    Dimension::Static(size) => sizes[i] > 0 && size % sizes[i] as u64 == 0,
                    Dimension::Bounded(_) | Dimension::Unbounded => false,
                };
            i += 1;
        }
        even
    };

    /// The block at a place of the grid; `None` if there is no such place.
    ///
    /// # Safety
    /// The caller has evaluated `assert_block::<S, P>`. The public functions do so themselves, so that the compiler shows the line that
    /// calls them.
    #[inline(always)]
    pub(super) unsafe fn at(whole: S, place: S::Index) -> Option<Self> {
        let (mut origin, mut sizes, mut inside) = (place, whole.sizes(), true);
        let extents = const { P::SIZES };
        for ((origin, size), &extent) in origin.as_mut().iter_mut().zip(sizes.as_mut()).zip(extents) {
            // An index in the array does not overflow, but the caller's place, times the size of a block, may.
            let (start, overflows) = origin.overflowing_mul(extent);
            inside &= !overflows & (start < *size);
            *origin = start;
            *size = size.wrapping_sub(start).min(extent);
        }
        inside.then(|| Self { whole, origin, first: whole.linear_index_of(origin), sizes, part: PhantomData })
    }

    /// The number of blocks in each dimension.
    #[inline]
    pub(super) fn grid(whole: S) -> S::Index {
        let mut grid = whole.sizes();
        for (count, &size) in grid.as_mut().iter_mut().zip(const { P::SIZES }) {
            *count = count.div_ceil(size.max(1));
        }
        grid
    }

    /// The shape of the array that the block is a part of.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    /// let block = x.block::<shape!(f32[8,128]{1,0:T(8,128)})>([1, 1]);
    /// assert_eq!(block.shape().whole(), x.shape());
    /// ```
    #[must_use]
    pub fn whole(self) -> S {
        self.whole
    }

    /// The index of the block's first element in the array.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::zeroed();
    /// let block = x.block::<shape!(f32[8,128]{1,0:T(8,128)})>([1, 1]);
    /// assert_eq!(block.shape().origin(), [8, 128]);
    /// ```
    #[must_use]
    pub fn origin(self) -> S::Index {
        self.origin
    }

    /// Whether the block has all elements of its type; the last ones of a dimension may have fewer.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[20,128]{1,0:T(8,128)})>::zeroed();
    /// let blocks = x.blocks::<shape!(f32[8,128]{1,0:T(8,128)})>();
    /// assert!(blocks.map(|block| block.shape().is_full()).eq([true, true, false]));
    /// ```
    #[must_use]
    pub fn is_full(self) -> bool {
        Self::IS_EVEN || self.sizes.as_ref() == P::SIZES
    }

    /// The number of the block's first byte, if the block is full and begins at a whole byte.
    #[inline(always)]
    pub(super) fn first_byte(self) -> Option<usize> {
        let first = self.first * const { P::SHAPE.element_bits() as usize };
        (self.is_full() && first.is_multiple_of(8)).then_some(first / 8)
    }
}

// SAFETY: `assert_block`, which comes before `at`, is only for a `P` with the element type and the layout of `S`. `at` accepts only places whose
// first element is in bounds of the whole array, and limits the sizes to its end. So an index in bounds of this shape, added to the origin, is in
// bounds of the whole array. The origin is a multiple of the stride table's period in each dimension (`assert_block`), so positions are additive: the
// position of that element is the origin's plus the index's. By the law of `S`, it holds an element, and different indices have different positions.
unsafe impl<S, P> ArrayType for Part<S, P>
where
    S: ArrayType,
    P: StaticArray<Index = S::Index>,
{
    type Element = S::Element;
    type Dimensions = P::Dimensions;
    type Layout = S::Layout;
    type Index = S::Index;

    const SHAPE: &'static ArrayShape = P::SHAPE;
    const TEXT: &'static str = P::TEXT;
    const STRIDE_TABLE: &'static StaticStrideTable = S::STRIDE_TABLE;
    const BYTE_SIZE: Option<usize> = S::BYTE_SIZE;
    const IS_STATIC: bool = Self::IS_EVEN;
    const MEMORY_DIMENSIONS: &'static [Dimension] = S::MEMORY_DIMENSIONS;
    const IS_WHOLE_ARRAY: bool = false;

    #[inline(always)]
    fn sizes(self) -> S::Index {
        if const { Self::IS_EVEN } {
            let mut sizes = S::Index::ORIGIN;
            for (entry, &size) in sizes.as_mut().iter_mut().zip(const { P::SIZES }) {
                *entry = size;
            }
            sizes
        } else {
            self.sizes
        }
    }

    #[inline(always)]
    fn linear_index_of(self, index: S::Index) -> usize {
        self.whole.linear_index_of(index).wrapping_sub(self.whole.first_position()).wrapping_add(self.first)
    }

    fn array_shape(self) -> ArrayShape {
        with_sizes(P::SHAPE, self.sizes().as_ref())
    }

    #[inline(always)]
    fn sizes_in_memory(self) -> S::Index {
        self.whole.sizes_in_memory()
    }

    #[inline(always)]
    fn first_position(self) -> usize {
        self.first
    }
}

/// The shape with these sizes, which are at most the sizes of `shape`.
pub(super) fn with_sizes(shape: &ArrayShape, sizes: &[usize]) -> ArrayShape {
    let dimensions = sizes.iter().map(|&size| Dimension::Static(size as u64)).collect::<Vec<_>>();
    let smaller = ArrayShape::new(shape.element_type(), &dimensions, shape.layout().clone());
    smaller.expect("a valid shape stays valid with smaller sizes")
}

/// Fails the compilation if an array cannot be divided into these blocks.
#[track_caller]
pub(super) const fn assert_block<S, P>()
where
    S: ArrayType,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    let table = S::STRIDE_TABLE.with_extents(&[]);
    let dimensions = S::SHAPE.dimensions();
    let mut d = 0;
    while d < dimensions.len() {
        let size = P::SIZES[d] as u64;
        if size == 0 {
            let problem = no_blocks::<S, P>().push_str("a block has elements, but dimension ").push_count(d);
            panic!("{}", problem.push_str(" has size 0").as_str())
        }
        // Code that walks along a dimension of the memory assumes that the sizes of a block are at most the array's; what lies beyond
        // belongs to another block.
        if let Some(extent) = dimensions[d].extent()
            && !S::IS_WHOLE_ARRAY
            && size > extent
        {
            let problem = no_blocks::<S, P>().push_str("dimension ").push_count(d).push_str(" has ");
            panic!(
                "{}",
                problem.push_number(extent).push_str(" elements; expected no larger block of a block").as_str()
            )
        }
        let text = no_blocks::<S, P>().push_str("dimension ").push_count(d);
        if let Some(reason) = period_obstacle(text, table, dimensions[d], d, size) {
            panic!("{}", reason.as_str())
        }
        d += 1;
    }
}

/// Why a dimension cannot be cut into parts of this size; `text` is the beginning of the message.
pub(super) const fn period_obstacle(
    text: ConstText<1024>,
    table: StrideTableRef<'_>,
    dimension: Dimension,
    number: usize,
    size: u64,
) -> Option<ConstText<1024>> {
    match table.period(number) {
        _ if matches!(dimension.extent(), Some(extent) if extent <= size) => None,
        Some(period) if size.is_multiple_of(period) => None,
        Some(period) => {
            let text = text.push_str(" is laid out in groups of ").push_number(period);
            Some(text.push_str("; expected a multiple of it, or all of the dimension"))
        }
        None => Some(text.push_str(" is combined with another one (`*`); expected all of it")),
    }
}

const fn no_blocks<S: ArrayType, P: ArrayType>() -> ConstText<1024> {
    let text = ConstText::<1024>::new().push_str(P::TEXT).push_str(" is not a block of ").push_str(S::TEXT);
    text.push_str(": ")
}
