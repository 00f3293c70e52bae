//! The elements along one dimension, as runs of equal stride.

use super::memory::{for_each_run, own_run};
use super::runs::Facts;
use super::strided::Strided;
use super::words::{Weaves, Woven, lines_1, lines_2};
use super::zip::{Lanes, band_of, common, together_1, together_2};
use crate::buffer::{Buffer, Bytes, BytesMut, Lends, Mut, Ref, assert_whole};
use crate::element::Plain;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, Indices, ValueOf, resolve, resolve_or_first};
use std::fmt;
use std::ops::{Index, IndexMut};
use std::sync::atomic::{Ordering, compiler_fence};
use xla_shape_core::Dimension;
use xla_shape_core::map::Run;

/// The elements of an array along dimension `DIM`: a row, for -1. Made by [`line`](Buffer::line) and [`lines`](Buffer::lines). `B` is the
/// memory of the array.
///
/// `line[i]` is element `i`; it panics if the line has no such element. The other dimensions are checked once, when the line is made. So if
/// the elements of a line are contiguous and their number is known at compile time, a loop over `i` is compiled like one over an array. If tiles
/// cut the line, the loops of [`for_each_run`](Self::for_each_run) and [`apply_with`](Self::apply_with) are faster.
///
/// ```
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i * j) as f32);
/// let mut y = Buffer::<shape!(f32[8,200])>::zeroed();
/// let (above, row, below) = (x.line::<-1>([2, 0]), x.line::<-1>([3, 0]), x.line::<-1>([4, 0]));
/// let (above, row, below) = (above.unwrap(), row.unwrap(), below.unwrap());
/// let mut out = y.line_mut::<-1>([3, 0]).unwrap();
/// for j in 1..199 {
///     out[j] = above[j] + below[j] + row[j - 1] + row[j + 1] - 4.0 * row[j];
/// }
/// assert_eq!((y[[3, 0]], y[[3, 150]]), (0.0, 0.0));
/// ```
pub struct Line<S: ArrayType, B, const DIM: i64> {
    array: Buffer<S, B>,
    /// The entry for dimension `DIM` is ignored.
    index: S::Index,
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> fmt::Debug for Line<S, B, DIM> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("array", &self.array).field("index", &self.index).finish_non_exhaustive()
    }
}

/// How the elements of `S` along dimension `DIM` lie in memory.
pub(super) struct Along<S, const DIM: i64>(S);

impl<S: ArrayType, const DIM: i64> Along<S, DIM> {
    const DIMENSION: usize = resolve_or_first(DIM, S::SHAPE);
    const RUN: Run = own_run::<S>(Self::DIMENSION);

    /// The index of element `number` of the line.
    #[inline(always)]
    fn at(mut index: S::Index, number: usize) -> S::Index {
        index.as_mut()[Self::DIMENSION] = number;
        index
    }

    /// The position of element `number` of the line.
    #[inline(always)]
    fn position(shape: S, index: S::Index, number: usize) -> usize {
        shape.linear_index_of(Self::at(index, number))
    }

    /// Calls `f` for each run, with the number and the position of its first element, and with its length and stride.
    #[inline(always)]
    fn for_each_position(shape: S, index: S::Index, mut f: impl FnMut(usize, usize, usize, usize)) {
        for_each_run(shape.sizes().as_ref()[Self::DIMENSION], Self::RUN.len as usize, |start, len| {
            let position = Self::position(shape, index, start);
            let stride = match const { Self::RUN.stride } {
                Some(stride) => stride as usize,
                None if len > 1 => Self::position(shape, index, start + 1) - position,
                None => 1,
            };
            f(start, position, len, stride);
        });
    }

