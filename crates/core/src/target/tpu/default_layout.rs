//! The layout that a TPU chooses for an array by default.

use super::Generation;
use super::format::{Format, LANES};
use super::order::{Pair, extent, least_padding};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::layout::tile::Tile;
use crate::limits::{MAX_PAIRED_DIMENSIONS, MAX_SIZE};
use crate::list::{Blank, List};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use crate::sink::{Sink, error_in_const};
use crate::sorting::sort_by_key;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

/// The layout that a TPU of this generation chooses for an array by default.
///
/// A bounded dimension counts as its bound. The rule is in `docs/tpu-formats.md`. It agrees with the compiler (libtpu
/// 0.0.52) for the 52,767 arrays that were compared.
///
/// ```
/// use xla_shape_core::tpu::{DefaultLayout, Generation, default_layout};
/// use xla_shape_core::{Dimension, ElementType};
///
/// const SIZES: [Dimension; 2] = [Dimension::Static(100), Dimension::Static(200)];
/// const LAYOUT: DefaultLayout = match default_layout(Generation::V5e, ElementType::F32, &SIZES) {
///     Ok(layout) => layout,
///     Err(error) => error.panic(),
/// };
/// assert_eq!(LAYOUT.to_string(), "{0,1:T(8,128)}");
/// assert_eq!(LAYOUT.byte_size(), 200 * 128 * 4);
/// ```
///
/// # Errors
/// If the rule is not known for the generation or the element type, a dimension is unbounded, or a size does not fit in
/// an `i64`.
pub const fn default_layout(
    generation: Generation,
    element_type: ElementType,
    dimensions: &[Dimension],
) -> Result<DefaultLayout, DefaultLayoutError> {
    make(generation, element_type, dimensions, Order::LeastPadding)
}

/// Like [`default_layout`], but with the dimensions in descending order: the last one is the most minor. The blocks of
/// a kernel have this layout.
///
/// ```
/// use xla_shape_core::tpu::{Generation, row_major_layout};
/// use xla_shape_core::{Dimension, ElementType};
///
/// let sizes = [Dimension::Static(100), Dimension::Static(200)];
/// let layout = row_major_layout(Generation::V5e, ElementType::F32, &sizes)?;
/// assert_eq!(layout.to_string(), "{1,0:T(8,128)}");
/// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
/// ```
///
/// # Errors
/// Same as [`default_layout`].
pub const fn row_major_layout(
    generation: Generation,
    element_type: ElementType,
    dimensions: &[Dimension],
) -> Result<DefaultLayout, DefaultLayoutError> {
    make(generation, element_type, dimensions, Order::Given(descending(dimensions.len())))
}

/// The layouts of an array in the device's tiles: the [default](default_layout), the [row-major](row_major_layout) one,
/// then one for each other pair of most minor dimensions, ordered by bytes. For an array with more than twelve
/// dimensions, only the first two.
///
/// ```
/// use xla_shape_core::tpu::{Generation, layouts};
/// use xla_shape_core::{Dimension, ElementType};
///
/// let sizes = [Dimension::Static(100), Dimension::Static(200)];
/// let layouts = layouts(Generation::V5e, ElementType::F32, &sizes)?;
/// assert_eq!(layouts.iter().map(ToString::to_string).collect::<Vec<_>>(), ["{0,1:T(8,128)}", "{1,0:T(8,128)}"]);
/// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
/// ```
///
/// # Errors
/// Same as [`default_layout`].
pub fn layouts(
    generation: Generation,
    element_type: ElementType,
    dimensions: &[Dimension],
) -> Result<Vec<DefaultLayout>, DefaultLayoutError> {
    let default = default_layout(generation, element_type, dimensions)?;
    let natural = row_major_layout(generation, element_type, dimensions);
    let count = if dimensions.len() > MAX_PAIRED_DIMENSIONS { 0 } else { dimensions.len() };
    let pairs = (0..count).rev().flat_map(|lanes| (0..count).rev().map(move |rows| Pair { lanes, rows }));
    let others = pairs.filter(|pair| pair.lanes != pair.rows);
    let mut others = others
        .filter_map(|pair| make(generation, element_type, dimensions, Order::Given(pair)).ok())
        .collect::<Vec<_>>();
    sort_by_key(&mut others, |layout| layout.byte_size());
    let mut layouts = vec![default];
    for layout in natural.into_iter().chain(others) {
        if !layouts.contains(&layout) {
            layouts.push(layout);
        }
    }
    Ok(layouts)
}

