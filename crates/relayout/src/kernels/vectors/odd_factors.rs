//! Interleaving of 3, 5 or 7 rows of elements of at most 4 bytes, such as coordinates or colour channels, and the inverse.
//!
//! With `factor` rows, element `i` of row `r` is element `factor * i + r` of the run. A *group* is a vector of each row, and the vectors of the
//! run that hold the same elements. An odd factor and the number of elements of a vector have no common divisor. So the elements of
//! one row are at different positions in the vectors of the run: one permute per row brings them there, and each vector of the run
//! takes its elements from the permuted rows.

use super::super::LEAST_ODD_ROW;
use super::{Interleave, LINE, LoopNest, Vector, Vectors, interleave};
use std::arch::x86_64::*;

/// The bytes of the largest vector.
const MOST: usize = 64;

/// The bytes of a piece, which one entry of a permute's index moves. An entry takes as many bytes as a piece, and is the piece's number.
#[derive(Clone, Copy)]
struct Piece(usize);

/// For each row, the index of a permute with vectors of `size` bytes. It moves the row's elements to their places in the vectors of the run
/// or, with `back`, from there.
const fn indices<const FACTOR: usize, const BYTES: usize>(size: usize, back: bool, piece: Piece) -> [Index; FACTOR] {
    let mut indices = [Index([0; MOST]); FACTOR];
    let count = size / BYTES;
    let mut element = 0;
    while element < FACTOR * count {
        let (in_row, in_run) = (element / FACTOR, element % count);
        let (from, to) = if back { (in_run, in_row) } else { (in_row, in_run) };
        let mut byte = 0;
        while byte < BYTES {
            // The lowest byte of a number comes first; all numbers are less than 64.
            indices[element % FACTOR].0[to * BYTES + byte] = ((from * BYTES + byte) / piece.0) as u8;
            byte += piece.0;
        }
        element += 1;
    }
    indices
}

/// The index of a permute.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Index([u8; MOST]);

/// A mask of the bytes of a vector: as one bit for each, and as bytes of which all bits are set or none.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Mask {
    bytes: [u8; MOST],
    bits: u64,
}

/// For each source of vector `number` of the result: a mask of the bytes that come from it. To interleave, sources are rows and results belong
/// to the run; with `back`, it is the other way round. Vectors have `size` bytes.
const fn masks<const FACTOR: usize, const BYTES: usize>(size: usize, back: bool, number: usize) -> [Mask; FACTOR] {
    let mut masks = [Mask { bytes: [0; MOST], bits: 0 }; FACTOR];
    let mut byte = 0;
    while byte < FACTOR * size {
        let (vector, row) = (byte / size, byte / BYTES % FACTOR);
        let (source, result) = if back { (vector, row) } else { (row, vector) };
        if result == number {
            masks[source].bytes[byte % size] = 0xff;
            masks[source].bits |= 1 << (byte % size);
        }
        byte += 1;
    }
    masks
}

/// Vectors whose elements can be permuted and selected.
trait Permute<const LANES: usize>: Vector<LANES> {
    const PIECE: Piece;

    /// Permutes the pieces of a vector.
    ///
    /// # Safety
    /// The CPU has these vectors.
    unsafe fn permuted(self, index: &Index) -> Self;

    /// The same vector with the bytes of `other` that the mask names.
    ///
    /// # Safety
    /// The CPU has these vectors.
    unsafe fn with(self, mask: &Mask, other: Self) -> Self;
}

impl Permute<1> for __m128i {
    const PIECE: Piece = Piece(1);

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Permute::permuted` asks.
    unsafe fn permuted(self, index: &Index) -> Self {
        // SAFETY: `index` has 64 bytes, at a multiple of 64.
        _mm_shuffle_epi8(self, unsafe { _mm_load_si128(index.0.as_ptr().cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Permute::with` asks.
    unsafe fn with(self, mask: &Mask, other: Self) -> Self {
        // SAFETY: `mask.bytes` has 64 bytes, at a multiple of 64.
        _mm_blendv_epi8(self, other, unsafe { _mm_load_si128(mask.bytes.as_ptr().cast()) })
    }
}

impl Permute<2> for __m256i {
    const PIECE: Piece = Piece(4);

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Permute::permuted` asks.
    unsafe fn permuted(self, index: &Index) -> Self {
        // SAFETY: `index` has 64 bytes, at a multiple of 64.
        _mm256_permutevar8x32_epi32(self, unsafe { _mm256_load_si256(index.0.as_ptr().cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Permute::with` asks.
    unsafe fn with(self, mask: &Mask, other: Self) -> Self {
        // SAFETY: `mask.bytes` has 64 bytes, at a multiple of 64.
        _mm256_blendv_epi8(self, other, unsafe { _mm256_load_si256(mask.bytes.as_ptr().cast()) })
    }
}

