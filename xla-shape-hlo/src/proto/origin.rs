//! Where values come from: the attributes `origin` and `origin_recovery_table`.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{
    HloModuleProto, OriginalArrayProto, OriginalValueElementProto, OriginalValueProto, OriginalValueRecoveryTableProto,
    OriginalValueRecoveryTableProtoEntry,
};
use crate::attribute::Value;
use crate::module::Module;
use crate::text::cursor::Cursor;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::text::{MAX_NESTING, unescaped};

type Result<T> = core::result::Result<T, HloProtoError>;

/// Reads `{({"a"}, {"b" {0}}),["call"]}`, or `{[synthetic_call]}`.
pub(crate) fn original_value(value: Value<'_>) -> Result<OriginalValueProto> {
    let mut cursor = value.cursor();
    let mut to = OriginalValueProto::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    if cursor.peek() != Some(b'[') {
        tree(&mut cursor, &mut Vec::new(), &mut to.elements)?;
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
    Ok(to)
}

/// Reads what a tuple, or an array in it, comes from.
fn tree(cursor: &mut Cursor<'_>, index: &mut Vec<i64>, to: &mut Vec<OriginalValueElementProto>) -> Result<()> {
    if index.len() > MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    if cursor.eat(b'(') {
        cursor.skip_space()?;
        let mut place = 0_i64;
        while cursor.peek() != Some(b')') {
            index.push(place);
            tree(cursor, index, to)?;
            index.pop();
            place = place.saturating_add(1);
            cursor.skip_space()?;
            if !cursor.eat(b',') {
                break;
            }
            cursor.skip_space()?;
        }
        return Ok(cursor.expect(b')')?);
    }
    let array = array(cursor)?;
    let original_array = (!array.instruction_name.is_empty()).then_some(array);
    to.push(OriginalValueElementProto { shape_index: index.clone(), original_array });
    Ok(())
}

/// Reads `{"name" {0,1}}`.
fn array(cursor: &mut Cursor<'_>) -> Result<OriginalArrayProto> {
    let mut to = OriginalArrayProto::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    if cursor.peek() == Some(b'"') {
        to.instruction_name = string(cursor)?;
        cursor.skip_space()?;
        if cursor.eat(b'{') {
            cursor.skip_space()?;
            while cursor.peek() != Some(b'}') {
                let number = crate::attribute::decimal(cursor.digits());
                let expected = xla_shape_core::text::Expected::Value("the number of a tuple's element");
                to.shape_index.push(number.ok_or_else(|| cursor.unexpected(expected))?);
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
fn string(cursor: &mut Cursor<'_>) -> Result<String> {
    cursor.peek_is(b'"')?;
    let start = cursor.position;
    cursor.free_value()?;
    let text = cursor.since(start);
    let inside = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or("");
    Ok(String::from_utf8_lossy(&unescaped(inside)).into_owned())
}

/// Reads a table: `{ {"old"} : {"new"}, "a module's text" … }`.
pub(crate) fn recovery_table(
    value: Value<'_>,
    message: fn(&Module<'_>) -> Result<HloModuleProto>,
) -> Result<OriginalValueRecoveryTableProto> {
    let mut cursor = value.cursor();
    let mut to = OriginalValueRecoveryTableProto::default();
    cursor.expect(b'{')?;
    cursor.skip_space()?;
    while cursor.peek() != Some(b'}') {
        let old = array(&mut cursor)?;
        cursor.skip_space()?;
        cursor.expect(b':')?;
        cursor.skip_space()?;
        let new = array(&mut cursor)?;
        let mut entry = OriginalValueRecoveryTableProtoEntry {
            old_original_array: Some(old),
            new_original_array: Some(new),
            recovery_module: None,
        };
        cursor.skip_space()?;
        if cursor.eat(b',') {
            cursor.skip_space()?;
            if cursor.peek() == Some(b'"') {
                let text = string(&mut cursor)?;
                let module = Module::parse(&text).map_err(HloProtoError::from).and_then(|module| message(&module));
                entry.recovery_module = Some(module.map_err(|error| error.within("origin_recovery_table"))?);
                cursor.skip_space()?;
                cursor.eat(b',');
                cursor.skip_space()?;
            }
        }
        to.entries.push(entry);
    }
    cursor.expect(b'}')?;
    Ok(to)
}
