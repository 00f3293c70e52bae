//! Blocks of arrays that a kernel works on, as Pallas has them: which ones a TPU takes, and what they need in VMEM.

use super::Generation;
use super::default_layout::{DefaultLayout, DefaultLayoutError, Order, make, row_major_layout};
use super::format::LANES;
use super::order::{Pair, extent};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::array::ArrayShape;
use crate::sink::{Sink, error_in_const};

/// The rows that a block's second to last dimension is a multiple of, whatever the element type.
const ROWS: u64 = 8;

/// The elements that a block of one dimension is a multiple of, unless it is a power of two.
const CHUNK: u64 = ROWS.saturating_mul(LANES);

/// How many copies of a block whose place changes from step to step are in VMEM: the kernel works on one while the other is
/// copied.
pub const DOUBLE_BUFFERED: u64 = 2;

/// What a kernel's block of an array needs in VMEM, where the last dimension is the most minor one.
///
/// The rules are those of Pallas in JAX 0.12: if a block has at least two dimensions, the last one is a multiple of 128 or the
/// array's, the one before is a multiple of 8 or the array's; a block of one dimension is the array, a multiple of 1024, or a
/// power of two that fills a row of 32-bit lanes.
///
/// ```
/// use xla_shape_core::tpu::{Block, DOUBLE_BUFFERED, Generation};
/// use xla_shape_core::ArrayShape;
///
/// let array: ArrayShape = "bf16[4096,1000]".parse()?;
/// let block: ArrayShape = "bf16[100,1000]".parse()?;
/// let error = Block::new(Generation::V5e, &array, &block).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "dimension 0 of the block is 100 long; a TPU takes a multiple of 8, or all 4096 of the array"
/// );
/// let block: ArrayShape = "bf16[104,1000]".parse()?;
/// let block = Block::new(Generation::V5e, &array, &block)?;
/// assert_eq!(block.layout().to_string(), "{1,0:T(8,128)(2,1)}");
/// assert_eq!(block.byte_size(), 104 * 1024 * 2);
/// assert_eq!(block.vmem_bytes(DOUBLE_BUFFERED), Some(2 * 104 * 1024 * 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    layout: DefaultLayout,
}

impl Block {
    /// A block of an array. The layouts of both do not count: the array's is the device's, the block's follows from that.
    ///
    /// # Errors
    /// If a TPU does not take such a block, or the layout of such elements is not known.
    pub const fn new(generation: Generation, array: &ArrayShape, block: &ArrayShape) -> Result<Self, BlockError> {
        let element_type = array.element_type();
        if !ElementType::same(element_type, block.element_type()) {
            return Err(BlockError::ElementTypes { array: element_type, block: block.element_type() });
        }
        if let Err(error) = check(element_type, array.dimensions(), block.dimensions()) {
            return Err(error);
        }
        match row_major_layout(generation, element_type, block.dimensions()) {
            Ok(layout) => Ok(Self { layout }),
            Err(error) => Err(BlockError::Layout(error)),
        }
    }

    /// The block's layout in VMEM.
    #[must_use]
    pub const fn layout(self) -> DefaultLayout {
        self.layout
    }

    /// The bytes of one copy of the block, with padding.
    #[must_use]
    pub const fn byte_size(self) -> u64 {
        self.layout.byte_size()
    }

    /// The bytes of this many copies; `None` if they do not fit in a `u64`.
    #[must_use]
    pub const fn vmem_bytes(self, copies: u64) -> Option<u64> {
        self.byte_size().checked_mul(copies)
    }
}

const fn check(element_type: ElementType, array: &[Dimension], block: &[Dimension]) -> Result<(), BlockError> {
    if array.len() != block.len() {
        return Err(BlockError::NumDimensions { array: array.len(), block: block.len() });
    }
    let Some(last) = block.len().checked_sub(1) else { return Err(BlockError::Scalar) };
    let mut dimension = 0_usize;
    while dimension < block.len() {
        if is_unbounded(array, dimension) || is_unbounded(block, dimension) {
            return Err(BlockError::Layout(DefaultLayoutError::UnboundedDimension { dimension }));
        }
        if extent(block, dimension) == 0 {
            return Err(BlockError::Empty { dimension });
        }
        dimension = dimension.saturating_add(1);
    }
    let (found, whole) = (extent(block, last), extent(array, last));
    let Some(before) = last.checked_sub(1) else {
        let least = least_line(element_type);
        let fits = found == whole || found.is_multiple_of(CHUNK) || found >= least && found.is_power_of_two();
        return if fits { Ok(()) } else { Err(BlockError::Line { found, whole, least }) };
    };
    if found != whole && !found.is_multiple_of(LANES) {
        return Err(BlockError::Dimension { dimension: last, found, whole, multiple: LANES });
    }
    let (found, whole) = (extent(block, before), extent(array, before));
    if found != whole && !found.is_multiple_of(ROWS) {
        return Err(BlockError::Dimension { dimension: before, found, whole, multiple: ROWS });
    }
    Ok(())
}

