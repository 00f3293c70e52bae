//! Transposes without tables, for arrays in the caches: where a kernel has few rows or columns, preparing the tables and the blocks of
//! `transpose` takes longer than the elements. Only the innermost loops of both sides make blocks; the others surround them.
//! [`Transpose::is_direct`] says for which kernels.
//!
//! Rows and columns are those of `transpose`.

use super::super::scalar::loops;
use super::super::{LoopNest, NO_LOOP};
use super::{Axis, LINE, Offsets, Transpose, Vector};
use crate::tuning::MIN_LONG_COLUMN;

/// Transposes in every iteration of a loop nest, with the vectors `V` and, where rows or columns do not fill those, with `W` of one lane.
/// Inlined, so that it is compiled with the vectors of its caller.
///
/// # Safety
/// - The CPU has both kinds of vectors, and [`Transpose::is_dense`] and [`Transpose::is_direct`] hold.
/// - `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel.
#[inline(always)]
pub(super) unsafe fn run<V: Vector<LANES>, W: Vector<1>, const LANES: usize>(
    kernel: &Transpose,
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let (outer_rows, outer_columns) = (&kernel.b[1..], &kernel.a[1..]);
    let is_one = |axis: &Axis| axis.len == 1;
    if outer_rows.iter().all(is_one) && outer_columns.iter().all(is_one) {
        // Preparing the other loops would take longer than a tiny array.
        return nest.for_each(0, 0, |from_offset, to_offset| {
            let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
            // SAFETY: the caller guarantees the vectors and the bounds at these offsets.
            unsafe { innermost::<V, W, LANES>(kernel, from, to) };
        });
    }
    let mut rooms = [[NO_LOOP; 4]; 2];
    let [row_room, column_room] = &mut rooms;
    let (outer_rows, outer_columns) = (loops(outer_rows, row_room), loops(outer_columns, column_room));
    nest.for_each(0, 0, |from_offset, to_offset| {
        outer_columns.for_each(from_offset, to_offset, |from_offset, to_offset| {
            outer_rows.for_each(from_offset, to_offset, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                // SAFETY: the caller guarantees the vectors and the bounds at these offsets.
                unsafe { innermost::<V, W, LANES>(kernel, from, to) };
            });
        });
    });
}

/// Transposes the innermost loops of both sides.
///
/// # Safety
/// As [`run`]; all elements of the innermost loops are in bounds.
#[inline(always)]
unsafe fn innermost<V: Vector<LANES>, W: Vector<1>, const LANES: usize>(
    kernel: &Transpose,
    from: *const u8,
    to: *mut u8,
) {
    let (row, column) = (&kernel.b[0], &kernel.a[0]);
    let (sizes, strides) = ((row.len, column.len), (row.from, column.to));
    match kernel.bytes {
        // SAFETY: the caller guarantees the vectors and the elements. `is_direct` says that these are at least 16 bytes of each row and of
        // each column.
        4 => unsafe { each_block::<V, W, LANES, 4, 4>(sizes, strides, from, to) },
        // SAFETY: as above.
        8 => unsafe { each_block::<V, W, LANES, 8, 2>(sizes, strides, from, to) },
        // SAFETY: as above.
        _ if column.len < LINE / 16 && row.len >= MIN_LONG_COLUMN => unsafe {
            few_columns::<W>(sizes, strides, from, to);
        },
        // SAFETY: as above.
        _ => unsafe { each_block::<V, W, LANES, 16, 1>(sizes, strides, from, to) },
    }
}

/// How many lines at this distance stay in the L1 cache together. Caches have 64 sets of 64 bytes, and at least 8 ways: where the distance is
/// a multiple of a large power of two, all lines share few sets.
fn resident(stride: usize) -> usize {
    ((8 * 64 * LINE) >> stride.trailing_zeros().min(12)).min(64)
}

