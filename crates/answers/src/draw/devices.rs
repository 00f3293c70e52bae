//! Which device has which part of an array: a grid of boxes, one for each shard.

use crate::Answer;
use crate::numbers::dimension_names;
use schemars::JsonSchema;
use serde::Serialize;
use xla_shape_core::shard::{Partition, Region, Sharding, ShardingError};
use xla_shape_core::sorting::sort;
use xla_shape_core::{ArrayShape, TileDimension};

/// The most boxes that a row or a column shows.
const MAX_BOXES: u64 = 16;
/// The most planes that are shown.
const MAX_PLANES: u64 = 4;
/// The most devices that a box shows.
const MAX_DEVICES: usize = 4;

/// Which device has which part of an array.
///
/// ```
/// use xla_shape_answers::draw::DeviceDrawing;
///
/// let array = "f32[64,256]{1,0:T(8,128)}".parse()?;
/// let drawing = DeviceDrawing::new(&array, "{devices=[4,2]<=[8]}".parse()?)?;
/// assert_eq!(drawing.planes[0].cells[0][1].devices, [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct DeviceDrawing {
    /// XLA's text of the shape, with its layout.
    pub shape: String,
    /// The canonical text of the sharding.
    pub sharding: String,
    /// The shape of a shard.
    pub shard: String,
    /// The dimension down; null if the array has fewer than two dimensions.
    pub rows: Option<Side>,
    /// The dimension across; null for a scalar.
    pub columns: Option<Side>,
    /// The grids that are shown.
    pub planes: Vec<ShardPlane>,
    /// How many grids are not shown.
    #[serde(skip)]
    pub more_planes: u64,
}

/// A dimension along a side of the grid.
///
/// ```
/// use xla_shape_answers::draw::DeviceDrawing;
///
/// let drawing = DeviceDrawing::new(&"f32[64,256]".parse()?, "{devices=[4,2]<=[8]}".parse()?)?;
/// let rows = drawing.rows.unwrap();
/// assert_eq!((rows.name.as_str(), rows.shards, rows.shard_size), ("d0", 4, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Side {
    /// Its number.
    pub dimension: usize,
    /// Its name in the drawing.
    pub name: String,
    /// Its size in elements.
    pub size: u64,
    /// How many shards there are along it.
    pub shards: u64,
    /// The elements of a shard along it; the last shard may have fewer.
    pub shard_size: u64,
    /// The size of the layout's first tile along it, in elements; null without one.
    pub tile: Option<u64>,
}

impl Side {
    /// How many shards along it are shown.
    #[must_use]
    pub fn shown(&self) -> u64 {
        self.shards.min(MAX_BOXES)
    }
}

/// A grid of boxes, at one shard of all other dimensions.
///
/// ```
/// use xla_shape_answers::draw::DeviceDrawing;
///
/// let drawing = DeviceDrawing::new(&"f32[64,256]".parse()?, "{devices=[4,2]<=[8]}".parse()?)?;
/// assert_eq!((drawing.planes[0].label.as_str(), drawing.planes[0].cells.len()), ("", 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct ShardPlane {
    /// The range of indices in each of the other dimensions, such as `d0=0:4`; empty if there are none.
    pub label: String,
    /// Row by row, the shards.
    pub cells: Vec<Vec<Shard>>,
}

/// A shard.
///
/// ```
/// use xla_shape_answers::draw::DeviceDrawing;
///
/// let drawing = DeviceDrawing::new(&"f32[64,256]".parse()?, "{devices=[4,2]<=[8]}".parse()?)?;
/// let shard = &drawing.planes[0].cells[3][1];
/// assert_eq!((&shard.start[..], &shard.limit[..], &shard.devices[..]), (&[48, 128][..], &[64, 256][..], &[7][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Shard {
    /// The first index in each dimension.
    pub start: Vec<u64>,
    /// The index after the last, in each dimension.
    pub limit: Vec<u64>,
    /// The numbers of devices that have it, at most four of them.
    pub devices: Vec<i64>,
    /// How many more devices have it; null if that is not known.
    pub more: Option<u64>,
}

impl Shard {
    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start.iter().zip(&self.limit).any(|(start, limit)| start >= limit)
    }
}

