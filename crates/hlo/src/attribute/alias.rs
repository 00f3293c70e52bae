//! The attributes `input_output_alias`, `output_to_operand_aliasing` and `buffer_donor` (`HloParserImpl::ParseAliasing`,
//! `ParseInstructionOutputOperandAliasing` and `ParseBufferDonor` in `xla/hlo/parser/hlo_parser.cc`).

use super::{Value, decimal};
use crate::cursor::Cursor;
use alloc::vec::Vec;
use xla_shape_core::text::{Expected, ParseError, Span};

type Result<T> = core::result::Result<T, ParseError>;

/// A part of the result that shares the buffer of a part of a parameter or operand.
///
/// ```
/// let text = "y = (f32[4], s32[]) custom-call(a, b), output_to_operand_aliasing={{0}: (1, {}, must-alias)}";
/// let module = xla_shape_hlo::Module::parse(text)?;
/// let alias = &module.instruction("y").unwrap().attribute("output_to_operand_aliasing").unwrap().aliases()?[0];
/// assert_eq!(alias.result_index, [0], "element 0 of the result");
/// assert_eq!((alias.parameter, alias.must), (1, true), "always has the memory of b");
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Alias {
    /// The shape index of the part of the result: tuple element numbers from the outermost tuple inwards.
    pub result_index: Vec<usize>,
    /// The number of the parameter or operand.
    pub parameter: usize,
    /// The shape index of the part of the parameter or operand.
    pub parameter_index: Vec<usize>,
    /// Whether they must share the buffer (`must-alias`), or only may (`may-alias`).
    pub must: bool,
}

impl Value<'_> {
    /// Reads the entries of `input_output_alias` or `output_to_operand_aliasing`.
    pub(super) fn alias_entries(self) -> Result<Vec<Alias>> {
        self.in_braces(|cursor| {
            let result_index = index(self.source, cursor)?;
            cursor.skip_space()?;
            cursor.expect(b':')?;
            cursor.skip_space()?;
            let is_short = !cursor.eat(b'(');
            cursor.skip_space()?;
            let parameter = decimal(cursor.digits()).ok_or_else(|| cursor.unexpected(Expected::ParameterNumber))?;
            let (parameter_index, must) =
                if is_short { (Vec::new(), false) } else { place_in_parameter(self.source, cursor)? };
            Ok(Alias { result_index, parameter, parameter_index, must })
        })
    }

    /// Reads the parts of parameters whose buffers the caller donates: `buffer_donor={ (0, {}), (1, {0}) }`.
    ///
    /// # Errors
    /// If the value is not such a list.
    pub(crate) fn donors(self) -> Result<Vec<(usize, Vec<usize>)>> {
        self.in_braces(|cursor| {
            cursor.expect(b'(')?;
            cursor.skip_space()?;
            let parameter = decimal(cursor.digits()).ok_or_else(|| cursor.unexpected(Expected::ParameterNumber))?;
            cursor.skip_space()?;
            cursor.expect(b',')?;
            cursor.skip_space()?;
            let index = index(self.source, cursor)?;
            cursor.skip_space()?;
            cursor.expect(b')')?;
            Ok((parameter, index))
        })
    }

    /// Reads a list in braces, each entry as `entry` does.
    fn in_braces<T>(self, mut entry: impl FnMut(&mut Cursor<'_>) -> Result<T>) -> Result<Vec<T>> {
        let mut cursor = self.cursor();
        let mut entries = Vec::new();
        cursor.expect(b'{')?;
        cursor.skip_space()?;
        while cursor.peek() != Some(b'}') {
            entries.push(entry(&mut cursor)?);
            cursor.skip_space()?;
            if !cursor.eat(b',') {
                break;
            }
            cursor.skip_space()?;
        }
        cursor.expect(b'}')?;
        self.ends(&cursor)?;
        Ok(entries)
    }
}

/// Reads `, {0,1})` or `, {0,1}, must-alias)` at the cursor.
fn place_in_parameter(source: &str, cursor: &mut Cursor<'_>) -> Result<(Vec<usize>, bool)> {
    cursor.skip_space()?;
    cursor.expect(b',')?;
    cursor.skip_space()?;
    let index = index(source, cursor)?;
    cursor.skip_space()?;
    let mut must = false;
    if cursor.eat(b',') {
        cursor.skip_space()?;
        must = cursor.name().1 == "must-alias";
        cursor.skip_space()?;
    }
    cursor.expect(b')')?;
    Ok((index, must))
}

/// Reads `{0,1}` at the cursor.
fn index(source: &str, cursor: &mut Cursor<'_>) -> Result<Vec<usize>> {
    let start = cursor.position;
    cursor.peek_is(b'{')?;
    cursor.balanced()?;
    Value::new(source, Span { start, end: cursor.position }).numbers()
}
