//! The tokens of protobuf's text format, and fields made of them
//! (<https://protobuf.dev/reference/protobuf/textformat-spec/>).

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::vec::Vec;
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// The value of a field that is not a message.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::proto) enum Scalar<'t> {
    /// A number, a flag or a name, with its sign.
    Word(&'t str),
    /// The bytes of a string.
    Bytes(Cow<'t, [u8]>),
}

/// A part of a message.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::proto) enum Item<'t> {
    /// A field that is a message begins; its fields and [`Close`](Self::Close) follow.
    Open(&'t str),
    Close,
    Scalar(&'t str, Scalar<'t>),
}

/// An item, and where it is: the value of a scalar, or the field's name.
#[derive(Debug)]
pub(in crate::proto) struct Spanned<'t> {
    pub(in crate::proto) item: Item<'t>,
    pub(in crate::proto) span: Span,
}

/// Reads items one after the other. After an error it ends.
pub(in crate::proto) struct Reader<'t> {
    text: &'t str,
    position: usize,
    /// The closing brackets that are still to come.
    open: Vec<u8>,
    /// The fields whose lists are being read. A list cannot contain lists, but it can contain messages whose fields are lists, so there can be
    /// several.
    lists: Vec<(usize, &'t str, Span)>,
    failed: bool,
}

