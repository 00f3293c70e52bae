//! Shape inference, of shapes as values and as types: the same rules for both.
//!
//! The rules are `const fn`s over dimensions ([`dot()`], [`slice()`], …). An [`Operation`] is one of them with its attributes.
//! A kernel whose shapes are types names its result with [`shape!`](crate::shape) or by its parameters, and says which
//! operation it is; whether the shapes fit is then checked once, when it is compiled, and costs nothing when it runs:
//!
//! ```
//! use xla_shape::infer::{self, DotDimensions, Operation};
//! use xla_shape::types::StaticShape;
//! use xla_shape::{View, ViewMut, element, shape};
//!
//! fn product<L, R, O>(lhs: View<L>, rhs: View<R>, out: ViewMut<O>)
//! where
//!     L: StaticShape<Element = element::F32>,
//!     R: StaticShape<Element = element::F32>,
//!     O: StaticShape<Element = element::F32>,
//! {
//!     const { infer::assert_result::<(L, R), O>(Operation::Dot(DotDimensions::MATRICES)) };
//!     // …
//! }
//!
//! // Shapes that are not generic can be checked outside of any function; that shows in `cargo check` too.
//! type X = shape!(f32[8,64]{1,0:T(8,128)});
//! const _: () = infer::assert_result::<(X,), shape!(f32[64,8])>(Operation::Transpose { dimensions: &[1, 0] });
//! ```
//!
//! ```compile_fail
//! # use xla_shape::{infer::{self, Operation}, shape};
//! type X = shape!(f32[8,64]);
//! const _: () = infer::assert_result::<(X, shape!(f32[])), shape!(f32[64])>(Operation::Reduce { dimensions: &[1] });
//! // f32[64] is not the result of reduce(f32[8,64], f32[]): expected f32[8], found f32[64]
//! ```
//!
//! Some results can be computed as types: [`WithElement`](crate::types::WithElement),
//! [`Transposed`](crate::types::Transposed), [`Reduced`](crate::types::Reduced) and
//! [`Concatenated`](crate::types::Concatenated).

mod operands;

pub use operands::{Operands, assert_result};
pub use xla_shape_core::infer::*;
