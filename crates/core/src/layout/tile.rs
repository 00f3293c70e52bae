//! One level of tiling.

use crate::list::{Blank, List};

/// One entry of a [`Tile`].
///
/// ```
/// use xla_shape_core::{ArrayShape, TileDimension};
///
/// let shape: ArrayShape = "f32[7,2,5]{2,1,0:T(2,*,3)}".parse()?;
/// let entries = [TileDimension::Size(2), TileDimension::Combine, TileDimension::Size(3)];
/// assert_eq!(shape.layout().tiles()[0].dimensions(), entries);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileDimension {
    /// The tile's length in this dimension, in elements; at least 1.
    Size(u64),
    /// `*`: the dimension is combined with the next more minor one before it is tiled (`Tile::kCombineDimension` in
    /// `xla/layout.h`).
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

/// One tile of a layout, such as `(8,128)` in `{1,0:T(8,128)(2,1)}`: it cuts the most minor dimensions into blocks. The
/// page [Tiled layout](https://openxla.org/xla/tiled_layout) defines what tiles mean.
///
/// Entries go from major to minor. Any list of entries makes a `Tile`; a [`Layout`](crate::Layout) checks its tiles
/// when it is made.
///
/// ```
/// use xla_shape_core::{Tile, TileDimension};
///
/// let tile = Tile::from_sizes([8, 128]);
/// assert_eq!(tile.dimensions(), [TileDimension::Size(8), TileDimension::Size(128)]);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Tile(List<TileDimension, 2>);

impl Tile {
    /// A tile with these entries.
    ///
    /// ```
    /// use xla_shape_core::{Tile, TileDimension};
    ///
    /// let tile = Tile::new(&[TileDimension::Combine, TileDimension::Size(128)]);
    /// assert_eq!(tile.to_string(), "(*,128)");
    /// ```
    #[must_use]
    pub fn new(dimensions: &[TileDimension]) -> Self {
        Self(List::from_slice(dimensions))
    }

    /// A tile with these entries, usable in a `const`.
    ///
    /// ```
    /// use xla_shape_core::{Tile, TileDimension::Size};
    ///
    /// const TILE: Tile = Tile::from_static(&[Size(8), Size(128)]);
    /// assert_eq!(TILE, Tile::from_sizes([8, 128]));
    /// ```
    #[must_use]
    pub const fn from_static(dimensions: &'static [TileDimension]) -> Self {
        Self(List::Static(dimensions))
    }

    /// A tile with these sizes, from major to minor, and no `*`.
    ///
    /// ```
    /// assert_eq!(xla_shape_core::Tile::from_sizes([8, 128]).to_string(), "(8,128)");
    /// ```
    #[must_use]
    pub fn from_sizes(sizes: impl IntoIterator<Item = u64>) -> Self {
        let mut tile = Self::EMPTY;
        for size in sizes {
            tile.push(TileDimension::Size(size));
        }
        tile
    }

    /// The entries, from major to minor.
    ///
    /// ```
    /// use xla_shape_core::{Tile, TileDimension::Size};
    ///
    /// assert_eq!(Tile::from_sizes([2, 1]).dimensions(), [Size(2), Size(1)]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn dimensions(&self) -> &[TileDimension] {
        self.0.as_slice()
    }

    /// Whether the tiles are equal; usable in a `const`, where `==` is not.
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
            i += 1;
        }
        entries.len() == others.len()
    }

    /// A tile of one entry, stored inline.
    pub(crate) const fn line(size: u64) -> Self {
        Self(List::Inline { len: 1, items: [TileDimension::Size(size), TileDimension::BLANK] })
    }

    /// A tile of two entries, stored inline.
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
