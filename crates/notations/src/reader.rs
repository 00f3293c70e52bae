//! Reads the texts of other notations: a place in a text, and errors that point to it.

use crate::Obstacle;
use alloc::vec::Vec;
use xla_shape_core::ElementType;
use xla_shape_core::limits::{MAX_NESTING, MAX_SIZE};
use xla_shape_core::text::{Expected, Found, OtherError, ParseError, ParseErrorKind, Span};

pub(crate) type Result<T> = core::result::Result<T, ParseError>;

/// The rest of a text that is still to be read. White space separates tokens, and is skipped.
#[derive(Clone, Copy)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self::from(text, 0)
    }

    /// A reader that begins at this byte of a text.
    pub(crate) fn from(text: &'a str, at: usize) -> Self {
        let mut reader = Self { text, at };
        reader.skip_space();
        reader
    }

    pub(crate) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Where the next token begins.
    pub(crate) const fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest().is_empty()
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn advance(&mut self, length: usize) {
        self.at += length;
        self.skip_space();
    }

    pub(crate) fn is(&self, token: &str) -> bool {
        self.rest().starts_with(token)
    }

    /// Skips this text, if it is next; returns whether it was.
    pub(crate) fn take(&mut self, token: &str) -> bool {
        let is_here = self.is(token);
        if is_here {
            self.advance(token.len());
        }
        is_here
    }

    /// Skips this text, which must be next.
    pub(crate) fn all(&mut self, token: &str, expected: &'static str) -> Result<()> {
        if self.take(token) { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// Skips this character, which must be next.
    pub(crate) fn character(&mut self, c: char) -> Result<()> {
        if self.rest().starts_with(c) {
            self.advance(c.len_utf8());
            Ok(())
        } else {
            Err(self.unexpected(Expected::Character(c)))
        }
    }

    /// Letters, digits and `_`; empty if there are none.
    pub(crate) fn peek_word(&self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.get(..end).unwrap_or("")
    }

    /// Reads letters, digits and `_`.
    pub(crate) fn word(&mut self) -> &'a str {
        let word = self.peek_word();
        self.advance(word.len());
        word
    }

    /// A whole number, with a sign if it is negative.
    pub(crate) fn signed(&mut self, expected: &'static str) -> Result<i64> {
        let (start, rest) = (self.at, self.rest());
        let sign = usize::from(rest.starts_with('-'));
        let digits = rest.get(sign..).unwrap_or("");
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        if length == 0 {
            return Err(self.expected(expected));
        }
        let number = rest.get(..sign + length).unwrap_or("");
        let span = Span { start, end: start + number.len() };
        self.advance(number.len());
        number.parse().map_err(|_| ParseError::new(ParseErrorKind::NumberTooLarge { found: Found::new(number) }, span))
    }

    /// A whole number that is not negative.
    pub(crate) fn number(&mut self, expected: &'static str) -> Result<u64> {
        let start = self.at;
        let number = self.signed(expected)?;
        u64::try_from(number).map_err(|_| {
            // The error ends after the number. The reader is already after the white space that follows it.
            let end = self.text.get(start..self.at).map_or(self.at, |text| start + text.trim_end().len());
            let found = Found::new(self.text.get(start..end).unwrap_or(""));
            let expected = Expected::Value(expected);
            ParseError::new(ParseErrorKind::NegativeNumber { expected, found }, Span { start, end })
        })
    }

    /// Reads a list between these characters, with commas between its entries; `entry` reads one. A comma may follow the last entry.
    pub(crate) fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut entry: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.character(open)?;
        let mut entries = Vec::new();
        loop {
            // This is at the beginning or after a comma. So the list may be empty, and a comma may follow the last entry.
            if self.rest().starts_with(close) {
                self.character(close)?;
                return Ok(entries);
            }
            entries.push(entry(self)?);
            if !self.take(",") && !self.rest().starts_with(close) {
                return Err(self.unexpected(Expected::Either(',', close)));
            }
        }
    }

    /// The depth inside one more level of brackets; an error if that is too deep.
    pub(crate) fn nest(&self, depth: usize) -> Result<usize> {
        if depth < MAX_NESTING {
            return Ok(depth + 1);
        }
        Err(ParseError::new(ParseErrorKind::TooDeeplyNested { limit: MAX_NESTING }, self.span()))
    }

    /// Checks that the text ends here.
    pub(crate) fn end(&self, expected: &'static str) -> Result<()> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected(expected)) }
    }

    /// The next token: a word, or a character.
    fn span(&self) -> Span {
        let word = self.peek_word().len();
        let length = if word > 0 { word } else { self.rest().chars().next().map_or(0, char::len_utf8) };
        Span { start: self.at, end: self.at + length }
    }

    #[cold]
    pub(crate) fn expected(&self, expected: &'static str) -> ParseError {
        self.unexpected(Expected::Value(expected))
    }

    #[cold]
    fn unexpected(&self, expected: Expected) -> ParseError {
        let span = self.span();
        let found = Found::new(self.text.get(span.start..span.end).unwrap_or(""));
        ParseError::new(ParseErrorKind::Unexpected { expected, found }, span)
    }

    /// An error about the map that the text from `start` on describes.
    #[cold]
    pub(crate) fn obstacle(&self, obstacle: Obstacle, start: usize) -> ParseError {
        let end = self.text.get(start..self.at).map_or(start, |text| start + text.trim_end().len());
        ParseError::new(ParseErrorKind::Other(OtherError::new(obstacle)), Span { start, end })
    }
}

/// A size that fits in an i64.
pub(crate) const fn fits(size: u64) -> bool {
    size <= MAX_SIZE
}

/// An error about the element type that begins at `start`.
#[cold]
pub(crate) fn unknown_type(name: &str, start: usize) -> ParseError {
    let span = Span { start, end: start + name.len() };
    ParseError::new(ParseErrorKind::UnknownElementType { found: Found::new(name), suggestion: None }, span)
}

/// The default, for notations without element types.
pub(crate) const ANY_TYPE: ElementType = ElementType::F32;

/// An error about the map that a whole text describes.
#[cold]
pub(crate) fn obstacle_of_all(obstacle: Obstacle, text: &str) -> ParseError {
    ParseError::new(ParseErrorKind::Other(OtherError::new(obstacle)), Span { start: 0, end: text.len() })
}

/// An error at a byte of a text, where something else is expected.
#[cold]
pub(crate) fn error_at(text: &str, at: usize, expected: &'static str) -> ParseError {
    Reader { text, at: at.min(text.len()) }.expected(expected)
}
