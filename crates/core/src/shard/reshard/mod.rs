//! [`Reshard`]: which data must move between devices when the sharding of an array changes, and from where to where in their memory.

mod hosts;
mod kind;
mod tiles;

use super::devices::MAX_LISTED_DEVICES;
use super::error::ShardingError;
use super::partition::{Partition, Region};
use super::runs::MovedRuns;
use super::sharding::{Sharding, ShardingKind};
use super::tiled::Subgroup;
use crate::layout::Layout;
use crate::map::{StrideTableError, row_major_index, row_major_number};
use crate::shape::array::ArrayShape;
use alloc::vec;
use alloc::vec::Vec;
pub use hosts::{Hosts, HostsError};
pub use kind::ReshardKind;
use tiles::Tiles;

/// If at most this many devices have the same tile, all of them send equally often.
const MOST_COUNTED: u64 = 256;

/// The change of an array from one sharding to another: a plan that computes only what it is asked for.
///
/// [`sources`](Self::sources) says where the parts of a device's new shard come from, and [`runs`](Self::runs) which bytes go where. The
/// shards may have another [layout](Self::into_layout) after the change. No device receives anything that it already has. Of the devices
/// that hold copies of a part, those of the receiver's [host](Self::with_hosts) send it, if there are any, and they take turns.
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
    /// `None` if no device is nearer than another.
    hosts: Option<Hosts>,
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
    /// If [`partition`](Self::partition) fails for one of the shardings, one is unreduced or has manual subgroups, or there are more devices
    /// than [`MAX_LISTED_DEVICES`].
    pub fn reshard(&self, to: &Self, array: &ArrayShape) -> Result<Reshard, ShardingError> {
        check_elements(self)?;
        check_elements(to)?;
        Reshard::between(self.partition(array)?, to.partition(array)?)
    }
}

/// Checks that the sharding says which elements each device has. Unreduced axes are an error: along them, devices have only summands. Manual
/// axes are an error, too: the program itself divides along them, and the devices of a manual subgroup have different contents for one tile.
pub(super) fn check_elements(sharding: &Sharding) -> Result<(), ShardingError> {
    let sharding = sharding.to_tiled()?;
    let subgroups = match sharding.kind() {
        ShardingKind::Tiled(tiled) => tiled.subgroups(),
        _ => &[],
    };
    let other = subgroups.iter().find(|&&subgroup| subgroup != Subgroup::Replicated);
    match (sharding.reduction(), other) {
        (Some(_), _) => Err(ShardingError::Undetermined { kind: Subgroup::Unreduced.name() }),
        (None, Some(other)) => Err(ShardingError::Undetermined { kind: other.name() }),
        (None, None) => Ok(()),
    }
}

impl Reshard {
    /// The change between two partitions of one array.
    pub(super) fn between(from: Partition, to: Partition) -> Result<Self, ShardingError> {
        let devices = to.device_count().or(from.device_count()).unwrap_or(0);
        if devices > MAX_LISTED_DEVICES {
            return Err(ShardingError::TooManyToList { devices, limit: MAX_LISTED_DEVICES });
        }
        let [element_bits, found] = [&from, &to].map(|side| side.shard().element_bits());
        match found == element_bits {
            true => Ok(Self { from, to, element_bits, hosts: None }),
            false => Err(ShardingError::ElementBits { expected: element_bits, found }),
        }
    }

    /// The same change, into shards with another layout.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?.into_layout("{0,1}".parse()?)?;
    /// assert_eq!(reshard.to().shard().to_string(), "f32[8,4]{0,1}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the layout is not valid for a shard, or gives an element a different number of bits.
    pub fn into_layout(self, layout: Layout) -> Result<Self, ShardingError> {
        let to = self.to.with_layout(layout)?;
        match to.shard().element_bits() {
            found if found != self.element_bits => {
                Err(ShardingError::ElementBits { expected: self.element_bits, found })
            }
            _ => Ok(Self { to, ..self }),
        }
    }

