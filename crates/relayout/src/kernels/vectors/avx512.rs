//! 64-byte vectors (AVX-512 with VBMI): a whole line. Permutes of two vectors interleave and deinterleave across all lanes.

use super::{Narrow, Offsets, Vector, narrow};
use std::arch::x86_64::*;

__features!(Avx512 => kernels!(__m512i, 4));

// SAFETY: the functions ask of their callers what `Vector` documents for each of them, under "# Safety". The caller also guarantees that
// the CPU has the features that `target_feature` names.
impl Vector<4> for __m512i {
    const NARROW: Option<Narrow> = Some(narrow::run);

    const SHUFFLES: bool = true;

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::zero` asks of them, and the features of the CPU.
    unsafe fn zero() -> Self {
        _mm512_setzero_si512()
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::load` asks of them, and the features of the CPU.
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees 64 readable bytes.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::load_rows` asks of them, and the features of the CPU.
    unsafe fn load_rows<const EVEN: bool>(from: *const u8, rows: Offsets<'_>, first: usize, later: usize) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes at the offset of row `first`.
        let a = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first)).cast()) };
        // SAFETY: as above, at row `first + later`.
        let b = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first + later)).cast()) };
        // SAFETY: as above, at row `first + 2 * later`.
        let c = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first + 2 * later)).cast()) };
        // SAFETY: as above, at row `first + 3 * later`.
        let d = unsafe { _mm_loadu_si128(from.wrapping_add(rows.get::<EVEN>(first + 3 * later)).cast()) };
        let low = _mm512_inserti32x4::<1>(_mm512_castsi128_si512(a), b);
        _mm512_inserti32x4::<3>(_mm512_inserti32x4::<2>(low, c), d)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::store` asks of them, and the features of the CPU.
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::stream` asks of them, and the features of the CPU.
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the caller guarantees 64 writable bytes at a multiple of 64.
        unsafe { _mm512_stream_si512(to.cast(), self) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::repeated` asks of them, and the features of the CPU.
    unsafe fn repeated(shuffle: [u8; 16]) -> Self {
        let [low, high] = [0, 8].map(|i| i64::from_le_bytes(std::array::from_fn(|k| shuffle[i + k])));
        _mm512_set_epi64(high, low, high, low, high, low, high, low)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::shuffled` asks of them, and the features of the CPU.
    unsafe fn shuffled(self, shuffle: Self) -> Self {
        _mm512_shuffle_epi8(self, shuffle)
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::bits_from` asks of them, and the features of the CPU.
    unsafe fn bits_from(self, shift: usize, bits: usize) -> Self {
        _mm512_and_si512(_mm512_srl_epi16(self, _mm_cvtsi32_si128(shift as i32)), _mm512_set1_epi8((1 << bits) - 1))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::with_bits` asks of them, and the features of the CPU.
    unsafe fn with_bits(self, elements: Self, bits: usize, shift: usize) -> Self {
        let low = _mm512_and_si512(elements, _mm512_set1_epi8((1 << bits) - 1));
        _mm512_or_si512(self, _mm512_sll_epi16(low, _mm_cvtsi32_si128(shift as i32)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::zip_low` asks of them, and the features of the CPU.
    unsafe fn zip_low<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm512_unpacklo_epi8(self, other),
            2 => _mm512_unpacklo_epi16(self, other),
            4 => _mm512_unpacklo_epi32(self, other),
            _ => _mm512_unpacklo_epi64(self, other),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::zip_high` asks of them, and the features of the CPU.
    unsafe fn zip_high<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => _mm512_unpackhi_epi8(self, other),
            2 => _mm512_unpackhi_epi16(self, other),
            4 => _mm512_unpackhi_epi32(self, other),
            _ => _mm512_unpackhi_epi64(self, other),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::interleaved` asks of them, and the features of the CPU.
    unsafe fn interleaved<const BYTES: usize, const FACTOR: usize>(rows: [Self; FACTOR]) -> [Self; FACTOR] {
        let mut vectors = rows;
        for _ in 0..FACTOR.ilog2() {
            let old = vectors;
            for i in 0..FACTOR / 2 {
                let [low, high] = permuted::<BYTES>(old[i], old[i + FACTOR / 2], const { zip(BYTES) });
                (vectors[2 * i], vectors[2 * i + 1]) = (low, high);
            }
        }
        vectors
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    // SAFETY: callers guarantee what `Vector::deinterleaved` asks of them, and the features of the CPU.
    unsafe fn deinterleaved<const BYTES: usize, const FACTOR: usize>(vectors: [Self; FACTOR]) -> [Self; FACTOR] {
        let mut rows = vectors;
        for _ in 0..FACTOR.ilog2() {
            let old = rows;
            for i in 0..FACTOR / 2 {
                let [even, odd] = permuted::<BYTES>(old[2 * i], old[2 * i + 1], const { unzip(BYTES) });
                (rows[i], rows[i + FACTOR / 2]) = (even, odd);
            }
        }
        rows
    }
}

/// For each byte of the two result vectors, its index among the bytes of the two operands.
type Permutation = [[u8; 64]; 2];

/// Interleaves the elements of two vectors.
const fn zip(bytes: usize) -> Permutation {
    let mut result = [[0; 64]; 2];
    let mut to = 0;
    while to < 128 {
        // Elements of the result come from the first and the second operand in turn: element 5 is element 2 of the second one.
        let element = to / bytes;
        let from = (element % 2 * (64 / bytes) + element / 2) * bytes + to % bytes;
        result[to / 64][to % 64] = from as u8;
        to += 1;
    }
    result
}

/// The inverse of [`zip`]: first the even, then the odd elements of two vectors.
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

/// Permutes two vectors. The compiler sees which bytes stay together, and selects the cheaper permute of wider elements.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn permuted<const BYTES: usize>(a: __m512i, b: __m512i, permutation: Permutation) -> [__m512i; 2] {
    permutation.map(|bytes| {
        // SAFETY: `bytes` has 64 bytes.
        let order = unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) };
        _mm512_permutex2var_epi8(a, order, b)
    })
}
