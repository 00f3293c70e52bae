//! [`Partition`]: which part of an array each device has.

use super::devices::Devices;
use super::error::ShardingError;
use super::sharding::{Sharding, ShardingKind};
use super::tiled::TiledSharding;
use crate::layout::Layout;
use crate::layout::dimension::Dimension;
use crate::map::{row_major_index, row_major_number};
use crate::shape::Shape;
use crate::shape::array::ArrayShape;
use crate::sorting::sort;
use alloc::vec;
use alloc::vec::Vec;

/// A box-shaped part of an array: in each dimension the indices `start..limit`.
///
/// ```
/// use xla_shape_core::shard::Region;
///
/// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
/// assert_eq!(region.elements(), 12);
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Region {
    /// The first index of each dimension.
    pub start: Vec<u64>,
    /// The index after the last one of each dimension. The region is empty if a limit is not greater than its start.
    pub limit: Vec<u64>,
}

impl Region {
    /// The whole of an array of these sizes.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// assert_eq!(Region::whole(&[4, 6]), Region { start: vec![0, 0], limit: vec![4, 6] });
    /// ```
    #[must_use]
    pub fn whole(sizes: &[u64]) -> Self {
        Self { start: vec![0; sizes.len()], limit: sizes.to_vec() }
    }

    /// The size of each dimension.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// assert!(region.sizes().eq([2, 6]));
    /// ```
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.start.iter().zip(&self.limit).map(|(&start, &limit)| limit.saturating_sub(start))
    }

    /// The number of elements.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// assert_eq!(region.elements(), 12);
    /// ```
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.sizes().fold(1, u64::saturating_mul)
    }

    /// Whether the region has no elements.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// assert!(!region.is_empty());
    /// assert!(Region { start: vec![3], limit: vec![3] }.is_empty());
    /// ```
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes().any(|size| size == 0)
    }

    /// The region that is in both.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// let columns = Region { start: vec![0, 2], limit: vec![4, 5] };
    /// assert_eq!(region.intersection(&columns), Region { start: vec![1, 2], limit: vec![3, 5] });
    /// ```
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let start = self.start.iter().zip(&other.start).map(|(a, b)| *a.max(b)).collect();
        Self { start, limit: self.limit.iter().zip(&other.limit).map(|(a, b)| *a.min(b)).collect() }
    }

    /// The same region with indices relative to the start of `other`, which contains it.
    ///
    /// ```
    /// use xla_shape_core::shard::Region;
    ///
    /// let region = Region { start: vec![1, 0], limit: vec![3, 6] };
    /// let part = Region { start: vec![2, 4], limit: vec![3, 6] };
    /// assert_eq!(part.within(&region), Region { start: vec![1, 4], limit: vec![2, 6] });
    /// ```
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let shift = |list: &[u64]| list.iter().zip(&other.start).map(|(a, b)| a.saturating_sub(*b)).collect();
        Self { start: shift(&self.start), limit: shift(&self.limit) }
    }
}

/// An array divided among devices.
///
/// XLA computes the same in `HloSharding::TileShape`, `TileOffsetForDevice` and `TileLimitForDevice`
/// (`xla/hlo/ir/hlo_sharding.cc`).
///
/// ```
/// use xla_shape_core::{ArrayShape, shard::Sharding};
///
/// let array: ArrayShape = "f32[10,256]{1,0:T(8,128)}".parse()?;
/// let partition = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse::<Sharding>()?.partition(&array)?;
/// assert_eq!(partition.shard().to_string(), "f32[3,256]{1,0:T(8,128)}");
/// assert_eq!(partition.bytes_per_device(), Some(8192)); // 3 rows, padded to a tile of 8
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
    /// The number of tiles along each dimension.
    tiles: Vec<u64>,
    shard: ArrayShape,
    holders: Holders,
    /// For a list of devices: each device and its position in the list, sorted by device. Empty for an iota.
    positions: Vec<(i64, u64)>,
}

/// Which devices have which part.
#[derive(Clone, Debug)]
enum Holders {
    /// Every device has the whole array. The devices, if they are known.
    All(Option<Devices>),
    /// Each device has a tile.
    Tiles(TiledSharding),
}

