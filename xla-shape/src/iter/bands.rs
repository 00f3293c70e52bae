//! Lines along one dimension; adjacent lines come together.

use super::lanes;
use super::memory::{Memory, for_each_run, own_bands};
use crate::buffer::{Buffer, Bytes, BytesMut, Mut, Ref, assert_whole};
use crate::element::Plain;
use crate::sealed::named_in_errors;
use crate::types::{ArrayType, MultiIndex, ValueOf, resolve, resolve_or_first, step};
use std::fmt;
use std::ops::Range;
use xla_shape_core::Slot;
use xla_shape_core::map::{Bands, Digit, Source, StaticStrideTable};
use xla_shape_relayout::wide::wide_mut;

/// Which lines of `S` along dimension `DIM` are adjacent.
pub(super) struct Along<S, const DIM: i64>(S);

impl<S: ArrayType, const DIM: i64> Along<S, DIM> {
    const DIMENSION: usize = resolve_or_first(DIM, S::SHAPE);
    pub(super) const BANDS: Bands = own_bands::<S>(Self::DIMENSION);
    /// The dimension along which the lines of a band are neighbours, in the order of its lanes; `None` if there are several such dimensions, or the
    /// lanes are in another order.
    const LANE_DIMENSION: Option<usize> = {
        let (digits, mut i, mut found, mut is_one) = (S::TABLE.digits(), S::TABLE.digits().len(), None, true);
        // Look at the digits that are more minor than the one that counts the elements of a line one by one.
        while i > 0 && !(digits[i - 1].term.is_of(Self::DIMENSION) && digits[i - 1].term.divisor.get() == 1) {
            let Digit { term, stride, size, .. } = digits[i - 1];
            match (term.source, found) {
                _ if size == 1 => {}
                (Source::Dimension(number), None) if term.divisor.get() == stride => found = Some(number),
                (Source::Dimension(number), Some(other)) if term.divisor.get() == stride && number == other => {}
                _ => is_one = false,
            }
            i -= 1;
        }
        match found {
            Some(number) if is_one && i > 0 => Some(number as usize),
            _ => None,
        }
    };
}

/// The lines of an array along dimension `DIM` that are adjacent in memory: rows, for `DIM` -1.
///
/// The elements of a row of `f32[64,512]{1,0:T(8,128)}` are contiguous, 128 at a time: a band is one row. With `T(8,128)(2,1)`, pairs of
/// rows are interleaved, so a band has two *lanes*. Along the columns of an array with `T(8,128)`, a band has 128 lanes. In memory, a band is a
/// sequence of blocks, each with `LANES` times as many elements as a run.
///
/// `B` is the memory of the array.
pub struct Band<S: ArrayType, B, const DIM: i64> {
    array: Buffer<S, B>,
    /// The index of the first element of lane 0.
    origin: S::Index,
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> fmt::Debug for Band<S, B, DIM> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values are not shown: another thread may be writing other bands.
        write!(f, "band of {:?} at {:?}", self.array.shape(), self.origin)
    }
}

impl<S: ArrayType, B, const DIM: i64> Band<S, B, DIM> {
    /// The band whose first line begins at this element.
    #[inline(always)]
    pub(super) const fn new(array: Buffer<S, B>, origin: S::Index) -> Self {
        Self { array, origin }
    }

    /// The number of adjacent lines, padding included.
    pub const LANES: usize = Along::<S, DIM>::BANDS.lanes as usize;
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> Band<S, B, DIM> {
    /// The index of the first element of the first line.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[4,200]{1,0:T(8,128)(2,1)})>::zeroed();
    /// assert!(x.bands::<-1>().map(|rows| rows.origin()).eq([[0, 0], [2, 0]]));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn origin(&self) -> S::Index {
        self.origin
    }

