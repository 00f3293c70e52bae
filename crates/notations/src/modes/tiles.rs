//! Finds the XLA layout of a map: the order of the dimensions, and the tiles.

use super::sharing::Sharing;
use crate::modes::{Mode, Modes};
use crate::{Notation, Obstacle};
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::sorting::sort_by_key;
use xla_shape_core::{ArrayShape, ElementType, Layout, Tile, TileDimension};

/// A part of an index, in the order of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Item {
    pub(crate) dimension: usize,
    /// The divisor of the index.
    pub(crate) divisor: u64,
    /// How many values the part takes.
    pub(crate) size: u64,
    /// For how many values of the part the layout has room.
    pub(crate) room: u64,
    /// Whether it is the part of its dimension with the largest divisor.
    pub(crate) is_outermost: bool,
    /// The distance of neighbours, in positions.
    pub(crate) stride: u64,
    /// Whether the stride is not a multiple of the number of positions that the parts inside take.
    pub(crate) is_uneven: bool,
}

/// A map as a row-major array of parts of indices.
pub(crate) struct Nested {
    /// The parts from the largest stride to the smallest.
    pub(crate) items: Vec<Item>,
    /// The smallest stride: how many positions each element takes.
    pub(crate) gap: u64,
}

impl Nested {
    /// Whether the only padding is in tiles that are not full: no part of an index has extra room, except the outermost part of a dimension.
    pub(crate) fn has_only_tiles(&self) -> bool {
        let is_plain = |item: &Item| !item.is_uneven && (item.is_outermost || item.room == item.size);
        self.gap == 1 && self.items.iter().all(is_plain) && self.is_decreasing()
    }

    /// Whether the strides of each dimension grow with the divisors of its parts.
    fn is_decreasing(&self) -> bool {
        self.inside().is_none()
    }

    /// A part with a larger divisor than another part of its dimension, but a smaller stride.
    fn inside(&self) -> Option<&Item> {
        let mut rest = self.items.as_slice();
        while let [item, inner @ ..] = rest {
            let inside = inner.iter().find(|i| i.dimension == item.dimension && i.divisor > item.divisor);
            if inside.is_some() {
                return inside;
            }
            rest = inner;
        }
        None
    }

    /// The first element that the part from `inside` moves. Tiles would put it at a larger position.
    pub(crate) fn first_inside(&self, map: &Modes) -> Option<Vec<u64>> {
        let mut index = vec![0; map.extents().len()];
        let item = self.inside()?;
        *index.get_mut(item.dimension)? = item.divisor;
        Some(index)
    }
}

/// The parts of indices in the order of memory, the outermost first. The room of a part is how many of its steps fit into one step of the part around
/// it.
///
/// Fails for maps without such an order: with an offset, a stride of 0 or below, shared positions, or a stride that is smaller than the span of the
/// parts inside.
pub(crate) fn nested(map: &Modes, notation: Notation) -> Result<Nested, Obstacle> {
    let mut items: Vec<Item> = Vec::with_capacity(map.modes().len());
    positive(map, notation)?;
    let mut modes = map.modes().to_vec();
    sort_by_key(&mut modes, |mode| mode.stride);
    // From the innermost part to the outermost.
    let mut inner: Option<Mode> = None;
    for &mode in &modes {
        let stride = mode.stride.unsigned_abs();
        let mut is_uneven = false;
        if let Some(last) = inner {
            let unit = last.stride.unsigned_abs();
            let taken = unit.saturating_mul(last.size);
            let room = stride.checked_div(unit).filter(|_| stride.is_multiple_of(unit));
            match (room, items.last_mut()) {
                _ if stride < taken => {
                    if let Sharing::Overlaps { index, with, position } = map.sharing() {
                        return Err(Obstacle::Overlap { notation, index, with, position });
                    }
                    let (dimension, stride) = (mode.dimension, mode.stride);
                    return Err(Obstacle::Uneven { dimension, stride, unit: taken, index: first_of(map, &mode) });
                }
                (Some(room), Some(item)) => item.room = room,
                _ => is_uneven = true,
            }
        }
        let extent = map.extents().get(mode.dimension).copied().unwrap_or(1);
        let is_outermost = mode.divisor.saturating_mul(mode.size) >= extent;
        let (dimension, divisor, size, room) = (mode.dimension, mode.divisor, mode.size, mode.size);
        items.push(Item { dimension, divisor, size, room, is_outermost, stride, is_uneven });
        inner = Some(mode);
    }
    items.reverse();
    let gap = modes.first().map_or(1, |mode| mode.stride.unsigned_abs());
    Ok(Nested { items, gap })
}

