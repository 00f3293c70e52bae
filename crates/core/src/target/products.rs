//! Which elements the matrix unit of a generation of TPUs multiplies.

use crate::element_type::ElementType::{self, Bf16, F8E4M3B11Fnuz, F8E4M3Fn, F8E5M2, F32, S4, S8, U4, U8};

/// The products that a matrix unit computes without a conversion, as in JAX's table (`is_matmul_supported` of `jax/_src/tpu_info.py`,
/// jax 0.12): each left operand in a pair's first list with each right operand in its second.
#[derive(Clone, Copy)]
pub(super) struct Products(&'static [(&'static [ElementType], &'static [ElementType])]);

impl Products {
    pub(super) const V2: Self = Self(&[(&[F32], &[F32])]);
    pub(super) const V4: Self = Self(&[(&[F32, Bf16], &[F32, Bf16, S8])]);
    pub(super) const V5: Self = Self(&[
        (&[F32, Bf16, F8E5M2, F8E4M3B11Fnuz], &[F32, Bf16, F8E5M2, F8E4M3B11Fnuz]),
        (&[U8, S8], &[U8, S8]),
        (&[U4, S4], &[U4, S4]),
    ]);
    pub(super) const V7: Self =
        Self(&[(&[F32, Bf16], &[F32, Bf16, F8E5M2, F8E4M3Fn]), (&[F8E5M2, F8E4M3Fn], &[F8E5M2, F8E4M3Fn])]);
    pub(super) const V8I: Self = Self(&[
        (&[F32, Bf16], &[F32, Bf16, F8E5M2, F8E4M3Fn, U4, S4]),
        (&[F8E5M2, F8E4M3Fn], &[F8E5M2, F8E4M3Fn, U4, S4]),
    ]);
    pub(super) const V8T: Self =
        Self(&[(&[F32, Bf16], &[F32, Bf16, S4]), (&[F32, Bf16, F8E5M2, F8E4M3Fn], &[F8E5M2, F8E4M3Fn, S4])]);

    pub(super) fn has(self, left: ElementType, right: ElementType) -> bool {
        self.0.iter().any(|(lefts, rights)| lefts.contains(&left) && rights.contains(&right))
    }
}
