//! Classes of element types, their component types, and which of two types is more precise. The rules are XLA's
//! (`xla/primitive_util.h`, `xla/shape_util.h`).

use crate::element_type::{ElementClass, ElementType};

impl ElementType {
    /// Whether the type is a signed or unsigned integer. `pred` is not: it is a truth value. XLA's `ElementIsIntegral`
    /// and `primitive_util::IsIntegralType`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert!(ElementType::U8.is_integral() && !ElementType::Pred.is_integral());
    /// ```
    #[must_use]
    pub const fn is_integral(self) -> bool {
        matches!(self.class(), ElementClass::SignedInteger | ElementClass::UnsignedInteger)
    }

    /// Whether the type is a floating-point number. Complex numbers are not.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert!(ElementType::Bf16.is_floating() && !ElementType::C64.is_floating());
    /// ```
    #[must_use]
    pub const fn is_floating(self) -> bool {
        matches!(self.class(), ElementClass::Float)
    }

    /// Whether the type is a complex number.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert!(ElementType::C64.is_complex());
    /// ```
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), ElementClass::Complex)
    }

    /// Whether the type is a signed integer or a floating-point number. Complex numbers are not. XLA's
    /// `ElementIsSigned`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// assert!(ElementType::S8.is_signed() && !ElementType::U8.is_signed());
    /// ```
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), ElementClass::SignedInteger | ElementClass::Float)
    }

    /// Whether a layout can pack several values into a byte: the type has less than 8 bits and is not `pred`, which
    /// always takes a byte. XLA's `primitive_util::IsSubByteNonPredType`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    ///
    /// let packable = [ElementType::S4, ElementType::S8, ElementType::Pred].map(ElementType::is_sub_byte_non_pred);
    /// assert_eq!(packable, [true, false, false]);
    /// ```
    #[must_use]
    pub const fn is_sub_byte_non_pred(self) -> bool {
        self.bits() < 8 && !matches!(self.class(), ElementClass::Predicate)
    }

    /// The more precise of two types, as XLA's `primitive_util::HigherPrecisionType` decides: complex before real, then
    /// the larger exponent range, the more significand bits, the more bits, and signed before unsigned. `None` if the
    /// types differ but tie in all of these, such as `f8e5m2` and `f8e5m2fnuz`.
    ///
    /// ```
    /// use xla_shape_core::ElementType::{Bf16, F16, F32, S32, U32};
    ///
    /// assert_eq!(Bf16.higher_precision_type(F32), Some(F32));
    /// assert_eq!(Bf16.higher_precision_type(F16), Some(Bf16)); // more range
    /// assert_eq!(U32.higher_precision_type(S32), Some(S32));
    /// ```
    #[must_use]
    pub const fn higher_precision_type(self, other: Self) -> Option<Self> {
        let (a, b) = (self.rank_of_precision(), other.rank_of_precision());
        if a > b {
            Some(self)
        } else if a < b {
            Some(other)
        } else if Self::same(self, other) {
            Some(self)
        } else {
            None
        }
    }

    /// The key by which types are compared. From the upper bits to the lower ones: complex or not, range, precision,
    /// bits, signed or not.
    #[expect(clippy::arithmetic_side_effects, reason = "each number is less than the place that it is shifted to")]
    const fn rank_of_precision(self) -> u64 {
        let component = match self.complex_component_type() {
            Some(component) => component,
            None => self,
        };
        let (range, precision) = match component.float_format() {
            // Plus 1, so that every float is more precise than every integer.
            Some(format) => (format.max_exponent() + 1, format.precision()),
            None => (0, 0),
        };
        let signed = matches!(component.class(), ElementClass::SignedInteger);
        (self.is_complex() as u64) << 48
            | (range as u64) << 32
            | (precision as u64) << 24
            | component.bits() << 8
            | signed as u64
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn the_higher_of_two_does_not_depend_on_their_order() {
        for &a in ElementType::ALL {
            assert_eq!(a.higher_precision_type(a), Some(a));
            for &b in ElementType::ALL {
                assert_eq!(a.higher_precision_type(b), b.higher_precision_type(a));
            }
        }
    }

    #[test]
    fn complex_comes_before_real() {
        assert_eq!(ElementType::C64.higher_precision_type(ElementType::F64), Some(ElementType::C64));
        assert_eq!(ElementType::C64.higher_precision_type(ElementType::C128), Some(ElementType::C128));
        assert_eq!(ElementType::F8E5M2.higher_precision_type(ElementType::F8E5M2Fnuz), None);
    }
}
