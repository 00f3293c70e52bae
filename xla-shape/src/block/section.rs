//! The shape of a section: an array of fewer dimensions, or of ranges, in the memory of a larger one.

use super::part::{period_obstacle, with_sizes};
#[cfg(doc)]
use crate::buffer::Buffer;
use crate::sealed::{Sealed, for_each_arity};
use crate::types::{ArrayType, MultiIndex, Nth, resolve, takes};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Range, RangeFull};
use xla_shape_core::bitcast::section_obstacle;
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_core::{ArrayShape, Dimension};

/// The shape of a section: an array `P` in the memory of one of shape `S`. `K` says which dimensions of `S` are fixed at an index.
///
/// Made by [`section`](crate::Buffer::section), [`index_axis`](crate::Buffer::index_axis) and [`part`](crate::Buffer::part). They require that
/// `P` has the element type of `S`; as for a [`Part`](super::Part), the `impl`s for `Section` do not repeat this bound.
pub struct Section<S: ArrayType, P: ArrayType, K> {
    whole: S,
    /// The index of the first element in the array.
    origin: S::Index,
    /// The position of the first element in memory.
    pub(super) first: usize,
    pub(super) sizes: P::Index,
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

/// The dimensions of an array of shape `S` that have a fixed index in a section: an [`Nth`] names one dimension, and a tuple of slices names any
/// number of them.
///
/// ```
/// use std::ops::{Range, RangeFull};
/// use xla_shape::block::Fixed;
/// use xla_shape::shape;
/// use xla_shape::types::Nth;
///
/// type X = shape!(f32[4,64,256]{2,1,0:T(8,128)});
/// assert_eq!(<(usize, Range<usize>, RangeFull) as Fixed<X>>::FIXED[..3], [true, false, false]);
/// assert_eq!(<Nth<-1> as Fixed<X>>::FIXED[..3], [false, false, true]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have one slice for each dimension of `{S}`",
    label = "expected a tuple with an index, a range `a..b` or `..` for each dimension"
)]
pub trait Fixed<S: ArrayType>: 'static + Sealed {
    /// Whether each dimension is fixed; entries after the last dimension are `false`.
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

/// Marks a section that has a range of each dimension, as [`part`](Buffer::part) returns it.
///
/// ```
/// use xla_shape::block::{Ranges, Section};
/// use xla_shape::{Buffer, View, shape};
///
/// type X = shape!(f32[64,256]{1,0:T(8,128)});
/// type Rows = shape!(f32[<=64,256]{1,0:T(8,128)});
/// fn first_rows(x: &Buffer<X>, rows: usize) -> View<'_, Section<X, Rows, Ranges>> {
///     x.part::<Rows>([0, 0], [rows, 256])
/// }
/// assert_eq!(first_rows(&Buffer::filled(1.0), 16).iter().sum::<f32>(), 16.0 * 256.0);
/// ```
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
        // For `usize::MAX`, the range is empty. It is still refused, because it ends out of bounds of every dimension.
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
///
/// ```
/// use xla_shape::block::Slices;
/// use xla_shape::{Buffer, View, shape};
///
/// type X = shape!(f32[4,64,256]{2,1,0:T(8,128)});
/// fn sum<K: Slices<X>>(x: View<X>, slices: K) -> f32 {
///     x.section::<shape!(f32[?,256]{1,0:T(8,128)}), K>(slices).iter().sum()
/// }
///
/// let x = Buffer::<X>::filled(1.0);
/// assert_eq!(sum(x.view(), (2, 32..48, ..)), 16.0 * 256.0);
/// assert_eq!(sum(x.view(), (3, .., ..)), 64.0 * 256.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not have one slice for each dimension of `{S}`",
    label = "expected a tuple with an index, a range `a..b` or `..` for each dimension"
)]
pub trait Slices<S: ArrayType>: Fixed<S> {
    /// The first index in each dimension of these sizes, and the one after the last; not checked.
    #[doc(hidden)]
    fn bounds(self, sizes: S::Index) -> [S::Index; 2];
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
            fn bounds(self, sizes: S::Index) -> [S::Index; 2] {
                let [$($t),*] = sizes;
                $(let $t = self.$i.range($t);)*
                [[$($t.start),*], [$($t.end),*]]
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
            "the range {range:?} cuts dimension {dimension} inside of a group of {period}; expected multiples of it, or all \
             (`copy_window_to` copies a part that begins anywhere, `scatter_rows` writes any rows)"
        ),
        None => panic!("dimension {dimension} can only be taken whole, found the range {range:?}"),
    }
}

impl<S: ArrayType, P: ArrayType, K: Fixed<S>> Section<S, P, K> {
    const IS_FIXED: &'static [bool] = K::FIXED.split_at(S::NUM_DIMENSIONS).0;

    /// The dimensions of the memory that the section keeps. A range whose size is known only at run time does not count as the whole
    /// dimension, even if it may be. Otherwise code that walks along the section would use the size of the whole dimension.
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

    /// The section of the indices from `starts` up to, but not including, `ends`. The caller has evaluated `assert_section::<S, P, K>`.
    ///
    /// # Panics
    /// If a range is out of bounds, or cuts elements that are laid out together.
    #[inline(always)]
    #[track_caller]
    pub(super) fn at(whole: S, [starts, ends]: [S::Index; 2]) -> Self
    where
        P: ArrayType<Element = S::Element>,
    {
        let (mut sizes, all) = (S::Index::ORIGIN, whole.sizes());
        for (dimension, &size) in all.as_ref().iter().enumerate() {
            let range = starts.as_ref()[dimension]..ends.as_ref()[dimension];
            let is_index = const { K::FIXED }[dimension];
            if range.start > range.end || range.end > size || is_index && range.start == size {
                not_inside(dimension, &range, is_index, size);
            }
            if !is_index && range != (0..size) {
                let period = S::STRIDE_TABLE.with_extents(&[]).period(dimension);
                let is_multiple = |number: usize| period.is_some_and(|period| (number as u64).is_multiple_of(period));
                if !(is_multiple(range.start) && (is_multiple(range.end) || range.end == size)) {
                    cuts_a_group(dimension, &range, period);
                }
            }
            sizes.as_mut()[dimension] = range.end - range.start;
        }
        let first = whole.linear_index_of(starts);
        Self { whole, origin: starts, first, sizes: Self::kept(sizes), section: PhantomData }
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
// stride table's period; a fixed dimension has a period (`StaticStrideTable::section`), so that a position is a function of the fixed index, plus a
// function of the other indices. By the law of `S`, the sum is the position of an element, and different indices have different positions.
unsafe impl<S, P, K> ArrayType for Section<S, P, K>
where
    S: ArrayType,
    P: ArrayType,
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
    // If `S` is a block, it may be a last one, which is smaller than its type.
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
        with_sizes(P::SHAPE, self.sizes().as_ref())
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
pub(super) const fn assert_section<S: ArrayType, P: ArrayType, K: Fixed<S>>() {
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
