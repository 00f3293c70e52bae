//! Messages as they stand in their bytes: fields one after the other, of which nothing is copied.
//!
//! `prost` makes a tree of a message, which takes several times its bytes in small pieces. Most of a module's message are the
//! fields of its instructions: they are read here, and `prost` reads the messages in them that are rare.

use super::error::HloProtoError;
use alloc::vec::Vec;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};
use prost::{DecodeError, Message};

type Result<T> = core::result::Result<T, HloProtoError>;

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content<'p> {
    Number(u64),
    /// Of four or eight bytes.
    Fixed(u64),
    Bytes(&'p [u8]),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<'p> {
    pub(crate) number: u32,
    pub(crate) content: Content<'p>,
}

/// The fields of a message, one after the other.
pub(crate) struct Fields<'p> {
    rest: &'p [u8],
}

impl<'p> Fields<'p> {
    pub(crate) const fn of(bytes: &'p [u8]) -> Self {
        Self { rest: bytes }
    }

    #[inline]
    fn field(&mut self) -> Option<Field<'p>> {
        let key = varint(&mut self.rest)?;
        let number = u32::try_from(key >> 3).ok().filter(|number| *number > 0)?;
        let content = match key & 7 {
            0 => Content::Number(varint(&mut self.rest)?),
            1 => Content::Fixed(u64::from_le_bytes(fixed(&mut self.rest)?)),
            2 => {
                let length = usize::try_from(varint(&mut self.rest)?).ok()?;
                let (content, rest) = self.rest.split_at_checked(length)?;
                self.rest = rest;
                Content::Bytes(content)
            }
            5 => Content::Fixed(u32::from_le_bytes(fixed(&mut self.rest)?).into()),
            _ => return None,
        };
        Some(Field { number, content })
    }
}

impl<'p> Iterator for Fields<'p> {
    type Item = Result<Field<'p>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let start = self.rest;
            if let Some(field) = self.field() {
                return Some(Ok(field));
            }
            self.rest = start;
            if let Err(error) = other(&mut self.rest) {
                self.rest = &[];
                return Some(Err(error.into()));
            }
        }
        None
    }
}

/// Skips a group, which no message of XLA's has, or says what is wrong.
#[cold]
fn other(rest: &mut &[u8]) -> core::result::Result<(), DecodeError> {
    let (number, wire_type) = decode_key(rest)?;
    skip_field(wire_type, number, rest, DecodeContext::default())
}

fn fixed<const BYTES: usize>(rest: &mut &[u8]) -> Option<[u8; BYTES]> {
    let (bytes, behind) = rest.split_first_chunk::<BYTES>()?;
    *rest = behind;
    Some(*bytes)
}

/// A number of one to ten bytes, seven bits in each.
#[inline]
fn varint(rest: &mut &[u8]) -> Option<u64> {
    match **rest {
        [first @ ..0x80, ref behind @ ..] => {
            *rest = behind;
            Some(first.into())
        }
        [first, second @ ..0x80, ref behind @ ..] => {
            *rest = behind;
            Some(u64::from(first & 0x7f) | u64::from(second) << 7)
        }
        _ => long_varint(rest),
    }
}

fn long_varint(rest: &mut &[u8]) -> Option<u64> {
    let (mut value, mut shift) = (0_u64, 0_u32);
    for (&byte, length) in rest.iter().zip(1_usize..) {
        value |= u64::from(byte & 0x7f).wrapping_shl(shift);
        if byte < 0x80 {
            *rest = rest.get(length..)?;
            // The tenth byte has one bit.
            return (length < 10 || byte < 2).then_some(value);
        }
        shift = shift.wrapping_add(7);
        if length == 10 {
            break;
        }
    }
    None
}

/// All fields of one message. Where a field that is no list stands more than once, the last one counts.
#[derive(Default)]
pub(crate) struct Record<'p> {
    fields: Vec<Field<'p>>,
    /// The numbers below 128 that are there.
    present: u128,
}

impl<'p> Record<'p> {
    pub(crate) fn of(bytes: &'p [u8]) -> Result<Self> {
        let mut record = Self::default();
        record.read(bytes)?;
        Ok(record)
    }

