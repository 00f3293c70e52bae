//! Loops over several arrays with the same dimensions and any layouts.

use super::memory::{Memory, common_block, for_each_run, own_run};
use super::words::{Weaves, Woven, groups_1, groups_2, groups_3, lines_1, lines_2, lines_3};
use crate::buffer::{Buffer, Bytes, BytesMut, Values, assert_whole};
use crate::element::Plain;
use crate::types::{ArrayType, MultiIndex, ValueOf, own_index, sizes_of, step};
use xla_shape_core::map::{CommonBlock, Run, greatest_common_divisor};

/// How two arrays of the same dimensions are traversed together.
pub(super) struct Together<S, T>(S, T);

impl<S: ArrayType, T: ArrayType> Together<S, T> {
    /// Whether every element has the same position in both arrays.
    const SAME_PLACES: bool = S::IS_WHOLE_ARRAY && T::IS_WHOLE_ARRAY && S::TABLE.is_same_map(T::TABLE);
    /// How the elements of `T` lie along the most minor dimension of `S`.
    const RUN: Run = match S::MINOR_TO_MAJOR {
        [] => Run { len: 1, stride: Some(1) },
        [minor, ..] => own_run::<T>(*minor),
    };
    /// The stride of a run; if it is not known, runs have one element.
    pub(super) const STRIDE: usize = match Self::RUN.stride {
        Some(stride) => stride as usize,
        None => 1,
    };
    pub(super) const LEN: usize = if Self::RUN.stride.is_some() { Self::RUN.len as usize } else { 1 };
    /// The block of elements that follow each other in both arrays.
    pub(super) const BLOCK: CommonBlock = common_block::<S, T>();
    /// Which lines along the most minor dimension of `S` alternate in `T`.
    const WEAVE: Lanes = Lanes::along::<T>(Self::RUN);
    /// Which lines along the most minor dimension of `S` alternate in both arrays.
    pub(super) const LANES: Lanes = Together::<S, S>::WEAVE.and(Self::WEAVE);
}

impl<S: ArrayType, T: ArrayType<Element: Plain>> Woven for Together<S, T> {
    type Element = T::Element;
    const WEAVE: Lanes = Self::WEAVE;
}

/// Lines that alternate in memory, as pairs of rows do in `T(8,128)(2,1)`: element `i` of line `k` is `k + i * count` elements after
/// element 0 of line 0, as long as `i` is in the lines' runs. So the runs of all these lines together are contiguous in memory.
#[derive(Clone, Copy, Default)]
pub(super) struct Lanes {
    /// The lines are neighbours along this dimension. The first index of each group is a multiple of `count`.
    pub(super) dimension: usize,
    /// How many lines alternate: 1 if the elements of a line are adjacent, 0 if they are neither adjacent nor alternate with those of other lines.
    pub(super) count: usize,
}

impl Lanes {
    /// Which lines of an array alternate in memory; `run` describes the runs of these lines.
    pub(super) const fn along<T: ArrayType>(run: Run) -> Self {
        let (mut lanes, mut dimension) = (Self { dimension: 0, count: 0 }, 0);
        if matches!(run, Run { stride: Some(1), len: 2.. }) {
            lanes.count = 1;
        }
        while dimension < T::NUM_DIMENSIONS {
            let other = own_run::<T>(dimension);
            if let (Some(1), Some(stride @ 2..)) = (other.stride, run.stride)
                && other.len == stride
            {
                lanes = Self { dimension, count: stride as usize };
            }
            dimension += 1;
        }
        lanes
    }

    /// These lanes if `others` are the same, otherwise a single lane.
    const fn and(self, others: Self) -> Self {
        if self.is(others) && self.count > 1 { self } else { Self { dimension: 0, count: 1 } }
    }

    /// The lane of the line that has this index.
    #[inline(always)]
    pub(super) fn lane(self, index: impl MultiIndex) -> usize {
        if self.count > 1 { index.as_ref()[self.dimension] % self.count } else { 0 }
    }

