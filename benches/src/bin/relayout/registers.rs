//! Transposes in blocks that stay in registers, as XLA's `TransposePlan` for CPUs does (`xla/pjrt/transpose.cc`), which no registry offers.
//!
//! With AVX2, blocks have 16 by 16 elements of 2 bytes, 8 by 8 of 4 bytes, or 4 by 4 of 8 bytes. Without AVX2, a row of a block takes 16 bytes, and a
//! block has as many rows as a row has elements. 16 by 16 elements at a time are transposed before the next ones. Stores are ordinary. Elements that
//! do not fill a block are copied one by one. The outer loops are sorted by the smaller of their two strides, the largest outermost. Elements that
//! follow each other on both sides are copied as one run.

use crate::cases::Loop;
use bytemuck::Pod;
use std::cmp::Reverse;

/// The side, in elements, of the blocks that are transposed together, unless a single block is larger.
#[cfg(target_arch = "x86_64")]
const TOGETHER: usize = 16;

/// A prepared transpose for elements of one size.
pub(crate) struct Nest {
    /// The outer loops, the outermost first.
    outer: Vec<Loop>,
    /// The loop along which elements are contiguous in the source, and the one for the destination. If one loop is both, it is `rows`.
    columns: Loop,
    rows: Loop,
    /// The number of elements that all loops span, on both sides.
    span: (usize, usize),
}

impl Nest {
    pub(crate) fn new(mut outer: Vec<Loop>) -> Self {
        let end = |side: fn(&Loop) -> usize| 1 + outer.iter().map(|of| (of.size - 1) * side(of)).sum::<usize>();
        let span = (end(|of| of.from), end(|of| of.to));
        let mut take = |side: fn(&Loop) -> usize| {
            let found = outer.iter().position(|of| side(of) == 1);
            found.map_or(Loop { size: 1, from: 1, to: 1 }, |found| outer.remove(found))
        };
        let rows = take(|of| of.to);
        let columns = if rows.from == 1 { Loop { size: 1, from: 1, to: 1 } } else { take(|of| of.from) };
        outer.sort_by_key(|of| Reverse(of.from.min(of.to)));
        Self { outer, columns, rows, span }
    }

    /// Copies all elements.
    ///
    /// # Panics
    /// If the source or the destination has fewer elements than the loops take.
    pub(crate) fn run<T: Pod>(&self, source: &[T], destination: &mut [T]) {
        let (from, to) = (&source[..self.span.0], &mut destination[..self.span.1]);
        if self.rows.from == 1 {
            let run = self.rows.size;
            return each(&self.outer, 0, 0, &mut |a, b| to[b..b + run].copy_from_slice(&from[a..a + run]));
        }
        #[cfg(target_arch = "x86_64")]
        {
            let (from, to) = (from.as_ptr(), to.as_mut_ptr());
            let least = self.columns.size.min(self.rows.size);
            let wide = is_x86_feature_detected!("avx2") && least * size_of::<T>() >= 32;
            let narrow = least * size_of::<T>() >= 16;
            // A function for such a block, and the side of the block in elements. With SSE2, a side takes 16 bytes.
            let tile: Option<(Tile<T>, usize)> = match size_of::<T>() {
                1 if narrow => Some((sse2::tile::<T, 16>, 16)),
                2 if wide => Some((avx2::tile::<T, 8>, 16)),
                2 if narrow => Some((sse2::tile::<T, 8>, 8)),
                4 if wide => Some((avx2::tile::<T, 4>, 8)),
                4 if narrow => Some((sse2::tile::<T, 4>, 4)),
                8 if wide => Some((avx2::tile::<T, 2>, 4)),
                8 if narrow => Some((sse2::tile::<T, 2>, 2)),
                _ => None,
            };
            if let Some((tile, size)) = tile {
                // SAFETY: both slices were cut to the span of all loops, so all elements are in bounds; AVX2 was detected where it is used; each tile
                // is paired with its size.
                return unsafe { self.blocks(from, to, tile, size) };
            }
        }
        let Self { columns, rows, .. } = self;
        each(&self.outer, 0, 0, &mut |a, b| {
            for column in 0..columns.size {
                for row in 0..rows.size {
                    to[b + column * columns.to + row] = from[a + column + row * rows.from];
                }
            }
        });
    }

    /// Copies all elements in blocks of `size` by `size`.
    ///
    /// # Safety
    /// All elements of the loops are valid for reads at `from` and for writes at `to`. The blocks of `tile` have `size` by `size`
    /// elements, and the CPU has the vectors that it needs.
    #[cfg(target_arch = "x86_64")]
    unsafe fn blocks<T: Pod>(&self, from: *const T, to: *mut T, tile: Tile<T>, size: usize) {
        let Self { columns, rows, .. } = self;
        let whole = |side: &Loop| side.size / size * size;
        let (whole_columns, whole_rows) = (whole(columns), whole(rows));
        each(&self.outer, 0, 0, &mut |a, b| {
            let place = |column: usize, row: usize| {
                (from.wrapping_add(a + column + row * rows.from), to.wrapping_add(b + column * columns.to + row))
            };
            for column in (0..whole_columns).step_by(TOGETHER) {
                for row in (0..whole_rows).step_by(TOGETHER) {
                    let counts = (TOGETHER.min(whole_columns - column), TOGETHER.min(whole_rows - row));
                    let (from, to) = place(column, row);
                    // SAFETY: these are rows and columns of the loops, whose elements are in bounds (caller). Their numbers are multiples of `size`.
                    unsafe { tile(from, rows.from, to, columns.to, counts) };
                }
            }
            let copy = |column: usize, row: usize| {
                let (from, to) = place(column, row);
                // SAFETY: `column` and `row` are below the sizes of the loops, whose elements are in bounds (caller).
                let element = unsafe { from.read() };
                // SAFETY: the same for the destination.
                unsafe { to.write(element) };
            };
            (whole_columns..columns.size).for_each(|column| (0..rows.size).for_each(|row| copy(column, row)));
            (0..whole_columns).for_each(|column| (whole_rows..rows.size).for_each(|row| copy(column, row)));
        });
    }
}

