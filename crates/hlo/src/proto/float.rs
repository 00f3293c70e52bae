//! Floating-point numbers as XLA prints and reads them (`RoundTripFpToString` in `xla/util.cc`).

use alloc::format;
use alloc::string::String;
use xla_shape_core::{ElementType, FloatFormat, SpecialCodes};

/// The format of a float of at most 16 bits.
fn format_of(element_type: ElementType) -> Option<FloatFormat> {
    element_type.float_format().filter(|_| element_type.bits() <= 16)
}

/// Prints a float of at most 16 bits as XLA does.
pub(crate) fn small(element_type: ElementType, bits: u64) -> Option<String> {
    let format = format_of(element_type)?;
    let is_negative = bits & format.sign() != 0;
    let sign = if is_negative { "-" } else { "" };
    let magnitude = bits & format.magnitude();
    if format.is_nan(bits) {
        let payload = match format.infinity().zip(format.nan()) {
            Some((infinity, quiet)) if magnitude != quiet => format!("(0x{:x})", magnitude.saturating_sub(infinity)),
            _ => String::new(),
        };
        return Some(format!("{sign}nan{payload}"));
    }
    if Some(magnitude) == format.infinity() {
        return Some(format!("{sign}inf"));
    }
    let value = number(format, magnitude);
    Some(general(if is_negative { -value } else { value }, usize::try_from(format.decimal_digits()).unwrap_or(0)))
}

/// Rounds a number to a float of at most 16 bits, to nearest, ties to even.
#[expect(clippy::arithmetic_side_effects, reason = "codes have at most 16 bits")]
pub(crate) fn encode(element_type: ElementType, value: f64) -> u64 {
    let Some(format) = format_of(element_type) else { return 0 };
    let sign = if value.is_sign_negative() { format.sign() } else { 0 };
    if value.is_nan() {
        return match format.nan() {
            // In formats without a negative zero, its code is the only NaN.
            Some(nan) => nan | sign,
            // `ml_dtypes` encodes NaN as minus zero in types without NaN, and inverts the sign.
            None => format.sign() ^ sign,
        };
    }
    // Positive codes are in the order of their numbers, so binary search finds the nearest.
    let largest = format.largest();
    let wanted = value.abs();
    let (mut low, mut high) = (0_u64, largest);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if number(format, middle) <= wanted { low = middle } else { high = middle.saturating_sub(1) }
    }
    if low == largest {
        let (last, before) = (number(format, largest), number(format, largest.saturating_sub(1)));
        let middle = if format.has_sign { last + (last - before) / 2.0 } else { last * 1.5 };
        let is_rounded_up = largest & 1 == 1 || !format.has_sign;
        // `ml_dtypes` encodes what is too large as infinity, NaN in a format without infinity, or the largest number.
        let overflow = format.infinity().or_else(|| format.nan());
        let overflow = overflow.filter(|_| wanted > middle || (wanted == middle && is_rounded_up));
        return sign | overflow.unwrap_or(largest);
    }
    let (below, above) = (wanted - number(format, low), number(format, low + 1) - wanted);
    let up = above < below || (above == below && low & 1 == 1);
    let code = if up { low + 1 } else { low };
    if code == 0 && format.special == SpecialCodes::MinusZeroIsNan { 0 } else { sign | code }
}

/// The number with this code, without the sign bit.
fn number(format: FloatFormat, code: u64) -> f64 {
    let exponent = code >> format.mantissa_bits;
    let is_normal = exponent > 0 || !format.has_sign;
    let ones = (1_u64 << format.mantissa_bits).wrapping_sub(1);
    let significand = (code & ones) | if is_normal { 1_u64 << format.mantissa_bits } else { 0 };
    let power = i32::try_from(if is_normal { exponent } else { 1 }).unwrap_or(0);
    let power = power.saturating_sub_unsigned(format.bias).saturating_sub_unsigned(format.mantissa_bits);
    let mut value = significand as f64;
    // Exact, since the factors are powers of two.
    for _ in 0..power.unsigned_abs() {
        value = if power < 0 { value / 2.0 } else { value * 2.0 };
    }
    value
}

/// Prints an f32 as XLA does: with six digits, or with nine if six do not round-trip.
pub(crate) fn single(value: f32) -> String {
    if value.is_nan() {
        return nan(value.is_sign_negative(), u64::from(value.to_bits() & 0x7f_ffff), 0x40_0000);
    }
    let short = general(value.into(), 6);
    if short.parse() == Ok(value) { short } else { general(value.into(), 9) }
}

