//! What is wrong with a message, and in which field.

use crate::ValidationError;
use crate::shard::ShardingError;
use crate::validate::ShapePart;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// What is wrong with a message, and in which field.
///
/// `Display` gives the path and one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProtoError {
    path: String,
    kind: ProtoErrorKind,
}

/// What is wrong with a message.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtoErrorKind {
    /// The bytes are not a message.
    Wire(prost::DecodeError),
    /// No element type or kind of shape has this number.
    UnknownElementType {
        /// The number.
        number: i32,
    },
    /// A number that cannot be negative.
    Negative {
        /// The number.
        value: i64,
    },
    /// A field that is needed.
    Missing,
    /// A field that shapes of this kind do not have.
    UnexpectedField,
    /// A list of the wrong length.
    CountMismatch {
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A buffer refers to something that is not an array.
    NotAnArray,
    /// A number that stands for none of the values of its field.
    UnknownNumber {
        /// The number.
        number: i32,
    },
    /// The message is well-formed, but no such shape exists.
    Invalid(ValidationError),
    /// The message is well-formed, but no such sharding exists.
    Sharding(ShardingError),
}

impl ProtoError {
    pub(super) fn new(path: impl Into<String>, kind: ProtoErrorKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// The same error in a message that holds this one in `field`.
    #[must_use]
    pub(super) fn within(mut self, field: impl fmt::Display) -> Self {
        self.path = match self.path.as_str() {
            "" => field.to_string(),
            path => format!("{field}.{path}"),
        };
        self
    }

    /// The field that is wrong, from the message that was read, such as `tuple_shapes[3].layout.minor_to_major`; empty for the
    /// whole message.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ProtoErrorKind {
        &self.kind
    }
}

/// The field that a part of an array shape stands in.
fn field(part: ShapePart) -> String {
    match part {
        ShapePart::Dimension(i) => format!("dimensions[{i}]"),
        ShapePart::MinorToMajor => "layout.minor_to_major".to_owned(),
        ShapePart::MinorToMajorEntry(i) => format!("layout.minor_to_major[{i}]"),
        ShapePart::Tile(tile) => format!("layout.tiles[{tile}]"),
        ShapePart::TileEntry(tile, i) => format!("layout.tiles[{tile}].dimensions[{i}]"),
        ShapePart::Attribute(attribute) => format!("layout.{}", attribute.name()),
        ShapePart::Split(split) => format!("layout.split_configs[{split}]"),
        ShapePart::SplitDimension(split) => format!("layout.split_configs[{split}].dimension"),
        ShapePart::SplitIndex(split, i) => format!("layout.split_configs[{split}].split_indices[{i}]"),
        ShapePart::PaddedDimension(i) => format!("layout.padded_dimensions[{i}]"),
        // Whatever the core may add is somewhere in the shape.
        _ => String::new(),
    }
}

impl From<ValidationError> for ProtoError {
    fn from(error: ValidationError) -> Self {
        Self::new(field(error.part()), ProtoErrorKind::Invalid(error))
    }
}

impl From<prost::DecodeError> for ProtoError {
    fn from(error: prost::DecodeError) -> Self {
        Self::new("", ProtoErrorKind::Wire(error))
    }
}

impl fmt::Display for ProtoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        match &self.kind {
            ProtoErrorKind::Wire(error) => error.fmt(f),
            ProtoErrorKind::UnknownElementType { number } => {
                write!(f, "expected the number of an element type, found {number}")
            }
            ProtoErrorKind::Negative { value } => write!(f, "expected a number of at least 0, found {value}"),
            ProtoErrorKind::Missing => f.write_str("expected this field, found none"),
            ProtoErrorKind::UnexpectedField => f.write_str("a shape of this kind has no such field"),
            ProtoErrorKind::CountMismatch { expected, found } => {
                write!(f, "expected {expected} entries, found {found}")
            }
            ProtoErrorKind::NotAnArray => f.write_str("expected an array in a buffer, found another kind of shape"),
            ProtoErrorKind::UnknownNumber { number } => {
                write!(f, "expected the number of one of the field's values, found {number}")
            }
            ProtoErrorKind::Invalid(error) => error.fmt(f),
            ProtoErrorKind::Sharding(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ProtoError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.kind {
            ProtoErrorKind::Wire(error) => Some(error),
            ProtoErrorKind::Invalid(error) => Some(error),
            ProtoErrorKind::Sharding(error) => Some(error),
            _ => None,
        }
    }
}