/// Calls `inner` with the offsets of every iteration on both sides.
fn each(loops: &[Loop], from: usize, to: usize, inner: &mut impl FnMut(usize, usize)) {
    match loops {
        [] => inner(from, to),
        [last] => (0..last.size).for_each(|i| inner(from + i * last.from, to + i * last.to)),
        [first, rest @ ..] => {
            (0..first.size).for_each(|i| each(rest, from + i * first.from, to + i * first.to, inner));
        }
    }
}

/// Transposes some rows: `(from, row, to, column, (columns, rows))`. Rows of `from` are `row` elements apart, columns of `to` are `column` elements apart.
///
/// # Safety
/// The same as for [`tile!`]: the CPU has the vectors, and these elements are valid for reads and for writes.
#[cfg(target_arch = "x86_64")]
type Tile<T> = unsafe fn(*const T, usize, *mut T, usize, (usize, usize));

/// A [`Tile`] made of blocks.
#[cfg(target_arch = "x86_64")]
macro_rules! tile {
    ($size:expr, $feature:literal) => {
        /// Transposes a few rows and columns; both numbers are multiples of the size of a block.
        ///
        /// # Safety
        /// The CPU has the vectors. `columns` elements of each of the `rows` rows are valid for reads, and `rows` elements of each of the `columns`
        /// columns for writes.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn tile<T, const LANE: usize>(
            from: *const T,
            row: usize,
            to: *mut T,
            column: usize,
            (columns, rows): (usize, usize),
        ) {
            for a in (0..columns).step_by($size) {
                for b in (0..rows).step_by($size) {
                    let (from, to) = (from.wrapping_add(a + b * row), to.wrapping_add(a * column + b));
                    // SAFETY: the block's rows and columns are some of those that the caller guarantees.
                    unsafe { block::<T, LANE>(from, row, to, column) };
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::*;

    tile!(LANE, "sse2");

    /// Transposes `LANE` by `LANE` elements, which take 16 bytes in a row.
    ///
    /// # Safety
    /// `LANE` elements of each of `LANE` rows are valid for reads, and `LANE` elements of each of `LANE` columns for writes.
    #[inline]
    #[target_feature(enable = "sse2")]
    unsafe fn block<T, const LANE: usize>(from: *const T, row: usize, to: *mut T, column: usize) {
        // SAFETY: the caller guarantees 16 readable bytes in each row.
        let rows = std::array::from_fn(|i| unsafe { _mm_loadu_si128(from.wrapping_add(i * row).cast()) });
        for (i, vector) in zipped::<LANE>(rows).into_iter().enumerate() {
            // SAFETY: the caller guarantees 16 writable bytes in each column.
            unsafe { _mm_storeu_si128(to.wrapping_add(i * column).cast(), vector) };
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn zipped<const LANE: usize>(mut rows: [__m128i; LANE]) -> [__m128i; LANE] {
        let zip = |a, b| match LANE {
            16 => (_mm_unpacklo_epi8(a, b), _mm_unpackhi_epi8(a, b)),
            8 => (_mm_unpacklo_epi16(a, b), _mm_unpackhi_epi16(a, b)),
            4 => (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b)),
            _ => (_mm_unpacklo_epi64(a, b), _mm_unpackhi_epi64(a, b)),
        };
        for _ in 0..LANE.ilog2() {
            let old = rows;
            for i in 0..LANE / 2 {
                (rows[2 * i], rows[2 * i + 1]) = zip(old[i], old[i + LANE / 2]);
            }
        }
        rows
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::*;

    tile!(2 * LANE, "avx2");

    /// Transposes `2 * LANE` by `2 * LANE` elements, which take 32 bytes in a row.
    ///
    /// # Safety
    /// The CPU has AVX2. `2 * LANE` elements of each of `2 * LANE` rows are valid for reads, and as many elements of as many columns for writes.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn block<T, const LANE: usize>(from: *const T, row: usize, to: *mut T, column: usize) {
        for half in [0, LANE] {
            let from = from.wrapping_add(half);
            let mut rows = [_mm256_setzero_si256(); LANE];
            for (i, vector) in rows.iter_mut().enumerate() {
                // SAFETY: the caller guarantees 32 readable bytes in each row, of which these are one half.
                let low = unsafe { _mm_loadu_si128(from.wrapping_add(i * row).cast()) };
                // SAFETY: the same for a row of the second half of rows.
                let high = unsafe { _mm_loadu_si128(from.wrapping_add((i + LANE) * row).cast()) };
                *vector = _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high);
            }
            for (i, vector) in zipped::<LANE>(rows).into_iter().enumerate() {
                // SAFETY: the caller guarantees 32 writable bytes in each column.
                unsafe { _mm256_storeu_si256(to.wrapping_add((half + i) * column).cast(), vector) };
            }
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn zipped<const LANE: usize>(mut rows: [__m256i; LANE]) -> [__m256i; LANE] {
        for _ in 0..LANE.ilog2() {
            let old = rows;
            for i in 0..LANE / 2 {
                let (a, b) = (old[i], old[i + LANE / 2]);
                (rows[2 * i], rows[2 * i + 1]) = match LANE {
                    8 => (_mm256_unpacklo_epi16(a, b), _mm256_unpackhi_epi16(a, b)),
                    4 => (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b)),
                    _ => (_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b)),
                };
            }
        }
        rows
    }
}
