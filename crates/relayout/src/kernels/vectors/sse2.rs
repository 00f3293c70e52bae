//! 16-byte vectors (SSE2), which every x86-64 has.

use super::{Narrow, Offsets, Vector};
use std::arch::x86_64::*;

__features!(Sse2 => kernels!(__m128i, 1));
__features!(Sse2 => matrices!(1));

// SAFETY: the functions ask of their callers what `Vector` documents for each of them, under "# Safety". The caller also guarantees that
// the CPU has the features that `target_feature` names.
impl Vector<1> for __m128i {
    const NARROW: Option<Narrow> = None;

    /// The byte shuffle is part of SSSE3.
    const SHUFFLES: bool = false;

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::zero` asks of them, and the features of the CPU.
    unsafe fn zero() -> Self {
        _mm_setzero_si128()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::load` asks of them, and the features of the CPU.
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::load_rows` asks of them, and the features of the CPU.
    unsafe fn load_rows<const EVEN: bool>(from: *const u8, rows: Offsets<'_>, first: usize, _: usize) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes at the offset of row `first`.
        unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first)).cast()) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::store` asks of them, and the features of the CPU.
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees 16 writable bytes.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::stream` asks of them, and the features of the CPU.
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the caller guarantees 16 writable bytes at a multiple of 16.
        unsafe { _mm_stream_si128(to.cast(), self) }
    }

    /// Not used: [`SHUFFLES`](Self::SHUFFLES) is false.
    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::repeated` asks of them, and the features of the CPU.
    unsafe fn repeated(_: [u8; 16]) -> Self {
        _mm_setzero_si128()
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::shuffled` asks of them, and the features of the CPU.
    unsafe fn shuffled(self, _: Self) -> Self {
        self
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::bits_from` asks of them, and the features of the CPU.
    unsafe fn bits_from(self, shift: usize, bits: usize) -> Self {
        _mm_and_si128(_mm_srl_epi16(self, _mm_cvtsi32_si128(shift as i32)), _mm_set1_epi8((1 << bits) - 1))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::with_bits` asks of them, and the features of the CPU.
    unsafe fn with_bits(self, elements: Self, bits: usize, shift: usize) -> Self {
        let low = _mm_and_si128(elements, _mm_set1_epi8((1 << bits) - 1));
        _mm_or_si128(self, _mm_sll_epi16(low, _mm_cvtsi32_si128(shift as i32)))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::zip_low` asks of them, and the features of the CPU.
    unsafe fn zip_low<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm_unpacklo_epi8(self, other),
            2 => _mm_unpacklo_epi16(self, other),
            4 => _mm_unpacklo_epi32(self, other),
            _ => _mm_unpacklo_epi64(self, other),
        }
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    // SAFETY: callers guarantee what `Vector::zip_high` asks of them, and the features of the CPU.
    unsafe fn zip_high<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm_unpackhi_epi8(self, other),
            2 => _mm_unpackhi_epi16(self, other),
            4 => _mm_unpackhi_epi32(self, other),
            _ => _mm_unpackhi_epi64(self, other),
        }
    }
}
