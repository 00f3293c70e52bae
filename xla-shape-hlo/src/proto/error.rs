//! What is wrong with the message of a module, and where.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;
use xla_shape_core::ParseError;
use xla_shape_core::proto::ProtoError;

/// What is wrong with the message of a module, and where.
///
/// `Display` gives the place and one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HloProtoError(Box<Inner>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct Inner {
    path: String,
    kind: HloProtoErrorKind,
}

/// What is wrong with the message of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HloProtoErrorKind {
    /// The bytes are no message of a module.
    Wire(prost::DecodeError),
    /// A shape that is not valid.
    Shape(ProtoError),
    /// What the message says cannot be read as text.
    Text(ParseError),
    /// A field that is needed.
    Missing {
        /// The field.
        field: &'static str,
    },
    /// A name or an opcode with characters that names do not have.
    Name {
        /// The name.
        name: String,
    },
    /// An id that nothing has.
    UnknownId {
        /// What should have it.
        what: &'static str,
        /// The id.
        id: i64,
    },
    /// An id that two have.
    DuplicateId {
        /// What has it.
        what: &'static str,
        /// The id.
        id: i64,
    },
    /// A computation that calls itself, through others perhaps.
    CallCycle,
    /// A number that stands for nothing in this field.
    UnknownValue {
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
    },
    /// A literal with another number of elements than its shape.
    ElementCount {
        /// The elements of the shape.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// What a module has, and the message has no place for.
    NoPlace {
        /// What it is.
        what: String,
    },
    /// Shardings or tuples inside each other, deeper than any real ones.
    TooDeep,
    /// More instructions, literals or computations than a real module in so many bytes could have: most of them are empty.
    TooMany {
        /// The bytes of the module's message.
        bytes: usize,
    },
}

impl HloProtoError {
    pub(crate) fn new(kind: HloProtoErrorKind) -> Self {
        Self(Box::new(Inner { path: String::new(), kind }))
    }

    /// The same error in what is called so.
    #[must_use]
    pub(crate) fn within(mut self, place: impl fmt::Display) -> Self {
        self.0.path = if self.0.path.is_empty() { place.to_string() } else { format!("{place}, {}", self.0.path) };
        self
    }

    /// Where it is: the computation, the instruction and the field; empty for the whole message.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &HloProtoErrorKind {
        &self.0.kind
    }
}

/// An error about what the message has no place for.
pub(crate) fn no_place(what: &str) -> HloProtoError {
    HloProtoError::new(HloProtoErrorKind::NoPlace { what: what.to_string() })
}

/// An error about bytes that are no text where one should be.
pub(crate) fn not_text() -> HloProtoError {
    no_place("bytes that are no text")
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
                write!(f, "expected an id that no other {what} has, found {id} again")
            }
            HloProtoErrorKind::CallCycle => {
                f.write_str("expected computations that do not call themselves, found one that does")
            }
            HloProtoErrorKind::UnknownValue { field, value } => {
                write!(f, "expected a number that stands for something in `{field}`, found {value}")
            }
            HloProtoErrorKind::ElementCount { expected, found } => {
                write!(f, "expected {expected} elements in the literal, found {found}")
            }
            HloProtoErrorKind::NoPlace { what } => write!(f, "expected what a message can hold, found {what}"),
            HloProtoErrorKind::TooDeep => f.write_str("expected fewer things inside each other, found too many"),
            HloProtoErrorKind::TooMany { bytes } => {
                write!(f, "expected no more instructions than {bytes} bytes can describe, found many that say nothing")
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
