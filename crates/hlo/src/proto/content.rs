//! What a file contains: HLO text, or one of the messages.

use super::error::HloProtoError;
use crate::module::Module;
use crate::text::utf8;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use prost::encoding::{WireType, decode_key, decode_varint};
use xla_shape_core::ParseError;

impl Module {
    /// Parses the message of a module: an `HloModuleProto`, or an `HloProto`, `HloModuleProtoWithConfig` or `HloSnapshot` that contains one.
    ///
    /// The module has the text that XLA prints for the message, which omits the elements of constants with more than ten.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    ///
    /// let message = Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?.to_proto()?;
    /// let module = Module::from_proto(&message)?;
    /// assert_eq!(module.name(), Some("m"));
    /// assert!(module.text().contains("ROOT %p = f32[2]{0} parameter(0)"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the bytes are not such a message, or the module is not valid: unknown or duplicate ids, for example, or computations that
    /// call themselves.
    pub fn from_proto(bytes: &[u8]) -> Result<Module, HloProtoError> {
        super::module::module(module_in(bytes))
    }
}

/// The text of a module, from bytes that are the text itself or a message of the module. The content decides which.
///
/// ```
/// use xla_shape_hlo::proto::module_text;
///
/// let text = "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }";
/// assert_eq!(module_text(text.as_bytes()).unwrap().unwrap(), text);
/// ```
///
/// # Errors
/// The outer error if the bytes are an invalid message; the inner one if they are neither a message nor UTF-8.
pub fn module_text(bytes: &[u8]) -> Result<Result<Cow<'_, str>, ParseError>, HloProtoError> {
    if is_message(bytes) {
        return proto_text(bytes).map(|text| Ok(Cow::Owned(text)));
    }
    Ok(utf8(bytes).map(Cow::Borrowed))
}

/// Whether bytes are a message of a module rather than text: they are a complete message, or begin like one and are not UTF-8.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_hlo::proto::is_message;
///
/// let text = "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }";
/// assert!(!is_message(text.as_bytes()));
/// assert!(is_message(&Module::parse(text)?.to_proto()?));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn is_message(bytes: &[u8]) -> bool {
    // A truncated message is still not text.
    is_complete(bytes) || (bytes.first() == Some(&NAME_OR_MODULE) && utf8(bytes).is_err())
}

/// The text that XLA prints for the message of a module, which can be inside of another one.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_hlo::proto::proto_text;
///
/// let message = Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?.to_proto()?;
/// assert!(proto_text(&message)?.starts_with("HloModule m"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Those of [`Module::from_proto`](crate::Module::from_proto).
pub fn proto_text(bytes: &[u8]) -> Result<String, HloProtoError> {
    Module::from_proto(bytes).map(Module::into_text)
}

/// The bytes of the `HloModuleProto` in a message, which can be the whole message; `None` if the bytes are not a message.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_hlo::proto::module_message;
///
/// let message = Module::parse("HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }")?.to_proto()?;
/// assert_eq!(module_message(&message), Some(&message[..]));
/// assert_eq!(module_message(b"HloModule m"), None);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn module_message(bytes: &[u8]) -> Option<&[u8]> {
    is_complete(bytes).then(|| module_in(bytes))
}

/// The `HloProto` inside an `HloSnapshot`, which has it in front of a run's arguments and result; other messages unchanged.
pub(super) fn program_in(bytes: &[u8]) -> &[u8] {
    inner(bytes).filter(|program| inner(program).is_some()).unwrap_or(bytes)
}

/// The `HloModuleProto` inside of a message; the message itself if it is one.
fn module_in(bytes: &[u8]) -> &[u8] {
    let program = program_in(bytes);
    inner(program).unwrap_or(program)
}

/// The message in field 1: the module of an `HloProto` or `HloModuleProtoWithConfig`, the `HloProto` of an `HloSnapshot`.
fn inner(bytes: &[u8]) -> Option<&[u8]> {
    let (_, content) = fields(bytes)?.into_iter().find(|(field, _)| *field == 1)?;
    // In an `HloModuleProto`, field 1 is a name, which does not begin with the byte of a field key.
    (content.first() == Some(&NAME_OR_MODULE) && is_complete(content)).then_some(content)
}

/// The key of field 1 with a length: the name of a module, or the module in a message around it.
const NAME_OR_MODULE: u8 = 0x0a;

/// The highest plausible field number, with room for those that XLA may add.
const MAX_FIELD: u32 = 100;

/// Whether the bytes are a complete message whose first field is a text or a message.
fn is_complete(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| matches!(first, 0x0a | 0x12 | 0x1a)) && fields(bytes).is_some()
}

/// The length-delimited fields with their numbers; `None` if the bytes are not a message.
pub(super) fn fields(bytes: &[u8]) -> Option<Vec<(u32, &[u8])>> {
    let (mut rest, mut fields) = (bytes, Vec::new());
    while !rest.is_empty() {
        let (number, wire_type) = decode_key(&mut rest).ok()?;
        if number > MAX_FIELD {
            return None;
        }
        let length = match wire_type {
            WireType::Varint => {
                decode_varint(&mut rest).ok()?;
                0
            }
            WireType::ThirtyTwoBit => 4,
            WireType::SixtyFourBit => 8,
            WireType::LengthDelimited => usize::try_from(decode_varint(&mut rest).ok()?).ok()?,
            _ => return None,
        };
        let (content, tail) = rest.split_at_checked(length)?;
        if wire_type == WireType::LengthDelimited {
            fields.push((number, content));
        }
        rest = tail;
    }
    Some(fields)
}