impl Sharding {
    /// Divides an array: which part of it each device has.
    ///
    /// A bounded dimension is divided as if its size were the bound. A shard has the layout of the array. Where a size
    /// does not divide evenly, shards have the size rounded up, and the last ones have fewer elements.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1]<=[4]}".parse()?;
    /// let partition = sharding.partition(&"f32[64,256]".parse()?)?;
    /// assert_eq!(partition.shard().to_string(), "f32[16,256]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the sharding has a different number of dimensions, is a tuple, does not determine what each device has
    /// (`{manual}`, `{unknown}`), or lists a device twice; if a dimension is unbounded, or the layout is not valid for
    /// a shard.
    pub fn partition(&self, array: &ArrayShape) -> Result<Partition, ShardingError> {
        let mut sizes = Vec::with_capacity(array.dimensions().len());
        for (dimension, size) in array.dimensions().iter().enumerate() {
            sizes.push(size.extent().ok_or(ShardingError::DynamicDimension { dimension })?);
        }
        // In tiled form, a sharding divides the array into tiles, or one device or all of them have the whole array.
        let tiled = self.to_tiled()?;
        let mut positions = Vec::new();
        let holders = match tiled.kind() {
            ShardingKind::Tuple(_) => return Err(ShardingError::NotATuple),
            kind @ (ShardingKind::Manual | ShardingKind::Unknown) => {
                return Err(ShardingError::Undetermined { kind: kind.name() });
            }
            ShardingKind::Maximal { device } => {
                positions = vec![(*device, 0)];
                check_devices(&positions)?;
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
        // A named sharding has dimensions even if it divides none of them.
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

/// The devices of a list with their positions, sorted; empty for an iota, which computes positions.
fn sorted(devices: &Devices) -> Vec<(i64, u64)> {
    let Devices::List(list) = devices else { return Vec::new() };
    let mut sorted = list.iter().copied().zip(0..).collect::<Vec<_>>();
    sort(&mut sorted);
    sorted
}

/// Checks that no device is negative or occurs twice.
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
    /// The shape of a shard. Where a dimension does not divide evenly, the last shards have fewer elements or none, but
    /// take the same memory.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.shard().to_string(), "f32[3,256]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn shard(&self) -> &ArrayShape {
        &self.shard
    }

    /// The sizes of the whole array.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.sizes(), [10, 256]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The number of tiles along each dimension.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.tiles(), [4, 1]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tiles(&self) -> &[u64] {
        &self.tiles
    }

    /// The number of devices; `None` if every device has the whole array and their number is unknown.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.device_count(), Some(8));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn device_count(&self) -> Option<u64> {
        match &self.holders {
            Holders::All(devices) => devices.as_ref().map(Devices::count),
            Holders::Tiles(tiled) => Some(tiled.assignment().devices().count()),
        }
    }

    /// The number of devices that have each element; `None` as for [`device_count`](Self::device_count).
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.replication(), Some(2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn replication(&self) -> Option<u64> {
        match &self.holders {
            Holders::All(devices) => devices.as_ref().map(Devices::count),
            Holders::Tiles(tiled) => Some(tiled.devices_per_tile()),
        }
    }

    /// The bytes that a shard takes on each device, including the padding of its tiles; `None` if they do not fit in 63
    /// bits.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.bytes_per_device(), Some(3 * 256 * 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes_per_device(&self) -> Option<u64> {
        self.shard.byte_size()
    }