    /// The number of elements in each line.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[4,200]{1,0:T(8,128)})>::zeroed();
    /// x.for_each_band::<-1>(|row| assert_eq!(row.line_len(), 200));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn line_len(&self) -> usize {
        self.array.shape().sizes().as_ref()[Along::<S, DIM>::DIMENSION]
    }

    /// The index of the first element of the line in this lane; `None` if the lane is padding.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[3,200]{1,0:T(8,128)(2,1)})>::zeroed();
    /// let last = x.bands::<-1>().last().unwrap();
    /// assert_eq!((last.line(0), last.line(1)), (Some([2, 0]), None));
    /// ```
    #[must_use]
    #[inline]
    pub fn line(&self, lane: usize) -> Option<S::Index> {
        if lane >= Self::LANES {
            return None;
        }
        if lane == 0 {
            return Some(self.origin);
        }
        let shape = self.array.shape();
        if let Some(dimension) = const { Along::<S, DIM>::LANE_DIMENSION } {
            let mut index = self.origin;
            index.as_mut()[dimension] += lane;
            return (index.as_ref()[dimension] < shape.sizes().as_ref()[dimension]).then_some(index);
        }
        let (mut index, mut values) = (S::Index::ORIGIN, [0; StaticStrideTable::MAX_INTERMEDIATES]);
        let position = shape.linear_index_of(self.origin) - shape.first_position() + lane;
        let slot =
            shape.with_table(|table| table.multi_index_with(position as u64, wide_mut(index.as_mut()), &mut values));
        matches!(slot, Slot::Element(())).then_some(index)
    }

    /// Calls `f` with each block of the band: the index along the lines at which it begins, and its elements. Element `i` of a block
    /// belongs to line `i % LANES`, `i / LANES` elements after the block's beginning; in lanes without a line, it is padding.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(s32[2,3]{1,0:T(2,4)(2,1)})>::from_fn(|[i, j]| (10 * i + j) as i32);
    /// x.for_each_band::<-1>(|rows| rows.for_each_block(|start, block| {
    ///     assert_eq!((start, block), (0, &[0, 10, 1, 11, 2, 12][..]));
    /// }));
    /// ```
    #[inline(always)]
    pub fn for_each_block(&self, mut f: impl FnMut(usize, &[ValueOf<S>])) {
        // SAFETY: the functions that make bands evaluate `assert_whole`; the memory is borrowed with `self`.
        let values = unsafe { self.array.values_for() };
        for_each_block_range::<S, DIM>(self.array.shape(), self.origin, |start, range| {
            // SAFETY: the positions of a block hold elements of the array, or padding of its tiles.
            f(start, unsafe { values.range(range) });
        });
    }

    /// Folds each line separately, with `N / LANES` accumulators per line, so that the compiler can use vector instructions; `combine` then joins the
    /// accumulators of a line. Entry `i` of the result belongs to line `i % LANES`. `N` must be a multiple of `LANES`; other numbers do not compile,
    /// which shows in `cargo build`. See [`for_each_band`](Buffer::for_each_band) for an example.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(s32[2,100])>::filled(1);
    /// x.for_each_band::<-1>(|row| assert_eq!(row.fold_lanes([0; 16], |sum, x| sum + x, |a, b| a + b)[0], 100));
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn fold_lanes<A: Copy, const N: usize>(
        &self,
        init: [A; N],
        f: impl FnMut(A, ValueOf<S>) -> A,
        combine: impl FnMut(A, A) -> A,
    ) -> [A; N] {
        named_in_errors!(Self);
        const { assert_multiple(N, Self::LANES) };
        self.fold_into(init, f, combine)
    }
}

/// A value for each line of a band. Made by [`Band::fold`].
///
/// The value of a line is stored several times, so that the compiler can use vector instructions.
#[derive(Clone, Debug)]
pub struct LineValues<A>(Places<A>);

#[derive(Clone, Debug)]
enum Places<A> {
    Of16([A; 16]),
    Of32([A; 32]),
    Of64([A; 64]),
    Of128([A; 128]),
    Many(Vec<A>),
}

