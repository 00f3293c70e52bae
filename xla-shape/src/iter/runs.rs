//! Runs of several arrays together.

use super::lines::{Line, LineElements};
use super::memory::{Memory, for_each_run, own_run};
use super::strided::Strided;
use super::zip::common;
use crate::buffer::{Buffer, Bytes, BytesMut, Values, ValuesMut, assert_whole};
use crate::element::Plain;
use crate::sealed::{Sealed, named_in_errors};
use crate::types::{ArrayType, MultiIndex, ValueOf, same_index, step};
use std::fmt;
use std::iter::FusedIterator;
use std::ops::Range;
use xla_shape_core::Dimension;
use xla_shape_core::map::{Run, StrideTableRef};
use xla_shape_core::type_limits::MAX_LIST;

/// Walks along one array, or several together, by runs: `for (y, x) in runs((&mut y, &x))`.
///
/// Each item has a run of every operand, with the elements of the same indices. Runs follow the order of the first operand's memory, and are as
/// long as all layouts allow. A loop over the numbers of a run (`0..y.len()`) is compiled like one over slices. An operand is `&x` or `&mut x`
/// of an array, a view, a block, a section or a [line](Buffer::line); several are a tuple of up to four. Their layouts and element types may
/// differ. If one of them is a last block, which may be smaller, the walk has the elements that all operands have.
///
/// If the elements of an operand are not contiguous along the most minor dimension of the first one, they have a
/// [stride](Strided::stride) in that operand. Arrays of equal layouts without padding are one run.
///
/// ```
/// use xla_shape::iter::runs;
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(f32[10,200])>::from_fn(|[i, j]| (i + j) as f32);
/// let w = Buffer::<shape!(f32[10,200]{0,1})>::filled(2.0);
/// let mut y = Buffer::<shape!(f32[10,200]{1,0:T(8,128)})>::zeroed();
/// for (mut y, x, w) in runs((&mut y, &x, &w)) {
///     for i in 0..y.len() {
///         y[i] = x[i] * w[i];
///     }
/// }
/// assert_eq!(y[[9, 150]], 2.0 * 159.0);
///
/// let mut sum = 0.0; // of one array alone
/// for run in runs(&y) {
///     sum += run.iter().sum::<f32>();
/// }
/// assert_eq!(sum, 2.0 * 2000.0 * 104.0);
/// ```
///
/// # Panics
/// If whole arrays, or lines, have different sizes that are known only at run time.
#[inline(always)]
#[track_caller]
pub fn runs<O: SameDimensions>(operands: O) -> Runs<O> {
    named_in_errors!(O);
    let (operands, sizes) = operands.prepare();
    let left = if const { O::WALK.stretch } { usize::from(!sizes.as_ref().contains(&0)) } else { O::WALK.count(sizes) };
    Runs { walk: State { operands, sizes, index: O::Index::ORIGIN, left } }
}

/// An operand of [`runs`]: `&Buffer` or `&mut Buffer` of any array, block or section, `&Line` or `&mut Line`.
///
/// ```
/// use xla_shape::buffer::{Buffer, BytesMut};
/// use xla_shape::element::F32;
/// use xla_shape::iter::{RunOperand, Strided, runs};
/// use xla_shape::shape;
/// use xla_shape::types::ArrayType;
///
/// /// Adds an array, or a part of one, in any layout.
/// fn add<'a, S, B, X>(y: &'a mut Buffer<S, B>, x: X)
/// where
///     S: ArrayType<Element = F32>,
///     B: BytesMut,
///     X: RunOperand<Dimensions = S::Dimensions, Run = Strided<&'a [f32]>>,
/// {
///     for (mut y, x) in runs((y, x)) {
///         for i in 0..y.len() {
///             y[i] += x[i];
///         }
///     }
/// }
///
/// let mut y = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::filled(1.0);
/// add(&mut y, &Buffer::<shape!(f32[8,200]{0,1})>::filled(0.5));
/// assert_eq!(y[[7, 150]], 1.5);
/// ```
///
/// # Safety
/// If the caller of `run` keeps its safety rules, the run's elements are elements of the operand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an array to walk along by runs",
    label = "expected `&x` or `&mut x` of an array, a view, a block or a line with whole elements"
)]
pub unsafe trait RunOperand: Sealed {
    /// The index of an element.
    type Index: MultiIndex;
    /// The dimensions, which all operands have in common.
    type Dimensions;
    /// A run of the elements.
    type Run;
    #[doc(hidden)]
    type Prepared;
    #[doc(hidden)]
    const FACTS: Facts;

