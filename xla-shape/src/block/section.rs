//! Sections: arrays of fewer dimensions, or of ranges, in the memory of a larger array.

use super::part::period_obstacle;
use crate::buffer::{Buffer, Bytes, BytesMut, Lends, View, ViewMut};
use crate::element::Stored;
use crate::sealed::{Sealed, for_each_arity, named_in_errors};
use crate::types::{
    ArrayType, DimensionAt, LayoutType, MultiIndex, Nth, Reduced, SameRank, StaticArray, WholeArray, resolve, takes,
};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeFull};
use xla_shape_core::bitcast::{section_obstacle, slice_obstacle};
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_core::{ArrayShape, Dimension};
use xla_shape_relayout::wide::wide;

/// The shape of a section: an array `P` in the memory of one of shape `S`. `K` says which dimensions of `S` are fixed at an index.
///
/// Made by [`section`](crate::Buffer::section) and [`index_axis`](crate::Buffer::index_axis).
pub struct Section<S: ArrayType, P: ArrayType, K> {
    whole: S,
    /// The index of the first element in the array.
    origin: S::Index,
    /// The position of the first element in memory.
    first: usize,
    sizes: P::Index,
    section: PhantomData<fn() -> (P, K)>,
}

impl<S: ArrayType, P: ArrayType, K> Clone for Section<S, P, K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: ArrayType, P: ArrayType, K> Copy for Section<S, P, K> {}

impl<S: ArrayType, P: ArrayType, K> fmt::Debug for Section<S, P, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} at {:?} of {:?}", self.sizes, self.origin, self.whole)
    }
}

impl<S: ArrayType, P: ArrayType, K> Sealed for Section<S, P, K> {}

/// Which dimensions of an array of shape `S` have a fixed index in a section: [`Nth`] for one, or a tuple of slices.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have one slice for each dimension of `{S}`",
    label = "expected a tuple with an index, a range `a..b` or `..` for each dimension"
)]
pub trait Fixed<S: ArrayType>: 'static + Sealed {
    /// Whether each dimension is fixed; entries behind the last dimension are `false`.
    const FIXED: [bool; MAX_LIST];
    /// Whether each dimension that is not fixed is taken whole.
    #[doc(hidden)]
    const WHOLE: [bool; MAX_LIST];
}

impl<S: ArrayType, const N: i64> Fixed<S> for Nth<N> {
    const FIXED: [bool; MAX_LIST] = {
        let mut fixed = [false; MAX_LIST];
        fixed[resolve(N, S::SHAPE)] = true;
        fixed
    };
    const WHOLE: [bool; MAX_LIST] = [true; MAX_LIST];
}

/// That a section has a range of each dimension, as [`part`](Buffer::part) takes it.
#[derive(Clone, Copy, Debug)]
pub struct Ranges(());

impl Sealed for Ranges {}

impl<S: ArrayType> Fixed<S> for Ranges {
    const FIXED: [bool; MAX_LIST] = [false; MAX_LIST];
    const WHOLE: [bool; MAX_LIST] = [false; MAX_LIST];
}

/// What a section takes of one dimension: an index, a range, or all (`..`).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a slice of a dimension",
    label = "expected an index (`usize`), a range `a..b` or `..`"
)]
pub trait DimensionSlice: 'static + Sealed {
    /// Whether it is one index.
    const IS_INDEX: bool;
    /// Whether it is all of the dimension.
    const IS_ALL: bool;

    /// The indices, in a dimension of this size; not checked.
    ///
    /// ```
    /// use xla_shape::block::DimensionSlice;
    ///
    /// assert_eq!(((..).range(8), 3.range(8), (2..5).range(8)), (0..8, 3..4, 2..5));
    /// ```
    #[must_use]
    fn range(self, size: usize) -> Range<usize>;
}

impl Sealed for usize {}
impl Sealed for Range<usize> {}
impl Sealed for RangeFull {}

impl DimensionSlice for usize {
    const IS_INDEX: bool = true;
    const IS_ALL: bool = false;

