//! Transposes without tables of offsets: where a transpose has few rows or columns, preparing the tables and the blocks of `transpose` takes
//! longer than the elements.
//!
//! Rows and columns are those of `transpose`.

use super::{LINE, LoopNest, Matrix, Vectors};

/// Transposes in every iteration of a loop nest. Returns `false`, with nothing written, if `vectors` are none, or if rows or columns are not
/// contiguous or do not fill 16 bytes.
///
/// # Safety
/// The CPU has `vectors`. `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel.
pub(super) unsafe fn run_with(
    vectors: Vectors,
    kernel: &Matrix,
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) -> bool {
    let Matrix { bytes, columns, rows } = kernel;
    if (columns.from, rows.to) != (*bytes, *bytes) || columns.len.min(rows.len) * bytes < 16 {
        return false;
    }
    #[cfg(target_arch = "aarch64")]
    if vectors >= Vectors::Neon {
        // SAFETY: the CPU has these vectors. Rows and columns are contiguous, with at least 16 bytes; the caller guarantees the bounds.
        unsafe { super::neon::matrix::<super::neon::V>(kernel, nest, from, to) };
        return true;
    }
    #[cfg(target_arch = "x86_64")]
    if vectors >= Vectors::Avx2 {
        // SAFETY: as for NEON; every CPU with AVX2 has SSE2.
        unsafe { super::avx2::matrix::<super::sse2::V>(kernel, nest, from, to) };
        return true;
    } else if vectors >= Vectors::Sse2 {
        // SAFETY: as for NEON.
        unsafe { super::sse2::matrix::<super::sse2::V>(kernel, nest, from, to) };
        return true;
    }
    false
}

/// How many lines at this distance stay in the L1 cache together. Caches have 64 sets of 64 bytes, and at least 8 ways: where the distance is
/// a multiple of a large power of two, all lines share few sets.
pub(super) fn resident(stride: usize) -> usize {
    ((8 * 64 * LINE) >> stride.trailing_zeros().min(12)).min(64)
}

