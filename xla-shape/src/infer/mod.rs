//! Shape inference, of shapes as values and as types: the same rules for both.
//!
//! The operations are elementwise ones, compare, convert, select, clamp, broadcast, iota, reshape, transpose, reverse, slice,
//! pad, concatenate, reduce, reduce-window, dynamic-slice, dynamic-update-slice, dot (XLA's dot_general) and convolution.
//!
//! Elementwise operations have names, too ([`Elementwise::named`]), and then their element types are checked. All other
//! HLO instructions, also those with tuples and called computations, have a [`Rule`], which works at run time only.
//!
//! The rules are `const fn`s over dimensions ([`dot()`], [`slice()`], …). An [`Operation`] is one of these rules with its attributes.
//! A kernel whose shapes are types names its result with [`shape!`](crate::shape) or by its parameters, and names its
//! operation. The compiler then checks once that the shapes fit, and running the kernel costs nothing more:
//!
//! ```
//! use xla_shape::infer::{self, DotDimensions, Operation};
//! use xla_shape::types::StaticArray;
//! use xla_shape::{View, ViewMut, element, shape};
//!
//! fn product<L, R, O>(lhs: View<L>, rhs: View<R>, out: ViewMut<O>)
//! where
//!     L: StaticArray<Element = element::F32>,
//!     R: StaticArray<Element = element::F32>,
//!     O: StaticArray<Element = element::F32>,
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
//! # Results that are computed as types
//!
//! Any result can be named and checked. Some can also be computed, so that generic code need not name them; the program always chooses the layout:
//!
//! | operation | the result |
//! |---|---|
//! | elementwise, select, clamp, reverse, dynamic-update-slice | has the shape of an operand |
//! | convert, compare | [`WithElement`](crate::types::WithElement) |
//! | broadcast | [`Broadcast`](crate::types::Broadcast), one dimension at a time |
//! | transpose | [`Transposed`](crate::types::Transposed) |
//! | reduce | [`Reduced`](crate::types::Reduced), one dimension at a time |
//! | slice, pad, reduce-window, dynamic-slice | [`WithDimension`](crate::types::WithDimension), one dimension at a time |
//! | concatenate | [`Concatenated`](crate::types::Concatenated), with sizes of `typenum` |
//! | dot | [`Product`](crate::types::Product) of vectors and matrices; with batches, name it |
//! | reshape, iota, convolution | name it |

mod operands;

pub use operands::{Operands, assert_result};
pub use xla_shape_core::infer::{
    AGREES, Callee, ConvolutionDimensions, ConvolutionGroups, DotDimensions, Elementwise, FftType, GatherDimensions,
    InferError, Operation, PaddingDimension, RaggedDimensions, Rule, ScatterDimensions, SliceDimension,
    WindowDimension, agree, all_agree, broadcast, clamp, concatenate, convolution, dot, dynamic_slice,
    dynamic_update_slice, element_types_agree, elementwise, iota, pad, reduce, reduce_window, reshape, reverse, select,
    slice, transpose,
};