    #[inline(always)]
    fn range(self, _: usize) -> Range<usize> {
        // The largest index is out of bounds of every dimension, and so is this range.
        self..self.saturating_add(1)
    }
}

impl DimensionSlice for Range<usize> {
    const IS_INDEX: bool = false;
    const IS_ALL: bool = false;

    #[inline(always)]
    fn range(self, _: usize) -> Range<usize> {
        self
    }
}

impl DimensionSlice for RangeFull {
    const IS_INDEX: bool = false;
    const IS_ALL: bool = true;

    #[inline(always)]
    fn range(self, size: usize) -> Range<usize> {
        0..size
    }
}

/// A tuple with a [`DimensionSlice`] for each dimension of an array of shape `S`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have one slice for each dimension of `{S}`",
    label = "expected a tuple with an index, a range `a..b` or `..` for each dimension"
)]
pub trait Slices<S: ArrayType>: Fixed<S> {
    /// The indices in each dimension of these sizes; not checked.
    #[doc(hidden)]
    fn ranges(self, sizes: S::Index) -> [Range<usize>; MAX_LIST];
}

macro_rules! one {
    ($i:tt) => {
        1
    };
}

/// These flags, then `false`.
const fn flags(some: &[bool]) -> [bool; MAX_LIST] {
    let (mut all, mut i) = ([false; MAX_LIST], 0);
    while i < some.len() {
        all[i] = some[i];
        i += 1;
    }
    all
}

/// These ranges, then empty ones.
#[inline(always)]
fn padded<const N: usize>(some: [Range<usize>; N]) -> [Range<usize>; MAX_LIST] {
    let mut all = [const { 0..0 }; MAX_LIST];
    all.iter_mut().zip(some).for_each(|(range, some)| *range = some);
    all
}

macro_rules! slices {
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        #[diagnostic::do_not_recommend]
        impl<S: ArrayType<Index = [usize; { 0 $(+ one!($i))* }]>, $($T: DimensionSlice,)*> Fixed<S> for ($($T,)*) {
            const FIXED: [bool; MAX_LIST] = flags(&[$($T::IS_INDEX),*]);
            const WHOLE: [bool; MAX_LIST] = flags(&[$($T::IS_ALL),*]);
        }

        #[diagnostic::do_not_recommend]
        impl<S: ArrayType<Index = [usize; { 0 $(+ one!($i))* }]>, $($T: DimensionSlice,)*> Slices<S> for ($($T,)*) {
            #[inline(always)]
            fn ranges(self, sizes: S::Index) -> [Range<usize>; MAX_LIST] {
                let [$($t),*] = sizes;
                padded([$(self.$i.range($t)),*])
            }
        }
    };
}

for_each_arity!(slices);

#[cold]
#[inline(never)]
#[track_caller]
fn not_inside(dimension: usize, range: &Range<usize>, is_index: bool, size: usize) -> ! {
    if is_index {
        panic!("index {} is out of bounds for dimension {dimension} (size {size})", range.start)
    }
    panic!("the range {range:?} is out of bounds for dimension {dimension} (size {size})")
}

#[cold]
#[inline(never)]
#[track_caller]
fn cuts_a_group(dimension: usize, range: &Range<usize>, period: Option<u64>) -> ! {
    match period {
        Some(period) => panic!(
            "the range {range:?} cuts dimension {dimension} inside of a group of {period}; expected multiples of it, or all"
        ),
        None => panic!("dimension {dimension} can only be taken whole, found the range {range:?}"),
    }
}

impl<S: ArrayType, P: ArrayType<Element = S::Element>, K: Fixed<S>> Section<S, P, K> {
    const IS_FIXED: &'static [bool] = K::FIXED.split_at(S::NUM_DIMENSIONS).0;

