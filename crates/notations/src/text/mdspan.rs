//! The layout mappings of C++'s `mdspan`: `layout_left`, `layout_right`, `layout_stride`, and the padded ones of C++26.
//!
//! The text is a C++ expression that constructs the mapping. The preconditions of `layout_stride` demand that no elements share a position and that
//! strides are above 0.

use super::strided::{dense, is_dense, strides};
use crate::layout::AnyLayout;
use crate::modes::Modes;
use crate::modes::sharing::Sharing;
use crate::modes::tiles::positive;
use crate::reader::{Reader, Result, obstacle_of_all};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// The text of a layout.
pub(crate) fn to_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Mdspan;
    let map = layout.modes_in(notation)?;
    let strides = strides(map)?;
    positive(map, notation)?;
    if let Sharing::Overlaps { index, with, position } = map.sharing() {
        return Err(Obstacle::Overlap { notation, index, with, position });
    }
    let sizes = map.extents();
    let rank = sizes.len();
    let list = sizes.iter().map(|size| format!(", {size}")).collect::<String>();
    let extents = format!("std::extents<std::size_t{list}>");
    if is_dense(map, 0..rank) {
        return Ok(format!("std::layout_right::mapping<{extents}>()"));
    }
    if is_dense(map, (0..rank).rev()) {
        return Ok(format!("std::layout_left::mapping<{extents}>()"));
    }
    for (name, is_right) in [("right", true), ("left", false)] {
        // Next to the dimension of stride 1, the stride is the padded length of a row.
        let padding = if is_right { strides.get(rank.saturating_sub(2)) } else { strides.get(1) };
        if let Some(padding) = padding.and_then(|&padding| u64::try_from(padding).ok()).filter(|_| rank > 1)
            && padded(sizes, padding, is_right).as_ref() == Some(map)
        {
            return Ok(format!("std::layout_{name}_padded<{padding}>::mapping<{extents}>()"));
        }
    }
    let strides = strides.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    Ok(format!("std::layout_stride::mapping<{extents}>({extents}(), std::array<std::size_t, {rank}>{{{strides}}})"))
}

/// A dense map, except that its fastest dimension is padded to a multiple of this many elements.
fn padded(sizes: &[u64], padding: u64, is_right: bool) -> Option<Modes> {
    let rank = sizes.len();
    let fastest = if is_right { rank.saturating_sub(1) } else { 0 };
    let mut room = sizes.to_vec();
    if rank > 1 {
        let size = room.get_mut(fastest)?;
        *size = size.checked_next_multiple_of(padding)?;
    }
    let strides = if is_right { dense(&room, 0..rank) } else { dense(&room, (0..rank).rev()) };
    Modes::strided(sizes, &strides?, 0).ok()
}

/// Reads a name and the namespaces before it; returns the name.
fn qualified<'a>(reader: &mut Reader<'a>) -> &'a str {
    loop {
        let word = reader.word();
        if !reader.take("::") {
            return word;
        }
    }
}

/// Reads `extents<IndexType, 2, 3>`, with namespaces.
fn extents(reader: &mut Reader<'_>) -> Result<Vec<u64>> {
    // Namespaces may come before `extents`; the name of the index type may have several words.
    while reader.peek_word() != "extents" {
        reader.word();
        reader.all("::", "`std::extents<…>`")?;
    }
    reader.word();
    reader.character('<')?;
    let mut words = 0_usize;
    while !reader.peek_word().is_empty() {
        qualified(reader);
        words += 1;
    }
    if words == 0 {
        return Err(reader.expected("the type of indices, such as `std::size_t`"));
    }
    let mut sizes = Vec::new();
    while reader.take(",") {
        sizes.push(reader.number("a static size")?);
    }
    reader.character('>')?;
    Ok(sizes)
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<AnyLayout> {
    const LAYOUT: &str =
        "`layout_right`, `layout_left`, `layout_stride`, `layout_right_padded<N>` or `layout_left_padded<N>`";
    let mut reader = Reader::new(text);
    while !reader.peek_word().starts_with("layout_") {
        if reader.peek_word().is_empty() || reader.peek_word() == "extents" {
            return Err(reader.expected(LAYOUT));
        }
        reader.word();
        reader.all("::", LAYOUT)?;
    }
    let at_name = reader;
    let name = reader.word();
    let mut padding = None;
    let (is_right, is_stride) = match name {
        "layout_right" => (true, false),
        "layout_left" => (false, false),
        "layout_stride" => (true, true),
        "layout_right_padded" | "layout_left_padded" => {
            reader.character('<')?;
            padding = Some(reader.number("a number of elements")?);
            reader.character('>')?;
            (name == "layout_right_padded", false)
        }
        _ => return Err(at_name.expected(LAYOUT)),
    };
    reader.all("::", "`::mapping<…>`")?;
    if reader.word() != "mapping" {
        return Err(reader.expected("`mapping<…>`"));
    }
    reader.character('<')?;
    let sizes = extents(&mut reader)?;
    reader.character('>')?;
    let close = match reader.take("(") {
        true => ')',
        false => {
            reader.all("{", "`(` or `{`")?;
            '}'
        }
    };
    let mut strides = None;
    if is_stride {
        // The arguments are `std::extents<…>()` or `{}`, then `std::array<…>{256, 1}` or `{256, 1}`.
        if !reader.is("{") {
            let again = extents(&mut reader)?;
            if again != sizes {
                return Err(reader.expected("the same extents again"));
            }
        }
        if reader.take("(") {
            reader.character(')')?;
        } else {
            reader.character('{')?;
            reader.character('}')?;
        }
        reader.character(',')?;
        while !reader.is("{") {
            if reader.is_at_end() {
                return Err(reader.expected("`{` and the strides"));
            }
            if reader.peek_word().is_empty() && !["::", "<", ",", ">"].iter().any(|token| reader.is(token)) {
                return Err(reader.expected("`{` and the strides"));
            }
            if reader.word().is_empty() && !reader.take("::") && !reader.take("<") && !reader.take(",") {
                reader.take(">");
            }
        }
        let at = reader;
        let found = reader.list('{', '}', |reader| reader.number("a stride"))?;
        if found.len() != sizes.len() {
            return Err(at.expected("as many strides as sizes"));
        }
        strides = Some(found);
    }
    reader.character(close)?;
    reader.end("the end of the mapping")?;
    let rank = sizes.len();
    let modes = match (strides, padding) {
        (Some(strides), _) => {
            // The strides fit, because they were read as numbers up to `i64::MAX`.
            let strides =
                strides.into_iter().map(|stride| i64::try_from(stride).unwrap_or(i64::MAX)).collect::<Vec<_>>();
            Modes::strided(&sizes, &strides, 0)
        }
        (None, Some(padding)) => {
            // A padding of 0 or 1 adds nothing.
            padded(&sizes, padding.max(1), is_right).ok_or(Obstacle::TooLarge)
        }
        (None, None) => {
            let strides = if is_right { dense(&sizes, 0..rank) } else { dense(&sizes, (0..rank).rev()) };
            strides.ok_or(Obstacle::TooLarge).and_then(|strides| Modes::strided(&sizes, &strides, 0))
        }
    };
    modes.map(|modes| AnyLayout::of_modes(modes, None)).map_err(|obstacle| obstacle_of_all(obstacle, text))
}
