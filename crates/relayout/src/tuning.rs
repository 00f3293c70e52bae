//! Numbers that were found by measuring: how much is done at once, how far ahead to prefetch, and where to limit effort. The numbers that
//! decide between kernels are in `choice`, next to the rules.
//!
//! They were chosen with `cargo run --release --manifest-path benches/Cargo.toml --bin relayout`, on the machines of `docs/relayout.md`: **I** is Intel Emerald
//! Rapids (AVX-512 with VBMI; caches of 48 KiB, 2 MiB and 260 MiB, the last one shared by many cores), **A** is AMD Zen 5 (whose last
//! level belongs to a few cores), **Z** AMD EPYC, Zen 4 (AVX-512; 32 KiB, 1 MiB and 32 MiB), **M** AMD EPYC, Zen 3 (AVX2; 32 KiB, 512 KiB and
//! 32 MiB). On other machines they are guesses: Arm's vectors use the numbers of **I**. Each constant says what it
//! counts, and on which machine it was measured; *bound* marks a limit of effort or memory that hardly changes the speed. Numbers that
//! follow from the vectors or from the 64 bytes of a cache line are in the code that uses them.

/// A value for each size that elements of kernels have.
pub(crate) struct BySize<T> {
    /// For elements of one byte, and so on.
    pub(crate) one: T,
    pub(crate) two: T,
    pub(crate) four: T,
    pub(crate) eight: T,
    pub(crate) sixteen: T,
}

impl<T> BySize<T> {
    /// The value for elements of `bytes` bytes. Kernels have no other sizes than these five.
    pub(crate) const fn of(&self, bytes: usize) -> &T {
        match bytes {
            1 => &self.one,
            2 => &self.two,
            4 => &self.four,
            8 => &self.eight,
            _ => &self.sixteen,
        }
    }
}

// The plan.

/// Plans that each thread keeps. **I**: making the same plan again takes 0.6 to 0.8 µs.
pub(crate) const CACHED_PLANS: usize = 8;

/// A plan is kept only if its tables take at most this many bytes: *bound*.
pub(crate) const MAX_CACHED_TABLE_BYTES: usize = 64 << 10;

/// Regions of a relayout. With more, copying by tables is faster: **I**.
pub(crate) const MAX_REGIONS: usize = 256;

/// Elements per region, on average, where positions are looked up one by one. With fewer, copying by tables is faster: **I**.
pub(crate) const MIN_REGION_ELEMENTS: usize = 64;

/// Indices that are looked up one by one for a dimension, or for dimensions that a `*` combines: *bound*, some 20 ns each.
pub(crate) const MAX_PIECE_PERIOD: usize = 1 << 13;

/// Entries of all tables that map an index to its positions on both sides, together: *bound*.
pub(crate) const MAX_TABLE_ENTRIES: usize = 1 << 22;

/// Entries of a table that holds the positions of one side: *bound*.
pub(crate) const MAX_PHASE_PERIOD: usize = 1 << 16;

/// The size of a block where tables give the positions: iterations of the loop over neighbours in the source, and of the loop over neighbours in the
/// destination. **I**.
pub(crate) const TABLE_BLOCK: [usize; 2] = [16, 128];

// Non-temporal stores.

/// Rows that are not whole lines are interleaved or packed with non-temporal stores if they have at least this many bytes. **M**: 400-byte
/// rows take half to two thirds of the time of ordinary stores, but 200-byte rows take longer.
pub(crate) const MIN_STREAMED_INTERLEAVING_ROW: usize = 256;

// Joining runs.

/// Bytes of the longest runs that are joined; joining longer ones gains nothing. **I**.
pub(crate) const MAX_RUN: usize = 1024;

/// The loop over the runs of a kernel is divided into batches of this many runs, if it has more than twice as many. A run may read only a
/// part of a cache line; with batches, the line is still in the L1 or L2 cache when the rest of it is read. **I**.
pub(crate) const RUNS_PER_BATCH: usize = 256;

/// Bytes of the destination that an iteration writes. With non-temporal stores, shorter iterations share cache lines with others, so
/// they run in the order of the destination and share a staging buffer. **I**.
pub(crate) const MIN_UNMERGED_ITERATION: usize = 2048;

