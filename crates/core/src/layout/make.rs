//! Constructors of layouts. Each checks the rules of [`validate`].

use super::{DEFAULTS, Layout, LayoutAttributes};
use crate::layout::error::ValidationError;
use crate::layout::number::{STATIC_SEEN_WORDS, with_seen};
use crate::layout::tile::Tile;
use crate::layout::validate;
use crate::list::List;
use alloc::vec::Vec;

impl Layout {
    /// An untiled layout with this order of dimensions, the fastest varying one first.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::new(&[0, 1])?.to_string(), "{0,1}");
    /// assert_eq!(Layout::new(&[0, 0]).unwrap_err().to_string(), "expected every dimension once in minor_to_major, found 0 again");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `minor_to_major` is not a permutation of 0, 1, ….
    pub fn new(minor_to_major: &[usize]) -> Result<Self, ValidationError> {
        Self::unchecked(List::from_slice(minor_to_major)).validated()
    }

    /// The default layout: row-major (dimension N-1 is the most minor), no tiles. XLA's
    /// `LayoutUtil::MakeDescendingLayout`.
    ///
    /// ```
    /// let layout = xla_shape_core::Layout::descending(3);
    /// assert_eq!(layout.minor_to_major(), [2, 1, 0]);
    /// ```
    #[must_use]
    pub fn descending(num_dimensions: usize) -> Self {
        match DEFAULTS.get(num_dimensions) {
            Some(layout) => layout.clone(),
            None => Self::unchecked(List::Heap((0..num_dimensions).rev().collect())),
        }
    }

    /// The column-major layout: dimension 0 is the most minor, no tiles. XLA's `LayoutUtil::MakeAscendingLayout`.
    ///
    /// ```
    /// let layout = xla_shape_core::Layout::ascending(3);
    /// assert_eq!(layout.minor_to_major(), [0, 1, 2]);
    /// ```
    #[must_use]
    pub fn ascending(num_dimensions: usize) -> Self {
        Self::unchecked(List::from_slice(&(0..num_dimensions).collect::<Vec<_>>()))
    }

    /// A layout from its parts, usable in a `const` without allocation.
    ///
    /// ```
    /// use xla_shape_core::{Layout, LayoutAttributes, Tile, TileDimension::Size};
    ///
    /// const TILES: &[Tile] = &[Tile::from_static(&[Size(8), Size(128)])];
    /// static LAYOUT: Layout = Layout::from_static(&[1, 0], TILES, LayoutAttributes::DEFAULT);
    /// assert_eq!(LAYOUT.to_string(), "{1,0:T(8,128)}");
    /// ```
    ///
    /// # Panics
    /// If the parts break a rule, with the text of the [`ValidationError`]; in a `const`, that is a compile error.
    #[must_use]
    pub const fn from_static(
        minor_to_major: &'static [usize],
        tiles: &'static [Tile],
        attributes: LayoutAttributes<'static>,
    ) -> Self {
        let layout = Self::of_static_parts(minor_to_major, tiles, attributes);
        if let Err(error) = validate::layout(&layout, &mut [0; STATIC_SEEN_WORDS]) {
            error.panic_about(layout.const_text::<512>().as_str());
        }
        layout
    }

    /// The same layout with this order of dimensions, the fastest varying one first.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// let layout: Layout = "{1,0:T(8,128)}".parse()?;
    /// assert_eq!(layout.with_minor_to_major(&[0, 1])?.to_string(), "{0,1:T(8,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `minor_to_major` is not a permutation of 0, 1, …, or a split's dimension is not among them.
    pub fn with_minor_to_major(mut self, minor_to_major: &[usize]) -> Result<Self, ValidationError> {
        self.minor_to_major = List::from_slice(minor_to_major);
        self.validated()
    }

    /// The same layout with these tiles.
    ///
    /// ```
    /// use xla_shape_core::{Layout, Tile};
    ///
    /// let layout = Layout::descending(2).with_tiles(&[Tile::from_sizes([8, 128]), Tile::from_sizes([2, 1])])?;
    /// assert_eq!(layout.to_string(), "{1,0:T(8,128)(2,1)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a tile has no entries, has an entry 0 or one that does not fit in an i64, or ends with `*`.
    pub fn with_tiles(mut self, tiles: &[Tile]) -> Result<Self, ValidationError> {
        self.tiles = List::from_slice(tiles);
        self.validated()
    }

    pub(crate) fn validated(self) -> Result<Self, ValidationError> {
        self.check()?;
        Ok(self)
    }

    /// Checks the rules that do not need an array.
    pub(crate) fn check(&self) -> Result<(), ValidationError> {
        with_seen(self.num_dimensions(), |seen| validate::layout(self, seen))
    }
}
