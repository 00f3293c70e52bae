//! The parser of shapes and layouts.
//!
//! It reads the grammar; [`validate`](crate::shape::validate) checks the rules. If an array breaks a rule, it is read a
//! second time to find the position of the wrong part, so that reading a valid text stores no positions.

// rustdoc lists the methods of `Parser` in the order of these modules.
mod options;

mod expression;
mod index;
mod layout;

mod extend;

use super::error::{Expected, Found, ParseError, ParseErrorKind, Span};
use super::token::{Lexer, Token, TokenKind};
use crate::element_type::ElementType;
use crate::layout::ArrayLayout;
use crate::layout::dimension::Dimension;
use crate::layout::error::{ShapePart, ValidationError};
use crate::limits::MAX_NESTING;
use crate::list::{List, push_tightly};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use crate::shape::type_limits;
use crate::tpu::{DefaultLayoutError, Generation};
use alloc::vec::Vec;
use core::str::FromStr;

pub use expression::SizeExpression;
pub use index::parse_index;

type Result<T> = core::result::Result<T, ParseError>;

/// Reads shapes from a text, one after the other.
///
/// For a text that is just one shape, [`str::parse`] is shorter.
///
/// ```
/// use xla_shape_core::text::Parser;
///
/// let text = "f32[2]{0} add(x, y)";
/// let mut parser = Parser::new(text);
/// assert_eq!(parser.shape()?.to_string(), "f32[2]{0}");
/// assert_eq!(&text[parser.position()..], " add(x, y)");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The token to read next.
    token: Token,
    /// The end of the last token that was read, in bytes.
    position: usize,
    brackets: Brackets,
    /// Whether shapes must fit into types; see [`Parser::for_types`].
    for_types: bool,
    /// The TPU whose default layouts replace the layouts of arrays.
    tpu: Option<Generation>,
    /// How many arrays have been read.
    arrays: usize,
    /// Sizes that are not numbers; only for types.
    expressions: Vec<SizeExpression>,
    /// While an invalid array is read again: the part to find.
    wanted: Option<ShapePart>,
    /// The span of the wanted part.
    found: Option<Span>,
    /// Whether attributes of layouts are left to the caller; see [`Parser::array_before_attributes`].
    stops_before_attributes: bool,
    /// What closes the layout whose attributes come next.
    open: Option<u8>,
}

/// The brackets in which a layout may stand after the dimensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Brackets {
    /// `{`, but only before an integer or `:`, since in HLO text a brace may open something else.
    BraceBeforeLayout,
    /// `{`.
    Brace,
    /// `{` or `<`.
    BraceOrAngle,
}

impl<'a> Parser<'a> {
    /// Reads the name of a generation of TPUs, and the comma after it.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("v5e, f32[8,128]");
    /// assert_eq!(parser.generation()?.name(), "v5e");
    /// assert_eq!(parser.shape()?.to_string(), "f32[8,128]{1,0}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the next tokens are not a generation and a comma.
    pub fn generation(&mut self) -> Result<Generation> {
        let name = self.text(self.token);
        let Some(generation) = Generation::from_name(name) else {
            return Err(self.unexpected(Expected::Generation));
        };
        self.advance();
        self.eat(b',')?;
        Ok(generation)
    }

    /// For each leaf of the shape, in the order of the text, whether the text has a layout for it. The parsed [`Shape`]
    /// does not show this: it is the same with the default layout and without a layout. The text must be a valid shape.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let written = Parser::whole("(f32[2,3]{1,0}, token[], f32[2,3])").written_layouts();
    /// assert_eq!(written, [true, false, false]);
    /// ```
    #[must_use]
    pub fn written_layouts(mut self) -> Vec<bool> {
        let mut written = Vec::new();
        while self.token.kind != TokenKind::End {
            // In a shape, `]` only closes the dimensions of a leaf.
            let closes = self.token.is(b']');
            self.advance();
            if closes {
                written.push(self.layout_follows());
            }
        }
        written
    }

    /// The end of the last token that was read, in bytes.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("f32[2] add(x)");
    /// parser.shape()?;
    /// assert_eq!(parser.position(), 6);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Checks that only white space and comments remain.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::whole("f32[2] /* a comment */");
    /// parser.shape()?;
    /// assert!(parser.finish().is_ok());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If another token remains.
    pub fn finish(&self) -> Result<()> {
        if self.token.kind == TokenKind::End { Ok(()) } else { Err(self.unexpected(Expected::End)) }
    }