    /// The dimensions of the memory that the section keeps. A range whose size is known only at run time is never all of a dimension: code
    /// that walks along the section would take its bound for all.
    const KEPT: &'static [Dimension; MAX_LIST] = &{
        let (mut kept, mut count, mut i) = ([Dimension::Unbounded; MAX_LIST], 0, 0);
        while i < S::NUM_DIMENSIONS {
            if !K::FIXED[i] {
                if K::WHOLE[i] || matches!(P::DIMENSIONS[count], Dimension::Static(_)) {
                    kept[count] = S::MEMORY_DIMENSIONS[i];
                }
                count += 1;
            }
            i += 1;
        }
        kept
    };

    /// The entries of a list for the array's dimensions that the section keeps.
    #[inline(always)]
    fn kept(list: S::Index) -> P::Index {
        let mut kept = P::Index::ORIGIN;
        let entries = list.as_ref().iter().zip(const { K::FIXED }).filter(|(_, fixed)| !fixed);
        kept.as_mut().iter_mut().zip(entries).for_each(|(kept, (&entry, _))| *kept = entry);
        kept
    }

    /// The array's index with these entries in the dimensions that the section keeps, and 0 in the others.
    #[inline(always)]
    fn spread(index: P::Index) -> S::Index {
        let mut all = S::Index::ORIGIN;
        let entries = all.as_mut().iter_mut().zip(const { K::FIXED }).filter(|(_, fixed)| !fixed);
        entries.zip(index.as_ref()).for_each(|((entry, _), &number)| *entry = number);
        all
    }

    /// The section with these indices. The caller has evaluated `assert_section::<S, P, K>`.
    ///
    /// # Panics
    /// If a range is out of bounds, or cuts elements that are laid out together.
    #[inline(always)]
    #[track_caller]
    fn at(whole: S, ranges: &[Range<usize>; MAX_LIST]) -> Self {
        let (mut origin, mut sizes, all) = (S::Index::ORIGIN, S::Index::ORIGIN, whole.sizes());
        for (dimension, &size) in all.as_ref().iter().enumerate() {
            let (range, is_index) = (&ranges[dimension], const { K::FIXED }[dimension]);
            if range.start > range.end || range.end > size || is_index && range.start == size {
                not_inside(dimension, range, is_index, size);
            }
            if !is_index && *range != (0..size) {
                let period = S::STRIDE_TABLE.with_extents(&[]).period(dimension);
                let is_multiple = |number: usize| period.is_some_and(|period| (number as u64).is_multiple_of(period));
                if !(is_multiple(range.start) && (is_multiple(range.end) || range.end == size)) {
                    cuts_a_group(dimension, range, period);
                }
            }
            origin.as_mut()[dimension] = range.start;
            sizes.as_mut()[dimension] = range.end - range.start;
        }
        Self { whole, origin, first: whole.linear_index_of(origin), sizes: Self::kept(sizes), section: PhantomData }
    }

    /// The shape of the array that the section is in.
    ///
    /// ```
    /// # use xla_shape::{Buffer, layout, shape};
    /// let x = Buffer::<shape!(f32[4,16,256]{2,1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.index_axis::<0, layout!({1,0:T(8,128)})>(3).shape().whole(), x.shape());
    /// ```
    #[must_use]
    pub fn whole(self) -> S {
        self.whole
    }

    /// The index of the section's first element in the array.
    ///
    /// ```
    /// # use xla_shape::{Buffer, layout, shape};
    /// let x = Buffer::<shape!(f32[4,16,256]{2,1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.index_axis::<0, layout!({1,0:T(8,128)})>(3).shape().origin(), [3, 0, 0]);
    /// ```
    #[must_use]
    pub fn origin(self) -> S::Index {
        self.origin
    }
}

