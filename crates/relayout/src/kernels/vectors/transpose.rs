//! Transposes: the order of their loops, for any kind of vector. The loops run over the blocks of `blocks`.
//!
//! In this file, a *row* is contiguous in the source, along `a` of [`Transpose`]; rows are numbered along `b`. A *column* is contiguous in
//! the destination, along `b`; columns are numbered along `a`.

use super::super::{Axis, LoopCounter, LoopNest, NO_LOOP, Side, follows};
use super::blocks::{BlockKinds, BlockOptions, TransposeBlock};
use super::tables::{FillOffsets, OffsetBuffer, OffsetTable, Offsets, chunks};
use super::{LINE, Transpose, fence};
use crate::caches::resident_lines;
use crate::tuning::{
    AVX2_LONG_ROW, AVX2_LONG_ROW_LINES, AVX2_SIZE, BySize, CACHED_LINES, COPIED_BYTES, COPIED_ROWS,
    HARDWARE_PREFETCH_ROW, L1_RESIDENT, MAX_COPIED_WORD_BYTES, MAX_CROWDED_BYTES, MAX_NARROW_ROW_BYTES,
    MIN_PREFETCHED_ROW_LINES, MIN_STAGED_RUN, OFFSETS_PER_TABLE, PREFETCH_DISTANCE_LINES, STAGE_BYTES, STAGE_ROWS,
    STREAMED_LINES,
};
use std::mem::MaybeUninit;
use std::ops::Range;

/// A staging buffer for transposed columns. It is larger than [`STAGE_BYTES`], because a stage has at least as many columns as a line has elements,
/// and [`chunks`] may add a few rows and columns.
#[repr(align(64))]
struct Stage {
    _room: [u8; 52 << 10],
}

/// Room for [`COPIED_ROWS`] rows, and for those that [`chunks`] may add.
#[repr(align(64))]
struct RowCopy {
    _room: [u8; (COPIED_ROWS + 63) * (COPIED_BYTES + LINE)],
}

/// The transposes of one kind of vector.
pub(super) struct TransposeKernels {
    /// The bytes of a vector.
    pub(super) size: usize,
    /// Blocks whose columns fill a cache line.
    pub(super) lines: BySize<BlockKinds>,
    /// Blocks whose columns fill a vector.
    pub(super) vectors: BySize<BlockKinds>,
    /// The transpose for rows or columns that do not fill a vector, if this kind of vector has one.
    pub(super) narrow: Option<Narrow>,
    /// Copies contiguous bytes, whole lines of the destination with non-temporal stores.
    pub(super) copy_run: CopyRun,
    pub(super) fill_offsets: FillOffsets,
    pub(super) copy_rows: CopyRows,
}

/// Copies contiguous bytes.
///
/// # Safety
/// The CPU has the vectors. The last argument is the number of bytes: the first pointer is valid for reading that many, the second for writing them.
pub(super) type CopyRun = unsafe fn(*const u8, *mut u8, usize);

/// Copies some bytes of some rows. The arguments are, for the source, where the first row begins and the distance between rows; both also
/// for the destination; the number of rows; the bytes to copy of each row; and how far ahead of these bytes the source is prefetched.
///
/// # Safety
/// The CPU has the vectors. That many bytes of each row, at least 16, are valid for reads in the source and for writes in the destination; the two do
/// not overlap.
pub(super) type CopyRows = unsafe fn((*const u8, usize), (*mut u8, usize), usize, usize, usize);

/// Transposes a range of rows in every iteration, where the rows or columns are too few for whole vectors.
pub(super) type Narrow = unsafe fn(&Transpose, Range<usize>, LoopNest<'_>, *const u8, *mut u8);

/// Software-prefetch strategy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Prefetch {
    None,
    /// The next line of each column, for writing.
    NextLinesToWrite,
    /// The next lines of each row of the source.
    NextLinesToRead,
    /// The same columns of the next rows of the source.
    NextRowsToRead,
}

