//! Splits MLIR text into operations by its brackets, quotes and line ends, without knowing the dialects.

use crate::error::{MAX_DEPTH, MlirError, MlirProblem};
use alloc::vec::Vec;

/// Reads a text from front to back.
pub(crate) struct Scanner<'a> {
    text: &'a str,
    position: usize,
}

/// A part of an operation: the text before its first region, or after a region.
pub(crate) struct Part<'a> {
    /// The text of the part, without the attributes and the location at its end.
    pub(crate) text: &'a str,
    pub(crate) attributes: Vec<(&'a str, &'a str)>,
    pub(crate) location: Option<&'a str>,
    pub(crate) opens_region: bool,
}

/// What one step of the scanner moved past.
enum Token {
    Open(u8),
    Close(u8),
    LineEnd,
    Other,
    End,
}

impl<'a> Scanner<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self::from(text, 0)
    }

    pub(crate) const fn from(text: &'a str, position: usize) -> Self {
        Self { text, position }
    }

    pub(crate) const fn text(&self) -> &'a str {
        self.text
    }

    pub(crate) const fn position(&self) -> usize {
        self.position
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.position..).unwrap_or("")
    }

    pub(crate) fn at_end(&self) -> bool {
        self.rest().is_empty()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn byte(&self, position: usize) -> Option<u8> {
        self.text.as_bytes().get(position).copied()
    }

    fn since(&self, start: usize) -> &'a str {
        self.text.get(start..self.position).unwrap_or("")
    }

    pub(crate) fn eat(&mut self, wanted: &str) -> bool {
        let found = self.rest().starts_with(wanted);
        if found {
            self.position += wanted.len();
        }
        found
    }

    #[cold]
    pub(crate) fn error(&self, problem: MlirProblem, position: usize) -> MlirError {
        let before = self.text.as_bytes().get(..position).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        MlirError::new(problem, position, line)
    }

    /// Returns an error if another region would be nested too deeply.
    pub(crate) fn check_depth(&self, depth: usize) -> Result<(), MlirError> {
        if depth < MAX_DEPTH { Ok(()) } else { Err(self.error(MlirProblem::TooDeep, self.position.saturating_sub(1))) }
    }

    /// Skips spaces, line ends and comments.
    pub(crate) fn skip_space(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.position += rest.len().saturating_sub(trimmed.len());
            if !trimmed.starts_with("//") {
                return;
            }
            self.position += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    /// Whether only blanks follow in this line.
    fn ends_line(&self) -> bool {
        self.rest().trim_start_matches([' ', '\t']).starts_with(['\n', '\r'])
    }

    fn skip_blanks(&mut self) {
        let blanks = self.rest().bytes().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
        self.position += blanks;
    }

    /// Reads `%a, %b:2 = name` or `name`. Returns `None`, and reads nothing, if no operation begins here.
    pub(crate) fn operation_head(&mut self) -> Option<(Vec<&'a str>, &'a str)> {
        let start = self.position;
        let head = self.head();
        if head.is_none() {
            self.position = start;
        }
        head
    }

    fn head(&mut self) -> Option<(Vec<&'a str>, &'a str)> {
        let mut results = Vec::new();
        while self.peek() == Some('%') {
            let from = self.position;
            self.take(|c| c == '%' || is_identifier(c));
            results.push(self.since(from));
            // `%a:2 = …` are two results of one name.
            if self.eat(":") {
                self.take(|c| c.is_ascii_digit());
            }
            self.skip_blanks();
            if !self.eat(",") {
                break;
            }
            self.skip_blanks();
        }
        if !results.is_empty() {
            if !self.eat("=") {
                return None;
            }
            self.skip_blanks();
        }
        let from = self.position;
        if self.eat("\"") {
            self.take(|c| c != '"' && c != '\n');
            let name = self.text.get((from + 1)..self.position)?;
            return (self.eat("\"") && !name.is_empty()).then_some((results, name));
        }
        self.take(is_identifier);
        let name = self.since(from);
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some((results, name))
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) {
        let rest = self.rest();
        let length = rest.find(|c: char| !wanted(c)).unwrap_or(rest.len());
        self.position += length;
    }

    /// Moves past one character, or one string.
    fn step(&mut self) -> Result<Token, MlirError> {
        let start = self.position;
        let Some(byte) = self.byte(start) else { return Ok(Token::End) };
        self.position = start + 1;
        Ok(match byte {
            b'"' => {
                loop {
                    match self.byte(self.position) {
                        None | Some(b'\n') => return Err(self.error(MlirProblem::StringEnd, start)),
                        Some(b'\\') => self.position += 2,
                        Some(b'"') => break,
                        Some(_) => self.position += 1,
                    }
                }
                self.position += 1;
                Token::Other
            }
            b'(' | b'[' | b'{' | b'<' => Token::Open(byte),
            // The `>` of an arrow or a comparison is not a closing bracket.
            b'>' if matches!(start.checked_sub(1).and_then(|before| self.byte(before)), Some(b'-' | b'=')) => {
                Token::Other
            }
            b'>' if self.byte(self.position) == Some(b'=') => Token::Other,
            b')' | b']' | b'}' | b'>' => Token::Close(byte),
            b'\n' => Token::LineEnd,
            _ => Token::Other,
        })
    }

    /// Passes a line, and the following lines while a bracket is open. Returns their text.
    pub(crate) fn balanced_line(&mut self) -> Result<&'a str, MlirError> {
        let start = self.position;
        let mut open = Open::default();
        loop {
            let at = self.position;
            match self.step()? {
                Token::Open(byte) => open.push(self, byte, at)?,
                // The line may close a bracket that an earlier line opened, as in the generic form.
                Token::Close(_) if open.is_empty() => {}
                Token::Close(byte) => open.pop(self, byte, at)?,
                Token::LineEnd if open.is_empty() => return Ok(self.text.get(start..at).unwrap_or("").trim_end()),
                Token::End => return open.end(self).map(|()| self.since(start).trim_end()),
                _ => {}
            }
        }
    }

    /// Reads an operation up to its end or to the brace that begins a region.
    pub(crate) fn rest_of_operation(&mut self) -> Result<Part<'a>, MlirError> {
        let start = self.position;
        let (mut attributes, mut location) = (Vec::new(), None);
        let mut open = Open::default();
        // The text before its attribute dictionaries.
        let mut text_end = None;
        let opens_region = loop {
            let at = self.position;
            if open.is_empty() && self.rest().starts_with("loc(") {
                self.position += "loc".len();
                let from = self.position;
                self.balanced()?;
                location = Some(self.since(from));
                text_end = text_end.or(Some(at));
                continue;
            }
            match self.step()? {
                Token::Open(b'{') if self.ends_line() => {
                    // A bracket can be open here: in the generic form, the regions are in parentheses.
                    break true;
                }
                Token::Open(b'{') if open.is_empty() => {
                    self.position = at;
                    self.balanced()?;
                    attributes.extend(dictionary(self.since(at)));
                }
                Token::Open(byte) => open.push(self, byte, at)?,
                // This closes the parenthesis around the regions of a generic form, which was opened before the first region.
                Token::Close(b')') if open.is_empty() => {}
                Token::Close(b'}') if open.is_empty() => {
                    self.position = at;
                    break false;
                }
                Token::Close(byte) => open.pop(self, byte, at)?,
                Token::LineEnd if open.is_empty() => break false,
                Token::End => {
                    open.end(self)?;
                    break false;
                }
                _ => {}
            }
        };
        let end = text_end.unwrap_or(self.position);
        let text = self.text.get(start..end).unwrap_or("").trim();
        Ok(Part { text, attributes, location, opens_region })
    }

    /// Passes characters and whole brackets and strings up to the first byte outside of them that `is_end` accepts, or to the end of the
    /// text. Returns the position.
    pub(crate) fn pass_until(&mut self, mut is_end: impl FnMut(u8) -> bool) -> Result<usize, MlirError> {
        let mut open = Open::default();
        loop {
            let at = self.position;
            if open.is_empty() && self.byte(at).is_some_and(&mut is_end) {
                return Ok(at);
            }
            match self.step()? {
                Token::Open(byte) => open.push(self, byte, at)?,
                Token::Close(byte) => open.pop(self, byte, at)?,
                Token::End => return open.end(self).map(|()| at),
                _ => {}
            }
        }
    }

    /// Passes a bracket and its contents.
    pub(crate) fn balanced(&mut self) -> Result<(), MlirError> {
        let mut open = Open::default();
        loop {
            let at = self.position;
            match self.step()? {
                Token::Open(byte) => open.push(self, byte, at)?,
                Token::Close(byte) => open.pop(self, byte, at)?,
                Token::End => return open.end(self),
                _ => {}
            }
            if open.is_empty() {
                return Ok(());
            }
        }
    }
}

