//! NumPy's `.npz` files: archives (ZIP) whose members are `.npy` files.
//!
//! Only stored members are read, as `numpy.savez` writes them: their arrays are in the file as they are. Every size and offset in the archive
//! is checked against the length of the file before it is used. Nothing is unpacked, so a hostile archive costs no more than its own bytes.

use crate::access::Source;
use crate::error::FileError;
use std::io;
use std::ops::Range;

/// The most that the directory of an archive may take, in bytes.
const MAX_DIRECTORY: u64 = 100_000_000;

/// The number of bytes of the record at the end of an archive, without its comment.
const END: usize = 22;

/// Why a member was not found: the file cannot be read, or it is not a valid archive with such a member.
pub(super) enum NpzError {
    Read(io::Error),
    File(FileError),
}

impl From<io::Error> for NpzError {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl From<FileError> for NpzError {
    fn from(error: FileError) -> Self {
        Self::File(error)
    }
}

/// What is wrong with an archive.
fn damaged(reason: &'static str) -> FileError {
    FileError::Archive { reason }
}

/// Where the archive's `.npy` file of this name is, or its only one. As in NumPy, an array's name is the name of its member
/// without `.npy`.
pub(super) fn find(source: &mut Source, name: Option<&str>) -> Result<Range<u64>, NpzError> {
    if matches!(source, Source::Pipe { .. }) {
        return Err(damaged("it is read from its end, so it must be a file, not a pipe").into());
    }
    let file = source.len(u64::MAX)?;
    let directory = directory(source, file)?;
    let mut bytes = vec![0; (directory.end - directory.start) as usize];
    source.read_at(directory.start, &mut bytes)?;
    let members = members(&bytes)?;
    let names = || members.iter().map(|member| member.name.to_owned()).collect::<Vec<_>>();
    let member = match (name, members.as_slice()) {
        (None, [only]) => only,
        (None, several) => return Err(FileError::SeveralTensors { count: several.len() }.into()),
        (Some(name), _) => {
            let mut found = members.iter().filter(|member| member.name == name);
            let no_tensor = || FileError::NoTensor { tensor: name.to_owned(), names: names() };
            let member = found.next().ok_or_else(no_tensor)?;
            if found.next().is_some() {
                return Err(damaged("it has two arrays of this name").into());
            }
            member
        }
    };
    member.place(source, directory.start)
}

/// Where the directory is, which lists the members.
fn directory(source: &Source, file: u64) -> Result<Range<u64>, NpzError> {
    let not_an_archive = || damaged("it does not end like one; was it written to its end?");
    // The record at the end is followed by a comment, whose length is the last number of the record.
    let most = END as u64 + u64::from(u16::MAX);
    let start = file.saturating_sub(most);
    let mut tail = vec![0; (file - start) as usize];
    source.read_at(start, &mut tail)?;
    let is_end = |at: &usize| {
        tail[*at..].starts_with(b"PK\x05\x06")
            && Fields(&tail[*at + 20..]).u16().is_ok_and(|comment| *at + END + usize::from(comment) == tail.len())
    };
    let at = (0..=tail.len().checked_sub(END).ok_or_else(not_an_archive)?).rev().find(is_end);
    let at = at.ok_or_else(not_an_archive)?;
    let mut end = start + at as u64;
    let mut fields = Fields(&tail[at + 12..]);
    let (mut size, mut offset) = (u64::from(fields.u32()?), u64::from(fields.u32()?));
    if size == u64::from(u32::MAX) || offset == u64::from(u32::MAX) {
        // The numbers do not fit into 32 bits. They are in another record, and a locator just before this record says
        // where that is.
        const LOCATOR: u64 = 20;
        const END_64: u64 = 56;
        let mut locator = [0; LOCATOR as usize];
        source.read_at(end.checked_sub(LOCATOR).ok_or_else(not_an_archive)?, &mut locator)?;
        let mut fields = Fields(&locator);
        fields.signature(b"PK\x06\x07")?;
        fields.skip(4)?;
        let place = fields.u64()?;
        if place.checked_add(END_64).is_none_or(|after| after > end - LOCATOR) {
            return Err(not_an_archive().into());
        }
        let mut record = [0; END_64 as usize];
        source.read_at(place, &mut record)?;
        let mut fields = Fields(&record);
        fields.signature(b"PK\x06\x06")?;
        fields.skip(36)?;
        (size, offset) = (fields.u64()?, fields.u64()?);
        end = place;
    }
    if offset.checked_add(size).is_none_or(|after| after > end) {
        return Err(damaged("its directory is not in the file").into());
    }
    if size > MAX_DIRECTORY {
        return Err(damaged("its directory takes more than 100 MB").into());
    }
    Ok(offset..offset + size)
}

/// An `.npy` file in the archive, as the directory says.
struct Member<'a> {
    /// Without `.npy`.
    name: &'a str,
    /// The name as it is in the archive.
    whole_name: &'a [u8],
    is_encrypted: bool,
    /// The method of compression; 0 for none.
    method: u16,
    stored: u64,
    unpacked: u64,
    /// The position of its own header. Its bytes follow that header.
    header: u64,
}

