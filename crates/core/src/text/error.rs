//! Errors of texts, with their positions.

use crate::layout::attribute::LayoutAttribute;
use crate::layout::error::ValidationError;
use crate::layout::number::DimensionError;
use crate::shape::type_limits::TypeLimitError;
use crate::shard::ShardingError;
use crate::tpu::DefaultLayoutError;
use crate::tpu::vector::VectorLayoutError;
use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::fmt::{self, Write};
use core::ops::Range;

/// A range of bytes in a text: where an error or an expression is.
///
/// ```
/// let text = "bf17[8,128]";
/// let error = text.parse::<xla_shape_core::Shape>().unwrap_err();
/// let span = error.span();
/// assert_eq!(&text[span.start..span.end], "bf17");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

impl From<Span> for Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

/// What the grammar allows at a position: the "expected" part of an error.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::text::{Expected, ParseErrorKind};
///
/// let error = "f32[8,]".parse::<Shape>().unwrap_err();
/// assert!(matches!(error.kind(), ParseErrorKind::Unexpected { expected: Expected::Dimension, .. }), "{error}");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Expected {
    /// An element type, a tuple, `token[]`, `opaque[]` or a buffer.
    Shape,
    /// An element type.
    ElementType,
    /// One of `u8`, `u16`, ….
    UnsignedElementType,
    /// The dimensions, in brackets.
    Dimensions,
    /// A size, `<=` and a bound, or `?`.
    Dimension,
    /// A bound after `<=`.
    Bound,
    /// A dimension number.
    DimensionNumber,
    /// A size or `*`.
    TileDimension,
    /// An entry of an index: a number, or a letter and a number.
    IndexEntry,
    /// The letter of a dimension.
    DimensionLetter,
    /// The number of this attribute.
    AttributeValue(LayoutAttribute),
    /// An attribute, or the end of the layout.
    AttributeOrEnd,
    /// One of `D`, `C`, `S`, `H`.
    DimLevel,
    /// A physical dimension to split.
    SplitDimension,
    /// An index at which a split cuts.
    SplitIndex,
    /// This character.
    Character(char),
    /// Either of these characters.
    Either(char, char),
    /// Any of these characters.
    AnyOf(char, char, char),
    /// `{` or `<`, which open a layout.
    Layout,
    /// A generation of TPUs.
    Generation,
    /// No layout: the text asks for the default layout of a TPU, so a layout must not be written.
    NoLayout,
    /// The end of the text.
    End,
    /// A computation, or a part of an HLO module that may come before computations.
    Computation,
    /// An instruction, or the end of the computation.
    Instruction,
    /// The name of a module, a computation, a parameter or an instruction.
    Name,
    /// The opcode of an instruction.
    Opcode,
    /// An operand of an instruction.
    Operand,
    /// The number of a parameter.
    ParameterNumber,
    /// The name of an attribute of an instruction, a computation or a module.
    HloAttribute,
    /// The value of such an attribute.
    HloAttributeValue,
    /// Something else, which this text names.
    Value(&'static str),
    /// A row of a table of files, functions, locations or stack frames.
    TableRow,
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("a shape"),
            Self::ElementType => f.write_str("an element type"),
            Self::UnsignedElementType => f.write_str("an unsigned element type"),
            Self::Dimension => f.write_str("a dimension's size, `<=` and a bound, or `?`"),
            Self::Bound => f.write_str("a bound"),
            Self::DimensionNumber => f.write_str("a dimension number"),
            Self::TileDimension => f.write_str("a tile dimension: a size or `*`"),
            Self::IndexEntry => f.write_str("an entry of an index"),
            Self::DimensionLetter => f.write_str("the letter of a dimension without an entry"),
            Self::AttributeValue(attribute) => write!(f, "a number for {}", attribute.name()),
            Self::AttributeOrEnd => {
                f.write_str("a layout attribute (`T`, `L`, `E`, `S`, `SC` or `M`) or the end of the layout")
            }
            Self::DimLevel => f.write_str("a dimension level: `D`, `C`, `S` or `H`"),
            Self::SplitDimension => f.write_str("a physical dimension to split"),
            Self::SplitIndex => f.write_str("a split index"),
            Self::Dimensions => f.write_str("`[` and the dimensions"),
            Self::Character(a) => write!(f, "`{a}`"),
            Self::Either(a, b) => write!(f, "`{a}` or `{b}`"),
            Self::AnyOf(a, b, c) => write!(f, "`{a}`, `{b}` or `{c}`"),
            Self::Layout => f.write_str("a layout such as `{1,0}`"),
            Self::Generation => f.write_str("a generation of TPUs, such as `v5e`"),
            Self::NoLayout => f.write_str("no layout: the device chooses it"),
            Self::End => f.write_str("the end of the shape"),
            Self::Computation => f.write_str("a computation"),
            Self::Instruction => f.write_str("an instruction or `}`"),
            Self::Name => f.write_str("a name"),
            Self::Opcode => f.write_str("an opcode"),
            Self::Operand => f.write_str("an operand: a name, or a shape and a name"),
            Self::ParameterNumber => f.write_str("the number of the parameter"),
            Self::HloAttribute => f.write_str("an attribute's name"),
            Self::HloAttributeValue => f.write_str("an attribute's value"),
            Self::Value(what) => f.write_str(what),
            Self::TableRow => f.write_str("a row of the table: a number, and a string or `{…}`"),
        }
    }
}

