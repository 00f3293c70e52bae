//! Types of arrays in the layouts of 2017.

use super::{Expansion, LIBRARY, List, Number, type_of as modern_type};
use xla_shape_core::text::{ParseErrorKind, Parser};
use xla_shape_core::{ParseError, Shape, Span, type_limits};
use xla_shape_parity::legacy::{self, PaddingValue};

/// The type of the next shape, which has a layout of 2017.
pub(crate) fn type_of(mut parser: Parser<'_>) -> Result<Expansion, ParseError> {
    let start = parser.next_span().start;
    let shape = legacy::parse(&mut parser)?;
    parser.finish()?;
    type_limits::check(shape.modern())
        .map_err(|error| ParseError::new(ParseErrorKind::NotAType(error), Span { start, end: parser.position() }))?;
    let value = match shape.padding_value() {
        None => "AnyPadding",
        Some(PaddingValue::Zero) => "ZeroPadding",
        Some(PaddingValue::One) => "OnePadding",
        Some(PaddingValue::Lowest) => "LowestPadding",
        Some(PaddingValue::Highest) => "HighestPadding",
    };
    let widths = List(shape.padded_dimensions().iter().copied().map(Number));
    let array = modern_type(&Shape::Array(shape.modern().clone()));
    let text = format!("{LIBRARY}::legacy::Padded<{array}, {widths}, {LIBRARY}::legacy::{value}>");
    Ok(Expansion { text, sizes: Vec::new() })
}
