//! The text of vector layouts, such as `32,{3,0},(8,128),-1`: the grammar of `VectorLayout::parse` and `print` in
//! `xla/mosaic/dialect/tpu/layout.cc`, without spaces and signs before numbers.

use super::{Expected, Found, ParseError, ParseErrorKind, Span};
use crate::tpu::vector::{ImplicitDimensions, Offset, VectorLayout};
use core::fmt;
use core::str::FromStr;

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(offset) => write!(f, "{offset}"),
            Self::Replicated => f.write_str("*"),
        }
    }
}

impl fmt::Display for VectorLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([row, column], [rows, columns]) = (self.offsets, self.tile);
        write!(f, "{},{{{row},{column}}},({rows},{columns})", self.bits)?;
        f.write_str(match self.implicit {
            ImplicitDimensions::None => "",
            ImplicitDimensions::MostMinor => ",-1",
            ImplicitDimensions::SecondMostMinor => ",-2",
            ImplicitDimensions::Both => ",-2,-1",
        })
    }
}

impl FromStr for VectorLayout {
    type Err = ParseError;

    /// Reads `32,{3,0},(8,128),-1`, the text between the quotes of `#xir_tc.vpad<"…">`. `none`, which scalars have, is
    /// not a layout.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut reader = Reader { text, at: 0 };
        let bits = reader.number()?;
        reader.all(",{")?;
        let row = reader.offset()?;
        reader.all(",")?;
        let column = reader.offset()?;
        reader.all("},(")?;
        let rows = reader.number()?;
        reader.all(",")?;
        let columns = reader.number()?;
        reader.all(")")?;
        let implicit = match reader.rest() {
            "" => ImplicitDimensions::None,
            ",-1" => ImplicitDimensions::MostMinor,
            ",-2" => ImplicitDimensions::SecondMostMinor,
            ",-2,-1" => ImplicitDimensions::Both,
            _ => return Err(reader.expected(Expected::Value("`,-1`, `,-2`, `,-2,-1` or the end of the vector layout"))),
        };
        Self::new(bits, [row, column], [rows, columns], implicit)
            .map_err(|error| ParseError::new(ParseErrorKind::VectorLayout(error), Span { start: 0, end: text.len() }))
    }
}

/// Reads a text from front to back.
struct Reader<'a> {
    text: &'a str,
    /// The byte position of the unread rest.
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Reads exactly these characters.
    fn all(&mut self, wanted: &str) -> Result<(), ParseError> {
        for c in wanted.chars() {
            if !self.rest().starts_with(c) {
                return Err(self.expected(Expected::Character(c)));
            }
            self.at += c.len_utf8();
        }
        Ok(())
    }

    fn offset(&mut self) -> Result<Offset, ParseError> {
        if self.rest().starts_with('*') {
            self.all("*")?;
            return Ok(Offset::Replicated);
        }
        if !self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected(Expected::Value("an offset: a number or `*`")));
        }
        self.number().map(Offset::Fixed)
    }

    fn number(&mut self) -> Result<u64, ParseError> {
        let rest = self.rest();
        let length = rest.bytes().take_while(u8::is_ascii_digit).count();
        let digits = rest.get(..length).unwrap_or("");
        if digits.is_empty() {
            return Err(self.expected(Expected::Value("a number")));
        }
        let span = Span { start: self.at, end: self.at + length };
        let number = digits.parse::<i64>().ok().and_then(|number| u64::try_from(number).ok());
        self.at = span.end;
        number.ok_or_else(|| ParseError::new(ParseErrorKind::NumberTooLarge { found: Found::new(digits) }, span))
    }

    #[cold]
    fn expected(&self, expected: Expected) -> ParseError {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        let span = Span { start: self.at, end: self.at + length };
        let found = Found::new(self.rest().get(..length).unwrap_or(""));
        ParseError::new(ParseErrorKind::Unexpected { expected, found }, span)
    }
}
