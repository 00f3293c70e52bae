//! What each device has of an array.

use super::devices::Devices;
use super::error::ShardingError;
use super::sharding::{Sharding, ShardingKind};
use super::tiled::TiledSharding;
use crate::layout::dimension::Dimension;
use crate::map::{row_major_index, row_major_number};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

/// A part of an array: in each dimension, the indices from a first one up to a limit, without the limit.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region {
    /// The first index of each dimension.
    pub start: Vec<u64>,
    /// The index after the last one of each dimension; the region is empty where it is not above `start`.
    pub limit: Vec<u64>,
}

impl Region {
    /// All of an array of these sizes.
    #[must_use]
    pub fn whole(sizes: &[u64]) -> Self {
        Self { start: vec![0; sizes.len()], limit: sizes.to_vec() }
    }

    /// How many indices it has in each dimension.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.start.iter().zip(&self.limit).map(|(&start, &limit)| limit.saturating_sub(start))
    }

    /// How many elements it has.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.sizes().fold(1, u64::saturating_mul)
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes().any(|size| size == 0)
    }

    /// What both have.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let start = self.start.iter().zip(&other.start).map(|(a, b)| *a.max(b)).collect();
        Self { start, limit: self.limit.iter().zip(&other.limit).map(|(a, b)| *a.min(b)).collect() }
    }

    /// The same part, counted from the first index of `other`, in which it lies.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let shift = |list: &[u64]| list.iter().zip(&other.start).map(|(a, b)| a.saturating_sub(*b)).collect();
        Self { start: shift(&self.start), limit: shift(&self.limit) }
    }
}

/// An array divided among devices.
///
/// ```
/// use xla_shape_core::{ArrayShape, shard::Sharding};
///
/// let array: ArrayShape = "f32[10,256]{1,0:T(8,128)}".parse()?;
/// let partition = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse::<Sharding>()?.partition(&array)?;
/// assert_eq!(partition.shard().to_string(), "f32[3,256]{1,0:T(8,128)}");
/// assert_eq!(partition.bytes_per_device(), Some(8192)); // as many as 8 rows take
/// assert_eq!(partition.replication(), Some(2));
///
/// let last = partition.region(7)?; // XLA rounds up, so the last shard is smaller
/// assert_eq!((last.start, last.limit), (vec![9, 0], vec![10, 256]));
/// assert!(partition.holders(&[9, 0]).eq([6, 7]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Partition {
    sizes: Vec<u64>,
    /// Into how many pieces each dimension is cut.
    tiles: Vec<u64>,
    shard: ArrayShape,
    holders: Holders,
    /// Where a list of devices has each of them, sorted by device.
    positions: Vec<(i64, u64)>,
}

/// Which devices have something.
#[derive(Clone, Debug)]
enum Holders {
    /// All of them have all; how many, if that is known.
    All(Option<Devices>),
    /// Each has a tile.
    Tiles(TiledSharding),
}

impl Sharding {
    /// What each device has of an array.
    ///
    /// A bounded dimension is divided as if it had its bound. The layout of a shard is that of the array.
    ///
    /// # Errors
    /// If the sharding has another number of dimensions, is that of a tuple, does not say what each device has (`{manual}`,
    /// `{unknown}`), or lists a device twice; if a dimension is unbounded, or the layout does not fit a shard.
    pub fn partition(&self, array: &ArrayShape) -> Result<Partition, ShardingError> {
        let mut sizes = Vec::with_capacity(array.dimensions().len());
        for (dimension, size) in array.dimensions().iter().enumerate() {
            sizes.push(size.extent().ok_or(ShardingError::DynamicDimension { dimension })?);
        }
        let tiled = self.to_tiled()?;
        let mut positions = Vec::new();
        let holders = match tiled.kind() {
            ShardingKind::Tuple(_) => return Err(ShardingError::NotATuple),
            kind @ (ShardingKind::Manual | ShardingKind::Unknown) => {
                return Err(ShardingError::Undetermined { kind: kind.name() });
            }
            ShardingKind::Maximal { device } => {
                positions = vec![(*device, 0)];
                Holders::All(Some(Devices::List(vec![*device])))
            }
            ShardingKind::Tiled(tiled) => {
                positions = sorted(tiled.assignment().devices());
                check_devices(&positions)?;
                Holders::Tiles(tiled.clone())
            }
            _ => Holders::All(match self.kind() {
                ShardingKind::Named(named) if !named.mesh().axes().is_empty() => {
                    positions = sorted(named.mesh().devices());
                    Some(named.mesh().devices().clone())
                }
                _ => None,
            }),
        };
        let tiles = match &holders {
            Holders::All(_) => vec![1; sizes.len()],
            Holders::Tiles(tiled) => tiled.tiles().to_vec(),
        };
        // A named sharding keeps its dimensions even where it divides none of them.
        let found = match self.kind() {
            ShardingKind::Named(named) if !named.dimensions().is_empty() => named.dimensions().len(),
            _ => tiles.len(),
        };
        if found != sizes.len() || tiles.len() != sizes.len() {
            return Err(ShardingError::Rank { expected: sizes.len(), found });
        }
        let mut dimensions = Vec::with_capacity(sizes.len());
        for (&dimension, (&size, &tiles)) in array.dimensions().iter().zip(sizes.iter().zip(&tiles)) {
            let size = size.div_ceil(tiles);
            dimensions.push(match dimension {
                Dimension::Bounded(_) => Dimension::Bounded(size),
                _ => Dimension::Static(size),
            });
        }
        let shard = ArrayShape::new(array.element_type(), &dimensions, array.layout().clone());
        Ok(Partition { sizes, tiles, shard: shard.map_err(ShardingError::Layout)?, holders, positions })
    }
}

