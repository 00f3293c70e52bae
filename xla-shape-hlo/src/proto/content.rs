//! What a file holds: text, or one of the messages.

use super::error::HloProtoError;
use crate::module::Module;
use crate::text::utf8;
use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use prost::encoding::{WireType, decode_key, decode_varint};
use xla_shape_core::ParseError;

/// The text of a module, whether these bytes are it, or a message of the module: recognised by what they hold.
///
/// ```
/// use xla_shape_hlo::proto::module_text;
///
/// let text = "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }";
/// assert_eq!(module_text(text.as_bytes()).unwrap().unwrap(), text);
/// ```
///
/// # Errors
/// The outer one if the bytes are a message, but of no module; the inner one if they are neither a message nor UTF-8.
pub fn module_text(bytes: &[u8]) -> Result<Result<Cow<'_, str>, ParseError>, HloProtoError> {
    if is_message(bytes) {
        return proto_text(bytes).map(|text| Ok(Cow::Owned(text)));
    }
    Ok(utf8(bytes).map(Cow::Borrowed))
}

/// Whether these bytes are to be read as a message of a module, and not as text: they are one, or begin as one and are no text.
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
    // A message that breaks off somewhere is no text.
    is_complete(bytes) || (bytes.first() == Some(&NAME_OR_MODULE) && utf8(bytes).is_err())
}

/// The text that XLA prints for the message of a module: an `HloModuleProto`, `HloProto` or `HloModuleProtoWithConfig`.
///
/// # Errors
/// As [`Module::from_proto`](crate::Module::from_proto) has them.
pub fn proto_text(bytes: &[u8]) -> Result<String, HloProtoError> {
    Module::from_proto(bytes).map(|module| module.text.into_owned())
}

/// The bytes of the `HloModuleProto` alone, in a message of it or around it; `None` if the bytes are no such message.
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
    is_complete(bytes).then(|| inner(bytes).unwrap_or(bytes))
}

/// The message of a module in an `HloProto` or `HloModuleProtoWithConfig`.
pub(super) fn inner(bytes: &[u8]) -> Option<&[u8]> {
    let (_, content) = fields(bytes)?.into_iter().find(|(field, _)| *field == 1)?;
    // A name does not begin as a message does, whose first field is a name or a module.
    (content.first() == Some(&NAME_OR_MODULE) && is_complete(content)).then_some(content)
}

/// Field 1, with a length: the name of a module, or the module in a message around it.
const NAME_OR_MODULE: u8 = 0x0a;

/// The highest number of a field, with room for those that XLA may add.
const MAX_FIELD: u32 = 100;

/// Whether the bytes are fields of a message to their very end, of which the first is a text or a message.
fn is_complete(bytes: &[u8]) -> bool {
    bytes.first().is_some_and(|first| matches!(first, 0x0a | 0x12 | 0x1a)) && fields(bytes).is_some()
}

/// The fields that have a length, with their numbers; `None` if the bytes are no message.
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
        let (content, behind) = rest.split_at_checked(length)?;
        if wire_type == WireType::LengthDelimited {
            fields.push((number, content));
        }
        rest = behind;
    }
    Some(fields)
}
