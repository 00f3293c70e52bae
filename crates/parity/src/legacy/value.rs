//! The value in the padding.

use super::LegacyError;
use xla_shape_core::{ElementClass, ElementType};

/// The value in the padding of an array in a layout of 2017.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PaddingValue {
    /// 0.
    Zero,
    /// 1.
    One,
    /// The lowest value of the element type: -∞ where there is one.
    Lowest,
    /// The highest value of the element type: ∞ where there is one.
    Highest,
}

impl PaddingValue {
    /// Every padding value, in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Zero, Self::One, Self::Lowest, Self::Highest];

    /// The name in text, such as `lowest`.
    ///
    /// ```
    /// use xla_shape_parity::legacy::PaddingValue;
    ///
    /// assert_eq!(PaddingValue::Lowest.name(), "lowest");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::One => "one",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
        }
    }

    /// The padding value with this name.
    ///
    /// ```
    /// use xla_shape_parity::legacy::PaddingValue;
    ///
    /// assert_eq!(PaddingValue::from_name("lowest"), Some(PaddingValue::Lowest));
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|value| value.name() == name)
    }

    /// The number in the schema of 2017 (`PaddingValue` in `xla_data.proto`); 0 for `None`, which means that the value
    /// is unspecified.
    ///
    /// ```
    /// use xla_shape_parity::legacy::PaddingValue;
    ///
    /// assert_eq!(PaddingValue::proto_number(Some(PaddingValue::Lowest)), 3);
    /// ```
    #[must_use]
    pub const fn proto_number(value: Option<Self>) -> i32 {
        match value {
            None => 0,
            Some(Self::Zero) => 1,
            Some(Self::One) => 2,
            Some(Self::Lowest) => 3,
            Some(Self::Highest) => 4,
        }
    }

    /// The padding value with this number in the schema of 2017. `None`, an unspecified value, for 0 (`INVALID_PAD`)
    /// and 5 (`UNKNOWN_PAD`).
    ///
    /// ```
    /// use xla_shape_parity::legacy::PaddingValue;
    ///
    /// assert_eq!(PaddingValue::from_proto_number(3), Ok(Some(PaddingValue::Lowest)));
    /// assert_eq!(PaddingValue::from_proto_number(5), Ok(None));
    /// assert!(PaddingValue::from_proto_number(6).is_err());
    /// ```
    ///
    /// # Errors
    /// If the schema has no such number.
    pub fn from_proto_number(number: i32) -> Result<Option<Self>, LegacyError> {
        const UNKNOWN: i32 = 5;
        let value = Self::ALL.into_iter().find(|&value| Self::proto_number(Some(value)) == number);
        match (value, number) {
            (None, 0 | UNKNOWN) => Ok(None),
            (None, number) => Err(LegacyError::UnknownPaddingValue { number }),
            (value, _) => Ok(value),
        }
    }

    /// The bits of an element with this value, right-aligned; `None` if the element type has no such value: `f8e8m0fnu`
    /// has no 0, `s1` has no 1, and complex numbers have no lowest or highest.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_parity::legacy::PaddingValue;
    ///
    /// assert_eq!(PaddingValue::One.bits(ElementType::Bf16), Some(0x3f80));
    /// assert_eq!(PaddingValue::Lowest.bits(ElementType::S4), Some(0b1000));
    /// assert_eq!(PaddingValue::Lowest.bits(ElementType::C64), None);
    /// ```
    #[must_use]
    pub const fn bits(self, element_type: ElementType) -> Option<u128> {
        let bits = element_type.bits();
        let all = u128::MAX >> 128_u64.saturating_sub(bits);
        let (zero, one, lowest, highest) = match element_type.class() {
            ElementClass::Predicate | ElementClass::UnsignedInteger => (Some(0), Some(1), Some(0), Some(all)),
            ElementClass::SignedInteger => {
                let highest = all >> 1;
                (Some(0), if bits > 1 { Some(1) } else { None }, Some(all ^ highest), Some(highest))
            }
            ElementClass::Float => match element_type.float_format() {
                Some(format) => {
                    let highest = match format.infinity() {
                        Some(infinity) => infinity,
                        None => format.largest(),
                    };
                    let zero = if format.has_sign { Some(0) } else { None };
                    let lowest = if format.has_sign { highest | format.sign() } else { 0 };
                    (zero, Some(format.one() as u128), Some(lowest as u128), Some(highest as u128))
                }
                None => return None,
            },
            ElementClass::Complex => match element_type.complex_component_type() {
                // The real part comes first, in the lower bits.
                Some(component) => (Some(0), Self::One.bits(component), None, None),
                None => return None,
            },
        };
        match self {
            Self::Zero => zero,
            Self::One => one,
            Self::Lowest => lowest,
            Self::Highest => highest,
        }
    }
}
