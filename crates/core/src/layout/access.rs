//! Access to the parts of a layout.

use super::Layout;
use crate::layout::tile::Tile;

impl Layout {
    /// The dimensions from the fastest varying one to the slowest.
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{0,2,1}".parse()?;
    /// assert_eq!(layout.minor_to_major(), [0, 2, 1]); // dimension 0 varies fastest
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn minor_to_major(&self) -> &[usize] {
        self.minor_to_major.as_slice()
    }

    /// How many dimensions the layout orders.
    ///
    /// ```
    /// assert_eq!("{0,2,1}".parse::<xla_shape_core::Layout>()?.num_dimensions(), 3);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn num_dimensions(&self) -> usize {
        self.minor_to_major().len()
    }

    /// The tiles, in the order in which they are applied.
    ///
    /// ```
    /// use xla_shape_core::{Layout, Tile};
    ///
    /// let layout: Layout = "{1,0:T(8,128)(2,1)}".parse()?;
    /// assert_eq!(layout.tiles(), [Tile::from_sizes([8, 128]), Tile::from_sizes([2, 1])]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn tiles(&self) -> &[Tile] {
        self.tiles.as_slice()
    }
}
