//! Sections: some indices of an array are fixed, and the other dimensions are an array in the same memory.

#![expect(
    clippy::indexing_slicing,
    reason = "`const fn` has no iterators; indices are below lengths, which are compared first"
)]

use super::slice::{NO_BLOCK_TILES, has_block_tiles};
use crate::layout::Layout;
use crate::map::section::fixed_before;
use crate::shape::array::ArrayShape;
use crate::sink::ConstText;

/// Why `section` is not the shape of the elements of an array whose indices in some dimensions are fixed; `None` if it is: it has the other
/// dimensions in the same order in memory, with the same tiles. Its sizes may be smaller.
///
/// No fixed dimension may be in a tile, so that a section consists of whole tiles.
///
/// ```
/// use xla_shape_core::ArrayShape;
/// use xla_shape_core::bitcast::section_obstacle;
///
/// let x: ArrayShape = "f32[4,64,256]{2,1,0:T(8,128)}".parse()?;
/// assert!(section_obstacle(&x, &"f32[64,256]{1,0:T(8,128)}".parse()?, &[true, false, false]).is_none());
/// assert_eq!(
///     section_obstacle(&x, &"f32[4,256]{1,0:T(8,128)}".parse()?, &[false, true, false]).unwrap().as_str(),
///     "f32[4,256]{1,0:T(8,128)} is not a section of f32[4,64,256]{2,1,0:T(8,128)}: dimension 1 is in the tiles; expected an index \
///      only in dimensions that are not"
/// );
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[must_use]
pub const fn section_obstacle(array: &ArrayShape, section: &ArrayShape, is_fixed: &[bool]) -> Option<ConstText<1024>> {
    let text = ConstText::new().push_str(section.const_text::<400>().as_str()).push_str(" is not a section of ");
    let text = text.push_str(array.const_text::<400>().as_str()).push_str(": ");
    let (own, other) = (array.layout(), section.layout());
    if !same_tiles_and_attributes(own, other) {
        return Some(text.push_str("expected the same tiles, memory space and other attributes of the layout"));
    }
    if !has_block_tiles(own) {
        return Some(text.push_str(NO_BLOCK_TILES));
    }
    // The most minor dimensions are in the tiles.
    let in_tiles = match own.tiles() {
        [] => 0,
        [first, ..] => first.dimensions().len(),
    };
    let (order, mut minor, mut left) = (own.minor_to_major(), 0, 0);
    let (mut expected, mut same) = (ConstText::<64>::new().push_str("{"), true);
    while minor < order.len() {
        let dimension = order[minor];
        if dimension < is_fixed.len() && is_fixed[dimension] {
            if minor < in_tiles {
                let text = text.push_str("dimension ").push_count(dimension);
                return Some(text.push_str(" is in the tiles; expected an index only in dimensions that are not"));
            }
        } else {
            let number = dimension - fixed_before(dimension, is_fixed);
            same = same && left < other.minor_to_major().len() && other.minor_to_major()[left] == number;
            expected = expected.push_str(if left > 0 { "," } else { "" }).push_count(number);
            left += 1;
        }
        minor += 1;
    }
    if same && left == other.minor_to_major().len() {
        return None;
    }
    let text = text.push_str("expected the order ").push_str(expected.push_str("}").as_str());
    Some(text.push_str(" of the dimensions that are left"))
}

/// Whether two layouts have the same tiles and attributes. `false` for split layouts, which have no sections.
const fn same_tiles_and_attributes(a: &Layout, b: &Layout) -> bool {
    let mut same = a.tiles().len() == b.tiles().len()
        && a.same_numbers(b)
        && a.split_configs().is_empty()
        && b.split_configs().is_empty();
    let mut i = 0;
    while i < a.tiles().len() && same {
        same = a.tiles()[i].equals(&b.tiles()[i]);
        i += 1;
    }
    same
}