impl Prefetch {
    /// For arrays in memory: the next lines of each row, unless rows are short or elements have 16 bytes: for these, the hardware
    /// prefetcher suffices.
    fn ahead(kernel: &Transpose) -> Self {
        let row = kernel.a_len() * kernel.bytes;
        if row >= MIN_PREFETCHED_ROW_LINES * LINE && kernel.bytes < 16 { Self::NextLinesToRead } else { Self::None }
    }
}

/// The order of blocks. On all measured machines, the same order is fastest, and the best numbers of columns and rows differ little.
#[derive(Clone, Copy)]
enum Order {
    /// This many columns at a time, through all rows: each line of a column is followed by the next one.
    Columns(usize),
    /// This many rows at a time, through all columns: as many sequential read streams as the hardware prefetcher can follow.
    Rows(usize),
}

impl Order {
    /// The order for arrays that fit in the caches.
    fn cached(bytes: usize) -> Self {
        Self::Columns((CACHED_LINES.of(bytes) * LINE) >> bytes.ilog2())
    }

    /// The order for arrays larger than the caches, with rows of `row` bytes and vectors of `size` bytes.
    fn large(bytes: usize, row: usize, size: usize) -> Self {
        let is_long = size == AVX2_SIZE && row >= AVX2_LONG_ROW;
        let lines = if is_long { AVX2_LONG_ROW_LINES } else { STREAMED_LINES };
        Self::Rows((lines.of(bytes) * LINE) >> bytes.ilog2())
    }
}

/// The rows and columns to transpose, and the order in which to do so.
struct Walk {
    a: Range<usize>,
    b: Range<usize>,
    order: Order,
    prefetch: Prefetch,
    streaming: bool,
    block: TransposeBlock,
    /// The fewest columns and rows of a block.
    min_block: (usize, usize),
    bytes: usize,
    shuffle: [u8; 16],
    /// Whether rows and columns are evenly spaced, so that they need no tables.
    even: bool,
    /// Copies rows that share few sets of the L1 cache to a buffer before they are transposed. `None` for other rows.
    copy_rows: Option<CopyRows>,
}

impl Walk {
    /// Transposes these rows and columns. `next` is where the next iteration begins in the source: it is only prefetched, not read.
    ///
    /// # Safety
    /// The CPU has the block's vectors. The tables are those of a kernel that has these rows and columns, at least `min_block` of each, and
    /// whose elements are valid for reads from `from` and for writes from `to`. If `streaming`, `to` and all columns begin at a cache line,
    /// and `b` begins and ends at a multiple of the rows of a line.
    unsafe fn run(
        &self,
        (rows, columns): (&mut OffsetTable<'_>, &mut OffsetTable<'_>),
        (from, next): (*const u8, *const u8),
        to: *mut u8,
    ) {
        if self.even && matches!(self.order, Order::Columns(_)) {
            // SAFETY: all rows and columns, which the caller guarantees; `even` offsets need no table.
            return unsafe { self.block((rows, columns), self.a.clone(), self.b.clone(), (from, next), to) };
        }
        let (least_columns, least_rows) = self.min_block;
        // The parts of a range whose offsets fit in a table.
        let parts = |of: &Range<usize>, min_block: usize| {
            let (start, count) = (of.start, if self.even { of.len() } else { OFFSETS_PER_TABLE });
            chunks(of.len(), count, min_block).map(move |part| start + part.start..start + part.end)
        };
        for b in parts(&self.b, least_rows) {
            if !self.even {
                rows.fill_offsets(b.clone());
            }
            for a in parts(&self.a, least_columns) {
                if !self.even {
                    columns.fill_offsets(a.clone());
                }
                let block = match self.order {
                    Order::Rows(count) => count,
                    Order::Columns(_) => b.len(),
                };
                let mut start = b.start;
                while start < b.end {
                    let b = start.min(b.end - least_rows)..b.end.min(start + block);
                    // SAFETY: `a` and `b` are parts of what the caller guarantees. `chunks` and the `min` above leave at least `min_block`
                    // of each. The tables hold both ranges, unless `even`. `count` and `OFFSETS_PER_TABLE` are multiples of the rows of a
                    // line, so `b` begins at such a multiple if `streaming`.
                    unsafe { self.block((rows, columns), a.clone(), b, (from, next), to) };
                    start += block;
                }
            }
        }
    }

