//! XLA's messages of programs: the numbers and kinds of their fields, by name.

use alloc::collections::BTreeMap;
use xla_shape_core::sorting::map_of;

/// A line for each message and each enum, as the descriptors in jaxlib 0.12.0 have them (`xla/service/hlo.proto`, `xla/xla_data.proto`). A
/// field is `name=number:kind`, where a whole number or a flag has no kind. Fields that this crate does not use are left out.
const SCHEMA: &str = include_str!("schema.txt");

/// What a field holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum FieldKind {
    /// A whole number or a flag.
    Number,
    /// A string, of text or of any bytes.
    Bytes,
    Float,
    Double,
    /// A value of the enum with this name.
    Enum(&'static str),
    /// A message with this name.
    Message(&'static str),
}

impl FieldKind {
    /// What a value of such a field is, for errors.
    pub(super) const fn expected(self) -> &'static str {
        match self {
            Self::Number => "a whole number",
            Self::Bytes => "a string",
            Self::Float | Self::Double => "a number",
            Self::Enum(_) => "a name of this enum",
            Self::Message(_) => "`{`",
        }
    }
}

/// All messages and enums, by name: their fields and values, which follow the name in each line.
pub(super) struct Messages {
    messages: BTreeMap<&'static str, BTreeMap<&'static str, (u32, &'static str)>>,
    enums: BTreeMap<&'static str, BTreeMap<&'static str, u64>>,
}

impl Messages {
    pub(super) fn new() -> Self {
        let mut schema = Self { messages: BTreeMap::new(), enums: BTreeMap::new() };
        for line in SCHEMA.lines() {
            let mut words = line.split(' ');
            let (Some(what), Some(name)) = (words.next(), words.next()) else { continue };
            let entries = words.filter_map(|entry| entry.split_once('='));
            if what == "enum" {
                let values = entries.filter_map(|(name, number)| Some((name, number.parse().ok()?)));
                schema.enums.insert(name, map_of(values));
            } else {
                let fields = entries.filter_map(|(name, rest)| {
                    let (number, kind) = rest.split_once(':').unwrap_or((rest, ""));
                    Some((name, (number.parse().ok()?, kind)))
                });
                schema.messages.insert(name, map_of(fields));
            }
        }
        schema
    }

    /// The number and the kind of a field of a message.
    pub(super) fn field(&self, message: &str, name: &str) -> Option<(u32, FieldKind)> {
        let &(number, kind) = self.messages.get(message)?.get(name)?;
        let kind = match kind {
            "" => FieldKind::Number,
            "bytes" => FieldKind::Bytes,
            "float" => FieldKind::Float,
            "double" => FieldKind::Double,
            kind if self.enums.contains_key(kind) => FieldKind::Enum(kind),
            kind => FieldKind::Message(kind),
        };
        Some((number, kind))
    }

    /// The number of a value of an enum.
    pub(super) fn value(&self, of: &str, name: &str) -> Option<u64> {
        self.enums.get(of)?.get(name).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldKind, Messages};
    use xla_shape_core::ElementType;

    #[test]
    fn every_message_of_the_schema_is_there_and_element_types_have_the_numbers_of_the_core() {
        let schema = Messages::new();
        for (message, fields) in &schema.messages {
            for name in fields.keys() {
                let (_, kind) = schema.field(message, name).unwrap();
                if let FieldKind::Message(inside) = kind {
                    assert!(schema.messages.contains_key(inside), "{message}.{name}");
                }
            }
        }
        for element_type in ElementType::ALL {
            let name = element_type.name().to_uppercase();
            assert_eq!(schema.value("PrimitiveType", &name), Some(element_type.proto_number() as u64), "{name}");
        }
    }
}
