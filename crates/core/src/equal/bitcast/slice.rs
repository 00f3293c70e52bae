//! Slices that are contiguous in the array's memory.

#![expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "`const fn` has no iterators; indices are below lengths, and `infer::slice` has checked that the slice is inside the array"
)]

use crate::infer::{self, SliceDimension};
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::limits::MAX_CONST_DIMENSIONS as MAX;
use crate::map::tile_block::{TileBlock, TileBlockError};
use crate::shape::array::ArrayShape;
use crate::sink::ConstText;

/// Why the slice of these sizes that begins at `starts` is not contiguous in the array's memory; `None` if it is. A
/// contiguous slice is an array with the same layout, and no element moves.
///
/// The slice must consist of whole tiles. These are contiguous if, from minor to major, some dimensions are taken
/// whole, the next one may be taken in part, and all others take one tile.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::slice_obstacle;
///
/// let x: ArrayShape = "f32[64,256]{1,0:T(8,128)}".parse()?;
/// assert!(slice_obstacle(&x, &[16, 0], &[8, 256]).is_none());
/// assert_eq!(
///     slice_obstacle(&x, &[20, 0], &[8, 256]).unwrap().as_str(),
///     "the slice from (20,0) to (28,256) is not one piece of the memory of f32[64,256]{1,0:T(8,128)}: dimension 0 begins \
///      inside a tile of 8"
/// );
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub const fn slice_obstacle(operand: &ArrayShape, starts: &[u64], sizes: &[u64]) -> Option<ConstText<1024>> {
    let n = operand.num_dimensions();
    if n > MAX {
        let text = ConstText::new().push_str("expected an array of at most ").push_count(MAX);
        return Some(text.push_str(" dimensions to slice, found one of ").push_count(n));
    }
    if starts.len() != n || sizes.len() != n {
        let text = ConstText::new().push_str("expected ").push_count(n).push_str(" starts and ").push_count(n);
        let text = text.push_str(" sizes, one for each dimension, found ").push_count(starts.len()).push_str(" and ");
        return Some(text.push_count(sizes.len()));
    }
    let mut slices = [SliceDimension { start: 0, limit: 0, stride: 1 }; MAX];
    let mut i = 0;
    while i < n {
        // If the limit saturates, it is out of bounds, and `infer::slice` refuses it below.
        slices[i] = SliceDimension { start: starts[i], limit: starts[i].saturating_add(sizes[i]), stride: 1 };
        i += 1;
    }
    let slices = slices.split_at(n).0;
    let why = is_not_one_piece(operand, slices);
    let mut result = [Dimension::Unbounded; MAX];
    if let Err(error) = infer::slice(operand.dimensions(), slices, result.split_at_mut(n).0) {
        return Some(why.push_error(error));
    }
    let layout = operand.layout();
    if !has_block_tiles(layout) {
        return Some(why.push_str(NO_BLOCK_TILES));
    }
    if !layout.has_only_positions() || !layout.split_configs().is_empty() {
        return Some(why.push_str("only the whole array has a prefix, splits and padding at its end"));
    }
    // The loop goes from minor to major. `whole`: whether the slice has all indices of every more minor dimension.
    let mut whole = true;
    let mut minor = 0;
    while minor < n {
        let dimension = layout.minor_to_major()[minor];
        let (tile, size, start) = (layout.tile_size(dimension), sizes[dimension], starts[dimension]);
        let text = why.push_str("dimension ").push_count(dimension);
        let Dimension::Static(all) = operand.dimensions()[dimension] else {
            return Some(text.push_str(" has a size that is known only at run time"));
        };
        if !start.is_multiple_of(tile) {
            return Some(text.push_str(" begins inside a tile of ").push_number(tile));
        }
        if start + size != all && !(start + size).is_multiple_of(tile) {
            return Some(text.push_str(" ends inside a tile of ").push_number(tile));
        }
        if !whole && size.div_ceil(tile) > 1 {
            return Some(text.push_str(" takes several tiles, but a more minor dimension is not taken whole"));
        }
        whole = whole && size == all;
        minor += 1;
    }
    None
}

/// Whether each tile is one block of memory, so that parts of the array can be made of whole tiles.
pub(super) const fn has_block_tiles(layout: &Layout) -> bool {
    matches!(TileBlock::new(layout), Ok(_) | Err(TileBlockError::Untiled))
}

/// The message for a layout whose tiles are not [blocks of memory](has_block_tiles).
pub(super) const NO_BLOCK_TILES: &str = "a tile of this layout is not one block of memory";

/// The beginning of the message.
const fn is_not_one_piece(operand: &ArrayShape, slices: &[SliceDimension]) -> ConstText<1024> {
    let mut from = ConstText::<256>::new();
    let mut to = ConstText::<256>::new();
    let mut i = 0;
    while i < slices.len() {
        let comma = if i > 0 { "," } else { "" };
        from = from.push_str(comma).push_number(slices[i].start);
        to = to.push_str(comma).push_number(slices[i].limit);
        i += 1;
    }
    let text = ConstText::new().push_str("the slice from (").push_str(from.as_str()).push_str(") to (");
    let text = text.push_str(to.as_str()).push_str(") is not one piece of the memory of ");
    text.push_str(operand.const_text::<256>().as_str()).push_str(": ")
}