impl Permute<4> for __m512i {
    const PIECE: Piece = Piece(1);

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Permute::permuted` asks.
    unsafe fn permuted(self, index: &Index) -> Self {
        // SAFETY: `index` has 64 bytes, at a multiple of 64.
        _mm512_permutexvar_epi8(unsafe { _mm512_load_si512(index.0.as_ptr().cast()) }, self)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Permute::with` asks.
    unsafe fn with(self, mask: &Mask, other: Self) -> Self {
        _mm512_mask_mov_epi8(self, mask.bits, other)
    }
}

/// The bytes of the smallest vector for elements of `bytes` bytes.
fn least(bytes: usize) -> usize {
    if bytes == 4 { LEAST_ODD_ROW } else { 16 }
}

/// Whether [`run`] has a kernel with these vectors. Non-temporal stores require that all rows begin equally far into a line.
pub(super) fn supports(kernel: &Interleave, back: bool, (vectors, streaming): (Vectors, bool)) -> bool {
    let Interleave { factor, bytes, len, row_stride } = *kernel;
    let least = if streaming { LINE } else { least(bytes) };
    let is_aligned = !streaming || !back || row_stride.is_multiple_of(LINE);
    matches!((factor, bytes), (3 | 5 | 7, 1 | 2 | 4)) && vectors >= Vectors::Avx2 && len * bytes >= least && is_aligned
}

/// Runs a kernel in every iteration of a loop nest; `back` deinterleaves.
///
/// # Safety
/// The CPU has `vectors`, and [`supports`] accepts the kernel. `from` is valid for reads and `to` for writes of the bytes that
/// [`LoopNest::span`] gives for the kernel. If `streaming`, every element of the destination lies at a multiple of its size.
pub(super) unsafe fn run(
    kernel: &Interleave,
    back: bool,
    (vectors, streaming): (Vectors, bool),
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    // Rows that are too short for larger vectors use smaller ones.
    let is_wide = vectors >= Vectors::Avx512 && kernel.len * kernel.bytes >= MOST;
    let run = match kernel.bytes {
        1 if is_wide => avx512::run::<1>,
        2 if is_wide => avx512::run::<2>,
        _ if is_wide => avx512::run::<4>,
        1 => lane::run::<1>,
        2 => lane::run::<2>,
        _ => avx2::run::<4>,
    };
    // SAFETY: the caller guarantees the same; `supports` accepts only machines with AVX2 or more, and rows of at least a vector.
    unsafe { run(kernel, back, streaming, nest, from, to) };
}

/// Repeats a block with the constant `$number` as each number below `$factor`, which is 3, 5 or 7. In a loop, the compiler would not make
/// constants of the masks.
macro_rules! unrolled {
    ($factor:ident, $number:ident, $block:block) => {
        unrolled!(@ $number $block 0 1 2);
        if $factor > 3 {
            unrolled!(@ $number $block 3 4);
        }
        if $factor > 5 {
            unrolled!(@ $number $block 5 6);
        }
    };
    (@ $number:ident $block:block $($value:literal)+) => {
        $({
            const $number: usize = $value;
            $block
        })+
    };
}

