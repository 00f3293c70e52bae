//! The bytes, and the numbers that they encode.

use super::{BytecodeError, BytecodeProblem};

pub(super) type Result<T, E = BytecodeError> = core::result::Result<T, E>;

/// A part of the bytes, which is read from its beginning to its end.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The offset of the part in all bytes.
    start: usize,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, start: 0, at: 0 }
    }

    pub(super) const fn position(&self) -> usize {
        self.start + self.at
    }

    #[cold]
    pub(super) const fn error(&self, problem: BytecodeProblem) -> BytecodeError {
        BytecodeError { problem, position: self.position() }
    }

    pub(super) const fn at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    pub(super) fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(length);
        let found = end.and_then(|end| self.bytes.get(self.at..end));
        let found = found.ok_or_else(|| self.error(BytecodeProblem::End))?;
        self.at += length;
        Ok(found)
    }

    /// The next `length` bytes as a reader.
    pub(super) fn part(&mut self, length: usize) -> Result<Self> {
        let start = self.position();
        Ok(Self { bytes: self.take(length)?, start, at: 0 })
    }

    pub(super) fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?.first().copied().unwrap_or(0))
    }

    /// The bytes up to the next zero. The zero is read, too, but not returned.
    pub(super) fn terminated(&mut self) -> Result<&'a [u8]> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some(length) = rest.iter().position(|&byte| byte == 0) else {
            return Err(self.error(BytecodeProblem::End));
        };
        let found = self.take(length)?;
        self.byte()?;
        Ok(found)
    }

    /// A number of 1 to 9 bytes. The zeros at the end of the first byte say how many others follow; the bits above the lowest 1 are the number.
    pub(super) fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        let more = first.trailing_zeros().min(8) as usize;
        let mut whole = [0; 8];
        let rest = self.take(more)?;
        if more == 8 {
            whole.copy_from_slice(rest);
            return Ok(u64::from_le_bytes(whole));
        }
        let [lowest, others @ ..] = &mut whole;
        *lowest = first;
        others.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        Ok(u64::from_le_bytes(whole) >> (more + 1))
    }

    /// A number with a sign: its lowest bit says whether it is negative.
    pub(super) fn signed(&mut self) -> Result<i64> {
        let number = self.varint()?;
        let magnitude = (number >> 1).cast_signed();
        Ok(if number & 1 == 0 { magnitude } else { !magnitude })
    }

    /// A number that is used as a length.
    pub(super) fn length(&mut self) -> Result<usize> {
        let number = self.varint()?;
        usize::try_from(number).map_err(|_| self.error(BytecodeProblem::Number(number)))
    }

    /// The length of a list. Each entry takes at least a byte, so a number larger than the rest of the bytes is an error.
    pub(super) fn count(&mut self) -> Result<usize> {
        let count = self.length()?;
        if count > self.bytes.len().saturating_sub(self.at) {
            return Err(self.error(BytecodeProblem::End));
        }
        Ok(count)
    }

    /// A number and a flag in one.
    pub(super) fn flagged(&mut self) -> Result<(u64, bool)> {
        let number = self.varint()?;
        Ok((number >> 1, number & 1 == 1))
    }

    /// An entry of a table, by its number.
    pub(super) fn entry<T: Copy>(&mut self, table: &[T]) -> Result<T> {
        let number = self.varint()?;
        let found = usize::try_from(number).ok().and_then(|number| table.get(number)).copied();
        found.ok_or_else(|| self.error(BytecodeProblem::Number(number)))
    }
}
