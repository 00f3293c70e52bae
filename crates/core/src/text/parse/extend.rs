//! Functions for a grammar that adds its own attributes to XLA's layouts. `xla-shape-parity` uses them to read layouts
//! of 2017.

use super::{Parser, Result};
use crate::layout::error::ShapePart;
use crate::shape::array::ArrayShape;
use crate::text::error::{Expected, Found, ParseError, ParseErrorKind, Span};

impl<'a> Parser<'a> {
    /// Reads an array up to the attributes of its layout. If the layout has a colon, the attributes come next, then the bracket that is
    /// returned: both are left to the caller.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("f32[2,3]{0,1:MINE(4)}");
    /// let (array, close) = parser.array_before_attributes()?;
    /// assert_eq!((array.to_string().as_str(), close), ("f32[2,3]{0,1}", Some('}')));
    /// assert!(parser.skip("MINE") && parser.skip("("));
    /// assert_eq!(parser.number("a number of mine")?, 4);
    /// assert!(parser.skip(")") && parser.skip("}"));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no array begins here, or it is invalid.
    pub fn array_before_attributes(&mut self) -> Result<(ArrayShape, Option<char>)> {
        (self.stops_before_attributes, self.open) = (true, None);
        let array = self.array();
        self.stops_before_attributes = false;
        Ok((array?, self.open.take().map(char::from)))
    }

    /// The next token; empty at the end of the text.
    #[must_use]
    pub fn next_token(&self) -> &'a str {
        self.text(self.token)
    }

    /// The span of the next token.
    #[must_use]
    pub fn next_span(&self) -> Span {
        self.token.span()
    }

    /// Skips the next token if it is this one; returns whether it was.
    pub fn skip(&mut self, token: &str) -> bool {
        let is_here = !token.is_empty() && self.next_token() == token;
        if is_here {
            self.advance();
        }
        is_here
    }

    /// Reads a number of at least 0.
    ///
    /// # Errors
    /// If the next token is not one: `expected` says what is expected there.
    pub fn number(&mut self, expected: &'static str) -> Result<u64> {
        self.integer(Expected::Value(expected))
    }

    /// The error that something else is expected at this place.
    #[cold]
    #[must_use]
    pub fn expected_at(&self, expected: &'static str, at: Span) -> ParseError {
        let expected = Expected::Value(expected);
        if at == self.next_span() {
            return self.unexpected(expected);
        }
        let found = Found::new(self.lexer.text().get(at.start..at.end).unwrap_or(""));
        ParseError::new(ParseErrorKind::Unexpected { expected, found }, at)
    }

    /// An error about a part of the array that begins at byte `start` and was just read up to its attributes, at the place of that part.
    #[cold]
    #[must_use]
    pub fn error_in_array(&self, start: usize, part: ShapePart, kind: ParseErrorKind) -> ParseError {
        Self { stops_before_attributes: true, ..self.clone() }.wrong_array(start, part, kind)
    }
}
