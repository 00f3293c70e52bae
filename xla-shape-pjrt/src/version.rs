//! Versions of the interface.

use crate::abi::{API_MAJOR, API_MINOR};
use std::fmt;

/// A version of PJRT's C interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// Changes when old and new sides do not understand each other.
    pub major: i32,
    /// Changes when something is appended.
    pub minor: i32,
}

impl Version {
    /// The version whose declarations this library has. Newer plug-ins work as well: versions only append.
    pub const KNOWN: Self = Self { major: API_MAJOR, minor: API_MINOR };
    /// The oldest that works: the version that gave the table its present order.
    pub const OLDEST: Self = Self { major: 0, minor: 57 };

    /// What this library works with, in words.
    pub(crate) const RANGE: &'static str = "0.57 or a newer 0.…";

    /// Whether a plug-in of this version is understood.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.major == Self::KNOWN.major && self.minor >= Self::OLDEST.minor
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}