    /// Whether both describe the same lines.
    const fn is(self, others: Self) -> bool {
        self.dimension == others.dimension && self.count == others.count
    }
}

/// The greatest common divisor of the lengths of runs: shorter runs of this length never cross the end of a run of either array.
/// `usize::MAX` is the length of the whole dimension.
pub(super) const fn common(a: usize, b: usize) -> usize {
    match (a, b) {
        (usize::MAX, len) | (len, usize::MAX) => len,
        (a, b) => greatest_common_divisor(a as u64, b as u64) as usize,
    }
}

/// The smaller one of `sizes` and the operand's sizes, in each dimension: a last block may be smaller than others. Panics if both are
/// whole arrays of different sizes. Sizes that are known at compile time are equal by type.
#[inline(always)]
#[track_caller]
fn common_sizes<S, T>(sizes: S::Index, shape: S, operand: T) -> S::Index
where
    S: ArrayType,
    T: ArrayType<Dimensions = S::Dimensions>,
{
    let mut sizes = sizes;
    if const { !(S::IS_STATIC && T::IS_STATIC) } {
        let found = sizes_of(operand);
        if const { S::IS_WHOLE_ARRAY && T::IS_WHOLE_ARRAY } {
            let expected = shape.sizes();
            assert!(expected == found, "expected operands with sizes {expected:?}, found {found:?}");
        }
        sizes.as_mut().iter_mut().zip(found.as_ref()).for_each(|(size, &other)| *size = other.min(*size));
    }
    sizes
}

/// Calls `f` for every line along the most minor dimension of `S`, with the index of the line's first element, and with that dimension. The order is
/// that of the physical dimensions of an array with these sizes.
#[inline(always)]
pub(super) fn for_each_minor_line<S: ArrayType>(sizes: S::Index, mut f: impl FnMut(S::Index, usize)) {
    if sizes.as_ref().contains(&0) {
        return;
    }
    let mut index = S::Index::ORIGIN;
    let order = const { S::MINOR_TO_MAJOR };
    loop {
        f(index, order.first().copied().unwrap_or(0));
        if !step(index.as_mut(), sizes.as_ref(), order.iter().skip(1).copied(), |_| 1) {
            return;
        }
    }
}

/// How an array is traversed together with others: by stretches of memory as far as possible.
#[derive(Clone, Copy)]
pub(super) struct Path {
    /// The block of elements that follow each other in all arrays.
    block: CommonBlock,
    /// The length of runs along the most minor dimension, for elements outside of whole blocks.
    len: usize,
    /// The lines that alternate in all arrays, for the same elements.
    lanes: Lanes,
}

impl Path {
    /// The path for one array.
    const fn of<S: ArrayType>() -> Self {
        Self { block: Together::<S, S>::BLOCK, len: Together::<S, S>::LEN, lanes: Together::<S, S>::LANES }
    }

    /// The path for one more array. All blocks consist of the first array's most minor digits, so a shorter block is a part of a longer one.
    const fn and<S: ArrayType, T: ArrayType>(self) -> Self {
        let other = Together::<S, T>::BLOCK;
        Self {
            block: if other.len < self.block.len { other } else { self.block },
            len: common(self.len, Together::<S, T>::LEN),
            lanes: self.lanes.and(Together::<S, T>::LANES),
        }
    }

    /// Whether a block has more elements than a run of all lanes.
    const fn has_blocks<S: ArrayType>(self) -> bool {
        let size = match S::MINOR_TO_MAJOR {
            [minor, ..] => S::DIMENSIONS[*minor].extent(),
            [] => Some(1),
        };
        let run = match size {
            Some(size) if size < self.len as u64 => size,
            _ => self.len as u64,
        };
        self.block.len > run.saturating_mul(self.lanes.count as u64)
    }
}