/// The open brackets, with their positions.
#[derive(Default)]
struct Open(Vec<(u8, usize)>);

impl Open {
    const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn push(&mut self, scanner: &Scanner<'_>, byte: u8, at: usize) -> Result<(), MlirError> {
        if self.0.len() >= MAX_DEPTH {
            return Err(scanner.error(MlirProblem::TooDeep, at));
        }
        self.0.push((byte, at));
        Ok(())
    }

    fn pop(&mut self, scanner: &Scanner<'_>, byte: u8, at: usize) -> Result<(), MlirError> {
        let (opening, from) = match self.0.pop() {
            Some(last) => last,
            None => return Err(scanner.error(MlirProblem::NotOpen, at)),
        };
        match (opening, byte) {
            (b'(', b')') | (b'[', b']') | (b'{', b'}') | (b'<', b'>') => Ok(()),
            _ => Err(scanner.error(MlirProblem::BracketEnd, from)),
        }
    }

    fn end(&self, scanner: &Scanner<'_>) -> Result<(), MlirError> {
        match self.0.last() {
            Some((_, from)) => Err(scanner.error(MlirProblem::BracketEnd, *from)),
            None => Ok(()),
        }
    }
}

const fn is_identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// The entries of `{a = 1, b, c = [2, 3]}`.
pub(crate) fn dictionary(text: &str) -> Vec<(&str, &str)> {
    let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or("");
    let entries = split_at_commas(inside).into_iter().map(str::trim).filter(|entry| !entry.is_empty());
    entries
        .map(|entry| match entry.split_once('=') {
            // If there is a bracket before `=`, this is not a name and a value.
            Some((name, value)) if !name.contains(['<', '[', '(', '{', '"']) => (name.trim(), value.trim()),
            _ => (entry, ""),
        })
        .collect()
}

