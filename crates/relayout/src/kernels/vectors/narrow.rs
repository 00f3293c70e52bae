//! Transposes of rows or columns that do not fill a vector, with 16-byte vectors and masks, so that only bytes of their elements are read
//! or written.

#[cfg(test)]
use super::pending;
use super::tables::{OffsetBuffer, OffsetTable, chunks};
use super::{LoopNest, Transpose, avx512};
use crate::tuning::OFFSETS_PER_TABLE;
use std::arch::x86_64::*;
use std::ops::Range;

/// Transposes a range of the kernel's rows in every iteration.
///
/// # Safety
/// The CPU has AVX-512 F, BW and VL, and the features that [`avx512::fill_offsets`] requires. [`Transpose::is_dense`] holds, `b` is a range
/// of the kernel's rows, and `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel.
pub(super) unsafe fn run(kernel: &Transpose, b: Range<usize>, nest: LoopNest<'_>, from: *const u8, to: *mut u8) {
    // The constants are an element's bytes, and how many elements a vector has.
    let part = match kernel.bytes {
        1 => transpose::<1, 16>,
        2 => transpose::<2, 8>,
        4 => transpose::<4, 4>,
        8 => transpose::<8, 2>,
        _ => transpose::<16, 1>,
    };
    let mut buffers = [OffsetBuffer::NEW; 2];
    // SAFETY: the caller guarantees the CPU features.
    let [mut rows_table, mut columns_table] = unsafe { OffsetTable::both(kernel, avx512::fill_offsets, &mut buffers) };
    nest.for_each(0, 0, |from_offset, to_offset| {
        for rows in chunks(b.len(), OFFSETS_PER_TABLE, 0) {
            let rows = b.start + rows.start..b.start + rows.end;
            let to = to.wrapping_add(to_offset + rows.start * kernel.bytes);
            let (first_row, rows) = rows_table.filled(rows);
            for a in chunks(kernel.a_len(), OFFSETS_PER_TABLE, 0) {
                let from = from.wrapping_add(from_offset + first_row + a.start * kernel.bytes);
                let (first_column, columns) = columns_table.filled(a);
                let to = to.wrapping_add(first_column);
                // SAFETY: the tables have the offsets of the kernel's rows and columns, whose elements are in bounds at this iteration's
                // offsets.
                unsafe { part(rows, columns, kernel.shuffle.as_ref(), from, to) };
            }
        }
    });
}

/// Transposes the elements of these rows and columns, given by their offsets.
///
/// # Safety
/// The CPU has these features. For each row `b` and column `a`, the element is valid for reads at `from + rows[b] + a * BYTES` and for
/// writes at `to + columns[a] + b * BYTES`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn transpose<const BYTES: usize, const LANE: usize>(
    rows: &[usize],
    columns: &[usize],
    shuffle: Option<&[u8; 16]>,
    from: *const u8,
    to: *mut u8,
) {
    // SAFETY: `shuffle` has 16 bytes.
    let shuffle = shuffle.map(|shuffle| unsafe { _mm_loadu_si128(shuffle.as_ptr().cast()) });
    if LANE == 1 {
        // SAFETY: the caller guarantees all elements; if `LANE == 1`, each has 16 bytes.
        return unsafe { copy_each(rows, columns, shuffle, from, to) };
    }
    for done in (0..rows.len()).step_by(LANE) {
        // The last rows overlap those before them.
        let first = done.min(rows.len().saturating_sub(LANE));
        let (rows, to) = (&rows[first..rows.len().min(first + LANE)], to.wrapping_add(first * BYTES));
        match rows.len() {
            // SAFETY: these are some of the rows, and `to` was moved to the first of them; at most 16.
            9.. if LANE > 8 => unsafe { band::<BYTES, LANE, 16>(rows, columns, shuffle, from, to) },
            // SAFETY: as above, at most 8 rows.
            5.. if LANE > 4 => unsafe { band::<BYTES, LANE, 8>(rows, columns, shuffle, from, to) },
            // SAFETY: as above, at most 4 rows.
            3.. if LANE > 2 => unsafe { band::<BYTES, LANE, 4>(rows, columns, shuffle, from, to) },
            // SAFETY: as above, 2 rows.
            2 if LANE > 1 => unsafe { band::<BYTES, LANE, 2>(rows, columns, shuffle, from, to) },
            // SAFETY: as above, 1 row.
            _ => unsafe { band::<BYTES, LANE, 1>(rows, columns, shuffle, from, to) },
        }
    }
}

/// Transposes elements of 16 bytes.
///
/// # Safety
/// As [`transpose`] with `BYTES == 16`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn copy_each(rows: &[usize], columns: &[usize], shuffle: Option<__m128i>, from: *const u8, to: *mut u8) {
    let copy = |a: usize, b: usize| {
        // SAFETY: the caller guarantees 16 readable bytes at row `b`, column `a`.
        let mut element = unsafe { _mm_loadu_si128(from.wrapping_add(rows[b] + a * 16).cast()) };
        if let Some(shuffle) = shuffle {
            element = _mm_shuffle_epi8(element, shuffle);
        }
        let to = to.wrapping_add(columns[a] + b * 16);
        #[cfg(test)]
        pending::stored(to, 16);
        // SAFETY: the caller guarantees 16 writable bytes at column `a`, row `b`.
        unsafe { _mm_storeu_si128(to.cast(), element) };
    };
    // Put the longer loop outside, so that each line is read and written once.
    if columns.len() < rows.len() {
        (0..rows.len()).for_each(|b| (0..columns.len()).for_each(|a| copy(a, b)));
    } else {
        (0..columns.len()).for_each(|a| (0..rows.len()).for_each(|b| copy(a, b)));
    }
}