    #[doc(hidden)]
    fn prepare(self) -> Self::Prepared;

    #[doc(hidden)]
    fn sizes(operand: &Self::Prepared) -> Self::Index;

    /// The run of `len` elements that begins at this index.
    ///
    /// # Safety
    /// The index is in bounds. Either `stride` is the one in `FACTS` along a dimension, and `len` elements along it are in bounds and belong to one
    /// of its runs; or the array is a stretch of `len` elements, `index` belongs to the first one, and `stride` is 1. For an operand to write, no
    /// element is in two runs that live at the same time.
    #[doc(hidden)]
    unsafe fn run(operand: &Self::Prepared, index: Self::Index, len: usize, stride: usize) -> Self::Run;
}

/// How the elements of an operand lie in memory.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The dimensions, the most minor one first.
    order: &'static [usize],
    /// The runs along each dimension; if a stride is not known, runs have one element.
    runs: [Run; MAX_LIST],
    /// The sizes, if all are known.
    sizes: Option<&'static [Dimension]>,
    /// Whether operands with other sizes are an error.
    is_whole: bool,
    /// The map of an array that is one stretch of memory without padding.
    stretch: Option<StrideTableRef<'static>>,
}

impl Facts {
    const fn of_array<S: ArrayType<Element: Plain>>() -> Self {
        const { assert_whole::<S>() };
        let (mut runs, mut i) = ([Run { len: 1, stride: Some(1) }; MAX_LIST], 0);
        while i < S::NUM_DIMENSIONS {
            let run = own_run::<S>(i);
            if run.stride.is_some() {
                runs[i] = run;
            }
            i += 1;
        }
        let is_stretch = S::IS_WHOLE_ARRAY && matches!(S::IS_WHOLE, Some(true));
        Self {
            order: S::MINOR_TO_MAJOR,
            runs,
            sizes: if S::IS_STATIC { Some(S::DIMENSIONS) } else { None },
            is_whole: S::IS_WHOLE_ARRAY,
            stretch: if is_stretch { Some(S::TABLE) } else { None },
        }
    }

    pub(super) const fn of_line(run: Run, size: Option<&'static [Dimension]>) -> Self {
        let mut runs = [Run { len: 1, stride: Some(1) }; MAX_LIST];
        if run.stride.is_some() {
            runs[0] = run;
        }
        Self { order: &[0], runs, sizes: size, is_whole: true, stretch: None }
    }

    /// The stride along a dimension.
    const fn stride(self, dimension: usize) -> usize {
        match self.runs[dimension].stride {
            Some(stride) => stride as usize,
            None => 1,
        }
    }
}

/// How operands are walked along together.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    order: &'static [usize],
    /// The dimension of the runs.
    minor: usize,
    /// A run begins at each multiple of this length; `usize::MAX` if the dimension is one run.
    len: usize,
    /// The length of every run, if it is known.
    known: Option<usize>,
    /// Whether all elements are one run: they are a stretch of memory, in the same order in all operands.
    stretch: bool,
    /// The number of all elements, if it is known.
    elements: Option<usize>,
}

