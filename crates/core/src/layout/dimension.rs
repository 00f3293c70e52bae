//! The size of one dimension: static, bounded or unbounded.

use crate::list::Blank;
use crate::sink::{self, Sink};
use core::fmt;

/// The size of one dimension of an array, in elements.
///
/// ```
/// use xla_shape_core::Dimension;
///
/// assert_eq!(Dimension::Bounded(8).to_string(), "<=8");
/// assert_eq!(Dimension::Bounded(8).extent(), Some(8));
/// assert_eq!(Dimension::Unbounded.extent(), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Dimension {
    /// Known when the program is compiled, written `N`.
    Static(u64),
    /// Known when the program runs and at most this, written `<=N`. Memory is laid out as for size `N`.
    Bounded(u64),
    /// Known when the program runs, written `?`. The array's size in memory is unknown until then.
    Unbounded,
}

impl Dimension {
    /// The size that a layout reserves memory for: the static size or the bound; `None` if there is no bound.
    ///
    /// ```
    /// use xla_shape_core::Dimension;
    ///
    /// let extents = [Dimension::Static(3), Dimension::Bounded(8), Dimension::Unbounded].map(Dimension::extent);
    /// assert_eq!(extents, [Some(3), Some(8), None]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn extent(self) -> Option<u64> {
        match self {
            Self::Static(size) | Self::Bounded(size) => Some(size),
            Self::Unbounded => None,
        }
    }

    /// Whether the size is known only when the program runs.
    ///
    /// ```
    /// use xla_shape_core::Dimension;
    ///
    /// assert!(Dimension::Bounded(8).is_dynamic() && !Dimension::Static(8).is_dynamic());
    /// ```
    #[must_use]
    pub const fn is_dynamic(self) -> bool {
        !matches!(self, Self::Static(_))
    }
}

impl From<u64> for Dimension {
    fn from(size: u64) -> Self {
        Self::Static(size)
    }
}

impl Dimension {
    /// Writes XLA's text.
    pub(crate) const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::Static(size) => sink.number(size),
            Self::Bounded(bound) => {
                sink.text("<=");
                sink.number(bound);
            }
            Self::Unbounded => sink.byte(b'?'),
        }
    }
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        sink::display(f, |sink| self.write(sink))
    }
}

impl Blank for Dimension {
    const BLANK: Self = Self::Static(0);
}