    /// Transposes some of the rows and columns.
    ///
    /// # Safety
    /// As [`Self::run`], for the ranges `a` and `b`.
    unsafe fn block(
        &self,
        (rows, columns): (&OffsetTable<'_>, &OffsetTable<'_>),
        a: Range<usize>,
        b: Range<usize>,
        (from, next): (*const u8, *const u8),
        to: *mut u8,
    ) {
        if let Some(copy_rows) = self.copy_rows {
            // SAFETY: the caller guarantees the same; `run` sets `copy_rows` only where rows and columns are `even`.
            return unsafe { self.block_of_copies(copy_rows, (rows, columns), a, b, from, to) };
        }
        let (from, next) = (from.wrapping_add(a.start * self.bytes), next.wrapping_add(a.start * self.bytes));
        let to = to.wrapping_add(b.start * self.bytes);
        let (row, row_offsets) = rows.offsets(b.clone(), self.even).expect("the rows were looked up");
        let (column, column_offsets) = columns.offsets(a.clone(), self.even).expect("the columns were looked up");
        let rows_to_prefetch = match self.prefetch {
            Prefetch::None | Prefetch::NextLinesToWrite => None,
            Prefetch::NextLinesToRead => {
                let ahead = PREFETCH_DISTANCE_LINES.of(self.bytes) * LINE;
                Some((from.wrapping_add(row + ahead), row_offsets))
            }
            Prefetch::NextRowsToRead => {
                // The rows of the next block, or those of the first block of the next iteration.
                let is_last = b.end == self.b.end;
                let start = if is_last { self.b.start } else { b.end };
                let next_rows = rows.offsets(start..self.b.end.min(start + b.len()), self.even);
                next_rows.map(|(row, offsets)| ((if is_last { next } else { from }).wrapping_add(row), offsets))
            }
        };
        let options = BlockOptions {
            columns: match self.order {
                // There are no further rows, so all columns are transposed in these.
                Order::Columns(_) if b.len() == self.min_block.1 => a.len(),
                Order::Columns(count) => count,
                Order::Rows(_) => self.min_block.0,
            },
            streaming: self.streaming,
            shuffle: self.shuffle,
            prefetch_writes: self.prefetch == Prefetch::NextLinesToWrite,
            rows_to_prefetch: rows_to_prefetch.unwrap_or((from, Offsets::NONE)),
        };
        // SAFETY: the offsets are those of the rows `b` and the columns `a`, counted from the first row and column of the two ranges, to
        // which the pointers were moved. The caller guarantees the bounds, the size of the block and, if `streaming`, the alignment.
        unsafe {
            (self.block)(&options, (from.wrapping_add(row), row_offsets), (to.wrapping_add(column), column_offsets))
        };
    }

