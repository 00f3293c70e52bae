//! Constructors of layouts. Each checks the rules of [`validate`].

use super::{DEFAULTS, Layout, LayoutAttributes, SplitConfig};
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

    pub(crate) const fn unchecked(minor_to_major: List<usize, 4>) -> Self {
        Self {
            minor_to_major,
            tiles: List::EMPTY,
            tail_padding_alignment_in_elements: 1,
            element_size_in_bits: 0,
            memory_space: 0,
            split_configs: List::EMPTY,
            dynamic_shape_metadata_prefix_bytes: 0,
        }
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
        let layout = Self {
            minor_to_major: List::Static(minor_to_major),
            tiles: List::Static(tiles),
            tail_padding_alignment_in_elements: attributes.tail_padding_alignment_in_elements,
            element_size_in_bits: attributes.element_size_in_bits,
            memory_space: attributes.memory_space,
            split_configs: List::Static(attributes.split_configs),
            dynamic_shape_metadata_prefix_bytes: attributes.dynamic_shape_metadata_prefix_bytes,
        };
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

    /// The same layout whose physical elements are rounded up to a multiple of `elements`.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// let layout = Layout::descending(1).with_tail_padding_alignment_in_elements(1024)?;
    /// assert_eq!(layout.to_string(), "{0:L(1024)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `elements` is 0 or does not fit in an i64.
    pub fn with_tail_padding_alignment_in_elements(mut self, elements: u64) -> Result<Self, ValidationError> {
        self.tail_padding_alignment_in_elements = elements;
        self.validated()
    }

    /// The same layout with elements of this many bits; 0 means the element type's storage size.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::descending(1).with_element_size_in_bits(4)?.to_string(), "{0:E(4)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `bits` does not fit in an i64.
    pub fn with_element_size_in_bits(mut self, bits: u64) -> Result<Self, ValidationError> {
        self.element_size_in_bits = bits;
        self.validated()
    }

    /// The same layout in this memory space.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::descending(1).with_memory_space(1)?.to_string(), "{0:S(1)}");
    /// assert!(Layout::descending(1).with_memory_space(128).is_err());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `memory_space` is above 127.
    pub fn with_memory_space(mut self, memory_space: u8) -> Result<Self, ValidationError> {
        self.memory_space = memory_space;
        self.validated()
    }

    /// The same layout with these splits.
    ///
    /// ```
    /// use xla_shape_core::{Layout, SplitConfig};
    ///
    /// let layout = Layout::descending(2).with_split_configs(&[SplitConfig::new(0, &[64])])?;
    /// assert_eq!(layout.to_string(), "{1,0:SC(0:64)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a split's dimension is out of range or named twice, or its indices are not above 0 and increasing.
    pub fn with_split_configs(mut self, split_configs: &[SplitConfig]) -> Result<Self, ValidationError> {
        self.split_configs = List::from_slice(split_configs);
        self.validated()
    }

    /// The same layout with a prefix of this many bytes before the data, which holds the sizes of bounded dimensions.
    ///
    /// ```
    /// use xla_shape_core::Layout;
    ///
    /// assert_eq!(Layout::descending(1).with_dynamic_shape_metadata_prefix_bytes(8)?.to_string(), "{0:M(8)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If `bytes` does not fit in an i64.
    pub fn with_dynamic_shape_metadata_prefix_bytes(mut self, bytes: u64) -> Result<Self, ValidationError> {
        self.dynamic_shape_metadata_prefix_bytes = bytes;
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
