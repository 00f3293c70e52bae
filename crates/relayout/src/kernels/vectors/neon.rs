//! 16-byte vectors of Arm (NEON), which every AArch64 has.

use super::{Narrow, Offsets, Vector};
use std::arch::aarch64::*;

__features!(Neon => kernels!(uint8x16_t, 1));
__features!(Neon => matrices!(1));

// SAFETY: the functions ask of their callers what `Vector` documents for each of them, under "# Safety". The caller also guarantees that
// the CPU has the features that `target_feature` names.
impl Vector<1> for uint8x16_t {
    const NARROW: Option<Narrow> = None;

    const SHUFFLES: bool = true;

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::zero` asks of them, and the features of the CPU.
    unsafe fn zero() -> Self {
        vdupq_n_u8(0)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::load` asks of them, and the features of the CPU.
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes.
        unsafe { vld1q_u8(from) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::load_rows` asks of them, and the features of the CPU.
    unsafe fn load_rows<const EVEN: bool>(from: *const u8, rows: Offsets<'_>, first: usize, _: usize) -> Self {
        // SAFETY: the caller guarantees 16 readable bytes at the offset of row `first`.
        unsafe { vld1q_u8(from.wrapping_add(rows.get::<EVEN>(first))) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::store` asks of them, and the features of the CPU.
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller guarantees 16 writable bytes.
        unsafe { vst1q_u8(to, self) }
    }

    /// An ordinary store: Arm has no non-temporal stores that write whole lines. For large arrays, only the order of loops is different.
    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::stream` asks of them, and the features of the CPU.
    unsafe fn stream(self, to: *mut u8) {
        // SAFETY: the caller guarantees 16 writable bytes.
        unsafe { vst1q_u8(to, self) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::repeated` asks of them, and the features of the CPU.
    unsafe fn repeated(shuffle: [u8; 16]) -> Self {
        // SAFETY: `shuffle` has 16 bytes.
        unsafe { vld1q_u8(shuffle.as_ptr()) }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::shuffled` asks of them, and the features of the CPU.
    unsafe fn shuffled(self, shuffle: Self) -> Self {
        vqtbl1q_u8(self, shuffle)
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::bits_from` asks of them, and the features of the CPU.
    unsafe fn bits_from(self, shift: usize, bits: usize) -> Self {
        vandq_u8(vshlq_u8(self, vdupq_n_s8(-(shift as i8))), vdupq_n_u8((1 << bits) - 1))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::with_bits` asks of them, and the features of the CPU.
    unsafe fn with_bits(self, elements: Self, bits: usize, shift: usize) -> Self {
        vorrq_u8(self, vshlq_u8(vandq_u8(elements, vdupq_n_u8((1 << bits) - 1)), vdupq_n_s8(shift as i8)))
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::zip_low` asks of them, and the features of the CPU.
    unsafe fn zip_low<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => vzip1q_u8(self, other),
            2 => vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(self), vreinterpretq_u16_u8(other))),
            4 => vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other))),
            _ => vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other))),
        }
    }

    #[inline]
    #[target_feature(enable = "neon")]
    // SAFETY: callers guarantee what `Vector::zip_high` asks of them, and the features of the CPU.
    unsafe fn zip_high<const BYTES: usize>(self, other: Self) -> Self {
        match BYTES {
            1 => vzip2q_u8(self, other),
            2 => vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(self), vreinterpretq_u16_u8(other))),
            4 => vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(self), vreinterpretq_u32_u8(other))),
            _ => vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(self), vreinterpretq_u64_u8(other))),
        }
    }
}
