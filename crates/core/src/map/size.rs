//! How much memory an array takes: elements, padding, bits and bytes. All arithmetic is checked for overflow.

use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::layout::error::ValidationError;
use crate::layout::tile::TileDimension;
use crate::limits::MAX_SIZE;
use crate::list::Blank;
use crate::map::{BuildError, Digit, Extents, Workspace, build, capacity_for_sizes};
use alloc::vec;

/// Storage for the digits of a tiled layout.
pub(crate) type Scratch<'a> = Workspace<'a>;

/// The most digits that are kept on the stack; few layouts have more and need the heap.
const STACK_DIGITS: usize = 16;

/// Calls `f` with storage for the digits of `layout`.
#[inline]
pub(crate) fn with_scratch<R>(layout: &Layout, f: impl FnOnce(Scratch<'_>) -> R) -> R {
    if layout.tiles().is_empty() && layout.split_configs().is_empty() {
        return f(Workspace { digits: &mut [Digit::BLANK; 0], intermediates: None });
    }
    let capacity = capacity_for_sizes(layout);
    if capacity <= STACK_DIGITS {
        return f(Workspace { digits: &mut [Digit::BLANK; STACK_DIGITS], intermediates: None });
    }
    f(Workspace { digits: &mut vec![Digit::BLANK; capacity], intermediates: None })
}

/// The product of the sizes and bounds, without unbounded dimensions.
///
/// As in XLA (`xla/shape_util.cc`), the product is computed from dimension 0 on, and no partial product may overflow. So an
/// overflow before a size of 0 is an error, although the product would be 0.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
#[inline]
pub(crate) const fn elements(dimensions: &[Dimension]) -> Result<u64, ValidationError> {
    let mut product = 1_u64;
    let mut i = 0;
    while i < dimensions.len() {
        if let Some(extent) = dimensions[i].extent() {
            product = match product.checked_mul(extent) {
                Some(product) if product <= MAX_SIZE => product,
                _ => return Err(ValidationError::ElementCountOverflow),
            };
        }
        i += 1;
    }
    Ok(product)
}

/// The number of positions, padding included. Split dimensions count with their largest pieces.
#[inline]
pub(crate) const fn physical_elements(
    dimensions: &[Dimension],
    layout: &Layout,
    scratch: Scratch<'_>,
) -> Result<u64, ValidationError> {
    let positions = if layout.tiles().is_empty() && layout.split_configs().is_empty() {
        match elements(dimensions) {
            Ok(elements) => elements,
            Err(error) => return Err(error),
        }
    // Padding only adds positions: if the elements alone overflow, report that, whatever the tiles are.
    } else if let Err(error) = elements(dimensions) {
        return Err(error);
    } else {
        match build(Extents::LargestPieces(dimensions), layout, scratch) {
            Ok(built) => built.positions,
            Err(BuildError::Overflow) => return Err(ValidationError::PaddedElementCountOverflow),
            Err(BuildError::TooManyDigits | BuildError::TooManyIntermediates | BuildError::CombinesUnknown) => {
                panic!("the layout has too many dimensions and tiles for a `const`")
            }
        }
    };
    with_tail_padding(positions, layout)
}

/// The positions of tiles, rounded up to the tail padding alignment.
pub(crate) const fn with_tail_padding(positions: u64, layout: &Layout) -> Result<u64, ValidationError> {
    match positions.checked_next_multiple_of(layout.tail_padding_alignment_in_elements()) {
        Some(elements) if elements <= MAX_SIZE => Ok(elements),
        _ => Err(ValidationError::PaddedElementCountOverflow),
    }
}

/// The bits that one element takes.
pub(crate) const fn element_bits(element_type: ElementType, layout: &Layout) -> u64 {
    match layout.element_size_in_bits() {
        0 => element_type.storage_bits(),
        bits => bits,
    }
}

/// Checks that elements and bytes fit in an `i64`, without padding and, if every dimension has an extent, with it.
#[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
pub(crate) const fn check(
    element_type: ElementType,
    dimensions: &[Dimension],
    layout: &Layout,
    scratch: Scratch<'_>,
) -> Result<(), ValidationError> {
    // The bound suffices for nearly all arrays, and needs no stride table.
    if surely_fits(element_type, dimensions, layout) {
        return Ok(());
    }
    match elements(dimensions) {
        Ok(elements) if elements as u128 * element_type.storage_bytes() as u128 > MAX_SIZE as u128 => {
            Err(ValidationError::ByteCountOverflow)
        }
        Ok(_) if is_unbounded(dimensions) => Ok(()),
        Ok(_) => match bytes(element_type, dimensions, layout, scratch) {
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        },
        Err(error) => Err(error),
    }
}

/// Whether an upper bound of the elements and bytes fits in an `i64`, so that the exact numbers need not be computed.
///
/// A tile enlarges an array at most by the product of its entries.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below a length")]
#[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
#[inline]
pub(crate) const fn surely_fits(element_type: ElementType, dimensions: &[Dimension], layout: &Layout) -> bool {
    let mut bound = 1_u64;
    let mut i = 0;
    while i < dimensions.len() {
        // A size of 0 counts as 1: the product of the others may overflow, and only the exact computation decides whether it does.
        if let Some(extent @ 1..) = dimensions[i].extent() {
            bound = bound.saturating_mul(extent);
        }
        i += 1;
    }
    // An entry `t` rounds a size `n` up to a multiple of `t`, which is at most `n * t`.
    let tiles = layout.tiles();
    let mut tile = 0;
    while tile < tiles.len() {
        let entries = tiles[tile].dimensions();
        let mut i = 0;
        while i < entries.len() {
            if let TileDimension::Size(size) = entries[i] {
                bound = bound.saturating_mul(size);
            }
            i += 1;
        }
        tile += 1;
    }
    let bound = bound.saturating_add(layout.tail_padding_alignment_in_elements());
    let own = element_type.storage_bits();
    let bits = if layout.element_size_in_bits() > own { layout.element_size_in_bits() } else { own };
    let bytes = bound as u128 * bits as u128 / 8;
    bound < MAX_SIZE && bytes + (layout.dynamic_shape_metadata_prefix_bytes() as u128) < MAX_SIZE as u128
}

/// Whether a dimension has neither a size nor a bound.
#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
pub(crate) const fn is_unbounded(dimensions: &[Dimension]) -> bool {
    let mut i = 0;
    while i < dimensions.len() {
        if dimensions[i].extent().is_none() {
            return true;
        }
        i += 1;
    }
    false
}

/// The bytes that the array takes in memory, with padding and with the prefix for bounded dimensions.
#[inline]
pub(crate) const fn bytes(
    element_type: ElementType,
    dimensions: &[Dimension],
    layout: &Layout,
    scratch: Scratch<'_>,
) -> Result<u64, ValidationError> {
    match physical_elements(dimensions, layout, scratch) {
        Ok(physical) => bytes_of(element_type, physical, layout),
        Err(error) => Err(error),
    }
}

/// The bytes of this many physical elements, plus the prefix for bounded dimensions.
#[expect(clippy::arithmetic_side_effects, reason = "a product of two `u64` fits in a `u128`")]
#[inline]
pub(crate) const fn bytes_of(
    element_type: ElementType,
    physical: u64,
    layout: &Layout,
) -> Result<u64, ValidationError> {
    let data = (physical as u128 * element_bits(element_type, layout) as u128).div_ceil(8);
    let bytes = data + layout.dynamic_shape_metadata_prefix_bytes() as u128;
    if bytes > MAX_SIZE as u128 {
        return Err(ValidationError::PaddedByteCountOverflow);
    }
    Ok(bytes as u64)
}