impl Walk {
    const fn new(operands: &[Facts]) -> Self {
        let first = operands[0];
        let minor = if first.order.is_empty() { 0 } else { first.order[0] };
        let (mut len, mut known, mut stretch, mut i) = (usize::MAX, true, true, 0);
        while i < operands.len() {
            let facts = operands[i];
            len = common(len, facts.runs[minor].len as usize);
            known = known && facts.sizes.is_some();
            stretch = stretch
                && match (first.stretch, facts.stretch) {
                    (Some(first), Some(table)) => first.is_same_map(table),
                    _ => false,
                };
            i += 1;
        }
        // A run of known length makes loops that the compiler unrolls. The length is known if the whole line is one run, or runs divide the line
        // evenly.
        let (mut every, mut elements) = (None, None);
        if let (true, Some(sizes)) = (known, first.sizes) {
            let (mut number, mut i) = (1, 0);
            while i < sizes.len() {
                if let Some(size) = sizes[i].extent() {
                    number *= size as usize;
                }
                i += 1;
            }
            elements = Some(number);
            let size = match sizes {
                [] => 1,
                sizes => match sizes[minor].extent() {
                    Some(size) => size as usize,
                    None => 0,
                },
            };
            if size <= len {
                every = Some(size);
            } else if size % len == 0 {
                every = Some(len);
            }
        }
        Self { order: first.order, minor, len, known: every, stretch, elements }
    }

    /// The number of runs along the dimension.
    #[inline(always)]
    fn count<I: MultiIndex>(self, sizes: I) -> usize {
        if sizes.as_ref().contains(&0) {
            return 0;
        }
        let counts = sizes.as_ref().iter().enumerate();
        counts.map(|(d, &size)| if d == self.minor { size.div_ceil(self.len) } else { size }).product()
    }
}

/// A [`RunOperand`], or a tuple of up to four with the same number of dimensions. If their sizes are equal, too, they are [`SameDimensions`].
///
/// ```
/// use xla_shape::iter::{RunOperands, SameDimensions, Strided, runs};
/// use xla_shape::{Buffer, shape};
///
/// /// The sum of what one operand reads: an array, a block or a line.
/// fn sum<'a>(operand: impl SameDimensions + RunOperands<Runs = Strided<&'a [f32]>>) -> f32 {
///     runs(operand).map(|run| run.iter().sum::<f32>()).sum()
/// }
///
/// let x = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::filled(1.0);
/// assert_eq!((sum(&x), sum(&x.line::<-1>([3, 0]).unwrap())), (1600.0, 200.0));
/// ```
///
/// # Safety
/// As [`RunOperand`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be walked along by runs",
    label = "expected `&x` or `&mut x` of an array, a block or a line, or a tuple of up to four; elements are whole"
)]
pub unsafe trait RunOperands: Sealed {
    /// The index of an element.
    type Index: MultiIndex;
    /// A run of each operand.
    type Runs;
    #[doc(hidden)]
    type Prepared;
    #[doc(hidden)]
    const WALK: Walk;

    /// The operands, and the sizes that they have in common.
    #[doc(hidden)]
    #[track_caller]
    fn prepare(self) -> (Self::Prepared, Self::Index);

    /// # Safety
    /// As [`RunOperand::run`], for the minor dimension of the walk, or a stretch.
    #[doc(hidden)]
    unsafe fn run<const STRETCH: bool>(operands: &Self::Prepared, index: Self::Index, len: usize) -> Self::Runs;
}

/// The operands of [`runs`]: a [`RunOperand`], or a tuple of up to four with the same dimensions.
///
/// ```
/// use xla_shape::iter::{SameDimensions, runs};
/// use xla_shape::{Buffer, shape};
///
/// fn num_runs(operands: impl SameDimensions) -> usize {
///     runs(operands).count()
/// }
///
/// // One stretch of memory; together with tiles, runs of 128 and 72 elements in each row.
/// let x = Buffer::<shape!(f32[8,200])>::zeroed();
/// let tiled = Buffer::<shape!(f32[8,200]{1,0:T(8,128)})>::zeroed();
/// assert_eq!((num_runs(&x), num_runs((&x, &tiled))), (1, 16));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be walked along by runs",
    label = "expected `&x` or `&mut x` of an array, a block or a line, or a tuple of up to four with the same dimensions; elements are whole"
)]
pub trait SameDimensions: RunOperands {}