/// How the two most minor dimensions are chosen.
pub(super) enum Order {
    LeastPadding,
    /// This pair.
    Given(Pair),
}

/// The two most minor dimensions in descending order. With fewer than two dimensions, entries are 0 and not used.
const fn descending(num_dimensions: usize) -> Pair {
    Pair { lanes: num_dimensions.saturating_sub(1), rows: num_dimensions.saturating_sub(2) }
}

pub(super) const fn make(
    generation: Generation,
    element_type: ElementType,
    dimensions: &[Dimension],
    order: Order,
) -> Result<DefaultLayout, DefaultLayoutError> {
    let Some(family) = generation.tiles() else { return Err(DefaultLayoutError::Generation(generation)) };
    let Some(format) = Format::new(family, element_type) else {
        return Err(DefaultLayoutError::ElementType(element_type));
    };
    let elements = match elements(dimensions) {
        Ok(elements) => elements,
        Err(error) => return Err(error),
    };
    let num_dimensions = dimensions.len();
    let minor = match order {
        Order::Given(pair) => pair,
        Order::LeastPadding if num_dimensions >= 2 && elements > 0 => least_padding(dimensions, format),
        Order::LeastPadding => descending(num_dimensions),
    };
    // The two dimensions of the tile are rounded up to whole tiles; the others stay.
    let (tile, physical_elements) = match num_dimensions {
        _ if elements == 0 => (None, Some(0)),
        0 | 1 => {
            let line = format.line(elements);
            (Some((1, line)), elements.checked_next_multiple_of(line))
        }
        _ => {
            let (lanes, rows) = (extent(dimensions, minor.lanes), extent(dimensions, minor.rows));
            let tile_rows = format.rows(rows);
            // `elements` is a product that contains both sizes, and no size is 0, so the division is exact.
            let others = match lanes.checked_mul(rows) {
                Some(covered) => elements.checked_div(covered),
                None => None,
            };
            let padded = match (lanes.checked_next_multiple_of(LANES), rows.checked_next_multiple_of(tile_rows)) {
                (Some(lanes), Some(rows)) => lanes.checked_mul(rows),
                _ => None,
            };
            let physical = match (others, padded) {
                (Some(others), Some(padded)) => others.checked_mul(padded),
                _ => None,
            };
            (Some((tile_rows, LANES)), physical)
        }
    };
    let bits = match format.element_size_in_bits {
        0 => element_type.storage_bits(),
        bits => bits,
    };
    let byte_size = match physical_elements {
        #[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
        Some(elements) if elements <= MAX_SIZE => (elements as u128 * bits as u128).div_ceil(8),
        _ => u128::MAX,
    };
    if byte_size > MAX_SIZE as u128 {
        return Err(DefaultLayoutError::TooLarge);
    }
    Ok(DefaultLayout { num_dimensions, minor, tile, format, byte_size: byte_size as u64 })
}

/// The number of elements.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn elements(dimensions: &[Dimension]) -> Result<u64, DefaultLayoutError> {
    let mut elements = 1_u64;
    let mut i = 0;
    while i < dimensions.len() {
        let Some(extent) = dimensions[i].extent() else {
            return Err(DefaultLayoutError::UnboundedDimension { dimension: i });
        };
        elements = match elements.checked_mul(extent) {
            Some(elements) if elements <= MAX_SIZE => elements,
            _ => return Err(DefaultLayoutError::TooLarge),
        };
        i += 1;
    }
    Ok(elements)
}