    /// Reads a shape.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("(f32[2], token[]) tuple(x, y)");
    /// assert_eq!(parser.shape()?.to_string(), "(f32[2]{0}, token[])");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no shape begins here, or it is invalid.
    #[inline]
    pub fn shape(&mut self) -> Result<Shape> {
        if self.token.is(b'(') { self.tuple() } else { self.leaf() }
    }

    /// Reads a shape that is not a tuple.
    #[inline(always)]
    fn leaf(&mut self) -> Result<Shape> {
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected(Expected::Shape));
        }
        match self.text(self.token) {
            "token" => self.empty_brackets(Shape::Token),
            "opaque" => self.empty_brackets(Shape::Opaque),
            "b" => self.buffer(),
            _ => Ok(Shape::Array(self.checked_array()?)),
        }
    }

    #[inline(never)]
    fn buffer(&mut self) -> Result<Shape> {
        self.advance();
        self.eat(b'(')?;
        let array = self.array()?;
        self.eat(b')')?;
        Ok(Shape::Buffer(array))
    }

    fn empty_brackets(&mut self, shape: Shape) -> Result<Shape> {
        self.advance();
        self.eat(b'[')?;
        self.eat(b']')?;
        Ok(shape)
    }

    /// Reads a tuple without recursion, so that deeply nested text does not use up the stack.
    #[inline(never)]
    fn tuple(&mut self) -> Result<Shape> {
        // For each tuple that is still open, the elements read so far.
        let mut open = Vec::<Vec<Shape>>::new();
        loop {
            if self.for_types {
                let elements = open.last().map_or(0, Vec::len) + 1;
                type_limits::check_tuple(elements)
                    .map_err(|error| ParseError::new(ParseErrorKind::NotAType(error), self.token.span()))?;
            }
            let mut shape = if !self.token.is(b'(') {
                self.leaf()?
            } else if open.len() == MAX_NESTING {
                return Err(ParseError::new(
                    ParseErrorKind::Invalid(ValidationError::NESTED_TOO_DEEP),
                    self.token.span(),
                ));
            } else {
                self.advance();
                if !self.token.is(b')') {
                    open.push(Vec::new());
                    continue;
                }
                self.advance();
                Shape::make_nil()
            };
            loop {
                let Some(elements) = open.last_mut() else { return Ok(shape) };
                push_tightly(elements, shape);
                if self.comma_or(b')')? {
                    break;
                }
                self.advance();
                let mut elements = open.pop().unwrap_or_default();
                elements.shrink_to_fit();
                shape = Shape::tuple(elements)
                    .map_err(|error| ParseError::new(ParseErrorKind::Invalid(error), self.token.span()))?;
            }
        }
    }

    /// Reads an array shape.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    ///
    /// let mut parser = Parser::new("f32[2] add(x, y)");
    /// assert_eq!(parser.array()?.elements(), Some(2));
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If no array begins here, or it is invalid.
    pub fn array(&mut self) -> Result<ArrayShape> {
        self.checked_array()
    }

    // Inlining from here up to `shape` lets the compiler construct a shape in its final place instead of moving it.
    #[inline(always)]
    fn checked_array(&mut self) -> Result<ArrayShape> {
        let start = self.token.start;
        let array = self.array_parts()?;
        if let Err(error) = array.check()
            && !self.is_open(error.part())
        {
            // The array is read again to find the position: do not hold two copies.
            drop(array);
            return Err(self.wrong_array(start, error.part(), ParseErrorKind::Invalid(error)));
        }
        let array = match self.tpu {
            Some(generation) => self.on_tpu(array, start, generation)?,
            None => array,
        };
        if self.for_types
            && let Err(error) = type_limits::check(&array)
        {
            return Err(self.wrong_array(start, error.part(), ParseErrorKind::NotAType(error)));
        }
        self.arrays += 1;
        Ok(array)
    }

    /// Gives the array that was just read, which begins at `start`, the default layout of a TPU.
    #[cold]
    #[inline(never)]
    fn on_tpu(&self, array: ArrayShape, start: usize, generation: Generation) -> Result<ArrayShape> {
        if self.expressions.iter().any(|expression| expression.array == self.arrays) {
            return Ok(array);
        }
        let name = array.element_type().name();
        array.with_tpu_layout(generation).map_err(|error| {
            let kind = ParseErrorKind::NoDefaultLayout(error);
            match error {
                DefaultLayoutError::ElementType(_) => ParseError::new(kind, Span { start, end: start + name.len() }),
                DefaultLayoutError::UnboundedDimension { dimension } => {
                    self.wrong_array(start, ShapePart::Dimension(dimension), kind)
                }
                _ => ParseError::new(kind, Span { start, end: self.position }),
            }
        })
    }

    /// An error about a part of the array that was just read, which begins at `start`: reads the array again to find
    /// the part.
    #[cold]
    #[inline(never)]
    fn wrong_array(&self, start: usize, part: ShapePart, kind: ParseErrorKind) -> ParseError {
        let whole = Span { start, end: self.position };
        let &Self { brackets, for_types, stops_before_attributes, .. } = self;
        let before = Self::at(self.lexer.text(), start);
        let mut again = Self { brackets, for_types, stops_before_attributes, wanted: Some(part), ..before };
        let span = again.array_parts().ok().and(again.found).unwrap_or(whole);
        ParseError::new(kind, span)
    }

    #[inline(always)]
    fn array_parts(&mut self) -> Result<ArrayShape> {
        let element_type = self.element_type()?;
        if !self.token.is(b'[') {
            return Err(self.unexpected(Expected::Dimensions));
        }
        self.advance();
        let mut dimensions = List::EMPTY;
        let mut count = 0_usize;
        if !self.token.is(b']') {
            loop {
                let start = self.token.start;
                let part = ShapePart::Dimension(count);
                dimensions.push(self.dimension(part)?);
                self.mark(part, start);
                count += 1;
                if !self.comma_or(b']')? {
                    break;
                }
            }
        }
        self.eat(b']')?;
        if self.tpu.is_some() && self.for_types && self.layout_follows() {
            return Err(self.unexpected(Expected::NoLayout));
        }
        let layout = if self.layout_follows() { self.layout_parts()?.into() } else { ArrayLayout::descending(count) };
        Ok(ArrayShape::unchecked(element_type, dimensions, layout))
    }

    #[inline(always)]
    fn element_type(&mut self) -> Result<ElementType> {
        if self.token.kind != TokenKind::Word {
            return Err(self.unexpected(Expected::ElementType));
        }
        match ElementType::from_name(self.text(self.token)) {
            Some(element_type) => {
                self.advance();
                Ok(element_type)
            }
            None => Err(self.unknown_element_type()),
        }
    }

    fn dimension(&mut self, part: ShapePart) -> Result<Dimension> {
        match self.token.kind {
            TokenKind::Integer(size) if !self.for_types => {
                self.advance();
                Ok(Dimension::Static(size))
            }
            TokenKind::LessEqual => {
                self.advance();
                Ok(Dimension::Bounded(self.size(Expected::Bound, part)?))
            }
            TokenKind::Punctuation(b'?') => {
                self.advance();
                Ok(Dimension::Unbounded)
            }
            _ => self.size(Expected::Dimension, part).map(Dimension::Static),
        }
    }

    fn integer(&mut self, expected: Expected) -> Result<u64> {
        match self.token.kind {
            TokenKind::Integer(value) => {
                self.advance();
                Ok(value)
            }
            TokenKind::Punctuation(b'-') => self.negative_zero(expected),
            _ => Err(self.no_integer(expected)),
        }
    }

    /// Reads the number of a dimension. A number that does not fit in a `usize` becomes `usize::MAX`, which is out of
    /// range for any array.
    fn dimension_number(&mut self, expected: Expected) -> Result<usize> {
        self.integer(expected).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// Reads `-0`, which XLA reads as 0.
    #[cold]
    fn negative_zero(&mut self, expected: Expected) -> Result<u64> {
        let next = { self.lexer }.next();
        if next.kind == TokenKind::Integer(0) && next.start == self.token.end {
            self.advance();
            self.advance();
            return Ok(0);
        }
        Err(self.no_integer(expected))
    }

    #[cold]
    fn no_integer(&self, expected: Expected) -> ParseError {
        let token = self.token;
        let found = || Found::new(self.text(token));
        match token.kind {
            TokenKind::LargeInteger => ParseError::new(ParseErrorKind::NumberTooLarge { found: found() }, token.span()),
            TokenKind::MalformedInteger => {
                ParseError::new(ParseErrorKind::MalformedNumber { found: found() }, token.span())
            }
            TokenKind::Punctuation(b'-') => {
                let next = { self.lexer }.next();
                match next.kind {
                    TokenKind::Integer(_) | TokenKind::LargeInteger => {
                        let number = Token { end: next.end, ..token };
                        let found = Found::new(self.text(number));
                        ParseError::new(ParseErrorKind::NegativeNumber { expected, found }, number.span())
                    }
                    _ => self.unexpected(expected),
                }
            }
            _ => self.unexpected(expected),
        }
    }

    #[cold]
    fn unknown_element_type(&self) -> ParseError {
        unknown_element_type(self.text(self.token), self.token.span())
    }

    #[cold]
    fn unexpected(&self, expected: Expected) -> ParseError {
        let kind = match self.token.kind {
            TokenKind::UnclosedComment => ParseErrorKind::UnclosedComment,
            _ => ParseErrorKind::Unexpected { expected, found: Found::new(self.text(self.token)) },
        };
        ParseError::new(kind, self.token.span())
    }

    /// Reads a comma and returns true, or returns false if `close` comes next.
    fn comma_or(&mut self, close: u8) -> Result<bool> {
        if self.token.is(b',') {
            self.advance();
            Ok(true)
        } else if self.token.is(close) {
            Ok(false)
        } else {
            Err(self.unexpected(Expected::Either(',', close.into())))
        }
    }

    fn eat(&mut self, punctuation: u8) -> Result<()> {
        if self.token.is(punctuation) {
            self.advance();
            Ok(())
        } else {
            Err(self.unexpected(Expected::Character(punctuation.into())))
        }
    }

    /// Goes to the next token. Not inlined: one copy of the lexer instead of one for each caller.
    #[inline(never)]
    fn advance(&mut self) {
        self.position = self.token.end;
        self.token = self.lexer.next();
    }

    fn text(&self, token: Token) -> &'a str {
        self.lexer.text().get(token.start..token.end).unwrap_or("")
    }

    /// Records the span of the part that was just read, which begins at `start`, if it is the wanted one.
    #[inline]
    fn mark(&mut self, part: ShapePart, start: usize) {
        if self.wanted == Some(part) {
            self.found = Some(Span { start, end: self.position.max(start) });
        }
    }
}