/// The devices of a list with their positions, sorted; none for an iota, which computes them.
fn sorted(devices: &Devices) -> Vec<(i64, u64)> {
    let Devices::List(list) = devices else { return Vec::new() };
    let mut sorted = list.iter().copied().zip(0..).collect::<Vec<_>>();
    sorted.sort_unstable();
    sorted
}

/// Checks that each device is there once.
fn check_devices(sorted: &[(i64, u64)]) -> Result<(), ShardingError> {
    let twice = sorted.windows(2).find_map(|pair| match pair {
        [(a, _), (b, _)] if a == b => Some(*a),
        _ => None,
    });
    let first = sorted.first().map(|&(device, _)| device);
    match first.filter(|&first| first < 0).or(twice) {
        Some(device) => Err(ShardingError::Device { device }),
        None => Ok(()),
    }
}

impl Partition {
    /// The shape of a shard; the last ones along a dimension that does not divide evenly have fewer elements, or none, but take
    /// as much memory.
    #[must_use]
    pub const fn shard(&self) -> &ArrayShape {
        &self.shard
    }

    /// The sizes of the whole array.
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// Into how many pieces each dimension is cut.
    #[must_use]
    pub fn tiles(&self) -> &[u64] {
        &self.tiles
    }

    /// How many devices have a part of it; `None` if all have the whole array and their number is unknown.
    #[must_use]
    pub fn device_count(&self) -> Option<u64> {
        match &self.holders {
            Holders::All(devices) => devices.as_ref().map(Devices::count),
            Holders::Tiles(tiled) => Some(tiled.assignment().devices().count()),
        }
    }

    /// How many devices have each element; `None` as for [`device_count`](Self::device_count).
    #[must_use]
    pub fn replication(&self) -> Option<u64> {
        match &self.holders {
            Holders::All(devices) => devices.as_ref().map(Devices::count),
            Holders::Tiles(tiled) => Some(tiled.devices_per_tile()),
        }
    }

    /// The bytes that a shard takes on each device, with the padding of its own tiles; `None` if they do not fit in 63 bits.
    #[must_use]
    pub fn bytes_per_device(&self) -> Option<u64> {
        self.shard.byte_size()
    }

