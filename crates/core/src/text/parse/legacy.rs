//! The parser of shapes in layouts of 2017.

use super::{Parser, Result};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::attribute::LayoutAttribute;
use crate::layout::error::ShapePart;
use crate::shape::legacy::{LegacyShape, PaddingValue};
use crate::shape::type_limits;
use crate::text::error::{Expected, ParseError, ParseErrorKind, Span};
use crate::text::token::TokenKind;
use alloc::vec::Vec;
use core::str::FromStr;

/// The parts of a shape as they were read, before validation.
struct LegacyParts {
    element_type: ElementType,
    sizes: Vec<u64>,
    minor_to_major: Vec<usize>,
    padded_dimensions: Vec<u64>,
    padding_value: Option<PaddingValue>,
}

impl Parser<'_> {
    /// Whether an array shape in a layout of 2017 comes next: the first attribute of its layout is `PAD` or `V`.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// assert!(Parser::new("f32[2,3]{0,1:PAD(3,5)}").is_legacy());
    /// assert!(!Parser::new("f32[2,3]{0,1:T(5,3)}").is_legacy());
    /// ```
    #[must_use]
    pub fn is_legacy(&self) -> bool {
        let Err(error) = self.clone().array() else { return false };
        let at = error.span();
        let found = self.lexer.text().get(at.start..at.end);
        matches!(error.kind(), ParseErrorKind::Unexpected { expected: Expected::AttributeOrEnd, .. })
            && [LayoutAttribute::PaddedDimensions, LayoutAttribute::PaddingValue]
                .iter()
                .any(|a| found == Some(a.symbol()))
    }

    /// Reads an array shape in a layout of 2017, such as `f32[2,3]{0,1:PAD(3,5)V(zero)}`.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("f32[2,3]{0,1:PAD(3,5)V(zero)}");
    /// assert_eq!(parser.legacy()?.padded_dimensions(), [3, 5]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no shape begins here, or it is invalid.
    pub fn legacy(&mut self) -> Result<LegacyShape> {
        let (lexer, token) = (self.lexer, self.token);
        let LegacyParts { element_type, sizes, minor_to_major, padded_dimensions, padding_value } =
            self.legacy_parts()?;
        let error_at = |part, kind| {
            let whole = Span { start: token.start, end: self.position };
            let mut again = Self { lexer, token, wanted: Some(part), ..self.clone() };
            let span = again.legacy_parts().ok().and(again.found).unwrap_or(whole);
            ParseError::new(kind, span)
        };
        let shape = LegacyShape::new(element_type, &sizes, &minor_to_major, &padded_dimensions, padding_value)
            .map_err(|error| error_at(error.part(), ParseErrorKind::Invalid(error)))?;
        if self.for_types {
            type_limits::check(shape.modern())
                .map_err(|error| error_at(error.part(), ParseErrorKind::NotAType(error)))?;
        }
        Ok(shape)
    }

    fn legacy_parts(&mut self) -> Result<LegacyParts> {
        let element_type = self.element_type()?;
        self.eat(b'[')?;
        let sizes =
            if self.token.is(b']') { Vec::new() } else { self.list(b']', Expected::Size, ShapePart::Dimension)? };
        self.eat(b']')?;
        let minor_to_major = Layout::descending(sizes.len()).minor_to_major().to_vec();
        let mut parts =
            LegacyParts { element_type, sizes, minor_to_major, padded_dimensions: Vec::new(), padding_value: None };
        if !self.layout_follows() {
            return Ok(parts);
        }
        let close = if self.token.is(b'<') { b'>' } else { b'}' };
        self.advance();
        let start = self.token.start;
        parts.minor_to_major.clear();
        if !self.token.is(b':') {
            loop {
                let (start, position) = (self.token.start, parts.minor_to_major.len());
                parts.minor_to_major.push(self.dimension_number(Expected::DimensionNumber)?);
                self.mark(ShapePart::MinorToMajorEntry(position), start);
                if !self.token.is(b',') {
                    break;
                }
                self.advance();
            }
        }
        self.mark(ShapePart::MinorToMajor, start);
        if self.token.is(b':') {
            self.advance();
            self.legacy_attributes(&mut parts)?;
            if !self.token.is(close) {
                return Err(self.unexpected(Expected::LegacyAttributeOrEnd));
            }
        } else if !self.token.is(close) {
            return Err(self.unexpected(Expected::AnyOf(',', ':', close.into())));
        }
        self.eat(close)?;
        Ok(parts)
    }

    fn legacy_attributes(&mut self, parts: &mut LegacyParts) -> Result<()> {
        if self.text(self.token) != LayoutAttribute::PaddedDimensions.symbol() {
            return Ok(());
        }
        self.advance();
        let start = self.token.start;
        self.eat(b'(')?;
        parts.padded_dimensions = self.list(b')', Expected::Width, ShapePart::PaddedDimension)?;
        self.eat(b')')?;
        self.mark(ShapePart::Attribute(LayoutAttribute::PaddedDimensions), start);
        if self.text(self.token) == LayoutAttribute::PaddingValue.symbol() {
            self.advance();
            self.eat(b'(')?;
            parts.padding_value = PaddingValue::from_name(self.text(self.token));
            if parts.padding_value.is_none() {
                return Err(self.unexpected(Expected::PaddingValue));
            }
            self.advance();
            self.eat(b')')?;
        }
        Ok(())
    }

    /// Reads one or more numbers with commas between them, up to `close`, which is not read.
    pub(super) fn list(&mut self, close: u8, expected: Expected, part: fn(usize) -> ShapePart) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        loop {
            let start = self.token.start;
            let position = numbers.len();
            numbers.push(self.integer(expected)?);
            self.mark(part(position), start);
            if !self.comma_or(close)? {
                return Ok(numbers);
            }
        }
    }

    pub(super) fn at_end(&self) -> bool {
        self.token.kind == TokenKind::End
    }
}

impl FromStr for LegacyShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser::whole(text);
        let shape = parser.legacy()?;
        parser.finish()?;
        Ok(shape)
    }
}
