//! Arithmetic that the compiler can vectorize.

use half::bf16;
use xla_shape::element::{Bf16, F32, Plain, S8};

/// An element type whose values are computed in f32.
pub(crate) trait Number: Plain {
    fn f32(value: Self::Value) -> f32;
    fn of(value: f32) -> Self::Value;
}

impl Number for F32 {
    #[inline(always)]
    fn f32(value: f32) -> f32 {
        value
    }

    #[inline(always)]
    fn of(value: f32) -> f32 {
        value
    }
}

impl Number for Bf16 {
    #[inline(always)]
    fn f32(value: bf16) -> f32 {
        f32::from_bits(u32::from(value.to_bits()) << 16)
    }

    /// The nearest bf16 of a number that is not NaN, ties to even.
    #[inline(always)]
    fn of(value: f32) -> bf16 {
        let bits = value.to_bits();
        bf16::from_bits((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }
}

impl Number for S8 {
    #[inline(always)]
    fn f32(value: i8) -> f32 {
        f32::from(value)
    }

    /// Rounds a number in range towards zero.
    #[inline(always)]
    fn of(value: f32) -> i8 {
        value as i8
    }
}

/// The larger of two numbers that are not NaN. This is one instruction.
#[inline(always)]
pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}