/// What the text has instead: the "found" part of an error.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Found {
    /// This text, shortened if it is long.
    Text(Box<str>),
    /// The end of the text.
    End,
}

impl Found {
    /// The most characters of the found text that a message shows.
    const MAX_CHARS: usize = 40;

    /// The found text, shortened if it is longer than 40 characters; [`End`](Self::End) if it is empty.
    ///
    /// ```
    /// use xla_shape_core::text::Found;
    ///
    /// assert_eq!(Found::new("f33").to_string(), "`f33`");
    /// assert_eq!(Found::new("").to_string(), "the end of the text");
    /// ```
    #[cold]
    #[must_use]
    pub fn new(text: &str) -> Self {
        if text.is_empty() {
            return Self::End;
        }
        match text.char_indices().nth(Self::MAX_CHARS) {
            None => Self::Text(text.into()),
            Some((end, _)) => {
                let mut shown = alloc::string::String::from(text.get(..end).unwrap_or(""));
                shown.push('…');
                Self::Text(shown.into())
            }
        }
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => {
                // Escape invisible characters, but not quotes and backslashes.
                f.write_str("`")?;
                text.chars().try_for_each(|c| match c {
                    '"' | '\'' | '\\' => f.write_char(c),
                    _ => c.escape_debug().try_for_each(|c| f.write_char(c)),
                })?;
                f.write_str("`")
            }
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// Holds an error of another crate, so that the parsers of that crate can return a [`ParseError`]. The error inside keeps its type. Two of
/// these are equal if their messages are equal.
///
/// ```
/// use xla_shape_core::Span;
/// use xla_shape_core::text::{OtherError, ParseError, ParseErrorKind};
///
/// let overflow = "300".parse::<u8>().unwrap_err();
/// let error = ParseError::new(ParseErrorKind::Other(OtherError::new(overflow.clone())), Span { start: 0, end: 3 });
/// assert_eq!(error.to_string(), overflow.to_string());
/// let ParseErrorKind::Other(other) = error.kind() else { panic!("an error of another crate") };
/// assert_eq!(other.get().downcast_ref::<core::num::ParseIntError>(), Some(&overflow));
/// ```
#[derive(Clone, Debug)]
pub struct OtherError(Arc<dyn core::error::Error + Send + Sync>);

impl OtherError {
    /// This error, in the box.
    #[cold]
    #[must_use]
    pub fn new(error: impl core::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error.
    #[must_use]
    pub fn get(&self) -> &(dyn core::error::Error + 'static) {
        &*self.0
    }
}

impl PartialEq for OtherError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.to_string() == other.to_string()
    }
}

impl Eq for OtherError {}

impl core::hash::Hash for OtherError {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.to_string().hash(state);
    }
}

