//! Layouts and their parts: dimensions and dimension numbers, tiles, memory spaces; the rules for valid layouts.

// rustdoc lists the methods of `Layout` in the order of these modules.
mod make;

mod access;

pub(crate) mod attribute;

mod order;

pub(crate) mod dimension;
pub(crate) mod error;
pub mod memory_space;
pub(crate) mod number;
pub(crate) mod tile;
pub(crate) mod validate;

use crate::layout::tile::Tile;
use crate::list::{Blank, List};
use alloc::boxed::Box;
use core::hash::{Hash, Hasher};

/// The indices at which one physical dimension is cut into pieces that lie in different memories: XLA's `SplitConfig`
/// (`xla/layout.h`).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SplitConfig {
    pub(crate) dimension: usize,
    pub(crate) split_indices: List<u64, 2>,
}

impl SplitConfig {
    /// A split that cuts the physical dimension `dimension` (0 is the most major) before each of these indices.
    ///
    /// ```
    /// use xla_shape_core::{Layout, SplitConfig};
    ///
    /// let layout = Layout::descending(2).with_split_configs(&[SplitConfig::new(0, &[64, 128])])?;
    /// assert_eq!(layout.to_string(), "{1,0:SC(0:64,128)}");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    #[must_use]
    pub fn new(dimension: usize, split_indices: &[u64]) -> Self {
        Self { dimension, split_indices: List::from_slice(split_indices) }
    }

    /// [`SplitConfig::new`] for a `const`.
    ///
    /// ```
    /// use xla_shape_core::SplitConfig;
    ///
    /// const SPLIT: SplitConfig = SplitConfig::from_static(0, &[64]);
    /// assert_eq!(SPLIT, SplitConfig::new(0, &[64]));
    /// ```
    #[must_use]
    pub const fn from_static(dimension: usize, split_indices: &'static [u64]) -> Self {
        Self { dimension, split_indices: List::Static(split_indices) }
    }

    /// The physical dimension that is cut; 0 is the most major.
    ///
    /// ```
    /// assert_eq!(xla_shape_core::SplitConfig::new(1, &[64]).dimension(), 1);
    /// ```
    #[must_use]
    pub const fn dimension(&self) -> usize {
        self.dimension
    }

    /// The indices at which new pieces begin, in elements.
    ///
    /// ```
    /// assert_eq!(xla_shape_core::SplitConfig::new(1, &[64, 128]).split_indices(), [64, 128]);
    /// ```
    #[must_use]
    pub const fn split_indices(&self) -> &[u64] {
        self.split_indices.as_slice()
    }
}

impl Blank for SplitConfig {
    const BLANK: Self = Self::from_static(0, &[]);
}

macro_rules! layouts {
    ($($variant:ident $symbol:literal $field:ident $type:ident $default:literal ($tag:literal) $with:ident $ignore:ident
        [$($parameter:ident)?] $doc:literal $cells:tt)*) => {
        /// The parts of a [`Layout`] other than its order and its tiles. Text omits an attribute that has its default.
        ///
        /// The attributes that are numbers are also in [`LayoutAttribute::NUMBERS`](crate::validate::LayoutAttribute::NUMBERS).
        ///
        /// ```
        /// use xla_shape_core::{ArrayShape, LayoutAttributes};
        ///
        /// let shape: ArrayShape = "s4[8,128]{1,0:T(8,128)E(4)S(1)}".parse()?;
        /// let attributes = shape.layout().attributes();
        /// assert_eq!((attributes.element_size_in_bits, attributes.memory_space), (4, 1));
        /// assert_ne!(attributes, LayoutAttributes::DEFAULT);
        /// # Ok::<(), xla_shape_core::ParseError>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct LayoutAttributes<'a> {
            $(#[doc = concat!("`", $symbol, "(n)`: ", $doc)] pub $field: $type,)*
            /// `SC(…)`: physical dimensions that are cut into pieces.
            pub split_configs: &'a [SplitConfig],
        }

        /// How the elements of an array are arranged in memory: the order of its dimensions, tiles, and attributes such as the
        /// memory space.
        ///
        /// A `Layout` always satisfies the rules that do not depend on an array; whether it fits an array is checked when an
        /// [`ArrayShape`](crate::ArrayShape) is made. The rules are those of XLA's `LayoutUtil::ValidateLayoutForShape`
        /// (`xla/layout_util.cc`) and of the page [Tiled layout](https://openxla.org/xla/tiled_layout).
        ///
        /// ```
        /// use xla_shape_core::{Layout, Tile};
        ///
        /// let layout = Layout::new(&[1, 0])?.with_tiles(&[Tile::from_sizes([8, 128])])?.with_memory_space(1)?;
        /// assert_eq!(layout.to_string(), "{1,0:T(8,128)S(1)}");
        /// assert_eq!("{1,0:T(8,128)S(1)}".parse(), Ok(layout));
        /// # Ok::<(), xla_shape_core::ValidationError>(())
        /// ```
        #[derive(Clone, PartialEq, Eq, Hash)]
        pub struct Layout {
            pub(crate) minor_to_major: List<usize, 4>,
            pub(crate) tiles: List<Tile, 2>,
            $(pub(crate) $field: $type,)*
            pub(crate) split_configs: List<SplitConfig, 0>,
        }
    };
}

crate::layout_numbers!(layouts);

/// 7, 6, …, 0: its last N entries are the default order of N dimensions, up to 8.
static DESCENDING: [usize; 8] = [7, 6, 5, 4, 3, 2, 1, 0];

/// The default layouts of up to 8 dimensions.
static DEFAULTS: [Layout; 9] = {
    const fn default(num_dimensions: usize) -> Layout {
        let skip = DESCENDING.len().saturating_sub(num_dimensions);
        Layout::unchecked(List::Static(DESCENDING.split_at(skip).1))
    }
    [default(0), default(1), default(2), default(3), default(4), default(5), default(6), default(7), default(8)]
};

/// The layout of an array, as one pointer so that moving a shape is cheap: to a valid layout in a `static`, or to the
/// array's own.
#[derive(Clone)]
pub(crate) enum ArrayLayout {
    Static(&'static Layout),
    Own(Box<Layout>),
}

impl ArrayLayout {
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
        own.into_iter().chain(tiles).chain(splits).sum()
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
