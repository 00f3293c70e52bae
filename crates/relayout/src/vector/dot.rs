//! Dot products of short lanes: the definitions, and the instructions of machines that have them.

use super::lanes::Bf16Bits;

/// The definition of [`Machine::dot4`](super::Machine::dot4) and [`Machine::dot4_unsigned`](super::Machine::dot4_unsigned).
#[inline(always)]
pub(super) fn dot4<A: Copy + Into<i32>>(sums: &mut [i32], a: &[[A; 4]], b: &[[i8; 4]]) {
    for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
        let products = a.iter().zip(b).map(|(&a, &b)| a.into() * i32::from(b));
        // Four products are less than 2^18; only the sum may be too large.
        *sum = sum.wrapping_add(products.sum());
    }
}

/// The definition of [`Machine::dot2_i16`](super::Machine::dot2_i16).
#[inline(always)]
pub(super) fn dot2_i16(sums: &mut [i32], a: &[[i16; 2]], b: &[[i16; 2]]) {
    for ((sum, &[a, c]), &[b, d]) in sums.iter_mut().zip(a).zip(b) {
        // One product is at most 2^30; the sum of two may be 2^31, which wraps, as the total does.
        let products = (i32::from(a) * i32::from(b)).wrapping_add(i32::from(c) * i32::from(d));
        *sum = sum.wrapping_add(products);
    }
}

/// The definition of [`Machine::dot2`](super::Machine::dot2), with the machine's product and sum.
#[inline(always)]
pub(super) fn dot2<B: Bf16Bits>(sums: &mut [f32], a: &[[B; 2]], b: &[[B; 2]], mul_add: impl Fn(f32, f32, f32) -> f32) {
    for ((sum, &[a, c]), &[b, d]) in sums.iter_mut().zip(a).zip(b) {
        *sum = mul_add(f32_of(a.bits()), f32_of(b.bits()), mul_add(f32_of(c.bits()), f32_of(d.bits()), *sum));
    }
}