impl fmt::Display for OtherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The kind of a [`ParseError`]: what is wrong with a text.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::text::ParseErrorKind;
///
/// let error = "bf17[8,128]".parse::<Shape>().unwrap_err();
/// assert!(matches!(error.kind(), ParseErrorKind::UnknownElementType { suggestion: Some("bf16"), .. }));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The grammar does not allow this here.
    Unexpected {
        /// What the grammar allows here.
        expected: Expected,
        /// What the text has.
        found: Found,
    },
    /// A name that is not an element type.
    UnknownElementType {
        /// The name.
        found: Found,
        /// The element type that was probably meant, if one is similar.
        suggestion: Option<&'static str>,
    },
    /// A number that does not fit in an i64.
    NumberTooLarge {
        /// The number.
        found: Found,
    },
    /// A number that is not written in plain decimal digits.
    MalformedNumber {
        /// The text of the number.
        found: Found,
    },
    /// A negative number where only natural numbers are allowed.
    NegativeNumber {
        /// What the number stands for.
        expected: Expected,
        /// The number, with its sign.
        found: Found,
    },
    /// An attribute after one that it must precede.
    AttributeOutOfOrder {
        /// The attribute.
        attribute: LayoutAttribute,
        /// The attribute before it.
        after: LayoutAttribute,
    },
    /// A repeated attribute.
    DuplicateAttribute {
        /// The attribute.
        attribute: LayoutAttribute,
    },
    /// A comment that is opened but never closed.
    UnclosedComment,
    /// The text is well-formed, but the shape is not valid.
    Invalid(ValidationError),
    /// The text is well-formed, but the sharding is not valid.
    Sharding(ShardingError),
    /// The text is well-formed, but not an index of the array.
    Index(DimensionError),
    /// The shape is valid, but cannot be a type.
    NotAType(TypeLimitError),
    /// The shape is valid, but the layout that a TPU gives it is not known.
    NoDefaultLayout(DefaultLayoutError),
    /// The text is well-formed, but the vector layout is not valid.
    VectorLayout(VectorLayoutError),
    /// The text is well-formed, but breaks a rule that another crate checks.
    Other(OtherError),
    /// Brackets inside each other are too deep.
    TooDeeplyNested {
        /// How deep they may be.
        limit: usize,
    },
    /// A bracket that is opened but not closed before the next instruction.
    UnclosedBracket {
        /// The bracket.
        open: char,
    },
    /// A string that is not closed before the next instruction.
    UnclosedString,
    /// The name of an operand that is not an instruction of the computation.
    UnknownInstruction {
        /// The name.
        name: Found,
    },
    /// A name that an instruction of the computation, or a computation, already has.
    DuplicateName {
        /// The name.
        name: Found,
    },
    /// A shape is omitted, and cannot be inferred.
    CannotInferShape {
        /// The opcode.
        opcode: Found,
        /// The reason; empty if no rule infers the shape of this opcode.
        reason: Box<str>,
    },
    /// Operands and computations are nested too deeply.
    TooDeep {
        /// The deepest nesting that is allowed.
        limit: usize,
    },
    /// A second ROOT in a computation.
    SecondRoot,
    /// A second ENTRY in a module.
    SecondEntry,
    /// A module without ENTRY.
    NoEntry,
    /// A computation without instructions.
    NoInstructions,
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// A text that is longer than the positions in a module can express.
    TextTooLong {
        /// The most bytes that are allowed.
        limit: usize,
    },
    /// There were too many errors; the rest of the text was not read, to bound time and memory.
    TooManyErrors,
}

/// An error in a text: its [`kind`](Self::kind) and its [`span`](Self::span).
///
/// `Display` writes one sentence; [`render`](Self::render) also shows the line of text with the error marked.
///
/// ```
/// use xla_shape_core::{Shape, Span};
///
/// let error = "f32[2,3]{1,1}".parse::<Shape>().unwrap_err();
/// assert_eq!(error.span(), Span { start: 11, end: 12 });
/// assert_eq!(error.to_string(), "expected every dimension once in minor_to_major, found 1 again");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ParseError(Box<ErrorContent>);

