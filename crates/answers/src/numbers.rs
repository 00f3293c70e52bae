//! Numbers and names in the form for people, in the sentences of answers and in their text.

use std::fmt;
use xla_shape_core::memory_space::Platform;
use xla_shape_core::{ArrayShape, Shape};
pub use xla_shape_hlo::InUnits;

/// A number with a comma between thousands.
///
/// ```
/// use xla_shape_answers::numbers::Grouped;
///
/// assert_eq!(Grouped(1_234_567).to_string(), "1,234,567");
/// ```
#[derive(Clone, Copy)]
pub struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.pad(&text)
    }
}

/// A number of bytes, followed by the same number in a larger unit.
///
/// ```
/// use xla_shape_answers::numbers::Bytes;
///
/// assert_eq!(Bytes(100).to_string(), "100 bytes");
/// assert!(Bytes(1 << 20).to_string().starts_with("1,048,576 bytes (1"));
/// ```
#[derive(Clone, Copy)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.0 == 1 { "byte" } else { "bytes" };
        let text = format!("{} {unit}", Grouped(self.0));
        match InUnits(self.0).to_string() {
            units if units.ends_with("iB") => f.pad(&format!("{text} ({units})")),
            _ => f.pad(&text),
        }
    }
}

/// `after - before`, saturating.
#[must_use]
pub fn difference(before: u64, after: u64) -> i64 {
    let bytes = after.abs_diff(before);
    if after >= before { i64::try_from(bytes).unwrap_or(i64::MAX) } else { 0_i64.saturating_sub_unsigned(bytes) }
}

/// A difference in bytes, such as `+1.50 MiB`.
///
/// ```
/// use xla_shape_answers::numbers::Signed;
///
/// assert_eq!((Signed(1536).to_string(), Signed(-1536).to_string()), ("+1.50 KiB".into(), "-1.50 KiB".into()));
/// ```
#[derive(Clone, Copy)]
pub struct Signed(pub i64);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "+" };
        f.pad(&format!("{sign}{}", InUnits(self.0.unsigned_abs())))
    }
}

/// A factor, such as `4.00x`, with more decimals if it is close to 1.
///
/// ```
/// use xla_shape_answers::numbers::Factor;
///
/// assert_eq!(Factor(4.0).to_string(), "4.00x");
/// assert_eq!(Factor(1.0005).to_string(), "1.0005x");
/// ```
#[derive(Clone, Copy)]
pub struct Factor(pub f64);

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = if self.0 < 1.01 && self.0 > 1.0 { 4 } else { usize::from(self.0 < 10.0) + 1 };
        f.pad(&format!("{:.decimals$}x", self.0))
    }
}

/// Why a shape has no size.
#[must_use]
pub fn why_no_size(shape: &Shape) -> &'static str {
    if shape.is_unbounded_dynamic() {
        "a dimension is unbounded"
    } else {
        "the bytes of the elements do not fit in a u64"
    }
}

/// The sentence that says that a shape has no size, and why.
///
/// ```
/// let shape = "f32[?,8]".parse()?;
/// assert_eq!(xla_shape_answers::numbers::no_size(&shape), "f32[?,8]{1,0} has no size: a dimension is unbounded");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn no_size(shape: &Shape) -> String {
    format!("{shape} has no size: {}", why_no_size(shape))
}

/// The name of a dimension in sentences and formulas: `d0`, `d1`, …
#[must_use]
pub fn dimension_name(dimension: usize) -> String {
    format!("d{dimension}")
}

/// The names of all dimensions, dimension 0 first.
#[must_use]
pub fn dimension_names(array: &ArrayShape) -> Vec<String> {
    (0..array.num_dimensions()).map(dimension_name).collect()
}

/// A slice of an array as NumPy writes it: `[0:4, 8:16]`.
#[must_use]
pub fn slice(start: &[u64], limit: &[u64]) -> String {
    let ranges = start.iter().zip(limit).map(|(start, limit)| format!("{start}:{limit}"));
    format!("[{}]", ranges.collect::<Vec<_>>().join(", "))
}

/// Numbers as an index: `[2,3]`.
///
/// ```
/// assert_eq!(xla_shape_answers::numbers::bracketed(&[2, 3]), "[2,3]");
/// ```
#[must_use]
pub fn bracketed(numbers: &[u64]) -> String {
    let numbers = numbers.iter().map(ToString::to_string).collect::<Vec<_>>();
    format!("[{}]", numbers.join(","))
}

/// The sentence that says that an array was expected, and which shape was found.
///
/// ```
/// let shape = "token[]".parse()?;
/// assert!(xla_shape_answers::numbers::no_array(&shape).contains("token[]"));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub fn no_array(shape: &Shape) -> String {
    format!("expected an array, found {shape}: only arrays have elements")
}

/// A number with its noun, singular or plural.
///
/// ```
/// assert_eq!(xla_shape_answers::numbers::count(2000, "byte", "bytes"), "2,000 bytes");
/// ```
#[must_use]
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{} {}", Grouped(number), if number == 1 { one } else { many })
}

/// A value in memory: the instruction's name, followed by `#` and the number of the array if that is not 0.
#[must_use]
pub fn value_name(name: &str, leaf: usize) -> String {
    if leaf == 0 { format!("%{name}") } else { format!("%{name}#{leaf}") }
}

/// A memory space as `S(1) VMEM`, with its name on the device.
#[must_use]
pub fn space_name(space: u8, platform: Platform) -> String {
    match platform.name(space) {
        Some(name) => format!("S({space}) {name}"),
        None => format!("S({space})"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Factor, Grouped, InUnits, difference};

    #[test]
    fn thousands_are_grouped() {
        for (number, text) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(Grouped(number).to_string(), text);
        }
    }

    #[test]
    fn bytes_have_units() {
        for (bytes, text) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (1023, "1,023 bytes"),
            (1024, "1,024 bytes (1 KiB)"),
            (335_544_320, "335,544,320 bytes (320 MiB)"),
            (1_500_000, "1,500,000 bytes (1.43 MiB)"),
        ] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
        for (bytes, text) in [
            (1023, "1023 B"),
            ((1 << 20) - 513, "1023 KiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            ((1 << 30) - 1, "1.00 GiB"),
            (i64::MAX as u64, "8 EiB"),
            (u64::MAX, "16 EiB"),
        ] {
            assert_eq!(InUnits(bytes).to_string(), text);
        }
    }

    #[test]
    fn differences_do_not_wrap() {
        for (before, after, more) in [
            (1, 3, 2),
            (3, 1, -2),
            (0, u64::MAX, i64::MAX),
            (u64::MAX, 0, i64::MIN),
            (0, 1 << 63, i64::MAX),
            (1 << 63, 0, i64::MIN),
        ] {
            assert_eq!(difference(before, after), more, "{before} {after}");
        }
    }

    #[test]
    fn factors_close_to_1_have_more_decimals() {
        for (factor, text) in [(1.0, "1.00x"), (1.0001, "1.0001x"), (4.0, "4.00x"), (133.12, "133.1x")] {
            assert_eq!(Factor(factor).to_string(), text);
        }
    }
}
