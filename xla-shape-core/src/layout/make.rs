//! How a layout is made, and changed: always a valid one.

use super::{Layout, LayoutAttributes, SplitConfig};
use crate::layout::error::ValidationError;
use crate::layout::number::{STATIC_SEEN_WORDS, with_seen};
use crate::layout::tile::Tile;
use crate::layout::validate;
use crate::list::List;

impl Layout {
    /// An untiled layout with this order of dimensions, the fastest varying one first.
    ///
    /// # Errors
    /// If `minor_to_major` is not a permutation of 0, 1, ….
    pub fn new(minor_to_major: &[usize]) -> Result<Self, ValidationError> {
        Self::unchecked(List::from_slice(minor_to_major)).validated()
    }

    /// A layout from its parts, usable in a `const` without allocation.
    ///
    /// # Panics
    /// If the parts break a rule, with the text of the [`ValidationError`]; in a `const`, that is a compile error.
    #[must_use]
    pub const fn from_static(
        minor_to_major: &'static [usize],
        tiles: &'static [Tile],
        attributes: LayoutAttributes,
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
    /// # Errors
    /// If `minor_to_major` is not a permutation of 0, 1, …, or a split's dimension is not among them.
    pub fn with_minor_to_major(mut self, minor_to_major: &[usize]) -> Result<Self, ValidationError> {
        self.minor_to_major = List::from_slice(minor_to_major);
        self.validated()
    }

    /// The same layout with these tiles.
    ///
    /// # Errors
    /// If a tile has no entries, has an entry 0, or ends with `*`.
    pub fn with_tiles(mut self, tiles: &[Tile]) -> Result<Self, ValidationError> {
        self.tiles = List::from_slice(tiles);
        self.validated()
    }

    /// The same layout whose physical elements are rounded up to a multiple of `elements`.
    ///
    /// # Errors
    /// If `elements` is 0 or does not fit in an i64.
    pub fn with_tail_padding_alignment_in_elements(mut self, elements: u64) -> Result<Self, ValidationError> {
        self.tail_padding_alignment_in_elements = elements;
        self.validated()
    }

    /// The same layout with elements of this many bits; 0 stands for the element type's own storage size.
    ///
    /// # Errors
    /// If `bits` does not fit in an i64.
    pub fn with_element_size_in_bits(mut self, bits: u64) -> Result<Self, ValidationError> {
        self.element_size_in_bits = bits;
        self.validated()
    }

    /// The same layout in this memory space.
    ///
    /// # Errors
    /// If `memory_space` is above 127.
    pub fn with_memory_space(mut self, memory_space: u8) -> Result<Self, ValidationError> {
        self.memory_space = memory_space;
        self.validated()
    }

    /// The same layout with these splits.
    ///
    /// # Errors
    /// If a split's dimension is out of range or named twice, or its indices are not above 0 and increasing.
    pub fn with_split_configs(mut self, split_configs: &[SplitConfig]) -> Result<Self, ValidationError> {
        self.split_configs = List::from_slice(split_configs);
        self.validated()
    }

    /// The same layout with this many bytes before the data for the sizes of bounded dimensions.
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
