//! One level of tiling.

use crate::list::{Blank, List};

/// One entry of a [`Tile`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileDimension {
    /// The tile is this many elements long here; at least 1.
    Size(u64),
    /// `*`: the dimension is combined with the next more minor one before it is tiled.
    Combine,
}

impl From<u64> for TileDimension {
    fn from(size: u64) -> Self {
        Self::Size(size)
    }
}

impl Blank for TileDimension {
    const BLANK: Self = Self::Combine;
}

/// One tile of a layout, such as `(8,128)` in `{1,0:T(8,128)(2,1)}`: it cuts the most minor dimensions into blocks.
///
/// Entries go from major to minor. A tile by itself is any list of entries; whether it is a valid one is checked
/// when it becomes part of a [`Layout`](crate::Layout).
///
/// ```
/// use xla_shape_core::{Tile, TileDimension};
///
/// let tile = Tile::of_sizes([8, 128]);
/// assert_eq!(tile.dimensions(), [TileDimension::Size(8), TileDimension::Size(128)]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tile(List<TileDimension, 2>);

impl Tile {
    /// A tile with these entries.
    #[must_use]
    pub fn new(dimensions: &[TileDimension]) -> Self {
        Self(List::from_slice(dimensions))
    }

    /// A tile with these entries, usable in a `const`.
    #[must_use]
    pub const fn from_static(dimensions: &'static [TileDimension]) -> Self {
        Self(List::Static(dimensions))
    }

    /// A tile with these sizes and no `*`.
    #[must_use]
    pub fn of_sizes(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut tile = Self::EMPTY;
        for size in sizes {
            tile.push(TileDimension::Size(size));
        }
        tile
    }

    /// The entries, from major to minor.
    #[must_use]
    #[inline]
    pub const fn dimensions(&self) -> &[TileDimension] {
        self.0.as_slice()
    }

    /// `==` for a `const`.
    #[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; the index is below both lengths")]
    pub(crate) const fn equals(&self, other: &Self) -> bool {
        let (entries, others) = (self.dimensions(), other.dimensions());
        let mut i = 0;
        while i < entries.len() && i < others.len() {
            match (entries[i], others[i]) {
                (TileDimension::Combine, TileDimension::Combine) => {}
                (TileDimension::Size(size), TileDimension::Size(other)) if size == other => {}
                _ => return false,
            }
            i = i.saturating_add(1);
        }
        entries.len() == others.len()
    }

    /// A tile of one entry, which takes no memory of its own.
    pub(crate) const fn line(size: u64) -> Self {
        Self(List::Inline { len: 1, items: [TileDimension::Size(size), TileDimension::BLANK] })
    }

    /// A tile of two entries, which takes no memory of its own.
    pub(crate) const fn pair(rows: u64, columns: u64) -> Self {
        Self(List::Inline { len: 2, items: [TileDimension::Size(rows), TileDimension::Size(columns)] })
    }

    pub(crate) const EMPTY: Self = Self(List::EMPTY);

    pub(crate) const fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    pub(crate) fn push(&mut self, dimension: TileDimension) {
        self.0.push(dimension);
    }
}

impl Blank for Tile {
    const BLANK: Self = Self::EMPTY;
}
