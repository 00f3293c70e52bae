//! The check of a result whose shape is a type.

use super::Operation;
use crate::sealed::{Sealed, for_each_arity};
use crate::types::ArrayType;
use xla_shape_core::ArrayShape;

/// The shapes of an operation's operands: a tuple of up to 12 shapes made by [`shape!`](crate::shape), `(X,)` for one.
///
/// ```
/// use xla_shape::infer::Operands;
/// use xla_shape::shape;
///
/// fn bytes<O: Operands>() -> Option<u64> {
///     O::SHAPES.iter().map(|operand| operand.byte_size()).sum()
/// }
/// assert_eq!(bytes::<(shape!(f32[8,64]{1,0:T(8,128)}), shape!(f32[64]))>(), Some(4096 + 256));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of operands",
    label = "expected a tuple of up to 12 shapes of arrays, such as `(Lhs, Rhs)`, or `(X,)` for one"
)]
pub trait Operands: Sealed {
    /// The shapes as values.
    const SHAPES: &'static [&'static ArrayShape];
}

macro_rules! operands {
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        impl<$($T: ArrayType),*> Operands for ($($T,)*) {
            const SHAPES: &'static [&'static ArrayShape] = &[$($T::SHAPE),*];
        }
    };
}

for_each_arity!(operands);

/// Fails the compilation if `R` is not the shape of the operation's result, for operands of the shapes `O`.
///
/// Dimensions and element types are checked; layouts may be any. In a `const` item with shapes that are not generic, the error shows in
/// `cargo check`; in a `const` block of a generic function, in `cargo build`. [`Operation::obstacle`] checks the same for shapes as values,
/// and describes the checks and messages.
///
/// ```
/// use xla_shape::infer::{PaddingDimension, Operation, assert_result};
/// use xla_shape::shape;
///
/// const EDGES: Operation = Operation::Pad(&[PaddingDimension { low: 1, high: 1, interior: 0 }; 2]);
/// const _: () = assert_result::<(shape!(f32[6,6]), shape!(f32[])), shape!(f32[8,8])>(EDGES);
/// ```
///
/// # Panics
/// If `R` is not that shape. Meant for a `const`, where a panic is a compile error.
#[track_caller]
pub const fn assert_result<O: Operands, R: ArrayType>(operation: Operation<'_>) {
    if let Some(obstacle) = operation.obstacle(O::SHAPES, R::SHAPE) {
        panic!("{}", obstacle.as_str());
    }
}
