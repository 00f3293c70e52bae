//! Copies and conversions between packed tiles.

use half::bf16;
use xla_shape::{View, ViewMut, shape};

type F32 = shape!(f32[64,512]{1,0:T(8,128)});
type Bf16 = shape!(bf16[64,512]{1,0:T(8,128)(2,1)});
type Bf16InS8Tiles = shape!(bf16[64,512]{1,0:T(32,128)(4,1)});
type Large = shape!(bf16[128,1024]{1,0:T(8,128)(2,1)});

/// The nearest bf16 of a number that is not NaN, ties to even.
fn bf16_of(x: f32) -> bf16 {
    let bits = x.to_bits();
    bf16::from_bits((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
}

/// Rows are contiguous in the operand; in the result, pairs of rows alternate.
#[inline(never)]
pub fn narrow(x: View<'_, F32>, mut y: ViewMut<'_, Bf16>) {
    y.apply_with(&x, |_, x| bf16_of(x));
}

/// Groups of four rows alternate.
#[inline(never)]
pub fn narrow_to_groups_of_four(x: View<'_, F32>, mut y: ViewMut<'_, Bf16InS8Tiles>) {
    y.apply_with(&x, |_, x| bf16_of(x));
}

/// Pairs of rows alternate in the operand.
#[inline(never)]
pub fn widen(x: View<'_, Bf16>, mut y: ViewMut<'_, F32>) {
    y.apply_with(&x, |_, x| f32::from_bits(u32::from(x.to_bits()) << 16));
}

/// A block has the tiles of its array.
#[inline(never)]
pub fn copy_block(x: View<'_, Large>, mut y: ViewMut<'_, Bf16>) {
    x.block::<Bf16>([1, 1]).copy_to(&mut y);
}