// SAFETY: `run` calls that of the operand by the same rules.
unsafe impl<A: RunOperand> RunOperands for A {
    type Index = A::Index;
    type Runs = A::Run;
    type Prepared = A::Prepared;
    const WALK: Walk = Walk::new(&[A::FACTS]);

    #[inline(always)]
    fn prepare(self) -> (A::Prepared, A::Index) {
        let operand = A::prepare(self);
        let sizes = A::sizes(&operand);
        (operand, sizes)
    }

    #[inline(always)]
    // SAFETY: the caller keeps the promise of the trait's `run`.
    unsafe fn run<const STRETCH: bool>(operand: &A::Prepared, index: A::Index, len: usize) -> A::Run {
        let stride = const { if STRETCH { 1 } else { A::FACTS.stride(Self::WALK.minor) } };
        // SAFETY: the caller's promise.
        unsafe { A::run(operand, index, len, stride) }
    }
}

/// Copies sizes that only a message needs, so that the originals stay in registers.
#[inline(always)]
fn copied<I: MultiIndex>(sizes: I) -> I {
    let mut copy = I::ORIGIN;
    copy.as_mut().copy_from_slice(sizes.as_ref());
    copy
}

/// Adds an operand to the sizes that all operands so far have in common, and to the sizes of the whole arrays among
/// them.
#[inline(always)]
#[track_caller]
fn joined<I: MultiIndex>((sizes, whole): (I, Option<I>), other: I, facts: Facts) -> (I, Option<I>) {
    if let (Some(whole), true) = (whole, facts.is_whole) {
        // Compare sizes one by one, not as slices, so that the optimizer still knows which of them are constants.
        let are_equal =
            whole.as_ref().iter().zip(other.as_ref()).fold(true, |equal, (size, other)| equal & (size == other));
        assert!(are_equal, "expected operands with sizes {:?}, found {:?}", copied(whole), copied(other));
        return (sizes, Some(whole)); // These sizes are among the common ones already.
    }
    let mut sizes = sizes;
    sizes.as_mut().iter_mut().zip(other.as_ref()).for_each(|(size, &other)| *size = other.min(*size));
    (sizes, if facts.is_whole { Some(other) } else { whole })
}

macro_rules! operands {
    ($($T:ident $t:ident),*) => {
        // SAFETY: `run` calls those of the operands by the same rules.
        unsafe impl<A: RunOperand, $($T: RunOperand),*> RunOperands for (A, $($T),*) {
            type Index = A::Index;
            type Runs = (A::Run, $($T::Run),*);
            type Prepared = (A::Prepared, $($T::Prepared),*);
            const WALK: Walk = Walk::new(&[A::FACTS, $($T::FACTS),*]);

            #[inline(always)]
            #[track_caller]
            fn prepare(self) -> (Self::Prepared, A::Index) {
                let (a, $($t),*) = self;
                let (a, $($t),*) = (a.prepare(), $($t.prepare()),*);
                let sizes = A::sizes(&a);
                let joint = (sizes, if const { A::FACTS.is_whole } { Some(sizes) } else { None });
                $(let joint = joined(joint, same_index($T::sizes(&$t)), const { $T::FACTS });)*
                ((a, $($t),*), joint.0)
            }

            #[inline(always)]
            // SAFETY: the caller keeps the promise of the trait's `run`.
            unsafe fn run<const STRETCH: bool>(operands: &Self::Prepared, index: A::Index, len: usize) -> Self::Runs {
                let (a, $($t),*) = operands;
                let stride = const { if STRETCH { 1 } else { A::FACTS.stride(Self::WALK.minor) } };
                // SAFETY: the caller's promise.
                let a = unsafe { A::run(a, index, len, stride) };
                $(
                    let stride = const { if STRETCH { 1 } else { $T::FACTS.stride(Self::WALK.minor) } };
                    // SAFETY: the caller's promise.
                    let $t = unsafe { $T::run($t, same_index(index), len, stride) };
                )*
                (a, $($t),*)
            }
        }

        impl<A: RunOperand, $($T: RunOperand<Dimensions = A::Dimensions>),*> SameDimensions for (A, $($T),*) {}
    };
}

