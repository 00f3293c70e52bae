//! Escapes in the strings of HLO text.

use alloc::vec::Vec;

/// Appends bytes to `out` as XLA prints them in a string: bytes other than printable ASCII, quotes and backslashes
/// become C escapes (`absl::CEscape`).
///
/// ```
/// let mut text = String::new();
/// xla_shape_core::text::escaped("a\"é\n".as_bytes(), &mut text);
/// assert_eq!(text, r#"a\"\303\251\n"#);
/// ```
pub fn escaped(bytes: &[u8], out: &mut alloc::string::String) {
    use core::fmt::Write as _;
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\'' | b'\\');
    let mut rest = bytes;
    while !rest.is_empty() {
        let length = rest.iter().position(|byte| !is_plain(byte)).unwrap_or(rest.len());
        let (plain, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        out.push_str(core::str::from_utf8(plain).unwrap_or(""));
        let Some((&byte, after)) = after.split_first() else { break };
        rest = after;
        match byte {
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b'"' | b'\'' | b'\\' => {
                out.push('\\');
                out.push(byte.into());
            }
            // Writing to a `String` does not fail.
            _ => _ = write!(out, "\\{byte:03o}"),
        }
    }
}

/// The bytes of a string with C escapes, as XLA reads them (`absl::CUnescape`): `\n` and other letters, up to three
/// octal digits, and `\x` with hexadecimal digits. A backslash that begins no escape is kept.
///
/// ```
/// assert_eq!(xla_shape_core::text::unescaped(r"\303\251\x21"), "é!".as_bytes());
/// ```
#[must_use]
pub fn unescaped(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((&byte, after)) = rest.split_first() {
        let escape = if byte == b'\\' { escape(after) } else { None };
        let (value, length) = escape.unwrap_or((byte, 0));
        bytes.push(value);
        rest = after.get(length..).unwrap_or(&[]);
    }
    bytes
}

/// Whether the text has a backslash that does not begin an escape. XLA rejects such a string.
///
/// ```
/// use xla_shape_core::text::bad_escape;
///
/// assert!(bad_escape(r"\z") && !bad_escape(r"\n"));
/// ```
#[must_use]
pub fn bad_escape(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let length = match byte {
            b'\\' => match escape(after) {
                Some((_, length)) => length,
                None => return true,
            },
            _ => 0,
        };
        rest = after.get(length..).unwrap_or(&[]);
    }
    false
}

/// The byte that the escape after a backslash stands for, and the length of the escape without the backslash.
fn escape(after: &[u8]) -> Option<(u8, usize)> {
    let byte = match after.first()? {
        b'0'..=b'7' => return number(after, 0, 3, 8),
        b'x' | b'X' => return number(after, 1, 2, 16),
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'a' => 0x07,
        b'b' => 0x08,
        b'v' => 0x0b,
        b'f' => 0x0c,
        &other @ (b'"' | b'\'' | b'\\' | b'?') => other,
        _ => return None,
    };
    Some((byte, 1))
}

/// The number of at most `most` digits from `start` on, and where it ends; `None` if it does not fit in a byte.
fn number(text: &[u8], start: usize, most: usize, radix: u32) -> Option<(u8, usize)> {
    let digits = text.get(start..)?.iter().take(most).take_while(|byte| char::from(**byte).is_digit(radix)).count();
    let end = start + digits;
    let digits = core::str::from_utf8(text.get(start..end)?).ok()?;
    Some((u8::from_str_radix(digits, radix).ok()?, end))
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_of_c() {
        let cases: [(&str, &[u8]); 12] = [
            ("", b""),
            ("plain", b"plain"),
            (r#"a\"b\'c\\d\n\t\r"#, b"a\"b'c\\d\n\t\r"),
            (r"\303\251t\303\251", "été".as_bytes()),
            (r"\0\10\1011", &[0, 8, b'A', b'1']),
            (r"\377\378", &[0xff, 0o37, b'8']),
            (r"\400", br"\400"),
            (r"\x41\X4g\xg", b"A\x04g\\xg"),
            (r"\a\b\v\f\?", &[7, 8, 11, 12, b'?']),
            (r"\z\é", r"\z\é".as_bytes()),
            (r"\\303", br"\303"),
            ("\\", b"\\"),
        ];
        for (text, expected) in cases {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }
}
