//! Prints the attributes of an instruction from the fields of its message, in XLA's order
//! (`HloInstruction::PrintExtraAttributes` in `xla/hlo/ir/hlo_instruction.cc`, `PrintExtraAttributesImpl` in `hlo_instructions.cc`).

use super::constant;
use super::error::HloProtoError;
use super::float::general;
use super::message::instruction_field as field;
use super::sharding::{replica_groups, sharding};
use super::values::{
    accuracy, aliases, frontend_attributes, labels, metadata, names, origin, padding, pairs, payload_of, slices,
    statistics, window, word,
};
use super::wire::Record;
use super::words::{decimal, joined, name};
use crate::module::{AttributeRecord, Items, Piece, number};
use crate::names::{NameTable, hash};
use crate::schema::attribute::{BACKEND_CONFIG_PAYLOAD, COMPARISON_TYPE};
use crate::schema::opcode::{Opcode, OpcodeAttribute, Printed};
use crate::schema::{Key, Kind};
use crate::text::is_free_braces;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use prost::Message;
use xla_shape_core::ElementType;
use xla_shape_core::proto::{OpShardingProto, decode_shape};
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// Prints and records the attributes of an instruction, a computation or a module.
pub(crate) struct Attributes<'o> {
    pub(crate) out: &'o mut String,
    list: &'o mut Vec<AttributeRecord>,
    first: usize,
}

impl<'o> Attributes<'o> {
    pub(crate) fn new(out: &'o mut String, list: &'o mut Vec<AttributeRecord>) -> Self {
        let first = list.len();
        Self { out, list, first }
    }

    /// Begins an attribute; text printed from now on is its value.
    pub(crate) fn open(&mut self, name: &str) {
        self.close();
        self.out.push_str(", ");
        let start = self.out.len();
        self.out.push_str(name);
        let key = Piece::new(start, self.out.len());
        self.out.push('=');
        self.list.push(AttributeRecord { key, value: Piece::new(self.out.len(), self.out.len()) });
    }

    /// Ends the last attribute.
    pub(crate) fn close(&mut self) {
        if self.list.len() > self.first
            && let Some(last) = self.list.last_mut()
            && last.value.len == 0
        {
            last.value = Piece::new(last.value.start as usize, self.out.len());
        }
    }

    /// Removes the last attribute.
    fn undo(&mut self) {
        if let Some(last) = self.list.pop() {
            self.out.truncate((last.key.start as usize).saturating_sub(", ".len()));
        }
    }

    /// Ends the last attribute and returns all of them.
    pub(crate) fn end(mut self) -> Items {
        self.close();
        Items::new(self.first, self.list.len())
    }

    // Writing to a `String` does not fail.
    pub(crate) fn add(&mut self, name: &str, value: impl fmt::Display) {
        self.open(name);
        let _ = write!(self.out, "{value}");
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.open(name);
        self.out.push_str(value);
    }

    pub(crate) fn number(&mut self, name: &str, value: i64) {
        self.open(name);
        decimal(value, self.out);
    }

    /// Copies a value that was printed before.
    fn again(&mut self, name: &str, value: Piece) {
        self.open(name);
        let start = value.start as usize;
        self.out.extend_from_within(start..start + value.len as usize);
    }

    /// The value of the last attribute so far.
    fn written(&self) -> Piece {
        let start = self.list.last().map_or(0, |last| last.value.start as usize);
        Piece::new(start, self.out.len())
    }

    /// Numbers in braces.
    fn list(&mut self, name: &str, numbers: impl Iterator<Item = Result<i64>>) -> Result<()> {
        self.open(name);
        self.out.push('{');
        for (i, number) in numbers.enumerate() {
            self.out.push_str(if i > 0 { "," } else { "" });
            decimal(number?, self.out);
        }
        self.out.push('}');
        Ok(())
    }

    pub(crate) fn string(&mut self, name: &str, value: &[u8]) {
        self.open(name);
        self.out.push('"');
        escaped(value, self.out);
        self.out.push('"');
    }

