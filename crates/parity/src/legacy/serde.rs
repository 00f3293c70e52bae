//! serde: human-readable formats hold the text of a shape, binary formats its structure.

use super::{LegacyShape, PaddingValue};
use alloc::string::String;
use alloc::vec::Vec;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use xla_shape_core::ElementType;

#[derive(Serialize, Deserialize)]
struct Structure {
    element_type: ElementType,
    sizes: Vec<u64>,
    minor_to_major: Vec<usize>,
    padded_dimensions: Vec<u64>,
    padding_value: i32,
}

impl Serialize for LegacyShape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.collect_str(self);
        }
        let structure = Structure {
            element_type: self.element_type(),
            sizes: self.dimensions().iter().filter_map(|size| size.extent()).collect(),
            minor_to_major: self.minor_to_major().to_vec(),
            padded_dimensions: self.padded_dimensions().to_vec(),
            padding_value: PaddingValue::proto_number(self.padding_value()),
        };
        structure.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LegacyShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return String::deserialize(deserializer)?.parse().map_err(D::Error::custom);
        }
        let Structure { element_type, sizes, minor_to_major, padded_dimensions, padding_value } =
            Structure::deserialize(deserializer)?;
        let value = PaddingValue::from_proto_number(padding_value).map_err(D::Error::custom)?;
        Self::new(element_type, &sizes, &minor_to_major, &padded_dimensions, value).map_err(D::Error::custom)
    }
}
