//! One plane: its lines, and the names and stats that their events refer to by number.

use super::error::{ProfileError, ProfileErrorKind};
use alloc::borrow::Cow;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use xla_shape_core::proto::wire::{Content, Fields};

pub(super) type Result<T> = core::result::Result<T, ProfileError>;

/// The field numbers of `XPlane`, the entries of its maps, `XLine`, `XEvent`, `XEventMetadata`, `XStatMetadata` and `XStat`.
pub(super) mod field {
    pub(in super::super) const PLANE_NAME: u32 = 2;
    pub(in super::super) const PLANE_LINES: u32 = 3;
    pub(in super::super) const PLANE_EVENTS: u32 = 4;
    pub(in super::super) const PLANE_STAT_NAMES: u32 = 5;
    pub(in super::super) const PLANE_STATS: u32 = 6;
    pub(in super::super) const ENTRY_KEY: u32 = 1;
    pub(in super::super) const ENTRY_VALUE: u32 = 2;
    pub(in super::super) const LINE_NAME: u32 = 2;
    pub(in super::super) const LINE_NANOSECONDS: u32 = 3;
    pub(in super::super) const LINE_EVENTS: u32 = 4;
    pub(in super::super) const EVENT_METADATA: u32 = 1;
    pub(in super::super) const EVENT_OFFSET: u32 = 2;
    pub(in super::super) const EVENT_DURATION: u32 = 3;
    pub(in super::super) const EVENT_STATS: u32 = 4;
    pub(in super::super) const METADATA_NAME: u32 = 2;
    pub(in super::super) const METADATA_DISPLAY_NAME: u32 = 4;
    pub(in super::super) const METADATA_STATS: u32 = 5;
    pub(in super::super) const STAT_NAME: u32 = 2;
    pub(in super::super) const STAT_METADATA: u32 = 1;
    pub(in super::super) const STAT_DOUBLE: u32 = 2;
    pub(in super::super) const STAT_U64: u32 = 3;
    pub(in super::super) const STAT_I64: u32 = 4;
    pub(in super::super) const STAT_TEXT: u32 = 5;
    pub(in super::super) const STAT_BYTES: u32 = 6;
    pub(in super::super) const STAT_REFERENCE: u32 = 7;
}

/// The parts of a plane.
pub(super) struct Plane<'p> {
    pub(super) name: &'p str,
    /// The name, with a number if planes of several hosts share it.
    pub(super) unique_name: Cow<'p, str>,
    pub(super) lines: Vec<&'p [u8]>,
    /// The messages about events (`XEventMetadata`), by number.
    pub(super) events: BTreeMap<u64, &'p [u8]>,
    /// The names of stats, by number. Values of stats refer to them, too.
    pub(super) names: BTreeMap<u64, &'p str>,
    /// The plane's own stats.
    pub(super) stats: Vec<&'p [u8]>,
}

