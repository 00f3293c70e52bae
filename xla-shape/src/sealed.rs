//! Prevents other crates from implementing the traits that `unsafe` code relies on, and defines the length of type lists.

use xla_shape_core::type_limits::MAX_LIST;

/// Implemented for this crate's types that stand for parts of shapes.
///
/// Buffers access memory without a check where the constants of a trait say that an element is in bounds, so no other crate may implement
/// these traits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is none of the types of `xla_shape` that stand for parts of shapes",
    note = "other crates cannot implement this trait: unchecked accesses to memory rely on it"
)]
pub trait Sealed {}

/// Calls a macro for every length of a tuple, up to 12, with as many groups: nothing, `(0 T0 N0 t0)`, `(0 T0 N0 t0) (1 T1 N1 t1)`, …. A
/// group has the number of an entry, and names for a type, for a constant or a second type, and for a value.
macro_rules! for_each_arity {
    ($callback:ident) => {
        $crate::sealed::for_each_arity!($callback []
            (0 T0 N0 t0) (1 T1 N1 t1) (2 T2 N2 t2) (3 T3 N3 t3) (4 T4 N4 t4) (5 T5 N5 t5)
            (6 T6 N6 t6) (7 T7 N7 t7) (8 T8 N8 t8) (9 T9 N9 t9) (10 T10 N10 t10) (11 T11 N11 t11));
    };
    ($callback:ident [$($before:tt)*]) => { $callback!($($before)*); };
    ($callback:ident [$($before:tt)*] $next:tt $($after:tt)*) => {
        $callback!($($before)*);
        $crate::sealed::for_each_arity!($callback [$($before)* $next] $($after)*);
    };
}
pub(crate) use for_each_arity;

const _: () = assert!(MAX_LIST == 12, "the longest list above");

macro_rules! tuples {
    ($(($i:tt $T:ident $N:ident $t:ident))*) => {
        impl<$($T),*> Sealed for ($($T,)*) {}
    };
}

for_each_arity!(tuples);

/// Belongs at the beginning of each generic function that users call and that may raise an error in a constant (E0080).
///
/// The last note of such an error names the line that calls the function. Optimized builds lose that line if the compiler's MIR inliner
/// inlines the function before the constants are evaluated. `inline(never)` would prevent it at a cost at run time; so would `#[cold]`,
/// because a block that calls a cold function is treated as unlikely, and its loop is not vectorized. So this macro makes the function too
/// expensive for the MIR inliner (`rustc_mir_transform/src/inline.rs` accepts a cost of up to 125), by calls under a constant condition that is
/// false for every type. They are removed before code generation. The type must be generic, otherwise the constant is known too early.
macro_rules! named_in_errors {
    ($generic:ty) => {
        if const { size_of::<$generic>() == usize::MAX } {
            $crate::sealed::never_called();
            $crate::sealed::never_called();
            $crate::sealed::never_called();
            $crate::sealed::never_called();
            $crate::sealed::never_called();
            $crate::sealed::never_called();
        }
    };
}
pub(crate) use named_in_errors;

/// See [`named_in_errors`].
#[inline(never)]
pub(crate) const fn never_called() {}