/// The least power of two that a block of one dimension can be long: a row of 32-bit lanes. In a kernel, `pred` takes 32 bits.
const fn least_line(element_type: ElementType) -> u64 {
    let bits = match element_type {
        ElementType::Pred => 32,
        other => other.bits(),
    };
    match 32_u64.checked_div(bits) {
        Some(packed) => LANES.saturating_mul(packed),
        None => LANES,
    }
}

/// The bytes that an array takes in VMEM: as its layout says, or in the device's tiles, in its own order, if it has none.
///
/// # Errors
/// If a dimension is unbounded, or the array has no tiles and those of the device are not known.
///
/// # Panics
/// If the layout has more dimensions and tiles than a table in a `const` can hold.
pub const fn vmem_bytes(generation: Generation, array: &ArrayShape) -> Result<u64, DefaultLayoutError> {
    let layout = array.layout();
    if !layout.tiles().is_empty() {
        return match array.sizes_in_const() {
            Some(sizes) => Ok(sizes.bytes),
            None => Err(unbounded(array.dimensions())),
        };
    }
    let minor = match *layout.minor_to_major() {
        [] => Pair { lanes: 0, rows: 0 },
        [lanes] => Pair { lanes, rows: 0 },
        [lanes, rows, ..] => Pair { lanes, rows },
    };
    match make(generation, array.element_type(), array.dimensions(), Order::Given(minor)) {
        Ok(layout) => Ok(layout.byte_size()),
        Err(error) => Err(error),
    }
}

#[expect(clippy::indexing_slicing, reason = "the callers count dimensions up to the length")]
const fn is_unbounded(dimensions: &[Dimension], dimension: usize) -> bool {
    dimensions[dimension].extent().is_none()
}

/// The error about the first unbounded dimension.
const fn unbounded(dimensions: &[Dimension]) -> DefaultLayoutError {
    let mut dimension = 0_usize;
    while dimension < dimensions.len() && !is_unbounded(dimensions, dimension) {
        dimension = dimension.saturating_add(1);
    }
    DefaultLayoutError::UnboundedDimension { dimension }
}

/// Why a kernel on a TPU cannot have a block of an array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BlockError {
    /// The block has other elements than its array.
    ElementTypes {
        /// The element type of the array.
        array: ElementType,
        /// That of the block.
        block: ElementType,
    },
    /// The block does not have as many dimensions as its array.
    NumDimensions {
        /// How many the array has.
        array: usize,
        /// How many the block has.
        block: usize,
    },
    /// A block has a dimension.
    Scalar,
    /// A block has elements.
    Empty {
        /// The first dimension of size 0.
        dimension: usize,
    },
    /// The last dimension, or the one before, is neither a multiple nor the whole of the array.
    Dimension {
        /// The number of the dimension.
        dimension: usize,
        /// Its size in the block.
        found: u64,
        /// Its size in the array.
        whole: u64,
        /// What it would be a multiple of.
        multiple: u64,
    },
    /// A block of one dimension has none of the sizes that a TPU takes.
    Line {
        /// Its size.
        found: u64,
        /// That of the array.
        whole: u64,
        /// The least power of two that is taken.
        least: u64,
    },
    /// How such elements are laid out is not known.
    Layout(DefaultLayoutError),
}

impl BlockError {
    const fn write(self, sink: &mut Sink<'_>) {
        match self {
            Self::ElementTypes { array, block } => {
                sink.text("expected a block of ");
                sink.text(array.name());
                sink.text(" elements, as its array has, found ");
                sink.text(block.name());
            }
            Self::NumDimensions { array, block } => {
                sink.text("expected a block with as many dimensions as the array, ");
                sink.count(array);
                sink.text(", found ");
                sink.count(block);
            }
            Self::Scalar => sink.text("a block has at least one dimension; kernels take scalars in SMEM"),
            Self::Empty { dimension } => {
                sink.text("dimension ");
                sink.count(dimension);
                sink.text(" of the block has no elements");
            }
            Self::Dimension { dimension, found, whole, multiple } => {
                sink.text("dimension ");
                sink.count(dimension);
                sink.text(" of the block is ");
                sink.number(found);
                sink.text(" long; a TPU takes a multiple of ");
                sink.number(multiple);
                sink.text(", or all ");
                sink.number(whole);
                sink.text(" of the array");
            }
            Self::Line { found, whole, least } => {
                sink.text("the block is ");
                sink.number(found);
                sink.text(" long; a TPU takes a multiple of ");
                sink.number(CHUNK);
                sink.text(", a power of two from ");
                sink.number(least);
                sink.text(" on, or all ");
                sink.number(whole);
                sink.text(" of the array");
            }
            Self::Layout(error) => error.write(sink),
        }
    }
}

error_in_const!(BlockError);
