//! Integers of less than eight bits.

use super::Element;
use crate::sealed::Sealed;
use core::fmt;
use xla_shape_core::ElementType;

macro_rules! small {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(small! { @$($value)* $variant $name $meaning })*
    };
    (@SmallUnsigned $name:ident $text:ident $meaning:literal) => {
        #[doc = concat!("`", stringify!($text), "`", $meaning)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(u8);

        impl $name {
            /// The largest value.
            pub const MAX: Self = Self((1 << ElementType::$name.bits()) - 1);

            /// The number, if it is at most [`MAX`](Self::MAX).
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::new(1).map(", stringify!($name), "::get), Some(1));")]
            #[doc = concat!("assert!(", stringify!($name), "::new(16).is_none());")]
            /// ```
            #[must_use]
            pub const fn new(value: u8) -> Option<Self> {
                if value <= Self::MAX.0 { Some(Self(value)) } else { None }
            }

            /// The value with these bits; higher bits are ignored.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(1).get(), 1);")]
            /// ```
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits & Self::MAX.0)
            }

            /// The bits, in the low end of a byte.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::MAX.to_bits(), ", stringify!($name), "::MAX.get());")]
            /// ```
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The number.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(1).get(), 1);")]
            /// ```
            #[must_use]
            pub const fn get(self) -> u8 {
                self.0
            }
        }

        impl Sealed for $name {}

        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for u8 {
            fn from(value: $name) -> Self {
                value.get()
            }
        }
    };
    (@SmallSigned $name:ident $text:ident $meaning:literal) => {
        #[doc = concat!("`", stringify!($text), "`", $meaning)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name(i8);

        impl $name {
            /// The smallest value.
            pub const MIN: Self = Self(-(1 << (ElementType::$name.bits() - 1)));
            /// The largest value.
            pub const MAX: Self = Self((1 << (ElementType::$name.bits() - 1)) - 1);

            /// The number, if it is between [`MIN`](Self::MIN) and [`MAX`](Self::MAX).
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::new(-1).map(", stringify!($name), "::get), Some(-1));")]
            #[doc = concat!("assert!(", stringify!($name), "::new(8).is_none());")]
            /// ```
            #[must_use]
            pub const fn new(value: i8) -> Option<Self> {
                if value >= Self::MIN.0 && value <= Self::MAX.0 { Some(Self(value)) } else { None }
            }

            /// The value with these bits, in two's complement; higher bits are ignored.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(0xff).get(), -1);")]
            /// ```
            #[must_use]
            pub const fn from_bits(bits: u8) -> Self {
                let unused = 8 - ElementType::$name.bits();
                Self((bits << unused).cast_signed() >> unused)
            }

            /// The bits, in two's complement, in the low end of a byte.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(", stringify!($name), "::MIN.to_bits()), ", stringify!($name), "::MIN);")]
            /// ```
            #[must_use]
            pub const fn to_bits(self) -> u8 {
                let unused = 8 - ElementType::$name.bits();
                self.0.cast_unsigned() << unused >> unused
            }

            /// The number.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(0).get(), 0);")]
            /// ```
            #[must_use]
            pub const fn get(self) -> i8 {
                self.0
            }
        }

        impl Sealed for $name {}

        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for i8 {
            fn from(value: $name) -> Self {
                value.get()
            }
        }
    };
    // Other element types are in other files.
    (@$($row:tt)*) => {};
}

xla_shape_core::element_types!(small);

#[cfg(test)]
mod tests {
    use super::{S1, S4, U2};

    #[test]
    fn bits_and_numbers() {
        assert_eq!(S4::from_bits(0x2F).get(), -1);
        assert_eq!(S4::new(-8).map(S4::to_bits), Some(8));
        assert_eq!((S4::new(8), S4::new(-9), S1::new(1)), (None, None, None));
        assert_eq!((S1::from_bits(1).get(), S1::MAX.get()), (-1, 0));
        assert_eq!((U2::new(3), U2::new(4), U2::from_bits(7)), (Some(U2::MAX), None, U2::MAX));
    }
}