    /// Transposes some of the rows and columns, which are evenly spaced, from a copy of some lines of some rows: in the source, most of these
    /// lines would be evicted from the L1 cache before all of their elements are read.
    ///
    /// # Safety
    /// As [`Self::run`], for the ranges `a` and `b`; `copy_rows` has the block's vectors, and `self.even` holds.
    // Not a part of `block`: a function touches every page of its stack when it begins.
    #[inline(never)]
    unsafe fn block_of_copies(
        &self,
        copy_rows: CopyRows,
        (rows, columns): (&OffsetTable<'_>, &OffsetTable<'_>),
        a: Range<usize>,
        b: Range<usize>,
        from: *const u8,
        to: *mut u8,
    ) {
        let (bytes, (least_columns, least_rows)) = (self.bytes, self.min_block);
        // The next columns of the same rows, or the same columns of the next rows.
        let stride = rows.offsets(b.clone(), true).map_or(0, |(_, rows)| rows.stride);
        let ahead = match self.order {
            Order::Columns(_) if b.len() > COPIED_ROWS => COPIED_ROWS * stride,
            Order::Columns(_) | Order::Rows(_) => COPIED_BYTES,
        };
        // Parts begin at whole lines of rows, whatever the size of an element.
        const { assert!(COPIED_ROWS.is_multiple_of(LINE)) };
        let mut copy = MaybeUninit::<RowCopy>::uninit();
        let copy = copy.as_mut_ptr().cast::<u8>();
        for a in
            chunks(a.len(), COPIED_BYTES / bytes, least_columns).map(|part| a.start + part.start..a.start + part.end)
        {
            let width = a.len() * bytes;
            let pitch = width.next_multiple_of(LINE);
            let (column, columns) = columns.offsets(a.clone(), true).expect("they are evenly spaced");
            for b in chunks(b.len(), COPIED_ROWS, least_rows).map(|part| b.start + part.start..b.start + part.end) {
                assert!(b.len() * pitch <= size_of::<RowCopy>(), "the buffer has room for these rows");
                let (row, rows) = rows.offsets(b.clone(), true).expect("they are evenly spaced");
                let from = from.wrapping_add(row + a.start * bytes);
                // SAFETY: these are the columns `a` of the rows `b`, at least 16 bytes of each row; that the buffer has room for them was
                // asserted.
                unsafe { copy_rows((from, rows.stride), (copy, pitch), b.len(), width, ahead) };
                let options = BlockOptions {
                    columns: if self.streaming { least_columns } else { a.len() },
                    streaming: self.streaming,
                    shuffle: self.shuffle,
                    prefetch_writes: false,
                    rows_to_prefetch: (copy, Offsets::NONE),
                };
                let copied = Offsets { count: b.len(), stride: pitch, table: &[] };
                let to = to.wrapping_add(column + b.start * bytes);
                // SAFETY: row `i` of the buffer has the columns `a` of row `b.start + i`, and `to` was moved to the first row and column. `chunks`
                // leaves at least `min_block` of each, and `COPIED_ROWS` is a multiple of the rows of a line.
                unsafe { (self.block)(&options, (copy, copied), (to, columns)) };
            }
        }
    }
}

