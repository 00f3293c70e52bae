//! Element types, as types, and the Rust values that they hold.
//!
//! Each of XLA's element types is a type here ([`F32`], [`Bf16`], [`S4`], …) that implements [`Element`]. Element types whose values have a Rust type
//! also implement [`Stored`]: their buffers can be read and written. If neither Rust nor a crate has a type for the values, as for [`S4`] and
//! [`F8E4M3Fn`], the values have the element type itself.

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

pub use float::*;
pub use small::*;
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
    /// The same type as a value.
    const TYPE: ElementType;
}

macro_rules! markers {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(markers! { @$($value)* $variant $name $meaning })*
    };
    (@Bool $($row:tt)*) => { markers! { @marker $($row)* } };
    (@Primitive $value:ident $($row:tt)*) => { markers! { @marker $($row)* } };
    (@Half $value:ident $($row:tt)*) => { markers! { @marker $($row)* } };
    (@Complex $part:ident $($row:tt)*) => { markers! { @marker $($row)* } };
    (@marker $name:ident $text:ident $meaning:literal) => {
        #[doc = concat!("`", stringify!($text), "`", $meaning)]
        ///
        /// ```
        #[doc = concat!("use xla_shape::element::{Element, ", stringify!($name), "};")]
        ///
        #[doc = concat!("assert_eq!(", stringify!($name), "::TYPE.name(), \"", stringify!($text), "\");")]
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
        pub struct $name;

        impl Sealed for $name {}

        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
        }
    };
    // The values of other element types are types of their own, in `float` and `small`.
    (@$($row:tt)*) => {};
}

xla_shape_core::element_types!(markers);
