//! MLIR's memrefs: `memref<6x200xbf16, strided<[256, 1]>>`, with an affine map if strides do not suffice, and Mosaic's
//! `#tpu.tiled<(8,128)(2,1),[2,1]>`.
//!
//! An affine map is written with one result, the position. A map with several results is read as an index in a row-major array, the smallest that
//! holds all indices, as `-normalize-memrefs` does it. Mosaic's tiles are those of XLA, over the last dimensions; the strides that follow the tiles
//! count tiles, not elements (`TiledLayoutAttr` in Mosaic's `tpu_dialect.cc`).

use super::affine;
use super::spelling::element_type;
use super::strided::{dense, is_dense, strides, type_name};
use crate::layout::{AnyLayout, Map};
use crate::modes::tiles::{blocks, nested, tile_sizes};
use crate::modes::{Mode, Modes};
use crate::reader::{Reader, Result, obstacle_of_all, unknown_type};
use crate::{Notation, Obstacle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::ElementType;
use xla_shape_core::sorting::sort_by_key;

/// The sizes and the element type, such as `6x200xbf16`.
fn prefix(layout: &AnyLayout, notation: Notation) -> core::result::Result<String, Obstacle> {
    let name = type_name(layout, notation)?;
    let sizes = layout.extents().iter().map(|size| format!("{size}x")).collect::<String>();
    Ok(format!("{sizes}{name}"))
}

fn commas<T: ToString>(numbers: &[T], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// The text of a layout as a memref with strides or an affine map.
pub(crate) fn to_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let prefix = prefix(layout, Notation::Memref)?;
    let map = match &layout.map {
        Map::Modes(map) => map,
        Map::Table(table) => return Ok(format!("memref<{prefix}, {}>", affine::of_table(table.as_ref())?)),
        Map::Linear(linear) => return Err(linear.obstacle(Notation::Memref)),
    };
    if is_dense(map, 0..map.extents().len()) {
        return Ok(format!("memref<{prefix}>"));
    }
    match strides(map) {
        Ok(strides) => {
            let offset = if map.offset() == 0 { String::new() } else { format!(", offset: {}", map.offset()) };
            Ok(format!("memref<{prefix}, strided<[{}]{offset}>>", commas(&strides, ", ")))
        }
        Err(_) => Ok(format!("memref<{prefix}, {}>", affine::of_modes(map))),
    }
}

/// The text of a layout as a memref with Mosaic's tiles.
pub(crate) fn to_tiled_text(layout: &AnyLayout) -> core::result::Result<String, Obstacle> {
    let notation = Notation::Mosaic;
    let prefix = prefix(layout, notation)?;
    let map = layout.modes_in(notation)?;
    let num_dimensions = map.extents().len();
    let order = (0..num_dimensions).collect::<Vec<_>>();
    let nested = nested(map, notation)?;
    let items = nested.items.as_slice();
    let blocks = blocks(items, &order, true);
    let tiles = tile_sizes(items, &blocks, &order);
    if !nested.has_only_tiles() {
        return Err(match map.first_hole() {
            Some(position) => Obstacle::Hole { notation, position },
            None => Obstacle::Intricate { index: nested.first_inside(map) },
        });
    }
    let first = tiles.first().map_or(&[][..], Vec::as_slice);
    let tile_elements = first.iter().fold(1_u64, |product, &size| product.saturating_mul(size));
    let mut tile_strides = vec![0_u64; num_dimensions];
    let mut stride = 1_u64;
    for (item, &block) in items.iter().zip(&blocks).rev() {
        if block == 0
            && let Some(entry) = tile_strides.get_mut(item.dimension)
        {
            *entry = stride.checked_div(tile_elements).unwrap_or(0);
        }
        stride = stride.saturating_mul(item.room);
    }
    // If a dimension has a single tile, its stride does not matter: write the stride that a row-major grid has.
    let mut natural = 1_u64;
    for (dimension, entry) in tile_strides.iter_mut().enumerate().rev() {
        let from_end = num_dimensions.saturating_sub(dimension);
        let tile = first.len().checked_sub(from_end).and_then(|at| first.get(at)).copied().unwrap_or(1);
        if *entry == 0 {
            *entry = natural;
        }
        let count = map.extents().get(dimension).map_or(1, |size| size.div_ceil(tile).max(1));
        natural = entry.saturating_mul(count);
    }
    let tiles = tiles.iter().map(|tile| format!("({})", commas(tile, ","))).collect::<String>();
    let text = format!("memref<{prefix}, #tpu.tiled<{tiles},[{}]>>", commas(&tile_strides, ","));
    // Return the text only if reading it gives the same map.
    match from_text(&text).ok().and_then(|back| back.first_moved(layout).ok()) {
        Some(None) => Ok(text),
        index => Err(Obstacle::Intricate { index: index.flatten() }),
    }
}

/// The map of an array in tiles; `strides` has the distances between tiles.
fn tiled(extents: &[u64], tiles: &[Vec<u64>], strides: &[i64]) -> core::result::Result<Modes, Obstacle> {
    let first = tiles.first().map_or(&[][..], Vec::as_slice);
    let tile_elements = first.iter().try_fold(1_i64, |product, &size| product.checked_mul(i64::try_from(size).ok()?));
    let tile_elements = tile_elements.ok_or(Obstacle::TooLarge)?;
    let untiled = extents.len().saturating_sub(first.len());
    let tile_of = |dimension: usize| dimension.checked_sub(untiled).and_then(|at| first.get(at)).copied().unwrap_or(1);
    let mut modes = Vec::new();
    for (dimension, (&extent, &stride)) in extents.iter().zip(strides).enumerate() {
        let divisor = tile_of(dimension);
        let stride = stride.checked_mul(tile_elements).ok_or(Obstacle::TooLarge)?;
        modes.push(Mode { dimension, divisor, size: extent.div_ceil(divisor), stride });
    }
    // The parts inside of the first tile, in the order of memory; later tiles cut the last ones.
    let mut parts = Vec::new();
    for (at, &size) in first.iter().enumerate() {
        parts.push(Mode { dimension: untiled + at, divisor: 1, size, stride: 0 });
    }
    for tile in tiles.get(1..).unwrap_or(&[]) {
        let kept = parts.len().saturating_sub(tile.len());
        let cut = parts.split_off(kept);
        let inner = cut.iter().zip(tile).map(|(part, &size)| Mode { size, ..*part });
        let outer = cut.iter().zip(tile).map(|(part, &size)| Mode {
            divisor: part.divisor.saturating_mul(size),
            size: part.size.checked_div(size).unwrap_or(0),
            ..*part
        });
        parts.extend(outer.chain(inner).collect::<Vec<_>>());
    }
    let mut stride = 1_i64;
    for part in parts.iter_mut().rev() {
        part.stride = stride;
        stride = stride.saturating_mul(i64::try_from(part.size).unwrap_or(i64::MAX));
    }
    modes.extend(parts);
    sort_by_key(&mut modes, |mode| (mode.dimension, mode.divisor, mode.size));
    modes.retain(|mode| mode.size > 1);
    Modes::of_modes(extents.to_vec(), modes, 0)
}

/// Reads sizes, each with an `x` after it, and an element type.
fn sizes_and_type(reader: &mut Reader<'_>) -> Result<(Vec<u64>, ElementType)> {
    let mut sizes = Vec::new();
    loop {
        let at = reader.at();
        let rest = reader.rest();
        if rest.starts_with('?') {
            return Err(reader.expected("a static size: positions are unknown until it is known"));
        }
        if rest.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            sizes.push(reader.number("a size")?);
            reader.all("x", "`x` behind a size")?;
            continue;
        }
        let word = reader.word();
        let mut name = String::from(word);
        if word == "complex" && reader.take("<") {
            name = format!("complex<{}>", reader.word());
            reader.character('>')?;
        }
        let found = element_type(&name, Notation::Memref);
        return found.map(|found| (sizes, found)).ok_or_else(|| unknown_type(&name, at));
    }
}

