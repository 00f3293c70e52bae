//! The attributes `origin` and `original_value`: which values of the unoptimised module a value comes from
//! (`HloParserImpl::ParseOriginalValue` in `xla/hlo/parser/hlo_parser.cc`, `xla/hlo/ir/hlo_original_value.cc`).

use super::Value;
use crate::cursor::Cursor;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::text::{Expected, MAX_NESTING, ParseError, ParseErrorKind, Span, unescaped};

type Result<T> = core::result::Result<T, ParseError>;

/// An array of the original program: the instruction that defines it and the index in its tuple (`OriginalArray`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct OriginalArray {
    pub(crate) name: String,
    pub(crate) index: Vec<i64>,
}

/// The original arrays of each part of a value (`OriginalValue`).
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Origin {
    /// For each array of the value, its shape index and the original array, which has an empty name if it is unknown.
    pub(crate) arrays: Vec<(Vec<i64>, OriginalArray)>,
    pub(crate) is_synthetic_call: bool,
    pub(crate) call_hierarchy: Option<String>,
}

/// Reads `{({"a"}, {"b" {0}}),["call"]}`, or `{[synthetic_call]}`.
pub(crate) fn origin(value: Value<'_>) -> Result<Origin> {
    let mut cursor = value.cursor();
    let mut to = Origin::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    if !matches!(cursor.peek(), Some(b'[' | b'}')) {
        tree(&mut cursor, &mut Vec::new(), &mut to.arrays)?;
        cursor.skip_space()?;
        if cursor.eat(b',') {
            cursor.skip_space()?;
        }
    }
    if cursor.eat(b'[') {
        cursor.skip_space()?;
        if cursor.eat_word("synthetic_call") {
            to.is_synthetic_call = true;
            to.call_hierarchy = Some(String::new());
        } else {
            to.call_hierarchy = Some(string(&mut cursor)?);
        }
        cursor.skip_space()?;
        cursor.expect(b']')?;
        cursor.skip_space()?;
    }
    cursor.expect(b'}')?;
    value.ends(&cursor)?;
    Ok(to)
}

/// Reads the original arrays of a tuple, or of one array in it.
fn tree(cursor: &mut Cursor<'_>, index: &mut Vec<i64>, to: &mut Vec<(Vec<i64>, OriginalArray)>) -> Result<()> {
    if index.len() > MAX_NESTING {
        let place = Span { start: cursor.position, end: cursor.position + 1 };
        return Err(ParseError::new(ParseErrorKind::TooDeep { limit: MAX_NESTING }, place));
    }
    if cursor.eat(b'(') {
        cursor.skip_space()?;
        for place in 0_i64.. {
            if cursor.peek() == Some(b')') {
                break;
            }
            index.push(place);
            tree(cursor, index, to)?;
            index.pop();
            cursor.skip_space()?;
            cursor.eat(b',');
            cursor.skip_space()?;
        }
        return cursor.expect(b')');
    }
    to.push((index.clone(), array(cursor)?));
    Ok(())
}

/// Reads `{"name" {0,1}}`.
pub(crate) fn array(cursor: &mut Cursor<'_>) -> Result<OriginalArray> {
    let mut to = OriginalArray::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    if matches!(cursor.peek(), Some(b'"' | b'\'')) {
        to.name = string(cursor)?;
        cursor.skip_space()?;
        if cursor.eat(b'{') {
            cursor.skip_space()?;
            while cursor.peek() != Some(b'}') {
                let number = super::decimal(cursor.digits());
                let expected = Expected::Value("the number of a tuple element");
                to.index.push(number.ok_or_else(|| cursor.unexpected(expected))?);
                cursor.skip_space()?;
                cursor.eat(b',');
                cursor.skip_space()?;
            }
            cursor.expect(b'}')?;
        }
        cursor.skip_space()?;
    }
    cursor.expect(b'}')?;
    Ok(to)
}

/// Reads a string in quotes.
pub(crate) fn string(cursor: &mut Cursor<'_>) -> Result<String> {
    if cursor.peek() != Some(b'\'') {
        cursor.peek_is(b'"')?;
    }
    let start = cursor.position;
    cursor.free_value()?;
    let text = cursor.since(start);
    let inside = super::within_quotes(text).unwrap_or("");
    Ok(String::from_utf8_lossy(&unescaped(inside)).into_owned())
}
