//! The rules for a valid layout that do not depend on an array. XLA states them in `xla/layout_util.cc`
//! (`LayoutUtil::ValidateLayoutForShape`) and, for attributes in text, in `xla/hlo/parser/hlo_parser.cc`.

use crate::layout::attribute::LayoutAttribute;
use crate::layout::error::ValidationError;
use crate::layout::number::{DimensionError, first_not_distinct, mark};
use crate::layout::tile::{Tile, TileDimension};
use crate::layout::{Layout, SplitConfig};
use crate::limits::{MAX_MEMORY_SPACE, MAX_SIZE};

type Check = Result<(), ValidationError>;

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn clear(seen: &mut [u64]) {
    let mut i = 0;
    while i < seen.len() {
        seen[i] = 0;
        i += 1;
    }
}

/// Checks the rules that do not depend on an array: rules 1, 2, 3 and 5 of `docs/layouts.md`, except the end of 5.
///
/// `seen` has a bit for each dimension, all clear.
pub(crate) const fn layout(layout: &Layout, seen: &mut [u64]) -> Check {
    let num_dimensions = layout.num_dimensions();
    if num_dimensions > seen.len() * 64 {
        panic!("a layout in a `const` has at most 1024 dimensions");
    }
    if let Err(error) = permutation(layout.minor_to_major(), seen) {
        return Err(error);
    }
    if let Err(error) = tiles(layout.tiles()) {
        return Err(error);
    }
    if let Err(error) = attributes(layout) {
        return Err(error);
    }
    clear(seen);
    split_configs(layout.split_configs(), num_dimensions, seen)
}

#[expect(clippy::indexing_slicing, reason = "`first_not_distinct` returns an index into the list")]
const fn permutation(minor_to_major: &[usize], seen: &mut [u64]) -> Check {
    let num_dimensions = minor_to_major.len();
    match first_not_distinct(minor_to_major, num_dimensions, seen) {
        None => Ok(()),
        Some((position, DimensionError::Duplicate { dimension })) => {
            Err(ValidationError::DuplicateDimensionNumber { position, dimension })
        }
        Some((position, _)) => {
            let dimension = minor_to_major[position];
            Err(ValidationError::DimensionNumberOutOfRange { position, dimension, num_dimensions })
        }
    }
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn tiles(tiles: &[Tile]) -> Check {
    let mut tile = 0;
    while tile < tiles.len() {
        let dimensions = tiles[tile].dimensions();
        if dimensions.is_empty() {
            return Err(ValidationError::EmptyTile { tile });
        }
        let mut position = 0;
        while position < dimensions.len() {
            match dimensions[position] {
                TileDimension::Size(0) => return Err(ValidationError::ZeroTileDimension { tile, position }),
                TileDimension::Size(size) if size > MAX_SIZE => {
                    return Err(ValidationError::TileDimensionTooLarge { tile, position, size });
                }
                TileDimension::Combine if position + 1 == dimensions.len() => {
                    return Err(ValidationError::TrailingCombine { tile, position });
                }
                TileDimension::Size(_) | TileDimension::Combine => {}
            }
            position += 1;
        }
        tile += 1;
    }
    Ok(())
}

const fn attributes(layout: &Layout) -> Check {
    if layout.tail_padding_alignment_in_elements() == 0 {
        return Err(ValidationError::ZeroTailPaddingAlignment);
    }
    if let Err(error) = memory_space(layout.memory_space() as u64) {
        return Err(error);
    }
    let mut rest = LayoutAttribute::NUMBERS;
    while let [attribute, others @ ..] = rest {
        match layout.number(*attribute) {
            Some(value) if value > MAX_SIZE => {
                return Err(ValidationError::AttributeTooLarge { attribute: *attribute, value });
            }
            _ => rest = others,
        }
    }
    Ok(())
}

pub(crate) const fn memory_space(memory_space: u64) -> Result<u8, ValidationError> {
    if memory_space > MAX_MEMORY_SPACE {
        return Err(ValidationError::MemorySpaceOutOfRange { memory_space });
    }
    Ok(memory_space as u8)
}

#[expect(clippy::indexing_slicing, reason = "`const fn` has no iterators; every index is below the length")]
const fn split_configs(splits: &[SplitConfig], num_dimensions: usize, seen: &mut [u64]) -> Check {
    let mut split = 0;
    while split < splits.len() {
        let dimension = splits[split].dimension();
        if dimension >= num_dimensions {
            return Err(ValidationError::SplitDimensionOutOfRange { split, dimension, num_dimensions });
        }
        if mark(seen, dimension) {
            return Err(ValidationError::DuplicateSplitDimension { split, dimension });
        }
        let indices = splits[split].split_indices();
        if indices.is_empty() {
            return Err(ValidationError::EmptySplit { split });
        }
        // A split at 0 would make an empty part, so the first index is above 0, like each index above the one before.
        let mut previous = 0;
        let mut position = 0;
        while position < indices.len() {
            let index = indices[position];
            if index <= previous {
                return Err(ValidationError::SplitIndexNotIncreasing { split, position, index, previous });
            }
            previous = index;
            position += 1;
        }
        split += 1;
    }
    Ok(())
}
