//! Loops written by hand over arrays of `ROWS` by `COLUMNS`, with raw pointers, shifts and constant strides.

use crate::numbers::{Number, larger};
use std::sync::atomic::{Ordering, compiler_fence};
use xla_shape::vector::exp;

/// An order of iterating over memory: groups of runs.
pub(crate) trait Walk {
    /// The elements of a run.
    const LEN: usize;
    /// The distance of neighbouring elements of a run.
    const STRIDE: usize;
    /// The number of rows whose elements alternate in a run.
    const LANES: usize = 1;
    /// The number of groups: one for each row, or for each `LANES` rows.
    const GROUPS: usize;
    /// The runs of a group.
    const RUNS: usize;

    /// The position of a run's first element.
    fn start(group: usize, run: usize) -> usize;
}

/// One loop over all memory.
pub(crate) struct Flat<const ROWS: usize, const COLUMNS: usize>;
/// Row-major, row by row.
pub(crate) struct Rows<const ROWS: usize, const COLUMNS: usize>;
/// `T(8,128)`, row by row.
pub(crate) struct Tiled<const ROWS: usize, const COLUMNS: usize>;
/// `T(8,128)(2,1)`, pair of rows by pair of rows.
pub(crate) struct Pairs<const ROWS: usize, const COLUMNS: usize>;
/// `T(8,128)(2,1)`, row by row: nested loops over the modes of the layout, as in CuTe.
pub(crate) struct StridedRows<const ROWS: usize, const COLUMNS: usize>;

impl<const ROWS: usize, const COLUMNS: usize> Walk for Flat<ROWS, COLUMNS> {
    const LEN: usize = ROWS * COLUMNS;
    const STRIDE: usize = 1;
    const GROUPS: usize = 1;
    const RUNS: usize = 1;

