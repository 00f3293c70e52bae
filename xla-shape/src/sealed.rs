//! Keeps others from implementing the traits that `unsafe` code relies on.

/// Implemented for the types of this crate that stand for parts of shapes.
///
/// Buffers read memory without a check where a trait's constants say that an element lies inside; so no other crate may
/// say it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is none of the types of `xla_shape` that stand for parts of shapes",
    note = "other crates cannot implement this trait: unchecked accesses to memory rely on it"
)]
pub trait Sealed {}

macro_rules! tuples {
    ($($T:ident)*) => { impl<$($T),*> Sealed for ($($T,)*) {} };
}

tuples!();
tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);
tuples!(A B C D E F G);
tuples!(A B C D E F G H);
tuples!(A B C D E F G H I);
tuples!(A B C D E F G H I J);
tuples!(A B C D E F G H I J K);
tuples!(A B C D E F G H I J K L);
