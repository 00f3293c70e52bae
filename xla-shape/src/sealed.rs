//! Keeps others from implementing the traits that `unsafe` code relies on, and says how long lists of types are.

use paste::paste;
use xla_shape_core::type_limits::MAX_LIST;

/// Implemented for the types of this crate that stand for parts of shapes.
///
/// Buffers read memory without a check where a trait's constants say that an element lies inside; so no other crate may
/// say it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is none of the types of `xla_shape` that stand for parts of shapes",
    note = "other crates cannot implement this trait: unchecked accesses to memory rely on it"
)]
pub trait Sealed {}

/// Calls a macro for every length of a tuple, with that many numbers: nothing, `0`, `0 1`, … up to 12.
macro_rules! for_each_arity {
    ($callback:ident) => {
        $crate::sealed::for_each_arity!($callback [] 0 1 2 3 4 5 6 7 8 9 10 11);
    };
    ($callback:ident [$($before:literal)*]) => { $callback!($($before)*); };
    ($callback:ident [$($before:literal)*] $next:literal $($after:literal)*) => {
        $callback!($($before)*);
        $crate::sealed::for_each_arity!($callback [$($before)* $next] $($after)*);
    };
}
pub(crate) use for_each_arity;

const _: () = assert!(MAX_LIST == 12, "the longest list above");

macro_rules! tuples {
    ($($i:literal)*) => { paste! {
        impl<$([<T $i>]),*> Sealed for ($([<T $i>],)*) {}
    } };
}

for_each_arity!(tuples);
