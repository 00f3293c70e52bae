//! Prints numbers, and checks words.

use super::error::{HloProtoError, HloProtoErrorKind};
use alloc::string::String;
use core::fmt::Write as _;

type Result<T> = core::result::Result<T, HloProtoError>;

/// Prints a number.
#[inline]
pub(crate) fn decimal(number: i64, out: &mut String) {
    match u32::try_from(number) {
        Ok(digit @ 0..=9) => digit_of(digit, out),
        Ok(short @ 10..=99) => {
            digit_of(short / 10, out);
            digit_of(short % 10, out);
        }
        // Writing to a `String` does not fail.
        _ => _ = write!(out, "{number}"),
    }
}

#[inline]
fn digit_of(digit: u32, out: &mut String) {
    out.push(char::from_digit(digit, 10).unwrap_or('0'));
}

/// Prints numbers with a separator.
pub(crate) fn joined(numbers: &[i64], separator: &str, out: &mut String) {
    for (i, &number) in numbers.iter().enumerate() {
        out.push_str(if i > 0 { separator } else { "" });
        decimal(number, out);
    }
}

/// Checks a word that XLA prints without quotes.
pub(crate) fn name(text: &str) -> Result<&str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if !text.is_empty() && text.bytes().all(is_name) {
        return Ok(text);
    }
    Err(HloProtoError::new(HloProtoErrorKind::Name { name: text.chars().take(40).collect() }))
}