operands!(T t);
operands!(T t, U u);
operands!(T t, U u, V v);

impl<S: ArrayType<Element: Plain>, B: Bytes> SameDimensions for &Buffer<S, B> {}
impl<S: ArrayType<Element: Plain>, B: BytesMut> SameDimensions for &mut Buffer<S, B> {}
impl<S: ArrayType<Element: Plain>, B: Bytes, const DIM: i64> SameDimensions for &Line<S, B, DIM> {}
impl<S: ArrayType<Element: Plain>, B: BytesMut, const DIM: i64> SameDimensions for &mut Line<S, B, DIM> {}

impl<S, B> Sealed for &Buffer<S, B> {}
impl<S, B> Sealed for &mut Buffer<S, B> {}

impl<S: ArrayType, B, const DIM: i64> Sealed for &Line<S, B, DIM> {}
impl<S: ArrayType, B, const DIM: i64> Sealed for &mut Line<S, B, DIM> {}

/// The positions from the first to the last of `len` elements that lie `stride` apart.
#[inline(always)]
fn positions(first: usize, len: usize, stride: usize) -> Range<usize> {
    first..first + (len - 1) * stride + 1
}

/// Implements `RunOperand` for arrays and lines, to read or to write.
macro_rules! run_operand {
    ([$($mutable:tt)?] $Bytes:ident $Values:ident $values_for:ident $parts:ident) => {
        // SAFETY: `run` gives elements of the array: by the caller's promise, they are in bounds and their distance is `stride`.
        unsafe impl<'a, S: ArrayType<Element: Plain>, B: $Bytes> RunOperand for &'a $($mutable)? Buffer<S, B> {
            type Index = S::Index;
            type Dimensions = S::Dimensions;
            type Run = Strided<&'a $($mutable)? [ValueOf<S>]>;
            type Prepared = (S, $Values<'a, S::Element>);
            const FACTS: Facts = Facts::of_array::<S>();

            #[inline(always)]
            fn prepare(self) -> Self::Prepared {
                const { assert_whole::<S>() };
                // SAFETY: `assert_whole` has just been evaluated; the memory is borrowed for `'a`, mutably if this is an operand to write.
                (self.shape(), unsafe { self.$values_for() })
            }

            #[inline(always)]
            fn sizes((shape, _): &Self::Prepared) -> S::Index {
                shape.sizes()
            }

            #[inline(always)]
            // SAFETY: the caller keeps the promise of the trait's `run`.
            unsafe fn run((shape, values): &Self::Prepared, index: S::Index, len: usize, stride: usize) -> Self::Run {
                let first = values.pointer(positions(shape.linear_index_of(index), len, stride));
                // SAFETY: the caller's promise. Nothing else writes the array's elements for `'a`; if this is an operand to write, nothing else reads
                // them, and no two runs have one in common.
                unsafe { Strided::new(first, len, stride) }
            }
        }

        // SAFETY: `run` gives elements of the line: by the caller's promise, they are in bounds and their distance is `stride`.
        unsafe impl<'a, S: ArrayType<Element: Plain>, B: $Bytes, const DIM: i64> RunOperand
            for &'a $($mutable)? Line<S, B, DIM>
        {
            type Index = [usize; 1];
            type Dimensions = LineElements;
            type Run = Strided<&'a $($mutable)? [ValueOf<S>]>;
            type Prepared = (S, S::Index, $Values<'a, S::Element>);
            const FACTS: Facts = Line::<S, B, DIM>::FACTS;

            #[inline(always)]
            fn prepare(self) -> Self::Prepared {
                let (array, index) = self.$parts();
                // SAFETY: the functions that make lines evaluate `assert_whole`; the memory is borrowed for `'a`, mutably if this is an operand
                // to write.
                (array.shape(), index, unsafe { array.$values_for() })
            }

            #[inline(always)]
            fn sizes((shape, ..): &Self::Prepared) -> [usize; 1] {
                [Line::<S, B, DIM>::size(*shape)]
            }

            #[inline(always)]
            // SAFETY: the caller keeps the promise of the trait's `run`.
            unsafe fn run(
                (shape, index, values): &Self::Prepared,
                [number]: [usize; 1],
                len: usize,
                stride: usize,
            ) -> Self::Run {
                let first = values.pointer(positions(Line::<S, B, DIM>::position(*shape, *index, number), len, stride));
                // SAFETY: the caller's promise; the functions that make lines check the other entries of the index. Nothing else writes the line's
                // elements for `'a`; if this is an operand to write, nothing else reads them, and no two runs have one in common.
                unsafe { Strided::new(first, len, stride) }
            }
        }
    };
}

run_operand!([] Bytes Values values_for parts);
run_operand!([mut] BytesMut ValuesMut values_mut_for parts_mut);

struct State<O: RunOperands> {
    operands: O::Prepared,
    sizes: O::Index,
    /// The index of the next run's first element.
    index: O::Index,
    /// The number of runs.
    left: usize,
}

impl<O: RunOperands> State<O> {
    #[inline(always)]
    fn next<const STRETCH: bool>(&mut self) -> Option<(O::Index, O::Runs)> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let index = self.index;
        let walk = const { O::WALK };
        let len = if STRETCH {
            // A stretch has a known number of elements.
            const { if let Some(elements) = O::WALK.elements { elements } else { 0 } }
        } else {
            let known = const { O::WALK.known };
            let rest = || {
                let list = [self.sizes, index].map(|list| list.as_ref().get(walk.minor).copied());
                walk.len.min(list[0].unwrap_or(1) - list[1].unwrap_or(0))
            };
            let len = known.unwrap_or_else(rest);
            let run = |dimension: usize| if dimension == walk.minor { walk.len } else { 1 };
            step(self.index.as_mut(), self.sizes.as_ref(), walk.order.iter().copied(), run);
            len
        };
        // SAFETY: `left` counts the runs of the walk that are within the sizes. The walk's length along its dimension divides the run length of
        // every operand, so each element is in one run, and no run goes beyond an operand's. The sizes are at most those of each operand.
        // For a stretch, there is one run of all elements, whose index is 0: `WALK.stretch` says that every operand is a stretch in that order.
        Some((index, unsafe { O::run::<STRETCH>(&self.operands, index, len) }))
    }
}

impl<O: RunOperands> State<O> {
    /// Calls `f` with all runs that are left. Their lengths are constants, except for the last run of each line.
    #[inline(always)]
    fn for_each(mut self, mut f: impl FnMut(O::Index, O::Runs)) {
        let walk = const { O::WALK };
        if self.index.as_ref().iter().any(|&entry| entry > 0) {
            while let Some((index, runs)) = self.next::<false>() {
                f(index, runs);
            }
            return;
        }
        if self.left == 0 {
            return;
        }
        let mut index = O::Index::ORIGIN;
        let size = self.sizes.as_ref().get(walk.minor).copied().unwrap_or(1);
        loop {
            for_each_run(size, const { O::WALK.len }, |start, len| {
                index.as_mut().iter_mut().skip(walk.minor).take(1).for_each(|entry| *entry = start);
                // SAFETY: as in `next`.
                f(index, unsafe { O::run::<false>(&self.operands, index, len) });
            });
            index.as_mut().iter_mut().skip(walk.minor).take(1).for_each(|entry| *entry = 0);
            if !step(index.as_mut(), self.sizes.as_ref(), walk.order.iter().skip(1).copied(), |_| 1) {
                return;
            }
        }
    }
}

/// The runs of arrays together: an iterator. Made by [`runs`].
pub struct Runs<O: RunOperands> {
    walk: State<O>,
}

impl<O: RunOperands> fmt::Debug for Runs<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runs").field("sizes", &self.walk.sizes).field("left", &self.walk.left).finish_non_exhaustive()
    }
}

