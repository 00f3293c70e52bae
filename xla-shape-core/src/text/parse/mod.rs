//! The parser: text to shapes.
//!
//! It reads the grammar and leaves the rules to [`validate`](crate::shape::validate). Where a rule is broken, the array is read
//! a second time to find where the part stands that breaks it, so that reading a good text keeps no positions.

mod expression;
mod index;
mod layout;
mod legacy;

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
    /// Where the last token that was read ends.
    position: usize,
    brackets: Brackets,
    /// Whether shapes must be such as types can have.
    for_types: bool,
    /// The TPU whose default layouts arrays get.
    tpu: Option<Generation>,
    /// How many arrays have been read.
    arrays: usize,
    /// Sizes that are not numbers; only for types.
    expressions: Vec<SizeExpression>,
    /// Which part of the array to find, and where it was found.
    wanted: Option<ShapePart>,
    found: Option<Span>,
}

/// What opens a layout after the dimensions.
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
    /// A parser for text in which something else may follow the shape: `{` opens a layout only before an integer or `:`.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self::at(text, 0)
    }

    /// A parser that begins at this byte of the text; positions are those in the whole text.
    #[must_use]
    pub fn at(text: &'a str, position: usize) -> Self {
        Self::with_brackets(text, position, Brackets::BraceBeforeLayout)
    }

    #[inline]
    fn with_brackets(text: &'a str, position: usize, brackets: Brackets) -> Self {
        let mut lexer = Lexer::new(text, position);
        let token = lexer.next();
        Self {
            lexer,
            token,
            position,
            brackets,
            for_types: false,
            tpu: None,
            arrays: 0,
            expressions: Vec::new(),
            wanted: None,
            found: None,
        }
    }

    /// A parser for text that is nothing but one shape or layout; [`finish`](Self::finish) checks that.
    #[must_use]
    #[inline(always)]
    pub fn whole(text: &'a str) -> Self {
        Self::with_brackets(text, 0, Brackets::Brace)
    }

    /// Lets a layout also be written `<…>`, as the macros do.
    #[must_use]
    pub fn allow_angle_brackets(self) -> Self {
        Self { brackets: Brackets::BraceOrAngle, ..self }
    }

    /// Refuses shapes that cannot be types, as [`type_limits::check`] does, and lets a layout also be written `<…>`.
    ///
    /// Dimensions, bounds, entries of tiles and the memory space may be [expressions](Self::size_expressions) of Rust: a name,
    /// `2 * N`, `{ … }`. In the shape that is read, each expression is 1, and rules that depend on its value are not checked.
    #[must_use]
    pub fn for_types(self) -> Self {
        Self { for_types: true, ..self.allow_angle_brackets() }
    }

    /// Replaces every array's layout by the one that a TPU of this generation gives it by default.
    ///
    /// [For types](Self::for_types), no layout may be written, and arrays with sizes that are expressions stay as they are.
    ///
    /// ```
    /// use xla_shape_core::text::Parser;
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let mut parser = Parser::whole("(f32[100,200], s1[3])").for_tpu(Generation::V5e);
    /// let error = parser.shape().unwrap_err();
    /// assert_eq!((error.span().start, error.span().end), (15, 17)); // no TPU is known to take an s1
    /// ```
    #[must_use]
    pub fn for_tpu(self, generation: Generation) -> Self {
        Self { tpu: Some(generation), ..self }
    }

    /// Reads the name of a generation of TPUs, and the comma after it.
    ///
    /// # Errors
    /// If no generation is named here.
    pub fn generation(&mut self) -> Result<Generation> {
        let name = self.text(self.token);
        let Some(generation) = Generation::from_name(name) else {
            return Err(self.unexpected(Expected::Generation));
        };
        self.advance();
        self.eat(b',')?;
        Ok(generation)
    }

    /// Whether the text has a layout for each leaf of the shape that it is, in the order of the text. For texts that are read
    /// already: the shape is the same with the default layout and without a layout.
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
            // In a shape, these close the dimensions of a leaf and nothing else.
            let closes = self.token.is(b']');
            self.advance();
            if closes {
                written.push(self.layout_follows());
            }
        }
        written
    }

    /// Where the last token that was read ends.
    #[must_use]
    pub const fn position(&self) -> usize {
        self.position
    }

    /// Checks that nothing is left but white space and comments.
    ///
    /// # Errors
    /// If something is.
    pub fn finish(&self) -> Result<()> {
        if self.token.kind == TokenKind::End { Ok(()) } else { Err(self.unexpected(Expected::End)) }
    }

    /// Reads a shape.
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

    /// Reads a tuple, whatever is in it, without recursion: the depth of the text takes no stack.
    #[inline(never)]
    fn tuple(&mut self) -> Result<Shape> {
        // The elements so far of each tuple that is not closed yet.
        let mut open = Vec::<Vec<Shape>>::new();
        loop {
            if self.for_types {
                let elements = open.last().map_or(0, Vec::len).saturating_add(1);
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
    /// # Errors
    /// If no array begins here, or it is invalid.
    pub fn array(&mut self) -> Result<ArrayShape> {
        self.checked_array()
    }

    // What is inlined here up to `shape` makes a shape in the place where it is to be, instead of moving it there.
    #[inline(always)]
    fn checked_array(&mut self) -> Result<ArrayShape> {
        let start = self.token.start;
        let array = self.array_parts()?;
        if let Err(error) = array.check()
            && !self.is_open(error.part())
        {
            // It is read again, to find the place: never two at once.
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
        self.arrays = self.arrays.saturating_add(1);
        Ok(array)
    }

    /// The array that begins at `start` and was just read, in a TPU's layout.
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
                DefaultLayoutError::ElementType(_) => {
                    ParseError::new(kind, Span { start, end: start.saturating_add(name.len()) })
                }
                DefaultLayoutError::UnboundedDimension { dimension } => {
                    self.wrong_array(start, ShapePart::Dimension(dimension), kind)
                }
                _ => ParseError::new(kind, Span { start, end: self.position }),
            }
        })
    }

    /// The error that this part is wrong of the array that begins at `start` and was just read.
    #[cold]
    #[inline(never)]
    fn wrong_array(&self, start: usize, part: ShapePart, kind: ParseErrorKind) -> ParseError {
        let whole = Span { start, end: self.position };
        let before = Self::at(self.lexer.text(), start);
        let mut again = Self { brackets: self.brackets, for_types: self.for_types, wanted: Some(part), ..before };
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
                count = count.saturating_add(1);
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

    /// Reads the number of a dimension. No array has as many dimensions as fit in a `usize`.
    fn dimension_number(&mut self, expected: Expected) -> Result<usize> {
        self.integer(expected).map(|number| usize::try_from(number).unwrap_or(usize::MAX))
    }

    /// XLA reads `-0` as 0.
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

    /// Reads a comma and says `true`, or finds `close` and leaves it.
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

    /// Goes to the next token. One copy of the lexer that writes to its place in the parser, not one for each caller.
    #[inline(never)]
    fn advance(&mut self) {
        self.position = self.token.end;
        self.token = self.lexer.next();
    }

    fn text(&self, token: Token) -> &'a str {
        self.lexer.text().get(token.start..token.end).unwrap_or("")
    }

    /// Notes where a part stands that begins at `start` and was just read, if it is the one looked for.
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
    /// If it is not the name of an element type.
    fn from_str(name: &str) -> Result<Self> {
        Self::from_name(name).ok_or_else(|| unknown_element_type(name, Span { start: 0, end: name.len() }))
    }
}

/// The error of a word that is no element type, with the one that may have been meant.
#[cold]
fn unknown_element_type(word: &str, span: Span) -> ParseError {
    let suggestion = ElementType::ALL
        .iter()
        .map(|element_type| element_type.name())
        .find(|name| name.eq_ignore_ascii_case(word) || other_names(word).is_some_and(|meant| meant == *name));
    ParseError::new(ParseErrorKind::UnknownElementType { found: Found::new(word), suggestion }, span)
}

/// What other languages call some element types.
fn other_names(word: &str) -> Option<&'static str> {
    Some(match word {
        "bool" | "i1" => "pred",
        "i2" | "int2" => "s2",
        "i4" | "int4" => "s4",
        "i8" | "int8" => "s8",
        "i16" | "int16" => "s16",
        "i32" | "int32" | "int" => "s32",
        "i64" | "int64" | "long" => "s64",
        "uint8" => "u8",
        "uint16" => "u16",
        "uint32" => "u32",
        "uint64" => "u64",
        "half" | "float16" => "f16",
        "bfloat16" => "bf16",
        "float" | "float32" => "f32",
        "double" | "float64" => "f64",
        "complex64" => "c64",
        "complex128" => "c128",
        _ => return None,
    })
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
