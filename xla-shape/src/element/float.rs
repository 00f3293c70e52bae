//! Floating-point numbers of at most eight bits, and their conversion to and from `f32`.
//!
//! The conversions agree with `ml_dtypes`, which XLA uses, bit for bit. Other crates with these types round some values differently.

use super::Element;
use crate::sealed::Sealed;
use core::cmp::Ordering;
use core::fmt;
use xla_shape_core::{ElementType, FloatFormat, SpecialCodes};

/// The codes of a format with at most eight bits.
#[derive(Clone, Copy)]
struct Codes(FloatFormat);

impl Codes {
    const fn of(element_type: ElementType) -> Self {
        match element_type.float_format() {
            Some(format) => Self(format),
            None => panic!("the element type is not a float"),
        }
    }

    const fn is_nan(self, code: u8) -> bool {
        self.0.is_nan(code as u64)
    }

    const fn decode(self, code: u8) -> f32 {
        if self.0.has_sign { Signed::new(self.0).decode(code) } else { powers_of_two::decode(code) }
    }

    const fn encode(self, value: f32) -> u8 {
        if self.0.has_sign { Signed::new(self.0).encode(value) } else { powers_of_two::encode(value) }
    }
}

/// A format with a sign.
#[derive(Clone, Copy)]
struct Signed {
    format: FloatFormat,
    mantissa_bits: u32,
    bias: i32,
    /// The bit of the sign.
    sign: u8,
    /// The code of the largest finite number.
    max: u8,
}

impl Signed {
    const fn new(format: FloatFormat) -> Self {
        let (sign, max) = (format.sign() as u8, format.largest() as u8);
        Self { format, mantissa_bits: format.mantissa_bits, bias: format.bias.cast_signed(), sign, max }
    }

    /// The code of a number that is too large: infinity, NaN, or the largest finite number.
    const fn overflow(self, sign: u8) -> u8 {
        match (self.format.infinity(), self.format.nan()) {
            (Some(code), _) | (None, Some(code)) => sign | code as u8,
            (None, None) => sign | self.max,
        }
    }

    const fn nan(self, sign: u8) -> u8 {
        match self.format.nan() {
            // If NaN is encoded as minus zero, its code already has the sign bit.
            Some(code) => sign | code as u8,
            // In types without NaN, `ml_dtypes` encodes a positive NaN as minus zero, and a negative NaN as plus zero.
            None => self.sign ^ sign,
        }
    }

    const fn decode(self, code: u8) -> f32 {
        let magnitude = code & (self.sign - 1);
        let value = if self.format.is_nan(code as u64) {
            f32::NAN
        } else if magnitude > self.max {
            f32::INFINITY
        } else {
            let (exponent, mantissa) = (magnitude >> self.mantissa_bits, magnitude & ((1 << self.mantissa_bits) - 1));
            let (exponent, significand) =
                if exponent == 0 { (1, mantissa) } else { (exponent, mantissa | 1 << self.mantissa_bits) };
            // Exact: the significand has few bits, and the power of two is far from the limits of `f32`.
            significand as f32 * power_of_two(exponent as i32 - self.bias - self.mantissa_bits as i32)
        };
        if code & self.sign == 0 { value } else { -value }
    }

    const fn encode(self, value: f32) -> u8 {
        let sign = if value.is_sign_negative() { self.sign } else { 0 };
        if value.is_nan() {
            return self.nan(sign);
        }
        let code = self.magnitude(value);
        if code > self.max as u32 {
            self.overflow(sign)
        } else if code == 0 && matches!(self.format.special, SpecialCodes::MinusZeroIsNan) {
            0
        } else {
            sign | code as u8
        }
    }

    /// The code of a number's magnitude, as if the exponent had no upper limit.
    const fn magnitude(self, value: f32) -> u32 {
        let bits = value.abs().to_bits();
        if bits >> 23 == 0 {
            // Subnormal numbers of `f32` are far below half of the smallest number of these types.
            return 0;
        }
        let exponent = (bits >> 23) as i32 - 127 + self.bias;
        // Subnormal numbers have the exponent 1 and fewer bits.
        let stored = if exponent < 1 { 1 } else { exponent };
        let significand = bits & 0x007F_FFFF | 1 << 23;
        let significand = rounded_shift(significand, 23 - self.mantissa_bits + (stored - exponent) as u32);
        // The significand's leading bit adds one to the exponent; so does a carry from rounding.
        ((stored as u32 - 1) << self.mantissa_bits) + significand
    }
}