/// A tuple of arrays with the same dimensions. It is a trait so that the path by which the loops traverse the arrays is a constant.
pub(super) trait Arrays {
    /// The first array, whose memory the loops follow.
    type First: ArrayType;
    /// The lines along the most minor dimension of the first array.
    type Lines: Weaves;
    const PATH: Path;
    /// Which lines along the most minor dimension of the first array alternate in each array.
    const WEAVES: [Lanes; 4] = Self::Lines::WEAVES;
    /// Whether the lines that alternate in some arrays can be read and written by words in all arrays.
    const ARE_WORDS: bool = Self::Lines::ARE_WORDS;
    /// Whether a block has more elements than a run of all lanes.
    const HAS_BLOCKS: bool = Self::PATH.has_blocks::<Self::First>();
    /// Whether lines of the first array alternate.
    const ALTERNATES: bool = Self::ARE_WORDS && Self::WEAVES[0].count > 1;
    /// Whether lines of the first array alternate in a different way than lines of the other arrays.
    const WRITES_WORDS: bool = Self::ALTERNATES && Self::PATH.lanes.count == 1;
    /// The lines that are visited together.
    const GROUP: Lanes = if Self::WRITES_WORDS { Self::WEAVES[0] } else { Self::PATH.lanes };
}

/// Elements of all arrays that are visited together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// A run along the most minor dimension.
    Run,
    /// A stretch of memory in all arrays.
    Stretch,
    /// Runs of lines that alternate in the first array ([`Arrays::WRITES_WORDS`]).
    Group,
}

macro_rules! arrays {
    ($($T:ident),*) => {
        impl<S: ArrayType<Element: Plain>, $($T: ArrayType<Element: Plain>),*> Arrays for (S, $($T),*) {
            type First = S;
            type Lines = (Together<S, S>, $(Together<S, $T>),*);
            const PATH: Path = Path::of::<S>()$(.and::<S, $T>())*;
        }
    };
}

arrays!(T);
arrays!(T, U);
arrays!(T, U, W);

type IndexOf<A> = <<A as Arrays>::First as ArrayType>::Index;

/// Calls `f` for each part, with the index of its first element, its number of elements (for a group, the number in each line), and its kind.
/// Together, the parts have all elements with indices below `sizes`.
#[inline(always)]
fn for_each_part<A: Arrays>(sizes: IndexOf<A>, mut f: impl FnMut(IndexOf<A>, usize, Part)) {
    let mut start = IndexOf::<A>::ORIGIN;
    if const { !A::HAS_BLOCKS } {
        return for_each_minor_run::<A>(start, sizes, f);
    }
    if sizes.as_ref().contains(&0) {
        return;
    }
    let covers = |dimension: usize| const { A::PATH.block.covers }[dimension] as usize;
    loop {
        let (mut rest, mut is_whole) = (sizes, true);
        for (dimension, (rest, start)) in rest.as_mut().iter_mut().zip(start.as_ref()).enumerate() {
            *rest -= start;
            is_whole &= *rest >= covers(dimension);
            *rest = (*rest).min(covers(dimension));
        }
        if is_whole {
            f(start, const { A::PATH.block.len as usize }, Part::Stretch);
        } else {
            for_each_minor_run::<A>(start, rest, &mut f);
        }
        let order = const { A::First::MINOR_TO_MAJOR }.iter().copied();
        if !step(start.as_mut(), sizes.as_ref(), order, covers) {
            return;
        }
    }
}