// SAFETY: `at` accepts only ranges in bounds of the whole array, so an index in bounds of this shape, put in place by `spread` and added to
// the origin, is in bounds of the whole array. Positions are additive: in the dimensions that are kept, the origin is 0 or a multiple of the
// stride table's period; a fixed dimension has a period (`StaticStrideTable::section`), so that the position is a function of its index plus one
// of the others. By the law of `S`, the sum is the position of an element, and different indices have different positions.
unsafe impl<S, P, K> ArrayType for Section<S, P, K>
where
    S: ArrayType,
    P: ArrayType<Element = S::Element>,
    K: Fixed<S>,
{
    type Element = S::Element;
    type Dimensions = P::Dimensions;
    type Layout = P::Layout;
    type Index = P::Index;

    const SHAPE: &'static ArrayShape = P::SHAPE;
    const TEXT: &'static str = P::TEXT;
    const STRIDE_TABLE: &'static StaticStrideTable = &match S::STRIDE_TABLE.section(Self::IS_FIXED) {
        Some(table) => table,
        None => panic!("`assert_section` refuses such dimensions"),
    };
    const BYTE_SIZE: Option<usize> = S::BYTE_SIZE;
    // The last blocks may be smaller than their type.
    const IS_STATIC: bool = P::IS_STATIC && (S::IS_WHOLE_ARRAY || S::IS_STATIC);
    const MEMORY_DIMENSIONS: &'static [Dimension] = Self::KEPT.split_at(P::NUM_DIMENSIONS).0;
    const IS_WHOLE_ARRAY: bool = false;

    #[inline(always)]
    fn sizes(self) -> P::Index {
        if const { Self::IS_STATIC } {
            let mut sizes = P::Index::ORIGIN;
            for (entry, dimension) in sizes.as_mut().iter_mut().zip(const { P::DIMENSIONS }) {
                *entry = dimension.extent().map_or(0, |extent| extent as usize);
            }
            sizes
        } else {
            self.sizes
        }
    }

    #[inline(always)]
    fn linear_index_of(self, index: P::Index) -> usize {
        let position = self.whole.linear_index_of(Self::spread(index));
        position.wrapping_sub(self.whole.first_position()).wrapping_add(self.first)
    }

    fn array_shape(self) -> ArrayShape {
        let sizes = self.sizes();
        let dimensions = sizes.as_ref().iter().map(|&size| Dimension::Static(size as u64)).collect::<Vec<_>>();
        let shape = ArrayShape::new(P::SHAPE.element_type(), &dimensions, P::SHAPE.layout().clone());
        shape.expect("a valid shape stays valid with smaller sizes")
    }

    #[inline(always)]
    fn sizes_in_memory(self) -> P::Index {
        Self::kept(self.whole.sizes_in_memory())
    }

    #[inline(always)]
    fn first_position(self) -> usize {
        self.first
    }
}

/// Fails the compilation if `P` is not the shape of a section of `S`.
#[track_caller]
const fn assert_section<S: ArrayType, P: ArrayType, K: Fixed<S>>() {
    let fixed = K::FIXED.split_at(S::NUM_DIMENSIONS).0;
    if let Some(reason) = section_obstacle(S::SHAPE, P::SHAPE, fixed) {
        panic!("{}", reason.as_str())
    }
    let text = ConstText::<1024>::new().push_str(P::TEXT).push_str(" is not a section of ").push_str(S::TEXT);
    let text = text.push_str(": dimension ");
    let table = S::STRIDE_TABLE.with_extents(&[]);
    let (mut d, mut kept) = (0, 0);
    while d < fixed.len() {
        let (all, text) = (S::DIMENSIONS[d], text.push_count(d));
        if fixed[d] {
            if S::STRIDE_TABLE.section(fixed).is_none() {
                panic!(
                    "{}",
                    text.push_str(" cannot be fixed: it has an unbounded size, and others are more major").as_str()
                )
            }
        } else {
            match P::DIMENSIONS[kept] {
                Dimension::Static(size) => {
                    if let Some(reason) = period_obstacle(text, table, all, d, size) {
                        panic!("{}", reason.as_str())
                    }
                }
                size if !K::WHOLE[d] || takes(size, all) => {}
                Dimension::Bounded(_) | Dimension::Unbounded => panic!(
                    "{}",
                    text.push_str(" becomes one whose size is known only at run time; expected that of the array, a static size, or a range")
                        .as_str()
                ),
            }
            kept += 1;
        }
        d += 1;
    }
}

