//! The lexer of shapes. XLA's is `HloLexer` (`xla/hlo/parser/hlo_lexer.cc`).

use super::error::Span;

/// The kind of a token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenKind {
    /// A letter or `_`, then letters, digits and `_`.
    Word,
    /// Digits only, at most `i64::MAX`.
    Integer(u64),
    /// Digits only, more than `i64::MAX`.
    LargeInteger,
    /// Digits that run into letters or dots, such as `0x10`, `1_000` or `1.5`.
    MalformedInteger,
    /// `<=`
    LessEqual,
    /// Any other visible ASCII character.
    Punctuation(u8),
    /// A character that no shape contains.
    Other,
    /// `/*` without `*/`.
    UnclosedComment,
    /// The end of the text.
    End,
}

/// A token and its position in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Token {
    pub(crate) const fn span(self) -> Span {
        Span { start: self.start, end: self.end }
    }

    pub(crate) const fn is(self, punctuation: u8) -> bool {
        matches!(self.kind, TokenKind::Punctuation(byte) if byte == punctuation)
    }
}

/// Reads the tokens of a text, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(crate) const fn new(text: &'a str, position: usize) -> Self {
        Self { text, position }
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    #[inline]
    fn byte(&self, position: usize) -> Option<u8> {
        self.text.as_bytes().get(position).copied()
    }

    /// The first position from `position` on whose byte is not in `class`.
    #[inline]
    fn skip(&self, mut position: usize, class: impl Fn(u8) -> bool) -> usize {
        while self.byte(position).is_some_and(&class) {
            position += 1;
        }
        position
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> Token {
        let token = self.token();
        self.position = token.end;
        token
    }

    #[inline(always)]
    fn token(&self) -> Token {
        let mut start = self.position;
        loop {
            let Some(byte) = self.byte(start) else {
                return Token { kind: TokenKind::End, start, end: start };
            };
            let next = start + 1;
            let (kind, end) = match byte {
                b'0'..=b'9' => return self.integer(start),
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => (TokenKind::Word, self.skip(next, is_word)),
                b' ' | b'\t' | b'\n' | b'\r' => {
                    start = next;
                    continue;
                }
                b'/' if self.byte(next) == Some(b'/') => {
                    start = self.skip(next, |byte| byte != b'\n');
                    continue;
                }
                b'/' if self.byte(next) == Some(b'*') => {
                    let Some(comment) = self.text.get((start + 2)..) else {
                        return Token { kind: TokenKind::UnclosedComment, start, end: self.text.len() };
                    };
                    let Some(length) = comment.find("*/") else {
                        return Token { kind: TokenKind::UnclosedComment, start, end: self.text.len() };
                    };
                    start += length + 4;
                    continue;
                }
                b'<' if self.byte(next) == Some(b'=') => (TokenKind::LessEqual, next + 1),
                b'!'..=b'~' => (TokenKind::Punctuation(byte), next),
                _ => {
                    let length = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
                    (TokenKind::Other, start + length)
                }
            };
            return Token { kind, start, end };
        }
    }

    #[inline(always)]
    fn integer(&self, start: usize) -> Token {
        let mut end = start;
        let mut value = 0_u64;
        let mut fits = true;
        while let Some(byte) = self.byte(end) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                break;
            }
            // `value * 10 + digit` is at most `i64::MAX`.
            fits &= value < i64::MAX as u64 / 10 || (value == i64::MAX as u64 / 10 && digit <= 7);
            value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
            end += 1;
        }
        if self.byte(end).is_some_and(is_number) {
            let end = self.skip(end, is_number);
            return Token { kind: TokenKind::MalformedInteger, start, end };
        }
        let kind = if fits { TokenKind::Integer(value) } else { TokenKind::LargeInteger };
        Token { kind, start, end }
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a byte after decimal digits would continue a number in another notation, such as `0x10`, `1_000` or `1.5`.
const fn is_number(byte: u8) -> bool {
    is_word(byte) || byte == b'.'
}

#[cfg(test)]
mod tests {
    use super::{Lexer, TokenKind};
    use alloc::vec::Vec;

    fn kinds(text: &str) -> Vec<TokenKind> {
        let mut lexer = Lexer::new(text, 0);
        core::iter::from_fn(|| Some(lexer.next().kind).filter(|&kind| kind != TokenKind::End)).collect()
    }

    #[test]
    fn comments_and_white_space_separate_tokens() {
        use TokenKind::{Integer, Word};
        assert_eq!(kinds("a /*1*/\tb // c\r\n 3"), [Word, Word, Integer(3)]);
        assert_eq!(kinds("a/**/b//"), [Word, Word]);
    }

    #[test]
    fn a_comment_must_end() {
        assert_eq!(kinds("/*").first(), Some(&TokenKind::UnclosedComment));
        assert_eq!(kinds("/*/").first(), Some(&TokenKind::UnclosedComment));
    }

    #[test]
    fn integers_end_at_i64_max() {
        use TokenKind::{Integer, LargeInteger, MalformedInteger};
        assert_eq!(kinds("9223372036854775807"), [Integer(i64::MAX as u64)]);
        assert_eq!(kinds("9223372036854775808"), [LargeInteger]);
        assert_eq!(kinds("99999999999999999999999999999999999999999"), [LargeInteger]);
        assert_eq!(kinds("00018446744073709551616"), [LargeInteger]);
        assert_eq!(kinds("0007"), [Integer(7)]);
        assert_eq!(kinds("0x10 1_000 8usize 1.5 8. 0..8"), [MalformedInteger; 6]);
    }
}
