//! Taking blocks out of an array.

use super::part::{Part, assert_block};
use crate::buffer::{Buffer, Bytes, BytesMut, Lender, View, ViewMut, Width, width_of};
use crate::element::Stored;
use crate::types::{ArrayType, Indices, StaticArray, WholeArray};
use crate::wide::wide;
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use xla_shape_core::bitcast::slice_obstacle;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;

#[cold]
#[inline(never)]
#[track_caller]
fn no_such_block(place: &[usize], grid: &[usize], text: &str) -> ! {
    panic!("place {place:?} is out of bounds for the grid {grid:?} of blocks {text}")
}

/// The block at a place.
///
/// # Safety
/// As [`Part::at`].
#[inline(always)]
#[track_caller]
pub(super) unsafe fn part<S, P>(whole: S, place: S::Index) -> Part<S, P>
where
    S: ArrayType,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    // SAFETY: as the caller promises.
    match unsafe { Part::at(whole, place) } {
        Some(part) => part,
        None => no_such_block(place.as_ref(), Part::<S, P>::grid(whole).as_ref(), P::TEXT),
    }
}

impl<'a, S: ArrayType<Element: Stored>> View<'a, S> {
    /// The block of shape `P` at a place of the grid, for as long as the memory is borrowed; see [`block`](crate::block).
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn block<P>(&self, place: S::Index) -> View<'a, Part<S, P>>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        // SAFETY: that has been asked.
        let part = unsafe { part(self.shape(), place) };
        // SAFETY: a part of this array.
        unsafe { self.cut(part) }
    }

    /// All blocks of shape `P`, in row-major order of their places, for as long as the memory is borrowed; see
    /// [`block`](crate::block).
    #[inline]
    pub fn blocks<P>(&self) -> Blocks<S, P, Self>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        Blocks::new(self.shape(), *self)
    }
}

impl<S: ArrayType<Element: Stored>, B: Lender> Buffer<S, B> {
    /// The block of shape `P` at a place of the grid; see [`block`](crate::block).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // The last blocks have fewer elements.
    /// let x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::filled(1.0);
    /// let last = x.block::<shape!(f32[8,128]{1,0:T(8,128)})>([2, 1]);
    /// assert_eq!(last.sizes(), [4, 72]);
    /// assert_eq!(last.iter().sum::<f32>(), 4.0 * 72.0);
    /// ```
    ///
    /// ```compile_fail
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    /// x.block::<shape!(f32[4,128]{1,0:T(8,128)})>([1, 0]); // inside of a tile
    /// ```
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn block<P>(&self, place: S::Index) -> View<'_, Part<S, P>>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        // SAFETY: that has been asked.
        let part = unsafe { part(self.shape(), place) };
        // SAFETY: a part of this array.
        unsafe { self.view().cut(part) }
    }

    /// All blocks of shape `P`, in row-major order of their places; see [`block`](crate::block).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[100,200])>::from_fn(|[i, j]| (i * j) as i32);
    /// let largest = x.blocks::<shape!(s32[64,64])>().map(|block| block.iter().max().unwrap());
    /// assert_eq!(largest.max(), Some(99 * 199));
    /// ```
    #[inline]
    pub fn blocks<P>(&self) -> Blocks<S, P, View<'_, S>>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        Blocks::new(self.shape(), self.view())
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// How many blocks of shape `P` the array has in each dimension, the last ones included.
    #[must_use]
    #[inline]
    pub fn block_grid<P>(&self) -> S::Index
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        Part::<S, P>::grid(self.shape())
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// The block of shape `P` at a place of the grid, to write; see [`block`](crate::block).
    ///
    /// # Panics
    /// If there is no such place.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn block_mut<P>(&mut self, place: S::Index) -> ViewMut<'_, Part<S, P>>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        // SAFETY: that has been asked.
        let part = unsafe { part(self.shape(), place) };
        // SAFETY: a part of this array.
        unsafe { self.view_mut().cut(part) }
    }

    /// All blocks of shape `P`, in row-major order of their places, to write. They do not overlap, so each can go to another
    /// thread.
    ///
    /// Elements must be whole: packed ones share bytes, and such blocks do not compile.
    ///
    /// ```
    /// use xla_shape::{Buffer, ViewMut, shape};
    /// use xla_shape::types::ArrayType;
    /// use xla_shape::element::F32;
    ///
    /// fn negate<S: ArrayType<Element = F32>>(mut x: ViewMut<S>) { x.apply(|x| -x) }
    ///
    /// let mut x = Buffer::<shape!(f32[32,256]{1,0:T(8,128)})>::filled(1.0);
    /// let blocks: Vec<_> = x.blocks_mut::<shape!(f32[16,128]{1,0:T(8,128)})>().collect();
    /// std::thread::scope(|threads| {
    ///     blocks.into_iter().for_each(|block| drop(threads.spawn(|| negate(block))));
    /// });
    /// assert_eq!(x.as_slice(), [-1.0; 32 * 256]);
    /// ```
    #[inline]
    pub fn blocks_mut<P>(&mut self) -> Blocks<S, P, ViewMut<'_, S>>
    where
        P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
    {
        const { assert_block::<S, P>() };
        const { assert_whole_elements::<S>() };
        Blocks::new(self.shape(), self.view_mut())
    }
}

