//! XLA shapes and layouts: exact, fast and checked by the compiler.

pub mod buffer;
pub mod element;
pub mod relayout;
pub mod types;

pub use buffer::{AccessError, Buffer, BufferError, DynBuffer, DynView, DynViewMut, ShapeMismatch, View, ViewMut};
pub use xla_shape_core::*;

#[doc(hidden)]
pub mod __private {
    pub use xla_shape_macros::shape;
}

/// The shape of an array, as a type: XLA's text, with the layout in `{…}` or `<…>`, or left out.
///
/// Two shapes that mean the same are the same type. A text that is no valid shape does not compile; the error shows in
/// `cargo check`, under the part that is wrong.
///
/// ```
/// use xla_shape::shape;
///
/// type Tiled = shape!(bf16[8,128]{1,0:T(8,128)(2,1)});
/// type Same = shape!(bf16[8, 128]<1, 0: T(8, 128)(2, 1)>);
/// type Default = shape!(bf16[8,128]); // the same as bf16[8,128]{1,0}
///
/// fn same(x: Tiled) -> Same { x }
/// assert_eq!(Default::TEXT, "bf16[8,128]{1,0}");
/// ```
///
/// ```compile_fail
/// # use xla_shape::shape;
/// type Wrong = shape!(bf16[8,128]{1,1}); // dimension 1 twice
/// ```
#[macro_export]
macro_rules! shape {
    ($($tokens:tt)*) => {
        $crate::__private::shape!([$crate] $($tokens)*)
    };
}

#[doc = include_str!("../../README.md")]
#[cfg(doctest)]
struct ReadmeExamples;