/// Transposes in every iteration of a loop nest.
///
/// # Safety
/// - The CPU has the vectors of `kernels`, whose `supports` accepts the kernel.
/// - `from` is valid for reads and `to` for writes of the bytes that [`LoopNest::span`] gives for the kernel.
/// - If `streaming`: `to` and all strides in the destination, except those along columns, are multiples of `LINE`.
pub(super) unsafe fn run(
    kernels: &TransposeKernels,
    kernel: &Transpose,
    (large, streaming): (bool, bool),
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let Transpose { bytes, shuffle, .. } = *kernel;
    // Shifts are faster than divisions.
    let log_bytes = bytes.ilog2() as usize;
    let (lane, line) = (16 >> log_bytes, LINE >> log_bytes);
    let (a, b) = (0..kernel.a_len(), 0..kernel.b_len());
    if let Some(narrow) = kernels.narrow
        && (a.end < lane || b.end < line)
    {
        // SAFETY: the caller guarantees the CPU features and the bounds; `b` are all rows.
        return unsafe { narrow(kernel, b, nest, from, to) };
    }
    let mut buffers = [OffsetBuffer::NEW; 2];
    // SAFETY: the caller guarantees the CPU features.
    let [mut rows, mut columns] = unsafe { OffsetTable::both(kernel, kernels.fill_offsets, &mut buffers) };
    let even = rows.is_even() && columns.is_even();
    let block = kernels.lines.of(bytes).of(even, shuffle.is_some());
    let all = kernel.bytes_in(nest.0);
    let walk = Walk {
        a,
        b: b.clone(),
        order: Order::cached(bytes),
        prefetch: Prefetch::None,
        streaming: false,
        block,
        min_block: (lane, line),
        bytes,
        shuffle: shuffle.unwrap_or_default(),
        even,
        copy_rows: None,
    };
    // If columns are shorter than a cache line, a block has one vector of each column.
    if b.end < line {
        let block = kernels.vectors.of(bytes).of(even, shuffle.is_some());
        let in_vector = kernels.size >> log_bytes;
        let is_crowded = even && !kernel.keeps_rows(kernels.size) && all <= MAX_CROWDED_BYTES;
        let copy_rows = is_crowded.then_some(kernels.copy_rows);
        let walk = Walk { block, min_block: (lane, in_vector), copy_rows, ..walk };
        return nest.for_each(0, 0, |from_offset, to_offset| {
            let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
            // SAFETY: the span is in bounds at these offsets. `supports` guarantees rows of at least 16 bytes and columns of at least a
            // vector, which is `min_block`. Not `streaming`: ordinary stores require no alignment.
            unsafe { walk.run((&mut rows, &mut columns), (from, from), to) };
        });
    }
    // To fill a line of a column, a line of each of `line` rows is read; so many lines do not stay in the L1 cache together.
    let gains = if large {
        // With AVX2, copying gains only for narrow elements whose columns are staged.
        kernels.size != AVX2_SIZE || !streaming && bytes < 4
    } else {
        bytes < 4 || all <= MAX_COPIED_WORD_BYTES
    };
    let is_crowded = even && resident_lines(kernel.b[0].from) < line && gains;
    let walk = Walk { copy_rows: is_crowded.then_some(kernels.copy_rows), ..walk };
    if large && !streaming && (columns_are_contiguous(kernel) || b.end * bytes >= MIN_STAGED_RUN) {
        return nest.for_each(0, 0, |from_offset, to_offset| {
            let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
            // SAFETY: the span is in bounds at these offsets; columns have at least a line (`b.end >= line`) and rows 16 bytes
            // (`supports`).
            unsafe { staged(kernels, kernel, &walk, from, to) };
        });
    }
    let whole = b.end & !(line - 1);
    let rest = b.end - line..b.end;
    // The last rows may not fill a line. If they are few, the narrow transpose takes them. Otherwise, a whole line is transposed that overlaps
    // the line before.
    let rest_bytes = (b.end - whole) * bytes;
    let mut is_done = false;
    if let Some(narrow) = kernels.narrow
        && rest_bytes > 0
        && rest_bytes <= *MAX_NARROW_ROW_BYTES.of(bytes)
        && (!large || streaming)
    {
        // SAFETY: the caller guarantees the CPU features and the bounds; `whole..b.end` are some of the kernel's rows.
        unsafe { narrow(kernel, whole..b.end, nest, from, to) };
        is_done = true;
    }
    let rows_of_walk = if is_done || streaming { 0..whole } else { b };
    // Prefetch ahead in long rows, and the next rows where rows are short.
    let short = large && walk.a.len() * bytes < HARDWARE_PREFETCH_ROW;
    let prefetch = if short && streaming {
        Prefetch::NextRowsToRead
    } else if large {
        Prefetch::ahead(kernel)
    } else if bytes == 1 && columns_start_lines(kernel, nest, to) || rows_of_walk.len() <= line || all <= L1_RESIDENT {
        // For elements of one byte, prefetching pays only where vectors straddle two lines.
        Prefetch::None
    } else {
        Prefetch::NextLinesToWrite
    };
    let order = if large { Order::large(bytes, walk.a.len() * bytes, kernels.size) } else { walk.order };
    let walk = Walk { b: rows_of_walk, order, prefetch, streaming, ..walk };
    let rest = (streaming && whole < rest.end && !is_done).then(|| Walk {
        a: walk.a.clone(),
        b: rest,
        prefetch: Prefetch::None,
        streaming: false,
        ..walk
    });
    let mut next_iteration = short.then(|| LoopCounter::new(nest));
    nest.for_each(0, 0, |from_offset, to_offset| {
        let next = next_iteration.as_mut().map_or(0, |next| {
            next.advance();
            next.from
        });
        let (next, from) = (from.wrapping_add(next), from.wrapping_add(from_offset));
        let to = to.wrapping_add(to_offset);
        // SAFETY: the span is in bounds at these offsets, and there are at least `line` rows. If `streaming`, `to` and the strides are
        // multiples of `LINE`, and `rows_of_walk` is `0..whole`, whole lines.
        unsafe { walk.run((&mut rows, &mut columns), (from, next), to) };
        if let Some(rest) = &rest {
            fence();
            // SAFETY: as above for the last `line` rows; ordinary stores require no alignment.
            unsafe { rest.run((&mut rows, &mut columns), (from, next), to) };
        }
    });
}

