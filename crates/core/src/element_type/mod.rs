//! The element types of XLA arrays.

mod precision;
mod spelling;

use core::fmt;

/// The class of an element type: the kind of numbers that it holds.
///
/// ```
/// use xla_shape_core::{ElementClass, ElementType};
///
/// assert_eq!(ElementType::Bf16.class(), ElementClass::Float);
/// assert_eq!(ElementType::U4.class(), ElementClass::UnsignedInteger);
/// assert_eq!(ElementType::Pred.class(), ElementClass::Predicate);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ElementClass {
    /// `pred`: a truth value.
    Predicate,
    /// `s1` … `s64`: a two's complement integer.
    SignedInteger,
    /// `u1` … `u64`: an unsigned integer.
    UnsignedInteger,
    /// `f4e2m1fn` … `f64`, `bf16`: a floating-point number.
    Float,
    /// `c64`, `c128`: two floating-point numbers.
    Complex,
}

/// A short text as a number: a 1 followed by its bytes. A text too long to be a name gives a number that no name has.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn packed(text: &str) -> u128 {
    let bytes = text.as_bytes();
    let mut i = 0;
    // Nearly all names fit into a `u64`.
    if bytes.len() < 8 {
        let mut number = 1_u64;
        while i < bytes.len() {
            number = number << 8 | bytes[i] as u64;
            i = i.saturating_add(1);
        }
        return number as u128;
    }
    let mut number = 1;
    while i < bytes.len() && bytes.len() < 16 {
        number = number << 8 | bytes[i] as u128;
        i = i.saturating_add(1);
    }
    number
}

