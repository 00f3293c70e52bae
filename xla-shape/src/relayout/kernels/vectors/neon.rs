//! 16-byte vectors of Arm, which every AArch64 has.

use std::arch::aarch64::*;

use std::arch::aarch64::uint8x16_t as Vector;
use std::arch::aarch64::vandq_u8 as and;
use std::arch::aarch64::vld1q_u8 as load;
use std::arch::aarch64::vorrq_u8 as or;
use std::arch::aarch64::vqtbl1q_u8 as shuffled;
use std::arch::aarch64::vst1q_u8 as store_unaligned;
// Arm has no stores past the caches that keep to whole lines: what is large has the order of loops for it, and that is all.
use std::arch::aarch64::vst1q_u8 as stream_aligned;

kernels!("neon", Vector, 1);

const NARROW: Option<Narrow> = None;

const SHUFFLES: bool = true;

#[inline]
#[target_feature(enable = "neon")]
fn zero() -> Vector {
    vdupq_n_u8(0)
}

/// # Safety
/// The pointer must be valid for a read of 16 bytes.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn load_lanes([lane]: [*const u8; 1]) -> Vector {
    // SAFETY: as required of the caller.
    unsafe { load(lane) }
}

#[inline]
#[target_feature(enable = "neon")]
fn repeated(shuffle: [u8; 16]) -> Vector {
    // SAFETY: 16 bytes are read from an array of as many.
    unsafe { load(shuffle.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn low_bits(bits: usize) -> Vector {
    vdupq_n_u8((1 << bits) - 1)
}

#[inline]
#[target_feature(enable = "neon")]
fn shifted_up(vector: Vector, bits: usize) -> Vector {
    vshlq_u8(vector, vdupq_n_s8(bits as i8))
}

#[inline]
#[target_feature(enable = "neon")]
fn shifted_down(vector: Vector, bits: usize) -> Vector {
    vshlq_u8(vector, vdupq_n_s8(-(bits as i8)))
}

#[inline]
#[target_feature(enable = "neon")]
fn interleaved<const BYTES: usize, const WAYS: usize>(rows: [Vector; WAYS]) -> [Vector; WAYS] {
    zipped::<BYTES, WAYS>(rows, WAYS.ilog2())
}

#[inline]
#[target_feature(enable = "neon")]
fn taken_apart<const BYTES: usize, const WAYS: usize>(vectors: [Vector; WAYS]) -> [Vector; WAYS] {
    if WAYS == 1 { vectors } else { zipped::<BYTES, WAYS>(vectors, (16 / BYTES).ilog2()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn zip_low<const BYTES: usize>(a: Vector, b: Vector) -> Vector {
    match BYTES {
        1 => vzip1q_u8(a, b),
        2 => vreinterpretq_u8_u16(vzip1q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b))),
        4 => vreinterpretq_u8_u32(vzip1q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))),
        _ => vreinterpretq_u8_u64(vzip1q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))),
    }
}

#[inline]
#[target_feature(enable = "neon")]
fn zip_high<const BYTES: usize>(a: Vector, b: Vector) -> Vector {
    match BYTES {
        1 => vzip2q_u8(a, b),
        2 => vreinterpretq_u8_u16(vzip2q_u16(vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b))),
        4 => vreinterpretq_u8_u32(vzip2q_u32(vreinterpretq_u32_u8(a), vreinterpretq_u32_u8(b))),
        _ => vreinterpretq_u8_u64(vzip2q_u64(vreinterpretq_u64_u8(a), vreinterpretq_u64_u8(b))),
    }
}
