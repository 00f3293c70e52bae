//! Transposes with so few rows or columns that they fill no vector, in 16 bytes: what is not there is neither read nor written.

#[cfg(test)]
use super::pending;
use super::tables::{LOOKED_UP, Room, Table, chunks};
use super::{Transpose, Turns, avx512};
use std::arch::x86_64::*;
use std::ops::Range;

/// Transposes these rows of the source in every turn.
///
/// # Safety
/// The machine must have these vectors. The kernel must be valid, its elements must lie together, and its places must be valid as
/// [`Turns::ends`] says.
pub(super) unsafe fn run(kernel: &Transpose, b: Range<usize>, turns: Turns<'_>, from: *const u8, to: *mut u8) {
    // With the element's bytes, and how many of them a vector has.
    let part = match kernel.bytes {
        1 => transpose::<1, 16>,
        2 => transpose::<2, 8>,
        4 => transpose::<4, 4>,
        8 => transpose::<8, 2>,
        _ => transpose::<16, 1>,
    };
    let mut rooms = [Room::NEW; 2];
    // SAFETY: the machine has these vectors.
    let [mut rows_table, mut columns_table] = unsafe { Table::both(kernel, avx512::look_up, &mut rooms) };
    turns.for_each(0, 0, |from_turn, to_turn| {
        for rows in chunks(b.len(), LOOKED_UP, 0) {
            let rows = b.start + rows.start..b.start + rows.end;
            let to = to.wrapping_add(to_turn + rows.start * kernel.bytes);
            let (first_row, rows) = rows_table.of(rows);
            for a in chunks(kernel.a_len(), LOOKED_UP, 0) {
                let from = from.wrapping_add(from_turn + first_row + a.start * kernel.bytes);
                let (first_column, columns) = columns_table.of(a);
                let to = to.wrapping_add(first_column);
                // SAFETY: as required of the caller; the rows and columns are the kernel's.
                unsafe { part(rows, columns, kernel.shuffle.as_ref(), from, to) };
            }
        }
    });
}

/// Transposes rows and columns that lie at these places.
///
/// # Safety
/// The elements of the columns must be valid for reads in each row, and those of the rows for writes in each column.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn transpose<const BYTES: usize, const LANE: usize>(
    rows: &[usize],
    columns: &[usize],
    shuffle: Option<&[u8; 16]>,
    from: *const u8,
    to: *mut u8,
) {
    // SAFETY: 16 bytes are read from an array of as many.
    let shuffle = shuffle.map(|shuffle| unsafe { _mm_loadu_si128(shuffle.as_ptr().cast()) });
    if LANE == 1 {
        // SAFETY: as required of the caller.
        return unsafe { copy_each(rows, columns, shuffle, from, to) };
    }
    for done in (0..rows.len()).step_by(LANE) {
        // The last rows of all may have some of those before them.
        let first = done.min(rows.len().saturating_sub(LANE));
        let (rows, to) = (&rows[first..rows.len().min(first + LANE)], to.wrapping_add(first * BYTES));
        match rows.len() {
            // SAFETY: as required of the caller.
            9.. if LANE > 8 => unsafe { band::<BYTES, LANE, 16>(rows, columns, shuffle, from, to) },
            // SAFETY: as above.
            5.. if LANE > 4 => unsafe { band::<BYTES, LANE, 8>(rows, columns, shuffle, from, to) },
            // SAFETY: as above.
            3.. if LANE > 2 => unsafe { band::<BYTES, LANE, 4>(rows, columns, shuffle, from, to) },
            // SAFETY: as above.
            2 if LANE > 1 => unsafe { band::<BYTES, LANE, 2>(rows, columns, shuffle, from, to) },
            // SAFETY: as above.
            _ => unsafe { band::<BYTES, LANE, 1>(rows, columns, shuffle, from, to) },
        }
    }
}

/// Copies elements of 16 bytes.
///
/// # Safety
/// The elements of the columns must be valid for reads in each row, and those of the rows for writes in each column.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn copy_each(rows: &[usize], columns: &[usize], shuffle: Option<__m128i>, from: *const u8, to: *mut u8) {
    let copy = |a: usize, b: usize| {
        // SAFETY: as required of the caller.
        let mut element = unsafe { _mm_loadu_si128(from.wrapping_add(rows[b] + a * 16).cast()) };
        if let Some(shuffle) = shuffle {
            element = _mm_shuffle_epi8(element, shuffle);
        }
        let to = to.wrapping_add(columns[a] + b * 16);
        #[cfg(test)]
        pending::stored(to, 16);
        // SAFETY: as required of the caller.
        unsafe { _mm_storeu_si128(to.cast(), element) };
    };
    // The longer loop is around the shorter: lines are read and written once.
    if columns.len() < rows.len() {
        (0..rows.len()).for_each(|b| (0..columns.len()).for_each(|a| copy(a, b)));
    } else {
        (0..columns.len()).for_each(|a| (0..rows.len()).for_each(|b| copy(a, b)));
    }
}

/// Transposes up to `ROWS` rows, which are at most `LANE`.
///
/// # Safety
/// The elements of the columns must be valid for reads in each row, and those of the rows for writes in each column.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
unsafe fn band<const BYTES: usize, const LANE: usize, const ROWS: usize>(
    rows: &[usize],
    columns: &[usize],
    shuffle: Option<__m128i>,
    from: *const u8,
    to: *mut u8,
) {
    // Rows that are not there are others once more, and are not stored.
    let places: [usize; ROWS] = std::array::from_fn(|i| rows[i.min(rows.len() - 1)]);
    let mut loaded = [_mm_setzero_si128(); ROWS];
    if columns.len() < LANE {
        let read = u16::MAX >> (16 - columns.len() * BYTES);
        for (vector, place) in loaded.iter_mut().zip(places) {
            // SAFETY: as required of the caller; other columns are not read.
            *vector = unsafe { _mm_maskz_loadu_epi8(read, from.wrapping_add(place).cast()) };
        }
        let padded = std::array::from_fn(|i| *columns.get(i).unwrap_or(&0));
        // SAFETY: as required of the caller.
        return unsafe { finish::<BYTES, LANE, ROWS>(loaded, shuffle, &padded, (columns.len(), rows.len()), to) };
    }
    let mut next = 0;
    while next < columns.len() {
        // The last columns may have some of those before them.
        let first = next.min(columns.len() - LANE);
        for (vector, place) in loaded.iter_mut().zip(places) {
            // SAFETY: as required of the caller; there is a vector of columns.
            *vector = unsafe { _mm_loadu_si128(from.wrapping_add(place + first * BYTES).cast()) };
        }
        let columns = &columns[first..].as_chunks::<LANE>().0[0];
        // SAFETY: as required of the caller.
        unsafe { finish::<BYTES, LANE, ROWS>(loaded, shuffle, columns, (LANE, rows.len()), to) };
        next += LANE;
    }
}

/// Transposes what was loaded, and stores so many columns with so many rows.
///
/// # Safety
/// The elements of the rows must be valid for writes in each column.
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
    // The columns that a vector has, one behind the other.
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
            // SAFETY: as required of the caller.
            unsafe { _mm_storeu_si128(place.cast(), vector) };
        } else {
            // SAFETY: as required of the caller; what lies before and behind these bytes is not written.
            unsafe { _mm_mask_storeu_epi8(place.wrapping_sub(before).cast(), stored << before, vector) };
        }
    }
}

/// The elements of all vectors in turn.
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