macro_rules! element_types {
    ($($variant:ident $text:literal $enum_name:literal $proto:literal $bits:literal $class:ident $doc:literal;)*) => {
        /// The type of an array's elements: XLA's `PrimitiveType` (`xla/xla_data.proto`) without tuples, tokens and
        /// opaque types.
        ///
        /// Tuples, tokens, opaque values and buffers are kinds of [`Shape`](crate::Shape), not element types.
        ///
        /// ```
        /// use xla_shape_core::ElementType;
        ///
        /// let s4 = ElementType::from_name("s4").unwrap();
        /// assert_eq!((s4.bits(), s4.storage_bytes()), (4, 1));
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[non_exhaustive]
        pub enum ElementType { $(#[doc = $doc] $variant,)* }

        impl ElementType {
            /// Every element type, in the order of the table in XLA's documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The name of the variant, such as `Bf16`; the types of `xla_shape::element` have the same names.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::Bf16.variant_name(), "Bf16");
            /// ```
            #[must_use]
            pub const fn variant_name(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)* }
            }

            /// The name in shape text, such as `bf16`.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::F8E4M3Fn.name(), "f8e4m3fn");
            /// ```
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }

            /// The name of the enumerator in XLA's schema, such as `BF16`.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::F8E4M3Fn.enum_name(), "F8E4M3FN");
            /// ```
            #[must_use]
            pub const fn enum_name(self) -> &'static str {
                match self { $(Self::$variant => $enum_name,)* }
            }

            /// A short description for people, such as `Signed integer of 4 bits.`
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::S4.description(), "Signed integer of 4 bits.");
            /// ```
            #[must_use]
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// The number of the enumerator in XLA's schema (`PrimitiveType` in `xla/xla_data.proto`).
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::F32.proto_number(), 11);
            /// ```
            #[must_use]
            pub const fn proto_number(self) -> i32 {
                match self { $(Self::$variant => $proto,)* }
            }

            /// The width of one value, in bits; 1 for `pred`.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// let bits = [ElementType::Pred, ElementType::S4, ElementType::C64].map(ElementType::bits);
            /// assert_eq!(bits, [1, 4, 64]);
            /// ```
            #[must_use]
            pub const fn bits(self) -> u64 {
                match self { $(Self::$variant => $bits,)* }
            }

            /// The class: predicate, signed or unsigned integer, float or complex.
            ///
            /// ```
            /// use xla_shape_core::{ElementClass, ElementType};
            ///
            /// assert_eq!(ElementType::Bf16.class(), ElementClass::Float);
            /// ```
            #[must_use]
            pub const fn class(self) -> ElementClass {
                match self { $(Self::$variant => ElementClass::$class,)* }
            }

            /// The element type with this [`name`](Self::name); names are written in lower case.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::from_name("bf16"), Some(ElementType::Bf16));
            /// assert_eq!(ElementType::from_name("BF16"), None);
            /// ```
            #[must_use]
            #[inline]
            pub const fn from_name(name: &str) -> Option<Self> {
                // One comparison of numbers instead of one of texts for each element type.
                match packed(name) {
                    $(number if number == const { packed($text) } => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The element type with this number in XLA's schema.
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::from_proto_number(16), Some(ElementType::Bf16));
            /// assert_eq!(ElementType::from_proto_number(13), None); // a tuple
            /// ```
            #[must_use]
            pub const fn from_proto_number(number: i32) -> Option<Self> {
                match number { $($proto => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

/// Asserts at compile time that a condition holds for every element type, so that a table that lacks one does not
/// compile.
///
/// ```
/// use xla_shape_core::ElementType;
///
/// const fn bytes(element_type: ElementType) -> Option<u64> {
///     match element_type {
///         ElementType::Pred => Some(1),
///         other => Some(other.bits().div_ceil(8)),
///     }
/// }
/// xla_shape_core::assert_every_element_type!(element_type => bytes(element_type).is_some());
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! assert_every_element_type {
    ($element_type:ident => $holds:expr) => {
        const _: () = {
            let mut rest = $crate::ElementType::ALL;
            while let [first, after @ ..] = rest {
                let $element_type = *first;
                assert!($holds, "the table has no row for an element type");
                rest = after;
            }
        };
    };
}

element_types! {
    Pred "pred" "PRED" 1 1 Predicate "A truth value, stored in a byte.";
    S1 "s1" "S1" 30 1 SignedInteger "Signed integer of 1 bit.";
    S2 "s2" "S2" 26 2 SignedInteger "Signed integer of 2 bits.";
    S4 "s4" "S4" 21 4 SignedInteger "Signed integer of 4 bits.";
    S8 "s8" "S8" 2 8 SignedInteger "Signed integer of 8 bits.";
    S16 "s16" "S16" 3 16 SignedInteger "Signed integer of 16 bits.";
    S32 "s32" "S32" 4 32 SignedInteger "Signed integer of 32 bits.";
    S64 "s64" "S64" 5 64 SignedInteger "Signed integer of 64 bits.";
    U1 "u1" "U1" 31 1 UnsignedInteger "Unsigned integer of 1 bit.";
    U2 "u2" "U2" 27 2 UnsignedInteger "Unsigned integer of 2 bits.";
    U4 "u4" "U4" 22 4 UnsignedInteger "Unsigned integer of 4 bits.";
    U8 "u8" "U8" 6 8 UnsignedInteger "Unsigned integer of 8 bits.";
    U16 "u16" "U16" 7 16 UnsignedInteger "Unsigned integer of 16 bits.";
    U32 "u32" "U32" 8 32 UnsignedInteger "Unsigned integer of 32 bits.";
    U64 "u64" "U64" 9 64 UnsignedInteger "Unsigned integer of 64 bits.";
    F16 "f16" "F16" 10 16 Float "IEEE 754 half precision.";
    Bf16 "bf16" "BF16" 16 16 Float "bfloat16: the upper half of an `f32`.";
    F32 "f32" "F32" 11 32 Float "IEEE 754 single precision.";
    F64 "f64" "F64" 12 64 Float "IEEE 754 double precision.";
    F8E5M2 "f8e5m2" "F8E5M2" 19 8 Float "8-bit float, 5 exponent and 2 mantissa bits, IEEE-like.";
    F8E4M3 "f8e4m3" "F8E4M3" 28 8 Float "8-bit float, 4 exponent and 3 mantissa bits, IEEE-like.";
    F8E4M3Fn "f8e4m3fn" "F8E4M3FN" 20 8 Float "8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only.";
    F8E4M3B11Fnuz "f8e4m3b11fnuz" "F8E4M3B11FNUZ" 23 8 Float "8-bit float, 4 exponent and 3 mantissa bits, bias 11, finite and NaN only, unsigned zero.";
    F8E3M4 "f8e3m4" "F8E3M4" 29 8 Float "8-bit float, 3 exponent and 4 mantissa bits, IEEE-like.";
    F8E5M2Fnuz "f8e5m2fnuz" "F8E5M2FNUZ" 24 8 Float "8-bit float, 5 exponent and 2 mantissa bits, finite and NaN only, unsigned zero.";
    F8E4M3Fnuz "f8e4m3fnuz" "F8E4M3FNUZ" 25 8 Float "8-bit float, 4 exponent and 3 mantissa bits, finite and NaN only, unsigned zero.";
    F8E8M0Fnu "f8e8m0fnu" "F8E8M0FNU" 33 8 Float "8-bit power of two: exponent only, no sign.";
    F6E3M2Fn "f6e3m2fn" "F6E3M2FN" 35 6 Float "6-bit float, 3 exponent and 2 mantissa bits, finite only.";
    F6E2M3Fn "f6e2m3fn" "F6E2M3FN" 36 6 Float "6-bit float, 2 exponent and 3 mantissa bits, finite only.";
    F4E2M1Fn "f4e2m1fn" "F4E2M1FN" 32 4 Float "4-bit float, 2 exponent bits and 1 mantissa bit, finite only.";
    C64 "c64" "C64" 15 64 Complex "Complex number of two `f32`.";
    C128 "c128" "C128" 18 128 Complex "Complex number of two `f64`.";
}

impl ElementType {
    /// The bytes that one element takes by default: its bits rounded up to whole bytes. XLA's `ByteSizeOfPrimitiveType`
    /// (`xla/shape_util.cc`). A layout's `E(n)` overrides it.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::S4.storage_bytes(), ElementType::F32.storage_bytes()), (1, 4));
    /// ```
    #[must_use]
    pub const fn storage_bytes(self) -> u64 {
        self.bits().div_ceil(8)
    }

    /// Whether its [`enum_name`](Self::enum_name) is one of these.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_named_in(self, mut names: &[&str]) -> bool {
        while let [first, rest @ ..] = names {
            if packed(first) == packed(self.enum_name()) {
                return true;
            }
            names = rest;
        }
        false
    }

    /// Whether a table has a row for this element type.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_in<T>(self, mut table: &[(T, Self)]) -> bool {
        while let [(_, first), rest @ ..] = table {
            if Self::same(self, *first) {
                return true;
            }
            table = rest;
        }
        false
    }

    /// The bits that one element takes by default: 8 times [`storage_bytes`](Self::storage_bytes). A layout's `E(n)`
    /// overrides it.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::S4.storage_bits(), ElementType::S4.bits()), (8, 4));
    /// ```
    #[must_use]
    pub const fn storage_bits(self) -> u64 {
        self.storage_bytes().saturating_mul(8)
    }

    /// Whether `a` and `b` are the same type; usable in a `const`, where `==` is not.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// const SAME: bool = ElementType::same(ElementType::F32, ElementType::Bf16);
    /// assert!(!SAME);
    /// ```
    #[must_use]
    pub const fn same(a: Self, b: Self) -> bool {
        a as u8 == b as u8
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
