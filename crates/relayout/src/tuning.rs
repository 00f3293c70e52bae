//! The numbers that were found by measuring: from which size on another method is faster, how much is done at once, how far ahead
//! is prefetched.
//!
//! They were chosen with `cargo run --release --manifest-path benches/Cargo.toml --bin relayout`, on the machines of `docs/relayout.md`: **I** is Intel Emerald
//! Rapids (AVX-512 with VBMI; caches of 48 KiB, 2 MiB and 260 MiB, the last one shared by many cores), **A** is AMD Zen 5 (whose last
//! level belongs to a few cores), **Z** AMD EPYC, Zen 4 (AVX-512; 32 KiB, 1 MiB and 32 MiB), **M** AMD EPYC, Zen 3 (AVX2; 32 KiB, 512 KiB and
//! 32 MiB). On other machines they are guesses: Arm's vectors use the numbers of **I**. Each constant says what it
//! counts, and on which machine it was measured; *bound* marks a limit of effort or memory that hardly changes the speed. Numbers that
//! follow from the vectors or from the 64 bytes of a cache line stand with the code.

// The plan.

/// Plans that each thread keeps. **I**: making the same plan again takes 0.6 to 0.8 µs.
pub(crate) const CACHED_PLANS: usize = 8;

/// Bytes of the largest tables of a plan that is kept: *bound*.
pub(crate) const MAX_CACHED_TABLE_BYTES: usize = 64 << 10;

/// Regions of a relayout. With more, copying by tables is faster: **I**.
pub(crate) const MAX_REGIONS: usize = 256;

/// Elements per region, on average, where positions are looked up one by one. With fewer, copying by tables is faster: **I**.
pub(crate) const MIN_REGION_ELEMENTS: usize = 64;

/// Indices that are looked up one by one for a dimension, or for dimensions that a `*` combines: *bound*, some 20 ns each.
pub(crate) const MAX_PIECE_PERIOD: usize = 1 << 13;

/// Entries of all tables that hold the positions of an index on both sides: *bound*.
pub(crate) const MAX_TABLE_ENTRIES: usize = 1 << 22;

/// Entries of a table that holds the positions of one side: *bound*.
pub(crate) const MAX_PHASE_PERIOD: usize = 1 << 16;

/// Indices of a block of copying by tables: in the loop over neighbours in the source, and in the loop over neighbours in the
/// destination. **I**.
pub(crate) const TABLE_BLOCK: [usize; 2] = [16, 128];

// Non-temporal stores.

/// Non-temporal stores are used where source and destination together take at least this many halves of the L2 cache: where both fit in
/// it, ordinary stores are faster. **I**: a copy with non-temporal stores is faster from 1.5 MiB on each side.
pub(crate) const STREAMING_L2_HALVES: usize = 3;

/// The same for a last-level cache that belongs to a few cores: they are used from its size divided by this. **A**: below 8 MiB,
/// non-temporal stores cost up to half of the speed.
pub(crate) const STREAMING_LOCAL_LLC_PART: usize = 2;

/// The same for transposes that need a staging buffer: from the size of the last-level cache divided by this, which is about a few
/// cores' share of it. **I**: below, ordinary stores are up to 1.5 times as fast.
pub(crate) const STAGING_LLC_PART: usize = 10;

/// Assumed for a machine that does not describe its caches: the bytes of the L2 and of the last-level cache.
pub(crate) const DEFAULT_CACHES: [usize; 2] = [2 << 20, 32 << 20];

/// Bytes of the shortest rows that are interleaved or packed with non-temporal stores though they are not whole lines. For shorter rows,
/// the fence in each iteration costs more than these stores gain. **I**.
pub(crate) const MIN_FENCED_ROW: usize = 1024;

// Joining runs.

/// Bytes of the longest runs that are joined; longer ones gain nothing. **I**.
pub(crate) const MAX_RUN: usize = 1024;

/// Runs that are joined at a time if there are more than twice as many: then the rest of the source's lines stays in the L1 and L2
/// caches until it is read. **I**.
pub(crate) const RUNS_PER_BATCH: usize = 256;

/// Bytes of the destination that an iteration writes. With non-temporal stores, shorter iterations share cache lines with others, so
/// they run in the order of the destination and share a staging buffer. **I**.
pub(crate) const MIN_UNMERGED_ITERATION: usize = 2048;

/// Bytes of an iteration from which on runs of [`LONG_RUN`] bytes or more are joined with ordinary stores. For fewer, the preparation
/// takes too long. **I**.
pub(crate) const MIN_JOINED_ITERATION: usize = 512;

/// Bytes of a run from which on copying each run by itself is as fast, with ordinary stores. **I**.
pub(crate) const LONG_RUN: usize = 128;