    /// The bytes that all shards take together; `None` if they do not fit in 63 bits, or the number of devices is
    /// unknown.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.bytes_total(), Some(8 * 3 * 256 * 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_per_device()?.checked_mul(self.device_count()?)
    }

    /// Checks that every dimension divides evenly.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// let error = partition.check_even().unwrap_err();
    /// assert_eq!(error.to_string(), "expected dimension 0 to have a size divisible by 4, such as 12, found 10");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If one does not: [`ShardingError::Uneven`] for the first such dimension.
    pub fn check_even(&self) -> Result<(), ShardingError> {
        for (dimension, (&size, &tiles)) in self.sizes.iter().zip(&self.tiles).enumerate() {
            if size.checked_rem(tiles) != Some(0) {
                return Err(ShardingError::Uneven { dimension, size, tiles });
            }
        }
        Ok(())
    }

    /// Whether all shards have the same number of elements.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert!(!partition.is_even());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.check_even().is_ok()
    }

    /// The region of the array that a device has.
    ///
    /// ```
    /// use xla_shape_core::shard::{Region, Sharding};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.region(2)?, Region { start: vec![3, 0], limit: vec![6, 256] });
    /// assert!(partition.region(8).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the sharding does not use the device.
    pub fn region(&self, device: i64) -> Result<Region, ShardingError> {
        let none = ShardingError::NoSuchDevice { device };
        match &self.holders {
            Holders::All(None) if device >= 0 => Ok(Region::whole(&self.sizes)),
            Holders::All(Some(devices)) if self.position(devices, device).is_some() => Ok(Region::whole(&self.sizes)),
            Holders::All(_) => Err(none),
            Holders::Tiles(tiled) => {
                let position = self.position(tiled.assignment().devices(), device).ok_or(none)?;
                Ok(self.numbered_tile(position.checked_div(tiled.devices_per_tile()).unwrap_or(0)))
            }
        }
    }

    /// The position of a device in the order of the tiles; `None` if the sharding does not name it.
    pub(super) fn device_position(&self, device: i64) -> Option<u64> {
        match &self.holders {
            Holders::All(None) => None,
            Holders::All(Some(devices)) => self.position(devices, device),
            Holders::Tiles(tiled) => self.position(tiled.assignment().devices(), device),
        }
    }

    /// The same partition, of an array with another layout.
    pub(super) fn with_layout(self, layout: Layout) -> Result<Self, ShardingError> {
        let shard = self.shard.clone().with_layout(layout).map_err(ShardingError::Layout)?;
        Ok(Self { shard, ..self })
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

    /// The devices in the order of their tiles, each with its region.
    ///
    /// The iterator is empty if all devices have the whole array and their number is unknown.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// let rows = partition.regions().map(|(device, region)| (device, region.start[0])).collect::<Vec<_>>();
    /// assert_eq!(rows[..3], [(0, 0), (1, 0), (2, 3)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn regions(&self) -> impl Iterator<Item = (i64, Region)> + '_ {
        let (devices, per_tile) = match &self.holders {
            Holders::All(devices) => (devices.as_ref(), None),
            Holders::Tiles(tiled) => (Some(tiled.assignment().devices()), Some(tiled.devices_per_tile())),
        };
        let devices = devices.into_iter().flat_map(|devices| devices.iter().zip(0_u64..));
        devices.map(move |(device, position)| {
            let tile = per_tile.and_then(|per_tile| position.checked_div(per_tile));
            (device, self.numbered_tile(tile.unwrap_or(0)))
        })
    }

    /// The devices that have the element with this index.
    ///
    /// The iterator is empty if every device has the whole array and their number is unknown, or if the array has no
    /// such element.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert!(partition.holders(&[9, 0]).eq([6, 7]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn holders(&self, index: &[u64]) -> impl Iterator<Item = i64> + '_ {
        let is_inside = index.len() == self.sizes.len() && index.iter().zip(&self.sizes).all(|(i, size)| i < size);
        let along = |(&i, (&size, &tiles)): (&u64, (&u64, &u64))| i.checked_div(size.div_ceil(tiles)).unwrap_or(0);
        let tile = index.iter().zip(self.sizes.iter().zip(&self.tiles)).map(along).collect::<Vec<_>>();
        self.tile_holders(&tile).filter(move |_| is_inside)
    }

    /// The devices that have the tile with this index: the tile's number along each dimension.
    ///
    /// The iterator is empty if every device has the whole array and their number is unknown, or if there is no such
    /// tile.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert!(partition.tile_holders(&[1, 0]).eq([2, 3]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tile_holders(&self, tile: &[u64]) -> impl Iterator<Item = i64> + use<'_> {
        let copies = (0..self.replication().unwrap_or(0)).zip(core::iter::repeat(self.first_holder(tile)));
        copies.map_while(|(copy, first)| {
            let (devices, first) = first?;
            devices.get(first.saturating_add(copy))
        })
    }

    /// The device that has the copy with this number of a tile.
    pub(super) fn tile_holder(&self, tile: &[u64], copy: u64) -> Option<i64> {
        let (devices, first) = self.first_holder(tile)?;
        devices.get(first.saturating_add(copy))
    }

    /// The list of all devices, and the position in it at which the devices of the tile begin.
    fn first_holder(&self, tile: &[u64]) -> Option<(&Devices, u64)> {
        let (devices, per_tile) = match &self.holders {
            Holders::All(devices) => (devices.as_ref()?, self.replication()?),
            Holders::Tiles(tiled) => (tiled.assignment().devices(), tiled.devices_per_tile()),
        };
        // The devices of a tile follow each other: those of tile `n` begin with number `n * per_tile`.
        Some((devices, self.tile_number(tile)?.saturating_mul(per_tile)))
    }

    /// The region of the array in the tile with this index; `None` if there is no such tile.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let partition = sharding.partition(&"f32[10,256]".parse()?)?;
    /// assert_eq!(partition.tile_region(&[3, 0]).unwrap().start, [9, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tile_region(&self, tile: &[u64]) -> Option<Region> {
        self.tile_number(tile).map(|number| self.numbered_tile(number))
    }

    /// The row-major number of the tile with this index.
    fn tile_number(&self, tile: &[u64]) -> Option<u64> {
        row_major_number(tile, &self.tiles)
    }

    /// The region of the tile with this row-major number.
    fn numbered_tile(&self, number: u64) -> Region {
        let mut region = Region::whole(&self.sizes);
        let bounds = region.start.iter_mut().zip(&mut region.limit);
        let tiles = row_major_index(number, &self.tiles).into_iter().zip(&self.tiles);
        for ((start, limit), (&size, (along, &tiles))) in bounds.zip(self.sizes.iter().zip(tiles)) {
            // The last shards may be smaller, or empty: 10 elements in 4 tiles are 3, 3, 3 and 1, in 6 tiles 2, 2, 2, 2, 2 and 0.
            let shard = size.div_ceil(tiles);
            *start = along.saturating_mul(shard).min(size);
            *limit = along.saturating_add(1).saturating_mul(shard).min(size);
        }
        region
    }
}

