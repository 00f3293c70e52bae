//! What must move when an array is divided in a different way.

use super::devices::MAX_LISTED_DEVICES;
use super::error::ShardingError;
use super::partition::{Partition, Region};
use super::sharding::Sharding;
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;

/// An array divided in one way that is to be divided in another.
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

/// A part of the array that one device sends to another.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Transfer {
    /// The device that has it.
    pub from: i64,
    /// The device that needs it.
    pub to: i64,
    /// The part.
    pub region: Region,
}

/// The collective operation that does a reshard.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ReshardKind {
    /// Every device has just what it needs.
    Nothing,
    /// Every device needs a part of what it has.
    Slice,
    /// Every device keeps what it has and needs more.
    AllGather,
    /// Every device needs exactly what one device has, another or itself.
    Permute,
    /// Every device needs as much as it has, from several devices.
    AllToAll,
    /// None of these alone.
    Mixed,
}

impl ReshardKind {
    /// What XLA calls the operation that does it: `slice`, `all-gather`, `collective-permute` or `all-to-all`; `nothing` where
    /// none is needed, `mixed` where one is not enough.
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
    /// What must move to divide an array as `to` says, if it is now divided as this sharding says.
    ///
    /// # Errors
    /// If one of them is [no sharding of the array](Self::partition), if devices have only parts of a sum, or if there are more
    /// devices than [`MAX_LISTED_DEVICES`], or their number is unknown.
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
    /// The devices that need something, each with what it needs.
    fn needs(&self) -> impl Iterator<Item = (i64, Region)> + '_ {
        // Where nothing says which devices are to have all of it, those are meant that have something now.
        let all = self.to.device_count().is_none().then(|| self.from.regions());
        let whole = Region::whole(self.to.sizes());
        let all = all.into_iter().flatten().map(move |(device, _)| (device, whole.clone()));
        self.to.regions().chain(all)
    }

    /// The transfers: each device gets what it needs and does not have, from one of the devices that have it.
    pub fn transfers(&self) -> impl Iterator<Item = Transfer> + '_ {
        self.needs().enumerate().flat_map(move |(number, (to, need))| {
            let own = self.from.region(to).ok();
            Tiles::new(&self.from, &need).filter_map(move |tile| {
                let region = self.from.tile_region(&tile)?;
                if own.as_ref() == Some(&region) {
                    return None;
                }
                // Those that have copies take turns.
                let holders = self.from.replication()?.max(1);
                let turn = (number as u64).checked_rem(holders)?;
                let from = self.from.tile_holder(&tile, turn)?;
                Some(Transfer { from, to, region: region.intersection(&need) })
            })
        })
    }

    /// How many elements a device needs and does not have. No other way sends it fewer.
    #[must_use]
    pub fn received(&self, device: i64) -> u64 {
        let need = match self.to.region(device) {
            Ok(need) => need,
            Err(_) => return 0,
        };
        let own = self.from.region(device).map_or(0, |own| own.intersection(&need).elements());
        need.elements().saturating_sub(own)
    }

    /// The bytes that all devices together receive. No other way sends fewer. `None` if they do not fit in 63 bits.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        let mut elements = 0_u64;
        for (device, need) in self.needs() {
            let own = self.from.region(device).map_or(0, |own| own.intersection(&need).elements());
            elements = elements.checked_add(need.elements().saturating_sub(own))?;
        }
        elements.checked_mul(self.element_bits).map(|bits| bits.div_ceil(8))
    }

    /// What it is by the name of a collective operation.
    #[must_use]
    pub fn kind(&self) -> ReshardKind {
        let (mut same, mut within, mut around, mut moved, mut equal) = (true, true, true, true, true);
        for (device, need) in self.needs() {
            let Ok(own) = self.from.region(device) else {
                // A device that has nothing needs all from others.
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

/// The tiles of a partition that have elements of a region, each by its number along each dimension.
struct Tiles {
    /// The first and the last tile of each dimension; `None` if there are none.
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

/// Groups of devices that work together, as `replica_groups` has them: `groups` groups of `size`, in the order of the devices.
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
/// If there are not as many devices, or too many to list.
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
