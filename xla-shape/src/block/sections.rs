//! Borrowing sections of an array.

use super::section::{DimensionSlice as _, Fixed, Ranges, Section, Slices, assert_section};
use crate::buffer::{Buffer, Bytes, BytesMut, Lends, View, ViewMut};
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{
    ArrayType, DimensionAt, LayoutType, MultiIndex as _, Nth, Reduced, SameRank, StaticArray, WholeArray, resolve,
};
use xla_shape_core::bitcast::slice_obstacle;
use xla_shape_core::map::StaticStrideTable;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_relayout::wide::wide;

/// The section with these indices. The caller has evaluated `assert_section::<S, P, K>`.
///
/// # Panics
/// As [`Section::at`], and if the sizes are not those of `P`.
#[inline(always)]
#[track_caller]
fn section_at<S, P, K>(whole: S, bounds: [S::Index; 2]) -> Section<S, P, K>
where
    S: ArrayType,
    P: WholeArray<Element = S::Element>,
    K: Fixed<S>,
{
    let section = Section::at(whole, bounds);
    if let Err(error) = P::with_sizes(section.sizes) {
        panic!("{error}")
    }
    section
}

/// The section with one index in dimension `N`. The caller has evaluated `assert_section`.
///
/// # Panics
/// If the index is out of bounds.
#[inline(always)]
#[track_caller]
fn one_index<S, P, const N: i64>(whole: S, index: usize) -> Section<S, P, Nth<N>>
where
    S: ArrayType,
    P: ArrayType<Element = S::Element>,
{
    let (mut starts, mut ends) = (S::Index::ORIGIN, whole.sizes());
    let (range, dimension) = (index.range(0), const { resolve(N, S::SHAPE) });
    starts.as_mut()[dimension] = range.start;
    ends.as_mut()[dimension] = range.end;
    Section::at(whole, [starts, ends])
}

/// The section with these sizes that begins at `origin`. The caller has evaluated `assert_section::<S, P, Ranges>`.
///
/// # Panics
/// As [`section_at`]. A range that overflows is out of bounds of every dimension.
#[inline(always)]
#[track_caller]
fn part_at<S, P>(whole: S, origin: S::Index, sizes: S::Index) -> Section<S, P, Ranges>
where
    S: ArrayType,
    P: WholeArray<Element = S::Element>,
{
    let mut ends = origin;
    ends.as_mut().iter_mut().zip(sizes.as_ref()).for_each(|(end, &size)| *end = end.saturating_add(size));
    section_at(whole, [origin, ends])
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The elements with one index in dimension `N` (-1 is the last), as an array of the other dimensions, in the same memory.
    ///
    /// `L` is the layout of that array: the order without the dimension, and the same tiles. A dimension that
    /// is in the tiles, or another layout, does not compile; that shows in `cargo build`. If the elements are contiguous in memory,
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
    /// // Also where heads lie between the rows of one, as in the result of a projection, [seq, heads · d].
    /// let x = Buffer::<shape!(f32[16,512])>::from_fn(|[_, column]| (column / 128) as f32);
    /// let x: View<shape!(f32[16,4,128])> = x.view().reshape();
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
        let section = one_index(self.shape(), index);
        // SAFETY: the section is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(section) }
    }

    /// An array `P` in the memory of this one, by a slice for each dimension: an index, a range, or all (`..`), as `submdspan` of C++ does.
    ///
    /// `P` has the dimensions that are not an index, in the array's order, with its tiles. A range begins and ends where the array's
    /// layout repeats, such as at edges of tiles, or at the array's end. If the size in `P` is static, the range has that size; `<=32` accepts ranges
    /// of up to 32 indices, `?` all.
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
    /// If an index or a range is out of bounds, or a range does not have the size of `P` or cuts a tile.
    #[doc(alias = "submdspan")]
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
        let section = section_at(self.shape(), slices.bounds(self.sizes()));
        // SAFETY: the section is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(section) }
    }

    /// The part of these sizes that begins at `origin`, in the same memory: a section with a range of each dimension. `P` has the array's layout,
    /// and bounds for the sizes.
    ///
    /// It begins and ends where the array's layout repeats, or at the array's end:
    ///
    /// - in general, at edges of tiles;
    /// - in an array that is one tile wide, such as `f32[64,128]{1,0:T(8,128)}`, at any row; if its tiles are packed, at any group of rows that
    ///   alternate.
    ///
    /// [`copy_window_to`](Self::copy_window_to) copies a part that begins elsewhere, and [`scatter_rows`](Self::scatter_rows) writes rows with any
    /// numbers.
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
        let section = part_at(self.shape(), origin, sizes);
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
        let section = one_index(self.shape(), index);
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
        let section = section_at(self.shape(), slices.bounds(self.sizes()));
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
        let section = part_at(self.shape(), origin, sizes);
        // SAFETY: the section is a part of this array's shape, and the only one while `self` is borrowed mutably.
        unsafe { self.view_mut().cut(section) }
    }
}

/// Whether the elements lie in memory as in a whole array with the dimensions and the layout of `S`. They do if `S` is a whole array, or a section
/// that is one stretch of memory.
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
const fn assert_stretch<S: ArrayType, P: StaticArray, K: Fixed<S>>() {
    let problem = ConstText::<1024>::new().push_str("expected a section ");
    if !S::IS_WHOLE_ARRAY && !S::IS_STATIC {
        let problem = problem.push_str("of an array whose last blocks are not smaller, found one of a block ");
        panic!("{}", problem.push_str(S::TEXT).as_str())
    }
    // If the fixed dimensions are the most major ones, the section has the map of an array `P`.
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

impl<S: ArrayType, P: ArrayType, K: Fixed<S>> Section<S, P, K> {
    const TABLE_OF_SECTION: &'static StaticStrideTable = <Self as ArrayType>::STRIDE_TABLE;

    /// The number of the section's first byte, if the section begins at a whole byte.
    #[inline(always)]
    fn first_byte(self) -> Option<usize> {
        let first = self.first * const { P::SHAPE.element_bits() as usize };
        first.is_multiple_of(8).then_some(first / 8)
    }
}

impl<'a, S, P, K> View<'a, Section<S, P, K>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element: Stored>,
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
        // SAFETY: `P` has the element type of `S` (`Section::at`). The section has all elements of `P` (`IS_STATIC`: `S` is a whole array, or its
        // sizes are those of its type) and is laid out as an array of that shape (`assert_stretch`), so the `P::BYTES` bytes from its first
        // element on are the array's. If elements share bytes, the last byte may also hold an element of the neighbour. Nobody writes that byte
        // while the view lives: such arrays are not divided into parts to write (`assert_whole_elements`).
        View::from_bytes(unsafe { self.bytes_from(first, P::BYTES) }).ok()
    }
}

impl<S, P, K> ViewMut<'_, Section<S, P, K>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element: Stored>,
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
