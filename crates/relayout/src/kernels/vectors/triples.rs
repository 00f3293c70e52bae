//! Interleaving of three rows of 4-byte elements, such as coordinates or colour channels, and the inverse.
//!
//! Element `i` of row `r` is element `3 * i + r` of the run. A *group* is a vector of each row, and the three vectors of the run that hold the
//! same elements. Three does not divide the number of elements of a vector, so the elements of one row are at different positions in
//! the vectors of the run. One permute per row brings them there, and each vector of the run takes a third of its elements from
//! each permuted row.

use super::{Interleave, LINE, LoopNest, Vector, Vectors, interleave};
use std::arch::x86_64::*;

/// The bytes of an element.
const BYTES: usize = 4;

/// The elements of a line.
const IN_LINE: usize = LINE / BYTES;

/// The elements of the largest vector.
const MOST: usize = 16;

/// For each row: where its elements go in the vectors of the run, or come from.
type Positions = [[u32; MOST]; 3];

/// For each position in the vectors of the run, which element of the row is there. Vectors have `count` elements.
const fn to_run(count: usize) -> Positions {
    let mut positions = [[0; MOST]; 3];
    let mut element = 0;
    while element < 3 * count {
        positions[element % 3][element % count] = (element / 3) as u32;
        element += 1;
    }
    positions
}

/// For each element of a row, its position in the vectors of the run.
const fn from_run(count: usize) -> Positions {
    let mut positions = [[0; MOST]; 3];
    let mut element = 0;
    while element < 3 * count {
        positions[element % 3][element / 3] = (element % count) as u32;
        element += 1;
    }
    positions
}

/// Vectors whose elements can be permuted and selected.
trait Triple<const LANES: usize>: Vector<LANES> {
    /// Element `i` is the one at position `positions[i]`.
    ///
    /// # Safety
    /// The CPU has these vectors. The positions are less than the number of elements.
    unsafe fn permuted(self, positions: &[u32; MOST]) -> Self;

    /// Takes element `i` from the vector `(first + i) % 3`; `first` is less than 3.
    ///
    /// # Safety
    /// The CPU has these vectors.
    unsafe fn selected(first: usize, vectors: [Self; 3]) -> Self;
}

