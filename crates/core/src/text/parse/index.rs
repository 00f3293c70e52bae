//! The parser of element indices.

use super::{Parser, Result};
use crate::layout::number::{DimensionError, DimensionNumber};
use crate::limits::MAX_SIZE;
use crate::text::error::{Expected, ParseError, ParseErrorKind};
use crate::text::token::TokenKind;

use alloc::vec;
use alloc::vec::Vec;

/// Reads the index of an element in an array of `num_dimensions` dimensions: one number for each dimension, from
/// dimension 0 on, or entries with the letters of dimensions, in any order. Parentheses or brackets around the index
/// are optional.
///
/// ```
/// use xla_shape_core::text::parse_index;
///
/// assert_eq!(parse_index("2, 3", 2)?, [2, 3]);
/// assert_eq!(parse_index("(x=3, y=2)", 2)?, [2, 3]);
/// let error = parse_index("y=2", 2).unwrap_err();
/// assert_eq!(error.to_string(), "expected one entry for each of 2 dimensions, found 1");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
///
/// # Errors
/// If the text is not an index, or does not have one entry for each dimension. Bounds are not checked.
pub fn parse_index(text: &str, num_dimensions: usize) -> Result<Vec<u64>> {
    let mut parser = Parser::whole(text);
    let start = parser.token;
    let closing = [('(', ')'), ('[', ']')].into_iter().find(|&(opening, _)| start.is(opening as u8)).map(|pair| pair.1);
    if closing.is_some() {
        parser.advance();
    }
    let ends = |parser: &Parser<'_>| match closing {
        Some(closing) => parser.token.is(closing as u8),
        None => parser.token.kind == TokenKind::End,
    };
    let mut index = vec![];
    let mut by_letter = vec![None; num_dimensions.min(4)];
    let mut letters = 0_usize;
    while !ends(&parser) {
        // An index is all letters, `y=2, x=3` in any order, or all numbers.
        if parser.token.kind == TokenKind::Word && index.is_empty() {
            let entry = parser.letter(num_dimensions, &by_letter)?;
            parser.eat(b'=')?;
            let value = parser.integer(Expected::IndexEntry)?;
            if let Some(slot) = by_letter.get_mut(entry) {
                *slot = Some(value);
            }
            letters += 1;
        } else if letters == 0 {
            index.push(parser.integer(Expected::IndexEntry)?);
        } else {
            return Err(parser.unexpected(Expected::DimensionLetter));
        }
        if parser.token.is(b',') {
            parser.advance();
            if ends(&parser) {
                return Err(parser.unexpected(Expected::IndexEntry));
            }
        } else if !ends(&parser) {
            let expected = closing.map_or(Expected::Character(','), |closing| Expected::Either(',', closing));
            return Err(parser.unexpected(expected));
        }
    }
    if closing.is_some() {
        parser.advance();
    }
    parser.finish()?;
    if letters > 0 {
        // A letter without a value leaves a gap: the list is too short, which the check below reports.
        index = by_letter.into_iter().flatten().collect();
    }
    if index.len() != num_dimensions {
        let error = DimensionError::CountMismatch { num_dimensions, entries: index.len() };
        let span = crate::text::Span { start: start.start, end: parser.position().max(start.start) };
        return Err(ParseError::new(ParseErrorKind::Index(error), span));
    }
    debug_assert!(index.iter().all(|&entry| entry <= MAX_SIZE), "the lexer rejects larger numbers");
    Ok(index)
}

impl Parser<'_> {
    /// Reads the letter of a dimension that has no entry yet.
    fn letter(&mut self, num_dimensions: usize, taken: &[Option<u64>]) -> Result<usize> {
        let mut letters = self.text(self.token).chars();
        let number = match (letters.next(), letters.next()) {
            (Some(letter), None) => DimensionNumber::from_letter(letter),
            _ => None,
        };
        let dimension = number.filter(|_| num_dimensions <= 4).and_then(|number| number.resolve(num_dimensions).ok());
        match dimension {
            Some(dimension) if taken.get(dimension).is_some_and(Option::is_none) => {
                self.advance();
                Ok(dimension)
            }
            _ => Err(self.unexpected(Expected::DimensionLetter)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::parse_index;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    #[test]
    fn numbers_and_letters_are_read() {
        assert_eq!(parse_index("", 0), Ok(Vec::new()));
        assert_eq!(parse_index("()", 0), Ok(Vec::new()));
        assert_eq!(parse_index(" ( 1 ,2, 3,4 , 5) ", 5), Ok([1, 2, 3, 4, 5].into()));
        assert_eq!(parse_index("p=1,z=2,y=3,x=4", 4), Ok([1, 2, 3, 4].into()));
        assert_eq!(parse_index("x=7", 1), Ok([7].into()));
        assert_eq!(parse_index("[2, 3]", 2), Ok([2, 3].into()));
        assert_eq!(parse_index("[x=7]", 1), Ok([7].into()));
    }

    #[test]
    fn every_error_has_its_message_and_position() {
        for (text, num_dimensions, message, start) in [
            ("1,", 2, "expected an entry of an index, found the end of the text", 2),
            ("1 2", 2, "expected `,`, found `2`", 2),
            ("(1,2", 2, "expected `,` or `)`, found the end of the text", 4),
            ("[1,2", 2, "expected `,` or `]`, found the end of the text", 4),
            ("[1,2)", 2, "expected `,` or `]`, found `)`", 4),
            ("(1,2)3", 2, "expected the end of the shape, found `3`", 5),
            ("-1", 1, "expected an entry of an index, found `-1`, which is negative", 0),
            ("99999999999999999999", 1, "expected a number that fits in an i64, found `99999999999999999999`", 0),
            ("x=1,x=2", 2, "expected the letter of a dimension without an entry, found `x`", 4),
            ("z=1,y=2", 2, "expected the letter of a dimension without an entry, found `z`", 0),
            ("y=1,2", 2, "expected the letter of a dimension without an entry, found `2`", 4),
            ("1,y=2", 2, "expected an entry of an index, found `y`", 2),
            ("y 1", 2, "expected `=`, found `1`", 2),
            ("w=1", 5, "expected the letter of a dimension without an entry, found `w`", 0),
            ("1,2,3", 2, "expected one entry for each of 2 dimensions, found 3", 0),
        ] {
            let error = parse_index(text, num_dimensions).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.span().start), (message, start), "{text}");
        }
    }
}