    /// The bytes that all shards take together; `None` if they do not fit in 63 bits, or the number of devices is unknown.
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_per_device()?.checked_mul(self.device_count()?)
    }

    /// The first dimension that does not divide evenly.
    ///
    /// # Errors
    /// If there is one.
    pub fn check_even(&self) -> Result<(), ShardingError> {
        for (dimension, (&size, &tiles)) in self.sizes.iter().zip(&self.tiles).enumerate() {
            if size.checked_rem(tiles) != Some(0) {
                return Err(ShardingError::Uneven { dimension, size, tiles });
            }
        }
        Ok(())
    }

    /// Whether all shards have equally many elements.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.check_even().is_ok()
    }

    /// What a device has of the array.
    ///
    /// # Errors
    /// If the sharding gives nothing to the device.
    pub fn region(&self, device: i64) -> Result<Region, ShardingError> {
        let none = ShardingError::NoSuchDevice { device };
        match &self.holders {
            Holders::All(None) if device >= 0 => Ok(Region::whole(&self.sizes)),
            Holders::All(Some(devices)) if self.position(devices, device).is_some() => Ok(Region::whole(&self.sizes)),
            Holders::All(_) => Err(none),
            Holders::Tiles(tiled) => {
                let position = self.position(tiled.assignment().devices(), device).ok_or(none)?;
                Ok(self.tile(position.checked_div(tiled.devices_per_tile()).unwrap_or(0)))
            }
        }
    }

    /// The first position of a device.
    fn position(&self, devices: &Devices, device: i64) -> Option<u64> {
        match devices {
            Devices::Iota(_) => devices.position(device),
            Devices::List(_) => {
                let at = self.positions.partition_point(|&(other, _)| other < device);
                self.positions.get(at).filter(|&&(other, _)| other == device).map(|&(_, position)| position)
            }
        }
    }

    /// The devices in the order of their tiles, each with what it has.
    ///
    /// The iterator is empty if all devices have the whole array and their number is unknown.
    pub fn regions(&self) -> impl Iterator<Item = (i64, Region)> + '_ {
        let (devices, per_tile) = match &self.holders {
            Holders::All(devices) => (devices.as_ref(), None),
            Holders::Tiles(tiled) => (Some(tiled.assignment().devices()), Some(tiled.devices_per_tile())),
        };
        let devices = devices.into_iter().flat_map(|devices| devices.iter().zip(0_u64..));
        devices.map(move |(device, position)| {
            let tile = per_tile.and_then(|per_tile| position.checked_div(per_tile));
            (device, self.tile(tile.unwrap_or(0)))
        })
    }

    /// The devices that have an element.
    ///
    /// The iterator is empty if all devices have the whole array and their number is unknown, or if there is no such
    /// element.
    pub fn holders(&self, index: &[u64]) -> impl Iterator<Item = i64> + '_ {
        let is_inside = index.len() == self.sizes.len() && index.iter().zip(&self.sizes).all(|(i, size)| i < size);
        let along = |(&i, (&size, &tiles)): (&u64, (&u64, &u64))| i.checked_div(size.div_ceil(tiles)).unwrap_or(0);
        let tile = index.iter().zip(self.sizes.iter().zip(&self.tiles)).map(along).collect::<Vec<_>>();
        self.tile_holders(&tile).filter(move |_| is_inside)
    }

    /// The devices that have a tile, given by its number along each dimension.
    ///
    /// The iterator is empty if all devices have the whole array and their number is unknown, or if there is no such tile.
    pub fn tile_holders(&self, tile: &[u64]) -> impl Iterator<Item = i64> + use<'_> {
        let copies = (0..self.replication().unwrap_or(0)).zip(core::iter::repeat(self.first_holder(tile)));
        copies.map_while(|(copy, first)| {
            let (devices, first) = first?;
            devices.get(first.saturating_add(copy))
        })
    }

    /// One of the devices that have a tile: the one that has the copy of this number.
    pub(super) fn tile_holder(&self, tile: &[u64], copy: u64) -> Option<i64> {
        let (devices, first) = self.first_holder(tile)?;
        devices.get(first.saturating_add(copy))
    }

    /// The devices, and the position of the first one that has a tile.
    fn first_holder(&self, tile: &[u64]) -> Option<(&Devices, u64)> {
        let (devices, per_tile) = match &self.holders {
            Holders::All(devices) => (devices.as_ref()?, self.replication()?),
            Holders::Tiles(tiled) => (tiled.assignment().devices(), tiled.devices_per_tile()),
        };
        Some((devices, self.tile_number(tile)?.saturating_mul(per_tile)))
    }

    /// The part of the array in a tile, given by its number along each dimension; `None` if there is no such tile.
    #[must_use]
    pub fn tile_region(&self, tile: &[u64]) -> Option<Region> {
        self.tile_number(tile).map(|number| self.tile(number))
    }

    /// The number of a tile in row-major order.
    fn tile_number(&self, tile: &[u64]) -> Option<u64> {
        row_major_number(tile, &self.tiles)
    }

    /// The tile of this number, in row-major order.
    fn tile(&self, number: u64) -> Region {
        let mut region = Region::whole(&self.sizes);
        let bounds = region.start.iter_mut().zip(&mut region.limit);
        let tiles = row_major_index(number, &self.tiles).into_iter().zip(&self.tiles);
        for ((start, limit), (&size, (along, &tiles))) in bounds.zip(self.sizes.iter().zip(tiles)) {
            let shard = size.div_ceil(tiles);
            *start = along.saturating_mul(shard).min(size);
            *limit = along.saturating_add(1).saturating_mul(shard).min(size);
        }
        region
    }
}

impl Sharding {
    /// What each device has of every array of a shape, in the order of its [leaves](crate::Shape::tuple_shapes); `None` for a
    /// leaf that is not an array.
    ///
    /// A sharding that is not a tuple applies to every leaf.
    ///
    /// # Errors
    /// If there are not as many shardings as leaves, or one cannot be [that of its array](Self::partition).
    pub fn partitions(&self, shape: &Shape) -> Result<Vec<Option<Partition>>, ShardingError> {
        let mut leaves = Vec::new();
        collect(shape, &mut leaves);
        let ShardingKind::Tuple(elements) = self.kind() else {
            return leaves.into_iter().map(|leaf| self.of_leaf(leaf)).collect();
        };
        if !matches!(shape, Shape::Tuple(_)) {
            return Err(ShardingError::NotATuple);
        }
        // XLA lets an empty tuple have one.
        if elements.len() != leaves.len() && !(leaves.is_empty() && elements.len() == 1) {
            return Err(ShardingError::Leaves { expected: leaves.len(), found: elements.len() });
        }
        leaves.into_iter().zip(elements).map(|(leaf, element)| element.of_leaf(leaf)).collect()
    }

    fn of_leaf(&self, leaf: &Shape) -> Result<Option<Partition>, ShardingError> {
        leaf.array().map(|array| self.partition(array)).transpose()
    }
}

/// The parts of a shape that are not tuples. Shapes are no deeper than [`MAX_NESTING`](crate::text::MAX_NESTING).
fn collect<'a>(shape: &'a Shape, leaves: &mut Vec<&'a Shape>) {
    match shape.tuple_shapes() {
        Some(elements) => elements.iter().for_each(|element| collect(element, leaves)),
        None => leaves.push(shape),
    }
}