    /// Prints text that XLA does not interpret: JSON in braces as it is, anything else as a string.
    pub(crate) fn free(&mut self, name: &str, value: &[u8]) {
        self.open(name);
        free(value, self.out);
    }
}

pub(super) fn free(value: &[u8], out: &mut String) {
    match core::str::from_utf8(value) {
        Ok(text) if is_free_braces(text) => out.push_str(text),
        _ => {
            out.push('"');
            escaped(value, out);
            out.push('"');
        }
    }
}

/// A cache of the printed values of one field, since many instructions have the same.
pub(crate) struct PrintedValues<'p> {
    by_bytes: NameTable,
    values: Vec<(&'p [u8], Piece)>,
}

impl<'p> PrintedValues<'p> {
    const fn new() -> Self {
        Self { by_bytes: NameTable::new(), values: Vec::new() }
    }

    /// Copies the value if this field was printed before. Otherwise `write` prints it and returns whether there is an attribute.
    fn write(
        &mut self,
        name: &str,
        bytes: &'p [u8],
        to: &mut Attributes<'_>,
        write: impl FnOnce(&mut Attributes<'_>) -> Result<bool>,
    ) -> Result<()> {
        let of_bytes = hash(bytes);
        let values = &self.values;
        let bytes_of = |number: u32| values.get(number as usize).map_or(&b""[..], |(bytes, _)| bytes);
        let known = self.by_bytes.get(bytes, of_bytes, bytes_of).and_then(|place| values.get(place as usize));
        if let Some(&(_, value)) = known {
            to.again(name, value);
        } else if write(to)? {
            self.by_bytes.insert(bytes, of_bytes, number(values.len()), bytes_of);
            self.values.push((bytes, to.written()));
        }
        Ok(())
    }
}

/// Caches that all instructions share: printed values, and the fields of the nested message that was read last.
pub(crate) struct Caches<'p> {
    /// The fields of the nested message that was read last, and the numbers of the enclosing fields.
    inner: Record<'p>,
    around: &'static [u32],
    sharding: PrintedValues<'p>,
    metadata: PrintedValues<'p>,
    backend_config: PrintedValues<'p>,
}

impl<'p> Caches<'p> {
    pub(crate) const fn new() -> Self {
        Self {
            inner: Record::new(),
            around: &[],
            sharding: PrintedValues::new(),
            metadata: PrintedValues::new(),
            backend_config: PrintedValues::new(),
        }
    }

    /// Reads the message nested in these fields of an instruction. A missing message has no fields.
    fn enter(&mut self, instruction: &Record<'p>, around: &'static [u32]) -> Result<()> {
        let mut rest = around;
        while let Some((&number, tail)) = rest.split_first() {
            let bytes = if rest.len() == around.len() { instruction.bytes(number) } else { self.inner.bytes(number) };
            self.inner.read(bytes.unwrap_or(&[]))?;
            rest = tail;
        }
        self.around = around;
        Ok(())
    }
}

/// The instruction whose attributes are printed.
pub(crate) struct Printer<'i, 'p> {
    pub(crate) opcode: Opcode<'i>,
    pub(crate) instruction: &'i Record<'p>,
    /// The element type of the first operand, for opcodes whose printed form depends on it.
    pub(crate) operand: Option<ElementType>,
    /// The names of the computations that it calls, in the order of the message.
    pub(crate) called: &'i [&'p str],
    /// The names of the instructions that run before it.
    pub(crate) predecessors: &'i [&'p str],
    /// The module's list of payloads.
    pub(crate) payloads: &'i [&'p [u8]],
    /// The shared caches.
    pub(crate) caches: &'i mut Caches<'p>,
}