impl<A: Copy> LineValues<A> {
    /// The value of the line in this lane.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(s32[2,100])>::filled(1);
    /// x.for_each_band::<-1>(|row| assert_eq!(row.fold(0, |sum, x| sum + x, |a, b| a + b).get(0), 100));
    /// ```
    ///
    /// # Panics
    /// If there is no such lane.
    #[must_use]
    #[inline(always)]
    pub fn get(&self, lane: usize) -> A {
        match &self.0 {
            Places::Of16(values) => values[lane],
            Places::Of32(values) => values[lane],
            Places::Of64(values) => values[lane],
            Places::Of128(values) => values[lane],
            Places::Many(values) => values[lane],
        }
    }

    /// Applies `f` to the value of each line.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[2,100])>::filled(1.0);
    /// x.for_each_band_mut::<-1>(|mut row| {
    ///     let mean = row.fold(0.0, |sum, x| sum + x, |a, b| a + b).map(|sum| sum / 100.0);
    ///     row.apply(&mean, |x, mean| x - mean);
    /// });
    /// assert_eq!(x.as_slice(), [0.0; 200]);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn map<R: Copy>(self, f: impl FnMut(A) -> R) -> LineValues<R> {
        LineValues(match self.0 {
            Places::Of16(values) => Places::Of16(values.map(f)),
            Places::Of32(values) => Places::Of32(values.map(f)),
            Places::Of64(values) => Places::Of64(values.map(f)),
            Places::Of128(values) => Places::Of128(values.map(f)),
            Places::Many(values) => Places::Many(values.into_iter().map(f).collect()),
        })
    }
}

impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> Band<S, B, DIM> {
    /// Folds each line separately, whatever the layout. `combine` joins partial results of one line.
    ///
    /// This method uses as many accumulators as the layout has lanes, and at least 16. In a layout that you know, [`fold_lanes`](Self::fold_lanes)
    /// with 32 or 64 accumulators keeps wide vectors busy.
    ///
    /// The order in which elements are folded is unspecified. `init` is folded into each line several times, so it must be neutral, like 0
    /// in a sum.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // The sum of each row; in this layout, 128 rows are interleaved.
    /// let x = Buffer::<shape!(s32[200,3]{0,1:T(8,128)})>::from_fn(|[i, j]| (i * j) as i32);
    /// let mut sums = [0; 200];
    /// x.for_each_band::<-1>(|rows| {
    ///     let values = rows.fold(0, |sum, x| sum + x, |a, b| a + b);
    ///     for (lane, row) in rows.lines() {
    ///         sums[row[0]] = values.get(lane);
    ///     }
    /// });
    /// assert_eq!(sums[199], 3 * 199);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn fold<A: Copy>(
        &self,
        init: A,
        f: impl FnMut(A, ValueOf<S>) -> A,
        combine: impl FnMut(A, A) -> A,
    ) -> LineValues<A> {
        let lanes = const { Self::LANES };
        // Arrays of constant length stay in registers. Sixteen accumulators serve 1, 2, 4, 8 and 16 lanes: with fewer than 16 lanes, each has several
        // accumulators, which are combined at the end.
        LineValues(if const { 16 % Self::LANES == 0 } {
            Places::Of16(self.fold_into([init; 16], f, combine))
        } else if const { Self::LANES == 32 } {
            Places::Of32(self.fold_into([init; 32], f, combine))
        } else if const { Self::LANES == 64 } {
            Places::Of64(self.fold_into([init; 64], f, combine))
        } else if const { Self::LANES == 128 } {
            Places::Of128(self.fold_into([init; 128], f, combine))
        } else {
            let mut values = vec![init; lanes];
            let mut f = f;
            self.for_each_block(|_, block| {
                for elements in block.chunks_exact(lanes) {
                    values.iter_mut().zip(elements).for_each(|(value, &element)| *value = f(*value, element));
                }
            });
            Places::Many(values)
        })
    }

    #[inline(always)]
    fn fold_into<A: Copy, const N: usize>(
        &self,
        init: [A; N],
        mut f: impl FnMut(A, ValueOf<S>) -> A,
        combine: impl FnMut(A, A) -> A,
    ) -> [A; N] {
        let mut accumulators = init;
        self.for_each_block(|_, block| accumulators = lanes::fold(accumulators, block, &mut f));
        lanes::combine(accumulators, Self::LANES, combine)
    }

    /// The lanes that have a line, each with the index of the line's first element. See [`fold`](Self::fold) for an example.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let x = Buffer::<shape!(f32[3,200]{1,0:T(8,128)(2,1)})>::zeroed();
    /// let last = x.bands::<-1>().last().unwrap();
    /// assert!(last.lines().eq([(0, [2, 0])]));
    /// ```
    pub fn lines(&self) -> impl Iterator<Item = (usize, S::Index)> + '_ {
        (0..Self::LANES).filter_map(|lane| Some((lane, self.line(lane)?)))
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> Band<S, B, DIM> {
    /// Replaces each element by the result of `f` for it and its line's value, which [`fold`](Self::fold) computes. Padding in lanes
    /// without a line is replaced, too.
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[2,100])>::filled(3.0);
    /// x.for_each_band_mut::<-1>(|mut row| {
    ///     let sum = row.fold(0.0, |sum, x| sum + x, |a, b| a + b);
    ///     row.apply(&sum, |x, sum| x / sum);
    /// });
    /// assert_eq!(x[[1, 99]], 0.01);
    /// ```
    ///
    /// # Panics
    /// If the values were folded in a band with a different number of lanes.
    #[inline(always)]
    pub fn apply<A: Copy>(&mut self, values: &LineValues<A>, mut f: impl FnMut(ValueOf<S>, A) -> ValueOf<S>) {
        let lanes = const { Self::LANES };
        match &values.0 {
            Places::Of16(values) if 16 % lanes == 0 => self.apply_places(*values, f),
            Places::Of32(values) if lanes == 32 => self.apply_places(*values, f),
            Places::Of64(values) if lanes == 64 => self.apply_places(*values, f),
            Places::Of128(values) if lanes == 128 => self.apply_places(*values, f),
            Places::Many(values) if lanes == values.len() => self.for_each_block_mut(|_, block| {
                for elements in block.chunks_exact_mut(lanes) {
                    elements.iter_mut().zip(values).for_each(|(element, &value)| *element = f(*element, value));
                }
            }),
            _ => panic!("expected values of a band with {lanes} lanes"),
        }
    }

    #[inline(always)]
    fn apply_places<A: Copy, const N: usize>(
        &mut self,
        values: [A; N],
        mut f: impl FnMut(ValueOf<S>, A) -> ValueOf<S>,
    ) {
        self.for_each_block_mut(|_, block| lanes::apply(values, block, &mut f));
    }
}

