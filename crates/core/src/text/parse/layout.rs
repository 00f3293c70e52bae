//! The parser of layouts. XLA's is `HloParserImpl::ParseLayout` (`xla/hlo/parser/hlo_parser.cc`).

use super::{Brackets, Parser, Result};
use crate::element_type::{ElementClass, ElementType};
use crate::layout::attribute::LayoutAttribute;
use crate::layout::error::{ShapePart, ValidationError};
use crate::layout::tile::{Tile, TileDimension};
use crate::layout::{Layout, SplitConfig};
use crate::list::List;
use crate::text::error::{Expected, ParseError, ParseErrorKind, Span};
use crate::text::token::{Lexer, Token, TokenKind};
use core::str::FromStr;

impl Parser<'_> {
    /// Reads a layout with its brackets.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("{1,0:T(8,128)}, {0}");
    /// assert_eq!(parser.layout()?.to_string(), "{1,0:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no layout begins here, or it is invalid.
    pub fn layout(&mut self) -> Result<Layout> {
        let (lexer, token) = (self.lexer, self.token);
        if !self.opens_layout(self.token) {
            return Err(self.unexpected(Expected::Layout));
        }
        self.layout_parts()?.validated().map_err(|error| {
            let whole = Span { start: token.start, end: self.position };
            let mut again = Self { lexer, token, wanted: Some(error.part()), ..self.clone() };
            let span = again.layout_parts().ok().and(again.found).unwrap_or(whole);
            ParseError::new(ParseErrorKind::Invalid(error), span)
        })
    }

    fn opens_layout(&self, token: Token) -> bool {
        token.is(b'{') || (self.brackets == Brackets::BraceOrAngle && token.is(b'<'))
    }

    #[inline]
    pub(super) fn layout_follows(&self) -> bool {
        self.opens_layout(self.token)
            && (self.brackets != Brackets::BraceBeforeLayout || {
                let mut ahead = self.lexer;
                matches!(ahead.next().kind, TokenKind::Integer(_) | TokenKind::Punctuation(b':'))
            })
    }

    pub(super) fn layout_parts(&mut self) -> Result<Layout> {
        let close = if self.token.is(b'<') { b'>' } else { b'}' };
        self.advance();
        let mut layout = Layout::unchecked(List::EMPTY);
        let start = self.token.start;
        // `{}` is not a layout: without dimension numbers, there must be a colon.
        if !self.token.is(b':') {
            let mut position = 0_usize;
            loop {
                let start = self.token.start;
                layout.minor_to_major.push(self.dimension_number(Expected::DimensionNumber)?);
                self.mark(ShapePart::MinorToMajorEntry(position), start);
                position += 1;
                if self.token.is(b',') {
                    self.advance();
                } else {
                    break;
                }
            }
        }
        self.mark(ShapePart::MinorToMajor, start);
        if self.token.is(b':') {
            self.advance();
            if self.stops_before_attributes {
                self.open = Some(close);
                return Ok(layout);
            }
            self.attributes(&mut layout, close)?;
        } else if !self.token.is(close) {
            return Err(self.unexpected(Expected::AnyOf(',', ':', close.into())));
        }
        self.eat(close)?;
        Ok(layout)
    }

    fn attributes(&mut self, layout: &mut Layout, close: u8) -> Result<()> {
        let mut last: Option<LayoutAttribute> = None;
        while !self.token.is(close) {
            let symbol = self.text(self.token);
            let Some(attribute) = LayoutAttribute::ALL.into_iter().find(|attribute| attribute.symbol() == symbol)
            else {
                return Err(self.unexpected(Expected::AttributeOrEnd));
            };
            match last {
                Some(after) if after == attribute => {
                    return Err(ParseError::new(ParseErrorKind::DuplicateAttribute { attribute }, self.token.span()));
                }
                Some(after) if after > attribute => {
                    let kind = ParseErrorKind::AttributeOutOfOrder { attribute, after };
                    return Err(ParseError::new(kind, self.token.span()));
                }
                _ => last = Some(attribute),
            }
            let start = self.token.start;
            self.advance();
            match attribute {
                LayoutAttribute::DimLevels => self.dim_levels()?,
                LayoutAttribute::Tiles => self.tiles(layout)?,
                LayoutAttribute::SplitConfigs => self.split_configs(layout)?,
                LayoutAttribute::IndexPrimitiveType | LayoutAttribute::PointerPrimitiveType => {
                    self.eat(b'(')?;
                    self.unsigned_element_type()?;
                    self.eat(b')')?;
                    return Err(self.sparse(attribute, start));
                }
                LayoutAttribute::PhysicalShape => return Err(self.sparse(attribute, start)),
                // A number: `ALL` has no other attributes.
                _ => {
                    let number = self.attribute_value(attribute)?;
                    // For an error, find the span of the number. (An expression has the placeholder 1, which is valid.)
                    let span = self.found_value(start);
                    layout
                        .set_number(attribute, number)
                        .map_err(|error| ParseError::new(ParseErrorKind::Invalid(error), span))?;
                }
            }
        }
        Ok(())
    }

    fn sparse(&self, attribute: LayoutAttribute, start: usize) -> ParseError {
        let kind = ParseErrorKind::Invalid(ValidationError::SparseAttribute { attribute });
        ParseError::new(kind, Span { start, end: self.position })
    }

    fn unsigned_element_type(&mut self) -> Result<()> {
        match ElementType::from_name(self.text(self.token)) {
            Some(element_type) if element_type.class() == ElementClass::UnsignedInteger => {
                self.advance();
                Ok(())
            }
            _ => Err(self.unexpected(Expected::UnsignedElementType)),
        }
    }

    fn dim_levels(&mut self) -> Result<()> {
        self.eat(b'(')?;
        if !self.token.is(b')') {
            loop {
                if !matches!(self.text(self.token), "D" | "C" | "S" | "H") {
                    return Err(self.unexpected(Expected::DimLevel));
                }
                self.advance();
                for sign in [b'+', b'~'] {
                    if self.token.is(sign) {
                        self.advance();
                    }
                }
                if !self.comma_or(b')')? {
                    break;
                }
            }
        }
        self.eat(b')')
    }

    fn tiles(&mut self, layout: &mut Layout) -> Result<()> {
        let mut number = 0_usize;
        loop {
            let start = self.token.start;
            self.eat(b'(')?;
            let mut tile = Tile::EMPTY;
            if !self.token.is(b')') {
                let mut position = 0_usize;
                loop {
                    let (start, part) = (self.token.start, ShapePart::TileEntry(number, position));
                    if self.token.is(b'*') {
                        self.advance();
                        tile.push(TileDimension::Combine);
                    } else {
                        tile.push(TileDimension::Size(self.size(Expected::TileDimension, part)?));
                    }
                    self.mark(part, start);
                    position += 1;
                    if !self.comma_or(b')')? {
                        break;
                    }
                }
            }
            self.eat(b')')?;
            self.mark(ShapePart::Tile(number), start);
            layout.tiles.push(tile);
            number += 1;
            if !self.token.is(b'(') {
                return Ok(());
            }
        }
    }

    fn split_configs(&mut self, layout: &mut Layout) -> Result<()> {
        let mut split = 0_usize;
        loop {
            let start = self.token.start;
            self.eat(b'(')?;
            let dimension_start = self.token.start;
            let dimension = self.dimension_number(Expected::SplitDimension)?;
            self.mark(ShapePart::SplitDimension(split), dimension_start);
            self.eat(b':')?;
            let mut split_indices = List::EMPTY;
            let mut position = 0_usize;
            loop {
                let start = self.token.start;
                split_indices.push(self.integer(Expected::SplitIndex)?);
                self.mark(ShapePart::SplitIndex(split, position), start);
                position += 1;
                if !self.comma_or(b')')? {
                    break;
                }
            }
            self.eat(b')')?;
            self.mark(ShapePart::Split(split), start);
            layout.split_configs.push(SplitConfig { dimension, split_indices });
            split += 1;
            if !self.token.is(b'(') {
                return Ok(());
            }
        }
    }

    /// Reads `(` number `)`.
    fn attribute_value(&mut self, attribute: LayoutAttribute) -> Result<u64> {
        self.eat(b'(')?;
        let start = self.token.start;
        let (expected, part) = (Expected::AttributeValue(attribute), ShapePart::Attribute(attribute));
        let is_size = attribute == LayoutAttribute::MemorySpace;
        let value = if is_size { self.size(expected, part)? } else { self.integer(expected)? };
        self.mark(part, start);
        self.eat(b')')?;
        Ok(value)
    }

    /// The span of the number in the attribute that was just read, which begins at `start`: symbol, `(`, number.
    fn found_value(&self, start: usize) -> Span {
        let mut lexer = Lexer::new(self.lexer.text(), start);
        lexer.next();
        lexer.next();
        lexer.next().span()
    }
}

impl FromStr for Layout {
    type Err = ParseError;

    /// Also reads `{}`, the layout of a scalar, which is not accepted after a shape.
    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser::whole(text);
        let layout = if parser.token.is(b'{') && { parser.lexer }.next().is(b'}') {
            parser.advance();
            parser.advance();
            Self::descending(0)
        } else {
            parser.layout()?
        };
        parser.finish()?;
        Ok(layout)
    }
}