/// The layout that a TPU chooses for an array, as a small `Copy` value that a `const` can make.
///
/// It prints as the text of the layout; [`layout`](Self::layout) converts it to a [`Layout`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct DefaultLayout {
    num_dimensions: usize,
    /// The two most minor dimensions. The others follow in descending order.
    minor: Pair,
    /// The rows and columns of the tile; `None` for an array without elements.
    tile: Option<(u64, u64)>,
    format: Format,
    byte_size: u64,
}

impl DefaultLayout {
    /// The dimensions from minor to major.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::F32, &sizes)?;
    /// assert!(layout.minor_to_major().eq([0, 1]));
    /// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
    /// ```
    pub fn minor_to_major(self) -> impl Iterator<Item = usize> + Clone {
        let Pair { lanes, rows } = self.minor;
        let others = (0..self.num_dimensions).rev().filter(move |&dimension| dimension != lanes && dimension != rows);
        [lanes, rows].into_iter().take(self.num_dimensions).chain(others)
    }

    /// The dimensions from minor to major, as the first entries of an array of `N`; the rest are 0. A `const` can call
    /// it.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::F32, &sizes)?;
    /// assert_eq!(layout.minor_to_major_in_const::<3>(), [0, 1, 0]);
    /// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
    /// ```
    ///
    /// # Panics
    /// If there are more than `N` dimensions.
    #[must_use]
    #[expect(clippy::indexing_slicing, reason = "the panic that is documented")]
    pub const fn minor_to_major_in_const<const N: usize>(self) -> [usize; N] {
        let mut order = [0; N];
        let mut count = 0_usize;
        if self.num_dimensions > 0 {
            order[0] = self.minor.lanes;
            count = 1;
        }
        if self.num_dimensions > 1 {
            order[1] = self.minor.rows;
            count = 2;
        }
        let mut dimension = self.num_dimensions;
        while let Some(next) = dimension.checked_sub(1) {
            dimension = next;
            if dimension != self.minor.lanes && dimension != self.minor.rows {
                order[count] = dimension;
                count += 1;
            }
        }
        order
    }

    /// Three tiles, in the order in which they are applied, and how many of them are used.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::F32, &sizes)?;
    /// let (tiles, count) = layout.tiles();
    /// assert_eq!((tiles[0].to_string().as_str(), count), ("(8,128)", 1));
    /// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
    /// ```
    #[must_use]
    pub const fn tiles(self) -> ([Tile; 3], usize) {
        let Some((rows, line)) = self.tile else { return ([Tile::BLANK, Tile::BLANK, Tile::BLANK], 0) };
        let packed = self.format.packed_rows;
        match (self.num_dimensions, packed) {
            (0, _) | (1, 1) => ([Tile::line(line), Tile::BLANK, Tile::BLANK], 1),
            (1, _) => ([Tile::line(line), Tile::line(LANES), Tile::pair(packed, 1)], 3),
            (_, 1) => ([Tile::pair(rows, line), Tile::BLANK, Tile::BLANK], 1),
            _ => ([Tile::pair(rows, line), Tile::pair(packed, 1), Tile::BLANK], 2),
        }
    }

    /// `E(n)`: the bits that one element takes; 0 for the storage size of the element type.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::S4, &sizes)?;
    /// assert_eq!(layout.element_size_in_bits(), 4);
    /// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
    /// ```
    #[must_use]
    pub const fn element_size_in_bits(self) -> u64 {
        self.format.element_size_in_bits
    }

    /// The bytes that the array takes, including padding.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::F32, &sizes)?;
    /// assert_eq!(layout.byte_size(), 200 * 128 * 4);
    /// # Ok::<(), xla_shape_core::tpu::DefaultLayoutError>(())
    /// ```
    #[must_use]
    pub const fn byte_size(self) -> u64 {
        self.byte_size
    }

