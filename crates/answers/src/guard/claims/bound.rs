//! Numbers that a claim allows: `8`, `"<=2"`, `">=64MiB"`.

use std::fmt;
use std::str::FromStr;
use xla_shape_core::ArrayShape;
use xla_shape_hlo::byte_count;

/// The numbers from `least` to `most`.
///
/// ```
/// let bound = xla_shape_answers::guard::claims::Bound { least: 1, most: 2 };
/// assert!(bound.allows(2) && !bound.allows(3));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The smallest number that is allowed.
    pub least: u64,
    /// The largest number that is allowed; [`u64::MAX`] without an upper limit.
    pub most: u64,
}

impl Bound {
    /// Whether the number is allowed.
    #[must_use]
    pub const fn allows(self, number: u64) -> bool {
        self.least <= number && number <= self.most
    }

    /// Reads `8`, `<=2`, `<3`, `>=1` or `>0`, with each number read by `amount`.
    fn read(text: &str, expected: &str, amount: impl Fn(&str) -> Option<u64>) -> Result<Self, String> {
        let text = text.trim();
        let end = text.find(|c| !matches!(c, '<' | '>' | '=')).unwrap_or(text.len());
        let (sign, rest) = text.split_at(end);
        let wrong = || format!("expected {expected}, found `{text}`");
        let number = amount(rest.trim()).ok_or_else(wrong)?;
        let (least, most) = match sign {
            "" | "=" | "==" => (number, number),
            "<=" => (0, number),
            ">=" => (number, u64::MAX),
            "<" => (0, number.checked_sub(1).ok_or_else(|| format!("no number is less than {number}"))?),
            ">" => (number.checked_add(1).ok_or_else(wrong)?, u64::MAX),
            _ => return Err(wrong()),
        };
        Ok(Self { least, most })
    }

    fn write(self, f: &mut fmt::Formatter<'_>, number: impl Fn(u64) -> String) -> fmt::Result {
        match (self.least, self.most) {
            (least, most) if least == most => f.write_str(&number(least)),
            (0, most) if most < u64::MAX => write!(f, "<={}", number(most)),
            (least, _) => write!(f, ">={}", number(least)),
        }
    }
}

/// A bound on a number of things: `8`, `"<=2"`, `">=1"`.
///
/// ```
/// use xla_shape_answers::guard::claims::Count;
///
/// let count: Count = "<3".parse()?;
/// assert!(count.0.allows(2) && !count.0.allows(3));
/// assert_eq!(count.to_string(), "<=2");
/// assert_eq!(">=0".parse::<Count>()?.to_string(), ">=0");
/// assert_eq!("few".parse::<Count>().unwrap_err(), "expected a number such as 8, <=2 or >=1, found `few`");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Count(pub Bound);

impl FromStr for Count {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        Bound::read(text, "a number such as 8, <=2 or >=1", digits).map(Self)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, |number| number.to_string())
    }
}

/// A bound on bytes: `"<=64MiB"`, or the bytes of a shape without padding, `">=bf16[64,4096,4096]"`.
///
/// ```
/// use xla_shape_answers::guard::claims::Bytes;
///
/// let bytes: Bytes = ">=f32[256,1024]".parse()?;
/// assert_eq!((bytes.0.least, bytes.to_string().as_str()), (1 << 20, ">=1MiB"));
/// assert!("<=64MB!".parse::<Bytes>().unwrap_err().starts_with("expected bytes or a shape such as <=64MiB"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bytes(pub Bound);

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let of_shape = |text: &str| text.parse::<ArrayShape>().ok()?.unpadded_byte_size();
        let amount = |text: &str| byte_count(text).or_else(|| of_shape(text));
        Bound::read(text, "bytes or a shape such as <=64MiB or >=bf16[64,4096,4096]", amount).map(Self)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Write `>4MiB` rather than a number of bytes that is one more.
            Bound { least, most: u64::MAX } if least > 1 && least % 1024 == 1 => {
                write!(f, ">{}", exact(least - 1))
            }
            bound => bound.write(f, exact),
        }
    }
}

/// The bytes in the largest unit that divides them, so that [`byte_count`] reads exactly the same number.
pub(super) fn exact(bytes: u64) -> String {
    let units = [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(power, _)| bytes > 0 && bytes.trailing_zeros() >= *power);
    unit.map_or_else(|| bytes.to_string(), |(power, unit)| format!("{}{unit}", bytes >> power))
}

#[cfg(test)]
mod tests {
    use super::{Bytes, Count};

    #[test]
    fn what_is_written_reads_the_same() {
        for text in ["8", "<=2", ">=1", "0"] {
            assert_eq!(text.parse::<Count>().unwrap().to_string(), text);
        }
        for (text, written) in [("<=65536", "<=64KiB"), (">1MiB", ">1MiB"), ("= 3", "3"), ("<=1.5GiB", "<=1536MiB")] {
            let bytes: Bytes = text.parse().unwrap();
            assert_eq!(bytes.to_string(), written);
            assert_eq!(written.parse::<Bytes>().unwrap(), bytes);
        }
        for text in ["", "<", "<0", ">18446744073709551615", "=>2", "-1", "+1", "1 2", "2..3", "1.5"] {
            assert!(text.parse::<Count>().is_err(), "{text}");
        }
    }
}
