//! Copies of windows: parts of an array at any index, which may overlap and reach beyond the array.

use crate::buffer::{Buffer, Bytes, BytesMut, assert_whole};
use crate::element::Plain;
use crate::iter::copy_window;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, SameRank, ValueOf, same_index};
use std::fmt;
use std::ops::Range;

/// What a window holds where it reaches beyond the array: the argument of [`copy_window_to`](Buffer::copy_window_to).
///
/// ```
/// use xla_shape::block::Border;
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(s32[3])>::from_fn(|[i]| i as i32 + 1);
/// let mut window = Buffer::<shape!(s32[3])>::zeroed(); // an element with its neighbours
/// x.copy_window_to(&mut window, [0], [1], Border::Clamp)?;
/// assert_eq!(window.as_slice(), [1, 1, 2]);
/// x.copy_window_to(&mut window, [0], [1], Border::Value(0))?;
/// assert_eq!(window.as_slice(), [0, 1, 2]);
/// assert!(x.copy_window_to(&mut window, [0], [1], Border::None).is_err());
/// # Ok::<(), xla_shape::block::WindowError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Border<V> {
    /// The nearest element of the array.
    Clamp,
    /// This value; usually 0.
    Value(V),
    /// Nothing: a window that reaches beyond the array is an error.
    None,
}

/// Why a window cannot be copied.
///
/// ```
/// use xla_shape::block::{Border, WindowError};
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(s32[3])>::zeroed();
/// let mut window = Buffer::<shape!(s32[3])>::zeroed();
/// let error = x.copy_window_to(&mut window, [0], [1], Border::None).unwrap_err();
/// assert!(matches!(error, WindowError::Outside { dimension: 0, origin: 0, halo: 1, .. }), "{error}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WindowError {
    /// The window reaches beyond the array, and there is no rule for the border.
    Outside {
        /// Which dimension.
        dimension: usize,
        /// The index of the array's element that is element `halo` of the window.
        origin: usize,
        /// The number of the window's elements before that element.
        halo: usize,
        /// The size of the window, in elements.
        window: usize,
        /// The size of the array, in elements.
        size: usize,
    },
    /// A window does not hold the block that it is made for.
    WithoutBlock {
        /// Which dimension.
        dimension: usize,
        /// The number of the window's elements before the block.
        halo: usize,
        /// The size of the block, in elements.
        block: usize,
        /// The size of the window, in elements.
        window: usize,
    },
    /// The array has no elements, so there is no nearest one to repeat.
    Empty {
        /// The first dimension whose size is 0.
        dimension: usize,
    },
}

impl fmt::Display for WindowError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Outside { dimension, origin, halo, window, size } => {
                let first = i128::try_from(origin).unwrap_or(0) - i128::try_from(halo).unwrap_or(0);
                let last = first + i128::try_from(window).unwrap_or(0) - 1;
                write!(
                    f,
                    "expected a window inside of dimension {dimension} (size {size}) or a rule for the border, found indices {first} to \
                     {last}"
                )
            }
            Self::WithoutBlock { dimension, halo, block, window } => {
                write!(
                    f,
                    "expected a window that holds the block in dimension {dimension}, found one of {window} elements, {halo} of them before \
                     a block of {block}"
                )
            }
            Self::Empty { dimension } => {
                write!(
                    f,
                    "expected an array with elements to repeat at the border, found size 0 in dimension {dimension}"
                )
            }
        }
    }
}

impl std::error::Error for WindowError {}

