//! Interleaving of 3, 5 or 7 rows of 4-byte elements, such as coordinates or colour channels, and the inverse.
//!
//! With `factor` rows, element `i` of row `r` is element `factor * i + r` of the run. A *group* is a vector of each row, and the vectors of the
//! run that hold the same elements. An odd factor and the number of elements of a vector have no common divisor. So the elements of
//! one row are at different positions in the vectors of the run: one permute per row brings them there, and each vector of the run
//! takes its elements from the permuted rows.

use super::{Interleave, LINE, LoopNest, Vector, Vectors, interleave};
use std::arch::x86_64::*;

/// The bytes of an element.
const BYTES: usize = 4;

/// The elements of a line.
const IN_LINE: usize = LINE / BYTES;

/// The elements of the smallest vector and of the largest.
const ELEMENTS: [usize; 2] = [8, 16];

/// For each row: positions in a vector.
type Positions<const FACTOR: usize> = [[u32; ELEMENTS[1]]; FACTOR];

/// For each position in the vectors of the run, which element of the row is there. Vectors have `count` elements.
const fn to_run<const FACTOR: usize>(count: usize) -> Positions<FACTOR> {
    let mut positions = [[0; ELEMENTS[1]]; FACTOR];
    let mut element = 0;
    while element < FACTOR * count {
        positions[element % FACTOR][element % count] = (element / FACTOR) as u32;
        element += 1;
    }
    positions
}

/// For each element of a row, its position in the vectors of the run.
const fn from_run<const FACTOR: usize>(count: usize) -> Positions<FACTOR> {
    let mut positions = [[0; ELEMENTS[1]]; FACTOR];
    let mut element = 0;
    while element < FACTOR * count {
        positions[element % FACTOR][element / FACTOR] = (element % count) as u32;
        element += 1;
    }
    positions
}

/// For each source of vector `number` of the result: a mask of the elements that come from it. To interleave, sources are rows and results
/// belong to the run; with `back`, it is the other way round.
const fn masks<const FACTOR: usize>(count: usize, back: bool, number: usize) -> [u16; FACTOR] {
    let mut masks = [0; FACTOR];
    let mut element = 0;
    while element < FACTOR * count {
        let (vector, row) = (element / count, element % FACTOR);
        let (source, result) = if back { (vector, row) } else { (row, vector) };
        if result == number {
            masks[source] |= 1 << (element % count);
        }
        element += 1;
    }
    masks
}

/// Vectors whose elements can be permuted and selected.
trait Permute<const LANES: usize>: Vector<LANES> {
    /// Element `i` is the one at position `positions[i]`.
    ///
    /// # Safety
    /// The CPU has these vectors.
    unsafe fn permuted(self, positions: &[u32; ELEMENTS[1]]) -> Self;

    /// The same vector with the elements of `other` that the mask names.
    ///
    /// # Safety
    /// The CPU has these vectors.
    unsafe fn with(self, mask: u16, other: Self) -> Self;
}

impl Permute<2> for __m256i {
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn permuted(self, positions: &[u32; ELEMENTS[1]]) -> Self {
        // SAFETY: `positions` has 64 bytes.
        _mm256_permutevar8x32_epi32(self, unsafe { _mm256_loadu_si256(positions.as_ptr().cast()) })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn with(self, mask: u16, other: Self) -> Self {
        // The mask is a constant for the compiler, which makes this a blend with an immediate.
        let bits = _mm256_and_si256(_mm256_set1_epi32(mask.into()), _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128));
        _mm256_blendv_epi8(other, self, _mm256_cmpeq_epi32(bits, _mm256_setzero_si256()))
    }
}

