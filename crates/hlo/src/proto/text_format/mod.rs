//! Programs in protobuf's text format (`.pbtxt`, `.textproto`): read to the message that they stand for.

mod reader;
mod schema;

use alloc::vec;
use alloc::vec::Vec;
use prost::encoding::{WireType, encode_key, encode_varint};
pub(super) use reader::{Item, Reader, Scalar, float};
use schema::{FieldKind, Messages};
use xla_shape_core::text::{Expected, Found, ParseError, ParseErrorKind, Span};

/// The limit on messages inside each other.
const MAX_DEPTH: usize = 100;

/// The message of a program in protobuf's text format (`HloModuleProto`, `HloProto` or `HloSnapshot`); `None` for other texts. The
/// message is not checked: [`Module::from_proto`](crate::Module::from_proto) reads it. Fields that XLA's schema does not have are skipped,
/// as they are in messages.
///
/// ```
/// use xla_shape_hlo::Module;
/// use xla_shape_hlo::proto::text_format_message;
///
/// let text = r#"name: "m" entry_computation_name: "e" entry_computation_id: 1 computations {
///   name: "e" id: 1 root_id: 2
///   instructions { name: "p" opcode: "parameter" id: 2 shape { element_type: F32 dimensions: 2 layout { minor_to_major: 0 } } }
/// }"#;
/// let module = Module::from_proto(&text_format_message(text).unwrap()?)?;
/// assert_eq!(module.instruction("p").unwrap().shape().to_string(), "f32[2]{0}");
/// assert!(text_format_message("HloModule m").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the text is such a message and breaks the rules of the format, or a value does not belong to its field.
#[must_use]
pub fn text_format_message(text: &str) -> Option<Result<Vec<u8>, ParseError>> {
    let root = root(text)?;
    Some(message(text, root))
}

/// Whether a text is a program in protobuf's text format, by its first field.
///
/// ```
/// use xla_shape_hlo::proto::is_text_format;
///
/// assert!(is_text_format("hlo_module { computations { instructions { opcode: \"parameter\" } } }"));
/// assert!(!is_text_format("name: computations"));
/// ```
#[must_use]
pub fn is_text_format(text: &str) -> bool {
    root(text).is_some()
}

/// The kind of message that a text is, by its first field. XLA tries the same three kinds in this order (`hlo_module_loader.cc`).
fn root(text: &str) -> Option<&'static str> {
    let mut reader = Reader::new(text);
    let first = match reader.next()?.ok()?.item {
        Item::Open(name) | Item::Scalar(name, _) => name,
        Item::Close => return None,
    };
    let root = match first {
        "hlo" => "HloSnapshot",
        "hlo_module" => "HloProto",
        "name" | "entry_computation_name" | "entry_computation_id" | "computations" | "id" => "HloModuleProto",
        _ => return None,
    };
    // Texts of other kinds can begin with the same field, so a program must also have these words.
    (text.contains("computations") && text.contains("instructions")).then_some(root)
}

/// A message that is being read: its name, `None` if the schema has no such field, and its fields so far.
struct OpenMessage {
    name: Option<&'static str>,
    number: u32,
    bytes: Vec<u8>,
}

fn message(text: &str, root: &'static str) -> Result<Vec<u8>, ParseError> {
    let messages = Messages::new();
    let mut open = vec![OpenMessage { name: Some(root), number: 0, bytes: Vec::new() }];
    for found in Reader::new(text) {
        let found = found?;
        let depth = open.len();
        let Some(inside) = open.last_mut() else { break };
        let field = |name: &str| messages.field(inside.name?, name);
        match found.item {
            Item::Open(name) => {
                if depth > MAX_DEPTH {
                    let kind = ParseErrorKind::TooDeeplyNested { limit: MAX_DEPTH };
                    return Err(ParseError::new(kind, found.span));
                }
                let (name, number) = match field(name) {
                    Some((number, FieldKind::Message(name))) => (Some(name), number),
                    Some(_) => return Err(unexpected(text, "a value of this field, which is no message", found.span)),
                    None => (None, 0),
                };
                open.push(OpenMessage { name, number, bytes: Vec::new() });
            }
            Item::Close => {
                // The reader refuses a closing bracket without an opening one, so the message that ends here is inside another.
                let (Some(closed), Some(around)) = (open.pop(), open.last_mut()) else { break };
                if closed.name.is_some() {
                    push_bytes(closed.number, &closed.bytes, &mut around.bytes);
                }
            }
            Item::Scalar(name, value) => {
                if let Some((number, kind)) = field(name) {
                    push(&messages, number, kind, &value, &mut inside.bytes)
                        .ok_or_else(|| unexpected(text, kind.expected(), found.span))?;
                }
            }
        }
    }
    Ok(open.pop().map_or_else(Vec::new, |root| root.bytes))
}

fn unexpected(text: &str, expected: &'static str, span: Span) -> ParseError {
    let found = Found::new(text.get(span.start..span.end).unwrap_or(""));
    ParseError::new(ParseErrorKind::Unexpected { expected: Expected::Value(expected), found }, span)
}