/// Panics if a section does not have the sizes of its type.
#[track_caller]
fn assert_sizes<S: ArrayType, P: WholeArray<Element = S::Element>, K: Fixed<S>>(section: Section<S, P, K>) {
    if let Err(error) = P::with_sizes(section.sizes) {
        panic!("{error}")
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The elements with one index in dimension `N` (-1 is the last), as an array of the other dimensions, in the same memory.
    ///
    /// `L` is the layout of that array: the order without the dimension, and the same tiles. The dimension is not in the tiles; another one, or
    /// another layout, does not compile, which shows in `cargo build`. Where the elements are one stretch of memory,
    /// [`as_array`](View::as_array) returns an array with slices and tiles.
    ///
    /// ```
    /// use xla_shape::element::F32;
    /// use xla_shape::types::ArrayType;
    /// use xla_shape::{Buffer, View, layout, shape};
    ///
    /// fn sum<S: ArrayType<Element = F32, Index = [usize; 2]>>(head: View<S>) -> f32 {
    ///     head.fold(0.0, |sum, x| sum + x)
    /// }
    ///
    /// // One head of [heads, seq, d] is a [seq, d].
    /// type L = layout!({1,0:T(8,128)});
    /// let x = Buffer::<shape!(f32[4,16,128]{2,1,0:T(8,128)})>::from_fn(|[head, ..]| head as f32);
    /// assert_eq!(sum(x.index_axis::<0, L>(3)), 3.0 * 16.0 * 128.0);
    ///
    /// // Also where heads lie between the rows of one.
    /// let x = Buffer::<shape!(f32[16,4,128]{2,1,0})>::from_fn(|[_, head, _]| head as f32);
    /// assert_eq!(sum(x.index_axis::<1, layout!({1,0})>(3)), 3.0 * 16.0 * 128.0);
    /// ```
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn index_axis<'s, 'b, const N: i64, L>(&'s self, index: usize) -> View<'b, Section<S, Reduced<S, N, L>, Nth<N>>>
    where
        B: Lends<'s, 'b>,
        L: LayoutType,
        S::Dimensions: DimensionAt<Nth<N>>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, Reduced<S, N, L>, Nth<N>>() };
        let section = Section::at(self.shape(), &one_index::<S>(const { resolve(N, S::SHAPE) }, index, self.shape()));
        // SAFETY: the section is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(section) }
    }

    /// An array `P` in the memory of this one, by a slice for each dimension: an index, a range, or all (`..`), as `submdspan` of C++ does.
    ///
    /// `P` has the dimensions that are not an index, in the array's order, with its tiles. A range begins and ends at edges of tiles, or at
    /// the array's end. If the size in `P` is static, the range has that size; `<=32` accepts ranges of up to 32 indices, `?` all.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(8,128)})>::from_fn(|[i, j, k]| (10_000 * i + 100 * j + k) as f32);
    /// let part = x.section::<shape!(f32[16,256]{1,0:T(8,128)}), _>((2, 32..48, ..));
    /// assert_eq!(part[[1, 200]], x[[2, 33, 200]]);
    ///
    /// // Ranges whose sizes are known only at run time.
    /// for end in [16, 24, 64] {
    ///     let part = x.section::<shape!(f32[<=56,256]{1,0:T(8,128)}), _>((2, 8..end, ..));
    ///     assert_eq!(part.sizes(), [end - 8, 256]);
    /// }
    /// ```
    ///
    /// # Panics
    /// If an index or a range is out of bounds, or a range has another size than `P` or cuts a tile.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn section<'s, 'b, P, K>(&'s self, slices: K) -> View<'b, Section<S, P, K>>
    where
        B: Lends<'s, 'b>,
        P: WholeArray<Element = S::Element>,
        K: Slices<S>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, P, K>() };
        let section = Section::at(self.shape(), &slices.ranges(self.sizes()));
        assert_sizes(section);
        // SAFETY: the section is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(section) }
    }

    /// The part of these sizes that begins at `origin`, in the same memory: a section with a range of each dimension. `P` has the array's layout,
    /// and bounds for the sizes.
    ///
    /// It begins and ends at edges of tiles, or at the array's end; [`copy_window_to`](Self::copy_window_to) copies a part that does not.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as f32);
    /// let part = x.part::<shape!(f32[<=32,128]{1,0:T(8,128)})>([8, 128], [24, 128]);
    /// assert_eq!((part.sizes(), part[[3, 5]]), ([24, 128], 11_133.0));
    /// ```
    ///
    /// # Panics
    /// If the part reaches beyond the array, has sizes that `P` does not have, or cuts a tile.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn part<'s, 'b, P>(&'s self, origin: S::Index, sizes: S::Index) -> View<'b, Section<S, P, Ranges>>
    where
        B: Lends<'s, 'b>,
        P: WholeArray<Element = S::Element, Index: SameRank<S::Index>>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, P, Ranges>() };
        let section = Section::at(self.shape(), &ranges_from::<S>(origin, sizes));
        assert_sizes(section);
        // SAFETY: the section is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(section) }
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// The elements with one index in dimension `N`, to write; see [`index_axis`](Self::index_axis).
    ///
    /// ```
    /// use xla_shape::{Buffer, layout, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[4,16,128]{2,1,0:T(8,128)})>::zeroed();
    /// x.index_axis_mut::<0, layout!({1,0:T(8,128)})>(3).fill(1.0);
    /// assert_eq!((x[[3, 0, 0]], x[[2, 15, 127]]), (1.0, 0.0));
    /// ```
    ///
    /// # Panics
    /// If the index is out of bounds.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn index_axis_mut<const N: i64, L>(&mut self, index: usize) -> ViewMut<'_, Section<S, Reduced<S, N, L>, Nth<N>>>
    where
        L: LayoutType,
        S::Dimensions: DimensionAt<Nth<N>>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, Reduced<S, N, L>, Nth<N>>() };
        let section = Section::at(self.shape(), &one_index::<S>(const { resolve(N, S::SHAPE) }, index, self.shape()));
        // SAFETY: the section is a part of this array's shape, and the only one while `self` is borrowed mutably.
        unsafe { self.view_mut().cut(section) }
    }

    /// An array `P` in the memory of this one, to write; see [`section`](Self::section).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[4,64,256]{2,1,0:T(8,128)})>::zeroed();
    /// x.section_mut::<shape!(f32[16,256]{1,0:T(8,128)}), _>((2, 32..48, ..)).fill(1.0);
    /// assert_eq!((x[[2, 47, 255]], x[[2, 48, 0]]), (1.0, 0.0));
    /// ```
    ///
    /// # Panics
    /// As [`section`](Self::section).
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn section_mut<P, K>(&mut self, slices: K) -> ViewMut<'_, Section<S, P, K>>
    where
        P: WholeArray<Element = S::Element>,
        K: Slices<S>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, P, K>() };
        let section = Section::at(self.shape(), &slices.ranges(self.sizes()));
        assert_sizes(section);
        // SAFETY: the section is a part of this array's shape, and the only one while `self` is borrowed mutably.
        unsafe { self.view_mut().cut(section) }
    }

    /// The part of these sizes that begins at `origin`, to write; see [`part`](Self::part).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // The new positions of a cache, in the middle of it.
    /// type New = shape!(f32[<=64,128]{1,0:T(8,128)});
    /// let mut cache = Buffer::<shape!(f32[1024,128]{1,0:T(8,128)})>::zeroed();
    /// let new = Buffer::<New>::filled_with(New::with_sizes([24, 128])?, 1.0)?;
    /// cache.part_mut::<New>([512, 0], new.sizes()).apply_with(&new, |_, new| new);
    /// assert_eq!((cache[[511, 0]], cache[[512, 0]], cache[[535, 127]], cache[[536, 0]]), (0.0, 1.0, 1.0, 0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// As [`part`](Self::part).
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn part_mut<P>(&mut self, origin: S::Index, sizes: S::Index) -> ViewMut<'_, Section<S, P, Ranges>>
    where
        P: WholeArray<Element = S::Element, Index: SameRank<S::Index>>,
    {
        named_in_errors!(Self);
        const { assert_section::<S, P, Ranges>() };
        let section = Section::at(self.shape(), &ranges_from::<S>(origin, sizes));
        assert_sizes(section);
        // SAFETY: the section is a part of this array's shape, and the only one while `self` is borrowed mutably.
        unsafe { self.view_mut().cut(section) }
    }
}

