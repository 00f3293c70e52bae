//! Which element type holds more, and which holds the parts of another.

use crate::element_type::{ElementClass, ElementType};

impl ElementType {
    /// Whether it is a signed or unsigned integer; predicates are not, since they are truth values.
    #[must_use]
    pub const fn is_integral(self) -> bool {
        matches!(self.class(), ElementClass::SignedInteger | ElementClass::UnsignedInteger)
    }

    /// Whether it is a floating-point number; complex numbers are not.
    #[must_use]
    pub const fn is_floating(self) -> bool {
        matches!(self.class(), ElementClass::Float)
    }

    /// Whether it is a complex number.
    #[must_use]
    pub const fn is_complex(self) -> bool {
        matches!(self.class(), ElementClass::Complex)
    }

    /// Whether it is a signed integer or a floating-point number.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self.class(), ElementClass::SignedInteger | ElementClass::Float)
    }

    /// Whether several values fit into a byte, if a layout packs them; not so for `pred`, which is stored in bytes.
    #[must_use]
    pub const fn is_sub_byte_non_pred(self) -> bool {
        self.bits() < 8 && !matches!(self.class(), ElementClass::Predicate)
    }

    /// The type of a complex number's real and imaginary part.
    #[must_use]
    pub const fn complex_component_type(self) -> Option<Self> {
        match self {
            Self::C64 => Some(Self::F32),
            Self::C128 => Some(Self::F64),
            _ => None,
        }
    }

    /// The type of the two that holds more: complex before real, then more range, more precision, more bits, signed before
    /// unsigned. `None` if the two differ and neither comes first, such as `f8e5m2` and `f8e5m2fnuz`.
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

    /// Complex or not, range, precision, bits, signed or not, from the upper bits to the lower ones.
    #[expect(clippy::arithmetic_side_effects, reason = "each number is less than the place that it is shifted to")]
    const fn rank_of_precision(self) -> u64 {
        let component = match self.complex_component_type() {
            Some(component) => component,
            None => self,
        };
        let (range, precision) = match component.range_and_precision() {
            // So that every float comes before every integer.
            Some((range, precision)) => (range + 1, precision),
            None => (0, 0),
        };
        let signed = matches!(component.class(), ElementClass::SignedInteger);
        (self.is_complex() as u64) << 48
            | (range as u64) << 32
            | (precision as u64) << 24
            | component.bits() << 8
            | signed as u64
    }

    /// Of a floating-point type: the exponent of the first power of two that is out of its range, and the significand's
    /// bits with the hidden one.
    const fn range_and_precision(self) -> Option<(u32, u32)> {
        Some(match self {
            Self::F64 => (1024, 53),
            Self::F32 => (128, 24),
            Self::Bf16 => (128, 8),
            Self::F8E8M0Fnu => (128, 1),
            Self::F16 => (16, 11),
            Self::F8E5M2 | Self::F8E5M2Fnuz => (16, 3),
            Self::F8E4M3Fn => (9, 4),
            Self::F8E4M3 | Self::F8E4M3Fnuz => (8, 4),
            Self::F8E4M3B11Fnuz => (5, 4),
            Self::F6E3M2Fn => (5, 3),
            Self::F8E3M4 => (4, 5),
            Self::F6E2M3Fn => (3, 4),
            Self::F4E2M1Fn => (3, 2),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ElementType;

    #[test]
    fn every_floating_type_has_a_range_and_no_other() {
        for &element_type in ElementType::ALL {
            assert_eq!(element_type.range_and_precision().is_some(), element_type.is_floating(), "{element_type}");
        }
    }

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
