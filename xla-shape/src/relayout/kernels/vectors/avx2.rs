//! 32-byte vectors. Their zips work on each 16-byte lane by itself.

use std::arch::x86_64::*;

use std::arch::x86_64::_mm256_and_si256 as and;
use std::arch::x86_64::_mm256_loadu_si256 as load;
use std::arch::x86_64::_mm256_or_si256 as or;
use std::arch::x86_64::_mm256_setzero_si256 as zero;
use std::arch::x86_64::_mm256_shuffle_epi8 as shuffled;
use std::arch::x86_64::_mm256_storeu_si256 as store_unaligned;
use std::arch::x86_64::_mm256_stream_si256 as stream_aligned;

kernels!("avx2", __m256i, 2);

const NARROW: Option<Narrow> = None;

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

#[inline]
#[target_feature(enable = "avx2")]
fn low_bits(bits: usize) -> __m256i {
    _mm256_set1_epi8((1 << bits) - 1)
}

#[inline]
#[target_feature(enable = "avx2")]
fn shifted_up(vector: __m256i, bits: usize) -> __m256i {
    _mm256_sll_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "avx2")]
fn shifted_down(vector: __m256i, bits: usize) -> __m256i {
    _mm256_srl_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

/// Zipping leaves two groups of lanes, in each of which the registers' lanes follow each other.
#[inline]
#[target_feature(enable = "avx2")]
fn interleaved<const BYTES: usize, const WAYS: usize>(rows: [__m256i; WAYS]) -> [__m256i; WAYS] {
    let zipped = zipped::<BYTES, WAYS>(rows, WAYS.ilog2());
    let mut vectors = zipped;
    for i in 0..WAYS / 2 {
        vectors[i] = _mm256_permute2x128_si256::<0x20>(zipped[2 * i], zipped[2 * i + 1]);
        vectors[WAYS / 2 + i] = _mm256_permute2x128_si256::<0x31>(zipped[2 * i], zipped[2 * i + 1]);
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx2")]
fn taken_apart<const BYTES: usize, const WAYS: usize>(vectors: [__m256i; WAYS]) -> [__m256i; WAYS] {
    if WAYS == 1 {
        return vectors;
    }
    let mut lanes = vectors;
    for i in 0..WAYS / 2 {
        lanes[2 * i] = _mm256_permute2x128_si256::<0x20>(vectors[i], vectors[WAYS / 2 + i]);
        lanes[2 * i + 1] = _mm256_permute2x128_si256::<0x31>(vectors[i], vectors[WAYS / 2 + i]);
    }
    zipped::<BYTES, WAYS>(lanes, (16 / BYTES).ilog2())
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