/// The f32 that has these bits as its upper half.
#[inline(always)]
pub(super) const fn f32_of(bf16: u16) -> f32 {
    f32::from_bits((bf16 as u32) << 16)
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use vectors::*;

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod vectors {
    #[cfg(target_arch = "x86_64")]
    use super::{Bf16Bits, dot2};
    use super::{dot2_i16, dot4};
    #[cfg(target_arch = "aarch64")]
    use std::arch::aarch64::*;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::*;

    /// Types that have no padding and for which all bit patterns are valid: lanes as an array, and as a vector.
    ///
    /// # Safety
    /// The type has no padding, and all bit patterns are valid for it.
    unsafe trait Lanes: Copy {}

    macro_rules! lanes {
        ($([$($generics:tt)*] $lanes:ty;)+) => { $(
            // SAFETY: numbers, arrays of them, and vectors have no padding, and all bit patterns are valid for them.
            unsafe impl<$($generics)*> Lanes for $lanes {}
        )+ };
    }

    lanes! {
        [const N: usize] [i32; N];
        [const N: usize] [[i8; 4]; N];
        [const N: usize] [[u8; 4]; N];
        [const N: usize] [[i16; 2]; N];
    }

    #[cfg(target_arch = "x86_64")]
    lanes! {
        [const N: usize] [f32; N];
        [] __m256i;
        [] __m256;
        [] __m512i;
        [] __m512;
        [] __m512bh;
    }

    #[cfg(target_arch = "aarch64")]
    lanes! {
        [] int32x4_t;
        [] int8x16_t;
        [] int16x8_t;
        [] uint8x16_t;
    }

    // SAFETY: only `u16` and `half::bf16` can have the sealed trait, and `half::bf16` is a `u16` (`repr(transparent)`): no padding, and all bit
    // patterns are valid.
    #[cfg(target_arch = "x86_64")]
    unsafe impl<B: Bf16Bits, const N: usize> Lanes for [[B; 2]; N] {}

    /// The same bits as another type of the same size.
    #[inline(always)]
    fn cast<A: Lanes, B: Lanes>(a: A) -> B {
        const { assert!(size_of::<A>() == size_of::<B>()) };
        // SAFETY: both types have the same size and no padding, and all bit patterns are valid for `B` (`Lanes`).
        unsafe { std::mem::transmute_copy(&a) }
    }

    /// Defines functions over all lanes: each calls a function of this module for each vector of `$lanes` lanes, and the definition for the
    /// rest.
    macro_rules! each_vector {
        ($(#[doc = $text:literal] $name:ident $([$($generics:tt)*])?: $vector:ident of $lanes:literal, $Sum:ty, $A:ty, $B:ty, $rest:expr;)+) => { $(
            #[doc = $text]
            ///
            /// # Safety
            /// The CPU has the features of the function that it calls.
            #[inline(always)]
            pub(in super::super) unsafe fn $name$(<$($generics)*>)?(sums: &mut [$Sum], a: &[$A], b: &[$B]) {
                let (sums, sums_rest) = sums.as_chunks_mut::<$lanes>();
                let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<$lanes>(), b.as_chunks::<$lanes>());
                for ((sums, &a), &b) in sums.iter_mut().zip(a).zip(b) {
                    // SAFETY: the caller guarantees the CPU's features.
                    *sums = unsafe { $vector(*sums, a, b) };
                }
                ($rest)(sums_rest, a_rest, b_rest);
            }
        )+ };
    }

    #[cfg(target_arch = "x86_64")]
    each_vector! {
        /// `dot4_unsigned` with AVX-512 VNNI.
        dot4_unsigned_vnni: unsigned_vnni of 16, i32, [u8; 4], [i8; 4], dot4;
        /// `dot4` with AVX-512 VNNI.
        dot4_vnni: signed_vnni of 16, i32, [i8; 4], [i8; 4], dot4;
        /// `dot4_unsigned` with AVX2.
        dot4_unsigned_avx2: unsigned_avx2 of 8, i32, [u8; 4], [i8; 4], dot4;
        /// `dot4` with AVX2.
        dot4_avx2: signed_avx2 of 8, i32, [i8; 4], [i8; 4], dot4;
        /// `dot2_i16` with AVX-512 VNNI.
        dot2_i16_vnni: words_vnni of 16, i32, [i16; 2], [i16; 2], dot2_i16;
        /// `dot2_i16` with AVX2.
        dot2_i16_avx2: words_avx2 of 8, i32, [i16; 2], [i16; 2], dot2_i16;
        /// `dot2` with AVX2.
        dot2_avx2 [B: Bf16Bits]: pairs_avx2 of 8, f32, [B; 2], [B; 2], |sums, a, b| dot2(sums, a, b, f32::mul_add);
        /// `dot2` with AVX-512.
        dot2_avx512 [B: Bf16Bits]: pairs_avx512 of 16, f32, [B; 2], [B; 2], |sums, a, b| dot2(sums, a, b, f32::mul_add);
        /// `dot2` with AVX-512 BF16.
        dot2_bf16 [B: Bf16Bits]: bf16_dot of 16, f32, [B; 2], [B; 2], |sums, a, b| dot2(sums, a, b, f32::mul_add);
    }

    #[cfg(target_arch = "aarch64")]
    each_vector! {
        /// `dot4_unsigned` with NEON.
        dot4_unsigned_neon: unsigned_neon of 4, i32, [u8; 4], [i8; 4], dot4;
        /// `dot4` with NEON.
        dot4_neon: signed_neon of 4, i32, [i8; 4], [i8; 4], dot4;
        /// `dot2_i16` with NEON.
        dot2_i16_neon: words_neon of 4, i32, [i16; 2], [i16; 2], dot2_i16;
    }

    /// `vpdpbusd` does not saturate; its saturating sibling is `vpdpbusds`.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn unsigned_vnni(sums: [i32; 16], a: [[u8; 4]; 16], b: [[i8; 4]; 16]) -> [i32; 16] {
        cast(_mm512_dpbusd_epi32(cast(sums), cast(a), cast(b)))
    }

    /// The instruction's first factor is unsigned, so 128 is added to it, and 128 times the second factor is subtracted from the sum.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn signed_vnni(sums: [i32; 16], a: [[i8; 4]; 16], b: [[i8; 4]; 16]) -> [i32; 16] {
        let (b, offset) = (cast(b), _mm512_set1_epi8(i8::MIN));
        let sums = _mm512_dpbusd_epi32(cast(sums), _mm512_xor_si512(cast(a), offset), b);
        cast(_mm512_sub_epi32(sums, _mm512_dpbusd_epi32(_mm512_setzero_si512(), offset, b)))
    }

    /// `vpdpwssd` does not saturate; its saturating sibling is `vpdpwssds`.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn words_vnni(sums: [i32; 16], a: [[i16; 2]; 16], b: [[i16; 2]; 16]) -> [i32; 16] {
        cast(_mm512_dpwssd_epi32(cast(sums), cast(a), cast(b)))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn words_avx2(sums: [i32; 8], a: [[i16; 2]; 8], b: [[i16; 2]; 8]) -> [i32; 8] {
        cast(_mm256_add_epi32(cast(sums), _mm256_madd_epi16(cast(a), cast(b))))
    }

    /// The factors are converted with vector instructions. Otherwise, if a factor is the same in all lanes, LLVM would convert it with
    /// scalar instructions and broadcast each result to a vector.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2,fma")]
    fn pairs_avx2<B: Bf16Bits>(sums: [f32; 8], a: [[B; 2]; 8], b: [[B; 2]; 8]) -> [f32; 8] {
        let (a, b): (__m256i, __m256i) = (cast(a), cast(b));
        let seconds =
            [a, b].map(|pairs| cast(_mm256_and_si256(pairs, _mm256_set1_epi32(0xffff_0000_u32.cast_signed()))));
        let firsts = [a, b].map(|pairs| cast(_mm256_slli_epi32::<16>(pairs)));
        cast(_mm256_fmadd_ps(firsts[0], firsts[1], _mm256_fmadd_ps(seconds[0], seconds[1], cast(sums))))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn pairs_avx512<B: Bf16Bits>(sums: [f32; 16], a: [[B; 2]; 16], b: [[B; 2]; 16]) -> [f32; 16] {
        let (a, b): (__m512i, __m512i) = (cast(a), cast(b));
        let seconds =
            [a, b].map(|pairs| cast(_mm512_and_si512(pairs, _mm512_set1_epi32(0xffff_0000_u32.cast_signed()))));
        let firsts = [a, b].map(|pairs| cast(_mm512_slli_epi32::<16>(pairs)));
        cast(_mm512_fmadd_ps(firsts[0], firsts[1], _mm512_fmadd_ps(seconds[0], seconds[1], cast(sums))))
    }

    /// The even and the odd bytes as 16-bit numbers with sign.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn signed_halves(bytes: __m256i) -> [__m256i; 2] {
        [_mm256_srai_epi16::<8>(_mm256_slli_epi16::<8>(bytes)), _mm256_srai_epi16::<8>(bytes)]
    }

    /// Adds products of 16-bit numbers. `vpmaddubsw`, which takes bytes, saturates.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add_halves(sums: [i32; 8], a: [__m256i; 2], b: [__m256i; 2]) -> [i32; 8] {
        let products = _mm256_add_epi32(_mm256_madd_epi16(a[0], b[0]), _mm256_madd_epi16(a[1], b[1]));
        cast(_mm256_add_epi32(cast(sums), products))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn signed_avx2(sums: [i32; 8], a: [[i8; 4]; 8], b: [[i8; 4]; 8]) -> [i32; 8] {
        add_halves(sums, signed_halves(cast(a)), signed_halves(cast(b)))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx2")]
    fn unsigned_avx2(sums: [i32; 8], a: [[u8; 4]; 8], b: [[i8; 4]; 8]) -> [i32; 8] {
        let a = cast(a);
        let a = [_mm256_and_si256(a, _mm256_set1_epi16(0xff)), _mm256_srli_epi16::<8>(a)];
        add_halves(sums, a, signed_halves(cast(b)))
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    #[target_feature(enable = "avx512f,avx512bf16")]
    fn bf16_dot<B: Bf16Bits>(sums: [f32; 16], a: [[B; 2]; 16], b: [[B; 2]; 16]) -> [f32; 16] {
        cast(_mm512_dpbf16_ps(cast(sums), cast(a), cast(b)))
    }

    /// Adds the four adjacent products of each lane, from two vectors of eight 16-bit products.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    #[target_feature(enable = "neon")]
    fn signed_neon(sums: [i32; 4], a: [[i8; 4]; 4], b: [[i8; 4]; 4]) -> [i32; 4] {
        let (a, b): (int8x16_t, int8x16_t) = (cast(a), cast(b));
        let low = vpaddlq_s16(vmull_s8(vget_low_s8(a), vget_low_s8(b)));
        let high = vpaddlq_s16(vmull_high_s8(a, b));
        cast(vaddq_s32(cast(sums), vpaddq_s32(low, high)))
    }

    /// Adds the two adjacent products of each lane.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    #[target_feature(enable = "neon")]
    fn words_neon(sums: [i32; 4], a: [[i16; 2]; 4], b: [[i16; 2]; 4]) -> [i32; 4] {
        let (a, b): (int16x8_t, int16x8_t) = (cast(a), cast(b));
        let (low, high) = (vmull_s16(vget_low_s16(a), vget_low_s16(b)), vmull_high_s16(a, b));
        cast(vaddq_s32(cast(sums), vpaddq_s32(low, high)))
    }

    /// Subtracts 128 from the first factor, which makes it signed, and adds 128 times the second to the sums.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    #[target_feature(enable = "neon")]
    fn unsigned_neon(sums: [i32; 4], a: [[u8; 4]; 4], b: [[i8; 4]; 4]) -> [i32; 4] {
        let a: uint8x16_t = cast(a);
        let sums = signed_neon(sums, cast(veorq_u8(a, vdupq_n_u8(0x80))), b);
        let in_pairs = vpaddlq_s16(vpaddlq_s8(cast(b)));
        cast(vaddq_s32(cast(sums), vshlq_n_s32::<7>(in_pairs)))
    }
}