/// Fails the compilation if elements are packed bits.
#[track_caller]
const fn assert_whole_elements<S: ArrayType<Element: Stored>>() {
    if !matches!(width_of::<S>(), Width::Whole) {
        let problem =
            ConstText::<1024>::new().push_str("expected whole elements, found packed ones, of which two blocks ");
        panic!("{}", problem.push_str("may share a byte: ").push_str(S::TEXT).push_str("; use `block_mut`").as_str())
    }
}

/// The blocks of an array, in row-major order of their places. Made by [`blocks`](Buffer::blocks) and
/// [`blocks_mut`](Buffer::blocks_mut).
pub struct Blocks<S: ArrayType, P, V> {
    places: Indices<S::Index>,
    whole: S,
    array: V,
    part: PhantomData<fn() -> P>,
}

/// Shows no elements: some may be another thread's by now.
impl<S: ArrayType, P, V> fmt::Debug for Blocks<S, P, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("places", &self.places).field("whole", &self.whole).finish_non_exhaustive()
    }
}

impl<S, P, V> Blocks<S, P, V>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    /// `assert_block` must have been asked.
    fn new(whole: S, array: V) -> Self {
        Self { places: Indices::new(Part::<S, P>::grid(whole)), whole, array, part: PhantomData }
    }

    #[inline]
    fn next_part(&mut self) -> Option<Part<S, P>> {
        let place = self.places.next()?;
        // SAFETY: the functions that make the iterator have asked `assert_block`.
        unsafe { Part::at(self.whole, place) }
    }
}

impl<'a, S, P> Iterator for Blocks<S, P, View<'a, S>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    type Item = View<'a, Part<S, P>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let part = self.next_part()?;
        // SAFETY: a part of this array.
        Some(unsafe { self.array.cut(part) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<'a, S, P> Iterator for Blocks<S, P, ViewMut<'a, S>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    type Item = ViewMut<'a, Part<S, P>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let part = self.next_part()?;
        // SAFETY: every place comes once; blocks at different places have no element and no padding in common, and whole
        // elements have no byte in common.
        let array = unsafe { self.array.again() };
        // SAFETY: a part of this array.
        Some(unsafe { array.cut(part) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<S: ArrayType, P, V> ExactSizeIterator for Blocks<S, P, V> where Self: Iterator {}
impl<S: ArrayType, P, V> FusedIterator for Blocks<S, P, V> where Self: Iterator {}

/// Fails the compilation if a block is not one stretch of memory, laid out as an array of its shape.
#[track_caller]
const fn assert_array<S: ArrayType, P: StaticArray>() {
    if let Some(reason) = slice_obstacle(S::SHAPE, [0; MAX_LIST].split_at(P::SIZES.len()).0, wide(P::SIZES)) {
        panic!("{}", reason.as_str())
    }
}

impl<'a, S, P> View<'a, Part<S, P>>
where
    S: WholeArray<Element: Stored>,
    P: StaticArray<Element = S::Element, Layout = S::Layout, Index = S::Index>,
{
    /// The block as an array, if it is one stretch of memory: with slices, tiles and free transposes. `None` for a
    /// last block that has fewer elements.
    ///
    /// A block that is not one stretch of memory does not compile; that shows in `cargo build`, not in `cargo check`.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[8,256]{1,0:T(8,128)});
    /// let x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32);
    /// let rows = x.block::<Rows>([3, 0]).as_array().unwrap();
    /// assert_eq!(rows.as_slice()[0], 24.0);
    /// assert_eq!(rows.as_tiles::<[[f32; 128]; 8]>().len(), 2);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_array(&self) -> Option<View<'a, P>> {
        const { assert_array::<S, P>() };
        let part = self.shape();
        let first = part.first_position() * const { P::SHAPE.element_bits() as usize };
        if !part.is_full() || !first.is_multiple_of(8) {
            return None;
        }
        // SAFETY: a full block that is laid out as an array of its shape has the bytes of one.
        View::from_bytes(unsafe { self.bytes_from(first / 8, P::BYTES) }).ok()
    }
}