impl Triple<2> for __m256i {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permuted(self, positions: &[u32; MOST]) -> Self {
        // SAFETY: `positions` has 64 bytes.
        _mm256_permutevar8x32_epi32(self, unsafe { _mm256_loadu_si256(positions.as_ptr().cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn selected(first: usize, [a, b, c]: [Self; 3]) -> Self {
        // The bits of a mask are the elements that come from the second vector of a blend.
        match first {
            0 => _mm256_blend_epi32::<0b0010_0100>(_mm256_blend_epi32::<0b1001_0010>(a, b), c),
            1 => _mm256_blend_epi32::<0b1001_0010>(_mm256_blend_epi32::<0b0100_1001>(a, b), c),
            _ => _mm256_blend_epi32::<0b0100_1001>(_mm256_blend_epi32::<0b0010_0100>(a, b), c),
        }
    }
}

impl Triple<4> for __m512i {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn permuted(self, positions: &[u32; MOST]) -> Self {
        // SAFETY: `positions` has 64 bytes.
        _mm512_permutexvar_epi32(unsafe { _mm512_loadu_si512(positions.as_ptr().cast()) }, self)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn selected(first: usize, [a, b, c]: [Self; 3]) -> Self {
        const EVERY_THIRD: [u16; 3] = [0b1001_0010_0100_1001, 0b0010_0100_1001_0010, 0b0100_1001_0010_0100];
        let [from_b, from_c] = [4, 5].map(|row| EVERY_THIRD[(row - first) % 3]);
        _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(a, from_b, b), from_c, c)
    }
}

/// Whether [`run`] has a kernel with these vectors. Non-temporal stores require that all rows begin equally far into a line.
pub(super) fn supports(kernel: &Interleave, back: bool, (vectors, streaming): (Vectors, bool)) -> bool {
    let Interleave { factor, bytes, len, row_stride } = *kernel;
    let is_aligned = !streaming || !back || row_stride.is_multiple_of(LINE);
    (factor, bytes) == (3, BYTES) && vectors >= Vectors::Avx2 && len >= MOST && is_aligned
}

/// Runs a kernel in every iteration of a loop nest; `back` deinterleaves.
///
/// # Safety
/// The CPU has `vectors`, and [`supports`] accepts the kernel. `from` is valid for reads and `to` for writes of the bytes that
/// [`LoopNest::span`] gives for the kernel. If `streaming`, every element of the destination lies at a multiple of 4.
pub(super) unsafe fn run(
    kernel: &Interleave,
    back: bool,
    (vectors, streaming): (Vectors, bool),
    nest: LoopNest<'_>,
    from: *const u8,
    to: *mut u8,
) {
    let run = match (vectors, back) {
        (Vectors::Avx512, false) => avx512::run::<false>,
        (Vectors::Avx512, true) => avx512::run::<true>,
        (_, false) => avx2::run::<false>,
        (_, true) => avx2::run::<true>,
    };
    // SAFETY: as for the caller; `supports` accepts only machines with AVX2 or more.
    unsafe { run(kernel, streaming, nest, from, to) };
}

/// Generates the kernels for one kind of vector, compiled with the given CPU features.
macro_rules! triples {
    ([$($feature:tt)+] $vector:ty, $lanes:literal) => {
        use super::*;

        type V = $vector;

        /// The elements of a vector.
        const COUNT: usize = 4 * $lanes;

        const TO_RUN: Positions = to_run(COUNT);

        const FROM_RUN: Positions = from_run(COUNT);

        /// # Safety
        /// As [`super::run`]; this function's vectors are the CPU's.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn run<const BACK: bool>(
            kernel: &Interleave,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            // The bytes that an element of each row takes in the source, and in the destination.
            let (from_bytes, to_bytes) = if BACK { (3 * BYTES, BYTES) } else { (BYTES, 3 * BYTES) };
            let len = kernel.len;
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let group = |first: usize, streaming: bool| {
                    let (from, to) = (from.wrapping_add(first * from_bytes), to.wrapping_add(first * to_bytes));
                    // SAFETY: all calls below have `first + COUNT <= len`, so these are elements of this iteration; the caller guarantees
                    // its bounds, and the alignment if `streaming`.
                    unsafe { group::<BACK>(kernel.row_stride, streaming, from, to) };
                };
                let mut first = 0;
                if streaming {
                    // The elements before the first one that begins a line. Their groups may write into the first lines before these are
                    // streamed. There are at least 16 elements.
                    let head = (0..IN_LINE).find(|first| (to.addr() + first * to_bytes).is_multiple_of(LINE)).unwrap_or(0);
                    (0..head.div_ceil(COUNT)).for_each(|number| group(number * COUNT, false));
                    first = head;
                    while first + IN_LINE <= len {
                        (0..IN_LINE / COUNT).for_each(|number| group(first + number * COUNT, true));
                        first += IN_LINE;
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
                    group(first.min(len - COUNT), false);
                    first += COUNT;
                }
            });
        }

        /// Moves a group. `row_stride` is the distance between rows.
        ///
        /// # Safety
        /// The CPU has these vectors. The rows or, with `BACK`, the run are valid for reads at `from`, the other for writes at `to`. If
        /// `streaming`, `to` and, with `BACK`, `row_stride` are multiples of a vector's bytes.
        #[inline(always)]
        unsafe fn group<const BACK: bool>(row_stride: usize, streaming: bool, from: *const u8, to: *mut u8) {
            let (from_stride, to_stride) = if BACK { (16 * $lanes, row_stride) } else { (row_stride, 16 * $lanes) };
            // SAFETY: the caller guarantees the vectors and three of them in the source.
            let mut loaded = [0, 1, 2].map(|number| unsafe { V::load(from.wrapping_add(number * from_stride)) });
            if BACK && COUNT % 3 == 1 {
                // The rows of the elements at one position of the vectors descend.
                loaded.swap(1, 2);
            }
            if !BACK {
                for (row, positions) in loaded.iter_mut().zip(&TO_RUN) {
                    // SAFETY: the caller guarantees the vectors. `TO_RUN` has elements of a vector.
                    *row = unsafe { row.permuted(positions) };
                }
            }
            for number in 0..3 {
                // Which of the loaded vectors the first element comes from.
                let first = if BACK { 2 * number % 3 } else { number * COUNT % 3 };
                // SAFETY: the caller guarantees the vectors.
                let mut result = unsafe { V::selected(first, loaded) };
                if BACK {
                    // SAFETY: the caller guarantees the vectors. `FROM_RUN` has positions in a vector.
                    result = unsafe { result.permuted(&FROM_RUN[number]) };
                }
                // SAFETY: the caller guarantees three vectors in the destination, and their alignment if `streaming`.
                unsafe { result.put(streaming, to.wrapping_add(number * to_stride)) };
            }
        }
    };
}

mod avx2 {
    __features!(Avx2 => triples!(__m256i, 2));
}

mod avx512 {
    __features!(Avx512 => triples!(__m512i, 4));
}
