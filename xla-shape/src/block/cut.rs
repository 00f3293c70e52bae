//! Borrowing blocks of an array.

use super::part::{BlockOf, Part, assert_block};
use crate::buffer::{Buffer, Bytes, BytesMut, Lends, View, ViewMut, Width, width_of};
use crate::element::Stored;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, Indices, StaticArray, WholeArray};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use xla_shape_core::bitcast::slice_obstacle;
use xla_shape_core::text::ConstText;
use xla_shape_core::type_limits::MAX_LIST;
use xla_shape_relayout::wide::wide;

#[cold]
#[inline(never)]
#[track_caller]
fn no_such_block(place: &[usize], grid: &[usize], text: &str) -> ! {
    panic!("place {place:?} is out of bounds for the grid {grid:?} of blocks {text}")
}

/// The block at a place of the grid. Panics if there is no such place.
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
    // SAFETY: the caller guarantees what `Part::at` requires.
    match unsafe { Part::at(whole, place) } {
        Some(part) => part,
        None => no_such_block(place.as_ref(), Part::<S, P>::grid(whole).as_ref(), P::TEXT),
    }
}

impl<S: ArrayType<Element: Stored>, B: Bytes> Buffer<S, B> {
    /// The block of shape `P` at a place of the grid; see the module [`block`](crate::block).
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
    /// If there is no such place in the grid.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn block<'s, 'b, P>(&'s self, place: S::Index) -> View<'b, Part<S, P::Shape>>
    where
        B: Lends<'s, 'b>,
        P: BlockOf<S>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, P::Shape>() };
        // SAFETY: `assert_block` has just been evaluated.
        let part = unsafe { part(self.shape(), place) };
        // SAFETY: `part` is a part of this array's shape; shared borrows may overlap.
        unsafe { self.lent().cut(part) }
    }

    /// All blocks of shape `P`, in row-major order of their places; see the module [`block`](crate::block).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[100,200])>::from_fn(|[i, j]| (i * j) as i32);
    /// let largest = x.blocks::<shape!(s32[64,64])>().map(|block| block.iter().max().unwrap());
    /// assert_eq!(largest.max(), Some(99 * 199));
    /// ```
    #[inline]
    pub fn blocks<'s, 'b, P>(&'s self) -> Blocks<S, P::Shape, View<'b, S>>
    where
        B: Lends<'s, 'b>,
        P: BlockOf<S>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, P::Shape>() };
        Blocks::new(self.shape(), self.lent())
    }

    /// The number of blocks of shape `P` in each dimension, including a last block with fewer elements.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.block_grid::<shape!(f32[8,128]{1,0:T(8,128)})>(), [3, 2]);
    /// ```
    #[must_use]
    #[inline]
    pub fn block_grid<P>(&self) -> S::Index
    where
        P: BlockOf<S>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, P::Shape>() };
        Part::<S, P::Shape>::grid(self.shape())
    }
}

impl<S: ArrayType<Element: Stored>, B: BytesMut> Buffer<S, B> {
    /// The block of shape `P` at a place of the grid, to write; see the module [`block`](crate::block).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::zeroed();
    /// x.block_mut::<shape!(f32[8,128]{1,0:T(8,128)})>([2, 1]).fill(1.0);
    /// assert_eq!((x[[16, 128]], x[[15, 128]]), (1.0, 0.0));
    /// ```
    ///
    /// # Panics
    /// If there is no such place in the grid.
    #[must_use]
    #[inline(always)]
    #[track_caller]
    pub fn block_mut<P>(&mut self, place: S::Index) -> ViewMut<'_, Part<S, P::Shape>>
    where
        P: BlockOf<S>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, P::Shape>() };
        // SAFETY: `assert_block` has just been evaluated.
        let part = unsafe { part(self.shape(), place) };
        // SAFETY: `part` is a part of this array's shape, and the only one while `self` is borrowed mutably.
        unsafe { self.view_mut().cut(part) }
    }

    /// All blocks of shape `P`, in row-major order of their places, to write. They do not overlap, so each can be sent to another thread.
    ///
    /// Elements must be whole: packed elements of two blocks may share a byte, and such blocks do not compile.
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
    pub fn blocks_mut<P>(&mut self) -> Blocks<S, P::Shape, ViewMut<'_, S>>
    where
        P: BlockOf<S>,
    {
        named_in_errors!(Self);
        const { assert_block::<S, P::Shape>() };
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

/// The blocks of an array, in row-major order of their places: an iterator. Made by [`blocks`](Buffer::blocks) and
/// [`blocks_mut`](Buffer::blocks_mut).
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(f32[20,200]{1,0:T(8,128)})>::filled(1.0);
/// let sizes: Vec<_> = x.blocks::<shape!(f32[8,128]{1,0:T(8,128)})>().map(|block| block.sizes()).collect();
/// assert_eq!(sizes[..2], [[8, 128], [8, 72]], "the last block of a row is smaller");
/// assert_eq!(sizes.len(), 3 * 2);
/// ```
pub struct Blocks<S: ArrayType, P, V> {
    places: Indices<S::Index>,
    whole: S,
    array: V,
    part: PhantomData<fn() -> P>,
}

/// Shows no elements: another thread may be writing some of them.
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
    /// The caller has evaluated `assert_block::<S, P>`.
    fn new(whole: S, array: V) -> Self {
        Self { places: Indices::new(Part::<S, P>::grid(whole)), whole, array, part: PhantomData }
    }
}

