//! Why a profile cannot be read.

use alloc::borrow::ToOwned;
use alloc::string::String;
use core::fmt;
use prost::DecodeError;

/// Why a profile cannot be read, and in which of its planes.
///
/// ```
/// use xla_shape_hlo::profile::{Profile, ProfileErrorKind};
///
/// // A plane of 20 bytes, of which the file has 16.
/// let cut = [&[0x0a, 20, 0x12, 14], &b"/host:metadata"[..]].concat();
/// let error = Profile::read(&cut).unwrap_err();
/// assert_eq!(*error.kind(), ProfileErrorKind::Truncated);
/// assert_eq!(error.to_string(), "the profile is cut off: a plane that begins at byte 0 ends after the file");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProfileError {
    kind: ProfileErrorKind,
    /// The plane's name; empty if it is not known.
    plane: String,
    byte: u64,
}

/// The kind of a [`ProfileError`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ProfileErrorKind {
    /// The bytes end inside of a plane.
    Truncated,
    /// The bytes are not a message.
    Wire(DecodeError),
    /// A name is not UTF-8.
    Text,
    /// A line has more events than the reader accepts.
    TooManyEvents {
        /// The largest accepted number of events.
        most: usize,
    },
    /// The times of one instruction together do not fit in a `u64` of picoseconds, which is 213 days.
    TooLong,
}

impl ProfileError {
    pub(super) const fn new(kind: ProfileErrorKind) -> Self {
        Self { kind, plane: String::new(), byte: 0 }
    }

    /// Bytes that end inside of the plane that begins at this byte.
    #[must_use]
    pub fn truncated(byte: u64) -> Self {
        Self { byte, ..Self::new(ProfileErrorKind::Truncated) }
    }

    /// Adds the name of the plane, if it has none yet.
    pub(super) fn of_plane(mut self, name: &str) -> Self {
        if self.plane.is_empty() {
            self.plane = name.to_owned();
        }
        self
    }

    /// Adds where the plane begins, in bytes from the beginning of the file.
    #[must_use]
    pub const fn at(mut self, byte: u64) -> Self {
        self.byte = byte;
        self
    }

    /// What is wrong.
    #[must_use]
    pub const fn kind(&self) -> &ProfileErrorKind {
        &self.kind
    }

    /// Where the plane with the error begins, in bytes from the beginning of the file.
    #[must_use]
    pub const fn byte(&self) -> u64 {
        self.byte
    }
}

impl From<DecodeError> for ProfileError {
    fn from(error: DecodeError) -> Self {
        Self::new(ProfileErrorKind::Wire(error))
    }
}

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, plane, byte } = self;
        if *kind == ProfileErrorKind::Truncated {
            return write!(f, "the profile is cut off: a plane that begins at byte {byte} ends after the file");
        }
        write!(f, "the profile's plane {plane:?} at byte {byte}: ")?;
        match kind {
            ProfileErrorKind::Truncated => Ok(()),
            ProfileErrorKind::Wire(error) => error.fmt(f),
            ProfileErrorKind::Text => f.write_str("expected names in UTF-8, found other bytes"),
            ProfileErrorKind::TooManyEvents { most } => {
                write!(f, "expected at most {most} events in a line, found more")
            }
            ProfileErrorKind::TooLong => {
                f.write_str("expected times of an instruction of at most 213 days together, found more")
            }
        }
    }
}

impl core::error::Error for ProfileError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match &self.kind {
            ProfileErrorKind::Wire(error) => Some(error),
            _ => None,
        }
    }
}
