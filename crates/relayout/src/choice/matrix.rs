//! Whether a transpose is faster without tables of offsets, and with which stores.

use super::target::{Footprint, Target};
use crate::caches::{L1_SET_PERIOD, L1_WAYS};
use crate::kernels::{Matrix, StoreMode, Transpose};
use crate::loops::{Axes, Axis};
use crate::options::Stores;
use crate::tuning::{L1_RESIDENT, MAX_CROWDED_BYTES};
use crate::vector::Vectors;

/// An iteration of a transpose without tables has at most this many bytes, unless one side is shorter than a line. Larger ones are faster with
/// tables, which write whole lines of columns with vectors of 64 bytes. **Z**. With AVX2, see [`takes_rows_along`].
const MAX_BYTES: usize = 4 << 10;

/// The same limit for elements of 1 and 2 bytes, where both sides must fill a vector. **M**: up to this size, 1.5 to 2.3 times as fast as
/// with tables.
const TINY: usize = 1 << 10;

/// The fewest elements of the innermost loops of both sides together: for fewer, looking up offsets is faster. **M**.
const MIN_BLOCK: usize = 64;

/// The same limit for elements of 16 bytes, where the innermost loops do not cover a whole side. **Z**.
const MIN_WIDE_BLOCK: usize = 8;

/// With non-temporal stores and columns that begin at lines, a transpose with tables writes elements of 16 bytes in whole lines. It is faster if rows
/// have at least this many bytes, and columns at least [`MIN_STREAMED_COLUMN`]. **Z**.
const MIN_STREAMED_ROW: usize = 256;

/// See [`MIN_STREAMED_ROW`].
const MIN_STREAMED_COLUMN: usize = 128;

/// Elements of 16 bytes are written with non-temporal stores even if the arrays fit in the caches, once both sides together are as large as the L2
/// cache and rows have at least this many bytes: each element of such a row goes to a different line of the destination, and perhaps to a different
/// page. **I**: with 2 to 3 MiB, ordinary stores take 1.3 to 1.9 times as long; with rows of 1 KiB, they are faster.
const MIN_EARLY_STREAMED_ROW: usize = 2 << 10;

/// With AVX2, a transpose whose columns begin within cache lines normally uses a staging buffer and non-temporal stores. It uses ordinary stores
/// if elements have 4 or 8 bytes and rows have fewer bytes than this. With elements of 8 bytes, it also does so if columns have more than a line
/// and at most [`MAX_ORDINARY_COLUMN`] bytes. Without tables, such transposes then take 0.5 to 0.9 times as long. **M**.
const MIN_STAGED_ROW: usize = 320;

/// See [`MIN_STAGED_ROW`].
const MAX_ORDINARY_COLUMN: usize = 288;

/// Where a transpose uses non-temporal stores: for elements of 16 bytes, also for arrays that do not exceed the caches; for elements of 4 and 8 bytes,
/// not where staging buffers would hold short rows or columns ([`MIN_STAGED_ROW`]). `outer` are the loops around the transpose.
///
/// If the last-level cache belongs to a few cores, ordinary stores are fast as long as that cache has room. **M**: also where
/// rows and columns share sets of the L1 cache.
pub(super) fn stores(kernel: &Transpose, outer: &[Axis], target: &Target, footprint: Footprint) -> StoreMode {
    let (row, column) = (kernel.a_len() * kernel.bytes, kernel.b_len() * kernel.bytes);
    let is_early = kernel.bytes == 16
        && (target.stores, footprint.stores) == (Stores::Auto, StoreMode::Ordinary)
        && target.vectors != Vectors::None
        && footprint.bytes >= target.caches.l2
        && !target.caches.last_level_is_local
        && row >= MIN_EARLY_STREAMED_ROW
        && column >= MIN_STREAMED_COLUMN
        && start_lines(kernel, outer);
    let is_short = row < MIN_STAGED_ROW || kernel.bytes == 8 && (65..=MAX_ORDINARY_COLUMN).contains(&column);
    let is_late = matches!(kernel.bytes, 4 | 8)
        && (target.stores, footprint.stores) == (Stores::Auto, StoreMode::Staged)
        && matches!(target.vectors, Vectors::Avx2 | Vectors::Avx512Bw)
        && is_short
        && !start_lines(kernel, outer);
    match footprint.stores {
        _ if is_early => StoreMode::WholeLines,
        _ if is_late => StoreMode::Ordinary,
        stores => stores,
    }
}

/// The vectors for a matrix within the loops `outer`. In columns of few 16-byte elements, stores of 32 bytes often straddle two cache lines. So with
/// vectors of 16 bytes, **M**:
///
/// - two to five rows take 0.65 to 0.9 times as long if an iteration exceeds the L1 cache;
/// - two or three rows take 0.95 times as long if there is only one iteration, however small;
/// - many small iterations take as long as with vectors of 32 bytes, or longer.
pub(super) fn matrix_vectors(kernel: &Matrix, outer: &[Axis], target: &Target) -> Vectors {
    let exceeds_l1 = kernel.bytes * kernel.rows.len * kernel.columns.len > L1_RESIDENT;
    let is_short = kernel.rows.len < 4 && outer.is_empty() || kernel.rows.len < 6 && exceeds_l1;
    if kernel.bytes == 16 && is_short { target.vectors.min(Vectors::Sse2) } else { target.vectors }
}