impl DeviceDrawing {
    /// The part of `array` that each device has, with this sharding.
    ///
    /// # Errors
    /// If the sharding does not fit the array.
    ///
    /// ```
    /// use xla_shape_answers::draw::DeviceDrawing;
    ///
    /// let drawing = DeviceDrawing::new(&"f32[64,256]".parse()?, "{devices=[4,2]<=[8]}".parse()?)?;
    /// assert_eq!(drawing.shard, "f32[16,128]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(array: &ArrayShape, sharding: Sharding) -> Result<Self, ShardingError> {
        let partition = sharding.partition(array)?;
        let names = dimension_names(array);
        let rank = names.len();
        // Show the last two divided dimensions; if fewer are divided, the last dimensions of the array.
        let mut sides = (0..rank).filter(|&d| partition.tiles()[d] > 1).rev().take(2).collect::<Vec<_>>();
        sides.extend((0..rank).rev().filter(|&d| partition.tiles()[d] <= 1).take(2 - sides.len()));
        sort(&mut sides);
        let side = |dimension: usize| {
            let (size, shards) = (partition.sizes()[dimension], partition.tiles()[dimension]);
            let name = names[dimension].clone();
            Side { dimension, name, size, shards, shard_size: size.div_ceil(shards), tile: tile_size(array, dimension) }
        };
        let (rows, columns) = match sides.as_slice() {
            [row, column] => (Some(side(*row)), Some(side(*column))),
            [column] => (None, Some(side(*column))),
            _ => (None, None),
        };
        let others = (0..rank).filter(|dimension| !sides.contains(dimension)).collect::<Vec<_>>();
        let all_planes = others.iter().fold(1_u64, |all, &d| all.saturating_mul(partition.tiles()[d]));
        let plane = |number: u64| {
            let mut tile = vec![0; rank];
            let mut rest = number;
            for &dimension in others.iter().rev() {
                tile[dimension] = rest % partition.tiles()[dimension];
                rest /= partition.tiles()[dimension];
            }
            plane(&partition, tile, &others, &names, rows.as_ref(), columns.as_ref())
        };
        let planes = (0..all_planes.min(MAX_PLANES)).map(plane).collect();
        Ok(Self {
            shape: array.to_string(),
            sharding: sharding.to_string(),
            shard: partition.shard().to_string(),
            planes,
            more_planes: all_planes.saturating_sub(MAX_PLANES),
            rows,
            columns,
        })
    }
}

impl Answer for DeviceDrawing {
    const SCHEMA: &'static str = "xla-shape/draw/1";
}

/// The grid at one shard of the other dimensions.
fn plane(
    partition: &Partition,
    mut tile: Vec<u64>,
    others: &[usize],
    names: &[String],
    rows: Option<&Side>,
    columns: Option<&Side>,
) -> ShardPlane {
    let region = partition.tile_region(&tile).unwrap_or_default();
    let part = |&d: &usize| format!("{}={}:{}", names[d], region.start[d], region.limit[d]);
    let label = others.iter().map(part).collect::<Vec<_>>().join(" ");
    let mut cells = Vec::new();
    for row in 0..rows.map_or(1, Side::shown) {
        let mut line = Vec::new();
        for column in 0..columns.map_or(1, Side::shown) {
            for (side, number) in [(rows, row), (columns, column)] {
                if let Some(side) = side {
                    tile[side.dimension] = number;
                }
            }
            let Region { start, limit } = partition.tile_region(&tile).unwrap_or_default();
            let devices = partition.tile_holders(&tile).take(MAX_DEVICES).collect::<Vec<_>>();
            let more = partition.replication().map(|all| all.saturating_sub(devices.len() as u64));
            line.push(Shard { start, limit, devices, more });
        }
        cells.push(line);
    }
    ShardPlane { label, cells }
}

/// The size of the layout's first tile along a dimension.
fn tile_size(array: &ArrayShape, dimension: usize) -> Option<u64> {
    let layout = array.layout();
    let tile = layout.tiles().first()?.dimensions();
    let from_minor = layout.minor_to_major().iter().position(|&other| other == dimension)?;
    match tile.get(tile.len().checked_sub(from_minor + 1)?)? {
        TileDimension::Size(size) if tile.iter().all(|entry| matches!(entry, TileDimension::Size(_))) => Some(*size),
        _ => None,
    }
}
