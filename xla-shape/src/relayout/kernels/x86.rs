//! The kernels for x86-64, with vectors of one or two 16-byte lanes.
//!
//! All are made of one step: zip register `i` with register `i + n/2`, element by element, and take the low and the
//! high half of the result as registers `2i` and `2i + 1`. With the elements of all registers numbered in a row, that
//! moves the highest bit of an element's number to the lowest place. So `log₂ n` steps on `n` rows interleave them,
//! as many steps as an element's number within a lane has bits take rows apart, and on as many registers as a lane has
//! elements both are the same: a transpose.

use super::{Interleave, Kernel, Machine, Transpose, Turns, Vectors};
use std::arch::x86_64::*;
use std::ops::Range;

/// The bytes of a cache line.
const LINE: usize = 64;

/// Runs a kernel in every turn, if there is a way to do so with vectors; whether there is.
///
/// The slices are those that the kernel and its turns need: the caller has cut them to [`Turns::ends`].
pub(super) fn run(kernel: &Kernel, machine: Machine, turns: Turns<'_>, source: &[u8], destination: &mut [u8]) -> bool {
    let (from, to) = (source.as_ptr(), destination.as_mut_ptr());
    let streaming =
        machine.streaming && to.align_offset(LINE) == 0 && turns.0.iter().all(|axis| axis.to.is_multiple_of(LINE));
    match (kernel, machine.vectors) {
        (Kernel::Copy(bytes), _) if machine.streaming => {
            turns.for_each(0, 0, &mut |from_turn, to_turn| {
                // SAFETY: the slices are as long as all turns need.
                unsafe { stream(from.wrapping_add(from_turn), to.wrapping_add(to_turn), *bytes) };
            });
            true
        }
        (Kernel::Copy(_) | Kernel::Pack(_) | Kernel::Unpack(_), _) | (_, Vectors::None) => false,
        // SAFETY: the machine has AVX2, and the slices are as long as all turns need.
        (kernel, Vectors::Avx2) if avx2::takes(kernel) => unsafe { avx2::run(kernel, streaming, turns, from, to) },
        // SAFETY: the slices are as long as all turns need.
        (kernel, _) if sse2::takes(kernel) => unsafe { sse2::run(kernel, streaming, turns, from, to) },
        _ => false,
    }
}

/// The bytes of a block's rows in the source of a transpose.
const BLOCK_ROW_FROM: usize = 512;
/// The bytes of a block's rows in the destination of a transpose.
const BLOCK_ROW_TO: usize = 1024;
/// Elements of this many bytes: with smaller ones more rows are held at once, and asking for the next ones only hinders.
const PREFETCH_FROM: usize = 4;

/// Parts of `0..len` that are `block` long, or all of it if that is shorter; the last ones may overlap.
fn blocks(len: usize, block: usize) -> impl Iterator<Item = Range<usize>> {
    let block = block.min(len);
    (0..len).step_by(block.max(1)).map(move |start| start.min(len - block)).map(move |start| start..start + block)
}

/// Copies with stores that go past the caches.
///
/// # Safety
/// `from` and `to` must be valid for reads and writes of `bytes` bytes, and must not overlap.
unsafe fn stream(from: *const u8, to: *mut u8, bytes: usize) {
    // Whole lines are streamed, what lies before and behind them is not.
    let head = to.align_offset(LINE).min(bytes);
    // SAFETY: `head` is at most `bytes`.
    unsafe { to.copy_from_nonoverlapping(from, head) };
    let mut done = head;
    while done + LINE <= bytes {
        for _ in 0..LINE / 16 {
            // SAFETY: 16 more bytes are left.
            let vector = unsafe { _mm_loadu_si128(from.wrapping_add(done).cast()) };
            // SAFETY: 16 more bytes are left, and begin a multiple of 16 behind the start of a line.
            unsafe { _mm_stream_si128(to.wrapping_add(done).cast(), vector) };
            done += 16;
        }
    }
    // SAFETY: `done` is at most `bytes`.
    unsafe { to.wrapping_add(done).copy_from_nonoverlapping(from.wrapping_add(done), bytes - done) };
}

