//! [`Reshard`]: which data must move between devices when the sharding of an array changes.

use super::devices::MAX_LISTED_DEVICES;
use super::error::ShardingError;
use super::partition::{Partition, Region};
use super::sharding::Sharding;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

/// The change of an array from one sharding to another.
///
/// ```
/// use xla_shape_core::shard::{ReshardKind, Sharding};
///
/// let array = "f32[8,8]".parse()?;
/// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
/// let reshard = rows.reshard(&columns, &array)?;
/// assert_eq!(reshard.kind(), ReshardKind::AllToAll);
/// assert_eq!(reshard.bytes(), Some(2 * 16 * 4)); // half of what each device has
/// let transfer = reshard.transfers().next().unwrap();
/// assert_eq!((transfer.from, transfer.to), (1, 0));
/// assert_eq!((transfer.region.start, transfer.region.limit), (vec![4, 0], vec![8, 4]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Reshard {
    from: Partition,
    to: Partition,
    element_bits: u64,
}

/// A region of the array that one device sends to another.
///
/// ```
/// use xla_shape_core::shard::Sharding;
///
/// let (rows, whole): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{maximal device=0}".parse()?);
/// let reshard = rows.reshard(&whole, &"f32[8,8]".parse()?)?;
/// let transfer = reshard.transfers().next().unwrap();
/// assert_eq!((transfer.from, transfer.to), (1, 0));
/// assert_eq!((transfer.region.start, transfer.region.limit), (vec![4, 0], vec![8, 8]), "the rows that device 0 lacks");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Transfer {
    /// The device that has it.
    pub from: i64,
    /// The device that needs it.
    pub to: i64,
    /// The region of the whole array.
    pub region: Region,
}

/// The collective operation that performs a reshard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReshardKind {
    /// Every device already has exactly what it needs.
    Nothing,
    /// Every device needs a part of what it has.
    Slice,
    /// Every device keeps what it has and needs more.
    AllGather,
    /// Every device needs exactly what a single device has, itself or another.
    Permute,
    /// Every device needs the same number of elements as it has, from several devices.
    AllToAll,
    /// No single operation suffices.
    Mixed,
}

impl ReshardKind {
    /// XLA's name of the operation: `slice`, `all-gather`, `collective-permute` or `all-to-all`; `nothing` if none is
    /// needed, `mixed` if one is not enough.
    ///
    /// ```
    /// use xla_shape_core::shard::ReshardKind;
    ///
    /// assert_eq!(ReshardKind::Permute.name(), "collective-permute");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Slice => "slice",
            Self::AllGather => "all-gather",
            Self::Permute => "collective-permute",
            Self::AllToAll => "all-to-all",
            Self::Mixed => "mixed",
        }
    }
}

impl Sharding {
    /// What must move to change the sharding of an array from this one to `to`.
    ///
    /// ```
    /// use xla_shape_core::shard::{ReshardKind, Sharding};
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.kind(), ReshardKind::AllToAll);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If [`partition`](Self::partition) fails for one of the shardings, one is unreduced, or there are more devices
    /// than [`MAX_LISTED_DEVICES`].
    pub fn reshard(&self, to: &Self, array: &ArrayShape) -> Result<Reshard, ShardingError> {
        for sharding in [self, to] {
            if sharding.to_tiled()?.reduction().is_some() {
                return Err(ShardingError::Undetermined { kind: "unreduced" });
            }
        }
        let (from, to) = (self.partition(array)?, to.partition(array)?);
        let devices = to.device_count().or(from.device_count()).unwrap_or(0);
        if devices > MAX_LISTED_DEVICES {
            return Err(ShardingError::TooManyToList { devices, limit: MAX_LISTED_DEVICES });
        }
        Ok(Reshard { from, to, element_bits: array.element_bits() })
    }
}