impl<'t> Reader<'t> {
    pub(in crate::proto) fn new(text: &'t str) -> Self {
        let mut reader = Self { text, position: 0, open: Vec::new(), lists: Vec::new(), failed: false };
        reader.skip_space();
        // C++ begins texts that it prints for debugging with this word, which is skipped.
        if reader.rest().starts_with("goo.gle/debug") {
            reader.position += reader.word_length();
        }
        reader
    }

    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or("")
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.position).copied()
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) {
        while let Some(byte) = self.peek() {
            if byte == b'#' {
                let line = self.rest().find('\n').unwrap_or(self.rest().len());
                self.position += line;
            } else if byte.is_ascii_whitespace() {
                self.position += 1;
            } else {
                break;
            }
        }
    }

    /// Takes this character if it is next.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.position += usize::from(is_next);
        is_next
    }

    fn word_length(&self) -> usize {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-' | b'+' | b'/');
        self.rest().bytes().take_while(|&byte| is_word(byte)).count()
    }

    fn unexpected(&self, expected: Expected) -> ParseError {
        let letter = self.rest().chars().next().map_or(0, char::len_utf8);
        let end = self.position + self.word_length().max(letter);
        let span = Span { start: self.position, end };
        let found = Found::new(self.text.get(span.start..span.end).unwrap_or(""));
        ParseError::new(ParseErrorKind::Unexpected { expected, found }, span)
    }

    /// The name of a field. The name of an extension or an `Any` is in brackets.
    fn name(&mut self) -> Result<(&'t str, Span)> {
        self.skip_space();
        let start = self.position;
        let length = match self.peek() {
            Some(b'[') => self.rest().find(']').map_or(0, |end| end + 1),
            _ => self.word_length(),
        };
        if length == 0 {
            return Err(self.unexpected(Expected::Value("the name of a field")));
        }
        self.position = start + length;
        let span = Span { start, end: self.position };
        Ok((self.text.get(start..self.position).unwrap_or(""), span))
    }

    /// A word or strings, which are joined.
    fn scalar(&mut self) -> Result<(Scalar<'t>, Span)> {
        self.skip_space();
        let start = self.position;
        let Some(b'"' | b'\'') = self.peek() else {
            let sign = usize::from(self.peek() == Some(b'-'));
            self.position += sign;
            self.skip_space();
            let length = self.word_length();
            if length == 0 {
                return Err(self.unexpected(Expected::Value("a value")));
            }
            self.position += length;
            let span = Span { start, end: self.position };
            return Ok((Scalar::Word(self.text.get(start..self.position).unwrap_or("")), span));
        };
        let mut bytes = self.string()?;
        let mut end = self.position;
        self.skip_space();
        while let Some(b'"' | b'\'') = self.peek() {
            let more = self.string()?;
            bytes.to_mut().extend_from_slice(&more);
            end = self.position;
            self.skip_space();
        }
        Ok((Scalar::Bytes(bytes), Span { start, end }))
    }

    /// The bytes of a string that begins here.
    fn string(&mut self) -> Result<Cow<'t, [u8]>> {
        let quote = self.peek().unwrap_or(b'"');
        self.position += 1;
        let start = self.position;
        let rest = self.rest().as_bytes();
        let mut length = 0_usize;
        let mut has_escapes = false;
        loop {
            match rest.get(length) {
                Some(&byte) if byte == quote => break,
                Some(b'\\') => {
                    has_escapes = true;
                    length += 2;
                }
                Some(byte) if *byte != b'\n' => length += 1,
                _ => {
                    self.position = start + length.min(rest.len());
                    return Err(self.unexpected(Expected::Value("the end of the string")));
                }
            }
        }
        self.position = start + length + 1;
        let inside = rest.get(..length).unwrap_or(&[]);
        if has_escapes { unescaped(inside, start).map(Cow::Owned) } else { Ok(Cow::Borrowed(inside)) }
    }

    /// The next item, or `None` at the end of the text.
    fn item(&mut self) -> Result<Option<Spanned<'t>>> {
        loop {
            // Fields can have a comma or a semicolon between them.
            let _ = self.take(b',') || self.take(b';');
            self.skip_space();
            if let Some(&(depth, name, span)) = self.lists.last()
                && depth == self.open.len()
            {
                if !self.take(b']') {
                    return self.value(name, span).map(Some);
                }
                self.lists.pop();
                continue;
            }
            if let Some(&close) = self.open.last()
                && self.peek().is_none_or(|byte| matches!(byte, b'}' | b'>'))
            {
                let span = Span { start: self.position, end: self.position };
                if !self.take(close) {
                    return Err(self.unexpected(Expected::Character(char::from(close))));
                }
                self.open.pop();
                return Ok(Some(Spanned { item: Item::Close, span }));
            }
            if self.peek().is_none() {
                return Ok(None);
            }
            let (name, span) = self.name()?;
            let has_colon = self.take(b':');
            if self.take(b'[') {
                self.lists.push((self.open.len(), name, span));
                continue;
            }
            if !has_colon && !matches!(self.peek(), Some(b'{' | b'<')) {
                return Err(self.unexpected(Expected::Either(':', '{')));
            }
            return self.value(name, span).map(Some);
        }
    }

    fn value(&mut self, name: &'t str, span: Span) -> Result<Spanned<'t>> {
        for (open, close) in [(b'{', b'}'), (b'<', b'>')] {
            if self.take(open) {
                self.open.push(close);
                return Ok(Spanned { item: Item::Open(name), span });
            }
        }
        let (value, span) = self.scalar()?;
        Ok(Spanned { item: Item::Scalar(name, value), span })
    }
}

impl<'t> Iterator for Reader<'t> {
    type Item = Result<Spanned<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let item = self.item().transpose();
        self.failed = item.as_ref().is_none_or(Result::is_err);
        item
    }
}

