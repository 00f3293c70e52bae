//! Messages in wire format: lists of fields that borrow the bytes.
//!
//! `prost` decodes a message into a tree of small allocations, several times its size. Most of a module's message is fields of
//! instructions; they are read here without copies. `prost` decodes only the rarer nested messages.

use super::error::HloProtoError;
use alloc::vec::Vec;
use prost::Message;
use prost::encoding::{DecodeContext, WireType, decode_varint};
use xla_shape_core::proto::wire::varint;
pub(crate) use xla_shape_core::proto::wire::{Content, Field, Fields};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The bit for a field number below 128; 0 for others.
#[inline]
pub(crate) fn present(number: u32) -> u128 {
    1_u128.checked_shl(number).unwrap_or(0)
}

/// All fields of one message. If a field that is not a list occurs twice, the last one counts.
#[derive(Default)]
pub(crate) struct Record<'p> {
    fields: Vec<Field<'p>>,
    /// A bit set of the field numbers that occur. It leaves out numbers from 128 on.
    present: u128,
}

impl<'p> Record<'p> {
    pub(crate) const fn new() -> Self {
        Self { fields: Vec::new(), present: 0 }
    }

    pub(crate) fn parse(bytes: &'p [u8]) -> Result<Self> {
        let mut record = Self::default();
        record.read(bytes)?;
        Ok(record)
    }

    /// Parses a message, and replaces the fields.
    pub(crate) fn read(&mut self, bytes: &'p [u8]) -> Result<()> {
        self.fields.clear();
        self.present = 0;
        for field in Fields::new(bytes) {
            let field = field?;
            self.present |= present(field.number);
            self.fields.push(field);
        }
        Ok(())
    }

    /// Replaces the fields; `all` is the bit set of their numbers below 128.
    #[inline]
    pub(crate) fn take(&mut self, fields: &[Field<'p>], all: u128) {
        self.fields.clear();
        self.fields.extend_from_slice(fields);
        self.present = all;
    }

    #[inline]
    pub(crate) fn has(&self, number: u32) -> bool {
        self.present.checked_shr(number).unwrap_or(0) & 1 == 1
    }

    /// Whether one of the fields with these bits occurs.
    #[inline]
    pub(crate) const fn has_any(&self, fields: u128) -> bool {
        self.present & fields != 0
    }

    fn all(&self, number: u32) -> impl DoubleEndedIterator<Item = Content<'p>> {
        let fields = if self.has(number) { self.fields.as_slice() } else { &[] };
        fields.iter().filter(move |field| field.number == number).map(|field| field.content)
    }

    /// A number; 0 if the field is missing.
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

    /// A number of 32 bits, or an enum.
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

    /// The contents of all length-delimited fields with this number.
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

    /// A text; empty if the field is missing.
    #[inline]
    pub(crate) fn text(&self, field: u32) -> Result<&'p str> {
        text(self.bytes(field).unwrap_or(&[]))
    }

    /// A list of numbers, packed or not.
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

    /// For each message in a field: the numbers in the message's fields 1 to `COUNT`.
    pub(crate) fn rows<const COUNT: usize>(&self, field: u32) -> Result<Vec<[i64; COUNT]>> {
        self.each(field).map(row).collect()
    }

    pub(crate) fn messages<M: Message + Default>(&self, field: u32) -> Result<Vec<M>> {
        self.each(field).map(|bytes| Ok(M::decode(bytes)?)).collect()
    }
}

/// The numbers of a list.
pub(crate) struct Numbers<'r, 'p> {
    fields: core::slice::Iter<'r, Field<'p>>,
    number: u32,
    /// The rest of a packed list.
    packed: &'p [u8],
}

impl Iterator for Numbers<'_, '_> {
    type Item = Result<i64>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        // A list of numbers is one packed field, or a field for each number. A message may even mix the two.
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

/// The numbers in the fields 1, 2, … of a message.
pub(crate) fn row<const COUNT: usize>(bytes: &[u8]) -> Result<[i64; COUNT]> {
    let mut row = [0; COUNT];
    for field in Fields::new(bytes) {
        let field = field?;
        let place = usize::try_from(field.number).ok().and_then(|number| row.get_mut(number.checked_sub(1)?));
        if let (Some(place), Content::Number(number)) = (place, field.content) {
            *place = number as i64;
        }
    }
    Ok(row)
}

/// Converts bytes to text.
#[inline]
pub(crate) fn text(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| not_text(bytes))
}

/// The error that `prost` returns for bytes that are not UTF-8.
#[cold]
fn not_text(bytes: &[u8]) -> HloProtoError {
    // Let prost decode the bytes as a string field, so that the error is the same as in messages that prost reads.
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
    use super::Record;
    use alloc::string::ToString;
    use alloc::vec::Vec;

    fn numbers(record: &Record<'_>, field: u32) -> Vec<i64> {
        record.list(field).unwrap()
    }

    #[test]
    fn fields_are_found_by_their_numbers() {
        let bytes = [0x08, 0x96, 0x01, 0x12, 2, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f, 0x08, 3, 0xa2, 0x06, 1, 7];
        let record = Record::parse(&bytes).unwrap();
        assert_eq!((record.number(1), record.text(2).unwrap(), record.float(3)), (3, "hi", 1.0));
        assert_eq!(numbers(&record, 1), [150, 3]);
        assert_eq!((numbers(&record, 100), record.bytes(100)), (Vec::from([7]), Some(&[7][..])));
        assert_eq!((record.number(9), record.text(9).unwrap(), record.bytes(1)), (0, "", None));
        assert_eq!(super::row::<2>(&[0x10, 7, 0x18, 1, 0x0a, 0]).unwrap(), [0, 7]);
        // A group is skipped.
        let record = Record::parse(&[0x0b, 0x08, 1, 0x0c, 0x10, 5]).unwrap();
        assert_eq!((record.number(1), record.number(2)), (0, 5));
    }

    #[test]
    fn the_largest_number_is_read_and_a_larger_one_is_not() {
        let minus_one = [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1];
        assert_eq!(Record::parse(&minus_one).unwrap().number(1), -1);
        let mut larger = minus_one;
        larger[10] = 2;
        assert!(Record::parse(&larger).is_err());
        larger[10] = 0xff;
        assert!(Record::parse(&larger).is_err());
    }

    #[test]
    fn what_breaks_off_is_an_error() {
        let record = Record::parse(&[0x12, 1, 0x80, 0x1a, 1, 0xff]).unwrap();
        assert!(record.list(2).is_err());
        assert!(record.text(3).unwrap_err().to_string().contains("UTF-8"));
    }
}