/// Returns an error if the first element is not at position 0.
pub(crate) fn unit_offset(map: &Modes, notation: Notation) -> Result<(), Obstacle> {
    if map.offset() == 0 { Ok(()) } else { Err(Obstacle::Offset { notation, position: map.offset() }) }
}

/// The first element that a mode moves.
fn first_of(map: &Modes, mode: &Mode) -> Vec<u64> {
    let mut index = vec![0; map.extents().len()];
    if let Some(entry) = index.get_mut(mode.dimension) {
        *entry = mode.divisor;
    }
    index
}

/// Returns an error if there is an offset, or a stride of 0 or below.
pub(crate) fn positive(map: &Modes, notation: Notation) -> Result<(), Obstacle> {
    for mode in map.modes() {
        let dimension = mode.dimension;
        match mode.stride {
            0 => return Err(Obstacle::Repeats { notation, dimension, index: first_of(map, mode) }),
            stride if stride < 0 => {
                return Err(Obstacle::Negative { notation, dimension, stride, index: first_of(map, mode) });
            }
            _ => {}
        }
    }
    unit_offset(map, notation)
}

/// Returns an error if a stride is negative.
pub(crate) fn no_negative(map: &Modes, notation: Notation) -> Result<(), Obstacle> {
    match map.modes().iter().find(|mode| mode.stride < 0) {
        Some(mode) => {
            let (dimension, stride) = (mode.dimension, mode.stride);
            Err(Obstacle::Negative { notation, dimension, stride, index: first_of(map, mode) })
        }
        None => Ok(()),
    }
}

/// All dimensions, major to minor. `order` lacks only dimensions of one element. Each of these goes before the first dimension with a larger
/// number.
pub(crate) fn with_all(order: &[usize], num_dimensions: usize) -> Vec<usize> {
    let mut all = order.to_vec();
    for dimension in 0..num_dimensions {
        if !all.contains(&dimension) {
            let at = all.iter().position(|&other| other > dimension).unwrap_or(all.len());
            all.insert(at, dimension);
        }
    }
    all
}

/// For each part, the number of its block. Block 0 is the grid of tiles, block 1 is the part of the first tile that the second one does not divide,
/// and so on. Within a block, the parts are in `order` (dimensions, major to minor), each dimension at most once.
///
/// In a free grid, the parts of block 0 may be in any order.
pub(crate) fn blocks(items: &[Item], order: &[usize], is_free: bool) -> Vec<usize> {
    let mut blocks = Vec::with_capacity(items.len());
    let (mut block, mut last) = (0_usize, None);
    let mut seen: Vec<usize> = Vec::new();
    for item in items {
        let rank = order.iter().position(|&other| other == item.dimension);
        let goes_on = if block == 0 {
            // The grid of tiles has no padding.
            let is_new = !seen.contains(&item.dimension) && (item.room == item.size || !item.is_outermost);
            is_new && (is_free || last.is_none_or(|last| rank > last))
        } else {
            last.is_none_or(|last| rank > last)
        };
        if !goes_on {
            block += 1;
        }
        last = Some(rank);
        seen.push(item.dimension);
        blocks.push(block);
    }
    blocks
}

/// The sizes of the tiles that give these blocks; a tile covers the last dimensions of `order`.
pub(crate) fn tile_sizes(items: &[Item], blocks: &[usize], order: &[usize]) -> Vec<Vec<u64>> {
    let count = blocks.iter().copied().max().unwrap_or(0);
    let mut tiles = Vec::with_capacity(count);
    for tile in 1..=count {
        let size = |dimension: usize| {
            let inside =
                items.iter().zip(blocks).filter(|&(item, &block)| item.dimension == dimension && block >= tile);
            // Parts other than the outermost get their extra room later, in `make_room`.
            let room = |item: &Item| if item.is_outermost { item.room } else { item.size };
            inside.fold(1_u64, |size, (item, _)| size.saturating_mul(room(item)))
        };
        tiles.push(order.iter().copied().map(size).skip_while(|&size| size == 1).collect());
    }
    tiles
}