/// The ranges of these sizes from the origin on. One that overflows is out of bounds of every dimension.
#[inline(always)]
fn ranges_from<S: ArrayType>(origin: S::Index, sizes: S::Index) -> [Range<usize>; MAX_LIST] {
    let mut ranges = [const { 0..0 }; MAX_LIST];
    let pairs = origin.as_ref().iter().zip(sizes.as_ref());
    ranges.iter_mut().zip(pairs).for_each(|(range, (&start, &size))| *range = start..start.saturating_add(size));
    ranges
}

/// The ranges of one index in one dimension, and of all others whole.
#[inline(always)]
fn one_index<S: ArrayType>(dimension: usize, index: usize, shape: S) -> [Range<usize>; MAX_LIST] {
    let mut ranges = [const { 0..0 }; MAX_LIST];
    ranges.iter_mut().zip(shape.sizes().as_ref()).for_each(|(range, &size)| *range = 0..size);
    ranges[dimension] = index.range(0);
    ranges
}

/// Whether the elements lie as in an array of the shape that has its memory for itself: it is one, or a section that is one stretch of memory.
const fn is_laid_out_as_array<S: ArrayType>() -> bool {
    if S::IS_WHOLE_ARRAY {
        return true;
    }
    match StaticStrideTable::from_dimensions(S::DIMENSIONS, S::LAYOUT) {
        Ok(table) => {
            let (own, array) = (S::STRIDE_TABLE.with_extents(&[]), table.with_extents(&[]));
            S::IS_STATIC && own.positions() == array.positions() && own.is_same_map(array)
        }
        Err(_) => false,
    }
}