fn push_bytes(number: u32, content: &[u8], to: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, to);
    encode_varint(content.len() as u64, to);
    to.extend_from_slice(content);
}

/// Adds a field with a value; `None` if the value does not belong to it.
fn push(messages: &Messages, number: u32, kind: FieldKind, value: &Scalar<'_>, to: &mut Vec<u8>) -> Option<()> {
    let whole = |value: u64, to: &mut Vec<u8>| {
        encode_key(number, WireType::Varint, to);
        encode_varint(value, to);
    };
    match (kind, value) {
        (FieldKind::Bytes, Scalar::Bytes(bytes)) => push_bytes(number, bytes, to),
        (FieldKind::Number | FieldKind::Enum(_), Scalar::Word(word)) if reader::integer(word).is_some() => {
            whole(reader::integer(word)?, to);
        }
        (FieldKind::Number, Scalar::Word("true" | "t" | "True")) => whole(1, to),
        (FieldKind::Number, Scalar::Word("false" | "f" | "False")) => whole(0, to),
        (FieldKind::Enum(name), Scalar::Word(word)) => whole(messages.value(name, word)?, to),
        (FieldKind::Float, Scalar::Word(word)) => {
            let decimal = float(word)? as f32;
            encode_key(number, WireType::ThirtyTwoBit, to);
            to.extend_from_slice(&decimal.to_le_bytes());
        }
        (FieldKind::Double, Scalar::Word(word)) => {
            encode_key(number, WireType::SixtyFourBit, to);
            to.extend_from_slice(&float(word)?.to_le_bytes());
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::text_format_message;
    use crate::Module;
    use alloc::format;
    use alloc::string::{String, ToString};

    const TEXT: &str = r#"
        # proto-file: xla/service/hlo.proto
        hlo_module: <
          name: 'm'; entry_computation_name: "e", entry_computation_id: 1
          computations [{
            name: "e" id: 1 root_id: 3
            instructions { name: "p" opcode: "para" "meter" id: 2 shape { element_type: BF16 dimensions: [2, 0x3] layout { minor_to_major: [1, 0] } } }
            instructions {
              name: "t" opcode: "transpose" id: 3 operand_ids: 2 dimensions: 1 dimensions: 0 a_new_field { with: -1.5e3f inside { it: "\x41\102\n" } }
              shape: { element_type: 16 dimensions: 3 dimensions: 2 layout { minor_to_major: 0 minor_to_major: 1 } [some.extension]: 1 }
              metadata { op_name: "a\"b\303\251" source_line: 3 }
            }
          }]
        >"#;

    fn read(text: &str) -> Result<Module, String> {
        let message = text_format_message(text).unwrap().map_err(|error| error.render(text).to_string())?;
        Module::from_proto(&message).map_err(|error| error.to_string())
    }

    #[test]
    fn the_forms_of_the_format_are_read() {
        let module = read(TEXT).unwrap();
        let root = module.entry().unwrap().root();
        assert_eq!(
            root.to_string(),
            "ROOT %t = bf16[3,2]{0,1} transpose(%p), dimensions={1,0}, metadata={op_name=\"a\\\"b\\303\\251\" source_line=3}"
        );
        // A module, and what is around it.
        let inside = &TEXT[TEXT.find('<').unwrap() + 1..TEXT.rfind('>').unwrap()];
        for text in
            [inside.to_string(), format!("hlo {{ hlo_module {{ {inside} }} }} arguments {{ s32s: -7 f32s: nan }}")]
        {
            assert_eq!(read(&text).unwrap().to_string(), module.to_string());
        }
    }

    #[test]
    fn what_breaks_the_format_is_an_error_with_its_place() {
        for (from, to, expected) in [
            ("root_id: 3", "root_id: three", "expected a whole number, found `three`"),
            ("BF16", "BF15", "expected a name of this enum, found `BF15`"),
            ("\"m\"", "m", "expected a string, found `m`"),
            ("name: 'm'", "name: 'm", "the end of the string"),
            ("root_id: 3", "root_id { }", "no message"),
            ("root_id: 3", "root_id 3", "`:`"),
            (">", "", "`>`"),
            (">", "}", "`>`"),
        ] {
            let text = if from == "\"m\"" { TEXT.replace("'m'", to) } else { TEXT.replacen(from, to, 1) };
            let text = if from == ">" { format!("{}{to}", TEXT.trim_end().trim_end_matches('>')) } else { text };
            let error = read(&text).unwrap_err();
            assert!(error.contains(expected), "{from} to {to}: {error}");
        }
        let deep = format!("computations {{ instructions {{ {}", "x { ".repeat(10_000));
        assert!(read(&deep).unwrap_err().contains("100"), "{}", read(&deep).unwrap_err());
        for text in ["", "name: x", "{\"name\": 1}", "HloModule m\nENTRY e { ROOT p = f32[2] parameter(0) }"] {
            assert!(text_format_message(text).is_none(), "{text}");
        }
    }
}
