//! Which tiles a TPU uses for elements of a type.

use super::format::{Family, Format, LANES};
use crate::element_type::ElementType;
use crate::layout::Layout;
use crate::layout::tile::{Tile, TileDimension};
use crate::sink::ConstText;

/// Says that no TPU uses the tiles of a layout for elements of this type, and which ones it uses; `None` if a TPU may use them, or if it is not
/// known.
///
/// It judges only tiles of two dimensions with 128 columns: rows of narrow elements share 32-bit words (`(2,1)` for 16 bits, `(4,1)` for 8), and
/// rows of 32-bit elements do not. For other tiles, and for layouts without tiles, the result is `None`. No layout of `docs/tpu-formats.md`, and
/// none of the compiled programs in the tests, is refused.
///
/// ```
/// use xla_shape_core::tpu::unused_tiles;
/// use xla_shape_core::{ElementType, Layout};
///
/// let unused = |element_type, layout: &str| unused_tiles(element_type, &layout.parse::<Layout>().unwrap());
/// assert!(unused(ElementType::S8, "{1,0:T(8,128)(4,1)}").is_none());
/// assert_eq!(
///     unused(ElementType::S8, "{1,0:T(8,128)}").unwrap().as_str(),
///     "no TPU uses the tiles (8,128) for s8: 4 rows share a 32-bit word there, expected (8,128)(4,1)"
/// );
/// assert_eq!(
///     unused(ElementType::F32, "{1,0:T(8,128)(2,1)}").unwrap().as_str(),
///     "no TPU uses the tiles (8,128)(2,1) for f32: rows do not share 32-bit words there, expected (8,128)"
/// );
/// ```
#[must_use]
pub const fn unused_tiles(element_type: ElementType, layout: &Layout) -> Option<ConstText<256>> {
    let (rows, found) = match layout.tiles() {
        [first] => match pair(first) {
            Some((rows, LANES)) => (rows, 1),
            _ => return None,
        },
        [first, second] => match (pair(first), pair(second)) {
            (Some((rows, LANES)), Some((packed, 1))) => (rows, packed),
            _ => return None,
        },
        _ => return None,
    };
    let (Some(old), Some(new)) = (Format::new(Family::V2, element_type), Format::new(Family::V4, element_type)) else {
        return None;
    };
    let (least, most) = if old.packed_rows < new.packed_rows {
        (old.packed_rows, new.packed_rows)
    } else {
        (new.packed_rows, old.packed_rows)
    };
    if found <= most && (found > 1 || least == 1) {
        return None;
    }
    let tiles = ConstText::<64>::new().push_str("(").push_number(rows).push_str(",").push_number(LANES).push_str(")");
    let text = ConstText::new().push_str("no TPU uses the tiles ");
    let text = with_packing(text, tiles.as_str(), found).push_str(" for ").push_str(element_type.name()).push_str(": ");
    let text = if new.packed_rows == 1 {
        text.push_str("rows do not share 32-bit words there")
    } else {
        text.push_number(new.packed_rows).push_str(" rows share a 32-bit word there")
    };
    Some(with_packing(text.push_str(", expected "), tiles.as_str(), new.packed_rows))
}

const fn with_packing(text: ConstText<256>, tiles: &str, packed: u64) -> ConstText<256> {
    let text = text.push_str(tiles);
    if packed == 1 { text } else { text.push_str("(").push_number(packed).push_str(",1)") }
}

/// The sizes of a tile of two dimensions.
const fn pair(tile: &Tile) -> Option<(u64, u64)> {
    match tile.dimensions() {
        [TileDimension::Size(rows), TileDimension::Size(columns)] => Some((*rows, *columns)),
        _ => None,
    }
}