/// Like [`for_each_part`], but without blocks, and only for the `sizes` indices of each dimension from `start` on. Runs and
/// lanes begin at `start`.
#[inline(always)]
fn for_each_minor_run<A: Arrays>(start: IndexOf<A>, sizes: IndexOf<A>, mut f: impl FnMut(IndexOf<A>, usize, Part)) {
    if sizes.as_ref().contains(&0) {
        return;
    }
    let (order, lanes) = const { (A::First::MINOR_TO_MAJOR, A::GROUP) };
    let minor = order.first().copied().unwrap_or(0);
    let size = sizes.as_ref().get(minor).copied().unwrap_or(1);
    let mut index = IndexOf::<A>::ORIGIN;
    loop {
        let mut line = start;
        line.as_mut().iter_mut().zip(index.as_ref()).for_each(|(entry, index)| *entry += index);
        let lines = if const { A::GROUP.count > 1 } {
            sizes.as_ref()[lanes.dimension] - index.as_ref()[lanes.dimension]
        } else {
            1
        };
        for_each_run(size, const { A::PATH.len }, |number, len| {
            let mut index = line;
            index.as_mut().iter_mut().skip(minor).take(1).for_each(|entry| *entry += number);
            if const { A::GROUP.count == 1 } {
                return f(index, len, Part::Run);
            }
            // The last lines of a dimension may not fill a band: they are visited one by one.
            if lines >= lanes.count {
                return match const { A::WRITES_WORDS } {
                    true => f(index, len, Part::Group),
                    false => f(index, len * lanes.count, Part::Stretch),
                };
            }
            for _ in 0..lines {
                f(index, len, Part::Run);
                index.as_mut()[lanes.dimension] += 1;
            }
        });
        let others = order.iter().skip(1).copied();
        if !step(index.as_mut(), sizes.as_ref(), others, |d| if d == lanes.dimension { lanes.count } else { 1 }) {
            return;
        }
    }
}

macro_rules! runs_together {
    (@one $operand:ident) => { 1 };
    ($name:ident($($T:ident $operand:ident $stride:ident),*)) => {
        /// Replaces `len` values by the results of `f` for them and the operands' values.
        ///
        /// A separate function, not `inline(always)`: its arguments tell the optimizer that the runs do not overlap.
        #[inline]
        pub(super) fn $name<V: Copy, $($T: Copy),*>(
            values: &mut [V],
            $($operand: &[$T],)*
            len: usize,
            strides: [usize; { 1 $(+ runs_together!(@one $operand))* }],
            f: &mut impl FnMut(V, $($T),*) -> V,
        ) {
            let [stride, $($stride),*] = strides;
            let Some(last) = len.checked_sub(1) else { return };
            // With a separate loop for strides of 1, the compiler uses vectors even if this function is not inlined and strides are variables.
            if strides == [1; _] {
                let values = &mut values[..len];
                $(let $operand = &$operand[..len];)*
                for i in 0..len {
                    values[i] = f(values[i], $($operand[i]),*);
                }
                return;
            }
            let values = &mut values[..last * stride + 1];
            $(let $operand = &$operand[..last * $stride + 1];)*
            for i in 0..len {
                let value = &mut values[i * stride];
                *value = f(*value, $($operand[i * $stride]),*);
            }
        }
    };
}

/// Like [`together_1`], for copies. If both runs are contiguous, they are copied at once, even without optimization.
#[inline]
pub(super) fn copy_1<V: Copy>(
    values: &mut [V],
    source: &[V],
    len: usize,
    strides: [usize; 2],
    f: &mut impl FnMut(V, V) -> V,
) {
    if strides == [1; 2] { values.copy_from_slice(source) } else { together_1(values, source, len, strides, f) }
}

runs_together!(together_1(T first first_stride));
runs_together!(together_2(T first first_stride, U second second_stride));
runs_together!(together_3(T first first_stride, U second second_stride, W third third_stride));

/// The memory of `len` elements of an operand, from the first to the last one. `index` is the index of the first.
///
/// # Safety
/// These are elements of the array, `stride` apart, and nothing of another block lies between them (`own_run`); or they are a stretch of memory that
/// belongs to the array.
#[inline(always)]
pub(super) unsafe fn run_of<'a, T: ArrayType<Element: Plain>>(
    (shape, values): (T, Values<'a, T::Element>),
    index: T::Index,
    len: usize,
    stride: usize,
) -> &'a [ValueOf<T>] {
    let first = shape.linear_index_of(index);
    // SAFETY: nothing writes the memory of an operand, which is borrowed. The caller guarantees that the range belongs to the array.
    unsafe { values.range(first..first + (len - 1) * stride + 1) }
}

