//! Limits the memory of decoded messages before they are decoded.
//!
//! An empty instruction takes two bytes in a message, and hundreds once it is decoded. Real instructions have a name, an opcode and a
//! shape.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{HloComputationProto, LiteralProto};
use alloc::vec;
use prost::DecodeError;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// The limit on the bytes of decoded computations, instructions and literals: this many for each byte of the message, plus a constant.
const BYTES_PER_BYTE: usize = 64;
const BASE_BYTES: usize = 64 << 10;

/// The most bytes that a decoded instruction takes.
const INSTRUCTION: usize = 1 << 10;

/// The messages that are counted.
#[derive(Clone, Copy)]
enum Part {
    Module,
    Computation,
    Instruction,
    Literal,
}

impl Part {
    /// The part in a field, and the bytes that it takes once decoded.
    const fn inner(self, field: u32) -> Option<(Self, usize)> {
        match (self, field) {
            (Self::Module, 3) => Some((Self::Computation, size_of::<HloComputationProto>())),
            (Self::Computation, 2) => Some((Self::Instruction, INSTRUCTION)),
            (Self::Instruction, 8) | (Self::Literal, 10) => Some((Self::Literal, size_of::<LiteralProto>())),
            _ => None,
        }
    }
}

/// Checks that a decoded module takes memory in proportion to its message.
pub(super) fn check(module: &[u8]) -> Result<(), HloProtoError> {
    check_part(Part::Module, module)
}

/// Checks that a decoded literal takes memory in proportion to its message.
pub(super) fn check_literal(literal: &[u8]) -> Result<(), HloProtoError> {
    check_part(Part::Literal, literal)
}

fn check_part(part: Part, bytes: &[u8]) -> Result<(), HloProtoError> {
    let all = bytes.len();
    let most = all.saturating_mul(BYTES_PER_BYTE).saturating_add(BASE_BYTES);
    let mut taken = 0_usize;
    let mut open = vec![(part, bytes)];
    while let Some((part, bytes)) = open.pop() {
        let mut rest = bytes;
        while let Some((field, content)) = next_field(&mut rest)? {
            let Some((inner, size)) = part.inner(field) else { continue };
            taken = taken.saturating_add(size);
            if taken > most {
                return Err(HloProtoError::new(HloProtoErrorKind::TooMany { bytes: all }));
            }
            if !content.is_empty() {
                open.push((inner, content));
            }
        }
    }
    Ok(())
}

/// The next length-delimited field; `None` at the end, and if the message is truncated, which decoding reports.
fn next_field<'b>(rest: &mut &'b [u8]) -> Result<Option<(u32, &'b [u8])>, DecodeError> {
    while !rest.is_empty() {
        let (field, wire_type) = decode_key(rest)?;
        if wire_type != WireType::LengthDelimited {
            skip_field(wire_type, field, rest, DecodeContext::default())?;
            continue;
        }
        let length = usize::try_from(decode_varint(rest)?).unwrap_or(usize::MAX);
        let Some((content, tail)) = rest.split_at_checked(length) else { return Ok(None) };
        *rest = tail;
        return Ok(Some((field, content)));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::check;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn field(number: u8, content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::from([number << 3 | 2]);
        prost::encoding::encode_varint(content.len() as u64, &mut bytes);
        [bytes, content.to_vec()].concat()
    }

    #[test]
    fn instructions_that_say_nothing_are_counted_before_they_are_read() {
        let many = field(2, &[]).repeat(50_000);
        let error = check(&field(3, &many)).unwrap_err().to_string();
        assert_eq!(error, "expected no more instructions than 100004 bytes can describe, found many empty ones");
        let literals = field(8, &field(10, &[]).repeat(50_000));
        assert!(check(&field(3, &field(2, &literals))).is_err());
        assert!(check(&field(3, &[]).repeat(50_000)).is_err());
        // In another field, these bytes are not instructions.
        assert!(check(&field(4, &many)).is_ok());
        // Instructions with a name, an opcode and a shape are accepted.
        let one =
            field(2, &[&field(1, b"a")[..], &field(2, b"parameter"), &field(3, &[0x10, 11, 0x1a, 1, 8])].concat());
        assert!(check(&field(3, &one.repeat(50_000))).is_ok());
    }

    #[test]
    fn what_breaks_off_is_said_where_it_is_read() {
        assert!(check(&[0x1a, 5, 0x12, 0]).is_ok());
        assert!(check(&[0x1a]).is_err());
        assert!(check(&[0xff; 20]).is_err());
        assert!(check(&[]).is_ok());
    }
}