/// How far ahead of each run its source is prefetched, in bytes. **I**.
pub(crate) const RUN_PREFETCH_BYTES: usize = 1024;

// Gathers.

/// Bytes of the destination in a block that is gathered: the first of these, or the next ones where a block needs too many permutes.
/// **I**.
pub(crate) const GATHER_BLOCKS: [usize; 3] = [1024, 512, 256];

/// The fewest elements of a block that is gathered, unless it is all there is. **I**.
pub(crate) const MIN_GATHER_ELEMENTS: usize = 32;

/// The most permutes of a block: their tables stay in the L1 cache. **I**.
#[cfg(target_arch = "x86_64")]
pub(crate) const MAX_PERMUTES_PER_BLOCK: usize = 192;

/// The most permutes for a vector where the alternative is scalar code: the most elements that a vector has. **I**.
pub(crate) const MAX_PERMUTES_PER_VECTOR: usize = 64;

/// How long a permute and each vector of the result take, in tenths of the time in which an element is copied by itself. **Z**.
#[cfg(target_arch = "x86_64")]
pub(crate) const PERMUTE_TENTHS: usize = 15;
#[cfg(target_arch = "x86_64")]
pub(crate) const VECTOR_TENTHS: usize = 20;

/// The most permutes for a vector where the alternative is joining runs: this divided by the bytes of a run. A permute takes as long as
/// nearly three moves. **I**.
pub(crate) const PERMUTES_INSTEAD_OF_RUNS: usize = 24;

/// The most permutes for a vector where the alternative is a transpose with a side shorter than 16 bytes: this divided by the bytes of
/// that side. Such a transpose fills vectors from many places, and its stores of a few bytes take about as long as those of vectors.
/// **I**.
pub(crate) const PERMUTES_INSTEAD_OF_NARROW: usize = 96;

/// The most permutes for a vector where the alternative is a transpose whose sides are both shorter than a line. **I**.
pub(crate) const PERMUTES_INSTEAD_OF_SHORT: usize = 8;

/// Bytes of a region that is copied in less time than the preparation of a transpose takes. **Z**.
pub(crate) const TINY_REGION: usize = 512;

/// The most permutes for a vector of such a region. **Z**.
pub(crate) const MAX_PERMUTES_OF_TINY: usize = 16;

/// The most elements of such a region that are copied one by one, where they are too few for a vector of the source. **Z**.
pub(crate) const MAX_TINY_ELEMENTS: usize = 32;

// Interleaving.

/// Bytes of the shortest 3, 5 or 7 rows of 1- and 2-byte elements that are interleaved with AVX-512; shorter ones are permuted. **Z**.
pub(crate) const MIN_ODD_ROW: usize = 24;

/// The same for 2 and 8 rows of elements of any size, except 2 rows of 8 bytes. **Z**.
pub(crate) const MIN_PAIRED_ROW: usize = 32;

/// How far ahead the rows of an interleaving are prefetched, in bytes of all rows together. **I**.
pub(crate) const ROW_PREFETCH_BYTES: usize = 2048;

/// The same where iterations are shorter than that, in bytes of all iterations: then later iterations are prefetched, because what
/// follows a short row in memory may belong to another row. **I**.
pub(crate) const ITERATION_PREFETCH_BYTES: usize = 8192;

/// Bytes of a row that are taken from a run at once, where the factor is not a power of two: that part of the run stays in the L1 cache.
/// **I**.
pub(crate) const DEINTERLEAVE_BLOCK: usize = 1024;

// Transposes.

/// The largest distance between elements, in elements, at which they count as near each other. **I**.
pub(crate) const MAX_NEAR_STRIDE: usize = 8;

/// Rows that are staged at once. They make columns so long that the partial lines at both ends count for little, and a line of each row
/// stays in the L1 cache. **I**: 1024 to 4096 gained nothing.
pub(crate) const STAGE_ROWS: usize = 512;

/// Bytes of the staging buffer that are used, where the number of columns can be chosen: as much as stays in the L1 cache. **I**.
pub(crate) const STAGE_BYTES: usize = 32 << 10;

/// Bytes of the shortest columns that are worth staging. **I**.
pub(crate) const MIN_STAGED_RUN: usize = 256;

/// Bytes of all iterations that stay in the L1 cache on both sides: up to this, lines are not prefetched for writing, and the rows of 16-byte
/// elements are not divided. **I**.
pub(crate) const L1_RESIDENT: usize = 16 << 10;

/// How many rows are copied at a time before they are transposed, where their lines share few sets of the L1 cache. The copy stays in that
/// cache. **Z**.
pub(crate) const COPIED_ROWS: usize = 64;