/// Calls `f` for each block of a band, with the index along the lines at which the block begins, and with the block's positions.
#[inline(always)]
fn for_each_block_range<S: ArrayType, const DIM: i64>(
    shape: S,
    origin: S::Index,
    mut f: impl FnMut(usize, Range<usize>),
) {
    let mut index = origin;
    for_each_run(
        shape.sizes().as_ref()[Along::<S, DIM>::DIMENSION],
        Along::<S, DIM>::BANDS.len as usize,
        |start, len| {
            index.as_mut()[Along::<S, DIM>::DIMENSION] = start;
            let position = shape.linear_index_of(index);
            f(start, position..position + len * Along::<S, DIM>::BANDS.lanes as usize);
        },
    );
}

impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> Band<S, B, DIM> {
    /// Calls `f` with each block of the band, to write; see [`for_each_block`](Self::for_each_block).
    ///
    /// ```
    /// # use xla_shape::{Buffer, shape};
    /// let mut x = Buffer::<shape!(f32[2,100])>::zeroed();
    /// x.for_each_band_mut::<-1>(|mut row| row.for_each_block_mut(|_, block| block.fill(1.0)));
    /// assert_eq!(x[[1, 99]], 1.0);
    /// ```
    #[inline(always)]
    pub fn for_each_block_mut(&mut self, mut f: impl FnMut(usize, &mut [ValueOf<S>])) {
        let shape = self.array.shape();
        // SAFETY: the functions that make bands evaluate `assert_whole`; the memory is borrowed mutably with `self`.
        let mut values = unsafe { self.array.values_mut_for() };
        // SAFETY: the positions of a block hold elements of the array, or padding of its tiles.
        for_each_block_range::<S, DIM>(shape, self.origin, |start, range| f(start, unsafe { values.range(range) }));
    }

    /// Replaces each element by the result of `f` for it and its lane's argument: number `i % N` of `arguments`, as
    /// [`fold_lanes`](Self::fold_lanes) returns them. Padding in lanes without a line is replaced, too. See
    /// [`for_each_band_mut`](Buffer::for_each_band_mut) for an example.
    #[inline(always)]
    pub fn apply_lanes<A: Copy, const N: usize>(
        &mut self,
        arguments: [A; N],
        f: impl FnMut(ValueOf<S>, A) -> ValueOf<S>,
    ) {
        named_in_errors!(Self);
        const { assert_multiple(N, Self::LANES) };
        self.apply_places(arguments, f);
    }
}