    /// The stride of a run; if it is not known, runs have one element.
    const STRIDE: usize = match Self::RUN.stride {
        Some(stride) => stride as usize,
        None => 1,
    };
    pub(super) const LEN: usize = if Self::RUN.stride.is_some() { Self::RUN.len as usize } else { 1 };
    /// The dimension, if its size is known.
    pub(super) const SIZE: Option<&'static [Dimension]> =
        if S::IS_STATIC { Some(S::DIMENSIONS.split_at(Self::DIMENSION).1.split_at(1).0) } else { None };

    /// Whether a line fits in half of the vector registers of the machine that the program is compiled for.
    const FITS_IN_REGISTERS: bool = {
        let bytes = if cfg!(target_feature = "avx512f") {
            32 * 64
        } else if cfg!(any(target_feature = "avx", target_arch = "aarch64")) {
            512 // 16 registers of 32 bytes, or 32 of 16
        } else {
            16 * 16
        };
        match Self::SIZE {
            Some([Dimension::Static(size)]) => *size <= bytes / 2 / (S::SHAPE.element_bits().div_ceil(8)),
            _ => false,
        }
    };

    /// Whether the entries of the index are in bounds, except the one for dimension `DIM`.
    #[inline(always)]
    fn is_inside(shape: S, index: S::Index) -> bool {
        let sizes = shape.sizes();
        let numbers = index.as_ref().iter().zip(sizes.as_ref()).enumerate();
        numbers.fold(true, |inside, (dimension, (index, size))| inside & (dimension == Self::DIMENSION || index < size))
    }
}

impl<S: ArrayType<Element: Plain>, const DIM: i64> Woven for Along<S, DIM> {
    type Element = S::Element;
    const WEAVE: Lanes = Lanes::along::<S>(Self::RUN);
}

/// Stands for the dimension of a [`Line`] where [`runs`](super::runs) compares the dimensions of operands.
// Hidden: it only tells lines from arrays.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct LineElements;

/// For `runs` and `rows`.
impl<S: ArrayType, B, const DIM: i64> Line<S, B, DIM> {
    /// The line of an array through the element with this index.
    ///
    /// # Safety
    /// The caller has evaluated `assert_whole::<S>`, and the other entries of the index are in bounds.
    #[inline(always)]
    pub(super) const unsafe fn new(array: Buffer<S, B>, index: S::Index) -> Self {
        Self { array, index }
    }

    pub(super) const FACTS: Facts = Facts::of_line(Along::<S, DIM>::RUN, Along::<S, DIM>::SIZE);

    #[inline(always)]
    pub(super) fn parts(&self) -> (&Buffer<S, B>, S::Index) {
        (&self.array, self.index)
    }

    #[inline(always)]
    pub(super) fn parts_mut(&mut self) -> (&mut Buffer<S, B>, S::Index) {
        (&mut self.array, self.index)
    }

    /// The number of elements of a line of this shape.
    #[inline(always)]
    pub(super) fn size(shape: S) -> usize {
        shape.sizes().as_ref()[Along::<S, DIM>::DIMENSION]
    }

