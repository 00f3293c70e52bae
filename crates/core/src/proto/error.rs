//! [`ProtoError`].

use crate::ValidationError;
use crate::shard::ShardingError;
use crate::text::OtherError;
use crate::validate::ShapePart;
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

/// Why a message cannot be decoded, and which field is wrong.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::proto::ShapeProto;
///
/// let message = ShapeProto { element_type: 11, dimensions: vec![-3], ..ShapeProto::default() };
/// let error = Shape::try_from(&message).unwrap_err();
/// assert_eq!(error.to_string(), "dimensions[0]: expected a number of at least 0, found -3");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProtoError {
    path: String,
    kind: ProtoErrorKind,
}

/// The kind of a [`ProtoError`].
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::proto::{ProtoErrorKind, ShapeProto};
///
/// let message = ShapeProto { element_type: 99, ..ShapeProto::default() };
/// let error = Shape::try_from(&message).unwrap_err();
/// assert_eq!(error.kind(), &ProtoErrorKind::UnknownElementType { number: 99 });
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProtoErrorKind {
    /// The bytes are not a protobuf message.
    Wire(prost::DecodeError),
    /// No element type has this number.
    UnknownElementType {
        /// The number.
        number: i32,
    },
    /// A number is negative.
    Negative {
        /// The number.
        value: i64,
    },
    /// A required field is missing.
    Missing,
    /// A field is set that shapes of this kind do not have.
    UnexpectedField,
    /// A list has the wrong length.
    CountMismatch {
        /// How many entries it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// The shape inside a buffer is not an array.
    NotAnArray,
    /// The number is not one of the field's enum values.
    UnknownNumber {
        /// The number.
        number: i32,
    },
    /// The message is well-formed, but its shape is not valid.
    Invalid(ValidationError),
    /// The message is well-formed, but its sharding is not valid.
    Sharding(ShardingError),
    /// The message is well-formed, but breaks a rule that another crate checks.
    Other(OtherError),
}

impl ProtoError {
    /// An error of this kind in the field with this [`path`](Self::path).
    ///
    /// ```
    /// use xla_shape_core::proto::{ProtoError, ProtoErrorKind};
    ///
    /// let error = ProtoError::new("layout.tiles", ProtoErrorKind::Missing);
    /// assert_eq!(error.to_string(), "layout.tiles: expected this field, found none");
    /// ```
    #[must_use]
    pub fn new(path: impl Into<String>, kind: ProtoErrorKind) -> Self {
        Self { path: path.into(), kind }
    }

    /// The same error for a message that contains this one in `field`.
    #[must_use]
    pub(super) fn within(mut self, field: impl fmt::Display) -> Self {
        self.path = match self.path.as_str() {
            "" => field.to_string(),
            path => format!("{field}.{path}"),
        };
        self
    }

    /// The path of the field that is wrong, such as `tuple_shapes[3].layout.minor_to_major`; empty for the whole
    /// message.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    /// use xla_shape_core::proto::ShapeProto;
    ///
    /// let message = ShapeProto { element_type: 11, dimensions: vec![-3], ..ShapeProto::default() };
    /// assert_eq!(Shape::try_from(&message).unwrap_err().path(), "dimensions[0]");
    /// ```
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The kind of the error.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    /// use xla_shape_core::proto::{ProtoErrorKind, ShapeProto};
    ///
    /// let message = ShapeProto { element_type: 99, ..ShapeProto::default() };
    /// let error = Shape::try_from(&message).unwrap_err();
    /// assert_eq!(*error.kind(), ProtoErrorKind::UnknownElementType { number: 99 });
    /// ```
    #[must_use]
    pub const fn kind(&self) -> &ProtoErrorKind {
        &self.kind
    }
}

/// The path of the field that holds a part of an array shape.
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
        // Other parts have no field of their own; the error is about the whole shape.
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
            ProtoErrorKind::Other(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for ProtoError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.kind {
            ProtoErrorKind::Wire(error) => Some(error),
            ProtoErrorKind::Invalid(error) => Some(error),
            ProtoErrorKind::Sharding(error) => Some(error),
            ProtoErrorKind::Other(error) => Some(error.get()),
            _ => None,
        }
    }
}