/// How far ahead of each run its source is prefetched, in bytes. **I**.
pub(crate) const RUN_PREFETCH_BYTES: usize = 1024;

// Gathers.

/// The most permutes of a block: their tables stay in the L1 cache. **I**.
#[cfg(target_arch = "x86_64")]
pub(crate) const MAX_PERMUTES_PER_BLOCK: usize = 192;

// Interleaving.

/// How far ahead the rows of an interleaving are prefetched, in bytes of all rows together. **I**.
pub(crate) const ROW_PREFETCH_BYTES: usize = 2048;

/// How far ahead is prefetched where an iteration is shorter than [`ROW_PREFETCH_BYTES`], in bytes of all iterations together. Then later
/// iterations are prefetched, because what follows a short row in memory may belong to another row. **I**.
pub(crate) const ITERATION_PREFETCH_BYTES: usize = 8192;

/// Bytes of a row that are taken from a run at once, where the factor is not a power of two: that part of the run stays in the L1 cache.
/// **I**.
pub(crate) const DEINTERLEAVE_BLOCK: usize = 1024;

// Transposes.

/// Rows that are staged at once. They make columns so long that the partial lines at both ends count for little, and a line of each row
/// stays in the L1 cache. **I**: 1024 to 4096 gained nothing.
pub(crate) const STAGE_ROWS: usize = 512;

/// Bytes of the staging buffer that are used, where the number of columns can be chosen: as much as stays in the L1 cache. **I**.
pub(crate) const STAGE_BYTES: usize = 32 << 10;

/// Bytes of the shortest columns that are worth staging. **I**.
pub(crate) const MIN_STAGED_RUN: usize = 256;

/// Up to this many bytes, the source and the destination stay in the L1 cache: lines are not prefetched for writing, and the rows of 16-byte elements
/// are not divided. **I**.
pub(crate) const L1_RESIDENT: usize = 16 << 10;

/// How many rows are copied at a time before they are transposed, where their lines share few sets of the L1 cache. The copy stays in that
/// cache. **Z**. In arrays larger than the caches, transposes with AVX2 copy rows first only if elements have 1 or 2 bytes and columns are
/// written through a staging buffer. **M**: with non-temporal stores, transposes that copy rows first take 1.4 times as long for 4-byte
/// elements, 1.3 times for 2-byte and 1.05 times for 1-byte elements.
pub(crate) const COPIED_ROWS: usize = 64;

/// How many bytes of each of the [`COPIED_ROWS`] are copied at a time. **Z**.
pub(crate) const COPIED_BYTES: usize = 128;

/// Where columns are shorter than a line, rows that share few sets of the L1 cache are copied, or taken in smaller blocks, only where a step has at most
/// this many bytes. **M**: `u8[n,32768]` and `bf16[n,32768]` then take 0.35 to 0.9 times as long; with 3.2 MiB, 1.2 to 1.7 times, because
/// each page of the destination is written several times.
pub(crate) const MAX_CROWDED_BYTES: usize = 2 << 20;

/// For 4-byte elements, rows are copied only in arrays of at most this many bytes and in arrays larger than the caches: between the two, it
/// does not pay. **Z**.
pub(crate) const MAX_COPIED_WORD_BYTES: usize = 4 << 20;

/// Rows shorter than this, in bytes, do not train the hardware prefetcher: the next rows are prefetched by software. **I**.
pub(crate) const HARDWARE_PREFETCH_ROW: usize = 2048;

/// Where arrays are larger than the caches, the next lines of a row are prefetched only if it has at least this many lines. **I**.
pub(crate) const MIN_PREFETCHED_ROW_LINES: usize = 8;

/// How many lines of a column are written together if the arrays fit in the caches. **I**.
pub(crate) const CACHED_LINES: BySize<usize> = BySize { one: 2, two: 1, four: 1, eight: 2, sixteen: 2 };

/// The same if the arrays are larger than the caches: two, unless that reads too many rows of the source at once. **I**.
pub(crate) const STREAMED_LINES: BySize<usize> = BySize { one: 1, two: 2, four: 2, eight: 2, sixteen: 2 };

/// Bytes of the vectors for which the numbers of AVX2 were measured.
pub(crate) const AVX2_SIZE: usize = 32;