/// Transposes evenly spaced rows with a few columns of elements of 16 bytes: one column after the other is written.
///
/// # Safety
/// The CPU has the vectors. The element of row `b` and column `a` is valid for reads at `from + b * strides.0 + a * 16` and for writes at
/// `to + a * strides.1 + b * 16`.
#[inline(always)]
unsafe fn few_columns<W: Vector<1>>(
    (rows, columns): (usize, usize),
    strides: (usize, usize),
    from: *const u8,
    to: *mut u8,
) {
    // The lines of some rows stay in the L1 cache until all of their columns are written.
    let step = resident(strides.0);
    for first in (0..rows).step_by(step) {
        for a in 0..columns {
            for b in first..rows.min(first + step) {
                // SAFETY: `a < columns` and `b < rows`.
                let element = unsafe { W::load(from.wrapping_add(b * strides.0 + a * 16)) };
                // SAFETY: as above; an ordinary store requires no alignment.
                unsafe { element.put(false, to.wrapping_add(a * strides.1 + b * 16)) };
            }
        }
    }
}

/// Transposes evenly spaced rows and columns, at least `LANE` of each, in blocks. `sizes` are the numbers of rows and of columns; `strides`
/// are the distances between rows in the source and between columns in the destination.
///
/// # Safety
/// The CPU has both kinds of vectors. The element of row `b` and column `a`, of `BYTES` bytes, is valid for reads at
/// `from + b * strides.0 + a * BYTES` and for writes at `to + a * strides.1 + b * BYTES`. `LANE * BYTES == 16`.
#[inline(always)]
unsafe fn each_block<V: Vector<LANES>, W: Vector<1>, const LANES: usize, const BYTES: usize, const LANE: usize>(
    (rows, columns): (usize, usize),
    strides: (usize, usize),
    from: *const u8,
    to: *mut u8,
) {
    let group = LANES * LANE;
    let mut start = 0;
    while start < columns {
        // Some columns through all rows, so that the lines of these columns stay in the L1 cache. None of the parts has fewer columns than a
        // block.
        let together = resident(strides.1);
        let end = if columns - start < together + LANE { columns } else { start + together };
        let mut next = 0;
        while next < rows {
            // The last rows and columns overlap those before them.
            if rows >= group && rows - next > LANE {
                let first = next.min(rows - group);
                let (from, to) = (from.wrapping_add(first * strides.0), to.wrapping_add(first * BYTES));
                // SAFETY: `first + group <= rows`, the pointers were moved to row `first`, and `start..end` are at least `LANE` columns.
                unsafe { band::<V, LANES, BYTES, LANE>((start, end), strides, from, to) };
                next += group;
            } else {
                let first = next.min(rows - LANE);
                let (from, to) = (from.wrapping_add(first * strides.0), to.wrapping_add(first * BYTES));
                // SAFETY: as above, with `LANE` rows: the caller guarantees that there are as many.
                unsafe { band::<W, 1, BYTES, LANE>((start, end), strides, from, to) };
                next += LANE;
            }
        }
        start = end;
    }
}

/// Transposes the columns `start..end`, at least `LANE`, of as many rows as a vector has elements.
///
/// # Safety
/// As [`each_block`], for these rows and columns.
#[inline(always)]
unsafe fn band<V: Vector<LANES>, const LANES: usize, const BYTES: usize, const LANE: usize>(
    (start, end): (usize, usize),
    strides: (usize, usize),
    from: *const u8,
    to: *mut u8,
) {
    let rows = Offsets { count: LANES * LANE, stride: strides.0, table: &[] };
    let mut next = start;
    while next < end {
        let column = next.min(end - LANE);
        // SAFETY: only the CPU features are required, which the caller guarantees.
        let mut registers = [unsafe { V::zero() }; LANE];
        for (i, register) in registers.iter_mut().enumerate() {
            // SAFETY: rows `i`, `i + LANE`, … of `LANES * LANE` rows, and `column + LANE <= end`: 16 bytes from this column on are elements
            // of each row.
            *register = unsafe { V::load_rows::<true>(from.wrapping_add(column * BYTES), rows, i, LANE) };
        }
        // SAFETY: only the CPU features are required, which the caller guarantees.
        let transposed = unsafe { V::zipped::<BYTES, LANE>(registers, LANE.ilog2()) };
        for (i, vector) in transposed.into_iter().enumerate() {
            // SAFETY: the vector has column `column + i < end` of all `LANES * LANE` rows, which are contiguous in the destination. An
            // ordinary store requires no alignment.
            unsafe { vector.put(false, to.wrapping_add((column + i) * strides.1)) };
        }
        next += LANE;
    }
}