impl Reshard {
    /// The devices of the target, each with the region that it needs.
    fn needs(&self) -> impl Iterator<Item = (i64, Region)> + '_ {
        // If the target is replicated on unknown devices, it is replicated on the devices of the source.
        let all = self.to.device_count().is_none().then(|| self.from.regions());
        let whole = Region::whole(self.to.sizes());
        let all = all.into_iter().flatten().map(move |(device, _)| (device, whole.clone()));
        self.to.regions().chain(all)
    }

    /// The transfers: each device receives what it needs and does not have from one of the devices that have it.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert!(reshard.transfers().map(|transfer| (transfer.from, transfer.to)).eq([(1, 0), (0, 1)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn transfers(&self) -> impl Iterator<Item = Transfer> + '_ {
        self.needs().enumerate().flat_map(move |(number, (to, need))| {
            let own = self.from.region(to).ok();
            Tiles::new(&self.from, &need).filter_map(move |tile| {
                let region = self.from.tile_region(&tile)?;
                if own.as_ref() == Some(&region) {
                    return None;
                }
                // The devices that hold copies take turns in sending.
                let holders = self.from.replication()?.max(1);
                let turn = (number as u64).checked_rem(holders)?;
                let from = self.from.tile_holder(&tile, turn)?;
                Some(Transfer { from, to, region: region.intersection(&need) })
            })
        })
    }

    /// The number of elements that a device needs and does not have; 0 for a device that the target does not use. This
    /// is the least that it can receive.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.received(0), 16); // half of its 8x4 elements
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn received(&self, device: i64) -> u64 {
        let need = match self.to.region(device) {
            Ok(need) => need,
            Err(_) => return 0,
        };
        let own = self.from.region(device).map_or(0, |own| own.intersection(&need).elements());
        need.elements().saturating_sub(own)
    }

    /// The bytes that all devices together receive, which is the least possible; `None` if the number of bits does not
    /// fit in a `u64`.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.bytes(), Some(2 * 16 * 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let mut elements = 0_u64;
        for (device, need) in self.needs() {
            let own = self.from.region(device).map_or(0, |own| own.intersection(&need).elements());
            elements = elements.checked_add(need.elements().saturating_sub(own))?;
        }
        elements.checked_mul(self.element_bits).map(|bits| bits.div_ceil(8))
    }

    /// The collective operation that performs it.
    ///
    /// ```
    /// use xla_shape_core::shard::{ReshardKind, Sharding};
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.kind(), ReshardKind::AllToAll);
    /// let gather = rows.reshard(&Sharding::REPLICATED, &"f32[8,8]".parse()?)?;
    /// assert_eq!(gather.kind(), ReshardKind::AllGather);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn kind(&self) -> ReshardKind {
        let (mut same, mut within, mut around, mut moved, mut equal) = (true, true, true, true, true);
        for (device, need) in self.needs() {
            let Ok(own) = self.from.region(device) else {
                // A device that has nothing must receive everything.
                (same, within, around, equal) = (false, false, false, false);
                moved = false;
                continue;
            };
            let common = own.intersection(&need).elements();
            same &= own == need || (own.is_empty() && need.is_empty());
            within &= common == need.elements();
            around &= common == own.elements();
            equal &= own.elements() == need.elements();
            let mut tiles = Tiles::new(&self.from, &need);
            let first = tiles.next().and_then(|tile| self.from.tile_region(&tile));
            moved &= first.is_none_or(|first| first == need) && tiles.next().is_none();
        }
        match () {
            () if same => ReshardKind::Nothing,
            () if within => ReshardKind::Slice,
            () if around => ReshardKind::AllGather,
            () if moved => ReshardKind::Permute,
            () if equal => ReshardKind::AllToAll,
            () => ReshardKind::Mixed,
        }
    }
}

/// Iterates over the indices of the tiles of a partition that overlap a region.
struct Tiles {
    /// The first and the last tile along each dimension; `None` if no tile overlaps.
    bounds: Option<Vec<(u64, u64)>>,
    next: Option<Vec<u64>>,
}

impl Tiles {
    fn new(partition: &Partition, region: &Region) -> Self {
        if region.is_empty() {
            return Self { bounds: None, next: None };
        }
        let mut bounds = Vec::with_capacity(partition.sizes().len());
        let sides = region.start.iter().zip(&region.limit);
        for ((&start, &limit), (&size, &tiles)) in sides.zip(partition.sizes().iter().zip(partition.tiles())) {
            let shard = size.div_ceil(tiles).max(1);
            let tile = |index: u64| index.checked_div(shard).unwrap_or(0);
            bounds.push((tile(start), tile(limit.saturating_sub(1))));
        }
        let next = bounds.iter().map(|&(first, _)| first).collect();
        Self { bounds: Some(bounds), next: Some(next) }
    }
}

impl Iterator for Tiles {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let bounds = self.bounds.as_ref()?;
        let tile = self.next.take()?;
        let mut after = tile.clone();
        for (number, &(first, last)) in after.iter_mut().zip(bounds).rev() {
            if *number < last {
                *number = number.saturating_add(1);
                self.next = Some(after);
                break;
            }
            *number = first;
        }
        Some(tile)
    }
}

/// The replica groups of a collective operation: `groups` groups of `size` devices, in the order of the devices. XLA's
/// `IotaReplicaGroupList` in `xla/hlo/ir/replica_group.h` describes them in the same way.
///
/// ```
/// use xla_shape_core::shard::{Devices, Iota, replica_groups};
///
/// let devices = Devices::Iota(Iota::new(&[2, 2], &[1, 0])?);
/// assert_eq!(replica_groups(2, 2, &devices)?, [[0, 2], [1, 3]]);
/// # Ok::<(), xla_shape_core::shard::ShardingError>(())
/// ```
///
/// # Errors
/// If there are not `groups * size` devices, or there are more than [`MAX_LISTED_DEVICES`].
pub fn replica_groups(groups: u64, size: u64, devices: &super::Devices) -> Result<Vec<Vec<i64>>, ShardingError> {
    let expected = super::devices::product(&[groups, size])?;
    if expected != devices.count() {
        return Err(ShardingError::DeviceCount { expected, found: devices.count() });
    }
    let mut list = devices.to_list()?.into_iter();
    let mut all = vec![Vec::new(); usize::try_from(groups).map_err(|_| ShardingError::Overflow)?];
    for group in &mut all {
        group.extend(list.by_ref().take(usize::try_from(size).map_err(|_| ShardingError::Overflow)?));
    }
    Ok(all)
}