/// Fails the compilation if a section is not one stretch of memory, laid out as an array of its shape.
#[track_caller]
const fn assert_stretch<S: ArrayType, P: StaticArray<Element = S::Element>, K: Fixed<S>>() {
    let problem = ConstText::<1024>::new().push_str("expected a section ");
    if !S::IS_WHOLE_ARRAY && !S::IS_STATIC {
        let problem = problem.push_str("of an array whose last blocks are not smaller, found one of a block ");
        panic!("{}", problem.push_str(S::TEXT).as_str())
    }
    // A fixed dimension that is the most major one leaves the array's own map.
    let (own, array) = (Section::<S, P, K>::TABLE_OF_SECTION.with_extents(&[]), P::STRIDE_TABLE.with_extents(&[]));
    let is_plain = P::BYTES as u64 == P::STRIDE_TABLE.positions().saturating_mul(P::SHAPE.element_bits()).div_ceil(8);
    if is_plain && own.positions() == array.positions() && own.is_same_map(array) {
        return;
    }
    if !is_laid_out_as_array::<S>() {
        let problem = problem.push_str("of an array that is one stretch of memory, found one of ").push_str(S::TEXT);
        panic!("{}", problem.push_str(", which is a part of another").as_str())
    }
    let (mut sizes, mut kept, mut i) = ([1; MAX_LIST], 0, 0);
    while i < S::NUM_DIMENSIONS {
        if !K::FIXED[i] {
            sizes[i] = P::SIZES[kept];
            kept += 1;
        }
        i += 1;
    }
    let n = S::NUM_DIMENSIONS;
    if let Some(reason) = slice_obstacle(S::SHAPE, [0; MAX_LIST].split_at(n).0, wide(sizes.split_at(n).0)) {
        panic!("{}", reason.as_str())
    }
}

