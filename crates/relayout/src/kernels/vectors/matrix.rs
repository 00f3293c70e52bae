//! Transposes without tables of offsets, for elements of 16 bytes, for small arrays, and where there are few rows or columns: preparing the
//! tables and the blocks of `transpose` would take longer than moving the elements.
//!
//! *Row* and *column* mean the same as in `transpose`.

use super::{LoopNest, Matrix, Vectors};

/// Transposes in every iteration of a loop nest. Returns `false`, with nothing written, if `vectors` is [`Vectors::None`], or if rows or columns are
/// not contiguous or do not fill 16 bytes.
///
/// # Safety
/// The CPU has `vectors`. `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel.
#[inline]
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

/// Generates the transposes of one kind of [`Vector`](super::Vector), compiled with the given CPU features.
macro_rules! matrices {
    ([$($feature:tt)+] $lanes:literal) => {
        use super::Matrix;
        use super::tables::chunks;
        use crate::caches::resident_lines;
        use crate::tuning::{L1_RESIDENT, WIDE_COLUMNS, WIDE_ROWS};

        /// Transposes in every iteration of a loop nest, with the vectors `V` and, where rows or columns do not fill those, with `W` of one
        /// lane.
        ///
        /// # Safety
        /// The CPU has both kinds of vectors. Rows and columns are contiguous and have at least 16 bytes. `from` is valid for reads and `to`
        /// for writes of the bytes that [`LoopNest::span`] gives for the kernel.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn matrix<W: Vector<1>>(
            kernel: &Matrix,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let Matrix { bytes, columns, rows } = *kernel;
            let transpose = match (bytes, nest.0.is_empty()) {
                (1, _) => each_block::<W, 1, 16, true>,
                (2, _) => each_block::<W, 2, 8, true>,
                (4, true) if rows.len < $lanes * 4 => few_rows::<W, 4, 4>,
                (8, true) if rows.len < $lanes * 2 => few_rows::<W, 8, 2>,
                (4, true) => each_block::<W, 4, 4, false>,
                (4, false) => each_block::<W, 4, 4, true>,
                (8, true) => each_block::<W, 8, 2, false>,
                (8, false) => each_block::<W, 8, 2, true>,
                (_, true) => wide::<W, false>,
                (_, false) => wide::<W, true>,
            };
            // SAFETY: the caller guarantees the vectors, at least 16 bytes of each row and column, and the elements at all offsets.
            unsafe { transpose((rows.len, columns.len), (rows.from, columns.to), nest, from, to) };
        }

        /// Transposes elements of 16 bytes. `MANY` says whether `nest` has loops.
        ///
        /// # Safety
        /// The CPU has both kinds of vectors. With the offsets of every iteration of `nest`, the element of row `b` and column `a` is valid for
        /// reads at `from + b * strides.0 + a * 16` and for writes at `to + a * strides.1 + b * 16`.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn wide<W: Vector<1>, const MANY: bool>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            if rows * columns * 16 > L1_RESIDENT {
                return nest.for_each(0, 0, |from_offset, to_offset| {
                    let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                    // SAFETY: these are all rows and columns, and the pointers have the offsets of an iteration.
                    unsafe { wide_blocks::<W>((rows, columns), strides, from, to) };
                });
            }
            let transpose = |from: *const u8, to: *mut u8| {
                // SAFETY: as above.
                unsafe { wide_columns::<W>((rows, columns), strides, from, to) };
            };
            if MANY {
                nest.for_each(0, 0, |from_offset, to_offset| {
                    transpose(from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                });
            } else {
                transpose(from, to);
            }
        }

        /// Transposes elements of 16 bytes in blocks of some rows and columns.
        ///
        /// # Safety
        /// As [`wide`], for a single iteration.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn wide_blocks<W: Vector<1>>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            // Each row of the source and each column of the destination may be in a page of its own. The addresses of a block's pages stay in
            // the TLB, and partial lines at its ends in the L1 cache. If rows share few sets of that cache, blocks have fewer rows.
            let rows_at_once = resident_lines(strides.0).clamp(WIDE_ROWS[0], WIDE_ROWS[1]);
            for rows in chunks(rows, rows_at_once, 1) {
                let (from, to) = (from.wrapping_add(rows.start * strides.0), to.wrapping_add(rows.start * 16));
                for columns in chunks(columns, WIDE_COLUMNS, $lanes) {
                    let (from, to) = (from.wrapping_add(columns.start * 16), to.wrapping_add(columns.start * strides.1));
                    // SAFETY: these are some of the rows and columns, to whose first ones the pointers were moved.
                    unsafe { wide_columns::<W>((rows.len(), columns.len()), strides, from, to) };
                }
            }
        }

        /// Transposes elements of 16 bytes, a line of each row at a time, and then as many columns as a vector has elements.
        ///
        /// # Safety
        /// As [`wide`], in one iteration.
        #[inline(always)]
        unsafe fn wide_columns<W: Vector<1>>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            from: *const u8,
            to: *mut u8,
        ) {
            const IN_LINE: usize = LINE / 16;
            let mut next = 0;
            while next < columns {
                // The last columns overlap those before them.
                let place = |first: usize| (from.wrapping_add(first * 16), to.wrapping_add(first * strides.1));
                if columns - next >= IN_LINE {
                    let (from, to) = place(next);
                    // SAFETY: there are `rows` rows, and at least a line of columns from `next` on, to which the pointers were moved.
                    unsafe { columns_of::<V, W, $lanes, { IN_LINE / $lanes }>(rows, strides, from, to) };
                    next += IN_LINE;
                } else if columns >= $lanes {
                    let (from, to) = place(next.min(columns - $lanes));
                    // SAFETY: as above, for `$lanes` columns.
                    unsafe { columns_of::<V, W, $lanes, 1>(rows, strides, from, to) };
                    next += $lanes;
                } else {
                    let (from, to) = place(next);
                    // SAFETY: as above, for one column.
                    unsafe { columns_of::<W, W, 1, 1>(rows, strides, from, to) };
                    next += 1;
                }
            }
        }

        /// Transposes the columns of `N` vectors, of elements of 16 bytes.
        ///
        /// # Safety
        /// As [`wide`], for the first `rows` rows and `N * LANES` columns.
        #[inline(always)]
        unsafe fn columns_of<U: Vector<LANES>, W: Vector<1>, const LANES: usize, const N: usize>(
            rows: usize,
            strides: (usize, usize),
            mut from: *const u8,
            mut to: *mut u8,
        ) {
            let mut left = rows;
            while left >= LANES {
                for n in 0..N {
                    let (from, to) = (from.wrapping_add(n * LANES * 16), to.wrapping_add(n * LANES * strides.1));
                    // SAFETY: only the CPU features are required, which the caller guarantees.
                    let mut loaded = [unsafe { U::zero() }; LANES];
                    for (i, row) in loaded.iter_mut().enumerate() {
                        // SAFETY: at least `LANES` rows are left, with `LANES` columns of 16 bytes each from the vector's first one on.
                        *row = unsafe { U::load(from.wrapping_add(i * strides.0)) };
                    }
                    // SAFETY: only the CPU features are required, which the caller guarantees.
                    let transposed = unsafe { U::deinterleaved::<16, LANES>(loaded) };
                    for (i, column) in transposed.into_iter().enumerate() {
                        // SAFETY: the `LANES` rows are contiguous in each column. An ordinary store requires no alignment.
                        unsafe { column.put(false, to.wrapping_add(i * strides.1)) };
                    }
                }
                (from, to) = (from.wrapping_add(LANES * strides.0), to.wrapping_add(LANES * 16));
                left -= LANES;
            }
            for b in 0..left {
                for a in 0..N * LANES {
                    // SAFETY: `b` is one of the rows that are left, and `a` one of the columns.
                    let element = unsafe { W::load(from.wrapping_add(b * strides.0 + a * 16)) };
                    // SAFETY: as above; an ordinary store requires no alignment.
                    unsafe { element.put(false, to.wrapping_add(a * strides.1 + b * 16)) };
                }
            }
        }

        /// As [`each_block`] in a single iteration, for fewer rows than a vector of the kind `V` has elements.
        ///
        /// # Safety
        /// As [`each_block`] without loops around it.
        #[inline(never)]
        #[target_feature($(enable = $feature),+)]
        unsafe fn few_rows<W: Vector<1>, const BYTES: usize, const LANE: usize>(
            (rows, columns): (usize, usize),
            strides: (usize, usize),
            _: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let mut next = 0;
            while next < rows {
                // The last rows overlap those before them.
                let first = next.min(rows - LANE);
                let (from, to) = (from.wrapping_add(first * strides.0), to.wrapping_add(first * BYTES));
                // SAFETY: the pointers were moved to a row that `LANE - 1` others follow, and there are at least `LANE` columns.
                unsafe { inlined_band::<W, 1, BYTES, LANE, 1>((0, columns), strides, from, to) };
                next += LANE;
            }
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
            let columns_at_once = resident_lines(strides.1).min(64);
            let is_one_tile = columns <= columns_at_once;
            if !MANY && is_one_tile {
                // SAFETY: these are all rows and columns, and there is one iteration.
                return unsafe { tile::<W, BYTES, LANE, MANY>(rows, 0..columns, strides, from, to) };
            }
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                if MANY && is_one_tile {
                    // SAFETY: these are all rows and columns, and the pointers have the offsets of an iteration.
                    return unsafe { tile::<W, BYTES, LANE, MANY>(rows, 0..columns, strides, from, to) };
                }
                // Some columns of all rows, so that the lines of these columns stay in the L1 cache.
                for columns in chunks(columns, columns_at_once, LANE) {
                    // SAFETY: these are some of the columns, at least `LANE`, and the pointers have the offsets of an iteration.
                    unsafe { tile::<W, BYTES, LANE, MANY>(rows, columns, strides, from, to) };
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
                // Two vectors of bytes have more rows than there are registers.
                if BYTES > 1 && rows >= 2 * vector && rows - next > vector {
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
                // SAFETY: the caller guarantees the same.
                unsafe { inlined_band::<U, LANES, BYTES, LANE, N>(columns, strides, from, to) };
            } else {
                // SAFETY: the caller guarantees the same.
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
            // SAFETY: the caller guarantees the same.
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
