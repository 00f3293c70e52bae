//! The text of shapes in layouts of 2017, based on the core's parser.
//!
//! ```text
//! legacy ::= element_type '[' [ INT { ',' INT } ] ']' [ '{' [ INT { ',' INT } ] [ ':' [ widths [ value ] ] ] '}' ]
//! widths ::= 'PAD' '(' INT { ',' INT } ')'
//! value  ::= 'V' '(' ( 'zero' | 'one' | 'lowest' | 'highest' ) ')'
//! ```

use super::{LegacyError, LegacyShape, PaddingValue};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::str::FromStr;
use xla_shape_core::text::{Expected, Found, OtherError, ParseErrorKind, Parser};
use xla_shape_core::validate::ShapePart;
use xla_shape_core::{Dimension, ParseError, Span};

/// The attributes of these layouts.
const WIDTHS: &str = "PAD";
const VALUE: &str = "V";

const SIZE: &str = "a dimension's size";
const PADDING_VALUE: &str = "a padding value: `zero`, `one`, `lowest` or `highest`";
const WIDTHS_OR_END: &str = "the padding of a layout (`PAD`, then `V`) or the end of the layout";

/// Whether an array in a layout of 2017 comes next: the first attribute of its layout is `PAD` or `V`.
///
/// ```
/// use xla_shape_core::text::Parser;
/// use xla_shape_parity::legacy::is_next;
///
/// assert!(is_next(&Parser::new("f32[2,3]{0,1:PAD(3,5)}")));
/// assert!(!is_next(&Parser::new("f32[2,3]{0,1:T(5,3)}")));
/// ```
#[must_use]
pub fn is_next(parser: &Parser<'_>) -> bool {
    let Err(error) = parser.clone().array() else { return false };
    match error.kind() {
        ParseErrorKind::Unexpected { expected: Expected::AttributeOrEnd, found: Found::Text(found) } => {
            [WIDTHS, VALUE].contains(&&**found)
        }
        _ => false,
    }
}

/// Reads an array in a layout of 2017, such as `f32[2,3]{0,1:PAD(3,5)V(zero)}`, or in a layout without attributes.
///
/// ```
/// use xla_shape_core::text::Parser;
/// use xla_shape_parity::legacy::parse;
///
/// let text = "f32[2,3]{0,1:PAD(3,5)V(zero)} copy(x)";
/// let mut parser = Parser::new(text);
/// assert_eq!(parse(&mut parser)?.padded_dimensions(), [3, 5]);
/// assert_eq!(&text[parser.position()..], " copy(x)");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
///
/// # Errors
/// If no such array begins here, or it is invalid.
pub fn parse(parser: &mut Parser<'_>) -> Result<LegacyShape, ParseError> {
    let start = parser.next_span().start;
    let (array, close) = parser.array_before_attributes()?;
    // The parser also accepts expressions as sizes, for types. They have no value here.
    if let Some(size) = parser.size_expressions().first() {
        return Err(parser.expected_at(SIZE, size.span));
    }
    let mut sizes = Vec::with_capacity(array.num_dimensions());
    for (number, dimension) in array.dimensions().iter().enumerate() {
        let &Dimension::Static(size) = dimension else {
            let kind = |found: String| ParseErrorKind::Unexpected {
                expected: Expected::Value(SIZE),
                found: Found::new(&found),
            };
            return Err(parser.error_in_array(start, ShapePart::Dimension(number), kind(format!("{dimension}"))));
        };
        sizes.push(size);
    }
    let mut padding = Padding::default();
    if let Some(close) = close {
        padding.read(parser)?;
        if !parser.skip(close.encode_utf8(&mut [0; 4])) {
            return Err(parser.expected_at(WIDTHS_OR_END, parser.next_span()));
        }
    }
    let end = parser.position();
    LegacyShape::padded(array, &sizes, &padding.widths, padding.value).map_err(|error| {
        let whole = Span { start, end };
        let kind = ParseErrorKind::Other(OtherError::new(error));
        match error {
            LegacyError::Invalid(error) => ParseError::new(ParseErrorKind::Invalid(error), whole),
            LegacyError::WidthTooSmall { dimension, .. } | LegacyError::WidthTooLarge { dimension, .. } => {
                ParseError::new(kind, padding.spans.get(dimension).copied().unwrap_or(whole))
            }
            LegacyError::WidthCount { .. } => ParseError::new(kind, padding.list.unwrap_or(whole)),
            LegacyError::UnknownPaddingValue { .. } => ParseError::new(kind, whole),
        }
    })
}

/// The padding of a layout as it was read, before validation.
#[derive(Default)]
struct Padding {
    widths: Vec<u64>,
    /// The span of each width.
    spans: Vec<Span>,
    /// The span of the list of widths, with its parentheses.
    list: Option<Span>,
    value: Option<PaddingValue>,
}

impl Padding {
    fn read(&mut self, parser: &mut Parser<'_>) -> Result<(), ParseError> {
        if !parser.skip(WIDTHS) {
            return Ok(());
        }
        let start = parser.next_span().start;
        expect(parser, "(", "`(`")?;
        loop {
            let start = parser.next_span().start;
            self.widths.push(parser.number("the width of a padded dimension")?);
            self.spans.push(Span { start, end: parser.position() });
            if !parser.skip(",") {
                break;
            }
        }
        expect(parser, ")", "`,` or `)`")?;
        self.list = Some(Span { start, end: parser.position() });
        if parser.skip(VALUE) {
            expect(parser, "(", "`(`")?;
            let word = parser.next_token();
            self.value = PaddingValue::from_name(word);
            if self.value.is_none() {
                return Err(parser.expected_at(PADDING_VALUE, parser.next_span()));
            }
            parser.skip(word);
            expect(parser, ")", "`)`")?;
        }
        Ok(())
    }
}

/// Skips this token, which must be next.
fn expect(parser: &mut Parser<'_>, token: &str, expected: &'static str) -> Result<(), ParseError> {
    if parser.skip(token) { Ok(()) } else { Err(parser.expected_at(expected, parser.next_span())) }
}

impl FromStr for LegacyShape {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut parser = Parser::whole(text);
        let shape = parse(&mut parser)?;
        parser.finish()?;
        Ok(shape)
    }
}

impl fmt::Display for LegacyShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = format!("{}", self.modern().without_layout());
        if !self.dimensions().is_empty() {
            text.push('{');
            numbers(&mut text, self.minor_to_major())?;
            if !self.padded_dimensions().is_empty() {
                write!(text, ":{WIDTHS}(")?;
                numbers(&mut text, self.padded_dimensions())?;
                text.push(')');
            }
            if let Some(value) = self.padding_value() {
                write!(text, "{VALUE}({})", value.name())?;
            }
            text.push('}');
        }
        f.pad(&text)
    }
}

/// Writes numbers with commas between them.
fn numbers(text: &mut String, numbers: &[impl fmt::Display]) -> fmt::Result {
    for (i, number) in numbers.iter().enumerate() {
        let comma = if i > 0 { "," } else { "" };
        write!(text, "{comma}{number}")?;
    }
    Ok(())
}