impl<S: ArrayType, P: ArrayType<Element = S::Element>, K: Fixed<S>> Section<S, P, K> {
    const TABLE_OF_SECTION: &'static StaticStrideTable = <Self as ArrayType>::STRIDE_TABLE;

    /// The first byte, if the section begins at a whole one.
    #[inline(always)]
    fn first_byte(self) -> Option<usize> {
        let first = self.first * const { P::SHAPE.element_bits() as usize };
        first.is_multiple_of(8).then_some(first / 8)
    }
}

impl<'a, S, P, K> View<'a, Section<S, P, K>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element = S::Element>,
    K: Fixed<S>,
{
    /// The section as an array if it is one stretch of memory: with slices, tiles and free reshapes. `None` if it does not begin at a whole
    /// byte.
    ///
    /// A section that is not one stretch of memory does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{Buffer, View, layout, shape};
    ///
    /// type Head = shape!(f32[16,128]{1,0:T(8,128)});
    /// let x = Buffer::<shape!(f32[4,16,128]{2,1,0:T(8,128)})>::from_fn(|[head, ..]| head as f32);
    /// let head: View<Head> = x.index_axis::<0, layout!({1,0:T(8,128)})>(3).as_array().unwrap();
    /// assert_eq!(head.as_slice(), [3.0; 16 * 128]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_array(&self) -> Option<View<'a, P>> {
        named_in_errors!(Self);
        const { assert_stretch::<S, P, K>() };
        let first = self.shape().first_byte()?;
        if const { P::ELEMENTS == 0 } {
            return View::from_bytes(&[]).ok();
        }
        // SAFETY: the section has all elements of `P` (`IS_STATIC`: `S` is a whole array, or its sizes are those of its type) and is laid out as an array of that shape
        // (`assert_stretch`), so the `P::BYTES` bytes from its first element on are the array's. If elements share bytes, the last one may have an
        // element of the neighbour too. Nobody writes it while the view lives: such arrays are not divided into parts to write
        // (`assert_whole_elements`).
        View::from_bytes(unsafe { self.bytes_from(first, P::BYTES) }).ok()
    }
}

impl<S, P, K> ViewMut<'_, Section<S, P, K>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element = S::Element>,
    K: Fixed<S>,
{
    /// The section as an array to write, if it is one stretch of memory; see [`as_array`](View::as_array). `None` if it does not begin and end
    /// at whole bytes.
    ///
    /// ```
    /// use xla_shape::{Buffer, layout, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[4,16,128]{2,1,0:T(8,128)})>::zeroed();
    /// let mut head = x.index_axis_mut::<0, layout!({1,0:T(8,128)})>(3);
    /// head.as_array_mut().unwrap().line_mut::<-1>([5, 0]).unwrap().apply(|_| 1.0);
    /// assert_eq!((x[[3, 5, 127]], x[[3, 6, 0]]), (1.0, 0.0));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_array_mut(&mut self) -> Option<ViewMut<'_, P>> {
        named_in_errors!(Self);
        const { assert_stretch::<S, P, K>() };
        let first = self.shape().first_byte()?;
        if const { P::ELEMENTS == 0 } {
            return ViewMut::from_bytes(&mut []).ok();
        }
        if const { !(P::STRIDE_TABLE.positions() * P::SHAPE.element_bits()).is_multiple_of(8) } {
            return None;
        }
        // SAFETY: as in `as_array`. The bytes are the section's alone: it begins and ends at whole bytes, and what is between its elements is
        // padding of the tiles that it consists of (`assert_section`: no group of elements is cut).
        ViewMut::from_bytes(unsafe { self.bytes_from_mut(first, P::BYTES) }).ok()
    }
}