/// As [`STREAMED_LINES`], for rows of at least [`AVX2_LONG_ROW`] bytes with AVX2. **M**: with two lines, twice as many rows are read side by side, and
/// elements of 2 and 4 bytes take 1.1 to 1.8 times as long; elements of 8 bytes take up to a quarter less.
pub(crate) const AVX2_LONG_ROW_LINES: BySize<usize> = BySize { one: 1, two: 1, four: 1, eight: 2, sixteen: 2 };

/// See [`AVX2_LONG_ROW_LINES`]. **M**: with rows of 2 KiB, two lines are a tenth to a fifth faster.
pub(crate) const AVX2_LONG_ROW: usize = 4 << 10;

/// How many lines ahead of the loads a row of the source is prefetched. One is enough for narrow elements, whose lines take longer to
/// transpose. **I**.
pub(crate) const PREFETCH_DISTANCE_LINES: BySize<usize> = BySize { one: 1, two: 1, four: 2, eight: 2, sixteen: 2 };

/// The last rows of a transpose may not fill a line. If they have at most this many bytes, they are transposed by themselves; otherwise
/// together with some rows before them. **I**.
pub(crate) const MAX_NARROW_ROW_BYTES: BySize<usize> = BySize { one: 32, two: 32, four: 16, eight: 0, sixteen: 0 };

/// Rows in a block of a transpose of 16-byte elements without tables: the second number or, if the rows share few sets of the L1 cache,
/// fewer, but at least the first number. **I**: blocks of 16 rows and all columns take 1.1 to 2.3 times as long from 512 KiB on. 32 rows
/// instead of 64 take up to a quarter longer where rows begin within lines, and 64 instead of 32 a tenth longer where they share sets.
pub(crate) const WIDE_ROWS: [usize; 2] = [32, 64];

/// Columns of such a block. **I**: 16 are as fast, but their lines do not fit in a smaller L1 cache.
pub(crate) const WIDE_COLUMNS: usize = 8;

/// Rows or columns in a table of offsets, if they are not evenly spaced: the tables stay in the L1 cache. **I**.
pub(crate) const OFFSETS_PER_TABLE: usize = 512;

/// Columns that scalar code writes in turn, so that their lines stay in the L1 cache. **I**.
pub(crate) const SCALAR_BLOCK_ROWS: usize = 32;

// Threads.

/// Pieces for each thread: more than one, so that a delayed thread does not delay all; but few, because narrow pieces read short parts of
/// rows. **Z**: with 4, two threads take 0.5 to 0.8 of one thread's time for 4 to 64 MiB. While two or four other processes are busy, the
/// median is at most 1.3 times one thread's time.
#[cfg(feature = "threads")]
pub(crate) const PIECES_PER_THREAD: usize = 4;

/// Bytes of the smallest piece: *bound*, some 10 to 50 µs of work, for which a thread waits at the end.
#[cfg(feature = "threads")]
pub(crate) const MIN_PIECE_BYTES: usize = 256 << 10;

/// Bytes of the destination that a thread writes before it asks whether to go on: *bound*, some 10 to 100 ms.
#[cfg(feature = "threads")]
pub(crate) const MAX_STRETCH_BYTES: usize = 64 << 20;

/// A thread reads at least this many bytes of the source at a time, if the bytes after them belong to another thread. **Z**: rows of 128
/// to 512 bytes, in eight parts that read 64 KiB at a time, take 1.1 to 1.3 times as long in all as with one thread; with 16 KiB 1.4 to 1.6
/// times, with 8 KiB 1.9 to 2.1, with 128 bytes to 4 KiB 2 to 6.
#[cfg(feature = "threads")]
pub(crate) const MIN_STRETCH_BYTES: usize = 16 << 10;

/// Bytes of a destination for each thread that helps. **Z**: waking a thread takes the calling one 10 to 40 µs, in which it copies 0.5 to 1.5
/// MiB within the last-level cache. With 4 MiB, two threads are slower than one for some arrays.
#[cfg(feature = "threads")]
pub(crate) const BYTES_PER_HELPER: usize = 8 << 20;

/// How often a thread that has nothing left to do asks whether the others have finished, before it sleeps:
/// *bound*, some 20 to 50 µs.
#[cfg(feature = "threads")]
pub(crate) const WAITING_SPINS: usize = 1000;