/// Whether all columns begin at a cache line of the destination.
fn columns_start_lines(kernel: &Transpose, nest: LoopNest<'_>, to: *mut u8) -> bool {
    nest.0.iter().chain(&kernel.a).fold(to.addr(), |all, axis| all | axis.to).is_multiple_of(LINE)
}

/// Whether columns follow each other in the destination without gaps.
fn columns_are_contiguous(kernel: &Transpose) -> bool {
    follows(&kernel.a, |axis| axis.to, kernel.b_len() * kernel.bytes)
}

/// Transposes columns that begin anywhere within a cache line: into a staging buffer that stays in the L1 cache, and from there to each
/// column, whole lines with non-temporal stores.
///
/// # Safety
/// As [`run`] for one iteration of this kernel, whose columns have at least a line and whose rows have at least 16 bytes.
// Not a part of `run`: a function touches every page of its stack frame when it begins. For a small transpose, touching the pages of the staging
// buffer would take longer than moving the elements.
#[inline(never)]
unsafe fn staged(kernels: &TransposeKernels, kernel: &Transpose, walk: &Walk, from: *const u8, to: *mut u8) {
    let bytes = kernel.bytes;
    let line = LINE / bytes;
    let mut stage = MaybeUninit::<Stage>::uninit();
    let stage = stage.as_mut_ptr().cast::<u8>();
    let mut buffers = [OffsetBuffer::NEW; 2];
    for b in chunks(kernel.b_len(), STAGE_ROWS, line) {
        let run = b.len() * bytes;
        let dense = columns_are_contiguous(kernel) && b.len() == kernel.b_len();
        let pitch = if dense { run } else { run.next_multiple_of(LINE) + LINE };
        let columns_at_once = (STAGE_BYTES / pitch).max(line) / line * line;
        let on_stage = Axis { len: kernel.a_len(), from: bytes, to: pitch };
        let on_stage = Transpose { a: [on_stage, NO_LOOP, NO_LOOP, NO_LOOP], ..*kernel };
        // SAFETY: the caller guarantees the CPU features.
        let [mut rows, mut columns] = unsafe { OffsetTable::both(&on_stage, kernels.fill_offsets, &mut buffers) };
        for a in chunks(kernel.a_len(), columns_at_once, walk.min_block.0) {
            assert!(a.len() * pitch <= size_of::<Stage>(), "the stage has room for all columns");
            // One line of each row, then the next row, so that each line is read once.
            let order = Order::Columns(line);
            let walk = Walk { a: 0..a.len(), b: b.clone(), order, prefetch: Prefetch::ahead(kernel), ..*walk };
            let (from, first) = (from.wrapping_add(a.start * bytes), stage.wrapping_sub(b.start * bytes));
            // SAFETY: the rows `b` and the columns of `a` are the kernel's, so reads are in bounds; `chunks` leaves at least `min_block` of
            // each. Writes go to `stage + column * pitch + row * bytes`, which ends below `a.len() * pitch`: that the stage has room for
            // this was asserted. `streaming` is false.
            unsafe { walk.run((&mut rows, &mut columns), (from, from), first) };
            let row = |a: usize| to.wrapping_add(place(&kernel.a, a) + b.start * bytes);
            if dense {
                // SAFETY: `pitch == run`, so the stage holds `a.len() * run` contiguous bytes, and the columns are contiguous in the
                // destination, too.
                unsafe { (kernels.copy_run)(stage, row(a.start), a.len() * run) };
                continue;
            }
            for (i, a) in a.enumerate() {
                // SAFETY: column `i` of the stage has `run` bytes from `i * pitch` on, and the rows `b` of column `a` take `run` bytes at
                // `row(a)`.
                unsafe { (kernels.copy_run)(stage.wrapping_add(i * pitch), row(a), run) };
            }
        }
    }
}

/// The offset of element `number` of a side in the destination.
fn place(side: &Side, mut number: usize) -> usize {
    let mut place = 0;
    for axis in side {
        if number < axis.len {
            return place + number * axis.to;
        }
        place += number % axis.len * axis.to;
        number /= axis.len;
    }
    place
}
