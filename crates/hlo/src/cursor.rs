//! A cursor over HLO text: white space, comments, names, strings, and values with brackets (the tokens of
//! `xla/hlo/parser/hlo_lexer.cc`).

use crate::schema::opcode::Opcode;
use alloc::vec::Vec;
use xla_shape_core::ElementType;
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// A character of names.
const NAME: u8 = 1;
/// White space.
const SPACE: u8 = 2;
/// A character with a meaning inside brackets: a bracket, a quote, the end of a line, or `/`, which can begin a comment.
const INSIDE: u8 = 4;
/// A character with a meaning in an attribute's value outside brackets.
const OUTSIDE: u8 = 8;
/// A character of an array shape's dimensions.
const DIMENSION: u8 = 16;
/// A character of layouts.
const LAYOUT: u8 = 32;

#[expect(
    clippy::indexing_slicing,
    reason = "a byte is below 256; the initialiser of a static is checked by the compiler"
)]
static CLASS: [u8; 256] = {
    const fn add(class: &mut [u8; 256], bytes: &[u8], bit: u8) {
        let mut i = 0;
        while i < bytes.len() {
            class[bytes[i] as usize] |= bit;
            i += 1;
        }
    }
    let mut class = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if (byte as u8).is_ascii_alphanumeric() {
            class[byte] |= NAME;
        }
        if (byte as u8).is_ascii_digit() {
            class[byte] |= DIMENSION;
        }
        byte += 1;
    }
    add(&mut class, b"_.-", NAME);
    add(&mut class, b" \t\r\n", SPACE);
    add(&mut class, b"()[]{}\"'/\n", INSIDE);
    add(&mut class, b"()[]{}\"'/\n, \t\r", OUTSIDE);
    add(&mut class, b" ,<=?", DIMENSION);
    add(&mut class, b"0123456789,:()*#+~ABCDEFGHIJKLMNOPQRSTUVWXYZ", LAYOUT);
    class
};

#[expect(clippy::indexing_slicing, reason = "a byte is below 256")]
const fn is(byte: u8, class: u8) -> bool {
    CLASS[byte as usize] & class != 0
}

/// A position in a text, and functions that read from there.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    pub(crate) position: usize,
    /// From this position on, the text has no `*/`. It is stored so that the text after an unclosed comment is searched only once.
    no_comment_end: usize,
    /// A stack of open brackets, kept to reuse its memory.
    open: Vec<u8>,
    /// Whether open brackets and strings are errors at a line in which an instruction begins. XLA continues to read there, so this is set only to
    /// find where an error is.
    pub(crate) is_wary: bool,
}

impl<'a> Cursor<'a> {
    pub(crate) const fn new(text: &'a str, position: usize) -> Self {
        Self { text, position, no_comment_end: usize::MAX, open: Vec::new(), is_wary: false }
    }

    /// A cursor after the bracket at `position`, over the text up to `end`.
    pub(crate) fn inside(&self, position: usize, end: usize) -> Self {
        let text = self.text.get(..end).unwrap_or("");
        Self { is_wary: self.is_wary, ..Self::new(text, position + 1) }
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    #[inline]
    fn byte(&self, position: usize) -> Option<u8> {
        self.text.as_bytes().get(position).copied()
    }

    /// The byte at the cursor.
    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.byte(self.position)
    }

    /// The first position from `position` on whose byte is not of this class.
    #[inline]
    fn while_class(&self, position: usize, class: u8) -> usize {
        let rest = self.text.as_bytes().get(position..).unwrap_or(&[]);
        let length = rest.iter().position(|&byte| !is(byte, class)).unwrap_or(rest.len());
        position + length
    }

    /// The first position from `position` on whose byte is of this class.
    #[inline]
    fn until_class(&self, position: usize, class: u8) -> usize {
        let rest = self.text.as_bytes().get(position..).unwrap_or(&[]);
        let length = rest.iter().position(|&byte| is(byte, class)).unwrap_or(rest.len());
        position + length
    }