/// The value of a stat. Numbers with and without a sign are the same 64 bits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value<'p> {
    Number(u64),
    Real(f64),
    Text(&'p str),
    Bytes(&'p [u8]),
}

impl<'p> Value<'p> {
    pub(super) const fn number(self) -> Option<u64> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    pub(super) const fn real(self) -> Option<f64> {
        match self {
            Self::Real(number) => Some(number),
            Self::Number(number) => Some(number as f64),
            Self::Text(_) | Self::Bytes(_) => None,
        }
    }

    pub(super) const fn text(self) -> Option<&'p str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

impl<'p> Plane<'p> {
    pub(super) fn read(bytes: &'p [u8]) -> Result<Self> {
        let (lines, events, names, stats) = Default::default();
        let mut plane = Self { name: "", unique_name: Cow::Borrowed(""), lines, events, names, stats };
        plane.fill(bytes).map_err(|error| error.of_plane(plane.name))?;
        Ok(plane)
    }

    fn fill(&mut self, bytes: &'p [u8]) -> Result<()> {
        // Lines and stats refer to the tables of events and names by number. The tables may come later in the message, so lines and stats are
        // kept as bytes until all tables are there.
        for found in Fields::new(bytes) {
            let found = found?;
            let Content::Bytes(content) = found.content else { continue };
            match found.number {
                field::PLANE_NAME => self.name = text(content)?,
                field::PLANE_LINES => self.lines.push(content),
                field::PLANE_EVENTS => {
                    let (key, value) = entry(content)?;
                    self.events.insert(key, value);
                }
                field::PLANE_STAT_NAMES => {
                    let (key, value) = entry(content)?;
                    let name = text_in(value, field::STAT_NAME)?;
                    self.names.insert(key, name);
                }
                field::PLANE_STATS => self.stats.push(content),
                _ => {}
            }
        }
        Ok(())
    }

    /// The number by which stats refer to this name.
    pub(super) fn number_of(&self, name: &str) -> Option<u64> {
        self.names.iter().find(|(_, found)| **found == name).map(|(number, _)| *number)
    }

    /// The number of a stat, and its value; `None` without a value.
    #[inline]
    pub(super) fn stat(&self, bytes: &'p [u8]) -> Result<Option<(u64, Value<'p>)>> {
        let (mut number, mut value) = (0, None);
        for found in Fields::new(bytes) {
            let found = found?;
            match (found.number, found.content) {
                (field::STAT_METADATA, Content::Number(id)) => number = id,
                (field::STAT_DOUBLE, Content::Fixed(bits)) => value = Some(Value::Real(f64::from_bits(bits))),
                (field::STAT_U64 | field::STAT_I64, Content::Number(bits)) => value = Some(Value::Number(bits)),
                (field::STAT_TEXT, Content::Bytes(bytes)) => value = Some(Value::Text(text(bytes)?)),
                (field::STAT_BYTES, Content::Bytes(bytes)) => value = Some(Value::Bytes(bytes)),
                // A text that occurs often is stored once, as the name of a stat.
                (field::STAT_REFERENCE, Content::Number(id)) => {
                    value = self.names.get(&id).map(|name| Value::Text(name));
                }
                _ => {}
            }
        }
        Ok(value.map(|value| (number, value)))
    }

    /// The first of these stats that has this name.
    pub(super) fn find(&self, stats: impl IntoIterator<Item = &'p [u8]>, name: &str) -> Result<Option<Value<'p>>> {
        let Some(number) = self.number_of(name) else { return Ok(None) };
        for bytes in stats {
            if let Some((id, value)) = self.stat(bytes)?
                && id == number
            {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }
}

/// The last text in a field of a message; empty if there is none.
pub(super) fn text_in(message: &[u8], number: u32) -> Result<&str> {
    text(bytes_in(message, number)?.unwrap_or_default())
}

/// The last bytes in a field of a message.
pub(super) fn bytes_in(message: &[u8], number: u32) -> Result<Option<&[u8]>> {
    // If a field occurs several times, protobuf takes the last one.
    let mut last = None;
    for found in each_in(message, number) {
        last = Some(found?);
    }
    Ok(last)
}

/// The bytes of every field of a message that has this number.
pub(super) fn each_in(message: &[u8], number: u32) -> impl Iterator<Item = Result<&[u8]>> {
    Fields::new(message).filter_map(move |found| match found {
        Ok(found) if found.number != number => None,
        Ok(found) => {
            if let Content::Bytes(bytes) = found.content {
                Some(Ok(bytes))
            } else {
                None
            }
        }
        Err(error) => Some(Err(error.into())),
    })
}

/// The key and the value of an entry of a map.
fn entry(bytes: &[u8]) -> Result<(u64, &[u8])> {
    let (mut key, mut value) = (0, &[][..]);
    for found in Fields::new(bytes) {
        let found = found?;
        match (found.number, found.content) {
            (field::ENTRY_KEY, Content::Number(number)) => key = number,
            (field::ENTRY_VALUE, Content::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((key, value))
}

fn text(bytes: &[u8]) -> Result<&str> {
    core::str::from_utf8(bytes).map_err(|_| ProfileError::new(ProfileErrorKind::Text))
}
