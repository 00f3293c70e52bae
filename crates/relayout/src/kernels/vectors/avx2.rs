//! 32-byte vectors (AVX2). Their zips work on each 16-byte lane separately.

use super::{Narrow, Offsets, Vector};
use std::arch::x86_64::*;

__features!(Avx2 => kernels!(__m256i, 2));
__features!(Avx2 => matrices!(2));

// SAFETY: the functions ask of their callers what `Vector` documents for each of them, under "# Safety". The caller also guarantees that
// the CPU has the features that `target_feature` names.
impl Vector<2> for __m256i {
    const NARROW: Option<Narrow> = None;

    const SHUFFLES: bool = true;

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::zero` asks of them, and the features of the CPU.
    unsafe fn zero() -> Self {
        _mm256_setzero_si256()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::load` asks of them, and the features of the CPU.
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees 32 readable bytes.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::load_rows` asks of them, and the features of the CPU.
    unsafe fn load_rows<const EVEN: bool>(from: *const u8, rows: Offsets<'_>, first: usize, later: usize) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes at the offset of row `first`.
        let low = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first)).cast()) };
        // SAFETY: the caller guarantees 16 readable bytes at the offset of row `first + later`.
        let high = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first + later)).cast()) };
        _mm256_inserti128_si256::<1>(_mm256_castsi128_si256(low), high)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::store` asks of them, and the features of the CPU.
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::stream` asks of them, and the features of the CPU.
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the caller guarantees 32 writable bytes at a multiple of 32.
        unsafe { _mm256_stream_si256(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::repeated` asks of them, and the features of the CPU.
    unsafe fn repeated(shuffle: [u8; 16]) -> Self {
        let [low, high] = [0, 8].map(|i| i64::from_le_bytes(std::array::from_fn(|k| shuffle[i + k])));
        _mm256_set_epi64x(high, low, high, low)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::shuffled` asks of them, and the features of the CPU.
    unsafe fn shuffled(self, shuffle: Self) -> Self {
        _mm256_shuffle_epi8(self, shuffle)
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::bits_from` asks of them, and the features of the CPU.
    unsafe fn bits_from(self, shift: usize, bits: usize) -> Self {
        _mm256_and_si256(_mm256_srl_epi16(self, _mm_cvtsi32_si128(shift as i32)), _mm256_set1_epi8((1 << bits) - 1))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::with_bits` asks of them, and the features of the CPU.
    unsafe fn with_bits(self, elements: Self, bits: usize, shift: usize) -> Self {
        let low = _mm256_and_si256(elements, _mm256_set1_epi8((1 << bits) - 1));
        _mm256_or_si256(self, _mm256_sll_epi16(low, _mm_cvtsi32_si128(shift as i32)))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::zip_low` asks of them, and the features of the CPU.
    unsafe fn zip_low<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm256_unpacklo_epi8(self, other),
            2 => _mm256_unpacklo_epi16(self, other),
            4 => _mm256_unpacklo_epi32(self, other),
            _ => _mm256_unpacklo_epi64(self, other),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::zip_high` asks of them, and the features of the CPU.
    unsafe fn zip_high<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm256_unpackhi_epi8(self, other),
            2 => _mm256_unpackhi_epi16(self, other),
            4 => _mm256_unpackhi_epi32(self, other),
            _ => _mm256_unpackhi_epi64(self, other),
        }
    }

    /// Zips each lane separately, then moves the low lanes of all registers to the front.
    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::interleaved` asks of them, and the features of the CPU.
    unsafe fn interleaved<const BYTES: usize, const FACTOR: usize>(rows: [Self; FACTOR]) -> [Self; FACTOR] {
        // SAFETY: only the CPU features are required, which this function requires, too.
        let zipped = unsafe { Self::zipped::<BYTES, FACTOR>(rows, FACTOR.ilog2()) };
        let mut vectors = zipped;
        for i in 0..FACTOR / 2 {
            vectors[i] = _mm256_permute2x128_si256::<0x20>(zipped[2 * i], zipped[2 * i + 1]);
            vectors[FACTOR / 2 + i] = _mm256_permute2x128_si256::<0x31>(zipped[2 * i], zipped[2 * i + 1]);
        }
        vectors
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    // SAFETY: callers guarantee what `Vector::deinterleaved` asks of them, and the features of the CPU.
    unsafe fn deinterleaved<const BYTES: usize, const FACTOR: usize>(vectors: [Self; FACTOR]) -> [Self; FACTOR] {
        if FACTOR == 1 {
            return vectors;
        }
        let mut lanes = vectors;
        for i in 0..FACTOR / 2 {
            lanes[2 * i] = _mm256_permute2x128_si256::<0x20>(vectors[i], vectors[FACTOR / 2 + i]);
            lanes[2 * i + 1] = _mm256_permute2x128_si256::<0x31>(vectors[i], vectors[FACTOR / 2 + i]);
        }
        // SAFETY: only the CPU features are required, which this function requires, too.
        unsafe { Self::zipped::<BYTES, FACTOR>(lanes, (16 / BYTES).ilog2()) }
    }
}
