//! Words and numbers, as they stand in text.

use super::error::{HloProtoError, HloProtoErrorKind};
use alloc::string::String;
use core::fmt::Write as _;

type Result<T> = core::result::Result<T, HloProtoError>;

/// Numbers with something between them.
pub(crate) fn joined(numbers: &[i64], separator: &str, out: &mut String) {
    for (i, number) in numbers.iter().enumerate() {
        // Writing to memory does not fail.
        let _ = write!(out, "{}{number}", if i > 0 { separator } else { "" });
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
