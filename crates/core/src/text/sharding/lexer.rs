//! The lexer of shardings, with the tokens of HLO text (`xla/hlo/parser/hlo_lexer.cc`): names can contain dots and
//! minus signs, numbers can have a sign, and there are strings.

use crate::text::{Expected, Found, ParseError, ParseErrorKind, Span, bad_escape, unescaped};
use crate::text::{ParseErrorKind::NumberTooLarge, ParseErrorKind::Unexpected};
use alloc::string::String;

type Result<T> = core::result::Result<T, ParseError>;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum TokenKind {
    /// A name.
    Word,
    /// A name with `=` directly after it; the token includes the `=`.
    Attribute,
    /// An integer with an optional sign; `None` if it does not fit in an `i64`.
    Integer(Option<i64>),
    /// Another number, such as `1.5`.
    MalformedNumber,
    /// A string in single or double quotes; the token includes the quotes.
    String,
    /// `<=`
    LessEqual,
    /// Any other character.
    Punctuation(char),
    /// A string or a comment that is not closed.
    Open,
    /// The end of the text.
    End,
}

/// A token and its position in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    pub(super) span: Span,
}

/// Reads the tokens of a text, with one token of lookahead.
#[derive(Clone, Debug)]
pub(super) struct Cursor<'a> {
    text: &'a str,
    token: Token,
    /// The end of the last token that was read, in bytes.
    end: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a str, position: usize) -> Self {
        let token = token(text, position);
        Self { text, token, end: position }
    }

    /// The next token.
    pub(super) const fn token(&self) -> Token {
        self.token
    }

    /// The end of the last token that was read, in bytes.
    pub(super) const fn end(&self) -> usize {
        self.end
    }

    /// The text of a span.
    pub(super) fn text(&self, span: Span) -> &'a str {
        self.text.get(span.start..span.end).unwrap_or("")
    }

    pub(super) fn advance(&mut self) {
        self.end = self.token.span.end;
        self.token = token(self.text, self.end);
    }

    /// The error that the next token is not what the grammar allows.
    #[cold]
    pub(super) fn unexpected(&self, expected: Expected) -> ParseError {
        if self.token.kind == TokenKind::Open && self.text(self.token.span).starts_with("/*") {
            return ParseError::new(ParseErrorKind::UnclosedComment, self.token.span);
        }
        let found = Found::new(self.text(self.token.span));
        ParseError::new(Unexpected { expected, found }, self.token.span)
    }

    pub(super) fn is(&self, c: char) -> bool {
        self.token.kind == TokenKind::Punctuation(c)
    }

    /// Reads this character if it comes next; returns whether it did.
    pub(super) fn eat_if(&mut self, c: char) -> bool {
        let is = self.is(c);
        if is {
            self.advance();
        }
        is
    }

    pub(super) fn eat(&mut self, c: char) -> Result<()> {
        if self.eat_if(c) { Ok(()) } else { Err(self.unexpected(Expected::Character(c))) }
    }

    /// Reads character `c`. The error also names `or`, which could have come instead.
    pub(super) fn eat_or(&mut self, c: char, or: char) -> Result<()> {
        if self.eat_if(c) { Ok(()) } else { Err(self.unexpected(Expected::Either(or, c))) }
    }

    /// The next token, if it is a word.
    pub(super) fn word(&self) -> Option<&'a str> {
        (self.token.kind == TokenKind::Word).then(|| self.text(self.token.span))
    }

    /// The name of the next token, if it is an attribute (a name with `=`).
    pub(super) fn attribute(&self) -> Option<&'a str> {
        let is = self.token.kind == TokenKind::Attribute;
        is.then(|| self.text(self.token.span)).and_then(|text| text.strip_suffix('='))
    }

    /// Reads an integer.
    pub(super) fn integer(&mut self, what: &'static str) -> Result<i64> {
        let found = || Found::new(self.text(self.token.span));
        let value = match self.token.kind {
            TokenKind::Integer(Some(value)) => value,
            TokenKind::Integer(None) => {
                return Err(ParseError::new(NumberTooLarge { found: found() }, self.token.span));
            }
            TokenKind::MalformedNumber => {
                return Err(ParseError::new(ParseErrorKind::MalformedNumber { found: found() }, self.token.span));
            }
            _ => return Err(self.unexpected(Expected::Value(what))),
        };
        self.advance();
        Ok(value)
    }

    /// Reads an integer that is not negative.
    pub(super) fn size(&mut self, what: &'static str) -> Result<u64> {
        let span = self.token.span;
        let value = self.integer(what)?;
        u64::try_from(value).map_err(|_| {
            let (expected, found) = (Expected::Value(what), Found::new(self.text(span)));
            ParseError::new(ParseErrorKind::NegativeNumber { expected, found }, span)
        })
    }

    /// Reads a string.
    pub(super) fn string(&mut self, what: &'static str) -> Result<String> {
        let error = self.unexpected(Expected::Value(what));
        let span = self.token.span;
        let text = self.text(span);
        let inside = text.get(1..text.len().saturating_sub(1));
        let (TokenKind::String, Some(inside)) = (self.token.kind, inside) else { return Err(error) };
        if bad_escape(inside) {
            return Err(error);
        }
        self.advance();
        String::from_utf8(unescaped(inside)).map_err(|_| ParseError::new(ParseErrorKind::InvalidUtf8, span))
    }
}