/// The runs, `len` elements each, of all lines that alternate with the line of this index.
///
/// # Safety
/// These `len` elements of the line belong to one of its runs, and `weave` is a [`Together::WEAVE`] of the array that is not 0.
#[inline(always)]
pub(super) unsafe fn band_of<'a, T: ArrayType<Element: Plain>>(
    (shape, values): (T, Values<'a, T::Element>),
    index: T::Index,
    len: usize,
    weave: Lanes,
) -> &'a [ValueOf<T>] {
    let first = shape.linear_index_of(index) - weave.lane(index);
    // SAFETY: as for `run_of`. Lines that alternate belong to the array, or are padding of its tiles (`own_run`).
    unsafe { values.range(first..first + len * weave.count) }
}

/// Like [`band_of`], for `N` lines that are neighbours along a dimension. Also returns the lane of each line.
///
/// This is a loop, because the optimizer does not inline the closures of `array::map` and the like.
///
/// # Safety
/// As [`band_of`], for all of these lines.
#[inline(always)]
pub(super) unsafe fn bands_of<'a, T: ArrayType<Element: Plain>, const N: usize>(
    operand: (T, Values<'a, T::Element>),
    mut index: T::Index,
    len: usize,
    weave: Lanes,
    dimension: usize,
) -> ([&'a [ValueOf<T>]; N], [usize; N]) {
    let (mut bands, mut lanes) = ([&[][..]; N], [0; N]);
    for (band, lane) in bands.iter_mut().zip(&mut lanes) {
        // SAFETY: the caller guarantees it.
        *band = unsafe { band_of::<T>(operand, index, len, weave) };
        *lane = weave.lane(index);
        index.as_mut()[dimension] += 1;
    }
    (bands, lanes)
}

/// Copies the elements whose indices are in bounds of both arrays.
pub(crate) fn copy_common<S, B, T, C>(destination: &mut Buffer<S, B>, source: &Buffer<T, C>)
where
    S: ArrayType<Element: Plain>,
    T: ArrayType<Element = S::Element, Dimensions = S::Dimensions>,
    B: BytesMut,
    C: Bytes,
{
    const { assert_whole::<S>() };
    const { assert_whole::<T>() };
    let (to, from) = (destination.shape(), source.shape());
    let mut sizes = to.sizes();
    sizes.as_mut().iter_mut().zip(sizes_of(from).as_ref()).for_each(|(size, &other)| *size = other.min(*size));
    // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed with `source`.
    let source = (from, unsafe { source.values_for() });
    // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `destination`.
    let mut values = unsafe { destination.values_mut_for() };
    if const { Together::<S, T>::SAME_PLACES } && to.sizes().as_ref() == sizes_of(from).as_ref() {
        return to.for_each_segment_range(|range| {
            // SAFETY: `SAME_PLACES`: in both arrays, which have the same sizes, these positions hold the same elements.
            let source = unsafe { source.1.range(range.clone()) };
            // SAFETY: the range contains only positions of elements of the destination.
            unsafe { values.range(range) }.copy_from_slice(source);
        });
    }
    together_parts!((S, T), &mut values, to, sizes, |_, value| value; copy_1 lines_1 groups_1 (T source stride lane));
}

/// Visits the elements of arrays together, as [`for_each_part`] gives them, and replaces those of the first one by the results of `$f`.
macro_rules! together_parts {
    (
        $A:ty, $values:expr, $shape:expr, $sizes:expr, $f:expr;
        $together:ident $by_lines:ident $by_groups:ident ($($T:ident $operand:ident $stride:ident $lane:ident)*)
    ) => {{
        let (values, shape, mut f) = ($values, $shape, $f);
        for_each_part::<$A>($sizes, |index, len, part| {
            let first = shape.linear_index_of(index);
            if const { <$A>::WRITES_WORDS } && part == Part::Group {
                if const { <$A>::GROUP.count == 2 } {
                    together_parts!(@group 2, $A, values, first, index, len, f; $by_groups ($($T $operand $lane)*));
                } else if const { <$A>::GROUP.count == 4 } {
                    together_parts!(@group 4, $A, values, first, index, len, f; $by_groups ($($T $operand $lane)*));
                } else {
                    together_parts!(@group 8, $A, values, first, index, len, f; $by_groups ($($T $operand $lane)*));
                }
                return;
            }
            if const { <$A>::ARE_WORDS } && part == Part::Run {
                let mut weaves = const { <$A>::WEAVES }.into_iter().skip(1);
                $(
                    let weave = weaves.next().unwrap_or_default();
                    // SAFETY: a run of all arrays is a part of one of this operand's; `ARE_WORDS` rules out a `WEAVE` of 0.
                    let $operand = unsafe { band_of::<$T>($operand, own_index::<$T>(index), len, weave) };
                    let $lane = weave.lane(index);
                )*
                let weave = const { <$A>::WEAVES[0] };
                let (first, lane) = (first - weave.lane(index), weave.lane(index));
                // SAFETY: as for the operands (`band_of`); the memory is borrowed mutably.
                let values = unsafe { values.range(first..first + len * weave.count) };
                return $by_lines::<<$A as Arrays>::Lines, S::Element, $($T::Element),*>(
                    values, $($operand,)* [lane, $($lane),*], &mut f,
                );
            }
            let strides = const { [Together::<S, S>::STRIDE, $(Together::<S, $T>::STRIDE),*] };
            let strides = if part == Part::Run { strides } else { [1; _] };
            let [stride, $($stride),*] = strides;
            // SAFETY: a run that all arrays share is a part of one of this operand's runs. In each of these arrays, a stretch holds the elements of a
            // whole block (`CommonBlock`), or of several lines that alternate (`Lanes`).
            $(let $operand = unsafe { run_of::<$T>($operand, own_index::<$T>(index), len, $stride) };)*
            // SAFETY: as for the operands; the memory is borrowed mutably.
            let values = unsafe { values.range(first..first + (len - 1) * stride + 1) };
            $together(values, $($operand,)* len, strides, &mut f);
        });
    }};
    (
        @group $n:literal, $A:ty, $values:ident, $first:ident, $index:ident, $len:ident, $f:ident;
        $by_groups:ident ($($T:ident $operand:ident $lane:ident)*)
    ) => {
        let (mut weaves, dimension) = (const { <$A>::WEAVES }.into_iter().skip(1), const { <$A>::GROUP.dimension });
        $(
            let (index, weave) = (own_index::<$T>($index), weaves.next().unwrap_or_default());
            // SAFETY: all lines of a group are in bounds, and a run of all arrays is a part of one of this operand's; `WRITES_WORDS` rules
            // out a `WEAVE` of 0.
            let ($operand, $lane) = unsafe { bands_of::<$T, $n>($operand, index, $len, weave, dimension) };
        )*
        // SAFETY: all lines of a group are in bounds, and their runs alternate in this array: they are one stretch.
        let values = unsafe { $values.range($first..$first + $len * $n) };
        $by_groups::<<$A as Arrays>::Lines, S::Element, $($T::Element,)* $n>(values, $(&$operand,)* [$($lane),*], &mut $f);
    };
}
use together_parts;

macro_rules! apply_with {
    (
        $(#[$doc:meta])* $name:ident by $together:ident $by_lines:ident $by_groups:ident
        ($($T:ident $C:ident $operand:ident $stride:ident $lane:ident),*)
    ) => {
        $(#[$doc])*
        #[inline(always)]
        #[track_caller]
        pub fn $name<$($T, $C),*>(
            &mut self,
            $($operand: &Buffer<$T, $C>,)*
            mut f: impl FnMut(ValueOf<S>, $(ValueOf<$T>),*) -> ValueOf<S>,
        ) where
            $($T: ArrayType<Element: Plain, Dimensions = S::Dimensions>, $C: Bytes,)*
        {
            const { assert_whole::<S>() };
            $(const { assert_whole::<$T>() };)*
            let shape = self.shape();
            let sizes = shape.sizes();
            $(let sizes = common_sizes(sizes, shape, $operand.shape());)*
            // SAFETY: `assert_whole` was evaluated for each operand; the memory is borrowed with the operands.
            $(let $operand = ($operand.shape(), unsafe { $operand.values_for() });)*
            // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed mutably with `self`.
            let mut values = unsafe { self.values_mut_for() };
            if const { true $(&& Together::<S, $T>::SAME_PLACES)* } {
                return shape.for_each_segment_range(|range| {
                    // SAFETY: `SAME_PLACES`: in the operands, these positions hold the same elements.
                    $(let $operand = unsafe { $operand.1.range(range.clone()) };)*
                    let len = range.len();
                    // SAFETY: the range contains only positions of elements of this array.
                    $together(unsafe { values.range(range) }, $($operand,)* len, [1; _], &mut f);
                });
            }
            together_parts!(
                (S, $($T),*), &mut values, shape, sizes, f;
                $together $by_lines $by_groups ($($T $operand $stride $lane)*)
            );
        }
    };
}

impl<S: ArrayType<Element: Plain>, B: BytesMut> Buffer<S, B> {
    apply_with! {
        /// Replaces every element by the result of `f` for it and the element with the same index in an array of the same dimensions, whose
        /// layout and element type may differ. If one of them is a last block, which may be smaller, elements that only the other one has
        /// stay as they are.
        ///
        /// Elements are processed in runs along the most minor dimension, as long as all layouts allow, or in the order of memory if the
        /// layouts are equal. Where the layouts have tiles in common, such as a block and its array, each tile is one run. In packed tiles, such
        /// as `T(8,128)(2,1)`, the elements of the rows that alternate in memory are processed together.
        ///
        /// ```
        /// use xla_shape::{Buffer, shape};
        ///
        /// let x = Buffer::<shape!(f32[10,200])>::from_fn(|[i, j]| (i + j) as f32);
        /// let mut y = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::from_fn(|[i, _]| i as f32);
        /// y.apply_with(&x, |y, x| 2.0 * x + y);
        /// assert_eq!(y[[9, 150]], 2.0 * 159.0 + 9.0);
        /// ```
        ///
        /// # Panics
        /// If both are whole arrays whose sizes are known only at run time and differ.
        apply_with by together_1 lines_1 groups_1(T C operand stride lane)
    }

    apply_with! {
        /// Replaces every element by the result of `f` for it and the elements with the same index in two arrays of the same dimensions;
        /// see [`apply_with`](Self::apply_with).
        ///
        /// ```
        /// use half::bf16;
        /// use xla_shape::{Buffer, shape};
        ///
        /// let x = Buffer::<shape!(bf16[10,200]{1,0:T(8,128)(2,1)})>::from_fn(|[i, _]| bf16::from_f32(i as f32));
        /// let y = Buffer::<shape!(s32[10,200]{0,1})>::from_fn(|[_, j]| j as i32);
        /// let mut sum = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::zeroed();
        /// sum.apply_with_2(&x, &y, |_, x, y| x.to_f32() + y as f32);
        /// assert_eq!(sum[[9, 150]], 159.0);
        /// ```
        ///
        /// # Panics
        /// If both are whole arrays whose sizes are known only at run time and differ.
        apply_with_2 by together_2 lines_2 groups_2(T C first first_stride first_lane, U D second second_stride second_lane)
    }

    apply_with! {
        /// Replaces every element by the result of `f` for it and the elements with the same index in three arrays of the same dimensions;
        /// see [`apply_with`](Self::apply_with).
        ///
        /// ```
        /// use xla_shape::{Buffer, shape};
        ///
        /// type X = shape!(f32[10,200]{1,0:T(8,128)});
        /// let [x, scale, bias] = [2.0, 3.0, 4.0].map(Buffer::<X>::filled);
        /// let mut y = Buffer::<shape!(f32[10,200])>::zeroed();
        /// y.apply_with_3(&x, &scale, &bias, |_, x, scale, bias| scale * x + bias);
        /// assert_eq!(y.as_slice(), [10.0; 2000]);
        /// ```
        ///
        /// # Panics
        /// If both are whole arrays whose sizes are known only at run time and differ.
        apply_with_3 by together_3 lines_3 groups_3(
            T C first first_stride first_lane, U D second second_stride second_lane, W E third third_stride third_lane
        )
    }
}
