//! The records of a module's flat lists.

use super::Table;
use crate::names::NONE;

/// A range of the module's text. A start beyond the end of the text means a range of the names and values that the module
/// [generated](Module::generate).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Piece {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: number(start), len: number(end.saturating_sub(start)) }
    }
}

/// A list index or a text offset as `u32`. Lists are no longer than the text, and the text is at most [`MAX_TEXT`] bytes long.
#[inline]
pub(crate) fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}

/// The longest text, in bytes: text offsets are `u32`, and the largest value means "none".
pub(crate) const MAX_TEXT: usize = u32::MAX as usize - 1;

/// A range of consecutive items of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Items {
    pub(crate) start: u32,
    pub(crate) len: u32,
}

impl Items {
    pub(crate) fn new(start: usize, end: usize) -> Self {
        Self { start: number(start), len: number(end.saturating_sub(start)) }
    }

    /// These items of `list`.
    pub(crate) fn slice<T>(self, list: &[T]) -> &[T] {
        let start = self.start as usize;
        list.get(start..start + self.len as usize).unwrap_or(&[])
    }

    /// The indices of the items.
    pub(crate) fn indices(self) -> core::ops::Range<u32> {
        self.start..self.start.saturating_add(self.len)
    }
}

#[derive(Clone, Debug)]
pub(crate) struct InstructionRecord {
    pub(crate) name: Piece,
    pub(crate) shape_text: Piece,
    pub(crate) opcode_text: Piece,
    /// The text between the parentheses.
    pub(crate) arguments: Piece,
    pub(crate) operands: Items,
    pub(crate) attributes: Items,
    pub(crate) shape: u32,
    pub(crate) computation: u32,
    pub(crate) end: u32,
    pub(crate) opcode: u8,
    pub(crate) is_root: bool,
    pub(crate) form: Form,
}

/// How the text writes an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// With a name of its own.
    Named,
    /// As an operand of another instruction: `negate(x)` in `add(negate(x), y)`, or `x#1`.
    Implied,
    /// In a form that the parser could not read.
    Unread,
}

/// An operand of an instruction, or a parameter in the head of a computation.
#[derive(Clone, Debug)]
pub(crate) struct OperandRecord {
    pub(crate) name: Piece,
    /// The shape written before an operand, or after a parameter.
    pub(crate) shape: u32,
    pub(crate) instruction: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct AttributeRecord {
    pub(crate) key: Piece,
    pub(crate) value: Piece,
}

#[derive(Clone, Debug)]
pub(crate) struct ComputationRecord {
    pub(crate) name: Piece,
    pub(crate) is_entry: bool,
    pub(crate) is_fragment: bool,
    pub(crate) has_head: bool,
    pub(crate) parameters: Items,
    pub(crate) result: u32,
    pub(crate) instructions: Items,
    pub(crate) root: u32,
    pub(crate) attributes: Items,
}

#[derive(Clone, Debug)]
pub(crate) struct RowRecord {
    pub(crate) table: Table,
    pub(crate) number: u32,
    pub(crate) value: Piece,
}

impl OperandRecord {
    pub(crate) const fn new(name: Piece) -> Self {
        Self { name, shape: NONE, instruction: NONE }
    }
}
