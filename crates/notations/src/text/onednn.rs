//! oneDNN's blocked formats: a tag such as `aBc16b`, and the sizes of the dimensions.
//!
//! The letters are the dimensions, major to minor. A capital letter is a dimension that is cut into blocks; the blocks follow, the outermost first.
//! The text has the form of oneDNN's verbose output, with the sizes after it: `f32::blocked:aBc16b::f0 2x32x7`. The type, and what is around the
//! tag, may be left out. Sizes are padded to whole blocks. oneDNN itself names only some of these tags; the others stand for blocked descriptors
//! without a name.

use super::spelling::element_type;
use super::strided::type_name;
use crate::layout::AnyLayout;
use crate::modes::tiles::{nested, with_all};
use crate::modes::{Mode, Modes};
use crate::reader::{Reader, Result, error_at, obstacle_of_all, unknown_type};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use xla_shape_core::sorting::sort_by_key;

/// The most dimensions of an array in oneDNN (`DNNL_MAX_NDIMS`).
const MAX_DIMENSIONS: usize = 12;

fn letter(dimension: usize) -> char {
    char::from(b'a'.saturating_add(u8::try_from(dimension).unwrap_or(u8::MAX)))
}

/// The text of a layout.
pub(crate) fn to_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Onednn;
    let map = layout.modes_in(notation)?;
    let num_dimensions = map.extents().len();
    if num_dimensions > MAX_DIMENSIONS || num_dimensions == 0 {
        return Err(Obstacle::Dimensions { notation, most: MAX_DIMENSIONS, found: num_dimensions });
    }
    let name = type_name(layout, notation)?;
    let nested = nested(map, notation)?;
    let items = nested.items.as_slice();
    let hole = || match map.first_hole() {
        Some(position) => Obstacle::Hole { notation, position },
        None => Obstacle::Intricate { index: nested.first_inside(map) },
    };
    if !nested.has_only_tiles() {
        return Err(hole());
    }
    // The letters at the beginning of the tag are the outermost parts, up to the first part that repeats a dimension or has padding.
    let mut outer: Vec<usize> = Vec::new();
    for item in items {
        if outer.contains(&item.dimension) || item.room != item.size {
            break;
        }
        outer.push(item.dimension);
    }
    let inner = items.get(outer.len()..).unwrap_or(&[]);
    let is_blocked = |dimension: usize| inner.iter().any(|item| item.dimension == dimension);
    let case = |dimension: usize| {
        if is_blocked(dimension) { letter(dimension).to_ascii_uppercase() } else { letter(dimension) }
    };
    let mut tag = with_all(&outer, num_dimensions).into_iter().map(case).collect::<String>();
    for item in inner {
        tag.push_str(&format!("{}{}", item.room, letter(item.dimension)));
    }
    let sizes = map.extents().iter().map(ToString::to_string).collect::<Vec<_>>().join("x");
    let text = format!("{name}::blocked:{tag}::f0 {sizes}");
    // Read the text back, to be sure that it describes this map.
    match from_text(&text).ok().and_then(|back| back.first_moved(layout).ok()) {
        Some(None) => Ok(text),
        Some(index) if map.first_hole().is_none() => Err(Obstacle::Intricate { index }),
        _ => Err(hole()),
    }
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<AnyLayout> {
    let mut reader = Reader::new(text);
    let mut found = None;
    let mut start = reader.at();
    let mut tag = reader.word();
    if reader.take("::") {
        found = Some(element_type(tag, Notation::Onednn).ok_or_else(|| unknown_type(tag, start))?);
        reader.all("blocked", "`blocked:` and a tag")?;
        reader.character(':')?;
        start = reader.at();
        tag = reader.word();
        reader.all("::", "`::f0`")?;
        reader.all("f0", "`f0`: other flags say what is not in the tag")?;
    }
    let mut sizes = Vec::new();
    let at_sizes = reader;
    loop {
        sizes.push(reader.number("the size of a dimension")?);
        if !reader.take("x") {
            break;
        }
    }
    reader.end("`x` and a size, or the end of the text")?;
    // A tag has letters, then a number and a letter for each block.
    let mut outer: Vec<usize> = Vec::new();
    let mut blocked: Vec<usize> = Vec::new();
    let mut blocks: Vec<(usize, u64)> = Vec::new();
    let mut at = start;
    let mut number: Option<u64> = None;
    for c in tag.chars() {
        if let Some(digit) = c.to_digit(10) {
            let next = number.unwrap_or(0).checked_mul(10).and_then(|number| number.checked_add(u64::from(digit)));
            number = Some(
                next.filter(|&size| crate::reader::fits(size))
                    .ok_or_else(|| error_at(text, at, "a block that fits in an i64"))?,
            );
        } else {
            let dimension =
                usize::try_from(u32::from(c.to_ascii_lowercase())).unwrap_or(0).checked_sub(usize::from(b'a'));
            let dimension = dimension.filter(|&dimension| dimension < sizes.len());
            let Some(dimension) = dimension else {
                return Err(error_at(text, at, "the letter of a dimension that has a size"));
            };
            match number.take() {
                Some(0) => return Err(error_at(text, at, "a block of at least 1")),
                Some(size) if c.is_ascii_lowercase() && blocked.contains(&dimension) => blocks.push((dimension, size)),
                Some(_) => return Err(error_at(text, at, "the small letter of a dimension with a capital")),
                None if !blocks.is_empty() || outer.contains(&dimension) => {
                    return Err(error_at(text, at, "every dimension once, then blocks"));
                }
                None => {
                    outer.push(dimension);
                    if c.is_ascii_uppercase() {
                        blocked.push(dimension);
                    }
                }
            }
        }
        at += c.len_utf8();
    }
    if number.is_some() {
        return Err(error_at(text, at, "the letter of the block"));
    }
    if let Some(&dimension) = blocked.iter().find(|&dimension| !blocks.iter().any(|(other, _)| other == dimension)) {
        let place = outer.iter().position(|&other| other == dimension).unwrap_or(0);
        return Err(error_at(text, start + place, "a small letter: no block follows"));
    }
    if outer.len() != sizes.len() {
        return Err(at_sizes.expected("as many sizes as letters"));
    }
    map(&sizes, &outer, &blocks)
        .map(|modes| AnyLayout::of_modes(modes, found))
        .map_err(|obstacle| obstacle_of_all(obstacle, text))
}

