//! Elements whose values have a Rust type.

use super::*;
use core::fmt::Debug;
use xla_shape_core::ElementType;

/// An element type whose values have a Rust type, and the conversion between values and bytes.
///
/// In memory, values are little-endian, as on every machine that XLA runs on.
#[diagnostic::on_unimplemented(
    message = "the values of `{Self}` have no Rust type",
    label = "a buffer of these elements cannot be read or written",
    note = "for `f16` and `bf16`, enable the feature `half` of `xla-shape`; for `c64` and `c128`, enable `num-complex`"
)]
pub trait Stored: Element {
    /// The type of a value.
    type Value: Copy + Default + PartialEq + Debug + Send + Sync + 'static;

    /// The bytes of one value.
    type Bytes: Copy + AsRef<[u8]> + AsMut<[u8]> + Default;

    /// The value with these bytes. Bits that the type does not use are ignored.
    ///
    /// ```
    /// use xla_shape::element::{Bf16, S4, Stored};
    ///
    /// assert_eq!(Bf16::from_le_bytes([0x80, 0x3f]).to_f32(), 1.0);
    /// assert_eq!(S4::from_le_bytes([0x0f]).get(), -1);
    /// ```
    #[must_use]
    fn from_le_bytes(bytes: Self::Bytes) -> Self::Value;

    /// The bytes of a value.
    ///
    /// ```
    /// use xla_shape::element::{S32, Stored};
    ///
    /// assert_eq!(S32::to_le_bytes(258), [2, 1, 0, 0]);
    /// ```
    #[must_use]
    fn to_le_bytes(value: Self::Value) -> Self::Bytes;

    /// Whether the memory of a slice of values is the bytes of each value, one after the other.
    #[doc(hidden)]
    const HAS_MEMORY: bool = false;

    /// The bytes of values, if [`HAS_MEMORY`](Self::HAS_MEMORY).
    #[doc(hidden)]
    fn memory_of(_: &[Self::Value]) -> Option<&[u8]> {
        None
    }

    /// The bytes of values, to write.
    #[doc(hidden)]
    fn memory_of_mut(_: &mut [Self::Value]) -> Option<&mut [u8]> {
        None
    }
}

/// The hidden methods of [`Stored`], for elements that are [`Plain`].
macro_rules! memory {
    () => {
        const HAS_MEMORY: bool = cfg!(target_endian = "little");

        #[cfg(target_endian = "little")]
        fn memory_of(values: &[Self::Value]) -> Option<&[u8]> {
            Some(bytes_of::<Self>(values))
        }

        #[cfg(target_endian = "little")]
        fn memory_of_mut(values: &mut [Self::Value]) -> Option<&mut [u8]> {
            Some(bytes_of_mut::<Self>(values))
        }
    };
}

/// Element types whose values in memory are what Rust expects, so that memory can be borrowed as a slice of values.
///
/// # Safety
/// [`Stored::Value`] has the size of [`Stored::Bytes`] and of the element type's storage, has no padding, and is valid for all bytes. Its
/// bytes in memory are those of [`Stored::to_le_bytes`].
#[diagnostic::on_unimplemented(
    message = "memory with elements of `{Self}` cannot be borrowed as a slice of values",
    note = "not every byte is a valid value; read and write them one by one with `get` and `set`"
)]
pub unsafe trait Plain: Stored {}

/// The bytes of values.
pub(crate) fn bytes_of<E: Plain>(values: &[E::Value]) -> &[u8] {
    let data = values.as_ptr().cast::<u8>();
    // SAFETY: the memory of `values`; values have no padding bytes (`Plain`), so all of it is initialised.
    unsafe { std::slice::from_raw_parts(data, size_of_val(values)) }
}

/// The bytes of values, to write.
pub(crate) fn bytes_of_mut<E: Plain>(values: &mut [E::Value]) -> &mut [u8] {
    let (data, len) = (values.as_mut_ptr().cast::<u8>(), size_of_val(values));
    // SAFETY: the memory of `values`, borrowed mutably; values have no padding bytes, and any bytes are values (`Plain`).
    unsafe { std::slice::from_raw_parts_mut(data, len) }
}