    /// The same change, among hosts that have `devices` devices each: the first host has devices 0 to `devices - 1`, and so on. If a device
    /// on the receiver's host has a part, no other host sends it.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// // Devices 0 and 2 have the first four rows, 1 and 3 the last.
    /// let from: Sharding = "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}".parse()?;
    /// let reshard = from.reshard(&Sharding::REPLICATED, &"f32[8,8]".parse()?)?;
    /// let reshard = reshard.with_hosts("2".parse()?);
    /// assert!(reshard.transfers().all(|transfer| transfer.from / 2 == transfer.to / 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_hosts(mut self, hosts: Hosts) -> Self {
        self.hosts = Some(hosts);
        self
    }

    /// What each device has before.
    ///
    /// ```
    /// # use xla_shape_core::shard::Sharding;
    /// # let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.from().shard().to_string(), "f32[4,8]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn from(&self) -> &Partition {
        &self.from
    }

    /// What each device has afterwards.
    ///
    /// ```
    /// # use xla_shape_core::shard::Sharding;
    /// # let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.to().shard().to_string(), "f32[8,4]{1,0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn to(&self) -> &Partition {
        &self.to
    }

    /// The devices of the target, each with the region that it needs.
    fn needs(&self) -> impl Iterator<Item = (i64, Region)> + '_ {
        // If the target is replicated on unknown devices, it is replicated on the devices of the source.
        let all = self.to.device_count().is_none().then(|| self.from.regions());
        let whole = Region::whole(self.to.sizes());
        let all = all.into_iter().flatten().map(move |(device, _)| (device, whole.clone()));
        self.to.regions().chain(all)
    }

    /// The region that a device needs; `None` if the target does not use it.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!([1, 2].map(|device| reshard.need(device).map(|need| need.start)), [Some(vec![0, 4]), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn need(&self, device: i64) -> Option<Region> {
        // As in `needs`.
        let is_used = self.to.device_count().is_some() || self.from.region(device).is_ok();
        self.to.region(device).ok().filter(|_| is_used)
    }

    /// The devices of the target, in the order of their tiles. There are none if the array is replicated before and after, on devices that
    /// no sharding names.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (whole, columns): (Sharding, Sharding) = ("{maximal device=0}".parse()?, "{devices=[1,2]1,0}".parse()?);
    /// let reshard = whole.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert!(reshard.receivers().eq([1, 0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn receivers(&self) -> impl Iterator<Item = i64> + '_ {
        self.needs().map(|(device, _)| device)
    }

    /// Where the parts of a device's new shard come from: from the device itself, or from one of those that have the part. The regions do not
    /// overlap, and are all that the device needs. Nothing for a device that the target does not use.
    ///
    /// The time depends on the parts of this device and their copies, not on the number of devices.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// // Device 0 keeps the left half of its rows, and receives that of the others.
    /// assert!(reshard.sources(0).map(|source| source.from).eq([0, 1]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sources(&self, device: i64) -> impl Iterator<Item = Transfer> + '_ {
        let own = self.from.region(device).ok();
        self.need(device).into_iter().flat_map(move |need| {
            let own = own.clone();
            Tiles::new(&self.from, &need).filter_map(move |tile| {
                let region = self.from.tile_region(&tile)?;
                let from = if own.as_ref() == Some(&region) { device } else { self.sender(&tile, &region, device)? };
                Some(Transfer { from, to: device, region: region.intersection(&need) })
            })
        })
    }

    /// Which of the devices that have a tile sends it to `receiver`, which does not have it.
    fn sender(&self, tile: &[u64], region: &Region, receiver: i64) -> Option<i64> {
        let copies = self.from.replication()?.max(1);
        let turn = self.turn(tile, region, receiver)?;
        if let Some(hosts) = self.hosts.as_ref().filter(|_| copies > 1) {
            // The devices on the receiver's host that have the tile. The shorter list is searched: the holders of the
            // tile, or the devices of the host.
            let near: Vec<i64> = if copies <= hosts.most_devices() {
                self.from.tile_holders(tile).filter(|&device| hosts.are_near(device, receiver)).collect()
            } else {
                hosts.beside(receiver).filter(|&device| self.from.region(device).as_ref() == Ok(region)).collect()
            };
            let turn = turn.checked_rem(near.len() as u64).and_then(|turn| usize::try_from(turn).ok());
            if let Some(&device) = turn.and_then(|turn| near.get(turn)) {
                return Some(device);
            }
        }
        self.from.tile_holder(tile, turn.checked_rem(copies)?)
    }

    /// The number of a device among the receivers of a tile. The holders of the tile take turns: this number decides which one sends.
    fn turn(&self, tile: &[u64], region: &Region, receiver: i64) -> Option<u64> {
        let place = |device: i64| {
            // As in `needs`.
            if self.to.device_count().is_none() {
                return self.from.device_position(device);
            }
            let position = self.to.device_position(device)?;
            // The tiles of the target that overlap this one are a box; the devices of each follow each other.
            let copies = self.to.replication()?.max(1);
            let own = row_major_index(position.checked_div(copies)?, self.to.tiles());
            let bounds = Tiles::bounds(&self.to, region)?;
            let is_inside = own.iter().zip(&bounds).all(|(own, (first, last))| (first..=last).contains(&own));
            let inside =
                own.iter().zip(&bounds).map(|(own, (first, _))| own.saturating_sub(*first)).collect::<Vec<_>>();
            let sizes =
                bounds.iter().map(|(first, last)| last.saturating_sub(*first).saturating_add(1)).collect::<Vec<_>>();
            let number = row_major_number(&inside, &sizes).filter(|_| is_inside)?;
            number.checked_mul(copies)?.checked_add(position.checked_rem(copies)?)
        };
        let own = place(receiver)?;
        // Devices that have the tile receive nothing, so they get no number. If there are very many, counting them takes too long: they get
        // numbers, too, and some holders send one part more than others.
        if self.from.replication()? > MOST_COUNTED {
            return Some(own);
        }
        let before = self.from.tile_holders(tile).filter(|&holder| place(holder).is_some_and(|place| place < own));
        own.checked_sub(before.count() as u64)
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
        self.receivers().flat_map(|device| self.sources(device)).filter(|transfer| transfer.from != transfer.to)
    }

    /// The pairs of positions in the sender's and the receiver's shard, as runs that are as long as possible, in the order of the receiver's
    /// memory.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[4,8]".parse()?)?;
    /// let transfer = reshard.transfers().next().unwrap();
    /// // Device 1 sends the left halves of its two rows of 8; they become the last two rows of 4 of device 0.
    /// let runs = reshard.runs(&transfer)?.map(|run| (run.from, run.to, run.len));
    /// assert!(runs.eq([(0, 8, 4), (8, 12, 4)]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`ArrayShape::stride_table`], for a shard.
    pub fn runs(&self, transfer: &Transfer) -> Result<MovedRuns, StrideTableError> {
        let start =
            |partition: &Partition, device| partition.region(device).map(|region| region.start).unwrap_or_default();
        let from = (self.from.shard(), start(&self.from, transfer.from));
        let to = (self.to.shard(), start(&self.to, transfer.to));
        MovedRuns::new(from, to, &transfer.region)
    }

    /// Makes the new shard of a device: copies each part of it from the shard of the device that has it. Padding is left as it is.
    ///
    /// This does in one memory what the devices do together. Use it to test a program, or to reshard an array that is on one host. `shard` returns
    /// the bytes of a device's shard before the change.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"u8[2,4]".parse()?)?;
    /// let before = [[1, 2, 3, 4], [5, 6, 7, 8]];
    /// let mut after = [0; 4];
    /// reshard.receive(1, |device| Some(&before.get(device as usize)?[..]), &mut after)?;
    /// assert_eq!(after, [3, 4, 7, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the target does not use the device, `shard` has nothing for a device, or a shard does not have the bytes of its shape. Parts
    /// that were copied before the error stay.
    pub fn receive<'a>(
        &self,
        device: i64,
        shard: impl Fn(i64) -> Option<&'a [u8]>,
        destination: &mut [u8],
    ) -> Result<(), ShardingError> {
        let check = |device: i64, partition: &Partition, found: usize| {
            let (expected, found) = (partition.shard().byte_size(), found as u64);
            if expected == Some(found) { Ok(()) } else { Err(ShardingError::ShardBytes { device, expected, found }) }
        };
        self.need(device).ok_or(ShardingError::NoSuchDevice { device })?;
        check(device, &self.to, destination.len())?;
        for source in self.sources(device) {
            let from = shard(source.from).ok_or(ShardingError::NoShard { device: source.from })?;
            check(source.from, &self.from, from.len())?;
            for run in self.runs(&source).map_err(|_| ShardingError::Overflow)? {
                run.copy([self.from.shard(), self.to.shard()], from, destination).ok_or(ShardingError::Overflow)?;
            }
        }
        Ok(())
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
        let Some(need) = self.need(device) else { return 0 };
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

    /// The bytes that all devices together need and have already; `None` if the number of bits does not fit in a `u64`.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[2,1]<=[2]}".parse()?, "{devices=[1,2]<=[2]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.bytes_kept(), Some(2 * 16 * 4));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn bytes_kept(&self) -> Option<u64> {
        let mut elements = 0_u64;
        for (device, need) in self.needs() {
            let own = self.from.region(device).map_or(0, |own| own.intersection(&need).elements());
            elements = elements.checked_add(own)?;
        }
        elements.checked_mul(self.element_bits).map(|bits| bits.div_ceil(8))
    }

    /// The number of transfers; `None` if it does not fit in a `u64`. It is computed without making them.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let (rows, columns): (Sharding, Sharding) = ("{devices=[4,1]<=[4]}".parse()?, "{devices=[1,4]<=[4]}".parse()?);
    /// let reshard = rows.reshard(&columns, &"f32[8,8]".parse()?)?;
    /// assert_eq!(reshard.messages(), Some(4 * 3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn messages(&self) -> Option<u64> {
        let mut messages = 0_u64;
        for (device, need) in self.needs() {
            let Some(bounds) = Tiles::bounds(&self.from, &need) else { continue };
            let mut tiles = 1_u64;
            for (first, last) in bounds {
                tiles = tiles.checked_mul(last.checked_sub(first)?.checked_add(1)?)?;
            }
            let has_one = self.from.region(device).is_ok_and(|own| !own.intersection(&need).is_empty());
            messages = messages.checked_add(tiles.checked_sub(u64::from(has_one))?)?;
        }
        Some(messages)
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