    /// The position of an element of the line with this index.
    #[inline(always)]
    pub(super) fn position(shape: S, index: S::Index, number: usize) -> usize {
        Along::<S, DIM>::position(shape, index, number)
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> Line<S, B, DIM> {
    /// The number of elements in a run. The last run of a line may be shorter. `usize::MAX` if the line is one run.
    pub const RUN_LEN: usize = Along::<S, DIM>::RUN.len as usize;

    /// The number of elements.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::zeroed();
    /// assert_eq!(x.line::<-1>([3, 0]).unwrap().len(), 200);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.array.shape().sizes().as_ref()[Along::<S, DIM>::DIMENSION]
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::zeroed();
    /// assert!(!x.line::<0>([0, 150]).unwrap().is_empty());
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `f` with each run of the line, in order: the number of its first element, and its elements. See [`line`](Buffer::line) for an
    /// example.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::zeroed();
    /// let mut lengths = Vec::new();
    /// x.line::<-1>([3, 0]).unwrap().for_each_run(|_, run| lengths.push(run.len()));
    /// assert_eq!(lengths, [128, 72]);
    /// ```
    #[inline(always)]
    pub fn for_each_run(&self, mut f: impl FnMut(usize, Strided<&[ValueOf<S>]>)) {
        // SAFETY: the functions that make lines evaluate `assert_whole`; the memory is borrowed with `self`.
        let values = unsafe { self.array.values_for() };
        Along::<S, DIM>::for_each_position(self.array.shape(), self.index, |start, position, len, stride| {
            // SAFETY: the elements of a run are elements of the array, `stride` apart (`own_run`).
            f(start, unsafe { Strided::new(values.pointer(position..position + (len - 1) * stride + 1), len, stride) });
        });
    }

    /// Calls `f` with each element, in order.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[8,200])>::filled(0.5);
    /// let mut sum = 0.0;
    /// x.line::<-1>([3, 0]).unwrap().for_each(|x| sum += x);
    /// assert_eq!(sum, 100.0);
    /// ```
    #[inline(always)]
    pub fn for_each(&self, mut f: impl FnMut(ValueOf<S>)) {
        self.for_each_run(|_, run| run.for_each(&mut f));
    }

    /// The elements, in order.
    ///
    /// [`for_each`](Self::for_each) and [`for_each_run`](Self::for_each_run) have the faster loops.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(s32[8,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (i + j) as i32);
    /// let row = x.line::<-1>([3, 0]).unwrap().iter().collect::<Vec<_>>();
    /// assert_eq!((row[0], row[199]), (3, 202));
    /// ```
    #[inline]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ValueOf<S>> {
        (0..self.len()).map(|number| self[number])
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> Line<S, B, DIM> {
    /// Calls `f` with each run of the line, in order, to write: the number of its first element, and its elements.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::zeroed();
    /// x.line_mut::<-1>([3, 0]).unwrap().for_each_run_mut(|start, mut run| run.apply(|_| start as f32));
    /// assert_eq!((x[[3, 0]], x[[3, 199]]), (0.0, 128.0));
    /// ```
    #[inline(always)]
    pub fn for_each_run_mut(&mut self, mut f: impl FnMut(usize, Strided<&mut [ValueOf<S>]>)) {
        let (shape, index) = (self.array.shape(), self.index);
        // SAFETY: the functions that make lines evaluate `assert_whole`; the memory is borrowed mutably with `self`.
        let values = unsafe { self.array.values_mut_for() };
        Along::<S, DIM>::for_each_position(shape, index, |start, position, len, stride| {
            // SAFETY: as in `for_each_run`; one run is borrowed at a time.
            f(start, unsafe { Strided::new(values.pointer(position..position + (len - 1) * stride + 1), len, stride) });
        });
    }

    /// Replaces each element by the result of `f`, in order.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[8,200])>::filled(1.0);
    /// x.line_mut::<0>([0, 5]).unwrap().apply(|x| 2.0 * x);
    /// assert_eq!((x[[7, 5]], x[[7, 6]]), (2.0, 1.0));
    /// ```
    #[inline(always)]
    pub fn apply(&mut self, mut f: impl FnMut(ValueOf<S>) -> ValueOf<S>) {
        self.for_each_run_mut(|_, mut run| run.apply(&mut f));
    }

    /// Copies the values of a slice to the elements of the line.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(s32[2,3]{1,0:T(2,2)})>::zeroed();
    /// x.line_mut::<-1>([1, 0]).unwrap().copy_from_slice(&[4, 5, 6]);
    /// assert_eq!(x.to_row_major(), [0, 0, 0, 4, 5, 6]);
    /// ```
    ///
    /// # Panics
    /// If the slice does not have the length of the line.
    #[inline(always)]
    #[track_caller]
    pub fn copy_from_slice(&mut self, values: &[ValueOf<S>]) {
        let (expected, found) = (self.len(), values.len());
        assert!(expected == found, "expected a slice of {expected} values for the line, found {found}");
        self.for_each_run_mut(|start, mut run| {
            let values = &values[start..start + run.len()];
            match run.as_mut_slice() {
                Some(run) => run.copy_from_slice(values),
                None => run.iter_mut().zip(values).for_each(|(to, from)| *to = *from),
            }
        });
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> Line<S, B, DIM> {
    /// Copies the elements of another line, of any array, layout and dimension.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3,2])>::from_fn(|[i, j]| (10 * i + j) as i32);
    /// let mut y = Buffer::<shape!(s32[2,3]{1,0:T(2,2)})>::zeroed();
    /// y.line_mut::<-1>([1, 0]).unwrap().copy_from(&x.line::<0>([0, 1]).unwrap());
    /// assert_eq!(y.to_row_major(), [0, 0, 0, 1, 11, 21]);
    /// ```
    ///
    /// # Panics
    /// If the lines have different lengths.
    #[inline(always)]
    #[track_caller]
    pub fn copy_from<T, C, const D: i64>(&mut self, other: &Line<T, C, D>)
    where
        T: ArrayType<Element = S::Element>,
        C: Bytes,
    {
        self.apply_with(other, |_, value| value);
    }
}

macro_rules! apply_with {
    ($(#[$doc:meta])* $name:ident by $together:ident $by_words:ident($($T:ident $C:ident $D:ident $operand:ident $lane:ident),*)) => {
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<$($T, $C, const $D: i64),*>(
            &mut self,
            $($operand: &Line<$T, $C, $D>,)*
            mut f: impl FnMut(ValueOf<S>, $(ValueOf<$T>),*) -> ValueOf<S>,
        ) where
            $($T: ArrayType<Element: Plain>, $C: Bytes,)*
        {
            let (shape, line, len) = (self.array.shape(), self.index, self.len());
            $(
                let found = $operand.len();
                assert!(len == found, "expected a line of {len} elements, found one of {found}");
                // SAFETY: the functions that make lines evaluate `assert_whole`; the memory is borrowed with the operand.
                let values = unsafe { $operand.array.values_for() };
                let $operand = ($operand.array.shape(), $operand.index, values);
            )*
            // SAFETY: as for the operands; the memory is borrowed mutably with `self`.
            let mut values = unsafe { self.array.values_mut_for() };
            let run = const {
                let len = Along::<S, DIM>::LEN;
                $(let len = common(len, Along::<$T, $D>::LEN);)*
                len
            };
            // If a loop around this one applies several lines to the same line, the optimizer keeps that line in registers. A line that does
            // not fit would be moved to the stack and back each time. The fence prevents that.
            if const { !Along::<S, DIM>::FITS_IN_REGISTERS } {
                compiler_fence(Ordering::SeqCst);
            }
            for_each_run(len, run, |start, len| {
                if const { <(Along<S, DIM>, $(Along<$T, $D>),*)>::ARE_WORDS } {
                    $(
                        let (weave, index) = (const { Along::<$T, $D>::WEAVE }, Along::<$T, $D>::at($operand.1, start));
                        let $lane = weave.lane(index);
                        // SAFETY: these `len` elements are in one of the array's runs, as below; `ARE_WORDS` rules out a `WEAVE` of 0.
                        let $operand = unsafe { band_of::<$T>(($operand.0, $operand.2), index, len, weave) };
                    )*
                    let (weave, index) = (const { Along::<S, DIM>::WEAVE }, Along::<S, DIM>::at(line, start));
                    let lane = weave.lane(index);
                    let first = shape.linear_index_of(index) - lane;
                    // SAFETY: as for the operands. No other line of this array is borrowed.
                    let values = unsafe { values.range(first..first + len * weave.count) };
                    return $by_words::<(Along<S, DIM>, $(Along<$T, $D>),*), S::Element, $($T::Element),*>(
                        values, $($operand,)* [lane, $($lane),*], &mut f,
                    );
                }
                $(
                    let position = Along::<$T, $D>::position($operand.0, $operand.1, start);
                    let run = position..position + (len - 1) * Along::<$T, $D>::STRIDE + 1;
                    // SAFETY: `start + len` is at most the length of the line, and a run does not go beyond one of the array's own, so the
                    // positions hold elements, `STRIDE` apart, and nothing of another block is between them (`own_run`).
                    let $operand = unsafe { $operand.2.range(run) };
                )*
                let position = Along::<S, DIM>::position(shape, line, start);
                let run = position..position + (len - 1) * Along::<S, DIM>::STRIDE + 1;
                // SAFETY: as for the operands; one run is borrowed at a time.
                let values = unsafe { values.range(run) };
                let strides = const { [Along::<S, DIM>::STRIDE, $(Along::<$T, $D>::STRIDE),*] };
                $together(values, $($operand,)* len, strides, &mut f);
            });
        }
    };
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> Line<S, B, DIM> {
    apply_with! {
        /// Replaces each element by the result of `f` for it and the element with the same number in another line, of any array, layout and
        /// dimension. Both lines are processed in runs, which are as long as both layouts allow; a line whose stride is known only at run time, such
        /// as a column of `f32[?,?]`, is processed element by element.
        ///
        /// ```
        /// use xla_shape::{Buffer, shape};
        ///
        /// // A product over tiles.
        /// type Tiled = shape!(f32[16,200]{1,0:T(8,128)});
        /// let a = Buffer::<shape!(f32[16,30])>::filled(2.0);
        /// let b = Buffer::<shape!(f32[30,200]{1,0:T(8,128)})>::filled(0.5);
        /// let mut product = Buffer::<Tiled>::zeroed();
        /// for i in 0..16 {
        ///     let mut row = product.line_mut::<-1>([i, 0]).unwrap();
        ///     for k in 0..30 {
        ///         let factor = a[[i, k]];
        ///         row.apply_with(&b.line::<-1>([k, 0]).unwrap(), |sum, b| sum + factor * b);
        ///     }
        /// }
        /// assert_eq!(product[[15, 199]], 30.0);
        /// ```
        ///
        /// # Panics
        /// If the lines have different lengths.
        apply_with by together_1 lines_1(T C D operand lane)
    }

    apply_with! {
        /// Replaces each element by the result of `f` for it and the elements with the same number in two other lines; see
        /// [`apply_with`](Self::apply_with).
        ///
        /// ```
        /// use xla_shape::{Buffer, shape};
        ///
        /// let x = Buffer::<shape!(s32[8,200]{1,0:T(8,128)})>::from_fn(|[i, _]| i as i32);
        /// let mut y = Buffer::<shape!(s32[8,200])>::zeroed();
        /// let (above, below) = (x.line::<-1>([2, 0]).unwrap(), x.line::<-1>([4, 0]).unwrap());
        /// y.line_mut::<-1>([3, 0]).unwrap().apply_with_2(&above, &below, |_, above, below| above + below);
        /// assert_eq!(y[[3, 199]], 6);
        /// ```
        ///
        /// # Panics
        /// If the lines have different lengths.
        apply_with_2 by together_2 lines_2(T C D first first_lane, U E F second second_lane)
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn no_such_element(number: usize, len: usize) -> ! {
    panic!("element {number} is out of bounds for a line of {len}")
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> Index<usize> for Line<S, B, DIM> {
    type Output = ValueOf<S>;

    /// # Panics
    /// If the line has no such element.
    #[inline(always)]
    #[track_caller]
    fn index(&self, number: usize) -> &Self::Output {
        if number >= self.len() {
            no_such_element(number, self.len());
        }
        // SAFETY: the functions that make lines evaluate `assert_whole`; the memory is borrowed with `self`.
        let values = unsafe { self.array.values_for() };
        // SAFETY: the number has just been checked, and the functions that make lines check the other entries of the index: it is in
        // bounds, so by the law of `ArrayType`, its position holds an element.
        unsafe { values.at(Along::<S, DIM>::position(self.array.shape(), self.index, number)) }
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> IndexMut<usize> for Line<S, B, DIM> {
    /// # Panics
    /// If the line has no such element.
    #[inline(always)]
    #[track_caller]
    fn index_mut(&mut self, number: usize) -> &mut Self::Output {
        if number >= self.len() {
            no_such_element(number, self.len());
        }
        let position = Along::<S, DIM>::position(self.array.shape(), self.index, number);
        // SAFETY: as in `index`; the memory is borrowed mutably with `self`.
        let values = unsafe { self.array.values_mut_for() };
        // SAFETY: as in `index`; the element is borrowed once.
        unsafe { values.at(position) }
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// The elements along dimension `DIM` (-1 is the last) through the element with this index; its entry for `DIM` is ignored. `None` if
    /// another entry is out of bounds.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[8,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as i32);
    /// let mut runs = Vec::new();
    /// let row = x.line::<-1>([3, 0]).unwrap();
    /// row.for_each_run(|start, run| runs.push((start, run.as_slice().unwrap().to_vec())));
    /// assert_eq!(runs, [(0, (3000..3128).collect()), (128, (3128..3200).collect())]);
    ///
    /// let mut sum = 0;
    /// x.line::<0>([0, 150]).unwrap().for_each(|value| sum += value);
    /// assert_eq!(sum, 28_000 + 8 * 150);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn line<'s, 'b, const DIM: i64>(&'s self, index: S::Index) -> Option<Line<S, Ref<'b>, DIM>>
    where
        B: Lends<'s, 'b>,
    {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        Along::<S, DIM>::is_inside(self.shape(), index).then(|| Line { array: self.lent(), index })
    }

    /// All lines along dimension `DIM` (-1 is the last), in row-major order of their first elements. An array without elements has no
    /// lines.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(s32[3,200]{1,0:T(8,128)})>::from_fn(|[i, j]| (1000 * i + j) as i32);
    /// let mut largest = Vec::new();
    /// for row in x.lines::<-1>() {
    ///     let mut max = i32::MIN;
    ///     row.for_each(|x| max = max.max(x));
    ///     largest.push(max);
    /// }
    /// assert_eq!(largest, [199, 1199, 2199]);
    /// ```
    pub fn lines<const DIM: i64>(&self) -> impl ExactSizeIterator<Item = Line<S, Ref<'_>, DIM>> {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        let mut sizes = self.shape().sizes();
        let size = &mut sizes.as_mut()[Along::<S, DIM>::DIMENSION];
        // An array without elements may have more lines than a `usize` counts.
        *size = 1.min(*size);
        Indices::new(sizes).map(|index| Line { array: self.view(), index })
    }

    /// All rows, in order: the lines along the last dimension. An array without elements has no rows.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[2,3]{0,1:T(2,2)})>::from_fn(|[i, j]| (10 * i + j) as f32);
    /// let sums = x.rows().map(|row| {
    ///     let mut sum = 0.0;
    ///     row.for_each(|x| sum += x);
    ///     sum
    /// });
    /// assert_eq!(sums.collect::<Vec<_>>(), [3.0, 33.0]);
    /// ```
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Line<S, Ref<'_>, -1>> {
        self.lines::<-1>()
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// The elements along dimension `DIM` through the element with this index, to write; see [`line`](Self::line).
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let mut x = Buffer::<shape!(s32[8,200]{1,0:T(8,128)})>::filled(1);
    /// x.line_mut::<-1>([3, 0]).unwrap().apply(|x| 2 * x);
    /// assert_eq!((x[[3, 199]], x[[4, 199]]), (2, 1));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn line_mut<const DIM: i64>(&mut self, index: S::Index) -> Option<Line<S, Mut<'_>, DIM>> {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        Along::<S, DIM>::is_inside(self.shape(), index).then(|| Line { array: self.view_mut(), index })
    }
}