macro_rules! stored {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(stored! { @$($value)* $variant })*
    };
    (@Bool $element:ident) => {
        impl Stored for $element {
            type Value = bool;
            type Bytes = [u8; 1];

            #[inline(always)]
            fn from_le_bytes([byte]: Self::Bytes) -> bool {
                byte != 0
            }

            #[inline(always)]
            fn to_le_bytes(value: bool) -> Self::Bytes {
                [u8::from(value)]
            }
        }
    };
    (@Primitive $value:ident $element:ident) => { stored! { @number $value, $element } };
    (@Half $value:ident $element:ident) => {
        #[cfg(feature = "half")]
        stored! { @number half::$value, $element }
    };
    (@number $value:ty, $element:ident) => {
        impl Stored for $element {
            type Value = $value;
            type Bytes = [u8; size_of::<$value>()];

            #[inline(always)]
            fn from_le_bytes(bytes: Self::Bytes) -> $value {
                <$value>::from_le_bytes(bytes)
            }

            #[inline(always)]
            fn to_le_bytes(value: $value) -> Self::Bytes {
                value.to_le_bytes()
            }

            memory!();
        }

        const _: () = assert!(size_of::<$value>() as u64 == ElementType::$element.storage_bytes());

        // SAFETY: a primitive number without padding, valid for all bits; its size was asserted above. On a little-endian target, its bytes
        // in memory are those of `to_le_bytes`.
        #[cfg(target_endian = "little")]
        unsafe impl Plain for $element {}
    };
    (@Float8 $element:ident) => {
        stored! { @byte $element }

        const _: () = assert!(ElementType::$element.bits() == 8);

        // SAFETY: a `repr(transparent)` byte, valid for all 256 values: all bits of the byte are bits of the type, as asserted above.
        unsafe impl Plain for $element {}
    };
    (@FloatBelow8 $element:ident) => { stored! { @byte $element } };
    (@SmallSigned $element:ident) => { stored! { @byte $element } };
    (@SmallUnsigned $element:ident) => { stored! { @byte $element } };
    (@byte $element:ident) => {
        impl Stored for $element {
            type Value = Self;
            type Bytes = [u8; 1];

            #[inline(always)]
            fn from_le_bytes([bits]: Self::Bytes) -> Self {
                Self::from_bits(bits)
            }

            #[inline(always)]
            fn to_le_bytes(value: Self) -> Self::Bytes {
                [value.to_bits()]
            }
        }
    };
    (@Complex $part:ident $element:ident) => {
        #[cfg(feature = "num-complex")]
        impl Stored for $element {
            type Value = num_complex::Complex<$part>;
            type Bytes = [u8; 2 * size_of::<$part>()];

            #[inline(always)]
            fn from_le_bytes(bytes: Self::Bytes) -> Self::Value {
                let (re, im) = bytes.split_at(size_of::<$part>());
                let part = |half: &[u8]| {
                    let mut bytes = [0; size_of::<$part>()];
                    bytes.copy_from_slice(half);
                    <$part>::from_le_bytes(bytes)
                };
                Self::Value { re: part(re), im: part(im) }
            }

            #[inline(always)]
            fn to_le_bytes(value: Self::Value) -> Self::Bytes {
                let mut bytes = Self::Bytes::default();
                let (re, im) = bytes.split_at_mut(size_of::<$part>());
                re.copy_from_slice(&value.re.to_le_bytes());
                im.copy_from_slice(&value.im.to_le_bytes());
                bytes
            }

            memory!();
        }

        #[cfg(feature = "num-complex")]
        const _: () = assert!(size_of::<num_complex::Complex<$part>>() == 2 * size_of::<$part>());

        // SAFETY: `Complex` is `repr(C)` with the fields `re` and `im`, each valid for all bits; its size was asserted above, so it has no
        // padding.
        #[cfg(all(feature = "num-complex", target_endian = "little"))]
        unsafe impl Plain for $element {}
    };
}

xla_shape_core::element_types!(stored);
