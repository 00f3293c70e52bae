//! The schema of HLO: one table row for each attribute and one for each opcode. Everything else reads these tables.
//!
//! | file | holds |
//! |---|---|
//! | `attribute` | the attributes: name, kind of value, field number in `HloInstructionProto` (`xla/service/hlo.proto`) |
//! | `opcode` | the opcodes: name, family, precision rule, and attributes in the order in which XLA prints them |
//! | `words` | the enum values of attributes, with their numbers in messages |
//!
//! `parsed` reads each kind of value from text, `proto/fields` writes it to messages, and `proto/attributes` reads it from messages. All three match
//! on [`Kind`], so a kind that one of them lacks does not compile.

pub(crate) mod attribute;
pub(crate) mod opcode;
pub(crate) mod words;

pub(crate) use attribute::{Key, Kind};
pub(crate) use opcode::{Family, FloatRule};