/// The vectors for a transpose: those of the target, or narrower ones if the rows of a block then stay in the L1 cache together. `outer` are the
/// loops around the transpose.
///
/// Where columns have less than a line, but fill a vector of 32 bytes, a block has as many rows as that vector has elements, and reads 16 bytes of each.
/// The rest of their lines must stay in the L1 cache until the next block; but lines at a distance of 2 or 4 KiB share few sets of that cache. A
/// vector of 16 bytes has half as many rows. **M**: `bf16[24,2048]` and `u8[48,2048]` take 0.55 and 0.65 times as long with these.
pub(super) fn vectors(kernel: &Transpose, outer: &[Axis], target: &Target) -> Vectors {
    let is_short = (32..64).contains(&(kernel.b_len() * kernel.bytes));
    let is_crowded = kernel.b[1..].iter().all(|axis| axis.len == 1) && kernel.keeps_rows(16) && !kernel.keeps_rows(32);
    let is_supported = kernel.shuffle.is_none() && !kernel.is_scalar(Vectors::Sse2);
    let is_narrower = is_short && is_crowded && is_supported && kernel.bytes_in(outer) <= MAX_CROWDED_BYTES;
    if is_narrower { target.vectors.min(Vectors::Sse2) } else { target.vectors }
}

/// Whether all columns of a transpose begin at a cache line, if the destination does.
fn start_lines(kernel: &Transpose, outer: &[Axis]) -> bool {
    outer.iter().chain(&kernel.a).all(|axis| axis.to.is_multiple_of(64))
}

/// Whether a transpose without tables is faster, whatever its size.
///
/// Without tables, a transpose takes up to 64 columns of some rows before the next rows. So it reads up to eight adjacent lines of each
/// row, which the hardware prefetches. With tables, one or two lines of a row are read before those of the next rows. **M**, with AVX2 and
/// ordinary stores: for elements of 4 and 8 bytes, a transpose without tables is 1.2 to 2 times as fast in the caches, and as fast or
/// faster in memory. There are two exceptions.
///
/// A cache line of the destination has elements of `64 / bytes` rows, and one of the source has elements of `64 / bytes` columns. All of these
/// lines must stay in the L1 cache until all of their elements are moved, but lines that are a multiple of 4 KiB apart share a set of it. If a set
/// does not hold all of its lines, the transpose with tables is faster: it copies rows to a buffer first.
///
/// If a side has more loops than the innermost one, that loop must be long: with tables, all loops of a side act as a single one, so that
/// whole lines are written.
fn takes_rows_along(kernel: &Transpose, vectors: Vectors) -> bool {
    let sides = [kernel.b[0].from, kernel.a[0].to];
    let lines = sides.into_iter().filter(|stride| stride.is_multiple_of(L1_SET_PERIOD)).count() * (64 / kernel.bytes);
    let (columns, rows) = (kernel.a[0].len, kernel.b[0].len);
    let least = match (columns == kernel.a_len(), rows == kernel.b_len()) {
        (true, true) => 0,
        (false, false) => 2 * 64,
        _ => 64,
    };
    matches!(vectors, Vectors::Avx2 | Vectors::Avx512Bw)
        && lines <= L1_WAYS
        && columns.min(rows) * kernel.bytes >= least
}

/// The innermost loops of both sides as a [`Matrix`] and the other loops, the outermost first; `None` if tables are faster. `outer` are the loops
/// around the transpose.
///
/// For elements of 4 and 8 bytes, a matrix is faster where one side is shorter than a line, where an iteration is small, and with AVX2 often where
/// an iteration is large ([`takes_rows_along`]). For elements of 1 and 2 bytes, it is faster only where an iteration is tiny. Elements of 16 bytes
/// need no zip steps, so a matrix is faster for any iteration.
///
/// A matrix is slower where the innermost loops are short and do not cover a side, and with non-temporal stores. But for elements of 16 bytes, it is
/// faster even with those, if one side is short or not all columns begin at lines.
pub(super) fn without_tables(
    kernel: &Transpose,
    outer: &[Axis],
    stores: StoreMode,
    vectors: Vectors,
) -> Option<(Matrix, Axes)> {
    let starts_lines = start_lines(kernel, outer);
    let streams = stores.streams_columns(starts_lines);
    let (columns, rows) = (kernel.a[0].len, kernel.b[0].len);
    let (row, column) = (kernel.a_len() * kernel.bytes, kernel.b_len() * kernel.bytes);
    // Whether one loop on each side is all there is.
    let is_even = (columns * kernel.bytes, rows * kernel.bytes) == (row, column);
    let is_faster = match kernel.bytes {
        16 if streams && starts_lines && row >= MIN_STREAMED_ROW && column >= MIN_STREAMED_COLUMN => false,
        // Short innermost loops take longer than looking up offsets.
        16 => is_even || columns * rows >= MIN_WIDE_BLOCK,
        4 | 8 if !streams && columns.min(rows) * kernel.bytes >= 16 => {
            let is_faster =
                row.min(column) < 64 || kernel.a_len() * column <= MAX_BYTES || takes_rows_along(kernel, vectors);
            is_faster && (is_even || rows * kernel.bytes > 16 && columns * rows >= MIN_BLOCK)
        }
        1 | 2 if !streams && vectors != Vectors::None => {
            is_even && columns.min(rows) * kernel.bytes >= 16 && kernel.a_len() * column <= TINY
        }
        _ => false,
    };
    let matrix = Matrix { bytes: kernel.bytes, columns: kernel.a[0], rows: kernel.b[0] };
    let around = kernel.a[1..].iter().rev().chain(kernel.b[1..].iter().rev()).filter(|axis| axis.len > 1);
    (is_faster && kernel.shuffle.is_none() && kernel.is_dense()).then(|| (matrix, around.copied().collect()))
}