impl<O: RunOperands> Runs<O> {
    /// The dimension that runs go along: the most minor one of the first operand. 0 if there is none.
    pub const DIMENSION: usize = O::WALK.minor;

    /// Each run with the index of its first element; its other elements follow along dimension [`DIMENSION`](Self::DIMENSION). For a line, the
    /// index is the number of the element.
    ///
    /// ```
    /// use xla_shape::iter::runs;
    /// use xla_shape::{Buffer, shape};
    ///
    /// // A causal mask.
    /// let mut scores = Buffer::<shape!(f32[16,256]{1,0:T(8,128)})>::filled(1.0);
    /// for ([i, j], mut run) in runs(&mut scores).indexed() {
    ///     for k in 0..run.len() {
    ///         if j + k > i {
    ///             run[k] = f32::NEG_INFINITY;
    ///         }
    ///     }
    /// }
    /// assert_eq!((scores[[3, 3]], scores[[3, 4]], scores[[3, 200]]), (1.0, f32::NEG_INFINITY, f32::NEG_INFINITY));
    /// ```
    #[inline(always)]
    pub fn indexed(self) -> IndexedRuns<O> {
        let mut walk = self.walk;
        if const { O::WALK.stretch } && walk.left > 0 {
            walk.left = O::WALK.count(walk.sizes);
        }
        IndexedRuns { walk }
    }
}

