//! The windows around the blocks of an array, in their order.

use super::window::{Border, WindowError, copy_part};
use crate::buffer::{Buffer, Bytes, Lends, View, assert_whole};
use crate::element::{Plain, Stored};
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, Indices, MultiIndex, SameRank, StaticArray, ValueOf, same_index};
use std::fmt;
use std::iter::FusedIterator;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, PoisonError};
use xla_shape_core::text::ConstText;

/// The memory of dropped windows, which later windows reuse.
type Spare<W> = Arc<Mutex<Vec<Buffer<W>>>>;

/// A window around a block: a copy of the block and of what lies around it, in an array of shape `W`. Made by
/// [`windows`](Buffer::windows).
///
/// It is a [`Buffer`], by `Deref`. When it is dropped, a later window takes its memory.
pub struct Window<W: StaticArray> {
    /// `None` only while it is dropped.
    elements: Option<Buffer<W>>,
    origin: W::Index,
    spare: Spare<W>,
}

impl<W: StaticArray> Window<W> {
    /// The index of the block's first element in the array.
    ///
    /// ```
    /// use xla_shape::block::Border;
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[4,6])>::zeroed();
    /// let windows = x.windows::<shape!(s32[2,3]), shape!(s32[4,5])>(Border::Clamp)?;
    /// assert!(windows.map(|window| window.origin()).eq([[0, 0], [0, 3], [2, 0], [2, 3]]));
    /// # Ok::<(), xla_shape::block::WindowError>(())
    /// ```
    #[must_use]
    pub fn origin(&self) -> W::Index {
        self.origin
    }
}

impl<W: StaticArray> fmt::Debug for Window<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "window {} at {:?}", W::TEXT, self.origin)
    }
}

impl<W: StaticArray> Deref for Window<W> {
    type Target = Buffer<W>;

    #[inline]
    fn deref(&self) -> &Buffer<W> {
        match &self.elements {
            Some(elements) => elements,
            None => unreachable!("only `drop` takes the elements"),
        }
    }
}

impl<W: StaticArray> DerefMut for Window<W> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Buffer<W> {
        match &mut self.elements {
            Some(elements) => elements,
            None => unreachable!("only `drop` takes the elements"),
        }
    }
}

impl<W: StaticArray> Drop for Window<W> {
    fn drop(&mut self) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(self.elements.take());
    }
}

/// The windows around the blocks of an array: an iterator. Made by [`windows`](Buffer::windows).
///
/// ```
/// use xla_shape::block::Border;
/// use xla_shape::{Buffer, shape};
///
/// // The largest element of each pair and its neighbours.
/// let x = Buffer::<shape!(s32[6])>::from_fn(|[i]| i as i32);
/// let windows = x.windows::<shape!(s32[2]), shape!(s32[4])>(Border::Clamp)?;
/// assert!(windows.map(|window| window.iter().max().unwrap()).eq([2, 4, 5]));
/// # Ok::<(), xla_shape::block::WindowError>(())
/// ```
pub struct Windows<'a, S: ArrayType<Element: Plain>, P, W: StaticArray> {
    array: View<'a, S>,
    places: Indices<S::Index>,
    halo: S::Index,
    border: Border<ValueOf<S>>,
    copy: CopyWindow<'a, S, W>,
    spare: Spare<W>,
    block: PhantomData<fn() -> P>,
}

/// [`copy_part`] of these types. Only the functions that make the iterator require `S` and `W` to have the same elements, so that a wrong `W` causes
/// only one error.
type CopyWindow<'a, S, W> =
    fn(&View<'a, S>, &mut Buffer<W>, [<S as ArrayType>::Index; 2], Border<ValueOf<S>>) -> Result<(), WindowError>;

impl<S: ArrayType<Element: Plain>, P, W: StaticArray> fmt::Debug for Windows<'_, S, P, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windows").field("places", &self.places).field("halo", &self.halo).finish_non_exhaustive()
    }
}