    #[inline(always)]
    fn start(_: usize, _: usize) -> usize {
        0
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Walk for Rows<ROWS, COLUMNS> {
    const LEN: usize = COLUMNS;
    const STRIDE: usize = 1;
    const GROUPS: usize = ROWS;
    const RUNS: usize = 1;

    #[inline(always)]
    fn start(row: usize, _: usize) -> usize {
        row * COLUMNS
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Walk for Tiled<ROWS, COLUMNS> {
    const LEN: usize = 128;
    const STRIDE: usize = 1;
    const GROUPS: usize = ROWS;
    const RUNS: usize = COLUMNS / 128;

    #[inline(always)]
    fn start(row: usize, tile: usize) -> usize {
        (row >> 3) * (COLUMNS << 3) + (tile << 10) + ((row & 7) << 7)
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Walk for Pairs<ROWS, COLUMNS> {
    const LEN: usize = 256;
    const STRIDE: usize = 1;
    const LANES: usize = 2;
    const GROUPS: usize = ROWS / 2;
    const RUNS: usize = COLUMNS / 128;

    #[inline(always)]
    fn start(pair: usize, tile: usize) -> usize {
        (pair >> 2) * (COLUMNS << 3) + (tile << 10) + ((pair & 3) << 8)
    }
}

impl<const ROWS: usize, const COLUMNS: usize> Walk for StridedRows<ROWS, COLUMNS> {
    const LEN: usize = 128;
    const STRIDE: usize = 2;
    const GROUPS: usize = ROWS;
    const RUNS: usize = COLUMNS / 128;

    #[inline(always)]
    fn start(row: usize, tile: usize) -> usize {
        (row >> 3) * (COLUMNS << 3) + (tile << 10) + ((row >> 1 & 3) << 8) + (row & 1)
    }
}

/// The number of accumulators, the same as in the library's kernels.
pub(crate) const LANES: usize = 16;

/// Calls `f` with each element's position and its number in a chunk of `LANES`, chunk by chunk.
#[inline(always)]
fn each<W: Walk>(group: usize, mut f: impl FnMut(usize, usize)) {
    for run in 0..W::RUNS {
        let start = W::start(group, run);
        for chunk in 0..W::LEN / LANES {
            for lane in 0..LANES {
                f(start + (chunk * LANES + lane) * W::STRIDE, lane);
            }
            // With AVX-512, LLVM would otherwise vectorize across chunks, with scatters.
            compiler_fence(Ordering::SeqCst);
        }
    }
}

/// Calls `f` with each element's position, run by run.
#[inline(always)]
fn each_of_runs<W: Walk>(mut f: impl FnMut(usize)) {
    for group in 0..W::GROUPS {
        for run in 0..W::RUNS {
            let start = W::start(group, run);
            for i in 0..W::LEN {
                f(start + i * W::STRIDE);
            }
        }
    }
}

/// The element at a position.
///
/// # Safety
/// `x.add(position)` points to an element, to which no other reference is used during `'a`.
#[inline(always)]
unsafe fn element<'a, V>(x: *mut V, position: usize) -> &'a mut V {
    // SAFETY: the result is within the array of elements (caller).
    let element = unsafe { x.add(position) };
    // SAFETY: it points to an element without other references in use (caller).
    unsafe { &mut *element }
}

macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident($($x:ident: $X:ty),*) $(-> $R:ty)? $body:block)*) => { $(
        $(#[$doc])*
        ///
        /// # Safety
        /// Each pointer points to an array that contains all positions of `W`, and is not used otherwise during the call.
        #[inline(never)]
        pub(crate) unsafe fn $name<W: Walk, E: Number>($($x: $X),*) $(-> $R)? $body
    )* };
}

kernels! {
    /// Writes `value` to all elements.
    fill(x: *mut E::Value, value: E::Value) {
        // SAFETY: `i` is a position of `W`, so it is within the array (caller); the reference ends with the assignment.
        each_of_runs::<W>(|i| *unsafe { element(x, i) } = value);
    }

    /// The sum of all elements.
    sum(x: *mut E::Value) -> f32 {
        let mut sums = [0.0; LANES];
        for group in 0..W::GROUPS {
            // SAFETY: as in `fill`.
            each::<W>(group, |i, lane| sums[lane] += E::f32(*unsafe { element(x, i) }));
        }
        sums.iter().sum()
    }

    /// `x` times a factor.
    scale(x: *mut E::Value, factor: f32) {
        each_of_runs::<W>(|i| {
            // SAFETY: as in `fill`.
            let x = unsafe { element(x, i) };
            *x = E::of(factor * E::f32(*x));
        });
    }

    /// `a · x + y`, written to `y`.
    axpy(a: f32, x: *mut E::Value, y: *mut E::Value) {
        each_of_runs::<W>(|i| {
            // SAFETY: as in `fill`.
            let x = *unsafe { element(x, i) };
            // SAFETY: as in `fill`; the element of `x` has been copied.
            let y = unsafe { element(y, i) };
            *y = E::of(a * E::f32(x) + E::f32(*y));
        });
    }

    /// The softmax of every row.
    softmax(x: *mut E::Value) {
        // SAFETY: all calls below pass positions of `W`, and use the reference only within one expression, as in `fill`.
        let at = |i| unsafe { element(x, i) };
        for group in 0..W::GROUPS {
            let mut max = [f32::MIN; LANES];
            each::<W>(group, |i, lane| max[lane] = larger(max[lane], E::f32(*at(i))));
            let max = rows::<W>(max, larger);
            each::<W>(group, |i, lane| *at(i) = E::of(exp(E::f32(*at(i)) - max[lane])));
            let mut sum = [0.0; LANES];
            each::<W>(group, |i, lane| sum[lane] += E::f32(*at(i)));
            let factor = rows::<W>(sum, |a, b| a + b).map(|sum| 1.0 / sum);
            each::<W>(group, |i, lane| *at(i) = E::of(E::f32(*at(i)) * factor[lane]));
        }
    }
}

/// Combines the accumulators of each row.
#[inline(always)]
fn rows<W: Walk>(lanes: [f32; LANES], f: impl Fn(f32, f32) -> f32) -> [f32; LANES] {
    let mut total = lanes;
    for lane in W::LANES..LANES {
        total[lane % W::LANES] = f(total[lane % W::LANES], lanes[lane]);
    }
    std::array::from_fn(|lane| total[lane % W::LANES])
}
