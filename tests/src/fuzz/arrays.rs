//! Makes small arrays from arbitrary bytes.

use crate::reference::ReferenceShape;
use arbitrary::{Arbitrary, Unstructured};
use xla_shape::ElementType;

/// The most positions that an array may have, so that all can be checked.
const MAX_POSITIONS: u64 = 512;

/// Any element type.
pub(super) fn element_type(input: &mut Unstructured<'_>) -> arbitrary::Result<ElementType> {
    input.choose(ElementType::ALL).copied()
}

/// The sizes of up to six dimensions.
pub(super) fn sizes(input: &mut Unstructured<'_>) -> arbitrary::Result<Vec<u64>> {
    (0..input.int_in_range(0..=6_u64)?).map(|_| input.int_in_range(0..=20_u64)).collect()
}

/// An array of these sizes in any order and tiling, if it has few positions.
pub(super) fn shape(
    input: &mut Unstructured<'_>,
    sizes: Vec<u64>,
    element_bits: u64,
) -> arbitrary::Result<ReferenceShape> {
    let mut left: Vec<usize> = (0..sizes.len()).collect();
    let mut minor_to_major = Vec::new();
    while !left.is_empty() {
        minor_to_major.push(left.remove(input.choose_index(left.len())?));
    }
    let tiles = (0..input.int_in_range(0..=3)?)
        .map(|_| {
            let mut tile = (0..input.int_in_range(0..=4)?)
                .map(|_| Ok(Some(input.int_in_range(0..=12_u64)?).filter(|&size| size > 0)))
                .collect::<arbitrary::Result<Vec<_>>>()?;
            tile.push(Some(input.int_in_range(1..=16)?));
            Ok(tile)
        })
        .collect::<arbitrary::Result<Vec<_>>>()?;
    let tail_alignment = if bool::arbitrary(input)? { 1 } else { input.int_in_range(1..=64)? };
    let prefix = if bool::arbitrary(input)? { 0 } else { input.int_in_range(1..=64)? };
    let shape = ReferenceShape { sizes, minor_to_major, tiles, tail_alignment, element_bits, prefix };
    let is_small = shape.sizes.iter().product::<u64>() <= MAX_POSITIONS && shape.physical_elements() <= MAX_POSITIONS;
    if is_small { Ok(shape) } else { Err(arbitrary::Error::IncorrectFormat) }
}