impl<S, P, W> Iterator for Windows<'_, S, P, W>
where
    S: ArrayType<Element: Plain>,
    P: StaticArray,
    W: StaticArray<Element: Stored>,
{
    type Item = Window<W>;

    fn next(&mut self) -> Option<Window<W>> {
        let mut origin = self.places.next()?;
        origin.as_mut().iter_mut().zip(P::SIZES).for_each(|(entry, size)| *entry *= size);
        // Dropped windows return their memory to the list that all windows share, so a loop that drops each window needs the memory of only one
        // window.
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut elements = spare.unwrap_or_else(Buffer::zeroed);
        let copied = (self.copy)(&self.array, &mut elements, [origin, self.halo], self.border);
        copied.expect("`windows` checks all places");
        // All three arrays have the same index type: the functions that make the iterator require it, but its type does not repeat that.
        Some(Window { elements: Some(elements), origin: same_index(origin), spare: Arc::clone(&self.spare) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.places.size_hint()
    }
}

impl<S: ArrayType<Element: Plain>, P, W: StaticArray> ExactSizeIterator for Windows<'_, S, P, W> where Self: Iterator {}
impl<S: ArrayType<Element: Plain>, P, W: StaticArray> FusedIterator for Windows<'_, S, P, W> where Self: Iterator {}

/// Fails the compilation if windows `W` of an array `S` cannot be copied or do not hold blocks `P`. With `is_even`, a window must have as
/// many elements before its block as after it.
#[track_caller]
const fn assert_window<S, P, W>(is_even: bool)
where
    S: ArrayType<Element: Plain>,
    P: StaticArray,
    W: StaticArray<Element = S::Element>,
{
    assert_whole::<S>();
    assert_whole::<W>();
    let mut d = 0;
    while d < P::SIZES.len() {
        let (block, window) = (P::SIZES[d], W::SIZES[d]);
        let text = ConstText::<1024>::new().push_str(W::TEXT).push_str(" is not a window around ").push_str(P::TEXT);
        let text = text.push_str(": dimension ").push_count(d);
        if block == 0 {
            panic!("{}", text.push_str(" of the block has size 0").as_str())
        }
        if window < block {
            let text = text.push_str(" has ").push_count(window).push_str(" elements; expected those of the block, ");
            panic!("{}", text.push_count(block).push_str(", and the ones around it").as_str())
        }
        if is_even && (window - block) % 2 > 0 {
            let text = text
                .push_str(" has ")
                .push_count(window - block)
                .push_str(" more; expected an even number, half on each side, or ");
            panic!("{}", text.push_str("`windows_with_halo`").as_str())
        }
        d += 1;
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The windows around the blocks of shape `P`, in the order of [`blocks`](Self::blocks) and [`blocks_mut`](Self::blocks_mut): copies of each
    /// block with the elements around it, in arrays of shape `W`. In each dimension, as many elements are added before the block as after it.
    ///
    /// Windows are copies: read them while you write the blocks of another array. `border` says what a window holds beyond the end of the array,
    /// also after a last block with fewer elements. `P` and `W` may have any layouts; give `P` the layout of the array
    /// whose blocks you write. A new window reuses the memory of a dropped one.
    ///
    /// ```
    /// use xla_shape::block::Border;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Whole = shape!(f32[64,256]{1,0:T(8,128)});
    /// type Block = shape!(f32[8,128]{1,0:T(8,128)});
    /// let x = Buffer::<Whole>::from_fn(|[i, j]| (i * j) as f32);
    /// let mut y = Buffer::<Whole>::zeroed();
    /// for (x, mut y) in x.windows::<Block, shape!(f32[10,130])>(Border::Clamp)?.zip(y.blocks_mut::<Block>()) {
    ///     for i in 0..8 {
    ///         let [above, row, below] = [i, i + 1, i + 2].map(|i| x.line::<-1>([i, 0]).unwrap());
    ///         let mut out = y.line_mut::<-1>([i, 0]).unwrap();
    ///         for j in 0..128 {
    ///             out[j] = above[j + 1] + below[j + 1] + row[j] + row[j + 2] - 4.0 * row[j + 1];
    ///         }
    ///     }
    /// }
    /// assert_eq!((y[[30, 127]], y[[0, 0]], y[[63, 7]]), (0.0, 0.0, -7.0));
    /// # Ok::<(), xla_shape::block::WindowError>(())
    /// ```
    ///
    /// A window may be as large as its block. It then has no halo, as in max pooling over blocks of two by two:
    ///
    /// ```
    /// use xla_shape::block::Border;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Pair = shape!(s32[2,2]);
    /// let x = Buffer::<shape!(s32[6,8]{0,1})>::from_fn(|[i, j]| (i * j) as i32);
    /// let mut y = Buffer::<shape!(s32[3,4])>::zeroed();
    /// for window in x.windows::<Pair, Pair>(Border::None)? {
    ///     let [i, j] = window.origin();
    ///     y[[i / 2, j / 2]] = window.iter().max().unwrap();
    /// }
    /// assert_eq!((y[[0, 0]], y[[2, 3]]), (1, 35));
    /// # Ok::<(), xla_shape::block::WindowError>(())
    /// ```
    ///
    /// ```compile_fail
    /// # use xla_shape::block::Border;
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[64,256])>::zeroed();
    /// let _ = x.windows::<shape!(f32[8,128]), shape!(f32[9,128])>(Border::Clamp); // one more: on which side?
    /// ```
    ///
    /// # Errors
    /// If a window reaches beyond the array and the border is [`Border::None`]. An array without elements has no blocks, and no windows.
    #[inline]
    pub fn windows<'s, 'b, P, W>(&'s self, border: Border<ValueOf<S>>) -> Result<Windows<'b, S, P, W>, WindowError>
    where
        B: Lends<'s, 'b>,
        P: StaticArray<Index: SameRank<S::Index>>,
        W: StaticArray<Element = S::Element, Index: SameRank<S::Index>>,
    {
        named_in_errors!(Self);
        const { assert_window::<S, P, W>(true) };
        let mut halo = S::Index::ORIGIN;
        let sizes = P::SIZES.iter().zip(W::SIZES);
        halo.as_mut().iter_mut().zip(sizes).for_each(|(halo, (block, window))| *halo = (window - block) / 2);
        windows_of(self.lent(), halo, border)
    }

    /// The windows around the blocks of shape `P`, each of which begins `halo` elements before its block; see [`windows`](Self::windows).
    ///
    /// ```
    /// use xla_shape::block::Border;
    /// use xla_shape::{Buffer, shape};
    ///
    /// // Each element and the two before it.
    /// type Block = shape!(s32[5]);
    /// let x = Buffer::<shape!(s32[10])>::from_fn(|[i]| i as i32);
    /// let mut y = Buffer::<shape!(s32[10])>::zeroed();
    /// for (x, mut y) in x.windows_with_halo::<Block, shape!(s32[7])>([2], Border::Value(0))?.zip(y.blocks_mut::<Block>()) {
    ///     for i in 0..5 {
    ///         y[[i]] = x[[i]] + x[[i + 1]] + x[[i + 2]];
    ///     }
    /// }
    /// assert_eq!(y.as_slice(), [0, 1, 3, 6, 9, 12, 15, 18, 21, 24]);
    /// # Ok::<(), xla_shape::block::WindowError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`windows`](Self::windows). Also if a window does not hold its block: if `halo` is more than the size of `W`
    /// minus the size of `P`.
    #[inline]
    pub fn windows_with_halo<'s, 'b, P, W>(
        &'s self,
        halo: S::Index,
        border: Border<ValueOf<S>>,
    ) -> Result<Windows<'b, S, P, W>, WindowError>
    where
        B: Lends<'s, 'b>,
        P: StaticArray<Index: SameRank<S::Index>>,
        W: StaticArray<Element = S::Element, Index: SameRank<S::Index>>,
    {
        named_in_errors!(Self);
        const { assert_window::<S, P, W>(false) };
        for (dimension, &halo) in halo.as_ref().iter().enumerate() {
            let (block, window) = (P::SIZES[dimension], W::SIZES[dimension]);
            if halo > window - block {
                return Err(WindowError::WithoutBlock { dimension, halo, block, window });
            }
        }
        windows_of(self.lent(), halo, border)
    }
}

/// The caller has checked that the windows hold their blocks.
fn windows_of<'b, S, P, W>(
    array: View<'b, S>,
    halo: S::Index,
    border: Border<ValueOf<S>>,
) -> Result<Windows<'b, S, P, W>, WindowError>
where
    S: ArrayType<Element: Plain>,
    P: StaticArray,
    W: StaticArray<Element = S::Element>,
{
    let sizes = array.sizes();
    let mut grid = sizes;
    grid.as_mut().iter_mut().zip(P::SIZES).for_each(|(count, &block)| *count = count.div_ceil(block));
    let places = Indices::new(grid);
    if matches!(border, Border::None) && places.len() > 0 {
        for (dimension, &size) in sizes.as_ref().iter().enumerate() {
            let (halo, window) = (halo.as_ref()[dimension], W::SIZES[dimension]);
            let last = (grid.as_ref()[dimension] - 1) * P::SIZES[dimension];
            // If any window reaches beyond the array, the first or the last one does. The sum does not overflow: neither `last` nor `window` is
            // more than the number of elements that memory holds.
            let origin = if halo > 0 { 0 } else { last };
            if halo > 0 || last + window > size {
                return Err(WindowError::Outside { dimension, origin, halo, window, size });
            }
        }
    }
    Ok(Windows { array, places, halo, border, copy: copy_part, spare: Spare::default(), block: PhantomData })
}
