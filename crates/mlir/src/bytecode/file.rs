//! The sections of a file, and its tables: strings, operations' names, attributes and types.

use super::reader::{Reader, Result};
use super::{BytecodeError, BytecodeProblem, code};
use alloc::vec::Vec;

/// The sections that are read.
#[derive(Clone, Copy)]
pub(super) enum Section {
    Strings = 0,
    Dialects = 1,
    Entries = 2,
    Offsets = 3,
    Ir = 4,
}

pub(super) struct Sections<'a> {
    found: [Option<Reader<'a>>; 5],
    end: usize,
}

impl<'a> Sections<'a> {
    pub(super) fn read(input: &mut Reader<'a>) -> Result<Self> {
        const ALIGNED: u8 = 0x80;
        let mut found = [None; 5];
        while !input.at_end() {
            let number = input.byte()?;
            let length = input.length()?;
            if number & ALIGNED != 0 {
                let alignment = input.length()?.max(1);
                while !input.position().is_multiple_of(alignment) {
                    input.byte()?;
                }
            }
            let part = input.part(length)?;
            if let Some(place) = found.get_mut(usize::from(number & !ALIGNED)) {
                place.get_or_insert(part);
            }
        }
        Ok(Self { found, end: input.position() })
    }

    pub(super) fn get(&self, section: Section) -> Result<Reader<'a>> {
        let missing = BytecodeError { problem: BytecodeProblem::Section(section as u8), position: self.end };
        self.found.get(section as usize).copied().flatten().ok_or(missing)
    }
}

/// A type or an attribute as it is in the file.
#[derive(Clone, Copy)]
pub(super) enum Entry<'a> {
    /// An entry of the builtin dialect, in that dialect's encoding.
    Builtin(Reader<'a>),
    /// As a text.
    Text(&'a [u8]),
    /// An entry of another dialect, in an encoding of that dialect's own.
    Unknown,
}

/// The tables of a module.
pub(super) struct File<'a> {
    pub(super) strings: Vec<&'a [u8]>,
    /// The dialect and the name of each operation.
    pub(super) operations: Vec<(&'a [u8], &'a [u8])>,
    pub(super) attributes: Vec<Entry<'a>>,
    pub(super) types: Vec<Entry<'a>>,
}

impl<'a> File<'a> {
    pub(super) fn read(sections: &Sections<'a>) -> Result<Self> {
        let strings = strings(&mut sections.get(Section::Strings)?)?;
        let mut input = sections.get(Section::Dialects)?;
        let count = input.count()?;
        let dialects = (0..count).map(|_| input.entry(&strings)).collect::<Result<Vec<_>>>()?;
        let mut operations = Vec::new();
        while !input.at_end() {
            let dialect = input.entry(&dialects)?;
            for _ in 0..input.count()? {
                operations.push((dialect, input.entry(&strings)?));
            }
        }
        let (mut offsets, mut entries) = (sections.get(Section::Offsets)?, sections.get(Section::Entries)?);
        let [attributes, types] = [offsets.count()?, offsets.count()?];
        let mut read = |count: usize| {
            let mut found = Vec::new();
            while found.len() < count {
                let is_builtin = offsets.entry(&dialects)? == b"builtin";
                for _ in 0..offsets.count()? {
                    let (length, is_encoded) = offsets.flagged()?;
                    let length = usize::try_from(length).map_err(|_| offsets.error(BytecodeProblem::Number(length)))?;
                    let mut part = entries.part(length)?;
                    found.push(match (is_encoded, is_builtin) {
                        (true, true) => Entry::Builtin(part),
                        (true, false) => Entry::Unknown,
                        (false, _) => Entry::Text(part.terminated()?),
                    });
                }
            }
            Ok(found)
        };
        let (attributes, types) = (read(attributes)?, read(types)?);
        Ok(Self { strings, operations, attributes, types })
    }

    /// The parts of an attribute of the builtin dialect; `None` if it has another code.
    pub(super) fn builtin(&self, attribute: Entry<'a>, code: u64) -> Option<Reader<'a>> {
        let Entry::Builtin(mut input) = attribute else { return None };
        (input.varint().ok()? == code).then_some(input)
    }

    /// The text of an attribute that is a string.
    pub(super) fn string(&self, attribute: Entry<'a>) -> Option<&'a [u8]> {
        self.builtin(attribute, code::STRING)?.entry(&self.strings).ok()
    }

    /// The bits of an integer's type; `None` if it is another type.
    pub(super) fn bits(&self, of: Entry<'a>) -> Option<u64> {
        const INDEX_BITS: u64 = 64;
        match self.builtin(of, code::INTEGER_TYPE) {
            Some(mut input) => Some(input.varint().ok()? >> 2),
            None => self.builtin(of, code::INDEX).map(|_| INDEX_BITS),
        }
    }

    /// The names and values of an attribute that is a dictionary.
    pub(super) fn dictionary(&self, attribute: Entry<'a>) -> Result<Vec<(&'a [u8], Entry<'a>)>> {
        let Some(mut input) = self.builtin(attribute, code::DICTIONARY) else { return Ok(Vec::new()) };
        let count = input.count()?;
        let pair = |_| {
            let name = input.entry(&self.attributes)?;
            Ok((self.string(name).unwrap_or(b"?"), input.entry(&self.attributes)?))
        };
        (0..count).map(pair).collect()
    }
}

/// The strings of a module. Their lengths come first, in reverse order; each length includes the zero at the end of the string.
fn strings<'a>(input: &mut Reader<'a>) -> Result<Vec<&'a [u8]>> {
    let count = input.count()?;
    let lengths = (0..count).map(|_| input.length()).collect::<Result<Vec<_>>>()?;
    let found = lengths.into_iter().rev().map(|length| {
        let string = input.take(length)?;
        Ok(string.split_last().map_or(string, |(_, string)| string))
    });
    found.collect()
}
