//! The blocks of arrays that a Pallas kernel works on: which blocks a TPU takes, and how much VMEM they need.

use super::Generation;
use super::default_layout::{DefaultLayout, DefaultLayoutError, Order, make, row_major_layout};
use super::format::LANES;
use super::order::{Pair, extent};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::array::ArrayShape;
use crate::sink::{Sink, error_in_const};

/// The size of a block's second to last dimension is a multiple of this, for every element type.
const ROWS: u64 = 8;

/// The size of a one-dimensional block is a multiple of this, unless it is a power of two.
const CHUNK: u64 = ROWS * LANES;

/// The number of copies in VMEM of a block that changes from step to step: the kernel works on one while the other is
/// transferred.
pub const DOUBLE_BUFFERED: u64 = 2;

/// The alignment of a kernel's buffers, in bytes.
const ALIGNMENT: u64 = 1024;

/// The memory that one block or scratch buffer takes.
///
/// ```
/// use xla_shape_core::tpu::{Block, Generation, InMemory, kernel_bytes};
///
/// let block = Block::new(Generation::V5e, &"f32[4096,1024]".parse()?, &"f32[8,128]".parse()?)?;
/// assert_eq!(block.in_memory(), InMemory { copies: 2, bytes: 4096 }, "one is copied while the other is used");
/// assert_eq!(kernel_bytes(&[block.in_memory()]), 8192);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct InMemory {
    /// The number of copies.
    pub copies: u64,
    /// The bytes of one copy.
    pub bytes: u64,
}

/// The bytes of VMEM that a kernel needs for its blocks and scratch buffers; [`u64::MAX`] if they do not fit in a
/// `u64`.
///
/// The compiler also needs VMEM for intermediate values that do not fit in registers: none for a sum of blocks, more
/// than a block for a softmax or a product of whole blocks.
///
/// ```
/// use xla_shape_core::tpu::{InMemory, kernel_bytes};
///
/// assert_eq!(kernel_bytes(&[InMemory { copies: 2, bytes: 512 }, InMemory { copies: 1, bytes: 512 }]), 2048);
/// ```
#[must_use]
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
pub const fn kernel_bytes(parts: &[InMemory]) -> u64 {
    let (mut sum, mut i) = (0_u64, 0_usize);
    while i < parts.len() {
        let bytes = parts[i].bytes.saturating_mul(parts[i].copies);
        sum = match bytes.checked_next_multiple_of(ALIGNMENT) {
            Some(bytes) => sum.saturating_add(bytes),
            None => return u64::MAX,
        };
        i += 1;
    }
    sum
}

/// A kernel's block of an array in VMEM, where the last dimension is the most minor one.
///
/// The rules are those of `_check_block_mappings` in `jax/_src/pallas/mosaic/lowering.py` of JAX 0.12. In a block of at
/// least two dimensions, the last size is a multiple of 128 or the array's size, and the one before is a multiple of 8
/// or the array's size. A one-dimensional block is the whole array, a multiple of 1024, or a power of two that fills a
/// row of 32-bit lanes. Pallas passes `pred` elements to kernels as `s32`.
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
/// assert_eq!(block.copies(), DOUBLE_BUFFERED);
/// assert_eq!(block.vmem_bytes(block.copies()), Some(2 * 104 * 1024 * 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Block {
    element_type: ElementType,
    layout: DefaultLayout,
    copies: u64,
}

impl Block {
    /// A block with the sizes of `block` of an array with the sizes of `array`. The layouts of both are ignored: the
    /// device chooses them.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(block.byte_size(), 128 * 1024 * 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If a TPU does not take such a block, or the layout for this element type is not known.
    pub const fn new(generation: Generation, array: &ArrayShape, block: &ArrayShape) -> Result<Self, BlockError> {
        let element_type = array.element_type();
        if !ElementType::same(element_type, block.element_type()) {
            return Err(BlockError::ElementTypes { array: element_type, block: block.element_type() });
        }
        if let Err(error) = check(element_type, array.dimensions(), block.dimensions()) {
            return Err(error);
        }
        let element_type = in_kernel(element_type);
        let copies = if is_whole(array.dimensions(), block.dimensions()) { 1 } else { DOUBLE_BUFFERED };
        match row_major_layout(generation, element_type, block.dimensions()) {
            Ok(layout) => Ok(Self { element_type, layout, copies }),
            Err(error) => Err(BlockError::Layout(error)),
        }
    }

