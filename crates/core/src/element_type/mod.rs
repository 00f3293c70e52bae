//! The element types of XLA arrays.

mod codes;
pub(crate) mod format;
mod precision;
mod spelling;
mod table;

use core::fmt;
use format::FloatFormat;
use table::{Ieee, LargestIsNan, MinusZeroIsNan, NoSpecialCodes, Numbers, Row};

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
            i += 1;
        }
        return number as u128;
    }
    let mut number = 1;
    while i < bytes.len() && bytes.len() < 16 {
        number = number << 8 | bytes[i] as u128;
        i += 1;
    }
    number
}

macro_rules! element_type {
    ($($variant:ident $name:ident $number:literal $value:tt $literal:tt $description:literal $meaning:literal { $($cells:tt)* })*) => {
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
        pub enum ElementType { $(#[doc = $description] $variant,)* }

        /// The cells of each type, in the order of the variants.
        const ROWS: &[Row] = &[$(Row { $($cells)* }),*];

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
                match self { $(Self::$variant => stringify!($name),)* }
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
                match self { $(Self::$variant => $description,)* }
            }

            /// The number of the enumerator in XLA's schema (`PrimitiveType` in `xla/xla_data.proto`), and in XLA's FFI
            /// (`XLA_FFI_DataType`).
            ///
            /// ```
            /// use xla_shape_core::ElementType;
            ///
            /// assert_eq!(ElementType::F32.proto_number(), 11);
            /// ```
            #[must_use]
            pub const fn proto_number(self) -> i32 {
                match self { $(Self::$variant => $number,)* }
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
                    $(number if number == const { packed(stringify!($name)) } => Some(Self::$variant),)*
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
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

crate::element_types!(element_type);

impl ElementType {
    #[expect(clippy::indexing_slicing, reason = "there is a row for each variant")]
    const fn row(self) -> &'static Row {
        &ROWS[self as usize]
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
        self.row().schema
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
        self.row().bits
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
        match self.row().numbers {
            Numbers::Predicate => ElementClass::Predicate,
            Numbers::SignedInteger => ElementClass::SignedInteger,
            Numbers::UnsignedInteger => ElementClass::UnsignedInteger,
            Numbers::Float(_) => ElementClass::Float,
            Numbers::Complex(_) => ElementClass::Complex,
        }
    }

    /// How a floating-point type uses its bits; `None` for other types.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::Bf16.float_format().unwrap().mantissa_bits, 7);
    /// assert_eq!(ElementType::C64.float_format(), None);
    /// ```
    #[must_use]
    pub const fn float_format(self) -> Option<FloatFormat> {
        match self.row().numbers {
            Numbers::Float(format) => Some(format),
            _ => None,
        }
    }

    /// The type of the real and the imaginary part of a complex type; `None` for other types. XLA's
    /// `primitive_util::ComplexComponentType`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::C128.complex_component_type(), Some(ElementType::F64));
    /// assert_eq!(ElementType::F64.complex_component_type(), None);
    /// ```
    #[must_use]
    pub const fn complex_component_type(self) -> Option<Self> {
        match self.row().numbers {
            Numbers::Complex(component) => Some(component),
            _ => None,
        }
    }

    /// The complex type whose parts have this type; `None` if there is none. XLA's `primitive_util::ComplexType`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!(ElementType::F64.complex_type(), Some(ElementType::C128));
    /// assert_eq!(ElementType::Bf16.complex_type(), None);
    /// ```
    #[must_use]
    pub const fn complex_type(self) -> Option<Self> {
        let mut rest = Self::ALL;
        while let [first, others @ ..] = rest {
            if let Some(component) = first.complex_component_type()
                && Self::same(component, self)
            {
                return Some(*first);
            }
            rest = others;
        }
        None
    }
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

    /// The bits that one element takes by default: 8 times [`storage_bytes`](Self::storage_bytes). A layout's `E(n)`
    /// overrides it.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert_eq!((ElementType::S4.storage_bits(), ElementType::S4.bits()), (8, 4));
    /// ```
    #[must_use]
    #[expect(clippy::arithmetic_side_effects, reason = "at most 16 bytes")]
    pub const fn storage_bits(self) -> u64 {
        8 * self.storage_bytes()
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