/// Calls `$f` with a kernel's sizes, and what else is given, as constants; returns `false` for sizes that none has.
macro_rules! with_sizes {
    ($f:ident($kernel:ident, $turns:ident, $from:ident, $to:ident) $(, $more:literal)?) => {
        with_sizes!(@match $f($kernel, $turns, $from, $to), ($($more)?);
            1, 2; 1, 4; 1, 8; 2, 2; 2, 4; 2, 8; 4, 2; 4, 4; 8, 2)
    };
    (@match $f:ident $arguments:tt, $more:tt; $($bytes:literal, $ways:literal);*) => {
        with_sizes!(@arms $f $arguments; $($bytes, $ways, $more);*)
    };
    (@arms $f:ident($kernel:ident, $turns:ident, $from:ident, $to:ident);
        $($bytes:literal, $ways:literal, ($($more:literal)?));*) => {
        match ($kernel.bytes, $kernel.ways) {
            $(
                // SAFETY: as required of the caller; the constants are those of the kernel.
                ($bytes, $ways) => unsafe { $f::<$bytes, $ways $(, $more)?>($kernel, $turns, $from, $to) },
            )*
            _ => return false,
        }
    };
}

/// Generates the kernels for vectors of one kind.
macro_rules! kernels {
    ($feature:literal, $vector:ty, $lanes:literal) => {
        use super::*;

        /// The bytes of a vector.
        const SIZE: usize = 16 * $lanes;
        /// The vectors of a cache line.
        const LINE_VECTORS: usize = LINE / SIZE;

        /// Stores a vector, past the caches if `STREAMING`.
        ///
        /// # Safety
        /// `to` must be valid for a write of `SIZE` bytes, and a multiple of `SIZE` if `STREAMING`.
        #[inline]
        #[target_feature(enable = $feature)]
        unsafe fn store<const STREAMING: bool>(to: *mut u8, vector: $vector) {
            if STREAMING {
                // SAFETY: as required of the caller.
                unsafe { stream_aligned(to.cast(), vector) };
            } else {
                // SAFETY: as required of the caller; no alignment is needed.
                unsafe { store_unaligned(to.cast(), vector) };
            }
        }

        /// `steps` times the step of which all kernels are made.
        #[inline]
        #[target_feature(enable = $feature)]
        fn zipped<const BYTES: usize, const N: usize>(mut registers: [$vector; N], steps: u32) -> [$vector; N] {
            for _ in 0..steps {
                let old = registers;
                for i in 0..N / 2 {
                    registers[2 * i] = zip_low::<BYTES>(old[i], old[i + N / 2]);
                    registers[2 * i + 1] = zip_high::<BYTES>(old[i], old[i + N / 2]);
                }
            }
            registers
        }

        /// Whether there are vectors of this kind for a kernel.
        pub(super) fn takes(kernel: &Kernel) -> bool {
            match kernel {
                Kernel::Copy(_) | Kernel::Pack(_) | Kernel::Unpack(_) => false,
                Kernel::Interleave(kernel) | Kernel::Deinterleave(kernel) => kernel.len * kernel.bytes >= SIZE,
                Kernel::Transpose(kernel) => {
                    let shuffles = kernel.shuffle.is_none() || SHUFFLES;
                    shuffles && kernel.a[0].len * kernel.bytes >= 16 && kernel.b_len() * kernel.bytes >= SIZE
                }
            }
        }

        /// Runs a kernel that [`takes`] accepts in every turn; `false` for sizes that no kernel has.
        ///
        /// # Safety
        /// `from` and `to` must be valid for reads and writes of [`Turns::ends`] bytes. If `streaming`, `to` and all
        /// strides of `turns` in the destination are multiples of `LINE`.
        #[target_feature(enable = $feature)]
        pub(super) unsafe fn run(
            kernel: &Kernel,
            streaming: bool,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) -> bool {
            match kernel {
                Kernel::Copy(_) | Kernel::Pack(_) | Kernel::Unpack(_) => return false,
                Kernel::Interleave(kernel) if streaming => with_sizes!(interleave(kernel, turns, from, to), true),
                Kernel::Interleave(kernel) => with_sizes!(interleave(kernel, turns, from, to), false),
                // The pieces of rows are too short for streaming stores to pay.
                Kernel::Deinterleave(kernel) => with_sizes!(deinterleave(kernel, turns, from, to)),
                Kernel::Transpose(kernel) => match kernel.bytes {
                    // SAFETY: as required of the caller; the numbers are the element's bytes and a lane's elements.
                    1 => unsafe { transpose::<1, 16>(kernel, turns, from, to) },
                    // SAFETY: as above.
                    2 => unsafe { transpose::<2, 8>(kernel, turns, from, to) },
                    // SAFETY: as above.
                    4 => unsafe { transpose::<4, 4>(kernel, turns, from, to) },
                    // SAFETY: as above.
                    8 => unsafe { transpose::<8, 2>(kernel, turns, from, to) },
                    // SAFETY: as above.
                    16 => unsafe { transpose::<16, 1>(kernel, turns, from, to) },
                    _ => return false,
                },
            }
            true
        }

        /// # Safety
        /// As [`run`], for this kernel.
        #[target_feature(enable = $feature)]
        unsafe fn interleave<const BYTES: usize, const WAYS: usize, const STREAMING: bool>(
            kernel: &Interleave,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row) = (kernel.len, kernel.row);
            turns.for_each(0, 0, &mut |from_turn, to_turn| {
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let interleaved = |start: usize| {
                    let mut registers = [zero(); WAYS];
                    for way in 0..WAYS {
                        let place = from.wrapping_add(way * row + start * BYTES);
                        // SAFETY: `step` elements of each row are left from `start` on.
                        registers[way] = unsafe { load(place.cast()) };
                    }
                    lanes_to_memory(zipped::<BYTES, WAYS>(registers, WAYS.ilog2()))
                };
                let mut start = 0;
                while start + step <= len {
                    for (i, vector) in interleaved(start).into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: the run has room for what was read, and `SIZE` divides the distance from `to`.
                        unsafe { store::<STREAMING>(place, vector) };
                    }
                    start += step;
                }
                if start < len {
                    // The last elements fill no vector: some are done twice.
                    let start = len - step;
                    for (i, vector) in interleaved(start).into_iter().enumerate() {
                        let place = to.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: the run has room for what was read.
                        unsafe { store::<false>(place, vector) };
                    }
                }
            });
        }

        /// # Safety
        /// As [`run`], for this kernel.
        #[target_feature(enable = $feature)]
        unsafe fn deinterleave<const BYTES: usize, const WAYS: usize>(
            kernel: &Interleave,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let step = SIZE / BYTES;
            let (len, row) = (kernel.len, kernel.row);
            turns.for_each(0, 0, &mut |from_turn, to_turn| {
                let (from, to) = (from.wrapping_add(from_turn), to.wrapping_add(to_turn));
                let apart = |start: usize| {
                    let mut vectors = [zero(); WAYS];
                    for (i, vector) in vectors.iter_mut().enumerate() {
                        let place = from.wrapping_add(start * BYTES * WAYS + i * SIZE);
                        // SAFETY: `step` elements of each row are left in the run from `start` on.
                        *vector = unsafe { load(place.cast()) };
                    }
                    zipped::<BYTES, WAYS>(memory_to_lanes(vectors), (16 / BYTES).ilog2())
                };
                let mut start = 0;
                while start < len {
                    // The last elements may fill no vector: some are done twice.
                    start = start.min(len - step);
                    for (way, vector) in apart(start).into_iter().enumerate() {
                        let place = to.wrapping_add(way * row + start * BYTES);
                        // SAFETY: the row has room for what was read.
                        unsafe { store::<false>(place, vector) };
                    }
                    start += step;
                }
            });
        }

        /// # Safety
        /// As [`run`], for this kernel, which [`takes`] has accepted.
        #[target_feature(enable = $feature)]
        unsafe fn transpose<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            turns: Turns<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let [inner, outer] = kernel.a;
            turns.for_each(0, 0, &mut |from_turn, to_turn| {
                for turn in 0..outer.len {
                    let from = from.wrapping_add(from_turn + turn * outer.from);
                    let to = to.wrapping_add(to_turn + turn * outer.to);
                    // Block by block, so that a block's pages and lines are at hand while it is written.
                    for b in blocks(kernel.b_len(), BLOCK_ROW_TO / BYTES) {
                        for a in blocks(inner.len, BLOCK_ROW_FROM / BYTES) {
                            // SAFETY: as required of the caller; the block is a part of the turn.
                            unsafe { transpose_block::<BYTES, LANE>(kernel, &a, &b, from, to) };
                        }
                    }
                }
            });
        }

        /// Transposes the elements with these numbers along `a` and `b`.
        ///
        /// # Safety
        /// As [`transpose`] for the turn that begins at `from` and `to`. `a` must have at least as many elements as a
        /// lane holds, and `b` as many as a vector holds.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_block<const BYTES: usize, const LANE: usize>(
            kernel: &Transpose,
            a: &Range<usize>,
            b: &Range<usize>,
            from: *const u8,
            to: *mut u8,
        ) {
            let (line, vector) = (LINE / BYTES, SIZE / BYTES);
            let mut start = b.start;
            while start + line <= b.end {
                // SAFETY: as required of the caller.
                unsafe { transpose_rows::<BYTES, LANE, LINE_VECTORS>(kernel, a, start, from, to) };
                start += line;
            }
            while start < b.end {
                // The last vector may do some elements a second time.
                start = start.min(b.end - vector);
                // SAFETY: as required of the caller.
                unsafe { transpose_rows::<BYTES, LANE, 1>(kernel, a, start, from, to) };
                start += vector;
            }
        }

        /// Holds as many rows of the source as `VECTORS` have elements, from number `b` on, and walks along them.
        ///
        /// # Safety
        /// As [`transpose_block`], and that many elements must be left of `b`.
        #[target_feature(enable = $feature)]
        unsafe fn transpose_rows<const BYTES: usize, const LANE: usize, const VECTORS: usize>(
            kernel: &Transpose,
            columns: &Range<usize>,
            b: usize,
            from: *const u8,
            to: *mut u8,
        ) {
            let count = VECTORS * SIZE / BYTES;
            let shuffle = kernel.shuffle.map(|shuffle| repeated(shuffle));
            let (mut rows, mut next_rows) = ([from; LINE], [from; LINE]);
            for i in 0..count {
                rows[i] = from.wrapping_add(kernel.row(b + i));
                next_rows[i] = from.wrapping_add(kernel.row(b + i + count));
            }
            let mut a = columns.start;
            while a < columns.end {
                // The last columns may be done a second time.
                a = a.min(columns.end - LANE);
                if BYTES >= PREFETCH_FROM && (a * BYTES).is_multiple_of(LINE) {
                    for row in next_rows.iter().take(count) {
                        // A hint, which reads nothing: the next rows may not be there.
                        _mm_prefetch::<_MM_HINT_T0>(row.wrapping_add(a * BYTES).cast());
                    }
                }
                let mut transposed = [[zero(); LANE]; VECTORS];
                for (vector, transposed) in transposed.iter_mut().enumerate() {
                    let mut registers = [zero(); LANE];
                    for (i, register) in registers.iter_mut().enumerate() {
                        let mut lanes = [from; $lanes];
                        for (lane, place) in lanes.iter_mut().enumerate() {
                            *place = rows[(vector * $lanes + lane) * LANE + i].wrapping_add(a * BYTES);
                        }
                        // SAFETY: each is the place of an element, and a lane's elements are left of its row.
                        *register = unsafe { load_lanes(lanes) };
                        if let Some(shuffle) = shuffle {
                            *register = shuffled(*register, shuffle);
                        }
                    }
                    *transposed = zipped::<BYTES, LANE>(registers, LANE.ilog2());
                }
                for i in 0..LANE {
                    let row = to.wrapping_add((a + i) * kernel.a[0].to + b * BYTES);
                    for (vector, transposed) in transposed.iter().enumerate() {
                        // SAFETY: these elements are within the row.
                        unsafe { store::<false>(row.wrapping_add(vector * SIZE), transposed[i]) };
                    }
                }
                a += LANE;
            }
        }
    };
}