/// In one dimension: the range of a window's indices that are in the array, and the index that the first of them has in the array. Smaller indices of
/// the window lie before the array, larger ones after it.
fn overlap(origin: usize, halo: usize, window: usize, size: usize) -> (Range<usize>, usize) {
    let begin = halo.saturating_sub(origin).min(window);
    // In 128 bits, the sum does not overflow.
    let end = (size as u128 + halo as u128).saturating_sub(origin as u128);
    let end = usize::try_from(end).map_or(window, |end| end.min(window));
    (begin..end, origin.saturating_sub(halo))
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// Copies a window of this array to an array of the window's sizes, in any layout: element `halo` of the window is element `origin` of
    /// this array, and the others lie around it. The window may begin anywhere, cross tiles, and reach beyond the array; `border` says what it holds
    /// there.
    ///
    /// For stencils: each block is computed from a window that has its halo, too. To copy a part that begins at `origin`, pass a `halo` of 0.
    /// A window of shape `f32[<=64,128]` has as many rows as [`with_sizes`](crate::types::WholeArray::with_sizes) was given.
    ///
    /// ```
    /// use xla_shape::block::Border;
    /// use xla_shape::{Buffer, shape};
    ///
    /// type Whole = shape!(f32[64,256]{1,0:T(8,128)});
    /// type Block = shape!(f32[8,128]{1,0:T(8,128)});
    /// let x = Buffer::<Whole>::from_fn(|[i, j]| (i * j) as f32);
    /// let mut y = Buffer::<Whole>::zeroed();
    /// let mut window = Buffer::<shape!(f32[10,130])>::zeroed(); // a block, and one element on each side
    /// for mut out in y.blocks_mut::<Block>() {
    ///     x.copy_window_to(&mut window, out.shape().origin(), [1, 1], Border::Clamp)?;
    ///     for i in 0..8 {
    ///         let [above, row, below] = [i, i + 1, i + 2].map(|i| window.line::<-1>([i, 0]).unwrap());
    ///         for j in 0..128 {
    ///             out[[i, j]] = above[j + 1] + below[j + 1] + row[j] + row[j + 2] - 4.0 * row[j + 1];
    ///         }
    ///     }
    /// }
    /// assert_eq!((y[[30, 127]], y[[0, 0]], y[[63, 7]]), (0.0, 0.0, -7.0));
    /// # Ok::<(), xla_shape::block::WindowError>(())
    /// ```
    ///
    /// # Errors
    /// If the window reaches beyond the array and the border is [`Border::None`], or the array has no elements and it is
    /// [`Border::Clamp`]. The window is then unchanged. A window without elements is never an error.
    pub fn copy_window_to<T, C>(
        &self,
        window: &mut Buffer<T, C>,
        origin: S::Index,
        halo: S::Index,
        border: Border<ValueOf<S>>,
    ) -> Result<(), WindowError>
    where
        T: ArrayType<Element = S::Element, Index: SameRank<S::Index>>,
        C: BytesMut,
    {
        named_in_errors!(Self);
        const { assert_whole::<S>() };
        const { assert_whole::<T>() };
        copy_part(self, window, [origin, halo], border)
    }
}

/// Copies the window; see [`copy_window_to`](Buffer::copy_window_to). Both arrays have as many dimensions, or the function does not compile.
pub(super) fn copy_part<S, B, T, C>(
    array: &Buffer<S, B>,
    window: &mut Buffer<T, C>,
    [origin, halo]: [S::Index; 2],
    border: Border<ValueOf<S>>,
) -> Result<(), WindowError>
where
    S: ArrayType<Element: Plain>,
    T: ArrayType<Element = S::Element>,
    B: Bytes,
    C: BytesMut,
{
    let (sizes, own) = (same_index::<_, S::Index>(window.sizes()), array.sizes());
    if sizes.as_ref().contains(&0) {
        return Ok(());
    }
    let (mut begin, mut end, mut first, mut is_inside) = (sizes, sizes, origin, true);
    for dimension in 0..sizes.as_ref().len() {
        let [origin, halo, window, size] = [origin, halo, sizes, own].map(|list| list.as_ref()[dimension]);
        let (inside, index) = overlap(origin, halo, window, size);
        if inside != (0..window) {
            is_inside = false;
            match border {
                Border::None => return Err(WindowError::Outside { dimension, origin, halo, window, size }),
                Border::Clamp if size == 0 => return Err(WindowError::Empty { dimension }),
                Border::Clamp | Border::Value(_) => {}
            }
        }
        begin.as_mut()[dimension] = inside.start;
        end.as_mut()[dimension] = inside.end;
        first.as_mut()[dimension] = index;
    }
    match border {
        Border::Value(value) if !is_inside => window.fill(value),
        _ => {}
    }
    // SAFETY: `overlap` gives a part of the window's indices, and as many indices of the array from `first` on; an empty array with
    // `Clamp` is an error above, because no window with elements is inside of it.
    unsafe { copy_window(window, array, [begin, end, first], matches!(border, Border::Clamp) && !is_inside) };
    Ok(())
}
