//! Versions of PJRT's interface.

use crate::abi::{API_MAJOR, API_MINOR};
use std::fmt;

/// A version of PJRT's C interface.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    /// Changes with incompatible changes of the interface.
    pub major: i32,
    /// Changes when fields or functions are appended.
    pub minor: i32,
}

impl Version {
    /// The version for which this crate was written. Newer plug-ins work, too, because newer minor versions only append.
    pub const KNOWN: Self = Self { major: API_MAJOR, minor: API_MINOR };
    /// The oldest version that works: the one that gave the table its present order.
    pub const OLDEST: Self = Self { major: 0, minor: 57 };

    /// The versions that work, for messages.
    pub(crate) const RANGE: &'static str = "0.57 or a newer 0.…";

    /// Whether this crate works with plug-ins of this version.
    ///
    /// ```
    /// use xla_shape_pjrt::Version;
    ///
    /// assert!(Version { major: 0, minor: 200 }.is_known());
    /// assert!(!Version { major: 0, minor: 40 }.is_known()); // older than Version::OLDEST
    /// ```
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