/// The map for these letters (`outer`) and blocks.
fn map(sizes: &[u64], outer: &[usize], blocks: &[(usize, u64)]) -> core::result::Result<Modes, Obstacle> {
    let mut divisors = alloc::vec![1_u64; sizes.len()];
    let mut modes = Vec::new();
    let mut stride = 1_i64;
    let counts = outer.iter().map(|&dimension| (dimension, None));
    for (dimension, block) in counts.chain(blocks.iter().map(|&(dimension, size)| (dimension, Some(size)))).rev() {
        let extent = sizes.get(dimension).copied().unwrap_or(0);
        let Some(divisor) = divisors.get_mut(dimension) else { continue };
        let size = block.unwrap_or_else(|| extent.div_ceil(*divisor));
        modes.push(Mode { dimension, divisor: *divisor, size, stride });
        *divisor =
            divisor.checked_mul(size).filter(|&d| crate::reader::fits(d)).unwrap_or(xla_shape_core::limits::MAX_SIZE);
        let elements = i64::try_from(size.max(1)).map_err(|_| Obstacle::TooLarge)?;
        stride = stride.checked_mul(elements).ok_or(Obstacle::TooLarge)?;
    }
    sort_by_key(&mut modes, |mode| (mode.dimension, mode.divisor));
    modes.retain(|mode| mode.size > 1);
    Modes::of_modes(sizes.to_vec(), modes, 0)
}