impl Permute<4> for __m512i {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn permuted(self, positions: &[u32; ELEMENTS[1]]) -> Self {
        // SAFETY: `positions` has 64 bytes.
        _mm512_permutexvar_epi32(unsafe { _mm512_loadu_si512(positions.as_ptr().cast()) }, self)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn with(self, mask: u16, other: Self) -> Self {
        _mm512_mask_mov_epi32(self, mask, other)
    }
}

/// Whether [`run`] has a kernel with these vectors. Non-temporal stores require that all rows begin equally far into a line.
pub(super) fn supports(kernel: &Interleave, back: bool, (vectors, streaming): (Vectors, bool)) -> bool {
    let Interleave { factor, bytes, len, row_stride } = *kernel;
    let least = if streaming { IN_LINE } else { ELEMENTS[0] };
    let is_aligned = !streaming || !back || row_stride.is_multiple_of(LINE);
    matches!(factor, 3 | 5 | 7) && bytes == BYTES && vectors >= Vectors::Avx2 && len >= least && is_aligned
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
    // Too few elements for larger vectors.
    let run = if vectors >= Vectors::Avx512 && kernel.len >= ELEMENTS[1] { avx512::run } else { avx2::run };
    // SAFETY: as for the caller; `supports` accepts only machines with AVX2 or more, and rows of at least 8 elements.
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

        /// The elements of a vector.
        const COUNT: usize = 4 * $lanes;

        /// # Safety
        /// As [`super::run`]; this function's vectors are the CPU's, and rows have at least a vector's elements.
        #[target_feature($(enable = $feature),+)]
        pub(super) unsafe fn run(
            kernel: &Interleave,
            back: bool,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            let run = match (kernel.factor, back) {
                (3, false) => each_group::<3, false>,
                (3, true) => each_group::<3, true>,
                (5, false) => each_group::<5, false>,
                (5, true) => each_group::<5, true>,
                (7, false) => each_group::<7, false>,
                (7, true) => each_group::<7, true>,
                _ => unreachable!("`supports` accepts no others"),
            };
            // SAFETY: as for the caller.
            unsafe { run(kernel, streaming, nest, from, to) };
        }

        /// # Safety
        /// As [`run`], for a kernel with this factor and direction.
        #[target_feature($(enable = $feature),+)]
        unsafe fn each_group<const FACTOR: usize, const BACK: bool>(
            kernel: &Interleave,
            streaming: bool,
            nest: LoopNest<'_>,
            from: *const u8,
            to: *mut u8,
        ) {
            // The bytes that an element of each row takes in the source, and in the destination.
            let (from_bytes, to_bytes) = if BACK { (FACTOR * BYTES, BYTES) } else { (BYTES, FACTOR * BYTES) };
            let len = kernel.len;
            nest.for_each(0, 0, |from_offset, to_offset| {
                let (from, to) = (from.wrapping_add(from_offset), to.wrapping_add(to_offset));
                let group = |first: usize, streaming: bool| {
                    let (from, to) = (from.wrapping_add(first * from_bytes), to.wrapping_add(first * to_bytes));
                    // SAFETY: all calls below have `first + COUNT <= len`, so these are elements of this iteration; the caller guarantees
                    // its bounds, and the alignment if `streaming`.
                    unsafe { group::<FACTOR, BACK>(kernel.row_stride, streaming, from, to) };
                };
                let mut first = 0;
                if streaming {
                    // The elements before the first one that begins a line. Their groups may write into the first lines before these are
                    // streamed. There are at least as many elements as a line has.
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
        /// The CPU has these vectors. The rows or, with `BACK`, the run are valid for reads at `from`, the others for writes at `to`. If
        /// `streaming`, `to` and, with `BACK`, `row_stride` are multiples of a vector's bytes.
        #[inline(always)]
        unsafe fn group<const FACTOR: usize, const BACK: bool>(
            row_stride: usize,
            streaming: bool,
            from: *const u8,
            to: *mut u8,
        ) {
            let (from_stride, to_stride) = if BACK { (16 * $lanes, row_stride) } else { (row_stride, 16 * $lanes) };
            // SAFETY: the caller guarantees the vectors.
            let mut sources = [unsafe { V::zero() }; FACTOR];
            unrolled!(FACTOR, SOURCE, {
                // SAFETY: the caller guarantees the vectors, and `FACTOR` of them in the source.
                sources[SOURCE] = unsafe { V::load(from.wrapping_add(SOURCE * from_stride)) };
                if !BACK {
                    // SAFETY: the caller guarantees the vectors.
                    sources[SOURCE] = unsafe { sources[SOURCE].permuted(&const { to_run::<FACTOR>(COUNT) }[SOURCE]) };
                }
            });
            unrolled!(FACTOR, NUMBER, {
                let masks = const { masks::<FACTOR>(COUNT, BACK, NUMBER) };
                let mut result = sources[0];
                unrolled!(FACTOR, SOURCE, {
                    // SAFETY: the caller guarantees the vectors.
                    result = unsafe { result.with(masks[SOURCE], sources[SOURCE]) };
                });
                if BACK {
                    // SAFETY: the caller guarantees the vectors.
                    result = unsafe { result.permuted(&const { from_run::<FACTOR>(COUNT) }[NUMBER]) };
                }
                // SAFETY: the caller guarantees `FACTOR` vectors in the destination, and their alignment if `streaming`.
                unsafe { result.put(streaming, to.wrapping_add(NUMBER * to_stride)) };
            });
        }
    };
}

mod avx2 {
    __features!(Avx2 => odd_factors!(__m256i, 2));
}

mod avx512 {
    __features!(Avx512 => odd_factors!(__m512i, 4));
}