/// Reads the layout that a text describes.
pub(crate) fn from_text(text: &str) -> Result<AnyLayout> {
    const LAYOUT: &str = "`strided<[…]>`, `affine_map<…>`, `#tpu.tiled<…>` or `>`";
    let mut reader = Reader::new(text);
    reader.all("memref", "`memref<…>`")?;
    reader.character('<')?;
    let (sizes, found) = sizes_and_type(&mut reader)?;
    let mut map = None;
    let mut is_first = true;
    while reader.take(",") {
        let start = reader.at();
        if is_first && reader.take("strided") {
            map = Some(Map::Modes(
                strided(&mut reader, &sizes)
                    .and_then(|modes| modes.map_err(|obstacle| reader.obstacle(obstacle, start)))?,
            ));
        } else if is_first && reader.take("affine_map") {
            map = Some(affine::read(&mut reader, &sizes, start)?);
        } else if is_first && reader.take("#tpu.tiled") {
            map = Some(Map::Modes(tiles(&mut reader, &sizes, start)?));
        } else if reader.is("#") || reader.is("\"") || reader.rest().starts_with(|c: char| c.is_ascii_digit()) {
            // A memory space: `1 : i32`, `#tpu.memory_space<vmem>`. It has no influence on the map.
            memory_space(&mut reader)?;
        } else {
            return Err(reader.expected(if is_first { LAYOUT } else { "a memory space or `>`" }));
        }
        is_first = false;
    }
    reader.character('>')?;
    reader.end("the end of the memref")?;
    let map = match map {
        Some(map) => map,
        None => {
            let modes = dense(&sizes, 0..sizes.len()).ok_or(Obstacle::TooLarge);
            let modes = modes.and_then(|strides| Modes::strided(&sizes, &strides, 0));
            Map::Modes(modes.map_err(|obstacle| obstacle_of_all(obstacle, text))?)
        }
    };
    match map {
        Map::Table(table) => match Modes::of_table(table.as_ref()) {
            Ok(modes) => Ok(AnyLayout::of_modes(modes, Some(found))),
            Err(Obstacle::Combined { .. }) => Ok(AnyLayout::of_map(Map::Table(table), Some(found))),
            Err(obstacle) => Err(obstacle_of_all(obstacle, text)),
        },
        Map::Modes(modes) => Ok(AnyLayout::of_modes(modes, Some(found))),
        Map::Linear(linear) => Err(obstacle_of_all(linear.obstacle(Notation::Memref), text)),
    }
}

