//! Layouts, and what they are made of: dimensions and their numbers, tiles, memory spaces; what makes a layout valid.

pub(crate) mod dimension;
pub(crate) mod error;
mod make;
pub mod memory_space;
pub(crate) mod number;
mod order;
pub(crate) mod tile;
pub(crate) mod validate;

use crate::layout::tile::Tile;
use crate::list::{Blank, List};
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};

/// Where one physical dimension is cut into pieces that are in different memories.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SplitConfig {
    pub(crate) dimension: usize,
    pub(crate) split_indices: List<u64, 2>,
}

impl SplitConfig {
    /// Cuts the physical dimension `dimension` (0 is the most major) before each of these indices.
    #[must_use]
    pub fn new(dimension: usize, split_indices: &[u64]) -> Self {
        Self { dimension, split_indices: List::from_slice(split_indices) }
    }

    /// [`SplitConfig::new`] for a `const`.
    #[must_use]
    pub const fn from_static(dimension: usize, split_indices: &'static [u64]) -> Self {
        Self { dimension, split_indices: List::Static(split_indices) }
    }

    /// The physical dimension that is cut; 0 is the most major.
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The indices at which a new piece begins, in elements.
    #[must_use]
    pub const fn split_indices(&self) -> &[u64] {
        self.split_indices.as_slice()
    }
}

impl Blank for SplitConfig {
    const BLANK: Self = Self::from_static(0, &[]);
}

/// The parts of a [`Layout`] beside its order and its tiles. The default of each is left out in text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LayoutAttributes {
    /// `L(n)`: the physical elements are rounded up to a multiple of this. At least 1, the default.
    pub tail_padding_alignment_in_elements: u64,
    /// `E(n)`: the bits that one element takes; 0, the default, is the element type's own storage size.
    pub element_size_in_bits: u64,
    /// `S(n)`: where the array lies, 0 to 127; 0 is the default memory.
    pub memory_space: u8,
    /// `SC(…)`: physical dimensions that are cut into pieces.
    pub split_configs: &'static [SplitConfig],
    /// `M(n)`: bytes before the data that hold the sizes of bounded dimensions.
    pub dynamic_shape_metadata_prefix_bytes: u64,
}

impl LayoutAttributes {
    /// What a layout has when its text says nothing.
    pub const DEFAULT: Self = Self {
        tail_padding_alignment_in_elements: 1,
        element_size_in_bits: 0,
        memory_space: 0,
        split_configs: &[],
        dynamic_shape_metadata_prefix_bytes: 0,
    };
}

impl Default for LayoutAttributes {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// How the elements of an array lie in memory: the order of its dimensions, tiles, and where and how wide.
///
/// A layout is valid by itself; whether it fits an array is checked when an [`ArrayShape`](crate::ArrayShape) is made.
///
/// ```
/// use xla_shape_core::{Layout, Tile};
///
/// let layout = Layout::new(&[1, 0])?.with_tiles(&[Tile::of_sizes([8, 128])])?.with_memory_space(1)?;
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)S(1)}");
/// assert_eq!("{1,0:T(8,128)S(1)}".parse(), Ok(layout));
/// # Ok::<(), xla_shape_core::ValidationError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    pub(crate) minor_to_major: List<usize, 4>,
    pub(crate) tiles: List<Tile, 2>,
    pub(crate) tail_padding_alignment_in_elements: u64,
    pub(crate) element_size_in_bits: u64,
    pub(crate) memory_space: u8,
    pub(crate) split_configs: List<SplitConfig, 0>,
    pub(crate) dynamic_shape_metadata_prefix_bytes: u64,
}

/// 7, 6, …, 0: the tail of this list is the default order of up to 8 dimensions.
static DESCENDING: [usize; 8] = [7, 6, 5, 4, 3, 2, 1, 0];

/// The default layouts of up to 8 dimensions.
static DEFAULTS: [Layout; 9] = {
    const fn default(num_dimensions: usize) -> Layout {
        let skip = DESCENDING.len().saturating_sub(num_dimensions);
        Layout::unchecked(List::Static(DESCENDING.split_at(skip).1))
    }
    [default(0), default(1), default(2), default(3), default(4), default(5), default(6), default(7), default(8)]
};

