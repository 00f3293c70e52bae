//! The shapes of a message's instructions: each is read and printed once.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::HloInstructionProto;
use crate::names::{NameTable, hash};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::Shape;
use xla_shape_core::proto::decode_shape;

type Result<T> = core::result::Result<T, HloProtoError>;

/// A shape, and its texts.
pub(crate) struct Known<'p> {
    bytes: &'p [u8],
    pub(crate) shape: Shape,
    pub(crate) text: String,
    pub(crate) without_layout: String,
}

pub(crate) struct Shapes<'p> {
    table: NameTable,
    known: Vec<Known<'p>>,
}

impl<'p> Shapes<'p> {
    pub(crate) fn new() -> Self {
        Self { table: NameTable::new(), known: Vec::new() }
    }

    /// The shape of an instruction.
    pub(crate) fn of(&mut self, instruction: &'p HloInstructionProto) -> Result<&Known<'p>> {
        let missing = || HloProtoError::new(HloProtoErrorKind::Missing { field: "shape" });
        let bytes = instruction.shape.as_deref().ok_or_else(missing)?;
        let of_bytes = hash(bytes);
        let known = &self.known;
        let bytes_of = |number: u32| known.get(number as usize).map_or(&b""[..], |known| known.bytes);
        let number = match self.table.get(bytes, of_bytes, bytes_of) {
            Some(number) => number,
            None => {
                let shape = decode_shape(bytes)?;
                let number = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
                self.table.insert(bytes, of_bytes, number, bytes_of);
                let (text, without_layout) = (shape.to_string(), shape.without_layout().to_string());
                self.known.push(Known { bytes, shape, text, without_layout });
                number
            }
        };
        self.known.get(number as usize).ok_or_else(missing)
    }
}