/// The content of a [`ParseError`], boxed so that a `Result` is hardly larger than its `Ok` value.
#[derive(Clone, PartialEq, Eq, Hash)]
struct ErrorContent {
    kind: ParseErrorKind,
    span: Span,
}

impl ParseError {
    /// An error of this kind at this span.
    ///
    /// ```
    /// use xla_shape_core::{ParseError, Span, text::ParseErrorKind};
    ///
    /// let error = ParseError::new(ParseErrorKind::SecondRoot, Span { start: 0, end: 4 });
    /// assert_eq!(error.to_string(), "expected one ROOT in a computation, found a second one");
    /// ```
    #[cold]
    #[must_use]
    pub fn new(kind: ParseErrorKind, span: Span) -> Self {
        Self(Box::new(ErrorContent { kind, span }))
    }

    /// The kind of the error.
    ///
    /// ```
    /// use xla_shape_core::{Shape, text::ParseErrorKind};
    ///
    /// let error = "f33[2]".parse::<Shape>().unwrap_err();
    /// assert!(matches!(error.kind(), ParseErrorKind::UnknownElementType { .. }));
    /// ```
    #[must_use]
    pub const fn kind(&self) -> &ParseErrorKind {
        &self.0.kind
    }

    /// The bytes of the text that are wrong. Empty, at the end of the text, if something is missing there.
    ///
    /// ```
    /// let text = "f32[2,x]";
    /// let span = text.parse::<xla_shape_core::Shape>().unwrap_err().span();
    /// assert_eq!(&text[span.start..span.end], "x");
    /// ```
    #[must_use]
    pub const fn span(&self) -> Span {
        self.0.span
    }

    /// The line and the column of the error in `text`, the text that was parsed. Both count from 1; a column is one
    /// character.
    ///
    /// ```
    /// let text = "(f32[2],\n f33[3])";
    /// let error = text.parse::<xla_shape_core::Shape>().unwrap_err();
    /// assert_eq!(error.line_column(text), (2, 2));
    /// ```
    #[must_use]
    pub fn line_column(&self, text: &str) -> (usize, usize) {
        let (before, _) = text.split_at_checked(self.span().start).unwrap_or((text, ""));
        let line = before.bytes().filter(|&byte| byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        (line, column)
    }

    /// The error in several lines: the message, the line of `text` with the error, and marks under the wrong bytes.
    ///
    /// `text` is the text that was parsed.
    ///
    /// ```
    /// let text = "f32[2,3]{1,1}";
    /// let error = text.parse::<xla_shape_core::Shape>().unwrap_err();
    /// assert_eq!(error.render(text).to_string(), "\
    /// error: expected every dimension once in minor_to_major, found 1 again
    ///   |
    /// 1 | f32[2,3]{1,1}
    ///   |            ^");
    /// ```
    #[must_use]
    pub fn render<'a>(&'a self, text: &'a str) -> impl fmt::Display + 'a {
        Rendered { error: self, text }
    }
}

impl fmt::Debug for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParseError").field("kind", self.kind()).field("span", &self.span()).finish()
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

impl fmt::Display for ParseErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unexpected { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::UnknownElementType { found, suggestion } => {
                write!(f, "expected an element type, found {found}")?;
                match suggestion {
                    Some(name) => write!(f, "; did you mean `{name}`?"),
                    None => Ok(()),
                }
            }
            Self::NumberTooLarge { found } => {
                write!(f, "expected a number that fits in an i64, found {found}")
            }
            Self::MalformedNumber { found } => {
                write!(f, "expected a number in plain decimal digits, found {found}")
            }
            Self::NegativeNumber { expected, found } => {
                write!(f, "expected {expected}, found {found}, which is negative")
            }
            Self::AttributeOutOfOrder { attribute, after } => {
                write!(f, "`{attribute}` ({}) must come before `{after}` ({})", attribute.name(), after.name())
            }
            Self::DuplicateAttribute { attribute } => {
                write!(f, "expected `{attribute}` ({}) at most once, found it again", attribute.name())
            }
            Self::UnclosedComment => f.write_str("expected `*/` to close the comment, found the end of the text"),
            Self::Invalid(error) => error.fmt(f),
            Self::Sharding(error) => error.fmt(f),
            Self::Index(error) => error.fmt(f),
            Self::NotAType(error) => error.fmt(f),
            Self::NoDefaultLayout(error) => error.fmt(f),
            Self::VectorLayout(error) => error.fmt(f),
            Self::Other(error) => error.fmt(f),
            Self::TooDeeplyNested { limit } => write!(f, "expected at most {limit} nested brackets, found more"),
            Self::UnclosedBracket { open } => {
                write!(
                    f,
                    "expected a bracket that closes this `{open}`, found none before the next instruction or the end"
                )
            }
            Self::UnclosedString => {
                f.write_str("expected `\"` to close the string, found none before the next instruction or the end")
            }
            Self::UnknownInstruction { name } => {
                write!(f, "expected the name of an instruction of this computation, found {name}")
            }
            Self::DuplicateName { name } => {
                write!(f, "expected a name that is not taken, found {name} again")
            }
            Self::CannotInferShape { opcode, reason } => {
                write!(f, "cannot infer the shape of {opcode}, which is left out")?;
                if reason.is_empty() { Ok(()) } else { write!(f, ": {reason}") }
            }
            Self::TooDeep { limit } => {
                write!(f, "expected at most {limit} nested operands and computations, found more")
            }
            Self::SecondRoot => f.write_str("expected one ROOT in a computation, found a second one"),
            Self::SecondEntry => f.write_str("expected one ENTRY in a module, found a second one"),
            Self::NoEntry => f.write_str("expected an ENTRY computation, found none"),
            Self::NoInstructions => f.write_str("expected an instruction in the computation, found none"),
            Self::InvalidUtf8 => f.write_str("expected UTF-8, found bytes that are not"),
            Self::TextTooLong { limit } => write!(f, "expected a text of at most {limit} bytes, found more"),
            Self::TooManyErrors => f.write_str("too many errors: the rest of the text was not read"),
        }
    }
}