/// The members of an archive that are `.npy` files. Only these are arrays.
fn members(directory: &[u8]) -> Result<Vec<Member<'_>>, FileError> {
    let mut members = Vec::new();
    let mut fields = Fields(directory);
    while !fields.0.is_empty() {
        fields.signature(b"PK\x01\x02")?;
        fields.skip(4)?;
        let flags = fields.u16()?;
        let method = fields.u16()?;
        fields.skip(8)?;
        let (stored, unpacked) = (fields.u32()?, fields.u32()?);
        let [name, extra, comment] = [fields.u16()?, fields.u16()?, fields.u16()?].map(usize::from);
        fields.skip(8)?;
        let header = fields.u32()?;
        let whole_name = fields.take(name)?;
        let mut long = Fields(long_numbers(fields.take(extra)?)?);
        fields.skip(comment)?;
        // The extra field has only the numbers that do not fit into 32 bits, in this order.
        let mut number = |short: u32| if short == u32::MAX { long.u64() } else { Ok(short.into()) };
        let (unpacked, stored, header) = (number(unpacked)?, number(stored)?, number(header)?);
        let name = std::str::from_utf8(whole_name).ok().and_then(|name| name.strip_suffix(".npy"));
        if let Some(name) = name {
            let is_encrypted = flags & 1 != 0;
            members.push(Member { name, whole_name, is_encrypted, method, stored, unpacked, header });
        }
    }
    Ok(members)
}

/// The extra field that has numbers of 64 bits; empty if there is none.
fn long_numbers(extra: &[u8]) -> Result<&[u8], FileError> {
    let mut fields = Fields(extra);
    while fields.0.len() >= 4 {
        let (kind, length) = (fields.u16()?, fields.u16()?);
        let field = fields.take(length.into())?;
        if kind == 1 {
            return Ok(field);
        }
    }
    Ok(&[])
}

impl Member<'_> {
    /// Where its bytes are: after a header of its own, and before the directory.
    fn place(&self, source: &Source, directory: u64) -> Result<Range<u64>, NpzError> {
        const HEADER: u64 = 30;
        if self.is_encrypted {
            return Err(damaged("this array is encrypted").into());
        }
        if self.method != 0 {
            return Err(FileError::Compressed { tensor: self.name.to_owned() }.into());
        }
        let outside = || damaged("this array is not in the file");
        if self.header.checked_add(HEADER).is_none_or(|after| after > directory) {
            return Err(outside().into());
        }
        let mut header = [0; HEADER as usize];
        source.read_at(self.header, &mut header)?;
        let mut fields = Fields(&header);
        fields.signature(b"PK\x03\x04")?;
        fields.skip(22)?;
        let [name, extra] = [fields.u16()?, fields.u16()?].map(u64::from);
        let start = self.header + HEADER + name + extra;
        let end = start.checked_add(self.stored).filter(|end| *end <= directory).ok_or_else(outside)?;
        let mut found = vec![0; name as usize];
        source.read_at(self.header + HEADER, &mut found)?;
        if found != self.whole_name || self.stored != self.unpacked {
            return Err(damaged("what its directory says of this array is not what stands before the array").into());
        }
        Ok(start..end)
    }
}

/// The rest of a record: numbers, the lowest byte first.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, bytes: usize) -> Result<&'a [u8], FileError> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or_else(|| damaged("its directory is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn skip(&mut self, bytes: usize) -> Result<(), FileError> {
        self.take(bytes).map(drop)
    }

    fn signature(&mut self, expected: &[u8; 4]) -> Result<(), FileError> {
        if self.take(4)? == expected { Ok(()) } else { Err(damaged("a record does not begin as it should")) }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], FileError> {
        self.take(N).map(|bytes| bytes.try_into().unwrap_or([0; N]))
    }

    fn u16(&mut self) -> Result<u16, FileError> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, FileError> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, FileError> {
        self.array().map(u64::from_le_bytes)
    }
}
