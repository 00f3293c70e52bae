//! Words and numbers, as they stand in text.

use super::error::{HloProtoError, HloProtoErrorKind};
use alloc::string::String;
use core::fmt::Write as _;

type Result<T> = core::result::Result<T, HloProtoError>;

/// A number.
#[inline]
pub(crate) fn decimal(number: i64, out: &mut String) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => out.push(char::from(b'0' | digit)),
        // Writing to memory does not fail.
        _ => _ = write!(out, "{number}"),
    }
}

/// Numbers with something between them.
pub(crate) fn joined(numbers: &[i64], separator: &str, out: &mut String) {
    for (i, &number) in numbers.iter().enumerate() {
        out.push_str(if i > 0 { separator } else { "" });
        decimal(number, out);
    }
}

/// A word that a message has where XLA prints it without quotes.
pub(crate) fn name(text: &str) -> Result<&str> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    if !text.is_empty() && text.bytes().all(is_name) {
        return Ok(text);
    }
    Err(HloProtoError::new(HloProtoErrorKind::Name { name: text.chars().take(40).collect() }))
}
