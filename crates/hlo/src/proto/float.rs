//! Floating-point numbers as XLA prints and reads them (`RoundTripFpToString` in `xla/util.cc`).

use alloc::format;
use alloc::string::String;
use xla_shape_core::ElementType;

/// A floating-point format.
#[derive(Clone, Copy)]
struct Format {
    /// The bits of the exponent.
    exponent: u32,
    /// The bits of the mantissa, without the implicit one.
    mantissa: u32,
    /// The biased exponent of 1.0.
    bias: i32,
    /// Whether the highest exponent means infinity or NaN, as in IEEE 754.
    is_ieee: bool,
    /// The bits of NaN in a non-IEEE format that has one.
    nan: Option<u64>,
    /// The number of significant digits that XLA prints.
    digits: usize,
}

const fn format_of(element_type: ElementType) -> Option<Format> {
    let (exponent, mantissa, bias, is_ieee, nan, digits) = match element_type {
        ElementType::F16 => (5, 10, 15, true, None, 5),
        ElementType::Bf16 => (8, 7, 127, true, None, 4),
        ElementType::F8E5M2 => (5, 2, 15, true, None, 2),
        ElementType::F8E4M3 => (4, 3, 7, true, None, 3),
        ElementType::F8E3M4 => (3, 4, 3, true, None, 3),
        ElementType::F8E4M3Fn => (4, 3, 7, false, Some(0x7f), 3),
        ElementType::F8E4M3B11Fnuz => (4, 3, 11, false, Some(0x80), 3),
        ElementType::F8E5M2Fnuz => (5, 2, 16, false, Some(0x80), 2),
        ElementType::F8E4M3Fnuz => (4, 3, 8, false, Some(0x80), 3),
        ElementType::F8E8M0Fnu => (8, 0, 127, false, Some(0xff), 2),
        ElementType::F4E2M1Fn => (2, 1, 1, false, None, 2),
        ElementType::F6E2M3Fn => (2, 3, 1, false, None, 3),
        ElementType::F6E3M2Fn => (3, 2, 3, false, None, 2),
        _ => return None,
    };
    Some(Format { exponent, mantissa, bias, is_ieee, nan, digits })
}

xla_shape_core::assert_every_element_type!(element_type => {
    !element_type.is_floating() || element_type.bits() > 16 || format_of(element_type).is_some()
});

/// Prints a float of at most 16 bits as XLA does.
pub(crate) fn small(element_type: ElementType, bits: u64) -> Option<String> {
    let format = format_of(element_type)?;
    let width = format.exponent.checked_add(format.mantissa)?;
    // f8e8m0fnu has no sign.
    let is_negative = element_type != ElementType::F8E8M0Fnu && (bits >> width) & 1 == 1;
    let exponent = (bits >> format.mantissa) & ones(format.exponent);
    let fraction = bits & ones(format.mantissa);
    let sign = if is_negative { "-" } else { "" };
    let is_nan = match format.nan {
        Some(0x7f) => bits & 0x7f == 0x7f,
        Some(nan) => bits == nan,
        None => format.is_ieee && exponent == ones(format.exponent) && fraction != 0,
    };
    if is_nan {
        let quiet = 1_u64.checked_shl(format.mantissa.saturating_sub(1)).unwrap_or(0);
        let payload = if format.is_ieee && fraction != quiet { format!("(0x{fraction:x})") } else { String::new() };
        return Some(format!("{sign}nan{payload}"));
    }
    if format.is_ieee && exponent == ones(format.exponent) {
        return Some(format!("{sign}inf"));
    }
    let value = magnitude(element_type, format, bits & ones(width));
    Some(general(if is_negative { -value } else { value }, format.digits))
}

/// Rounds a number to a float of at most 16 bits, to nearest, ties to even.
pub(crate) fn encode(element_type: ElementType, value: f64) -> u64 {
    let Some(format) = format_of(element_type) else { return 0 };
    let width = format.exponent.saturating_add(format.mantissa);
    let has_sign = element_type != ElementType::F8E8M0Fnu;
    let sign = if has_sign && value.is_sign_negative() { 1_u64 << width } else { 0 };
    let special = |fraction: u64| (ones(format.exponent) << format.mantissa) | fraction;
    if value.is_nan() {
        let quiet = 1_u64.checked_shl(format.mantissa.saturating_sub(1)).unwrap_or(0);
        return match format.nan {
            Some(nan) if nan == 0x7f => sign | nan,
            Some(nan) => nan,
            None => sign | special(quiet),
        };
    }
    // For one sign, codes are ordered like numbers: binary search finds the nearest.
    let largest = match (format.is_ieee, format.nan) {
        (true, _) => special(0).saturating_sub(1),
        (false, Some(0x7f | 0xff)) => ones(width).saturating_sub(1),
        _ => ones(width),
    };
    let number = |code: u64| magnitude(element_type, format, code);
    let wanted = value.abs();
    let (mut low, mut high) = (0_u64, largest);
    while low < high {
        let middle = low.saturating_add(high).saturating_add(1) / 2;
        if number(middle) <= wanted { low = middle } else { high = middle.saturating_sub(1) }
    }
    if low == largest {
        let step = number(largest) - number(largest.saturating_sub(1));
        let overflows = wanted >= number(largest) + step / 2.0 && format.is_ieee;
        return sign | if overflows { special(0) } else { largest };
    }
    let (below, above) = (wanted - number(low), number(low.saturating_add(1)) - wanted);
    let up = above < below || (above == below && low & 1 == 1);
    let code = if up { low.saturating_add(1) } else { low };
    // In formats without a negative zero, its code is NaN.
    if code == 0 && format.nan == Some(0x80) { 0 } else { sign | code }
}

/// The number with this code, without the sign bit.
fn magnitude(element_type: ElementType, format: Format, code: u64) -> f64 {
    let exponent = code >> format.mantissa;
    let is_normal = exponent > 0 || element_type == ElementType::F8E8M0Fnu;
    let significand = (code & ones(format.mantissa)) | if is_normal { 1_u64 << format.mantissa } else { 0 };
    let power = i32::try_from(if is_normal { exponent } else { 1 }).unwrap_or(0);
    let power = power.saturating_sub(format.bias).saturating_sub(i32::try_from(format.mantissa).unwrap_or(0));
    let mut value = significand as f64;
    // Exact, since the factors are powers of two.
    for _ in 0..power.unsigned_abs() {
        value = if power < 0 { value / 2.0 } else { value * 2.0 };
    }
    value
}

const fn ones(bits: u32) -> u64 {
    (1_u64 << bits).wrapping_sub(1)
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
    use super::{double, general, single, small};
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
}