/// The token at or after a position.
fn token(text: &str, position: usize) -> Token {
    let mut start = position;
    loop {
        let rest = text.get(start..).unwrap_or("");
        let bytes = rest.as_bytes();
        let at = |offset: usize| bytes.get(offset).copied();
        let length = |class: fn(u8) -> bool| bytes.iter().take_while(|&&byte| class(byte)).count();
        let (kind, length) = match at(0) {
            None => (TokenKind::End, 0),
            Some(b' ' | b'\t' | b'\n' | b'\r') => {
                start += 1;
                continue;
            }
            Some(b'/') if at(1) == Some(b'/') => {
                start += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            Some(b'/') if at(1) == Some(b'*') => match rest.get(2..).and_then(|rest| rest.find("*/")) {
                Some(length) => {
                    start += length + 4;
                    continue;
                }
                None => (TokenKind::Open, rest.len()),
            },
            // As in XLA's lexer, a name with `=` directly after it is one token.
            Some(b'a'..=b'z' | b'A'..=b'Z' | b'_') => {
                let end = length(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
                match at(end) {
                    Some(b'=') => (TokenKind::Attribute, end + 1),
                    _ => (TokenKind::Word, end),
                }
            }
            Some(b'0'..=b'9') => number(rest, 0),
            Some(b'-') if at(1).is_some_and(|byte| byte.is_ascii_digit()) => number(rest, 1),
            Some(quote @ (b'"' | b'\'')) => string(bytes, quote),
            Some(b'<') if at(1) == Some(b'=') => (TokenKind::LessEqual, 2),
            Some(_) => {
                let c = rest.chars().next().unwrap_or(' ');
                (TokenKind::Punctuation(c), c.len_utf8())
            }
        };
        return Token { kind, span: Span { start, end: start + length } };
    }
}

/// The number at the beginning of the text, whose digits begin at `digits`, and its length. A number that continues in
/// another notation, such as `1.5` or `0x10`, is malformed; a word may follow directly.
fn number(text: &str, digits: usize) -> (TokenKind, usize) {
    let bytes = text.as_bytes();
    let count = |from: usize| bytes.get(from..).unwrap_or(&[]).iter().take_while(|byte| byte.is_ascii_digit()).count();
    let end = digits + count(digits);
    let (next, after) = (bytes.get(end).copied(), end + 1);
    let sign = usize::from(matches!(bytes.get(after), Some(b'+' | b'-')));
    // `1e5` is one malformed number, but `1e` is the number 1 with a word after it.
    let goes_on = match next {
        Some(b'.') => true,
        Some(b'e' | b'E') => count(after + sign) > 0,
        Some(b'_' | b'x') => count(after) > 0,
        _ => false,
    };
    if goes_on {
        let rest = bytes.get(end..).unwrap_or(&[]);
        let more = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_')).count();
        return (TokenKind::MalformedNumber, end + more);
    }
    (TokenKind::Integer(text.get(..end).and_then(|number| number.parse().ok())), end)
}

fn string(bytes: &[u8], quote: u8) -> (TokenKind, usize) {
    let mut end = 1_usize;
    loop {
        let byte = bytes.get(end).copied();
        end += 1;
        match byte {
            None => return (TokenKind::Open, bytes.len()),
            // The character after a backslash does not end the string, even if it is a quote.
            Some(b'\\') => end += 1,
            Some(byte) if byte == quote => return (TokenKind::String, end),
            Some(_) => {}
        }
    }
}
