//! Element types, as types, and the Rust values that they hold.
//!
//! Each of XLA's element types is a type here ([`F32`], [`Bf16`], [`S4`], …) that implements [`Element`]. Those whose
//! values have a Rust type also implement [`Stored`]: buffers can then be read and written. Where neither Rust nor a crate
//! has the type of the values, as for [`S4`] and [`F8E4M3Fn`], it is the type here.

mod float;
mod small;
mod stored;

/// The values of [`F16`] and [`Bf16`], from the crate `half`.
///
/// ```
/// use xla_shape::element::bf16;
/// use xla_shape::{Buffer, shape};
///
/// let x = Buffer::<shape!(bf16[8,128])>::filled(bf16::from_f32(0.5));
/// assert_eq!(x[[7, 127]].to_f32(), 0.5);
/// ```
#[cfg(feature = "half")]
pub use half::{bf16, f16};

pub use float::{
    F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11Fnuz, F8E4M3Fn, F8E4M3Fnuz, F8E5M2, F8E5M2Fnuz, F8E8M0Fnu,
};
pub use small::{S1, S2, S4, U1, U2, U4};
pub use stored::{Plain, Stored};
pub(crate) use stored::{bytes_of, bytes_of_mut};

use crate::sealed::Sealed;
use core::fmt::Debug;
use xla_shape_core::ElementType;

/// The type of an array's elements, as a type.
///
/// ```
/// use xla_shape::element::{Bf16, Element, F32};
///
/// /// The bytes of a row of 128 elements.
/// const fn row_bytes<E: Element>() -> u64 {
///     128 * E::TYPE.bits() / 8
/// }
///
/// assert_eq!((row_bytes::<F32>(), row_bytes::<Bf16>()), (512, 256));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type of XLA",
    label = "expected one of the types in `xla_shape::element`"
)]
pub trait Element: Copy + Default + Debug + Send + Sync + 'static + Sealed {
    /// What the core says of it.
    const TYPE: ElementType;
}

macro_rules! markers {
    ($($name:ident $size:literal $doc:literal;)*) => { $(
        #[doc = $doc]
        ///
        /// ```
        #[doc = concat!("use xla_shape::element::{Element, ", stringify!($name), "};")]
        ///
        #[doc = concat!("let element_type = ", stringify!($name), "::TYPE;")]
        #[doc = concat!("assert_eq!((element_type.name(), element_type.bits()), ", $size, ");")]
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;

        impl Sealed for $name {}

        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
        }
    )* };
}

markers! {
    Pred "(\"pred\", 1)" "`pred`; its values are `bool`.";
    S8 "(\"s8\", 8)" "`s8`; its values are `i8`.";
    S16 "(\"s16\", 16)" "`s16`; its values are `i16`.";
    S32 "(\"s32\", 32)" "`s32`; its values are `i32`.";
    S64 "(\"s64\", 64)" "`s64`; its values are `i64`.";
    U8 "(\"u8\", 8)" "`u8`; its values are `u8`.";
    U16 "(\"u16\", 16)" "`u16`; its values are `u16`.";
    U32 "(\"u32\", 32)" "`u32`; its values are `u32`.";
    U64 "(\"u64\", 64)" "`u64`; its values are `u64`.";
    F16 "(\"f16\", 16)" "`f16`; its values are `half::f16` (feature `half`).";
    Bf16 "(\"bf16\", 16)" "`bf16`; its values are `half::bf16` (feature `half`).";
    F32 "(\"f32\", 32)" "`f32`; its values are `f32`.";
    F64 "(\"f64\", 64)" "`f64`; its values are `f64`.";
    C64 "(\"c64\", 64)" "`c64`; its values are `num_complex::Complex<f32>` (feature `num-complex`).";
    C128 "(\"c128\", 128)" "`c128`; its values are `num_complex::Complex<f64>` (feature `num-complex`).";
}
