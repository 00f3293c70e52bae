//! Access to the parts of a layout.

use super::{Layout, LayoutAttributes, SplitConfig};
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

    /// All attributes: every part other than the order and the tiles.
    ///
    /// ```
    /// use xla_shape_core::{Layout, LayoutAttributes};
    ///
    /// let layout: Layout = "{1,0:T(8,128)S(1)}".parse()?;
    /// assert_eq!(layout.attributes(), LayoutAttributes { memory_space: 1, ..LayoutAttributes::DEFAULT });
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn attributes(&self) -> LayoutAttributes<'_> {
        let Self {
            minor_to_major: _,
            tiles: _,
            tail_padding_alignment_in_elements,
            element_size_in_bits,
            memory_space,
            split_configs,
            dynamic_shape_metadata_prefix_bytes,
        } = self;
        LayoutAttributes {
            tail_padding_alignment_in_elements: *tail_padding_alignment_in_elements,
            element_size_in_bits: *element_size_in_bits,
            memory_space: *memory_space,
            split_configs: split_configs.as_slice(),
            dynamic_shape_metadata_prefix_bytes: *dynamic_shape_metadata_prefix_bytes,
        }
    }

    /// `L(n)`: the physical elements are rounded up to a multiple of this.
    ///
    /// ```
    /// assert_eq!("{0:T(1024)L(1024)}".parse::<xla_shape_core::Layout>()?.tail_padding_alignment_in_elements(), 1024);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn tail_padding_alignment_in_elements(&self) -> u64 {
        self.tail_padding_alignment_in_elements
    }

    /// `E(n)`: the bits that one element takes; 0 means the element type's storage size.
    ///
    /// ```
    /// assert_eq!("{0:E(4)}".parse::<xla_shape_core::Layout>()?.element_size_in_bits(), 4);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn element_size_in_bits(&self) -> u64 {
        self.element_size_in_bits
    }

    /// `S(n)`: the memory space; 0 is the default memory. See [`memory_space`](super::memory_space).
    ///
    /// ```
    /// assert_eq!("{0:S(1)}".parse::<xla_shape_core::Layout>()?.memory_space(), 1);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn memory_space(&self) -> u8 {
        self.memory_space
    }

    /// `SC(…)`: the physical dimensions that are cut into pieces, and where.
    ///
    /// ```
    /// use xla_shape_core::{Layout, SplitConfig};
    ///
    /// let layout: Layout = "{1,0:SC(0:64)}".parse()?;
    /// assert_eq!(layout.split_configs(), [SplitConfig::new(0, &[64])]);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn split_configs(&self) -> &[SplitConfig] {
        self.split_configs.as_slice()
    }

    /// `M(n)`: the bytes before the data that hold the sizes of bounded dimensions.
    ///
    /// ```
    /// assert_eq!("{0:M(8)}".parse::<xla_shape_core::Layout>()?.dynamic_shape_metadata_prefix_bytes(), 8);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    #[inline]
    pub const fn dynamic_shape_metadata_prefix_bytes(&self) -> u64 {
        self.dynamic_shape_metadata_prefix_bytes
    }
}