/// Generates the transposes of one kind of [`Vector`](super::Vector), compiled with the given CPU features.
macro_rules! matrices {
    ([$($feature:tt)+] $lanes:literal) => {
        use super::Matrix;
        use super::matrix::resident;
        use super::super::cache::exceeds_l2;
        use super::tables::chunks;
        use crate::tuning::{DIRECT_TILE, MIN_LONG_COLUMN};

        /// Transposes in every iteration of a loop nest, with the vectors `V` and, where rows or columns do not fill those, with `W` of one
        /// lane.
        ///
        /// # Safety
        /// The CPU has both kinds of vectors. Rows and columns are contiguous and have at least 16 bytes. `from` is valid for reads and `to`
        /// for writes of the bytes that [`LoopNest::span`] gives for the kernel.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn matrix<W: Vector<1>>(kernel: &Matrix, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
            let Matrix { bytes, columns, rows } = *kernel;
            let transpose = match (bytes, nest.0.is_empty()) {
                (4, true) => each_block::<W, 4, 4, false>,
                (4, false) => each_block::<W, 4, 4, true>,
                (8, true) => each_block::<W, 8, 2, false>,
                (8, false) => each_block::<W, 8, 2, true>,
                (_, is_one) if columns.len * bytes <= LINE && (is_one || rows.len >= MIN_LONG_COLUMN) => few_columns::<W>,
                (_, true) => each_block::<W, 16, 1, false>,
                (_, false) => each_block::<W, 16, 1, true>,
            };
            // SAFETY: the caller guarantees the vectors, at least 16 bytes of each row and column, and the elements at all offsets.
            unsafe { transpose((rows.len, columns.len), (rows.from, columns.to), nest, from, to) };
        }

        /// Transposes a few columns of elements of 16 bytes: one column after the other is written.
        ///
        /// # Safety
        /// The CPU has the vectors. With the offsets of every iteration of `nest`, the element of row `b` and column `a` is valid for reads at
        /// `from + b * strides.0 + a * 16` and for writes at `to + a * strides.1 + b * 16`.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn few_columns<W: Vector<1>>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            // The lines of some rows stay in the L1 cache until all of their columns are written.
            let step = resident(strides.0);
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let mut first = 0;
                while first < rows {
                    for a in 0..columns {
                        for b in first..rows.min(first + step) {
                            // SAFETY: `a < columns` and `b < rows`, and the pointers have the offsets of an iteration.
                            let element = unsafe { W::load(from.wrapping_add(b * strides.0 + a * 16)) };
                            // SAFETY: as above; an ordinary store requires no alignment.
                            unsafe { element.put(false, to.wrapping_add(a * strides.1 + b * 16)) };
                        }
                    }
                    first += step;
                }
            });
        }

        /// Transposes rows and columns, at least `LANE` of each, in blocks. `sizes` are the numbers of rows and of columns; `strides` are the
        /// distances between rows in the source and between columns in the destination. `MANY` says whether `nest` has loops.
        ///
        /// # Safety
        /// The CPU has both kinds of vectors. With the offsets of every iteration of `nest`, the element of row `b` and column `a`, of `BYTES`
        /// bytes, is valid for reads at `from + b * strides.0 + a * BYTES` and for writes at `to + a * strides.1 + b * BYTES`.
        /// `LANE * BYTES == 16`.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn each_block<W: Vector<1>, const BYTES: usize, const LANE: usize, const MANY: bool>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let is_large = BYTES == 16 && exceeds_l2(2 * rows * columns * BYTES);
            let [rows_at_once, columns_at_once] = if is_large { DIRECT_TILE } else { [rows, resident(strides.1)] };
            let is_one_tile = rows <= rows_at_once && columns <= columns_at_once;
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                if is_one_tile {
                    // SAFETY: these are all rows and columns, and the pointers have the offsets of an iteration.
                    return unsafe { tile::<W, BYTES, LANE, MANY>(rows, 0..columns, strides, from, to) };
                }
                for rows in chunks(rows, rows_at_once, LANE) {
                    // Some columns through these rows, so that the lines of these columns stay in the L1 cache.
                    for columns in chunks(columns, columns_at_once, LANE) {
                        let (from, to) = (from.wrapping_add(rows.start * strides.0), to.wrapping_add(rows.start * BYTES));
                        // SAFETY: these are some of the rows and columns, at least `LANE` of each, and the pointers have the offsets of an
                        // iteration and of the first row.
                        unsafe { tile::<W, BYTES, LANE, MANY>(rows.len(), columns, strides, from, to) };
                    }
                }
            });
        }

        /// Transposes some columns, at least `LANE`, of the first `rows` rows, in bands of as many rows as two vectors or one have elements.
        ///
        /// # Safety
        /// As [`each_block`], for these rows and columns.
        #[inline(always)]
        unsafe fn tile<W: Vector<1>, const BYTES: usize, const LANE: usize, const MANY: bool>(
            rows: usize,
            columns: Range<usize>,
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            let vector = $lanes * LANE;
            let columns = (columns.start, columns.end);
            let mut next = 0;
            while next < rows {
                // The last rows and columns overlap those before them.
                let place = |first: usize| (from.wrapping_add(first * strides.0), to.wrapping_add(first * BYTES));
                if rows >= 2 * vector && rows - next > vector {
                    let (from, to) = place(next.min(rows - 2 * vector));
                    // SAFETY: the pointers were moved to a row that `2 * vector - 1` others follow, and there are at least `LANE` columns.
                    unsafe { band::<V, $lanes, BYTES, LANE, 2, MANY>(columns, strides, from, to) };
                    next += 2 * vector;
                } else if rows >= vector && rows - next > LANE {
                    let (from, to) = place(next.min(rows - vector));
                    // SAFETY: as above, with `vector` rows.
                    unsafe { band::<V, $lanes, BYTES, LANE, 1, MANY>(columns, strides, from, to) };
                    next += vector;
                } else {
                    let (from, to) = place(next.min(rows - LANE));
                    // SAFETY: as above, with `LANE` rows: the caller guarantees that there are as many.
                    unsafe { band::<W, 1, BYTES, LANE, 1, MANY>(columns, strides, from, to) };
                    next += LANE;
                }
            }
        }

        /// Transposes the columns `start..end`, at least `LANE`, of as many rows as `N` vectors have elements.
        ///
        /// # Safety
        /// As [`each_block`], for these rows and columns.
        #[inline(always)]
        unsafe fn band<
            U: Vector<LANES>,
            const LANES: usize,
            const BYTES: usize,
            const LANE: usize,
            const N: usize,
            const MANY: bool,
        >(
            columns: (usize, usize),
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            if MANY {
                // SAFETY: as for the caller.
                unsafe { inlined_band::<U, LANES, BYTES, LANE, N>(columns, strides, from, to) };
            } else {
                // SAFETY: as for the caller.
                unsafe { called_band::<U, LANES, BYTES, LANE, N>(columns, strides, from, to) };
            }
        }

        /// As [`inlined_band`], as a function of its own: inside `each_block`, the strides of all blocks would be prepared before the first
        /// one, which takes longer than a tiny array.
        ///
        /// # Safety
        /// As [`each_block`], for these rows and columns.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn called_band<U: Vector<LANES>, const LANES: usize, const BYTES: usize, const LANE: usize, const N: usize>(
            columns: (usize, usize),
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            // SAFETY: as for the caller.
            unsafe { inlined_band::<U, LANES, BYTES, LANE, N>(columns, strides, from, to) };
        }

        /// Transposes the columns `start..end`, at least `LANE`, of as many rows as `N` vectors have elements.
        ///
        /// # Safety
        /// As [`each_block`], for these rows and columns.
        #[inline(always)]
        unsafe fn inlined_band<U: Vector<LANES>, const LANES: usize, const BYTES: usize, const LANE: usize, const N: usize>(
            (start, end): (usize, usize),
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            let rows = Offsets { count: N * LANES * LANE, stride: strides.0, table: &[] };
            let mut next = start;
            while next < end {
                let column = next.min(end - LANE);
                // SAFETY: only the CPU features are required, which the caller guarantees.
                let mut transposed = [[unsafe { U::zero() }; LANE]; N];
                for (n, transposed) in transposed.iter_mut().enumerate() {
                    for (i, register) in transposed.iter_mut().enumerate() {
                        let first = n * LANES * LANE + i;
                        // SAFETY: rows `first`, `first + LANE`, … of `N * LANES * LANE` rows, and `column + LANE <= end`: 16 bytes from this column
                        // on are elements of each row.
                        *register = unsafe { U::load_rows::<true>(from.wrapping_add(column * BYTES), rows, first, LANE) };
                    }
                    // SAFETY: only the CPU features are required, which the caller guarantees.
                    *transposed = unsafe { U::zipped::<BYTES, LANE>(*transposed, LANE.ilog2()) };
                }
                for i in 0..LANE {
                    for (n, transposed) in transposed.iter().enumerate() {
                        let to = to.wrapping_add((column + i) * strides.1 + n * 16 * LANES);
                        // SAFETY: vector `n` of column `column + i < end` holds the rows from `n * LANES * LANE` on, which are contiguous in the
                        // destination. An ordinary store requires no alignment.
                        unsafe { transposed[i].put(false, to) };
                    }
                }
                next += LANE;
            }
        }
    };
}
