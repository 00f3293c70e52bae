//! What is wrong with a text, and where.

use crate::layout::error::{LayoutAttribute, ValidationError};
use crate::layout::number::DimensionError;
use crate::shape::type_limits::TypeLimitError;
use crate::shard::ShardingError;
use crate::tpu::DefaultLayoutError;
use alloc::boxed::Box;
use core::fmt::{self, Write};
use core::ops::Range;

/// A range of bytes of a text.
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

/// What the grammar allows at a place.
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
    /// A size, with no `<=` or `?`.
    Size,
    /// The width of a dimension in an older layout.
    Width,
    /// One of `zero`, `one`, `lowest`, `highest`.
    PaddingValue,
    /// An entry of an index: a number, or a letter and a number.
    IndexEntry,
    /// The letter of a dimension.
    DimensionLetter,
    /// A number of this attribute.
    AttributeValue(LayoutAttribute),
    /// An attribute, or the end of the layout.
    AttributeOrEnd,
    /// The padding of a layout of 2017, or the end of the layout.
    LegacyAttributeOrEnd,
    /// One of `D`, `C`, `S`, `H`.
    DimLevel,
    /// A physical dimension.
    SplitDimension,
    /// An index at which a piece begins.
    SplitIndex,
    /// This very character.
    Character(char),
    /// Either of these characters.
    Either(char, char),
    /// Any of these characters.
    AnyOf(char, char, char),
    /// `{` or `<`, which open a layout.
    Layout,
    /// A generation of TPUs.
    Generation,
    /// The end of an array whose layout is not written but a device's choice.
    NoLayout,
    /// The end of the text.
    End,
    /// A computation, or one of the parts of an HLO module that may stand before it.
    Computation,
    /// An instruction, or the end of the computation.
    Instruction,
    /// The name of a module, a computation, a parameter or an instruction.
    Name,
    /// What an instruction does.
    Opcode,
    /// An operand of an instruction.
    Operand,
    /// The number of a parameter.
    ParameterNumber,
    /// The name of an attribute of an instruction, a computation or a module.
    HloAttribute,
    /// The value of such an attribute.
    HloAttributeValue,
    /// A value of this kind, of an attribute.
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
            Self::Size => f.write_str("a dimension's size"),
            Self::Width => f.write_str("the width of a padded dimension"),
            Self::PaddingValue => f.write_str("a padding value: `zero`, `one`, `lowest` or `highest`"),
            Self::IndexEntry => f.write_str("an entry of an index"),
            Self::DimensionLetter => f.write_str("the letter of a dimension without an entry"),
            Self::AttributeValue(attribute) => write!(f, "a number for {}", attribute.name()),
            Self::AttributeOrEnd => {
                f.write_str("a layout attribute (`T`, `L`, `E`, `S`, `SC` or `M`) or the end of the layout")
            }
            Self::LegacyAttributeOrEnd => {
                f.write_str("the padding of a layout (`PAD`, then `V`) or the end of the layout")
            }
            Self::DimLevel => f.write_str("a dimension level: `D`, `C`, `S` or `H`"),
            Self::SplitDimension => f.write_str("a physical dimension to split"),
            Self::SplitIndex => f.write_str("a split index"),
            Self::Dimensions => f.write_str("`[` and the dimensions"),
            Self::Character(a) => write!(f, "`{a}`"),
            Self::Either(a, b) => write!(f, "`{a}` or `{b}`"),
            Self::AnyOf(a, b, c) => write!(f, "`{a}`, `{b}` or `{c}`"),
            Self::Layout => f.write_str("a layout"),
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

/// What stood there instead.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum Found {
    /// This text; a long one is cut.
    Text(Box<str>),
    /// The end of the text.
    End,
}

impl Found {
    /// The most characters of the text that a message shows.
    const MAX_CHARS: usize = 40;

