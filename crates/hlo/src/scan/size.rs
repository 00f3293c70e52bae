//! Byte counts with units.

/// Parses a number of bytes as XLA and people write it: `49.34G`, `16GiB`, `1.5 MB`, `512`. `None` for anything else, or if it does
/// not fit.
///
/// `K`, `M`, `G`, `T` and `P`, with or without `iB`, are powers of 1024; with `B` they are powers of 1000. Only the first six
/// decimals count.
///
/// ```
/// use xla_shape_hlo::byte_count;
///
/// assert_eq!(byte_count("16GiB"), Some(16 << 30));
/// assert_eq!(byte_count("1.5K"), Some(1536));
/// assert_eq!(byte_count("16 GB"), Some(16_000_000_000));
/// assert_eq!(byte_count("many"), None);
/// ```
#[must_use]
pub fn byte_count(text: &str) -> Option<u64> {
    let (number, unit) = split(text);
    bytes(number, unit.trim())
}

/// [`byte_count`] of the beginning of a text.
pub(super) fn first_byte_count(text: &str) -> Option<u64> {
    let (number, rest) = split(text);
    bytes(number, rest.split_whitespace().next().unwrap_or(""))
}

/// Splits a text after its leading digits and period.
fn split(text: &str) -> (&str, &str) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn bytes(number: &str, unit: &str) -> Option<u64> {
    let power = |letter: &str| Some(["K", "M", "G", "T", "P"].iter().position(|found| *found == letter)? + 1);
    let power = |letter| power(letter).and_then(|power| u32::try_from(power).ok());
    let unit = match unit {
        "" | "B" => 1,
        _ => match (unit.strip_suffix("iB"), unit.strip_suffix('B')) {
            (Some(letter), _) => 1024_u64.checked_pow(power(letter)?)?,
            (None, Some(letter)) => 1000_u64.checked_pow(power(letter)?)?,
            (None, None) => 1024_u64.checked_pow(power(unit)?)?,
        },
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    let digits = fraction.get(..fraction.len().min(6))?;
    let fraction: u64 = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    let scale = 10_u128.pow(u32::try_from(digits.len()).ok()?);
    #[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
    let part = (u128::from(fraction) * u128::from(unit)).checked_div(scale)?;
    whole.checked_mul(unit)?.checked_add(u64::try_from(part).ok()?)
}

#[cfg(test)]
mod tests {
    use super::{byte_count, first_byte_count};

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("0B", Some(0)),
            ("512", Some(512)),
            ("1.5K", Some(1536)),
            ("32.00G", Some(32 << 30)),
            ("16.00MiB", Some(16 << 20)),
            ("16.00MB", Some(16_000_000)),
            (" 2 TB ", Some(2_000_000_000_000)),
            ("", None),
            ("G", None),
            ("B", None),
            ("1.2.3K", None),
            ("1.K", Some(1024)),
            (".5K", None),
            ("-1", None),
            ("1iB", None),
            ("1KK", None),
            ("3 of", None),
            ("1K of", None),
            ("99999999999999999999G", None),
            ("18446744073709551615P", None),
            ("18446744073709551615", Some(u64::MAX)),
            ("1é", None),
        ] {
            assert_eq!(byte_count(text), bytes, "{text}");
        }
        assert_eq!((first_byte_count("1K of 2K"), first_byte_count("3 of")), (Some(1024), None));
    }
}
