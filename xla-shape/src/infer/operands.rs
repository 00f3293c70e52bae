//! The check of a result whose shape is a type.

use super::Operation;
use crate::sealed::Sealed;
use crate::types::ArrayType;
use xla_shape_core::ArrayShape;

/// The shapes of an operation's operands: a tuple of up to 12 made by [`shape!`](crate::shape), `(X,)` for one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of operands",
    label = "expected a tuple of up to 12 shapes of arrays, such as `(Lhs, Rhs)`, or `(X,)` for one"
)]
pub trait Operands: Sealed {
    /// The shapes as values.
    const SHAPES: &'static [&'static ArrayShape];
}

macro_rules! operands {
    ($($S:ident)*) => {
        impl<$($S: ArrayType),*> Operands for ($($S,)*) {
            const SHAPES: &'static [&'static ArrayShape] = &[$($S::SHAPE),*];
        }
    };
}

operands!();
operands!(A);
operands!(A B);
operands!(A B C);
operands!(A B C D);
operands!(A B C D E);
operands!(A B C D E F);
operands!(A B C D E F G);
operands!(A B C D E F G H);
operands!(A B C D E F G H I);
operands!(A B C D E F G H I J);
operands!(A B C D E F G H I J K);
operands!(A B C D E F G H I J K L);

/// Fails the compilation if `R` is not the shape of the operation's result, for operands of the shapes `O`.
///
/// Dimensions and element types are checked; layouts may be any. In a `const` item with shapes that are not generic, that shows
/// in `cargo check`; in a `const` block of a generic function, in `cargo build`. See [`Operation::obstacle`] for what is
/// checked and for the messages; it does the same for shapes that are values.
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
/// If it is not; meant for a `const`, where that is an error of the compiler.
#[track_caller]
pub const fn assert_result<O: Operands, R: ArrayType>(operation: Operation<'_>) {
    if let Some(obstacle) = operation.obstacle(O::SHAPES, R::SHAPE) {
        panic!("{}", obstacle.as_str());
    }
}