/// How many bytes of each of these rows are copied at a time. **Z**.
pub(crate) const COPIED_BYTES: usize = 128;

/// Bytes of the largest arrays of 4-byte elements for which this copy is faster, unless they are larger than the caches. **Z**.
pub(crate) const MAX_COPIED_WORD_BYTES: usize = 4 << 20;

/// Rows shorter than this, in bytes, do not train the hardware prefetcher: the next rows are prefetched by software. **I**.
pub(crate) const HARDWARE_PREFETCH_ROW: usize = 2048;

/// Lines of the shortest rows whose next lines are prefetched where arrays are in memory. **I**.
pub(crate) const MIN_PREFETCHED_ROW_LINES: usize = 8;

/// Lines of a column that are written together where arrays are in the caches, by the logarithm of an element's bytes. **I**.
pub(crate) const CACHED_LINES: [usize; 5] = [2, 1, 1, 2, 2];

/// The same where arrays are larger than the caches: two, unless that takes too many rows of the source. **I**.
pub(crate) const STREAMED_LINES: [usize; 5] = [1, 2, 2, 2, 2];

/// How many lines ahead a row of the source is prefetched, by the logarithm of an element's bytes: a line of narrow elements takes
/// longer to transpose. **I**.
pub(crate) const PREFETCH_DISTANCE_LINES: [usize; 5] = [1, 1, 2, 2, 2];

/// The most bytes of the rows at the end that do not fill a line, by the logarithm of an element's bytes, that are transposed separately
/// instead of together with some rows before them. **I**.
pub(crate) const MAX_NARROW_ROW_BYTES: [usize; 5] = [32, 32, 16, 0, 0];

/// Bytes of the largest iteration of a transpose without tables, unless one side is shorter than a line: for more, whole lines of columns
/// are faster. **Z**.
pub(crate) const MAX_DIRECT_BYTES: usize = 4 << 10;

/// Rows of elements of 16 bytes that are transposed at once where they do not stay in the L1 cache with their columns. **Z**: with 64, arrays in
/// the L2 cache take a tenth longer, and larger ones half again as long.
pub(crate) const WIDE_ROWS: usize = 16;

/// The same where arrays are larger than the caches and rows are longer than [`LARGE_WIDE_COLUMNS`]. **Z**: 16 take 1.1 to 1.7 times as long.
pub(crate) const LARGE_WIDE_ROWS: usize = 512;

/// Elements of a row up to which its lines are read completely before they are evicted, however many rows are taken. **Z**.
pub(crate) const LARGE_WIDE_COLUMNS: usize = 16;

/// The fewest elements of the innermost loops of both sides together in a transpose without tables: for fewer, looking up offsets is
/// faster. **M**.
pub(crate) const MIN_DIRECT_BLOCK: usize = 64;

/// The same for elements of 16 bytes, where these loops do not cover a side. **Z**.
pub(crate) const MIN_DIRECT_WIDE_BLOCK: usize = 8;

/// The bytes of the shortest rows and of the shortest columns of such elements for which whole lines with non-temporal stores are faster, where
/// both arrays are larger than the caches and columns begin at lines. **Z**.
pub(crate) const MIN_STREAMED_WIDE: [usize; 2] = [256, 128];

/// Rows or columns in a table of offsets, if they are not evenly spaced: the tables stay in the L1 cache. **I**.
pub(crate) const OFFSETS_PER_TABLE: usize = 512;

/// Columns that scalar code writes in turn, so that their lines stay in the L1 cache. **I**.
pub(crate) const SCALAR_BLOCK_ROWS: usize = 32;

// Threads.

/// Pieces for each thread: more than one, so that a delayed thread does not delay all; but few, because narrow pieces read short parts of
/// rows. **Z**: with 4, two threads take 0.5 to 0.8 of one thread's time for 4 to 64 MiB, and beside two or four busy processes at most
/// 1.3 of it in the median.
#[cfg(feature = "threads")]
pub(crate) const PIECES_PER_THREAD: usize = 4;

/// Bytes of the smallest piece: *bound*, some 10 to 50 µs of work, for which a thread waits at the end.
#[cfg(feature = "threads")]
pub(crate) const MIN_PIECE_BYTES: usize = 256 << 10;

/// Bytes of the destination that a thread writes before it asks whether to go on: *bound*, some 10 to 100 ms.
#[cfg(feature = "threads")]
pub(crate) const MAX_STRETCH_BYTES: usize = 64 << 20;

/// Bytes of the shortest stretch of the source that a thread reads at a time, where the next stretch belongs to another thread. **Z**: rows of 128
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