/// Generates the kernels for one kind of vector, compiled with the given CPU features.
macro_rules! odd_factors {
    ([$($feature:tt)+] $vector:ty, $lanes:literal) => {
        use super::*;

        type V = $vector;

        /// The bytes of a vector.
        const SIZE: usize = 16 * $lanes;

        /// # Safety
        /// As [`super::run`]; this function's vectors are the CPU's, and rows have at least a vector's elements.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn run<const BYTES: usize>(
            kernel: &Interleave,
            back: bool,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let run = match (kernel.factor, back) {
                (3, false) => each_group::<3, BYTES, false>,
                (3, true) => each_group::<3, BYTES, true>,
                (5, false) => each_group::<5, BYTES, false>,
                (5, true) => each_group::<5, BYTES, true>,
                (7, false) => each_group::<7, BYTES, false>,
                (7, true) => each_group::<7, BYTES, true>,
                _ => unreachable!("`supports` accepts no others"),
            };
            // SAFETY: the caller guarantees the same.
            unsafe { run(kernel, streaming, nest, from, to) };
        }

        /// # Safety
        /// As [`run`], for a kernel with this factor and direction.
        #[target_feature($(enable = $feature),+)]
        unsafe fn each_group<const FACTOR: usize, const BYTES: usize, const BACK: bool>(
            kernel: &Interleave,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            // The bytes that an element of each row takes in the source, and in the destination.
            let (from_bytes, to_bytes) = if BACK { (FACTOR * BYTES, BYTES) } else { (BYTES, FACTOR * BYTES) };
            let (len, count, in_line) = (kernel.len, SIZE / BYTES, LINE / BYTES);
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let group = |first: usize, streaming: bool| {
                    let (from, to) = (from.wrapping_add(first * from_bytes), to.wrapping_add(first * to_bytes));
                    // SAFETY: all calls below have `first + count <= len`, so these are elements of this iteration, whose bounds the caller
                    // guarantees. If `streaming`, `first` is `head` plus whole groups, so the first vector begins at a multiple of its
                    // bytes; `supports` requires that all rows do.
                    unsafe { group::<FACTOR, BYTES, BACK>(kernel.row_stride, streaming, from, to) };
                };
                let mut first = 0;
                if streaming {
                    // The elements before the first one that begins a line. Their groups may also write into the lines that follow, which
                    // are streamed only later. There are at least as many elements as a line has.
                    let head = (0..in_line).find(|first| (to.addr() + first * to_bytes).is_multiple_of(LINE)).expect("an odd factor reaches every place in a line");
                    (0..head.div_ceil(count)).for_each(|number| group(number * count, false));
                    first = head;
                    while first + in_line <= len {
                        (0..in_line / count).for_each(|number| group(first + number * count, true));
                        first += in_line;
                    }
                    if first < len {
                        let rest = Interleave { len: len - first, ..*kernel };
                        let (from, to) = (from.wrapping_add(first * from_bytes), to.wrapping_add(first * to_bytes));
                        // SAFETY: these are the elements of this iteration from `first` on, which begins a line: no line that was streamed is
                        // written. Every CPU with these vectors has AVX2.
                        unsafe { interleave::lane::run(&rest, BACK, false, LoopNest(&[]), from, to) };
                    }
                    return;
                }
                while first < len {
                    // The last group overlaps the one before it.
                    group(first.min(len - count), false);
                    first += count;
                }
            });
        }

        /// Moves a group. `row_stride` is the distance between rows.
        ///
        /// # Safety
        /// The CPU has these vectors. The group's rows are valid for reads at `from` and its run for writes at `to` or, with `BACK`, the
        /// run for reads and the rows for writes. If `streaming`, `to` and, with `BACK`, `row_stride` are multiples of a vector's bytes.
        #[inline(always)]
        unsafe fn group<const FACTOR: usize, const BYTES: usize, const BACK: bool>(
            row_stride: usize,
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            let (from_stride, to_stride) = if BACK { (SIZE, row_stride) } else { (row_stride, SIZE) };
            // SAFETY: the caller guarantees that the CPU has these vectors.
            let mut sources = [unsafe { V::zero() }; FACTOR];
            unrolled!(FACTOR, SOURCE, {
                // SAFETY: the caller guarantees the vectors, and `FACTOR` of them in the source.
                sources[SOURCE] = unsafe { V::load(from.wrapping_add(SOURCE * from_stride)) };
                if !BACK {
                    // SAFETY: the caller guarantees that the CPU has these vectors.
                    sources[SOURCE] = unsafe { sources[SOURCE].permuted(&const { indices::<FACTOR, BYTES>(SIZE, BACK, V::PIECE) }[SOURCE]) };
                }
            });
            unrolled!(FACTOR, NUMBER, {
                let masks = &const { masks::<FACTOR, BYTES>(SIZE, BACK, NUMBER) };
                let mut result = sources[0];
                unrolled!(FACTOR, SOURCE, {
                    // SAFETY: the caller guarantees that the CPU has these vectors.
                    result = unsafe { result.with(&masks[SOURCE], sources[SOURCE]) };
                });
                if BACK {
                    // SAFETY: the caller guarantees that the CPU has these vectors.
                    result = unsafe { result.permuted(&const { indices::<FACTOR, BYTES>(SIZE, BACK, V::PIECE) }[NUMBER]) };
                }
                // SAFETY: the caller guarantees `FACTOR` vectors in the destination, and their alignment if `streaming`.
                unsafe { result.put(streaming, to.wrapping_add(NUMBER * to_stride)) };
            });
        }
    };
}

mod lane {
    __features!(Avx2 => odd_factors!(__m128i, 1));
}

mod avx2 {
    __features!(Avx2 => odd_factors!(__m256i, 2));
}

mod avx512 {
    __features!(Avx512 => odd_factors!(__m512i, 4));
}
