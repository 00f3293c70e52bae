//! Sizes in the text of types that are Rust expressions: constants, const parameters, arithmetic.

use super::{Parser, Result};
use crate::layout::error::ShapePart;
use crate::text::error::{Expected, Span};
use crate::text::token::TokenKind;

/// A size that is written as a Rust expression. For the macros; see [`Parser::for_types`].
#[doc(hidden)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SizeExpression {
    /// The number of the array that has the expression; arrays are numbered in the order of the text.
    pub array: usize,
    /// The part of that array: a dimension (or its bound), an entry of a tile, or the memory space.
    pub part: ShapePart,
    /// The position of the expression in the text.
    pub span: Span,
}

/// The placeholder for an expression in a parsed shape: 1 is valid as any size, tile entry and memory space.
const UNKNOWN: u64 = 1;

impl Parser<'_> {
    /// The sizes that were written as expressions, in the order of the text.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let text = "f32[ROWS,2*64,{ N + 1 },8]";
    /// let mut parser = Parser::whole(text).for_types();
    /// assert_eq!(parser.shape()?.to_string(), "f32[1,1,1,8]{3,2,1,0}"); // 1 in place of each expression
    /// let found: Vec<_> = parser.size_expressions().iter().map(|size| &text[size.span.start..size.span.end]).collect();
    /// assert_eq!(found, ["ROWS", "2*64", "{ N + 1 }"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub fn size_expressions(&self) -> &[SizeExpression] {
        &self.expressions
    }

    /// Reads a size: a number, or, for types, an expression.
    #[inline(always)]
    pub(super) fn size(&mut self, expected: Expected, part: ShapePart) -> Result<u64> {
        if self.for_types && self.is_expression() { self.expression(part) } else { self.integer(expected) }
    }

    /// Whether an expression comes next: a name, a brace, a parenthesis, or a number with an operator after it.
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

    /// Reads up to the comma or bracket that ends the size. Commas inside brackets belong to the expression.
    #[cold]
    fn expression(&mut self, part: ShapePart) -> Result<u64> {
        let start = self.token.start;
        let mut depth = 0_usize;
        loop {
            match self.token.kind {
                TokenKind::Punctuation(b'(' | b'[' | b'{') => depth += 1,
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

    /// Whether an error in this part of the array that was just read may be due to a placeholder, so that it cannot be
    /// reported yet.
    #[cold]
    pub(super) fn is_open(&self, part: ShapePart) -> bool {
        // A split index is compared with a size, which may be a placeholder.
        matches!(part, ShapePart::SplitIndex(..)) && self.expressions.iter().any(|size| size.array == self.arrays)
    }
}