impl<S, P, V> Blocks<S, P, V>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Index = S::Index>,
{
    /// The shape of the array that is cut.
    pub(crate) fn whole(&self) -> S {
        self.whole
    }

    #[inline]
    fn next_part(&mut self) -> Option<Part<S, P>> {
        let place = self.places.next()?;
        // SAFETY: `blocks` and `blocks_mut`, the callers of `new`, evaluate `assert_block`.
        unsafe { Part::at(self.whole, place) }
    }
}

impl<'a, S, P> Iterator for Blocks<S, P, View<'a, S>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Index = S::Index>,
{
    type Item = View<'a, Part<S, P>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let part = self.next_part()?;
        // SAFETY: `part` is a part of this array's shape; shared borrows may overlap.
        Some(unsafe { self.array.cut(part) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<'a, S, P> Iterator for Blocks<S, P, ViewMut<'a, S>>
where
    S: ArrayType<Element: Stored>,
    P: StaticArray<Index = S::Index>,
{
    type Item = ViewMut<'a, Part<S, P>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let part = self.next_part()?;
        // SAFETY: each place comes once. Blocks at different places have no element and no padding in common, and their elements are whole
        // (`assert_whole_elements` in `blocks_mut`), so they have no byte in common. `array` itself is only used to make blocks.
        let array = unsafe { self.array.again() };
        // SAFETY: `part` is a part of this array's shape; no other block has an element or padding in common with it.
        Some(unsafe { array.cut(part) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<S: ArrayType, P, V> ExactSizeIterator for Blocks<S, P, V> where Self: Iterator {}
impl<S: ArrayType, P, V> FusedIterator for Blocks<S, P, V> where Self: Iterator {}

/// Fails the compilation if a block is not one stretch of memory, laid out as an array of its shape. A block that is larger than its array is
/// never full, so it may have any shape.
#[track_caller]
const fn assert_array<S: ArrayType, P: StaticArray>() {
    let (dimensions, mut i) = (S::SHAPE.dimensions(), 0);
    while i < dimensions.len() {
        if let Some(extent) = dimensions[i].extent()
            && extent < P::SIZES[i] as u64
        {
            return;
        }
        i += 1;
    }
    if let Some(reason) = slice_obstacle(S::SHAPE, [0; MAX_LIST].split_at(P::SIZES.len()).0, wide(P::SIZES)) {
        panic!("{}", reason.as_str())
    }
}

impl<'a, S, P> View<'a, Part<S, P>>
where
    S: WholeArray<Element: Stored>,
    P: StaticArray<Element: Stored, Index = S::Index>,
{
    /// The block as an array, if it is contiguous in memory. Such an array has slices, tiles and free transposes. `None` for a last block with
    /// fewer elements, and so for every block that is larger than the array.
    ///
    /// A call for blocks that are not contiguous does not compile; `cargo build` shows the error, `cargo check` does not.
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
        named_in_errors!(Self);
        const { assert_array::<S, P>() };
        let first = self.shape().first_byte()?;
        // SAFETY: the block is full and laid out as an array of its shape (`assert_array`), which has the elements of `S` (`Part`), so the
        // `P::BYTES` bytes from its first element on are all its own.
        View::from_bytes(unsafe { self.bytes_from(first, P::BYTES) }).ok()
    }
}

impl<S, P> ViewMut<'_, Part<S, P>>
where
    S: WholeArray<Element: Stored>,
    P: StaticArray<Element: Stored, Index = S::Index>,
{
    /// The block as an array to write, if it is one stretch of memory; see [`as_array`](View::as_array). `None` for a last block with fewer
    /// elements, and if the block does not begin and end at whole bytes.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Rows = shape!(f32[8,256]{1,0:T(8,128)});
    /// let mut x = Buffer::<shape!(f32[64,256]{1,0:T(8,128)})>::zeroed();
    /// x.block_mut::<Rows>([3, 0]).as_array_mut().unwrap().as_mut_slice().fill(1.0);
    /// assert_eq!((x[[23, 255]], x[[24, 0]], x[[31, 255]]), (0.0, 1.0, 1.0));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn as_array_mut(&mut self) -> Option<ViewMut<'_, P>> {
        named_in_errors!(Self);
        const { assert_array::<S, P>() };
        let first = self.shape().first_byte()?;
        if const { !(P::STRIDE_TABLE.positions() * P::SHAPE.element_bits()).is_multiple_of(8) } {
            return None;
        }
        // SAFETY: as in `as_array`; the block ends at a whole byte, too, so no other block has one of its bytes.
        ViewMut::from_bytes(unsafe { self.bytes_from_mut(first, P::BYTES) }).ok()
    }
}