impl core::error::Error for ParseError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self.kind() {
            ParseErrorKind::Invalid(error) => Some(error),
            ParseErrorKind::Sharding(error) => Some(error),
            ParseErrorKind::Index(error) => Some(error),
            ParseErrorKind::NotAType(error) => Some(error),
            ParseErrorKind::NoDefaultLayout(error) => Some(error),
            ParseErrorKind::VectorLayout(error) => Some(error),
            ParseErrorKind::Other(error) => Some(error.get()),
            _ => None,
        }
    }
}

struct Rendered<'a> {
    error: &'a ParseError,
    text: &'a str,
}

/// The most characters of a line that are shown before the marked part, and after it.
const CONTEXT: usize = 60;

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, text } = self;
        let Span { start, end } = error.span();
        let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        let line_number = before.matches('\n').count() + 1;
        let before = before.rsplit('\n').next().unwrap_or("");
        let rest = rest.split('\n').next().unwrap_or("");
        let (marked, tail) = rest.split_at_checked(end.saturating_sub(start)).unwrap_or((rest, ""));

        let hidden = before.chars().count().saturating_sub(CONTEXT);
        let left = if hidden > 0 { "…" } else { "" };
        let right = if tail.chars().nth(CONTEXT).is_some() { "…" } else { "" };
        // Show each character in one column, so that the marks are below the marked part.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let margin = Digits(line_number);
        write!(f, "error: {error}\n{margin} |\n{line_number} | {left}")?;
        before
            .chars()
            .skip(hidden)
            .chain(marked.chars())
            .chain(tail.chars().take(CONTEXT))
            .try_for_each(|c| f.write_char(plain(c)))?;
        write!(f, "{right}\n{margin} | ")?;
        let columns = before.chars().count().saturating_sub(hidden) + left.chars().count();
        (0..columns).try_for_each(|_| f.write_str(" "))?;
        (0..marked.chars().count().max(1)).try_for_each(|_| f.write_str("^"))
    }
}

/// Writes one space for each digit of a number.
struct Digits(usize);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.checked_ilog10().unwrap_or(0);
        (0..=digits).try_for_each(|_| f.write_str(" "))
    }
}