/// Splits a text at the commas outside of brackets and strings. A bracket that is not closed keeps the rest together.
///
/// ```
/// assert_eq!(xla_shape_mlir::split_at_commas("a, <b, c>"), ["a", " <b, c>"]);
/// ```
#[must_use]
pub fn split_at_commas(text: &str) -> Vec<&str> {
    let mut scanner = Scanner::new(text);
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    loop {
        let at = scanner.position;
        match scanner.step() {
            Ok(Token::Open(_)) => depth += 1,
            Ok(Token::Close(_)) => depth = depth.saturating_sub(1),
            Ok(Token::End) | Err(_) => {
                parts.push(text.get(start..).unwrap_or(""));
                return parts;
            }
            Ok(_) if depth == 0 && text.as_bytes().get(at) == Some(&b',') => {
                parts.push(text.get(start..at).unwrap_or(""));
                start = scanner.position;
            }
            Ok(_) => {}
        }
    }
}

/// How many braces are open after a line of MLIR, if `before` braces are open before it. Braces in strings do not count. If a string does not
/// end in the line, the rest of the line belongs to it.
///
/// ```
/// assert_eq!(xla_shape_mlir::open_braces("module @m attributes {a = \"{\"} {", 0), 1);
/// assert_eq!(xla_shape_mlir::open_braces("}", 1), 0);
/// ```
#[must_use]
pub fn open_braces(line: &str, before: usize) -> usize {
    let (mut scanner, mut open) = (Scanner::new(line), before);
    loop {
        match scanner.step() {
            Ok(Token::Open(b'{')) => open = open.saturating_add(1),
            Ok(Token::Close(b'}')) => open = open.saturating_sub(1),
            Ok(Token::End) | Err(_) => return open,
            Ok(_) => {}
        }
    }
}
