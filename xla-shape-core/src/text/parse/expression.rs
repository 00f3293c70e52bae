//! Sizes that Rust knows and the text does not: constants, const parameters, arithmetic. Only for types.

use super::{Parser, Result};
use crate::layout::error::ShapePart;
use crate::text::error::{Expected, Span};
use crate::text::token::TokenKind;

/// A size that is written as an expression of Rust. See [`Parser::for_types`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SizeExpression {
    /// How many arrays were read before the one that it belongs to.
    pub array: usize,
    /// Which part of that array it is: a dimension (or its bound), an entry of a tile, or the memory space.
    pub part: ShapePart,
    /// Where it stands.
    pub span: Span,
}

/// What stands in a shape for a size that only Rust knows: the size of which a valid array has no upper limit.
const UNKNOWN: u64 = 1;

impl Parser<'_> {
    /// The sizes that were written as expressions, in the order of the text.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let text = "f32[ROWS,2*64,{ N + 1 },8]";
    /// let mut parser = Parser::whole(text).for_types();
    /// assert_eq!(parser.shape()?.to_string(), "f32[1,1,1,8]{3,2,1,0}"); // what is not known yet is 1
    /// let found: Vec<_> = parser.size_expressions().iter().map(|size| &text[size.span.start..size.span.end]).collect();
    /// assert_eq!(found, ["ROWS", "2*64", "{ N + 1 }"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn size_expressions(&self) -> &[SizeExpression] {
        &self.expressions
    }

    /// Reads a size: a number, or, for types, an expression.
    #[inline(always)]
    pub(super) fn size(&mut self, expected: Expected, part: ShapePart) -> Result<u64> {
        if self.for_types && self.is_expression() { self.expression(part) } else { self.integer(expected) }
    }

    /// Whether an expression comes next: a name, something in braces or parentheses, or a number with an operator
    /// after it.
    pub(super) fn is_expression(&self) -> bool {
        match self.token.kind {
            TokenKind::Word => true,
            TokenKind::Punctuation(byte) => matches!(byte, b'{' | b'('),
            TokenKind::Integer(_) => {
                let next = { self.lexer }.next();
                matches!(next.kind, TokenKind::Punctuation(b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^'))
            }
            _ => false,
        }
    }

    /// Reads up to the comma or bracket that ends the size. Braces let an expression have commas of its own.
    #[cold]
    fn expression(&mut self, part: ShapePart) -> Result<u64> {
        let start = self.token.start;
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                TokenKind::Punctuation(b'(' | b'[' | b'{') => depth = depth.saturating_add(1),
                TokenKind::Punctuation(b',' | b')' | b']' | b'}') if depth == 0 => break,
                TokenKind::Punctuation(b')' | b']' | b'}') => depth = depth.saturating_sub(1),
                TokenKind::End | TokenKind::UnclosedComment => return Err(self.unexpected(Expected::Character(','))),
                _ => {}
            }
            self.advance();
        }
        let span = Span { start, end: self.position };
        self.expressions.push(SizeExpression { array: self.arrays, part, span });
        Ok(UNKNOWN)
    }

    /// Whether this part of the array that was just read cannot be judged before Rust knows the sizes.
    #[cold]
    pub(super) fn is_open(&self, part: ShapePart) -> bool {
        // An index in a split is less than a size.
        matches!(part, ShapePart::SplitIndex(..)) && self.expressions.iter().any(|size| size.array == self.arrays)
    }
}
