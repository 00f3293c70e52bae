//! 16-byte vectors, which every x86-64 has.

use std::arch::x86_64::*;

use std::arch::x86_64::_mm_and_si128 as and;
use std::arch::x86_64::_mm_loadu_si128 as load;
use std::arch::x86_64::_mm_or_si128 as or;
use std::arch::x86_64::_mm_setzero_si128 as zero;
use std::arch::x86_64::_mm_storeu_si128 as store_unaligned;
use std::arch::x86_64::_mm_stream_si128 as stream_aligned;

kernels!("sse2", __m128i, 1);

const NARROW: Option<Narrow> = None;

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
fn low_bits(bits: usize) -> __m128i {
    _mm_set1_epi8((1 << bits) - 1)
}

#[inline]
#[target_feature(enable = "sse2")]
fn shifted_up(vector: __m128i, bits: usize) -> __m128i {
    _mm_sll_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "sse2")]
fn shifted_down(vector: __m128i, bits: usize) -> __m128i {
    _mm_srl_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "sse2")]
fn interleaved<const BYTES: usize, const WAYS: usize>(rows: [__m128i; WAYS]) -> [__m128i; WAYS] {
    zipped::<BYTES, WAYS>(rows, WAYS.ilog2())
}

#[inline]
#[target_feature(enable = "sse2")]
fn taken_apart<const BYTES: usize, const WAYS: usize>(vectors: [__m128i; WAYS]) -> [__m128i; WAYS] {
    if WAYS == 1 { vectors } else { zipped::<BYTES, WAYS>(vectors, (16 / BYTES).ilog2()) }
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
