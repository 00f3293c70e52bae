//! The wire format of protobuf: iterates over the fields of a message without copying.

use prost::DecodeError;
use prost::encoding::{DecodeContext, decode_key, skip_field};

/// The content of a field.
#[derive(Clone, Copy, Debug)]
pub enum Content<'p> {
    /// A varint.
    Number(u64),
    /// A number of four or eight bytes.
    Fixed(u64),
    /// Length-delimited bytes: a text, a message or a packed list.
    Bytes(&'p [u8]),
}

/// A field of a message.
#[derive(Clone, Copy, Debug)]
pub struct Field<'p> {
    /// Its number in the schema.
    pub number: u32,
    /// Its content.
    pub content: Content<'p>,
}

/// Iterates over the fields of a message.
#[derive(Debug)]
pub struct Fields<'p> {
    rest: &'p [u8],
}

impl<'p> Fields<'p> {
    /// The fields of the message in these bytes.
    #[must_use]
    pub const fn new(bytes: &'p [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes after the fields that were read.
    #[must_use]
    pub const fn rest(&self) -> &'p [u8] {
        self.rest
    }

    #[inline(always)]
    fn field(&mut self) -> Option<Field<'p>> {
        let mut rest = self.rest;
        let key = varint(&mut rest)?;
        let number = (key >> 3) as u32;
        if number == 0 || key > u64::from(u32::MAX) {
            return None;
        }
        // The lowest three bits are the wire type. Groups (3 and 4) are left to `other`.
        let content = match key & 7 {
            0 => Content::Number(varint(&mut rest)?),
            2 => {
                let length = varint(&mut rest)?;
                if length > rest.len() as u64 {
                    return None;
                }
                let (content, tail) = rest.split_at_checked(length as usize)?;
                rest = tail;
                Content::Bytes(content)
            }
            1 => Content::Fixed(u64::from_le_bytes(fixed(&mut rest)?)),
            5 => Content::Fixed(u32::from_le_bytes(fixed(&mut rest)?).into()),
            _ => return None,
        };
        self.rest = rest;
        Some(Field { number, content })
    }

    /// Skips a group, which XLA's messages do not have, or returns the error.
    #[cold]
    #[inline(never)]
    fn other(&mut self) -> Result<(), DecodeError> {
        let read = decode_key(&mut self.rest)
            .and_then(|(number, wire_type)| skip_field(wire_type, number, &mut self.rest, DecodeContext::default()));
        if read.is_err() {
            self.rest = &[];
        }
        read
    }
}

impl<'p> Iterator for Fields<'p> {
    type Item = Result<Field<'p>, DecodeError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            if let Some(field) = self.field() {
                return Some(Ok(field));
            }
            if let Err(error) = self.other() {
                return Some(Err(error));
            }
        }
        None
    }
}

fn fixed<const BYTES: usize>(rest: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (bytes, tail) = rest.split_first_chunk::<BYTES>()?;
    *rest = tail;
    Some(*bytes)
}

/// Reads a varint: one to ten bytes with seven bits each. `None` if it is not valid or the bytes end.
#[inline(always)]
pub fn varint(rest: &mut &[u8]) -> Option<u64> {
    match **rest {
        [first @ ..0x80, ref tail @ ..] => {
            *rest = tail;
            Some(first.into())
        }
        [first, second @ ..0x80, ref tail @ ..] => {
            *rest = tail;
            Some(u64::from(first & 0x7f) | u64::from(second) << 7)
        }
        _ => {
            let (value, tail) = long_varint(rest)?;
            *rest = tail;
            Some(value)
        }
    }
}

#[inline(never)]
fn long_varint(rest: &[u8]) -> Option<(u64, &[u8])> {
    // Reads eight bytes at once. The last byte of the varint is the first one whose highest bit is 0.
    if let Some(first) = rest.first_chunk::<8>() {
        let word = u64::from_le_bytes(*first);
        let ends = !word & 0x8080_8080_8080_8080;
        if ends != 0 {
            let bits = ends.trailing_zeros();
            let word = word & u64::MAX.wrapping_shr(63_u32.wrapping_sub(bits));
            let pairs = (word & 0x007f_007f_007f_007f) | ((word & 0x7f00_7f00_7f00_7f00) >> 1);
            let quads = (pairs & 0x0000_3fff_0000_3fff) | ((pairs & 0x3fff_0000_3fff_0000) >> 2);
            let value = (quads & 0x0fff_ffff) | ((quads & 0x0fff_ffff_0000_0000) >> 4);
            return Some((value, rest.get((bits / 8) as usize..)?.split_first()?.1));
        }
    }
    let (mut value, mut shift) = (0_u64, 0_u32);
    for (&byte, length) in rest.iter().zip(1_usize..) {
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            // The tenth byte holds only the highest bit of the number.
            return (length < 10 || byte < 2).then_some((value, rest.get(length..)?));
        }
        shift = shift.wrapping_add(7);
        if length == 10 {
            break;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Fields, varint};
    use alloc::vec::Vec;

    #[test]
    fn numbers_are_those_that_prost_reads() {
        let values =
            (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1, u64::MAX >> bit, 0x0123_4567_89ab_cdef >> bit]);
        for value in values {
            for tail in 0..9 {
                let mut bytes = Vec::new();
                prost::encoding::encode_varint(value, &mut bytes);
                bytes.resize(bytes.len() + tail, 0xff);
                let mut rest = bytes.as_slice();
                assert_eq!((varint(&mut rest), rest.len()), (Some(value), tail), "{value}");
            }
        }
        for bytes in
            [&[][..], &[0x80], &[0xff; 9], &[0xff; 10], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert_eq!(varint(&mut &*bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn what_breaks_off_is_an_error_and_the_end() {
        for bytes in
            [&[0x08][..], &[0x12, 5, b'a'], &[0x1d, 0], &[0x09, 0], &[0x00], &[0x0c], &[0x0b], &[0x0f], &[0xff]]
        {
            let read: Vec<_> = Fields::new(bytes).collect();
            assert!(matches!(&read[..], [Err(_)]), "{bytes:?}: {read:?}");
        }
    }
}