/// An entry of a tile that is `*`.
const COMBINE: u64 = 0;

/// The search for tiles gives up if all tiles together have more entries than this.
const MAX_ENTRIES: usize = 256;

/// A part of an index in memory: its dimension, its divisor and its room.
type Place = (usize, u64, u64);

/// The parts of indices in memory, and the tiles that lead to them.
struct Memory {
    places: Vec<Place>,
    tiles: Vec<Vec<u64>>,
    entries: usize,
}

impl Memory {
    fn tile(&mut self, tile: Vec<u64>) -> Option<()> {
        self.entries += tile.len();
        if self.entries > MAX_ENTRIES {
            return None;
        }
        let cut = self.places.split_off(self.places.len().checked_sub(tile.len())?);
        for (&(dimension, divisor, room), &size) in cut.iter().zip(&tile) {
            self.places.push((dimension, divisor.checked_mul(size)?, room.div_ceil(size)));
        }
        for (&(dimension, divisor, _), &size) in cut.iter().zip(&tile) {
            self.places.push((dimension, divisor, size));
        }
        self.tiles.push(tile);
        Some(())
    }

    /// The index of this part in `places`.
    fn find(&self, item: &Item) -> Option<usize> {
        let is_it = |&(dimension, divisor, room): &Place| {
            dimension == item.dimension && divisor == item.divisor && room >= item.size
        };
        self.places.iter().position(is_it)
    }

    /// Makes these parts the innermost ones, in their present order.
    fn move_inside(&mut self, items: &[Item]) -> Option<()> {
        let places = items.iter().map(|item| self.find(item)).collect::<Option<Vec<_>>>()?;
        let first = places.iter().copied().min()?;
        let rest = self.places.iter().enumerate().skip(first);
        let tile = rest.map(|(place, &(.., room))| if places.contains(&place) { room } else { 1 }).collect();
        self.tile(tile)
    }

    /// Combines all parts inside this one into a single part, with as much room as the stride of this one.
    fn combine_inside(&mut self, item: &Item) -> Option<()> {
        let place = self.find(item)?;
        let inside = self.places.split_off(place.checked_add(1)?);
        let mut tile = vec![COMBINE; inside.len().checked_sub(1)?];
        tile.push(item.stride);
        self.places.extend([(usize::MAX, 1, 1), (usize::MAX, 1, item.stride)]);
        self.entries += tile.len();
        self.tiles.push(tile);
        Some(())
    }

    /// Gives a part its room in memory.
    fn make_room(&mut self, item: &Item) -> Option<()> {
        let place = self.find(item)?;
        if self.places.get(place).is_none_or(|&(.., room)| room == item.room) {
            return Some(());
        }
        let rest = self.places.iter().skip(place).enumerate();
        let tile = rest.map(|(at, &(.., room))| if at == 0 { item.room } else { room }).collect();
        self.tile(tile)
    }
}

/// The tiles that place these parts in memory, over dimensions in this order.
fn tiles(map: &Modes, nested: &Nested, order: &[usize]) -> Option<Vec<Vec<u64>>> {
    let items = nested.items.as_slice();
    let size = |&dimension: &usize| map.extents().get(dimension).map(|&size| (dimension, 1, size));
    let places = order.iter().map(size).collect::<Option<Vec<_>>>()?;
    let mut memory = Memory { places, tiles: Vec::new(), entries: 0 };
    if nested.is_decreasing() {
        for tile in tile_sizes(items, &blocks(items, order, false), order) {
            memory.tile(tile)?;
        }
    } else {
        // First each dimension is cut into its parts, then the parts are moved.
        let level =
            |item: &Item| items.iter().filter(|i| i.dimension == item.dimension && i.divisor > item.divisor).count();
        let levels = items.iter().map(level).collect::<Vec<_>>();
        for tile in tile_sizes(items, &levels, order) {
            memory.tile(tile)?;
        }
        // A run of parts that are already in order is moved by one tile.
        let mut run: Vec<Item> = Vec::new();
        let mut runs = Vec::new();
        for item in items {
            let (last, place) = (run.last().map(|item| memory.find(item)), memory.find(item));
            if last.is_some_and(|last| last >= place) {
                runs.push(core::mem::take(&mut run));
            }
            run.push(*item);
        }
        runs.push(run);
        for run in runs.iter().skip(1) {
            memory.move_inside(run)?;
        }
    }
    if nested.gap > 1 {
        // Each element becomes a part with one value, which then gets room for `gap` values.
        memory.tile(vec![1])?;
        memory.tile(vec![nested.gap])?;
    }
    // From the innermost part to the outermost: after `combine_inside`, the parts inside can no longer be found.
    for (number, item) in items.iter().enumerate().rev() {
        if number > 0 {
            memory.make_room(item)?;
        }
        if item.is_uneven {
            memory.combine_inside(item)?;
        }
    }
    Some(memory.tiles)
}