impl Layout {
    /// The default layout: dimension N-1 is the most minor, no tiles ("dim 0 is major", row-major).
    #[must_use]
    pub fn descending(num_dimensions: usize) -> Self {
        match DEFAULTS.get(num_dimensions) {
            Some(layout) => layout.clone(),
            None => Self::unchecked(List::Heap((0..num_dimensions).rev().collect())),
        }
    }

    /// The layout in which dimension 0 is the most minor, no tiles ("dim 0 is minor", column-major).
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

    /// The dimensions from the fastest varying one to the slowest.
    #[must_use]
    #[inline]
    pub const fn minor_to_major(&self) -> &[usize] {
        self.minor_to_major.as_slice()
    }

    /// How many dimensions the layout orders.
    #[must_use]
    #[inline]
    pub const fn num_dimensions(&self) -> usize {
        self.minor_to_major().len()
    }

    /// The tiles, in the order in which they are applied.
    #[must_use]
    #[inline]
    pub const fn tiles(&self) -> &[Tile] {
        self.tiles.as_slice()
    }

    /// `L(n)`: the physical elements are rounded up to a multiple of this.
    #[must_use]
    #[inline]
    pub const fn tail_padding_alignment_in_elements(&self) -> u64 {
        self.tail_padding_alignment_in_elements
    }

    /// `E(n)`: the bits that one element takes; 0 stands for the element type's own storage size.
    #[must_use]
    #[inline]
    pub const fn element_size_in_bits(&self) -> u64 {
        self.element_size_in_bits
    }

    /// `S(n)`: where the array lies; 0 is the default memory.
    #[must_use]
    pub const fn memory_space(&self) -> u8 {
        self.memory_space
    }

    /// `SC(…)`: the physical dimensions that are cut into pieces.
    #[must_use]
    #[inline]
    pub const fn split_configs(&self) -> &[SplitConfig] {
        self.split_configs.as_slice()
    }

    /// `M(n)`: the bytes before the data that hold the sizes of bounded dimensions.
    #[must_use]
    #[inline]
    pub const fn dynamic_shape_metadata_prefix_bytes(&self) -> u64 {
        self.dynamic_shape_metadata_prefix_bytes
    }
}

/// The layout of an array, which is small to move: one that is valid and stands in a `static`, or the array's own.
#[derive(Clone)]
pub(crate) enum ArrayLayout {
    Static(&'static Layout),
    Own(Box<Layout>),
}

impl ArrayLayout {
    /// The default layout of a scalar.
    pub(crate) const SCALAR: Self = {
        let [scalar, ..] = &DEFAULTS;
        Self::Static(scalar)
    };

    /// The default layout.
    #[inline]
    pub(crate) fn descending(num_dimensions: usize) -> Self {
        match DEFAULTS.get(num_dimensions) {
            Some(layout) => Self::Static(layout),
            None => Self::Own(Box::new(Layout::descending(num_dimensions))),
        }
    }

    #[inline]
    pub(crate) const fn get(&self) -> &Layout {
        match self {
            Self::Static(layout) => layout,
            Self::Own(layout) => layout,
        }
    }

    /// The bytes on the heap that the layout holds.
    pub(crate) fn heap_bytes(&self) -> usize {
        let Self::Own(layout) = self else { return 0 };
        let own = [
            size_of::<Layout>(),
            layout.minor_to_major.heap_bytes(),
            layout.tiles.heap_bytes(),
            layout.split_configs.heap_bytes(),
        ];
        let tiles = layout.tiles().iter().map(Tile::heap_bytes);
        let splits = layout.split_configs().iter().map(|split| split.split_indices.heap_bytes());
        own.into_iter().chain(tiles).chain(splits).fold(0, usize::saturating_add)
    }
}

impl From<Layout> for ArrayLayout {
    fn from(layout: Layout) -> Self {
        match DEFAULTS.get(layout.num_dimensions()) {
            Some(default) if *default == layout => Self::Static(default),
            _ => Self::Own(Box::new(layout)),
        }
    }
}

impl PartialEq for ArrayLayout {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Eq for ArrayLayout {}

impl Hash for ArrayLayout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.get().hash(state);
    }
}

impl fmt::Debug for ArrayLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.get().fmt(f)
    }
}
