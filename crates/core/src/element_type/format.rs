//! Formats of floating-point numbers.

/// How the bits of a floating-point type are used. The sign is the highest bit, then come the exponent and the mantissa.
///
/// ```
/// use xla_shape_core::ElementType;
///
/// let format = ElementType::F8E4M3Fn.float_format().unwrap();
/// assert_eq!((format.exponent_bits, format.mantissa_bits, format.bias), (4, 3, 7));
/// assert_eq!(format.one(), 0b0_0111_000);
/// assert_eq!(format.largest(), 0b0_1111_110, "448");
/// assert_eq!(format.infinity(), None);
/// assert!(format.is_nan(0b1_1111_111));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatFormat {
    /// The bits of the exponent.
    pub exponent_bits: u32,
    /// The bits of the mantissa, without the implicit one.
    pub mantissa_bits: u32,
    /// The exponent's code for 2<sup>0</sup>.
    pub bias: u32,
    /// Which codes are not finite numbers.
    pub special: SpecialCodes,
    /// Whether there is a sign. A format without one (`f8e8m0fnu`) also has no zero and no subnormal numbers: the code 0 is the
    /// smallest power of two.
    pub has_sign: bool,
}

/// The codes of a floating-point format that are not finite numbers.
///
/// ```
/// use xla_shape_core::{ElementType, SpecialCodes};
///
/// assert_eq!(ElementType::Bf16.float_format().unwrap().special, SpecialCodes::Ieee);
/// assert_eq!(ElementType::F4E2M1Fn.float_format().unwrap().special, SpecialCodes::None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpecialCodes {
    /// The codes with the largest exponent: infinity if the mantissa is 0, otherwise NaN, as in IEEE 754.
    Ieee,
    /// The largest code of each sign is NaN: `fn` types of eight bits.
    LargestIsNan,
    /// Minus zero is NaN: `fnuz` types.
    MinusZeroIsNan,
    /// No code: `fn` types of six bits or fewer.
    None,
}

#[expect(clippy::arithmetic_side_effects, reason = "the table of element types has few bits in each part")]
impl FloatFormat {
    /// A format with a sign.
    pub(super) const fn new(exponent_bits: u32, mantissa_bits: u32, bias: u32, special: SpecialCodes) -> Self {
        Self { exponent_bits, mantissa_bits, bias, special, has_sign: true }
    }

    /// Powers of two: the codes are the exponents of `f32`, and the largest code is NaN.
    pub(super) const POWERS_OF_TWO: Self =
        Self { exponent_bits: 8, mantissa_bits: 0, bias: 127, special: SpecialCodes::LargestIsNan, has_sign: false };

    /// The bit of the sign; 0 without a sign.
    #[must_use]
    pub const fn sign(self) -> u64 {
        (self.has_sign as u64) << (self.exponent_bits + self.mantissa_bits)
    }

    /// The bits of a code without its sign.
    #[must_use]
    pub const fn magnitude(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }

    /// The code of 1.
    #[must_use]
    pub const fn one(self) -> u64 {
        (self.bias as u64) << self.mantissa_bits
    }

    /// The code of the largest finite number. Codes of one sign are in the order of their numbers.
    #[must_use]
    pub const fn largest(self) -> u64 {
        let all = self.magnitude();
        match self.special {
            SpecialCodes::Ieee => all - (1 << self.mantissa_bits),
            SpecialCodes::LargestIsNan => all - 1,
            SpecialCodes::MinusZeroIsNan | SpecialCodes::None => all,
        }
    }

    /// The code of infinity, if there is one.
    #[must_use]
    pub const fn infinity(self) -> Option<u64> {
        match self.special {
            SpecialCodes::Ieee => Some(self.largest() + 1),
            _ => None,
        }
    }

    /// The code of a quiet NaN, without a sign where NaN may have either; `None` if there is no NaN.
    #[must_use]
    pub const fn nan(self) -> Option<u64> {
        match self.special {
            // The first bit of the mantissa makes it a quiet NaN.
            SpecialCodes::Ieee => Some((self.largest() + 1) | (1 << (self.mantissa_bits - 1))),
            SpecialCodes::LargestIsNan => Some(self.magnitude()),
            SpecialCodes::MinusZeroIsNan => Some(self.sign()),
            SpecialCodes::None => None,
        }
    }

    /// Whether this is the code of a NaN.
    #[must_use]
    pub const fn is_nan(self, code: u64) -> bool {
        let magnitude = code & self.magnitude();
        match self.special {
            SpecialCodes::Ieee => magnitude > self.largest() + 1,
            SpecialCodes::LargestIsNan => magnitude > self.largest(),
            SpecialCodes::MinusZeroIsNan => code == self.sign(),
            SpecialCodes::None => false,
        }
    }

    /// The bits of the significand, with the implicit one: C++'s `std::numeric_limits<T>::digits`.
    #[must_use]
    pub const fn precision(self) -> u32 {
        self.mantissa_bits + 1
    }

    /// The exponent of the smallest power of two that is too large: C++'s `std::numeric_limits<T>::max_exponent`.
    #[must_use]
    pub const fn max_exponent(self) -> i32 {
        (self.largest() >> self.mantissa_bits) as i32 - self.bias as i32 + 1
    }

    /// The decimal digits that tell all numbers apart: C++'s `std::numeric_limits<T>::max_digits10`.
    #[must_use]
    pub const fn decimal_digits(self) -> u32 {
        // One more than the precision times log10(2), rounded up.
        self.precision() * 30_103 / 100_000 + 2
    }
}

#[cfg(test)]
mod tests {
    use crate::ElementType;

    #[test]
    fn formats_are_those_of_rust() {
        for (element_type, largest, infinity, nan, digits, exponent) in [
            (
                ElementType::F32,
                f32::MAX.to_bits().into(),
                f32::INFINITY.to_bits().into(),
                f32::NAN.to_bits().into(),
                9,
                f32::MAX_EXP,
            ),
            (ElementType::F64, f64::MAX.to_bits(), f64::INFINITY.to_bits(), f64::NAN.to_bits(), 17, f64::MAX_EXP),
        ] {
            let format = element_type.float_format().unwrap();
            assert_eq!((format.largest(), format.infinity(), format.nan()), (largest, Some(infinity), Some(nan)));
            assert_eq!((format.decimal_digits(), format.max_exponent()), (digits, exponent));
            assert!(format.is_nan(nan) && format.is_nan(nan | format.sign()) && !format.is_nan(infinity));
        }
        assert_eq!(ElementType::F32.float_format().unwrap().one(), 1_f32.to_bits().into());
    }

    #[test]
    fn a_format_fills_the_width_of_its_type() {
        for element_type in ElementType::ALL {
            let Some(format) = element_type.float_format() else { continue };
            let width = (format.sign() | format.magnitude()).count_ones();
            assert_eq!(u64::from(width), element_type.bits(), "{element_type}");
        }
    }
}