    /// The layout as a [`Layout`].
    ///
    /// ```
    /// use xla_shape_core::tpu::{Generation, default_layout};
    /// use xla_shape_core::{Dimension, ElementType};
    ///
    /// let sizes = [Dimension::Static(100), Dimension::Static(200)];
    /// let layout = default_layout(Generation::V5e, ElementType::F32, &sizes)?;
    /// assert_eq!(layout.layout(), "{0,1:T(8,128)}".parse()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn layout(self) -> Layout {
        let order = self.minor_to_major().collect::<Vec<_>>();
        let (tiles, count) = self.tiles();
        let mut layout = Layout::unchecked(List::from_slice(&order));
        layout.tiles = List::from_slice(tiles.split_at(count).0);
        layout.element_size_in_bits = self.format.element_size_in_bits;
        layout
    }
}

impl fmt::Display for DefaultLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layout().fmt(f)
    }
}

/// Why the default layout of an array on a TPU is not known.
///
/// ```
/// use xla_shape_core::tpu::{DefaultLayoutError, Generation, default_layout};
/// use xla_shape_core::{Dimension, ElementType};
///
/// let error = default_layout(Generation::V5e, ElementType::F32, &[Dimension::Unbounded]).unwrap_err();
/// assert_eq!(error, DefaultLayoutError::UnboundedDimension { dimension: 0 });
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DefaultLayoutError {
    /// The layouts of this generation are not known.
    Generation(Generation),
    /// The layouts for this element type are not known.
    ElementType(ElementType),
    /// A dimension is unbounded.
    UnboundedDimension {
        /// The number of the dimension.
        dimension: usize,
    },
    /// The number of elements or bytes does not fit in an `i64`.
    TooLarge,
}

impl DefaultLayoutError {
    pub(super) const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::Generation(generation) => {
                sink.text("the layouts that TPU ");
                sink.text(generation.name());
                sink.text(" chooses are not known");
            }
            Self::ElementType(element_type) => {
                sink.text("the layout of ");
                sink.text(element_type.name());
                sink.text(" on a TPU is not known");
            }
            Self::UnboundedDimension { dimension } => {
                sink.text("dimension ");
                sink.count(dimension);
                sink.text(" has no bound; the default layout depends on every size");
            }
            Self::TooLarge => sink.text("in the tiles of a TPU, the array takes more bytes than fit in an i64"),
        }
    }
}

error_in_const!(DefaultLayoutError);

impl ArrayShape {
    /// The same array in the layout that a TPU chooses by default, in the default memory space.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let shape: xla_shape_core::ArrayShape = "bf16[1,3072]".parse()?;
    /// let on_tpu = shape.with_tpu_layout(Generation::V5e)?;
    /// assert_eq!(on_tpu.to_string(), "bf16[1,3072]{1,0:T(2,128)(2,1)}");
    /// assert_eq!(on_tpu.byte_size(), Some(12_288));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`default_layout`].
    pub fn with_tpu_layout(self, generation: Generation) -> Result<Self, DefaultLayoutError> {
        let layout = default_layout(generation, self.element_type(), self.dimensions())?.layout();
        // `default_layout` has checked the number of bytes, so the layout is valid.
        self.with_layout(layout).map_err(|_: ValidationError| DefaultLayoutError::TooLarge)
    }
}

impl Shape {
    /// The same shape with every array in the layout that a TPU chooses by default.
    ///
    /// ```
    /// use xla_shape_core::tpu::Generation;
    ///
    /// let shape: xla_shape_core::Shape = "(f32[100,200], s4[], token[])".parse()?;
    /// let on_tpu = shape.with_tpu_layout(Generation::V6e)?;
    /// assert_eq!(on_tpu.to_string(), "(f32[100,200]{0,1:T(8,128)}, s4[]{:T(1024)E(4)}, token[])");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Same as [`default_layout`], for the first array that has none.
    pub fn with_tpu_layout(self, generation: Generation) -> Result<Self, DefaultLayoutError> {
        self.try_map_arrays(|array| array.with_tpu_layout(generation))
    }
}