/// Prints an f64 as XLA does: with fifteen digits, or with seventeen if fifteen do not round-trip.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return nan(value.is_sign_negative(), value.to_bits() & 0xf_ffff_ffff_ffff, 0x8_0000_0000_0000);
    }
    let short = general(value, 15);
    if short.parse() == Ok(value) { short } else { general(value, 17) }
}

fn nan(is_negative: bool, payload: u64, quiet: u64) -> String {
    let sign = if is_negative { "-" } else { "" };
    if payload == quiet { format!("{sign}nan") } else { format!("{sign}nan(0x{payload:x})") }
}

/// Prints a number like C's `%.*g`.
pub(crate) fn general(value: f64, digits: usize) -> String {
    if value.is_infinite() {
        return String::from(if value < 0.0 { "-inf" } else { "inf" });
    }
    if value == 0.0 {
        return String::from(if value.is_sign_negative() { "-0" } else { "0" });
    }
    let scientific = format!("{value:.*e}", digits.saturating_sub(1));
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text };
        String::from(text)
    };
    let most = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= most {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs());
    }
    let decimals = usize::try_from(most.saturating_sub(1).saturating_sub(exponent)).unwrap_or(0);
    trimmed(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::{double, encode, general, single, small};
    use xla_shape_core::ElementType;

    #[test]
    fn numbers_as_xla_prints_them() {
        for (value, text) in [
            (1e10, "1e+10"),
            (123_456_790.0, "123456792"),
            (3.402_823_5e38, "3.40282347e+38"),
            (1e-5, "1e-05"),
            (100_000.0, "100000"),
            (0.1, "0.1"),
            (-6.5, "-6.5"),
            (f32::from_bits(71_362), "9.99995e-41"),
            (f32::from_bits(0x7f80_1234), "nan(0x1234)"),
            (f32::from_bits(0xffc0_0000), "-nan"),
        ] {
            assert_eq!(single(value), text);
        }
        assert_eq!(double(12_345_678.9), "12345678.9");
        assert_eq!(double(0.1 + 0.2), "0.30000000000000004");
        assert_eq!((general(0.000_1, 6).as_str(), general(-0.0, 6).as_str()), ("0.0001", "-0"));
        for (element_type, bits, text) in [
            (ElementType::Bf16, 0x3dcd, "0.1001"),
            (ElementType::F16, 0x2e66, "0.099976"),
            (ElementType::F16, 0x0001, "5.9605e-08"),
            (ElementType::F8E4M3Fn, 0x7e, "448"),
            (ElementType::F8E4M3Fn, 0x01, "0.00195"),
            (ElementType::F8E5M2, 0x7b, "5.7e+04"),
            (ElementType::F8E4M3B11Fnuz, 0x80, "-nan"),
            (ElementType::F8E8M0Fnu, 0x7c, "0.12"),
            (ElementType::F4E2M1Fn, 0x0b, "-1.5"),
        ] {
            assert_eq!(small(element_type, bits).as_deref(), Some(text), "{element_type} {bits:x}");
        }
    }

    /// What XLA reads (jaxlib 0.12).
    #[test]
    fn words_and_numbers_at_the_ends_as_xla_reads_them() {
        let (inf, nan) = (f64::INFINITY, f64::NAN);
        for (element_type, value, text) in [
            (ElementType::F8E4M3Fn, inf, "nan"),
            (ElementType::F8E4M3Fn, -inf, "-nan"),
            (ElementType::F8E4M3Fn, 464.0, "448"),
            (ElementType::F8E5M2Fnuz, inf, "-nan"),
            (ElementType::F8E5M2Fnuz, nan, "-nan"),
            (ElementType::F8E5M2Fnuz, 61_439.0, "5.7e+04"),
            (ElementType::F8E8M0Fnu, -inf, "nan"),
            (ElementType::F8E8M0Fnu, 2.55e38, "1.7e+38"),
            (ElementType::F4E2M1Fn, inf, "6"),
            (ElementType::F4E2M1Fn, nan, "-0"),
            (ElementType::F4E2M1Fn, -nan, "0"),
            (ElementType::F4E2M1Fn, 100.0, "6"),
            (ElementType::F6E2M3Fn, inf, "7.5"),
            (ElementType::F16, 65_519.996, "65504"),
            (ElementType::F16, 65_520.0, "inf"),
        ] {
            let found = small(element_type, encode(element_type, value));
            assert_eq!(found.as_deref(), Some(text), "{element_type} {value}");
        }
    }
}
