//! Attributes and types as MLIR text.

use super::file::Entry;
use super::functions::Printer;
use super::reader::{Reader, Result};
use super::{BytecodeProblem, code};
use crate::error::MAX_DEPTH;
use alloc::format;
use alloc::string::String;

/// The number that stands for a size that is not known.
const DYNAMIC: i64 = i64::MIN;

impl<'a> Printer<'a> {
    pub(super) fn pairs(
        &mut self,
        pairs: impl Iterator<Item = (&'a [u8], Entry<'a>)>,
        at: &Reader<'a>,
        depth: usize,
    ) -> Result<()> {
        self.write("{", at)?;
        for (number, (name, value)) in pairs.enumerate() {
            self.write(if number == 0 { "" } else { ", " }, at)?;
            self.raw(name, at)?;
            if self.file.builtin(value, code::UNIT).is_none() {
                self.write(" = ", at)?;
                self.attribute(value, at, depth)?;
            }
        }
        self.write("}", at)
    }

    /// Returns the encoding of an entry of the builtin dialect. For any other entry, writes its text, or `?`, and returns `None`.
    fn encoded(&mut self, entry: Entry<'a>, at: &Reader<'a>) -> Result<Option<Reader<'a>>> {
        match entry {
            Entry::Builtin(input) => return Ok(Some(input)),
            Entry::Text(text) => self.raw(text, at)?,
            Entry::Unknown => self.write("?", at)?,
        }
        Ok(None)
    }

    fn attribute(&mut self, attribute: Entry<'a>, at: &Reader<'a>, depth: usize) -> Result<()> {
        let Some(mut input) = self.encoded(attribute, at)? else { return Ok(()) };
        let inner = deeper(depth, at)?;
        match input.varint()? {
            code::ARRAY => {
                self.write("[", at)?;
                for number in 0..input.count()? {
                    self.write(if number == 0 { "" } else { ", " }, at)?;
                    let element = input.entry(&self.file.attributes)?;
                    self.attribute(element, at, inner)?;
                }
                self.write("]", at)
            }
            code::DICTIONARY => {
                let pairs = self.file.dictionary(attribute)?;
                self.pairs(pairs.into_iter(), at, inner)
            }
            code::STRING => {
                let string = input.entry(&self.file.strings)?;
                self.quoted(string, at)
            }
            code::SYMBOL => {
                let name = input.entry(&self.file.attributes)?;
                self.symbol(self.file.string(name).unwrap_or_default(), at)
            }
            code::TYPE => {
                let of = input.entry(&self.file.types)?;
                self.type_of(of, at, inner)
            }
            code::INTEGER => {
                let of = input.entry(&self.file.types)?;
                // A number of up to 8 bits is a byte, one of up to 64 bits a signed varint; wider ones are not read.
                match self.file.bits(of) {
                    Some(0..=8) => self.write(&format!("{}", input.byte()?.cast_signed()), at)?,
                    Some(9..=64) => self.write(&format!("{}", input.signed()?), at)?,
                    _ => self.write("?", at)?,
                }
                self.write(" : ", at)?;
                self.type_of(of, at, inner)
            }
            code::DENSE_ARRAY => {
                let of = input.entry(&self.file.types)?;
                // The number of elements, and the bytes.
                input.varint()?;
                let length = input.length()?;
                let bytes = input.take(length)?;
                self.write("array<", at)?;
                self.type_of(of, at, inner)?;
                // MLIR's one-bit elements take a byte.
                let width = self.file.bits(of).map_or(0, |bits| bits.div_ceil(8)).min(8);
                let elements = if width == 0 { None } else { Some(bytes.chunks_exact(width as usize)) };
                for (number, element) in elements.into_iter().flatten().enumerate() {
                    let negative = element.last().is_some_and(|byte| byte & 0x80 != 0);
                    let mut whole = if negative { [0xff; 8] } else { [0; 8] };
                    whole.iter_mut().zip(element).for_each(|(to, from)| *to = *from);
                    let comma = if number == 0 { ": " } else { ", " };
                    self.write(&format!("{comma}{}", i64::from_le_bytes(whole)), at)?;
                }
                self.write(">", at)
            }
            _ => self.write("?", at),
        }
    }

    pub(super) fn type_of(&mut self, of: Entry<'a>, at: &Reader<'a>, depth: usize) -> Result<()> {
        let Some(mut input) = self.encoded(of, at)? else { return Ok(()) };
        let inner = deeper(depth, at)?;
        match input.varint()? {
            code::INTEGER_TYPE => {
                let number = input.varint()?;
                let sign = ["", "s", "u"].get((number & 3) as usize).copied().unwrap_or("?");
                self.write(&format!("{sign}i{}", number >> 2), at)
            }
            code::INDEX => self.write("index", at),
            found @ (code::MEMREF | code::MEMREF_IN_SPACE | code::TENSOR | code::VECTOR) => {
                let space =
                    if found == code::MEMREF_IN_SPACE { Some(input.entry(&self.file.attributes)?) } else { None };
                self.write(
                    match found {
                        code::TENSOR => "tensor<",
                        code::VECTOR => "vector<",
                        _ => "memref<",
                    },
                    at,
                )?;
                for _ in 0..input.count()? {
                    match input.signed()? {
                        DYNAMIC => self.write("?x", at)?,
                        size => self.write(&format!("{size}x"), at)?,
                    }
                }
                let element = input.entry(&self.file.types)?;
                self.type_of(element, at, inner)?;
                if matches!(found, code::MEMREF | code::MEMREF_IN_SPACE) {
                    let layout = input.entry(&self.file.attributes)?;
                    // An affine map is nearly always the identity, which MLIR does not print.
                    let is_map = matches!(layout, Entry::Text(text) if text.starts_with(b"affine_map<"));
                    if !is_map && self.file.builtin(layout, code::AFFINE_MAP).is_none() {
                        self.write(", ", at)?;
                        self.attribute(layout, at, inner)?;
                    }
                }
                if let Some(space) = space {
                    self.write(", ", at)?;
                    self.attribute(space, at, inner)?;
                }
                self.write(">", at)
            }
            found => {
                let of = |floats: &[&'static str], first| {
                    floats.get(usize::try_from(found.checked_sub(first)?).ok()?).copied()
                };
                let float =
                    of(&code::FLOAT_NAMES, code::FLOATS).or_else(|| of(&code::SHORT_FLOAT_NAMES, code::SHORT_FLOATS));
                self.write(float.unwrap_or("?"), at)
            }
        }
    }

    pub(super) fn symbol(&mut self, name: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write("@", at)?;
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$');
        if name.iter().all(is_plain) { self.raw(name, at) } else { self.quoted(name, at) }
    }

    /// A string in quotes, with MLIR's escapes.
    pub(super) fn quoted(&mut self, string: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write("\"", at)?;
        for character in String::from_utf8_lossy(string).chars() {
            match character {
                '"' | '\\' | '\0'..='\x1f' | '\x7f' => self.write(&format!("\\{:02X}", u32::from(character)), at)?,
                _ => self.write(character.encode_utf8(&mut [0; 4]), at)?,
            }
        }
        self.write("\"", at)
    }

    fn raw(&mut self, text: &[u8], at: &Reader<'a>) -> Result<()> {
        self.write(&String::from_utf8_lossy(text), at)
    }

    /// Writes a text; `at` is where the bytes are read, for an error.
    pub(super) fn write(&mut self, text: &str, at: &Reader<'a>) -> Result<()> {
        self.spend(text.len(), at)?;
        self.text.push_str(text);
        Ok(())
    }

    pub(super) fn spend(&mut self, bytes: usize, at: &Reader<'a>) -> Result<()> {
        self.left = self.left.checked_sub(bytes).ok_or_else(|| at.error(BytecodeProblem::TooLong))?;
        Ok(())
    }
}

fn deeper(depth: usize, at: &Reader<'_>) -> Result<usize> {
    if depth < MAX_DEPTH { Ok(depth + 1) } else { Err(at.error(BytecodeProblem::TooDeep)) }
}
