//! 64-byte vectors: a whole line. Permutations of two vectors interleave rows and take them apart across all lanes.

use std::arch::x86_64::*;

use std::arch::x86_64::_mm512_and_si512 as and;
use std::arch::x86_64::_mm512_loadu_si512 as load;
use std::arch::x86_64::_mm512_or_si512 as or;
use std::arch::x86_64::_mm512_setzero_si512 as zero;
use std::arch::x86_64::_mm512_shuffle_epi8 as shuffled;
use std::arch::x86_64::_mm512_storeu_si512 as store_unaligned;
use std::arch::x86_64::_mm512_stream_si512 as stream_aligned;

kernels!("avx512f,avx512bw,avx512vbmi", __m512i, 4);

const NARROW: Option<Narrow> = Some(narrow::run);

const SHUFFLES: bool = true;

/// # Safety
/// The pointers must be valid for reads of 16 bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
unsafe fn load_lanes(lanes: [*const u8; 4]) -> __m512i {
    // SAFETY: as required of the caller.
    let [a, b, c, d] = lanes.map(|lane| unsafe { _mm_loadu_si128(lane.cast()) });
    let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
    _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, c), d)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn repeated(shuffle: [u8; 16]) -> __m512i {
    let [low, high] = [0, 8].map(|i| i64::from_le_bytes(std::array::from_fn(|k| shuffle[i + k])));
    _mm512_set_epi64(high, low, high, low, high, low, high, low)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn low_bits(bits: usize) -> __m512i {
    _mm512_set1_epi8((1 << bits) - 1)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shifted_up(vector: __m512i, bits: usize) -> __m512i {
    _mm512_sll_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn shifted_down(vector: __m512i, bits: usize) -> __m512i {
    _mm512_srl_epi16(vector, _mm_cvtsi32_si128(bits as i32))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn interleaved<const BYTES: usize, const WAYS: usize>(rows: [__m512i; WAYS]) -> [__m512i; WAYS] {
    let mut vectors = rows;
    for _ in 0..WAYS.ilog2() {
        let old = vectors;
        for i in 0..WAYS / 2 {
            let [low, high] = permuted::<BYTES>(old[i], old[i + WAYS / 2], const { zip(BYTES) });
            (vectors[2 * i], vectors[2 * i + 1]) = (low, high);
        }
    }
    vectors
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn taken_apart<const BYTES: usize, const WAYS: usize>(vectors: [__m512i; WAYS]) -> [__m512i; WAYS] {
    let mut rows = vectors;
    for _ in 0..WAYS.ilog2() {
        let old = rows;
        for i in 0..WAYS / 2 {
            let [even, odd] = permuted::<BYTES>(old[2 * i], old[2 * i + 1], const { unzip(BYTES) });
            (rows[i], rows[i + WAYS / 2]) = (even, odd);
        }
    }
    rows
}

/// For each byte of two vectors that come out, the number of the byte of two vectors that go in.
type Permutation = [[u8; 64]; 2];

/// The elements of two vectors in turn; or back, see [`unzip`].
const fn zip(bytes: usize) -> Permutation {
    let mut result = [[0; 64]; 2];
    let mut to = 0;
    while to < 128 {
        let element = to / bytes;
        let from = (element % 2 * (64 / bytes) + element / 2) * bytes + to % bytes;
        result[to / 64][to % 64] = from as u8;
        to += 1;
    }
    result
}

/// First the even and then the odd elements of two vectors.
const fn unzip(bytes: usize) -> Permutation {
    let zip = zip(bytes);
    let mut result = [[0; 64]; 2];
    let mut from = 0;
    while from < 128 {
        let to = zip[from / 64][from % 64] as usize;
        result[to / 64][to % 64] = from as u8;
        from += 1;
    }
    result
}

/// The compiler sees which wider elements stay together, and takes the cheaper permutation of these.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn permuted<const BYTES: usize>(a: __m512i, b: __m512i, permutation: Permutation) -> [__m512i; 2] {
    permutation.map(|bytes| {
        // SAFETY: 64 bytes are read from an array of as many.
        let order = unsafe { load(bytes.as_ptr().cast()) };
        _mm512_permutex2var_epi8(a, order, b)
    })
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn zip_low<const BYTES: usize>(a: __m512i, b: __m512i) -> __m512i {
    match BYTES {
        1 => _mm512_unpacklo_epi8(a, b),
        2 => _mm512_unpacklo_epi16(a, b),
        4 => _mm512_unpacklo_epi32(a, b),
        _ => _mm512_unpacklo_epi64(a, b),
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn zip_high<const BYTES: usize>(a: __m512i, b: __m512i) -> __m512i {
    match BYTES {
        1 => _mm512_unpackhi_epi8(a, b),
        2 => _mm512_unpackhi_epi16(a, b),
        4 => _mm512_unpackhi_epi32(a, b),
        _ => _mm512_unpackhi_epi64(a, b),
    }
}