/// Transposes `rows.len()` rows, at least 1 and at most `ROWS`, which is at most `LANE`.
///
/// # Safety
/// As [`transpose`], for these rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn band<const BYTES: usize, const LANE: usize, const ROWS: usize>(
    rows: &[usize],
    columns: &[usize],
    shuffle: Option<__m128i>,
    from: *const u8,
    to: *mut u8,
) {
    // Missing rows repeat the last one; their results are not stored.
    let places: [usize; ROWS] = std::array::from_fn(|i| rows[i.min(rows.len() - 1)]);
    let mut loaded = [_mm_setzero_si128(); ROWS];
    if columns.len() < LANE {
        let read = u16::MAX >> (16 - columns.len() * BYTES);
        for (vector, place) in loaded.iter_mut().zip(places) {
            // SAFETY: the mask has the bytes of the `columns.len()` columns, which the caller guarantees; a masked load does not access the
            // others.
            *vector = unsafe { _mm_maskz_loadu_epi8(read, from.wrapping_add(place).cast()) };
        }
        let padded = std::array::from_fn(|i| *columns.get(i).unwrap_or(&0));
        // SAFETY: the caller guarantees the elements of all `columns.len()` columns.
        return unsafe { finish::<BYTES, LANE, ROWS>(loaded, shuffle, &padded, (columns.len(), rows.len()), to) };
    }
    let mut next = 0;
    while next < columns.len() {
        // The last columns overlap those before them.
        let first = next.min(columns.len() - LANE);
        for (vector, place) in loaded.iter_mut().zip(places) {
            // SAFETY: `first + LANE <= columns.len()`, so the 16 bytes from column `first` on are the row's.
            *vector = unsafe { _mm_loadu_si128(from.wrapping_add(place + first * BYTES).cast()) };
        }
        let columns = &columns[first..].as_chunks::<LANE>().0[0];
        // SAFETY: the caller guarantees the elements of these `LANE` columns.
        unsafe { finish::<BYTES, LANE, ROWS>(loaded, shuffle, columns, (LANE, rows.len()), to) };
        next += LANE;
    }
}

/// Transposes the loaded rows and stores `count` columns of `rows` rows.
///
/// # Safety
/// The CPU has these features. `rows * BYTES` bytes are valid for writes at `to` plus the offset of each of the first `count` columns.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn finish<const BYTES: usize, const LANE: usize, const ROWS: usize>(
    mut loaded: [__m128i; ROWS],
    shuffle: Option<__m128i>,
    columns: &[usize; LANE],
    (count, rows): (usize, usize),
    to: *mut u8,
) {
    if let Some(shuffle) = shuffle {
        for row in &mut loaded {
            *row = _mm_shuffle_epi8(*row, shuffle);
        }
    }
    let transposed = zipped::<BYTES, ROWS>(loaded);
    let stored = u16::MAX >> (16 - rows * BYTES);
    // How many consecutive columns a vector holds.
    let together = const { if LANE > ROWS { LANE / ROWS } else { 1 } };
    for i in 0..LANE {
        if i == count {
            break;
        }
        let (place, vector) = (to.wrapping_add(columns[i]), transposed[i / together % ROWS]);
        let before = i % together * ROWS * BYTES;
        #[cfg(test)]
        pending::stored(place, rows * BYTES);
        if ROWS * BYTES == 16 && stored == u16::MAX {
            // SAFETY: `rows * BYTES == 16` bytes at this column are writable.
            unsafe { _mm_storeu_si128(place.cast(), vector) };
        } else {
            // SAFETY: the mask has the `rows * BYTES` bytes of this column, which start `before` bytes into the vector; a masked store does
            // not access the others.
            unsafe { _mm_mask_storeu_epi8(place.wrapping_sub(before).cast(), stored << before, vector) };
        }
    }
}

/// Interleaves the elements of all vectors.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn zipped<const BYTES: usize, const ROWS: usize>(mut vectors: [__m128i; ROWS]) -> [__m128i; ROWS] {
    for _ in 0..ROWS.ilog2() {
        let old = vectors;
        for i in 0..ROWS / 2 {
            let (low, high) = (old[i], old[i + ROWS / 2]);
            (vectors[2 * i], vectors[2 * i + 1]) = match BYTES {
                1 => (_mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high)),
                2 => (_mm_unpacklo_epi16(low, high), _mm_unpackhi_epi16(low, high)),
                4 => (_mm_unpacklo_epi32(low, high), _mm_unpackhi_epi32(low, high)),
                _ => (_mm_unpacklo_epi64(low, high), _mm_unpackhi_epi64(low, high)),
            };
        }
    }
    vectors
}