    /// This text, cut if it is long; the end if it is empty.
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
                // What cannot be seen is escaped; quotes and backslashes stay as they were written.
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

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ParseErrorKind {
    /// The grammar wants something else here.
    Unexpected {
        /// What may stand here.
        expected: Expected,
        /// What does.
        found: Found,
    },
    /// A name that is not an element type.
    UnknownElementType {
        /// The name.
        found: Found,
        /// The element type that was probably meant.
        suggestion: Option<&'static str>,
    },
    /// A number that does not fit in an i64.
    NumberTooLarge {
        /// The number.
        found: Found,
    },
    /// A number that is not written in plain decimal digits.
    MalformedNumber {
        /// What stands for it.
        found: Found,
    },
    /// A number with a sign, where there cannot be one.
    NegativeNumber {
        /// What the number would be.
        expected: Expected,
        /// The number, with its sign.
        found: Found,
    },
    /// An attribute after one that it must precede.
    AttributeOutOfOrder {
        /// The attribute.
        attribute: LayoutAttribute,
        /// The attribute that already stands there.
        after: LayoutAttribute,
    },
    /// An attribute for the second time.
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
    /// The text is well-formed, but no index of the array.
    Index(DimensionError),
    /// The shape is valid, but cannot be a type.
    NotAType(TypeLimitError),
    /// The shape is valid, but the layout that a TPU gives it is not known.
    NoDefaultLayout(DefaultLayoutError),
    /// A bracket that is opened but not closed before the next instruction.
    UnclosedBracket {
        /// The bracket.
        open: char,
    },
    /// A string that is not closed before the next instruction.
    UnclosedString,
    /// A name that no instruction of the computation has.
    UnknownInstruction {
        /// The name.
        name: Found,
    },
    /// A name that an instruction of the computation, or a computation, already has.
    DuplicateName {
        /// The name.
        name: Found,
    },
    /// A shape that is left out, and does not follow from what is known.
    CannotInferShape {
        /// The opcode.
        opcode: Found,
        /// Why not; empty if the opcode's shape follows from nothing.
        reason: Box<str>,
    },
    /// What stands inside each other is too deep.
    TooDeep {
        /// How deep it may be.
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
    /// A text that is too long for the positions that a module keeps.
    TextTooLong {
        /// How many bytes it may have.
        limit: usize,
    },
    /// So much of the text is broken that reading it to its end would take too much time or memory; what follows was not
    /// read.
    TooManyErrors,
}

/// What is wrong with a text, and where.
///
/// `Display` gives one sentence; [`render`](Self::render) shows the text with the place marked.
///
/// ```
/// use xla_shape_core::{Shape, Span};
///
/// let error = "f32[2,3]{1,1}".parse::<Shape>().unwrap_err();
/// assert_eq!(error.span(), Span { start: 11, end: 12 });
/// assert_eq!(error.to_string(), "expected every dimension once in minor_to_major, found 1 again");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ParseError(Box<Parts>);

/// In a box, so that what may fail returns little more than what it is for.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Parts {
    kind: ParseErrorKind,
    span: Span,
}

impl ParseError {
    /// An error of this kind at this place.
    #[cold]
    #[must_use]
    pub fn new(kind: ParseErrorKind, span: Span) -> Self {
        Self(Box::new(Parts { kind, span }))
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ParseErrorKind {
        &self.0.kind
    }

    /// Which bytes of the text are wrong; empty, and at the end, if something is missing there.
    #[must_use]
    pub const fn span(&self) -> Span {
        self.0.span
    }

    /// The line and the column of the error in `text`, which is what was parsed. Both count from 1; a column is a
    /// character.
    #[must_use]
    pub fn line_column(&self, text: &str) -> (usize, usize) {
        let (before, _) = text.split_at_checked(self.span().start).unwrap_or((text, ""));
        let line = before.bytes().filter(|&byte| byte == b'\n').count().saturating_add(1);
        let column = before.rsplit('\n').next().unwrap_or("").chars().count().saturating_add(1);
        (line, column)
    }

    /// Several lines that show the error, the line of `text` that it is in, and a mark under the offending part.
    ///
    /// `text` is what was parsed.
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
            Self::TooManyErrors => {
                f.write_str("expected to find the rest of the text readable, gave up after too many errors")
            }
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
            _ => None,
        }
    }
}

struct Rendered<'a> {
    error: &'a ParseError,
    text: &'a str,
}

/// How much of a long line is shown before and after the marked part, in characters.
const CONTEXT: usize = 60;

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { error, text } = self;
        let Span { start, end } = error.span();
        let (before, rest) = text.split_at_checked(start).unwrap_or((text, ""));
        let line_number = before.matches('\n').count().saturating_add(1);
        let before = before.rsplit('\n').next().unwrap_or("");
        let rest = rest.split('\n').next().unwrap_or("");
        let (marked, behind) = rest.split_at_checked(end.saturating_sub(start)).unwrap_or((rest, ""));

        let hidden = before.chars().count().saturating_sub(CONTEXT);
        let left = if hidden > 0 { "…" } else { "" };
        let right = if behind.chars().nth(CONTEXT).is_some() { "…" } else { "" };
        // Each character takes one column, so that the mark stands below its part.
        let plain = |c: char| if c.is_control() { ' ' } else { c };
        let margin = Digits(line_number);
        write!(f, "error: {error}\n{margin} |\n{line_number} | {left}")?;
        before
            .chars()
            .skip(hidden)
            .chain(marked.chars())
            .chain(behind.chars().take(CONTEXT))
            .try_for_each(|c| f.write_char(plain(c)))?;
        write!(f, "{right}\n{margin} | ")?;
        let columns = before.chars().count().saturating_sub(hidden).saturating_add(left.chars().count());
        (0..columns).try_for_each(|_| f.write_str(" "))?;
        (0..marked.chars().count().max(1)).try_for_each(|_| f.write_str("^"))
    }
}

/// As many spaces as a number has digits.
struct Digits(usize);

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.checked_ilog10().unwrap_or(0);
        (0..=digits).try_for_each(|_| f.write_str(" "))
    }
}