/// Skips a memory space, whose content is not used.
fn memory_space(reader: &mut Reader<'_>) -> Result<()> {
    let mut depth = 0_usize;
    while !reader.is_at_end() {
        if depth == 0 && (reader.is(",") || reader.is(">")) {
            return Ok(());
        }
        if reader.take("<") {
            depth = reader.nest(depth)?;
        } else if reader.take(">") {
            depth = depth.saturating_sub(1);
        } else if reader.word().is_empty() {
            let next = reader.rest().chars().next().unwrap_or(' ');
            reader.character(next)?;
        }
    }
    Err(reader.expected("`>`"))
}

/// Reads strides, such as `<[256, 1], offset: 5>`.
fn strided(reader: &mut Reader<'_>, sizes: &[u64]) -> Result<core::result::Result<Modes, Obstacle>> {
    reader.character('<')?;
    let at = *reader;
    let strides = reader.list('[', ']', |reader| {
        if reader.is("?") { Err(reader.expected("a static stride")) } else { reader.signed("a stride") }
    })?;
    if strides.len() != sizes.len() {
        return Err(at.expected("as many strides as sizes"));
    }
    let mut offset = 0;
    if reader.take(",") {
        reader.all("offset", "`offset:`")?;
        reader.character(':')?;
        offset = reader.signed("a static offset")?;
    }
    reader.character('>')?;
    Ok(Modes::strided(sizes, &strides, offset))
}

/// Reads tiles, such as `<(8,128)(2,1),[2,1]>`.
fn tiles(reader: &mut Reader<'_>, sizes: &[u64], start: usize) -> Result<Modes> {
    reader.character('<')?;
    let mut tiles: Vec<Vec<u64>> = Vec::new();
    while reader.is("(") {
        let at = *reader;
        let tile = reader.list('(', ')', |reader| {
            let at = *reader;
            let size = reader.number("the size of a tile")?;
            if size == 0 { Err(at.expected("a size of at least 1")) } else { Ok(size) }
        })?;
        let most = tiles.last().map_or(sizes.len(), Vec::len);
        if tile.len() > most {
            return Err(at.expected("a tile of at most as many dimensions as it cuts"));
        }
        if let Some(before) = tiles.last() {
            // A tile cuts the last dimensions of the tile before it, and must divide them.
            let skipped = before.len().saturating_sub(tile.len());
            let divides = |(&size, &outer): (&u64, &u64)| outer.is_multiple_of(size);
            if !tile.iter().zip(before.get(skipped..).unwrap_or(&[])).all(divides) {
                return Err(at.expected("a tile that divides the tile before it"));
            }
        }
        tiles.push(tile);
    }
    reader.character(',')?;
    let at = *reader;
    let strides = reader.list('[', ']', |reader| reader.signed("a stride, in tiles"))?;
    if strides.len() != sizes.len() {
        return Err(at.expected("as many strides as sizes"));
    }
    reader.character('>')?;
    tiled(sizes, &tiles, &strides).map_err(|obstacle| reader.obstacle(obstacle, start))
}