impl<O: RunOperands> Iterator for Runs<O> {
    type Item = O::Runs;

    #[inline(always)]
    fn next(&mut self) -> Option<O::Runs> {
        let next = if const { O::WALK.stretch } { self.walk.next::<true>() } else { self.walk.next::<false>() };
        next.map(|(_, runs)| runs)
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.walk.left, Some(self.walk.left))
    }

    #[inline(always)]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(mut self, init: A, mut f: F) -> A {
        let mut folded = Some(init);
        let mut f = |item| {
            if let Some(before) = folded.take() {
                folded = Some(f(before, item));
            }
        };
        if const { O::WALK.stretch } {
            for runs in self.by_ref() {
                f(runs);
            }
        } else {
            self.walk.for_each(|_, runs| f(runs));
        }
        match folded {
            Some(folded) => folded,
            None => unreachable!("`f` puts back what it takes"),
        }
    }
}

/// The runs of arrays together with the index of each: an iterator. Made by [`Runs::indexed`].
pub struct IndexedRuns<O: RunOperands> {
    walk: State<O>,
}

impl<O: RunOperands> fmt::Debug for IndexedRuns<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut f = f.debug_struct("IndexedRuns");
        f.field("sizes", &self.walk.sizes).field("left", &self.walk.left).finish_non_exhaustive()
    }
}

impl<O: RunOperands> Iterator for IndexedRuns<O> {
    type Item = (O::Index, O::Runs);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.walk.next::<false>()
    }

    #[inline(always)]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.walk.left, Some(self.walk.left))
    }

    #[inline(always)]
    fn fold<A, F: FnMut(A, Self::Item) -> A>(self, init: A, mut f: F) -> A {
        let mut folded = Some(init);
        let mut f = |item| {
            if let Some(before) = folded.take() {
                folded = Some(f(before, item));
            }
        };
        self.walk.for_each(|index, runs| f((index, runs)));
        match folded {
            Some(folded) => folded,
            None => unreachable!("`f` puts back what it takes"),
        }
    }
}

impl<O: RunOperands> ExactSizeIterator for Runs<O> {}
impl<O: RunOperands> FusedIterator for Runs<O> {}
impl<O: RunOperands> ExactSizeIterator for IndexedRuns<O> {}
impl<O: RunOperands> FusedIterator for IndexedRuns<O> {}
