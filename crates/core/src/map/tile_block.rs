//! Tiles as blocks of memory.

#![expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; indices are below lengths that are checked")]

use crate::layout::Layout;
use crate::layout::tile::TileDimension;
use crate::map::StaticStrideTable;
use core::fmt;

/// The first tile of a layout as a block of contiguous memory: the sizes that later tiles cut it into.
///
/// ```
/// use xla_shape_core::{Layout, TileBlock};
///
/// let layout: Layout = "{1,0:T(8,128)(2,1)}".parse()?;
/// assert_eq!(TileBlock::new(&layout).unwrap().sizes(), [4, 128, 2]);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TileBlock {
    sizes: [u64; StaticStrideTable::MAX_DIGITS],
    len: usize,
}

/// Why the first tile of a layout is not a block of contiguous memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TileBlockError {
    /// The layout has no tiles.
    Untiled,
    /// A tile combines dimensions (`*`).
    Combines,
    /// A later tile has more entries than the block has dimensions: it groups several first tiles.
    ReachesOut,
    /// A block has more than [`StaticStrideTable::MAX_DIGITS`] digits.
    TooManyDigits,
}

impl TileBlockError {
    /// The message; usable in a `const`.
    ///
    /// ```
    /// use xla_shape_core::{Layout, TileBlock};
    ///
    /// let error = TileBlock::new(&Layout::descending(2)).unwrap_err();
    /// assert_eq!(error.as_str(), "expected a layout with a tile, found one without");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Untiled => "expected a layout with a tile, found one without",
            Self::Combines => "expected a tile that combines no dimensions, found one with `*`",
            Self::ReachesOut => {
                "expected later tiles that cut the first tile, found one that groups several first tiles"
            }
            Self::TooManyDigits => {
                "expected a tile that is cut less often, found one of too many pieces for a stride table"
            }
        }
    }
}

impl fmt::Display for TileBlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::error::Error for TileBlockError {}

impl TileBlock {
    /// The block of the layout's first tile.
    ///
    /// ```
    /// use xla_shape_core::TileBlock;
    ///
    /// let block = TileBlock::new(&"{1,0:T(8,128)(2,1)}".parse()?)?;
    /// assert_eq!(block.sizes(), [4, 128, 2]); // 4 pairs of rows, 128 columns, 2 rows
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the layout has no tile, or its first tile is not contiguous.
    pub const fn new(layout: &Layout) -> Result<Self, TileBlockError> {
        let mut block = Self { sizes: [1; StaticStrideTable::MAX_DIGITS], len: 0 };
        if layout.tiles().is_empty() {
            return Err(TileBlockError::Untiled);
        }
        let mut i = 0;
        while i < layout.tiles().len() {
            let entries = layout.tiles()[i].dimensions();
            if i > 0 && entries.len() > block.len {
                return Err(TileBlockError::ReachesOut);
            }
            // The entries of the first tile are the sizes; each later tile cuts the last of them.
            let covered = block.len.saturating_sub(entries.len());
            if block.len + entries.len() > block.sizes.len() {
                return Err(TileBlockError::TooManyDigits);
            }
            let mut entry = 0;
            while entry < entries.len() {
                let TileDimension::Size(size) = entries[entry] else { return Err(TileBlockError::Combines) };
                if i > 0 {
                    let outer = &mut block.sizes[covered + entry];
                    *outer = outer.div_ceil(size);
                }
                block.sizes[block.len] = size;
                block.len += 1;
                entry += 1;
            }
            i += 1;
        }
        block.drop_ones();
        Ok(block)
    }

    const fn drop_ones(&mut self) {
        let mut kept = 0;
        let mut i = 0;
        while i < self.len {
            if self.sizes[i] != 1 {
                self.sizes[kept] = self.sizes[i];
                kept += 1;
            }
            i += 1;
        }
        self.len = kept;
    }

    /// The sizes of the block's dimensions in memory, in elements, the most major first; sizes of 1 are left out.
    ///
    /// ```
    /// let block = xla_shape_core::TileBlock::new(&"{1,0:T(8,128)}".parse()?)?;
    /// assert_eq!(block.sizes(), [8, 128]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn sizes(&self) -> &[u64] {
        self.sizes.split_at(self.len).0
    }

    /// How many positions the tile takes, in elements.
    ///
    /// ```
    /// let block = xla_shape_core::TileBlock::new(&"{1,0:T(8,128)(2,1)}".parse()?)?;
    /// assert_eq!(block.positions(), 1024);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn positions(&self) -> u64 {
        let mut positions = 1_u64;
        let mut i = 0;
        while i < self.len {
            positions = positions.saturating_mul(self.sizes[i]);
            i += 1;
        }
        positions
    }
}

impl Layout {
    /// The length of the first tile in a logical dimension, in elements: 1 if the tile does not cover the dimension, or
    /// the layout has no tiles.
    ///
    /// The tile must not combine dimensions (`*`).
    ///
    /// ```
    /// let layout: xla_shape_core::Layout = "{2,1,0:T(8,128)}".parse()?;
    /// assert_eq!([0, 1, 2].map(|dimension| layout.tile_size(dimension)), [1, 8, 128]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn tile_size(&self, dimension: usize) -> u64 {
        if self.tiles().is_empty() {
            return 1;
        }
        let entries = self.tiles()[0].dimensions();
        let mut minor = 0;
        while minor < self.minor_to_major().len() && minor < entries.len() {
            if self.minor_to_major()[minor] == dimension {
                return match entries[entries.len() - 1 - minor] {
                    TileDimension::Size(size) => size,
                    TileDimension::Combine => 1,
                };
            }
            minor += 1;
        }
        1
    }
}