    /// Takes the place of what was read before.
    pub(crate) fn read(&mut self, bytes: &'p [u8]) -> Result<()> {
        self.fields.clear();
        self.present = 0;
        for field in Fields::of(bytes) {
            let field = field?;
            self.present |= 1_u128.checked_shl(field.number).unwrap_or(0);
            self.fields.push(field);
        }
        Ok(())
    }

    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        self.present.checked_shr(number).unwrap_or(0) & 1 == 1
    }

    fn all(&self, number: u32) -> impl DoubleEndedIterator<Item = Content<'p>> {
        let fields = if self.has(number) { self.fields.as_slice() } else { &[] };
        fields.iter().filter(move |field| field.number == number).map(|field| field.content)
    }

    /// A number; 0 where it is not there.
    #[inline]
    pub(crate) fn number(&self, field: u32) -> i64 {
        self.optional_number(field).unwrap_or(0)
    }

    pub(crate) fn optional_number(&self, field: u32) -> Option<i64> {
        self.all(field).rev().find_map(|content| match content {
            Content::Number(number) => Some(number as i64),
            _ => None,
        })
    }

    /// A number of 32 bits, of which an enumeration is one.
    pub(crate) fn short(&self, field: u32) -> i32 {
        self.number(field) as i32
    }

    pub(crate) fn flag(&self, field: u32) -> bool {
        self.number(field) != 0
    }

    pub(crate) fn float(&self, field: u32) -> f32 {
        let bits = self.all(field).rev().find_map(|content| match content {
            Content::Fixed(bits) => Some(bits),
            _ => None,
        });
        f32::from_bits(bits.unwrap_or(0) as u32)
    }

    /// All that have a length, with this number.
    pub(crate) fn each(&self, field: u32) -> impl DoubleEndedIterator<Item = &'p [u8]> {
        self.all(field).filter_map(|content| match content {
            Content::Bytes(bytes) => Some(bytes),
            _ => None,
        })
    }

    #[inline]
    pub(crate) fn bytes(&self, field: u32) -> Option<&'p [u8]> {
        self.each(field).next_back()
    }

    /// A text; empty where it is not there.
    #[inline]
    pub(crate) fn text(&self, field: u32) -> Result<&'p str> {
        text(self.bytes(field).unwrap_or(&[]))
    }

    /// A list of numbers, in one piece or one by one.
    pub(crate) fn numbers(&self, number: u32) -> Numbers<'_, 'p> {
        let fields = if self.has(number) { self.fields.as_slice() } else { &[] };
        Numbers { fields: fields.iter(), number, packed: &[] }
    }

    pub(crate) fn list(&self, field: u32) -> Result<Vec<i64>> {
        self.numbers(field).collect()
    }

    #[inline]
    pub(crate) fn message<M: Message + Default>(&self, field: u32) -> Result<Option<M>> {
        if self.has(field) { self.message_there(field) } else { Ok(None) }
    }

    fn message_there<M: Message + Default>(&self, field: u32) -> Result<Option<M>> {
        self.bytes(field).map(|bytes| Ok(M::decode(bytes)?)).transpose()
    }

    pub(crate) fn messages<M: Message + Default>(&self, field: u32) -> Result<Vec<M>> {
        self.each(field).map(|bytes| Ok(M::decode(bytes)?)).collect()
    }
}

/// The numbers of a list.
pub(crate) struct Numbers<'r, 'p> {
    fields: core::slice::Iter<'r, Field<'p>>,
    number: u32,
    /// The rest of those in one piece.
    packed: &'p [u8],
}

impl Iterator for Numbers<'_, '_> {
    type Item = Result<i64>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        while self.packed.is_empty() {
            let field = self.fields.next()?;
            match field.content {
                _ if field.number != self.number => {}
                Content::Bytes(bytes) => self.packed = bytes,
                Content::Number(number) => return Some(Ok(number as i64)),
                Content::Fixed(_) => {}
            }
        }
        if let Some(number) = varint(&mut self.packed) {
            return Some(Ok(number as i64));
        }
        let error = decode_varint(&mut core::mem::take(&mut self.packed)).err()?;
        Some(Err(error.into()))
    }
}

/// The text that these bytes are.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| not_text(bytes))
}

/// The error that `prost` has for it.
#[cold]
fn not_text(bytes: &[u8]) -> HloProtoError {
    let mut field = Vec::new();
    prost::encoding::encode_varint(bytes.len() as u64, &mut field);
    field.extend_from_slice(bytes);
    let mut text = alloc::string::String::new();
    let context = DecodeContext::default();
    let read = prost::encoding::string::merge(WireType::LengthDelimited, &mut text, &mut &*field, context);
    read.err().map_or_else(super::error::not_text, HloProtoError::from)
}

#[cfg(test)]
mod tests {
    use super::{Fields, Record};
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn numbers(record: &Record<'_>, field: u32) -> Vec<i64> {
        record.list(field).unwrap()
    }

    #[test]
    fn fields_are_found_by_their_numbers() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f, 0x08, 3, 0xa2, 0x06, 1, 7];
        let record = Record::of(&bytes).unwrap();
        assert_eq!((record.number(1), record.text(2).unwrap(), record.float(3)), (3, "hi", 1.0));
        assert_eq!(numbers(&record, 1), [150, 3]);
        assert_eq!((numbers(&record, 100), record.bytes(100)), (Vec::from([7]), Some(&[7][..])));
        assert_eq!((record.number(9), record.text(9).unwrap(), record.bytes(1)), (0, "", None));
        // A group is skipped.
        let record = Record::of(&[0x0b, 0x08, 1, 0x0c, 0x10, 5]).unwrap();
        assert_eq!((record.number(1), record.number(2)), (0, 5));
    }

    #[test]
    fn the_largest_number_is_read_and_a_larger_one_is_not() {
        let minus_one = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Record::of(&minus_one).unwrap().number(1), -1);
        let mut larger = minus_one;
        larger[10] = 2;
        assert!(Record::of(&larger).is_err());
        larger[10] = 0xff;
        assert!(Record::of(&larger).is_err());
    }

    #[test]
    fn what_breaks_off_is_an_error_and_the_end() {
        for bytes in
            [&[0x08][..], &[0x12, 5, b'a'], &[0x1d, 0], &[0x09, 0], &[0x00], &[0x0c], &[0x0b], &[0x0f], &[0xff]]
        {
            let read: Vec<_> = Fields::of(bytes).collect();
            assert!(matches!(&read[..], [Err(_)]), "{bytes:?}: {read:?}");
        }
        let record = Record::of(&[0x12, 1, 0x80, 0x1a, 1, 0xff]).unwrap();
        assert!(record.list(2).is_err());
        assert!(record.text(3).unwrap_err().to_string().contains("UTF-8"));
    }
}