/// Fails the compilation if lanes cannot be divided evenly among lines.
#[track_caller]
const fn assert_multiple(lanes: usize, lines: usize) {
    if lanes == 0 || !lanes.is_multiple_of(lines) {
        let problem = xla_shape_core::text::ConstText::<256>::new()
            .push_str("expected lanes that are a multiple of the ")
            .push_count(lines)
            .push_str(" lines of a band, found ")
            .push_count(lanes);
        panic!("{}", problem.as_str())
    }
}

/// The index of the first element of the first band.
#[inline(always)]
fn first_origin<I: MultiIndex>(sizes: I) -> Option<I> {
    (!sizes.as_ref().contains(&0)).then_some(I::ORIGIN)
}

/// The index of the first element of the band after the one at `index`, in the order of the physical dimensions.
#[inline(always)]
fn next_origin<S: ArrayType, const DIM: i64>(sizes: S::Index, mut index: S::Index) -> Option<S::Index> {
    let order = const { S::MINOR_TO_MAJOR }.iter().copied();
    let others = order.filter(|&dimension| dimension != Along::<S, DIM>::DIMENSION);
    let lines = |dimension: usize| Along::<S, DIM>::BANDS.steps[dimension] as usize;
    step(index.as_mut(), sizes.as_ref(), others, lines).then_some(index)
}

/// Calls `f` with the index of the first element of every band, in the order of the physical dimensions.
#[inline(always)]
pub(super) fn for_each_band_origin<S: ArrayType, const DIM: i64>(shape: S, mut f: impl FnMut(S::Index)) {
    let sizes = shape.sizes();
    let mut next = first_origin(sizes);
    while let Some(origin) = next {
        f(origin);
        next = next_origin::<S, DIM>(sizes, origin);
    }
}

/// Like [`for_each_band_origin`], but as an iterator.
fn band_origins<S: ArrayType, const DIM: i64>(shape: S) -> impl Iterator<Item = S::Index> + Send {
    let sizes = shape.sizes();
    std::iter::successors(first_origin(sizes), move |&origin| next_origin::<S, DIM>(sizes, origin))
}