impl Modes {
    /// The XLA array that has this map: of those that the search finds, the one with the fewest tiles, and then the one whose order of dimensions is
    /// closest to row-major.
    ///
    /// The result is compared with the map before it is returned.
    ///
    /// ```
    /// use xla_shape_core::ElementType;
    /// use xla_shape_notations::Modes;
    ///
    /// let tiled = Modes::nested(&[16, 256], &[vec![(8, 128), (2, 2048)], vec![(128, 1), (2, 1024)]], 0)?;
    /// assert_eq!(tiled.to_array(ElementType::F32)?.to_string(), "f32[16,256]{1,0:T(8,128)}");
    /// let every_second = Modes::strided(&[5], &[2], 0)?;
    /// assert_eq!(every_second.to_array(ElementType::F32)?.to_string(), "f32[5]{0:T(1)(2)}"); // padding after each
    /// # Ok::<(), xla_shape_notations::Obstacle>(())
    /// ```
    ///
    /// # Errors
    /// If XLA has no such layout: strides of 0 or below, an offset, shared positions, strides that are not multiples of the strides inside.
    pub fn to_array(&self, element_type: ElementType) -> Result<ArrayShape, Obstacle> {
        let shape = || ArrayShape::with_default_layout(element_type, self.extents()).map_err(|_| Obstacle::TooLarge);
        let nested = nested(self, Notation::Xla)?;
        let items = nested.items.as_slice();
        if items.is_empty() {
            return shape();
        }
        let num_dimensions = self.extents().len();
        if num_dimensions > MAX_ENTRIES {
            return Err(Obstacle::Intricate { index: None });
        }
        // The order of the dimensions is not certain, because a dimension that tiles cut appears several times in memory. Three orders are tried:
        // row-major order, the order of the first appearances, and the order of the last appearances.
        let appearance = |items: &mut dyn Iterator<Item = &Item>| {
            let mut order: Vec<usize> = Vec::new();
            for dimension in items.map(|item| item.dimension) {
                if !order.contains(&dimension) {
                    order.push(dimension);
                }
            }
            order
        };
        let first = with_all(&appearance(&mut items.iter()), num_dimensions);
        let mut last = appearance(&mut items.iter().rev());
        last.reverse();
        let last = with_all(&last, num_dimensions);
        let mut best: Option<(usize, usize, Layout)> = None;
        for order in [(0..num_dimensions).collect(), first, last] {
            let Some(tiles) = tiles(self, &nested, &order) else { continue };
            let cost = (tiles.len(), tiles.iter().map(Vec::len).sum::<usize>());
            if best.as_ref().is_none_or(|&(count, entries, _)| cost < (count, entries)) {
                let minor_to_major = order.iter().rev().copied().collect::<Vec<_>>();
                let entry = |size| if size == COMBINE { TileDimension::Combine } else { TileDimension::Size(size) };
                let tile = |tile: Vec<u64>| Tile::new(&tile.into_iter().map(entry).collect::<Vec<_>>());
                let tiles = tiles.into_iter().map(tile).collect::<Vec<_>>();
                let layout = Layout::new(&minor_to_major).and_then(|layout| layout.with_tiles(&tiles));
                best = Some((cost.0, cost.1, layout.map_err(|_| Obstacle::TooLarge)?));
            }
        }
        let Some((.., layout)) = best else { return Err(Obstacle::Intricate { index: None }) };
        let array = shape()?.with_layout(layout).map_err(|_| Obstacle::TooLarge)?;
        // The tiles are only a guess, so check that they give the requested map.
        match Self::of_array(&array)?.first_moved(self)? {
            None => Ok(array),
            index => Err(Obstacle::Intricate { index }),
        }
    }
}