    /// The text from `start` to the cursor.
    pub(crate) fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.position).unwrap_or("")
    }

    /// Skips white space and comments.
    #[inline]
    pub(crate) fn skip_space(&mut self) -> Result<()> {
        loop {
            match self.peek() {
                Some(byte) if is(byte, SPACE) => self.position += 1,
                Some(b'/') => {
                    if !self.skip_comment()? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    /// Skips spaces, but not the end of a line.
    #[inline]
    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| is(byte, SPACE) && byte != b'\n') {
            self.position += 1;
        }
    }

    /// Skips a comment, if one begins at the cursor.
    fn skip_comment(&mut self) -> Result<bool> {
        let start = self.position;
        let inside = start + 2;
        match self.byte(start + 1) {
            Some(b'/') => {
                let rest = self.text.as_bytes().get(inside..).unwrap_or(&[]);
                self.position = memchr::memchr(b'\n', rest).map_or(self.text.len(), |length| inside + length);
                Ok(true)
            }
            Some(b'*') => {
                let end = if inside >= self.no_comment_end {
                    None
                } else {
                    self.text.get(inside..).and_then(|rest| rest.find("*/"))
                };
                let Some(length) = end else {
                    self.no_comment_end = self.no_comment_end.min(inside);
                    let span = Span { start, end: inside };
                    return Err(ParseError::new(ParseErrorKind::UnclosedComment, span));
                };
                self.position = inside + length + 2;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Reads a name without its leading `%`; empty if there is none.
    #[inline]
    pub(crate) fn name(&mut self) -> (usize, &'a str) {
        let start = self.position + usize::from(self.peek() == Some(b'%'));
        let end = self.while_class(start, NAME);
        if end > start {
            self.position = end;
        }
        (start, self.text.get(start..end).unwrap_or(""))
    }

    /// Reads digits; empty if there are none.
    pub(crate) fn digits(&mut self) -> &'a str {
        let start = self.position;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.position += 1;
        }
        self.since(start)
    }

    /// Skips this byte, if it is at the cursor; returns whether it was.
    #[inline]
    pub(crate) fn eat(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.position += usize::from(there);
        there
    }

    /// Skips this byte, which must be at the cursor.
    pub(crate) fn expect(&mut self, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(Expected::Character(byte.into()))) }
    }

    /// Skips `byte`, which must be at the cursor; the error says that `other` was possible, too.
    pub(crate) fn expect_either(&mut self, other: u8, byte: u8) -> Result<()> {
        if self.eat(byte) { Ok(()) } else { Err(self.unexpected(Expected::Either(other.into(), byte.into()))) }
    }

    /// Checks that this byte is at the cursor.
    pub(crate) fn peek_is(&self, byte: u8) -> Result<()> {
        if self.peek() == Some(byte) { Ok(()) } else { Err(self.unexpected(Expected::Character(byte.into()))) }
    }

    /// Skips this word, if it is at the cursor as a whole word; returns whether it was.
    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let there = self.text.as_bytes().get(self.position..).is_some_and(|rest| rest.starts_with(word.as_bytes()));
        let end = self.position + word.len();
        if !there || self.byte(end).is_some_and(|byte| is(byte, NAME)) {
            return false;
        }
        self.position = end;
        true
    }

    /// Skips a string, whose opening quote is at the cursor.
    fn string(&mut self) -> Result<()> {
        let start = self.position;
        let quote = self.peek().unwrap_or(b'"');
        let mut position = start + 1;
        loop {
            let rest = self.text.as_bytes().get(position..).unwrap_or(&[]);
            let found = match self.is_wary {
                false => memchr::memchr2(quote, b'\\', rest),
                true => memchr::memchr3(quote, b'\\', b'\n', rest),
            };
            let Some(length) = found else {
                position = self.text.len();
                break;
            };
            position += length;
            match self.byte(position) {
                Some(byte) if byte == quote => {
                    self.position = position + 1;
                    return Ok(());
                }
                Some(b'\\') => position += 2,
                _ if self.begins_anew(position) => break,
                _ => position += 1,
            }
        }
        self.position = position.min(self.text.len());
        Err(ParseError::new(ParseErrorKind::UnclosedString, Span { start, end: start + 1 }))
    }

    /// Whether an instruction begins in the line after `newline`: `ROOT` and a name, or a name, `=`, and a shape or an opcode with its
    /// operands.
    fn begins_anew(&self, newline: usize) -> bool {
        let mut ahead = Self::new(self.text, newline + 1);
        ahead.skip_blanks();
        if ahead.begins_root() {
            return true;
        }
        if ahead.name().1.is_empty() {
            return false;
        }
        ahead.skip_blanks();
        if !ahead.eat(b'=') {
            return false;
        }
        ahead.skip_blanks();
        if ahead.eat(b'(') {
            return ahead.peek().is_some_and(|byte| is(byte, NAME) || matches!(byte, b'(' | b')'));
        }
        let (_, word) = ahead.name();
        match ahead.peek() {
            Some(b'[') => ElementType::from_name(word).is_some() || matches!(word, "token" | "opaque"),
            Some(b'(') => word == "b" || Opcode::number(word).is_some(),
            _ => false,
        }
    }

    /// Whether `ROOT` and a name, or a name and `=`, are at the cursor, with only blanks between them.
    pub(crate) fn begins_instruction(&self) -> bool {
        let mut ahead = Self::new(self.text, self.position);
        if ahead.begins_root() {
            return true;
        }
        if ahead.name().1.is_empty() {
            return false;
        }
        ahead.skip_blanks();
        ahead.peek() == Some(b'=')
    }

    /// Whether `ROOT` and a name are at the cursor.
    #[inline]
    pub(crate) fn begins_root(&self) -> bool {
        if self.peek() != Some(b'R') {
            return false;
        }
        let mut ahead = Self::new(self.text, self.position);
        if !ahead.eat_word("ROOT") {
            return false;
        }
        ahead.position = ahead.while_class(ahead.position, SPACE);
        // A comment can come before the name.
        ahead.peek() == Some(b'/') || !ahead.name().1.is_empty()
    }

    /// Whether a brace that closes a computation is at the cursor: the first character of its line.
    pub(crate) fn closes_computation(&self) -> bool {
        let before = self.text.as_bytes().get(..self.position).unwrap_or(&[]);
        self.peek() == Some(b'}') && {
            let blanks = before.iter().rev().take_while(|byte| is(**byte, SPACE) && **byte != b'\n').count();
            before.iter().rev().nth(blanks) == Some(&b'\n')
        }
    }

    /// Whether only blanks are between the cursor and the end of the line.
    pub(crate) fn ends_line(&self) -> bool {
        let mut ahead = Self::new(self.text, self.position);
        ahead.skip_blanks();
        matches!(ahead.peek(), Some(b'\n') | None)
    }

    /// Whether a number is at the cursor, or after blanks.
    pub(crate) fn is_before_number(&self) -> bool {
        let mut ahead = Self::new(self.text, self.position);
        ahead.skip_blanks();
        ahead.peek().is_some_and(|byte| byte.is_ascii_digit())
    }

    /// Whether a shape, valid or not, begins at the cursor: a parenthesis, a name and `[`, or `b(`.
    pub(crate) fn begins_shape(&self) -> bool {
        if self.peek() == Some(b'(') {
            return true;
        }
        let end = self.while_class(self.position, NAME);
        if end == self.position || self.peek() == Some(b'%') {
            return false;
        }
        let mut ahead = Self::new(self.text, end);
        ahead.skip_blanks();
        match ahead.peek() {
            Some(b'[') => true,
            Some(b'(') => self.text.as_bytes().get(self.position..end) == Some(b"b"),
            _ => false,
        }
    }

    /// Whether a computation begins at the cursor: a name, and its parameters or its brace.
    pub(crate) fn begins_head(&self) -> bool {
        let mut ahead = Self::new(self.text, self.position);
        let is_named = !ahead.name().1.is_empty();
        ahead.skip_blanks();
        is_named && matches!(ahead.peek(), Some(b'(' | b'{'))
    }

    /// Whether a layout can begin at `position` or after blanks: there is a brace, or a comment that a brace may
    /// follow.
    #[inline]
    pub(crate) fn layout_may_follow(&self, position: usize) -> bool {
        match self.byte(position) {
            Some(b'{') => true,
            Some(b' ') if self.byte(position + 1).is_some_and(|byte| byte.is_ascii_alphabetic()) => false,
            _ => {
                let mut ahead = Self::new(self.text, position);
                ahead.skip_blanks();
                matches!(ahead.peek(), Some(b'{' | b'/'))
            }
        }
    }

    /// Skips a bracket at the cursor and everything up to its closing bracket.
    pub(crate) fn balanced(&mut self) -> Result<()> {
        let mut open = core::mem::take(&mut self.open);
        open.clear();
        let result = self.balanced_with(&mut open);
        self.open = open;
        result
    }

    fn balanced_with(&mut self, open: &mut Vec<u8>) -> Result<()> {
        let start = self.position;
        loop {
            self.position = self.until_class(self.position, INSIDE);
            let Some(byte) = self.peek() else {
                return Err(self.unclosed(start));
            };
            match byte {
                b'"' | b'\'' => self.string()?,
                b'(' | b'[' | b'{' => {
                    open.push(byte);
                    self.position += 1;
                }
                b')' | b']' | b'}' => {
                    let last = open.pop().unwrap_or(0);
                    if closing(last) != byte {
                        let expected = Expected::Character(closing(last).into());
                        return Err(self.unexpected(expected));
                    }
                    self.position += 1;
                    if open.is_empty() {
                        return Ok(());
                    }
                }
                // A `/` that begins no comment is part of a value, such as `op_name=jit(f)/add`.
                b'/' => {
                    if !self.skip_comment()? {
                        self.position += 1;
                    }
                }
                _ if self.is_wary && self.begins_anew(self.position) => return Err(self.unclosed(start)),
                _ => self.position += 1,
            }
        }
    }

    /// Skips a value that XLA does not interpret, such as JSON: a string, or braces, in which only braces and strings count
    /// (`HloParserImpl::ParseJsonDict`). Returns where it ends.
    pub(crate) fn free_value(&mut self) -> Result<usize> {
        match self.peek() {
            Some(b'{') => {}
            Some(b'"' | b'\'') => {
                self.string()?;
                return Ok(self.position);
            }
            _ => return self.value(),
        }
        let start = self.position;
        let mut depth = 0_usize;
        loop {
            let rest = self.text.as_bytes().get(self.position..).unwrap_or(&[]);
            let Some(length) = memchr::memchr3(b'{', b'}', b'"', rest) else {
                self.position = self.text.len();
                return Err(self.unclosed(start));
            };
            self.position += length;
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'{') => depth += 1,
                _ => depth = depth.saturating_sub(1),
            }
            self.position += 1;
            if depth == 0 {
                return Ok(self.position);
            }
        }
    }

    #[cold]
    fn unclosed(&self, start: usize) -> ParseError {
        let open = self.byte(start).unwrap_or(0).into();
        ParseError::new(ParseErrorKind::UnclosedBracket { open }, Span { start, end: start + 1 })
    }

    /// Skips an attribute's value, and returns where it ends: before a comma, a closing bracket, the end of the line, or a space
    /// without an opening bracket after it.
    pub(crate) fn value(&mut self) -> Result<usize> {
        let start = self.position;
        loop {
            self.position = self.until_class(self.position, OUTSIDE);
            let end = self.position;
            match self.peek() {
                Some(b'"' | b'\'') => {
                    self.string()?;
                    // A name directly after a string is the next field.
                    if end == start && self.peek().is_some_and(|byte| is(byte, NAME)) {
                        return Ok(self.position);
                    }
                }
                Some(b'(' | b'[' | b'{') => self.balanced()?,
                // A `//` comment counts as the end of the line, a `/* */` comment as a space.
                Some(b'/') if self.byte(end + 1) == Some(b'/') => return self.ended_value(start, end),
                Some(b'/') if !self.skip_comment()? => self.position = end + 1,
                Some(b'/' | b' ' | b'\t' | b'\r') => {
                    self.skip_blanks();
                    if !matches!(self.peek(), Some(b'(' | b'[' | b'{')) {
                        return self.ended_value(start, end);
                    }
                }
                // A comma, a closing bracket, the end of the line or of the text.
                _ => return self.ended_value(start, end),
            }
        }
    }

    fn ended_value(&mut self, start: usize, end: usize) -> Result<usize> {
        if end == start { Err(self.unexpected(Expected::HloAttributeValue)) } else { Ok(end) }
    }

    /// Where the shape at the cursor ends, if its arrays contain no white space, as in nearly all texts. It only finds the end; the text
    /// before it may not be a valid shape.
    #[inline]
    pub(crate) fn shape_end(&self) -> Option<usize> {
        if self.peek() != Some(b'(') {
            return self.element_end(self.position);
        }
        let mut depth = 0_usize;
        let mut position = self.position;
        loop {
            let next = position + 1;
            position = match self.byte(position)? {
                b'(' => {
                    depth += 1;
                    next
                }
                b')' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Some(next);
                    }
                    next
                }
                b',' | b' ' => next,
                b'/' if self.byte(next) == Some(b'*') => {
                    // Only comments like `/*index=5*/`.
                    let end = self.until_class(next + 1, INSIDE);
                    let before = end.checked_sub(1)?;
                    if before <= next || self.byte(before) != Some(b'*') || self.byte(end) != Some(b'/') {
                        return None;
                    }
                    end + 1
                }
                byte if is(byte, NAME) => self.element_end(position)?,
                _ => return None,
            };
        }
    }

    /// Where the array shape at `position` ends, including its layout.
    #[inline]
    pub(crate) fn array_end(&self, position: usize) -> Option<usize> {
        let end = self.dimensions_end(position)?;
        if self.byte(end) != Some(b'{') || !matches!(self.byte(end + 1), Some(b'0'..=b'9' | b':')) {
            return Some(end);
        }
        let close = self.while_class(end + 1, LAYOUT);
        (self.byte(close)? == b'}').then_some(close + 1)
    }

    /// Where the shape at `position` ends, of an array or, as in `b(f32[2])`, of a buffer.
    #[inline]
    fn element_end(&self, position: usize) -> Option<usize> {
        self.array_end(position).or_else(|| self.buffer_end(position))
    }

    #[cold]
    fn buffer_end(&self, position: usize) -> Option<usize> {
        let is_buffer = self.text.as_bytes().get(position..)?.starts_with(b"b(");
        let end = is_buffer.then(|| self.array_end(position + 2))??;
        (self.byte(end)? == b')').then_some(end + 1)
    }

    /// Where the dimensions of the array shape at `position` end.
    #[inline]
    pub(crate) fn dimensions_end(&self, position: usize) -> Option<usize> {
        let open = self.while_class(position, NAME);
        if open == position || self.byte(open)? != b'[' {
            return None;
        }
        let close = self.while_class(open + 1, DIMENSION);
        (self.byte(close)? == b']').then_some(close + 1)
    }

    /// If an instruction begins at the cursor: where its shape is.
    #[inline]
    pub(crate) fn instruction_shape(&mut self) -> Option<Span> {
        self.skip_blanks();
        if self.begins_root() {
            self.position += "ROOT".len();
            self.skip_blanks();
        }
        if self.name().1.is_empty() {
            return None;
        }
        self.skip_blanks();
        if !self.eat(b'=') {
            return None;
        }
        self.skip_blanks();
        let (start, end) = (self.position, self.shape_end()?);
        Some(Span { start, end })
    }

    /// Moves to the beginning of the next line.
    pub(crate) fn skip_line(&mut self) {
        let rest = self.text.as_bytes().get(self.position..).unwrap_or(&[]);
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |length| length + 1);
        self.position += length;
    }

    /// The error that the name, number or character at the cursor is not the expected one.
    #[cold]
    pub(crate) fn unexpected(&self, expected: Expected) -> ParseError {
        let start = self.position;
        let name_end = self.while_class(start, NAME);
        let end = match self.text.get(start..) {
            Some(rest) if name_end == start => start + rest.chars().next().map_or(0, char::len_utf8),
            _ => name_end,
        };
        let found = Found::new(self.text.get(start..end).unwrap_or(""));
        ParseError::new(ParseErrorKind::Unexpected { expected, found }, Span { start, end })
    }
}

const fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;
    use alloc::string::String;
    use xla_shape_core::Shape;
    use xla_shape_core::text::Parser;

    const PIECES: [&str; 12] =
        ["f32", "token", "[]", "[2,<=3]", "{1,0}", "{0:T(2)}", "(", ")", ",", " ", "/*index=1*/", "b("];

    #[test]
    fn a_shape_ends_where_the_parser_says() {
        let mut found = 0;
        for number in 0..PIECES.len().pow(5) {
            let (mut text, mut rest) = (String::new(), number);
            while rest > 0 {
                text.push_str(PIECES[rest % PIECES.len()]);
                rest /= PIECES.len();
            }
            let cursor = Cursor::new(&text, 0);
            let Some(end) = cursor.shape_end().filter(|&end| !cursor.layout_may_follow(end)) else { continue };
            let Ok(piece) = text[..end].parse::<Shape>() else { continue };
            found += 1;
            let mut parser = Parser::at(&text, 0);
            let whole = parser.shape().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!((piece, end), (whole, parser.position()), "{text}");
        }
        assert!(found > 1000, "{found}");
    }
}