impl<S: ArrayType<Element: Plain>, B: Bytes> Buffer<S, B> {
    /// Calls `f` with all lines along dimension `DIM` (-1 is the last); adjacent lines come together, as a [`Band`].
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // The largest element of each row. Pairs of rows are interleaved: lane 0 is the first row of the pair, lane 1 the second.
    /// let x = Buffer::<shape!(s32[3,200]{1,0:T(8,128)(2,1)})>::from_fn(|[i, j]| (1000 * i + j) as i32);
    /// let mut largest = [0; 3];
    /// x.for_each_band::<-1>(|rows| {
    ///     let lanes = rows.fold_lanes([i32::MIN; 8], i32::max, i32::max);
    ///     for (lane, max) in lanes.into_iter().enumerate() {
    ///         rows.line(lane).into_iter().for_each(|[i, _]| largest[i] = max);
    ///     }
    /// });
    /// assert_eq!(largest, [199, 1199, 2199]);
    /// ```
    #[inline(always)]
    pub fn for_each_band<const DIM: i64>(&self, mut f: impl FnMut(Band<S, Ref<'_>, DIM>)) {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        for_each_band_origin::<S, DIM>(self.shape(), |origin| f(Band { array: self.view(), origin }));
    }

    /// All bands along dimension `DIM` (-1 is the last). [`for_each_band`](Self::for_each_band) may be compiled to faster loops.
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// let x = Buffer::<shape!(f32[4,200]{1,0:T(8,128)(2,1)})>::zeroed();
    /// assert_eq!(x.bands::<-1>().count(), 2); // pairs of rows
    /// ```
    pub fn bands<const DIM: i64>(&self) -> impl Iterator<Item = Band<S, Ref<'_>, DIM>> {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        let array = self.view();
        band_origins::<S, DIM>(self.shape()).map(move |origin| Band { array, origin })
    }
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    /// Calls `f` with all lines along dimension `DIM` (-1 is the last), to write; adjacent lines come together, as a [`Band`].
    ///
    /// ```
    /// use xla_shape::{Buffer, shape};
    ///
    /// // Rows that add up to 1, whichever of these layouts they have.
    /// macro_rules! normalize {
    ///     ($x:expr) => {
    ///         $x.for_each_band_mut::<-1>(|mut rows| {
    ///             let sums = rows.fold_lanes([0.0; 16], |sum, x| sum + x, |a, b| a + b);
    ///             rows.apply_lanes(sums, |x, sum| x / sum);
    ///         })
    ///     };
    /// }
    /// let mut x = Buffer::<shape!(f32[8,256]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32 + 1.0);
    /// normalize!(x);
    /// assert_eq!(x[[5, 200]], 1.0 / 256.0);
    /// let mut x = Buffer::<shape!(f32[8,256]{1,0:T(8,128)(2,1)})>::from_fn(|[i, _]| i as f32 + 1.0);
    /// normalize!(x);
    /// assert_eq!(x[[5, 200]], 1.0 / 256.0);
    /// ```
    #[inline(always)]
    pub fn for_each_band_mut<const DIM: i64>(&mut self, mut f: impl FnMut(Band<S, Mut<'_>, DIM>)) {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        for_each_band_origin::<S, DIM>(self.shape(), |origin| f(Band { array: self.view_mut(), origin }));
    }

    /// All bands along dimension `DIM` (-1 is the last), to write. They do not overlap, whatever the layout, so each can be sent to another
    /// thread.
    ///
    /// ```
    /// use xla_shape::element::F32;
    /// use xla_shape::types::ArrayType;
    /// use xla_shape::{Buffer, ViewMut, shape};
    ///
    /// fn normalize<S: ArrayType<Element = F32>>(mut x: ViewMut<S>) {
    ///     // With rayon: `x.bands_mut::<-1>().par_bridge().for_each(…)`.
    ///     std::thread::scope(|threads| {
    ///         for mut rows in x.bands_mut::<-1>() {
    ///             threads.spawn(move || {
    ///                 let sums = rows.fold(0.0, |sum, x| sum + x, |a, b| a + b);
    ///                 rows.apply(&sums, |x, sum| x / sum);
    ///             });
    ///         }
    ///     });
    /// }
    ///
    /// let mut x = Buffer::<shape!(f32[4,200]{0,1:T(8,128)})>::from_fn(|[i, _]| i as f32 + 1.0);
    /// normalize(x.view_mut());
    /// assert_eq!(x[[3, 100]], 1.0 / 200.0);
    /// ```
    pub fn bands_mut<const DIM: i64>(&mut self) -> impl Iterator<Item = Band<S, Mut<'_>, DIM>> + Send {
        named_in_errors!(Self);
        const { resolve(DIM, S::SHAPE) };
        const { assert_whole::<S>() };
        let mut array = self.view_mut();
        band_origins::<S, DIM>(array.shape()).map(move |origin| {
            // SAFETY: each band comes once, and different bands have no element and no padding in common; their elements are whole
            // (`assert_whole`), so they have no byte in common. A band accesses only its own elements and padding.
            Band { array: unsafe { array.again() }, origin }
        })
    }
}