/// The attributes that any instruction may have, in groups, in XLA's order.
const SHARDING: [OpcodeAttribute; 1] = if_set([Key::Sharding]);
const FRONTEND: [OpcodeAttribute; 1] = if_set([Key::FrontendAttributes]);
const COMMON: [OpcodeAttribute; 5] =
    if_set([Key::ControlPredecessors, Key::Statistics, Key::Origin, Key::Metadata, Key::BackendConfig]);
const ACCURACY: [OpcodeAttribute; 1] = if_set([Key::ResultAccuracy]);
const CALLS: [OpcodeAttribute; 1] = if_set([Key::Calls]);

const fn if_set<const COUNT: usize>(keys: [Key; COUNT]) -> [OpcodeAttribute; COUNT] {
    let mut all = [OpcodeAttribute::new(Key::Calls, Printed::IfSet); COUNT];
    let (mut to, mut from) = (all.as_mut_slice(), keys.as_slice());
    while let (Some((of, rest)), Some((key, tail))) = (to.split_first_mut(), from.split_first()) {
        *of = OpcodeAttribute::new(*key, Printed::IfSet);
        (to, from) = (rest, tail);
    }
    all
}

impl<'p> Printer<'_, 'p> {
    /// Prints the attributes of the opcode that come before the called computations.
    pub(crate) fn special(&mut self, to: &mut Attributes<'_>) -> Result<()> {
        self.caches.around = &[];
        let own = self.opcode.attributes();
        self.print(own.iter().take_while(|of| !of.key.calls()), to)?;
        // An unknown opcode may have this attribute, too.
        let is_other = |accuracy: &&OpcodeAttribute| own.iter().all(|of| of.key != accuracy.key);
        self.print(ACCURACY.iter().filter(is_other), to)
    }

    /// Prints the called computations and the attributes after them.
    pub(crate) fn calls(&mut self, to: &mut Attributes<'_>) -> Result<()> {
        if self.called.is_empty() {
            return Ok(());
        }
        let own = self.opcode.attributes();
        self.print(own.iter().skip_while(|of| !of.key.calls()), to)?;
        let is_step = matches!(self.opcode, Opcode::AsyncUpdate | Opcode::AsyncDone);
        let is_other = !is_step && !own.iter().any(|of| of.key.calls());
        self.print(CALLS.iter().filter(|_| is_other), to)
    }

    /// Prints the attributes that any instruction may have.
    pub(crate) fn common(&mut self, to: &mut Attributes<'_>) -> Result<()> {
        self.print(SHARDING.iter().chain(&FRONTEND).chain(&COMMON), to)
    }

    /// Prints the sharding of a wrapped operation, and its `frontend_attributes` if the start has none.
    pub(crate) fn wrapped(&mut self, start: &Record<'p>, to: &mut Attributes<'_>) -> Result<()> {
        self.print(SHARDING.iter(), to)?;
        // If the start has `frontend_attributes`, XLA prints only these.
        let of_start = start.bytes(Key::FrontendAttributes.only_field());
        self.print(FRONTEND.iter().filter(|_| of_start.is_none_or(<[u8]>::is_empty)), to)
    }

    /// Prints the given attributes that are set, or that are always printed.
    #[inline]
    fn print<'o>(
        &mut self,
        attributes: impl Iterator<Item = &'o OpcodeAttribute>,
        to: &mut Attributes<'_>,
    ) -> Result<()> {
        for of in attributes {
            match of.printed {
                Printed::IfSet if !self.instruction.has_any(of.fields) => {}
                Printed::IfSet => self.print_field(of.key, false, to)?,
                Printed::Always => self.print_field(of.key, true, to)?,
                Printed::Never => {}
            }
        }
        Ok(())
    }

    fn print_field(&mut self, key: Key, always: bool, to: &mut Attributes<'_>) -> Result<()> {
        let Some((&number, around)) = key.field().split_last() else { return Ok(()) };
        let name = key.name();
        if !around.is_empty() && self.caches.around != around {
            self.caches.enter(self.instruction, around)?;
        }
        let fields = if around.is_empty() { self.instruction } else { &self.caches.inner };
        match key.kind() {
            Kind::Flag if always || fields.flag(number) => to.add(name, fields.flag(number)),
            Kind::Number | Kind::Number32 if always || fields.number(number) > 0 => {
                to.number(name, fields.number(number));
            }
            Kind::Count if fields.number(number) > 1 => to.number(name, fields.number(number)),
            Kind::Optional32 => {
                if let Some(number) = fields.optional_number(number) {
                    to.number(name, number);
                }
            }
            Kind::Single => match fields.list(number)?.as_slice() {
                [only] if *only >= 0 => to.number(name, *only),
                list if always => to.number(name, list.first().copied().unwrap_or(0)),
                _ => {}
            },
            Kind::Numbers | Kind::Integers if always || fields.numbers(number).next().is_some() => {
                to.list(name, fields.numbers(number))?;
            }
            Kind::Nested => {
                let numbers = fields.list(number)?;
                if !numbers.is_empty() {
                    to.open(name);
                    to.out.push_str("{{");
                    joined(&numbers, ",", to.out);
                    to.out.push_str("}}");
                }
            }
            Kind::Flags => {
                to.open(name);
                to.out.push('{');
                for (i, flag) in fields.numbers(number).enumerate() {
                    let _ = write!(to.out, "{}{}", if i > 0 { "," } else { "" }, flag? != 0);
                }
                to.out.push('}');
            }
            Kind::Float => to.add(name, general(fields.float(number).into(), 6)),
            Kind::Text => to.string(name, fields.text(number)?.as_bytes()),
            Kind::Bytes | Kind::Thread => {
                if let Some(value) = fields.bytes(number).filter(|value| !value.is_empty()) {
                    to.string(name, value);
                }
            }
            Kind::Word(words) => {
                let value = fields.number(number);
                if always || !(0..=words.unprinted).contains(&value) {
                    to.text(name, word(name, words, value)?);
                }
            }
            Kind::Spelled(_) | Kind::AnyWord => to.text(name, self::name(fields.text(number)?)?),
            Kind::Order(words) => {
                let total = words.words.first().copied().unwrap_or_default();
                let is_total = fields.text(number)? == total || fields.text(COMPARISON_TYPE)? == "TOTALORDER";
                // The order is printed only for floats; integers have no other.
                if is_total && self.operand.is_none_or(|found| found.is_floating()) {
                    to.text(name, total);
                }
            }
            Kind::WordList(words) => {
                let numbers = fields.list(number)?;
                if numbers.iter().any(|number| *number != 0) {
                    to.open(name);
                    for (i, number) in numbers.into_iter().enumerate() {
                        to.out.push(if i > 0 { ',' } else { '{' });
                        to.out.push_str(word(name, words, number)?);
                    }
                    to.out.push('}');
                }
            }
            Kind::Mode(words) if fields.bytes(number).is_some() => {
                to.text(name, words.words.first().copied().unwrap_or_default());
            }
            Kind::Computation(place) if self.calls_one_by_one() => {
                if let Some(called) = self.called.get(place) {
                    to.open(name);
                    to.out.push('%');
                    to.out.push_str(called);
                }
            }
            Kind::Computations if !self.called.is_empty() && !self.calls_one_by_one() => {
                names(name, self.called, to);
            }
            Kind::Instructions => names(name, self.predecessors, to),
            Kind::Window => window(name, &fields.rows(number)?, to),
            Kind::Padding => padding(name, &fields.rows(number)?, to),
            Kind::Slices => slices(name, &fields.rows(number)?, to),
            Kind::DimLabels => {
                if let Some(numbers) = fields.message(number)? {
                    to.add(name, labels(&numbers));
                }
            }
            Kind::Groups => {
                to.open(name);
                replica_groups(fields, to.out)?;
            }
            Kind::Pairs => pairs(name, &fields.rows(number)?, to),
            Kind::Shape => {
                if let Some(shape) = fields.bytes(number) {
                    to.add(name, decode_shape(shape)?);
                }
            }
            Kind::Shapes if self.instruction.flag(Key::ConstrainLayout.only_field()) => {
                to.open(name);
                to.out.push('{');
                for (i, shape) in fields.each(number).enumerate() {
                    let _ = write!(to.out, "{}{}", if i > 0 { ", " } else { "" }, decode_shape(shape)?);
                }
                to.out.push('}');
            }
            Kind::Aliases => aliases(name, &fields.messages(number)?, to),
            Kind::Literal => {
                if let Some(literal) = fields.bytes(number) {
                    to.open(name);
                    constant::literal(&mut constant::decode(literal)?, 0, to.out)?;
                }
            }
            Kind::Domain => {
                to.open(name);
                // Entry and exit are swapped between message and text.
                for (text, number) in [("{kind=\"sharding\", entry=", field::DOMAIN_EXIT), (", exit=", number)] {
                    to.out.push_str(text);
                    sharding(&fields.message::<OpShardingProto>(number)?.unwrap_or_default(), to.out)?;
                }
                to.out.push('}');
            }
            Kind::Origin => {
                if let Some(value) = fields.message(number)? {
                    origin(name, &value, to)?;
                }
            }
            Kind::Accuracy => accuracy(name, fields.message(number)?, to),
            Kind::Statistics => statistics(name, fields.message(number)?, to)?,
            Kind::Sharding => {
                if let Some(value) = fields.bytes(number) {
                    self.caches.sharding.write(name, value, to, |to| {
                        to.open(name);
                        sharding(&OpShardingProto::decode(value)?, to.out)?;
                        Ok(true)
                    })?;
                }
            }
            Kind::Metadata => self.metadata(name, number, to)?,
            Kind::Config => {
                let payload = self.instruction.bytes(BACKEND_CONFIG_PAYLOAD);
                let payload = payload.map(|bytes| payload_of(bytes, self.payloads)).transpose()?;
                let config = payload.flatten().or(self.instruction.bytes(number));
                if let Some(config) = config.filter(|config| !config.is_empty()) {
                    self.caches.backend_config.write(name, config, to, |to| {
                        to.free(name, config);
                        Ok(true)
                    })?;
                }
            }
            Kind::Frontend => frontend_attributes(fields.bytes(number), to)?,
            // Attributes with the default value are not printed.
            Kind::Flag | Kind::Number | Kind::Number32 | Kind::Count | Kind::Numbers | Kind::Integers => {}
            Kind::Mode(_) | Kind::Computation(_) | Kind::Computations | Kind::Shapes => {}
            // Only modules have attributes of these kinds, or messages have no field for them.
            Kind::FlagOrFlags
            | Kind::Donors
            | Kind::Program
            | Kind::Recovery
            | Kind::Payload
            | Kind::Empty
            | Kind::Unread => {}
        }
        Ok(())
    }

    /// Whether each called computation is named by an attribute of its own. A conditional has such attributes if its branch index is a predicate.
    fn calls_one_by_one(&self) -> bool {
        match self.opcode {
            Opcode::Conditional => self.operand == Some(ElementType::Pred),
            _ => !self.opcode.attributes().iter().any(|of| matches!(of.key.kind(), Kind::Computations)),
        }
    }

    fn metadata(&mut self, name: &str, number: u32, to: &mut Attributes<'_>) -> Result<()> {
        let Some(of_instruction) = self.instruction.bytes(number) else { return Ok(()) };
        self.caches.around = &[];
        let (inner, payloads) = (&mut self.caches.inner, self.payloads);
        self.caches.metadata.write(name, of_instruction, to, |to| {
            to.open(name);
            to.out.push('{');
            let empty = to.out.len();
            inner.read(of_instruction)?;
            metadata(inner, payloads, to.out)?;
            let is_there = to.out.len() > empty;
            if is_there {
                to.out.push('}');
            } else {
                to.undo();
            }
            Ok(is_there)
        })
    }
}