impl Sharding {
    /// Divides every array of a shape, in the order of its [leaves](crate::Shape::get_leaf_shapes); `None` for a leaf
    /// that is not an array.
    ///
    /// A sharding that is not a tuple applies to every leaf. As in XLA (`HloSharding::RequiredLeaves` in
    /// `xla/hlo/ir/hlo_sharding.cc`), an empty tuple may have one sharding.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{{devices=[2]<=[2]}, {replicated}}".parse()?;
    /// let partitions = sharding.partitions(&"(f32[8], token[])".parse()?)?;
    /// assert_eq!(partitions[0].as_ref().unwrap().shard().to_string(), "f32[4]{0}");
    /// assert!(partitions[1].is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the numbers of shardings and leaves differ, or [`partition`](Self::partition) fails for an array.
    pub fn partitions(&self, shape: &Shape) -> Result<Vec<Option<Partition>>, ShardingError> {
        let mut leaves = Vec::new();
        collect_leaves(shape, &mut leaves);
        let ShardingKind::Tuple(elements) = self.kind() else {
            return leaves.into_iter().map(|leaf| self.leaf_partition(leaf)).collect();
        };
        if !matches!(shape, Shape::Tuple(_)) {
            return Err(ShardingError::NotATuple);
        }
        // An empty tuple may have one sharding.
        if elements.len() != leaves.len() && !(leaves.is_empty() && elements.len() == 1) {
            return Err(ShardingError::Leaves { expected: leaves.len(), found: elements.len() });
        }
        leaves.into_iter().zip(elements).map(|(leaf, element)| element.leaf_partition(leaf)).collect()
    }

    fn leaf_partition(&self, leaf: &Shape) -> Result<Option<Partition>, ShardingError> {
        leaf.array().map(|array| self.partition(array)).transpose()
    }
}

/// Collects the leaves of a shape. The recursion is at most [`MAX_NESTING`](crate::text::MAX_NESTING) deep, as every
/// shape is.
fn collect_leaves<'a>(shape: &'a Shape, leaves: &mut Vec<&'a Shape>) {
    match shape.tuple_shapes() {
        Some(elements) => elements.iter().for_each(|element| collect_leaves(element, leaves)),
        None => leaves.push(shape),
    }
}