    /// The element type in the kernel: the array's, except `s32` for `pred`.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"pred[64,128]".parse()?, &"pred[8,128]".parse()?)?;
    /// assert_eq!(block.element_type(), ElementType::S32);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn element_type(self) -> ElementType {
        self.element_type
    }

    /// The number of copies of the block in VMEM: one if it is the whole array, because it never changes, else
    /// [`DOUBLE_BUFFERED`]. A part that is the same in every step of the grid also has one copy, which this function
    /// cannot know.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(block.copies(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn copies(self) -> u64 {
        self.copies
    }

    /// The block's layout in VMEM.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(block.layout().to_string(), "{1,0:T(8,128)(2,1)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn layout(self) -> DefaultLayout {
        self.layout
    }

    /// The bytes of one copy of the block, including padding.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(block.byte_size(), 262_144);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn byte_size(self) -> u64 {
        self.layout.byte_size()
    }

    /// The memory that the block takes with its [`copies`](Self::copies).
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation, kernel_bytes};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(kernel_bytes(&[block.in_memory()]), 2 * 262_144);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn in_memory(self) -> InMemory {
        InMemory { copies: self.copies, bytes: self.byte_size() }
    }

    /// The bytes of this many copies; `None` if they do not fit in a `u64`.
    ///
    /// ```
    /// use xla_shape_core::tpu::{Block, Generation};
    ///
    /// let block = Block::new(Generation::V5e, &"bf16[4096,1024]".parse()?, &"bf16[128,1024]".parse()?)?;
    /// assert_eq!(block.vmem_bytes(3), Some(3 * 262_144));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn vmem_bytes(self, copies: u64) -> Option<u64> {
        self.byte_size().checked_mul(copies)
    }
}

/// The element type in a kernel (`BOOL_MEMREF_TYPE` in `jax/_src/pallas/mosaic/lowering.py` is `int32`).
const fn in_kernel(element_type: ElementType) -> ElementType {
    match element_type {
        ElementType::Pred => ElementType::S32,
        other => other,
    }
}

/// Whether a block, which has been checked, is the whole array.
const fn is_whole(array: &[Dimension], block: &[Dimension]) -> bool {
    let mut dimension = 0_usize;
    while dimension < block.len() {
        if extent(block, dimension) != extent(array, dimension) {
            return false;
        }
        dimension += 1;
    }
    true
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
        dimension += 1;
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

/// The smallest power of two that is a valid size of a one-dimensional block: a row of 32-bit lanes.
#[expect(clippy::arithmetic_side_effects, reason = "at most 128 * 32")]
const fn least_line(element_type: ElementType) -> u64 {
    match 32_u64.checked_div(in_kernel(element_type).bits()) {
        Some(packed) => LANES * packed,
        None => LANES,
    }
}

/// The bytes that a scratch buffer of a kernel takes in VMEM.
///
/// If the array's layout has tiles, they count. Otherwise the buffer has the device's tiles, in the array's order of
/// dimensions; `pred` elements are `s32`, as in Pallas, and elements of 4 bits take 8.
///
/// ```
/// use xla_shape_core::tpu::{Generation, vmem_bytes};
///
/// assert_eq!(vmem_bytes(Generation::V5e, &"f32[100,200]".parse()?)?, 104 * 256 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If a dimension is unbounded, or the array has no tiles and the device's tiles are not known.
///
/// # Panics
/// If the layout has more dimensions or tiles than a stride table in a `const` can hold.
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
    let element_type = in_kernel(array.element_type());
    match make(generation, element_type, array.dimensions(), Order::Given(minor)) {
        // The compiler packs elements of 4 bits only in blocks.
        #[expect(clippy::arithmetic_side_effects, reason = "the bytes of a default layout fit in an `i64`")]
        Ok(layout) if element_type.bits() == 4 => Ok(2 * layout.byte_size()),
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
        dimension += 1;
    }
    DefaultLayoutError::UnboundedDimension { dimension }
}

/// Why a kernel on a TPU cannot use a block of an array.
///
/// ```
/// use xla_shape_core::ElementType;
/// use xla_shape_core::tpu::{Block, BlockError, Generation};
///
/// let error = Block::new(Generation::V5e, &"f32[64,128]".parse()?, &"bf16[8,128]".parse()?).unwrap_err();
/// assert_eq!(error, BlockError::ElementTypes { array: ElementType::F32, block: ElementType::Bf16 });
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum BlockError {
    /// The block and the array have different element types.
    ElementTypes {
        /// The element type of the array.
        array: ElementType,
        /// The element type of the block.
        block: ElementType,
    },
    /// The block and the array have different numbers of dimensions.
    NumDimensions {
        /// How many the array has.
        array: usize,
        /// How many the block has.
        block: usize,
    },
    /// The block has no dimension.
    Scalar,
    /// The block has no elements.
    Empty {
        /// The first dimension of size 0.
        dimension: usize,
    },
    /// The last dimension or the one before is neither a multiple of the required number nor the array's.
    Dimension {
        /// The number of the dimension.
        dimension: usize,
        /// Its size in the block.
        found: u64,
        /// Its size in the array.
        whole: u64,
        /// The number that it must be a multiple of.
        multiple: u64,
    },
    /// A one-dimensional block has a size that a TPU does not take.
    Line {
        /// Its size.
        found: u64,
        /// The size of the array.
        whole: u64,
        /// The smallest power of two that a TPU takes.
        least: u64,
    },
    /// The layout of the block is not known.
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
