//! The error about a module's message.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use xla_shape_core::ParseError;
use xla_shape_core::proto::ProtoError;

/// Why the message of a module cannot be read or written, and where.
///
/// `Display` prints the path and what was expected and found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HloProtoError(Box<Inner>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Inner {
    path: String,
    kind: HloProtoErrorKind,
}

/// The kind of an [`HloProtoError`].
///
/// ```
/// use xla_shape_hlo::{Module, proto::HloProtoErrorKind};
///
/// let kind = |bytes| Module::from_proto(bytes).unwrap_err().kind().clone();
/// assert!(matches!(kind(b"\xff"), HloProtoErrorKind::Wire(_)), "the file is cut off, or no message");
/// assert!(matches!(kind(b"\x0a\x01m"), HloProtoErrorKind::UnknownId { id: 0, .. }), "it names a computation that it lacks");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HloProtoErrorKind {
    /// The bytes are not a message.
    Wire(prost::DecodeError),
    /// An invalid shape.
    Shape(ProtoError),
    /// The text of the module, or a part of it, is invalid.
    Text(ParseError),
    /// A required field is missing.
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A name or an opcode with characters that are not allowed in names.
    Name {
        /// The name.
        name: String,
    },
    /// An id that does not exist.
    UnknownId {
        /// What the id should identify.
        what: &'static str,
        /// The id.
        id: i64,
    },
    /// An id that occurs twice.
    DuplicateId {
        /// What the id identifies.
        what: &'static str,
        /// The id.
        id: i64,
    },
    /// A computation that calls itself, directly or through others.
    CallCycle,
    /// A number that is not valid in this field.
    UnknownValue {
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
    },
    /// A literal whose number of elements differs from its shape's.
    ElementCount {
        /// The elements of the shape.
        expected: u64,
        /// The elements of the literal.
        found: u64,
    },
    /// A part of the module that the message cannot represent.
    Unrepresentable {
        /// The part.
        what: String,
    },
    /// Shardings, tuples or modules nested too deeply.
    TooDeep,
    /// More instructions, literals or computations than a message of this length can describe: most of them are empty.
    TooMany {
        /// The length of the message, in bytes.
        bytes: usize,
    },
}

impl HloProtoError {
    pub(crate) fn new(kind: HloProtoErrorKind) -> Self {
        Self(Box::new(Inner { path: String::new(), kind }))
    }

    /// Adds `place` to the front of the path.
    #[must_use]
    pub(crate) fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.path = if self.0.path.is_empty() { place.to_string() } else { format!("{place}, {}", self.0.path) };
        self
    }

    /// Where the error is: computation, instruction and field, separated by commas. Empty for the whole message.
    ///
    /// ```
    /// let error = xla_shape_hlo::Module::from_proto(b"\x0a\x01m").unwrap_err();
    /// assert_eq!(error.path(), "entry_computation_id");
    /// ```
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The kind of error.
    ///
    /// ```
    /// use xla_shape_hlo::proto::HloProtoErrorKind;
    ///
    /// let error = xla_shape_hlo::Module::from_proto(b"\x0a\x01m").unwrap_err();
    /// assert!(matches!(error.kind(), HloProtoErrorKind::UnknownId { id: 0, .. }));
    /// ```
    #[must_use]
    pub fn kind(&self) -> &HloProtoErrorKind {
        &self.0.kind
    }
}

/// The error about a part of the module that the message cannot represent.
pub(crate) fn unrepresentable(what: &str) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::Unrepresentable { what: what.to_string() })
}

/// The error about a text field that is not UTF-8.
pub(crate) fn not_text() -> HloProtoError {
    unrepresentable("bytes that are not UTF-8")
}

impl From<prost::DecodeError> for HloProtoError {
    fn from(error: prost::DecodeError) -> Self {
        Self::new(HloProtoErrorKind::Wire(error))
    }
}

impl From<ProtoError> for HloProtoError {
    fn from(error: ProtoError) -> Self {
        Self::new(HloProtoErrorKind::Shape(error))
    }
}

impl From<ParseError> for HloProtoError {
    fn from(error: ParseError) -> Self {
        Self::new(HloProtoErrorKind::Text(error))
    }
}

impl fmt::Display for HloProtoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.path.is_empty() {
            write!(f, "{}: ", self.0.path)?;
        }
        match &self.0.kind {
            HloProtoErrorKind::Wire(error) => error.fmt(f),
            HloProtoErrorKind::Shape(error) => error.fmt(f),
            HloProtoErrorKind::Text(error) => error.fmt(f),
            HloProtoErrorKind::Missing { field } => write!(f, "expected the field `{field}`, found none"),
            HloProtoErrorKind::Name { name } => {
                write!(f, "expected a name of letters, digits, `_`, `.` and `-`, found {name:?}")
            }
            HloProtoErrorKind::UnknownId { what, id } => write!(f, "expected the id of {what}, found {id}"),
            HloProtoErrorKind::DuplicateId { what, id } => {
                write!(f, "expected a unique id of each {what}, found {id} again")
            }
            HloProtoErrorKind::CallCycle => {
                f.write_str("expected computations that do not call themselves, found one that does")
            }
            HloProtoErrorKind::UnknownValue { field, value } => {
                write!(f, "expected a valid number in `{field}`, found {value}")
            }
            HloProtoErrorKind::ElementCount { expected, found } => {
                write!(f, "expected {expected} elements in the literal, found {found}")
            }
            HloProtoErrorKind::Unrepresentable { what } => {
                write!(f, "expected what a message can represent, found {what}")
            }
            HloProtoErrorKind::TooDeep => f.write_str("expected less nesting, found too many levels"),
            HloProtoErrorKind::TooMany { bytes } => {
                write!(f, "expected no more instructions than {bytes} bytes can describe, found many empty ones")
            }
        }
    }
}

impl core::error::Error for HloProtoError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.0.kind {
            HloProtoErrorKind::Wire(error) => Some(error),
            HloProtoErrorKind::Shape(error) => Some(error),
            HloProtoErrorKind::Text(error) => Some(error),
            _ => None,
        }
    }
}