/// 16-byte vectors, which every x86-64 has.
mod sse2 {
    kernels!("sse2", __m128i, 1);

    use std::arch::x86_64::_mm_loadu_si128 as load;
    use std::arch::x86_64::_mm_setzero_si128 as zero;
    use std::arch::x86_64::_mm_storeu_si128 as store_unaligned;
    use std::arch::x86_64::_mm_stream_si128 as stream_aligned;

    /// Without SSSE3 there is no byte shuffle.
    const SHUFFLES: bool = false;

    /// # Safety
    /// The pointer must be valid for a read of 16 bytes.
    #[inline]
    #[target_feature(enable = "sse2")]
    unsafe fn load_lanes([lane]: [*const u8; 1]) -> __m128i {
        // SAFETY: as required of the caller.
        unsafe { load(lane.cast()) }
    }

    /// There is no byte shuffle: nobody asks for it.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn repeated(_: [u8; 16]) -> __m128i {
        zero()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn shuffled(vector: __m128i, _: __m128i) -> __m128i {
        vector
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn lanes_to_memory<const N: usize>(registers: [__m128i; N]) -> [__m128i; N] {
        registers
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn memory_to_lanes<const N: usize>(registers: [__m128i; N]) -> [__m128i; N] {
        registers
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn zip_low<const BYTES: usize>(a: __m128i, b: __m128i) -> __m128i {
        match BYTES {
            1 => _mm_unpacklo_epi8(a, b),
            2 => _mm_unpacklo_epi16(a, b),
            4 => _mm_unpacklo_epi32(a, b),
            _ => _mm_unpacklo_epi64(a, b),
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn zip_high<const BYTES: usize>(a: __m128i, b: __m128i) -> __m128i {
        match BYTES {
            1 => _mm_unpackhi_epi8(a, b),
            2 => _mm_unpackhi_epi16(a, b),
            4 => _mm_unpackhi_epi32(a, b),
            _ => _mm_unpackhi_epi64(a, b),
        }
    }
}

/// 32-byte vectors. Their zips work on each 16-byte lane by itself.
mod avx2 {
    kernels!("avx2", __m256i, 2);

    use std::arch::x86_64::_mm256_loadu_si256 as load;
    use std::arch::x86_64::_mm256_setzero_si256 as zero;
    use std::arch::x86_64::_mm256_shuffle_epi8 as shuffled;
    use std::arch::x86_64::_mm256_storeu_si256 as store_unaligned;
    use std::arch::x86_64::_mm256_stream_si256 as stream_aligned;

    const SHUFFLES: bool = true;

    /// # Safety
    /// The pointers must be valid for reads of 16 bytes.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn load_lanes([low, high]: [*const u8; 2]) -> __m256i {
        // SAFETY: as required of the caller.
        let low = unsafe { _mm_loadu_si128(low.cast()) };
        // SAFETY: as required of the caller.
        let high = unsafe { _mm_loadu_si128(high.cast()) };
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn repeated(shuffle: [u8; 16]) -> __m256i {
        let [low, high] = [0, 8].map(|i| i64::from_le_bytes(std::array::from_fn(|k| shuffle[i + k])));
        _mm256_set_epi64x(high, low, high, low)
    }

    /// From two groups of lanes, in each of which the registers' lanes follow each other, to vectors as they lie.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes_to_memory<const N: usize>(registers: [__m256i; N]) -> [__m256i; N] {
        let mut vectors = registers;
        for i in 0..N / 2 {
            vectors[i] = _mm256_permute2x128_si256::<0x20>(registers[2 * i], registers[2 * i + 1]);
            vectors[N / 2 + i] = _mm256_permute2x128_si256::<0x31>(registers[2 * i], registers[2 * i + 1]);
        }
        vectors
    }

    /// The way back.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn memory_to_lanes<const N: usize>(vectors: [__m256i; N]) -> [__m256i; N] {
        let mut registers = vectors;
        for i in 0..N / 2 {
            registers[2 * i] = _mm256_permute2x128_si256::<0x20>(vectors[i], vectors[N / 2 + i]);
            registers[2 * i + 1] = _mm256_permute2x128_si256::<0x31>(vectors[i], vectors[N / 2 + i]);
        }
        registers
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn zip_low<const BYTES: usize>(a: __m256i, b: __m256i) -> __m256i {
        match BYTES {
            1 => _mm256_unpacklo_epi8(a, b),
            2 => _mm256_unpacklo_epi16(a, b),
            4 => _mm256_unpacklo_epi32(a, b),
            _ => _mm256_unpacklo_epi64(a, b),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn zip_high<const BYTES: usize>(a: __m256i, b: __m256i) -> __m256i {
        match BYTES {
            1 => _mm256_unpackhi_epi8(a, b),
            2 => _mm256_unpackhi_epi16(a, b),
            4 => _mm256_unpackhi_epi32(a, b),
            _ => _mm256_unpackhi_epi64(a, b),
        }
    }
}