/// `value / 2^bits`, rounded to nearest, ties to even; `bits` is at least 1.
const fn rounded_shift(value: u32, bits: u32) -> u32 {
    if bits > 31 {
        return 0;
    }
    let (whole, rest, half) = (value >> bits, value & ((1 << bits) - 1), 1 << (bits - 1));
    whole + (rest > half || (rest == half && whole % 2 == 1)) as u32
}

/// `2^exponent`, which must be a normal number of `f32`.
const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Powers of two without sign and zero: the codes are the exponents of `f32`.
mod powers_of_two {
    const NAN: u8 = 0xFF;

    pub(super) const fn decode(code: u8) -> f32 {
        match code {
            // 2<sup>-127</sup> is a subnormal number of `f32`.
            0 => f32::from_bits(1 << 22),
            NAN => f32::NAN,
            _ => f32::from_bits((code as u32) << 23),
        }
    }

    pub(super) const fn encode(value: f32) -> u8 {
        let (exponent, mantissa) = ((value.to_bits() >> 23) as u8, value.to_bits() & 0x007F_FFFF);
        // Numbers that are not positive, or too large, become NaN.
        if value.is_nan() || value <= 0.0 || exponent == NAN {
            return NAN;
        }
        // The midpoint between two powers is rounded up, and so is everything between the first two powers.
        let up = if exponent == 0 { mantissa > 1 << 22 } else { mantissa >= 1 << 22 };
        exponent + up as u8
    }
}

macro_rules! floats {
    ($($variant:ident $name:ident $number:literal [$($value:tt)*] $literal:tt $description:literal $meaning:literal $cells:tt)*) => {
        $(floats! { @$($value)* $variant $name $meaning })*
    };
    (@Float8 $($row:tt)*) => { floats! { @float $($row)* } };
    (@FloatBelow8 $($row:tt)*) => { floats! { @float $($row)* } };
    (@float $name:ident $text:ident $meaning:literal) => {
        #[doc = concat!("`", stringify!($text), "`", $meaning)]
        ///
        /// Comparisons are those of the numbers: NaN differs from itself, and zeros of different signs are equal.
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            const CODES: Codes = Codes::of(ElementType::$name);

            /// The value with these bits; bits above the type's width are ignored.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(1).to_bits(), 1);")]
            /// ```
            #[must_use]
            #[inline]
            pub const fn from_bits(bits: u8) -> Self {
                let unused = 8 - ElementType::$name.bits();
                Self(bits << unused >> unused)
            }

            /// The bits, in the low end of a byte.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_bits(3).to_bits(), 3);")]
            /// ```
            #[must_use]
            #[inline]
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest value; of two equally near ones, the one with even bits. The results are those of `ml_dtypes`, which XLA uses, too.
            ///
            /// Numbers that are too large become infinity, NaN in a type without infinity, or the largest value in a type without NaN.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert_eq!(", stringify!($name), "::from_f32(2.0).to_f32(), 2.0);")]
            /// ```
            #[must_use]
            #[inline]
            pub const fn from_f32(value: f32) -> Self {
                Self(Self::CODES.encode(value))
            }

            /// The number; every value is exact as an `f32`.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("let four = ", stringify!($name), "::from_f32(4.0);")]
            /// assert_eq!(four.to_f32(), 4.0);
            /// ```
            #[must_use]
            #[inline]
            pub const fn to_f32(self) -> f32 {
                Self::CODES.decode(self.0)
            }

            /// Whether the value is NaN.
            ///
            /// ```
            #[doc = concat!("use xla_shape::element::", stringify!($name), ";")]
            ///
            #[doc = concat!("assert!(!", stringify!($name), "::from_f32(1.0).is_nan());")]
            /// ```
            #[must_use]
            #[inline]
            pub const fn is_nan(self) -> bool {
                Self::CODES.is_nan(self.0)
            }
        }

        impl Sealed for $name {}

        impl Element for $name {
            const TYPE: ElementType = ElementType::$name;
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }

        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }

        impl From<$name> for f32 {
            fn from(value: $name) -> Self {
                value.to_f32()
            }
        }
    };
    // Other element types are in other files.
    (@$($row:tt)*) => {};
}

xla_shape_core::element_types!(floats);