impl FromStr for ElementType {
    type Err = ParseError;

    /// # Errors
    /// If `name` is not the name of an element type.
    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name).ok_or_else(|| unknown_element_type(name, Span { start: 0, end: name.len() }))
    }
}

/// The error for a word that is not an element type, with a suggestion.
#[cold]
fn unknown_element_type(word: &str, span: Span) -> ParseError {
    let suggestion = ElementType::ALL
        .iter()
        .map(|element_type| element_type.name())
        .find(|name| name.eq_ignore_ascii_case(word))
        .or_else(|| ElementType::from_any_name(word).map(ElementType::name))
        .or_else(|| of_c(word))
        .or_else(|| similar(word));
    ParseError::new(ParseErrorKind::UnknownElementType { found: Found::new(word), suggestion }, span)
}

/// The element type that a type of C stands for.
fn of_c(word: &str) -> Option<&'static str> {
    Some(match word {
        "int" => "s32",
        "long" => "s64",
        "half" => "f16",
        "float" => "f32",
        "double" => "f64",
        _ => return None,
    })
}

/// The only name of an element type that one typing mistake turns into `word`: another byte, one too many, one too few, or two swapped.
fn similar(word: &str) -> Option<&'static str> {
    let mut names =
        ElementType::ALL.iter().map(|element_type| element_type.name()).filter(|name| is_mistake(name, word));
    let name = names.next()?;
    names.next().is_none().then_some(name)
}

/// Whether one typing mistake separates the texts.
fn is_mistake(name: &str, word: &str) -> bool {
    let (name, word) = (name.as_bytes(), word.as_bytes());
    let before = name.iter().zip(word).take_while(|(a, b)| a == b).count();
    let (name, word) = (name.get(before..).unwrap_or(&[]), word.get(before..).unwrap_or(&[]));
    let after = name.iter().rev().zip(word.iter().rev()).take_while(|(a, b)| a == b).count();
    let middle = |text: &[u8]| text.len().saturating_sub(after);
    match (name.get(..middle(name)), word.get(..middle(word))) {
        (Some([a, b]), Some([c, d])) => a == d && b == c,
        (Some(name), Some(word)) => name.len() <= 1 && word.len() <= 1,
        _ => false,
    }
}

impl FromStr for Shape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser::whole(text);
        let shape = parser.shape()?;
        parser.finish()?;
        Ok(shape)
    }
}

impl FromStr for ArrayShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self> {
        let mut parser = Parser::whole(text);
        let array = parser.array()?;
        parser.finish()?;
        Ok(array)
    }
}