/// The bytes of a string with escapes; `start` is its place in the text.
fn unescaped(text: &[u8], start: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut at = 0_usize;
    while let Some(&byte) = text.get(at) {
        at += 1;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let letter = text.get(at).copied().unwrap_or(0);
        let digits = |from: usize, most: usize, radix: u32| {
            let rest = text.get(from..).unwrap_or(&[]).iter().take(most);
            let digits = rest.map_while(|&digit| char::from(digit).to_digit(radix));
            digits.fold((0_u32, 0_usize), |(value, count), digit| {
                (value.saturating_mul(radix).saturating_add(digit), count + 1)
            })
        };
        let simple = match letter {
            b'a' => Some(7),
            b'b' => Some(8),
            b'f' => Some(12),
            b'n' => Some(b'\n'),
            b'r' => Some(b'\r'),
            b't' => Some(b'\t'),
            b'v' => Some(11),
            b'?' | b'\\' | b'\'' | b'"' => Some(letter),
            _ => None,
        };
        if let Some(simple) = simple {
            bytes.push(simple);
            at += 1;
            continue;
        }
        // `\101` and `\x41` are bytes, `\u00e9` is a character, whose bytes are its UTF-8.
        let (from, (value, count)) = match letter {
            b'0'..=b'7' => (at, digits(at, 3, 8)),
            b'x' | b'X' => (at + 1, digits(at + 1, 2, 16)),
            b'u' => (at + 1, digits(at + 1, 4, 16)),
            b'U' => (at + 1, digits(at + 1, 8, 16)),
            _ => (at, (0, 0)),
        };
        let is_letter = matches!(letter, b'u' | b'U');
        match (char::from_u32(value), u8::try_from(value)) {
            (Some(letter), _) if is_letter && count > 0 => {
                bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            }
            (_, Ok(byte)) if !is_letter && count > 0 => bytes.push(byte),
            _ => {
                let begin = (start + at).saturating_sub(1);
                let found = Found::new(&char::from(letter).to_string());
                let kind = ParseErrorKind::Unexpected { expected: Expected::Value("a known escape"), found };
                return Err(ParseError::new(kind, Span { start: begin, end: begin + 2 }));
            }
        }
        at = from + count;
    }
    Ok(bytes)
}

/// The bits of a whole number, in decimal, hexadecimal or octal.
pub(super) fn integer(word: &str) -> Option<u64> {
    let (is_negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start()),
        None => (false, word),
    };
    if !digits.starts_with(|digit: char| digit.is_ascii_digit()) {
        return None;
    }
    let (digits, radix) = match (digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")), digits) {
        (Some(digits), _) => (digits, 16),
        (None, "0") => (digits, 10),
        (None, digits) if digits.starts_with('0') => (digits, 8),
        (None, digits) => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    match is_negative {
        true => 0_i64.checked_sub_unsigned(value).map(|value| value as u64),
        false => Some(value),
    }
}

/// A number with a fraction, an exponent or a suffix; `inf` and `nan`.
pub(in crate::proto) fn float(word: &str) -> Option<f64> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1.0, digits.trim_start()),
        None => (1.0, word),
    };
    let magnitude = match digits {
        "inf" | "infinity" | "Infinity" => f64::INFINITY,
        "nan" | "NaN" => f64::NAN,
        _ if digits.starts_with(|digit: char| digit.is_ascii_digit() || digit == '.') => {
            digits.trim_end_matches(['f', 'F']).parse().ok()?
        }
        _ => return None,
    };
    Some(sign * magnitude)
}

#[cfg(test)]
mod tests {
    use super::{float, integer};

    #[test]
    fn numbers_are_read_in_all_their_forms() {
        for (word, value) in [("7", 7), ("-1", -1), ("0x1F", 31), ("017", 15), ("0", 0), ("- 5", -5)] {
            assert_eq!(integer(word), Some(value as u64), "{word}");
        }
        assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
        assert_eq!(integer("-9223372036854775808"), Some(i64::MIN as u64));
        for word in ["18446744073709551616", "-9223372036854775809", "08", "1.5", "x", "", "-", "+1"] {
            assert_eq!(integer(word), None, "{word}");
        }
        assert_eq!(
            [float("-1.5e3f"), float("2"), float("-inf"), float("x")],
            [Some(-1500.0), Some(2.0), Some(f64::NEG_INFINITY), None]
        );
        assert!(float("nan").is_some_and(f64::is_nan));
    }
}
