//! What moves between devices when the sharding of an array changes.

mod beside;
mod through;

pub use beside::{ByXla, XlaCollective, XlaMoves};
pub use through::Through;

use crate::Answer;
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use xla_shape_core::shard::{
    Hosts, Mesh, RearrangeError, Rearrangement, Reshard, ReshardKind, Sharding, ShardingError, ShardingKind, Transfer,
};
use xla_shape_core::{ArrayShape, Layout};
use xla_shape_program::CompileError;

/// At most this many devices are listed.
const MAX_DEVICES: usize = 4096;
/// At most this many messages are listed, or counted for each axis of the mesh.
const MAX_MESSAGES: u64 = 1 << 18;

/// What moves between devices when the sharding of an array changes: the least amount that must move, who sends it, and which collective operation
/// moves it.
///
/// Bytes are those of the elements, without padding. No device receives data that it has already.
///
/// ```
/// use xla_shape_answers::reshard::{Change, Collective, Resharding};
///
/// let change = Change {
///     array: "bf16[8192,4096]".parse()?,
///     from: "{devices=[4,1]<=[4]}".parse()?,
///     to: "{devices=[1,4]<=[4]}".parse()?,
///     rearrangement: None,
///     layout: None,
///     hosts: None,
///     devices: Vec::new(),
/// };
/// let answer = Resharding::new(&change)?;
/// assert_eq!((answer.bytes_moved, answer.bytes_kept, answer.messages), (Some(48 << 20), Some(16 << 20), Some(12)));
/// assert_eq!(answer.collectives, [Collective::AllToAll]);
/// assert_eq!(answer.devices[0].from.iter().map(|part| part.device).collect::<Vec<_>>(), [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Resharding {
    /// The shape of the array, with its layout.
    pub shape: String,
    /// How the array is divided before the change.
    pub before: Division,
    /// How the array is divided after the change.
    pub after: Division,
    /// The bytes that all devices together receive from others, which is the least possible; null if the bits do not fit in 64 bits.
    pub bytes_moved: Option<u64>,
    /// The bytes that all devices together need and have already; null if the bits do not fit in 64 bits.
    pub bytes_kept: Option<u64>,
    /// How many parts of the array one device sends to another; null if the number does not fit in 64 bits.
    pub messages: Option<u64>,
    /// The collective operation that makes the change. If several are needed (see `several`), these are the operations that make it one after
    /// another, through the shardings of `through`; their bytes are `through.bytes_moved`. Empty if no such sequence is known, or if nothing moves.
    pub collectives: Vec<Collective>,
    /// Whether no single collective operation makes the change.
    pub several: bool,
    /// If XLA needs several operations: shardings between the old and the new one. If XLA's partitioner warns of an "Involuntary full
    /// rematerialization", constrain the array to them, one after another. Null if one operation makes the change, if the array is rearranged, or if
    /// no such shardings are known.
    pub through: Option<Through>,
    /// For a sharding with a mesh: what moves along which of its axes. Null without a mesh, or if there are more than 262,144 messages.
    pub axes: Option<Vec<Along>>,
    /// What each device needs, in the order of the tiles of the new sharding, or the devices that were asked for.
    pub devices: Vec<Receiver>,
    /// How many devices are not listed.
    pub more_devices: u64,
    /// What XLA's compiler makes of the change; null if it was not asked.
    pub xla: Option<ByXla>,
}

/// How an array is divided among devices.
///
/// ```
/// # use xla_shape_answers::reshard::{Change, Resharding};
/// # let (from, to) = ("{devices=[2,1]<=[2]}".parse()?, "{maximal device=0}".parse()?);
/// # let change = Change { array: "f32[8,4]".parse()?, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() };
/// let before = Resharding::new(&change)?.before;
/// assert_eq!((before.shard.as_str(), before.shard_bytes), ("f32[4,4]{1,0}", Some(64)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Division {
    /// The canonical text of the sharding.
    pub sharding: String,
    /// The shape of a shard, with its layout.
    pub shard: String,
    /// The bytes of a shard, with padding; null if they do not fit in 64 bits.
    pub shard_bytes: Option<u64>,
}

words! {
    /// A collective operation.
    pub enum Collective {
        /// Every device keeps what it has and receives more.
        AllGather = "all-gather",
        /// The devices exchange parts of what they have. Each has as many elements as before.
        AllToAll = "all-to-all",
        /// Every device receives what one device has.
        Permute = "collective-permute",
    }
}

/// What moves between devices whose places in the mesh differ in exactly these axes.
///
/// ```
/// # use xla_shape_answers::reshard::{Change, Resharding};
/// # let (from, to) = ("{mesh['x'=2,'y'=2], [{'x'}]}".parse()?, "{mesh['x'=2,'y'=2], [{}]}".parse()?);
/// # let change = Change { array: "f32[8]".parse()?, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() };
/// let axes = Resharding::new(&change)?.axes.unwrap();
/// assert_eq!((axes[0].axes.as_slice(), axes[0].bytes, axes[0].messages), (&["x".to_owned()][..], 64, 4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Along {
    /// The names of the axes.
    pub axes: Vec<String>,
    /// The bytes that all devices together receive.
    pub bytes: u64,
    /// How many messages bring them.
    pub messages: u64,
}

/// What a device needs, and from where.
///
/// ```
/// # use xla_shape_answers::reshard::{Change, Resharding};
/// # let (from, to) = ("{devices=[2,1]<=[2]}".parse()?, "{maximal device=0}".parse()?);
/// # let change = Change { array: "f32[8,4]".parse()?, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() };
/// let receiver = &Resharding::new(&change)?.devices[0];
/// assert_eq!((receiver.device, receiver.kept_bytes), (0, 64));
/// assert_eq!((receiver.from[0].device, receiver.from[0].bytes), (1, 64));
/// assert_eq!((receiver.from[0].start.as_slice(), receiver.from[0].limit.as_slice()), (&[4, 0][..], &[8, 4][..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Receiver {
    /// The device.
    pub device: i64,
    /// The bytes that it needs and has already.
    pub kept_bytes: u64,
    /// What it receives.
    pub from: Vec<Sent>,
}

/// A part of an array that a device sends.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Sent {
    /// The device that sends it.
    pub device: i64,
    /// The bytes of its elements.
    pub bytes: u64,
    /// The first index of each dimension in the whole array; after a rearrangement, of each axis of the rearrangement, in the order of its left side.
    pub start: Vec<u64>,
    /// The index after the last one of each dimension.
    pub limit: Vec<u64>,
}

/// The question: a change of a sharding.
///
/// ```
/// use xla_shape_answers::reshard::{Change, ReshardError, Resharding};
///
/// let (from, to) = ("{devices=[2,1]<=[2]}".parse()?, "{manual}".parse()?);
/// let change = Change { array: "f32[8,4]".parse()?, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() };
/// assert!(Resharding::new(&change).unwrap_err().to_string().contains("`{manual}`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Change {
    /// The array, with the layout that its shards have before.
    pub array: ArrayShape,
    /// How the array is divided before the change. As in JAX, a sharding that names axes may have fewer dimensions than the array; the other
    /// dimensions are not divided.
    pub from: Sharding,
    /// How the array is divided after the change. If there is a rearrangement, this divides the rearranged array.
    pub to: Sharding,
    /// A reshape and a transposition of the array before it is divided again.
    pub rearrangement: Option<Rearrangement>,
    /// The layout of the shards afterwards. With `None`, they keep the layout from before or, after a rearrangement, are row-major.
    pub layout: Option<Layout>,
    /// Which devices are on the same host, if that matters for who sends.
    pub hosts: Option<Hosts>,
    /// The devices to list; all if it is empty. Each is listed once, and the list ends before its devices have too many messages together.
    pub devices: Vec<i64>,
}

/// Why a change of a sharding is refused.
///
/// ```
/// use xla_shape_answers::reshard::ReshardError;
/// use xla_shape_core::shard::ShardingError;
///
/// let error = ReshardError::After(ShardingError::NotATuple);
/// assert!(error.to_string().starts_with("the new sharding: "));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ReshardError {
    /// The sharding before does not fit the array.
    Before(ShardingError),
    /// The sharding afterwards does not fit the array, or its shards cannot have the layout.
    After(ShardingError),
    /// The two shardings do not fit each other.
    Both(ShardingError),
    /// The array cannot be rearranged in this way, or its shards before or afterwards do not allow it.
    Rearrangement(RearrangeError),
    /// A requested device does not belong to the new sharding.
    NoSuchDevice(i64),
    /// A sharding does not use exactly the devices for which XLA should compile.
    OtherDevices {
        /// Whether this is about the new sharding.
        is_new: bool,
        /// How many devices XLA should compile for.
        expected: u64,
        /// How many devices the sharding has.
        found: u64,
    },
    /// XLA did not compile the change.
    NotCompiled(CompileError),
}

impl fmt::Display for ReshardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Before(error) => write!(f, "the sharding before: {error}"),
            Self::After(error) => write!(f, "the new sharding: {error}"),
            Self::Both(error) => error.fmt(f),
            Self::Rearrangement(error) => write!(f, "the rearrangement: {error}"),
            Self::NoSuchDevice(device) => write!(f, "the new sharding does not use device {device}"),
            Self::OtherDevices { is_new, expected, found } => {
                let side = if *is_new { "the new sharding" } else { "the sharding before" };
                let last = expected.saturating_sub(1);
                write!(
                    f,
                    "{side}: expected one of the {expected} devices to compile for, 0 to {last}, found one of {found}"
                )?;
                if found == expected { f.write_str(" with other numbers") } else { Ok(()) }
            }
            Self::NotCompiled(error) => write!(f, "XLA did not compile the change: {error}"),
        }
    }
}

impl std::error::Error for ReshardError {}

impl Change {
    /// Who sends what to whom, and the shape of a shard after the change.
    ///
    /// ```
    /// # use xla_shape_answers::reshard::Change;
    /// # let (from, to) = ("{devices=[2,1]<=[2]}".parse()?, "{maximal device=0}".parse()?);
    /// # let change = Change { array: "f32[8,4]".parse()?, from, to, rearrangement: None, layout: None, hosts: None, devices: Vec::new() };
    /// let (plan, shard) = change.plan()?;
    /// assert_eq!((plan.bytes(), shard.to_string().as_str()), (Some(64), "f32[8,4]{1,0}"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`Resharding::new`], without the errors about devices to list.
    pub fn plan(&self) -> Result<(Reshard, ArrayShape), ReshardError> {
        let Self { array, rearrangement, layout, hosts, .. } = self;
        let [from, to] = &self.sides()?;
        from.partition(array).map_err(ReshardError::Before)?;
        let wrong = ReshardError::Rearrangement;
        let result = rearrangement.as_ref().map(|made| made.result(array).map_err(wrong)).transpose()?;
        let mut shard = to.partition(result.as_ref().unwrap_or(array)).map_err(ReshardError::After)?.shard().clone();
        if let Some(layout) = layout {
            let laid_out = shard.with_layout(layout.clone());
            shard = laid_out.map_err(|error| ReshardError::After(ShardingError::Layout(error)))?;
        }
        let mut reshard = match rearrangement {
            Some(made) => made.reshard((array, from), to, layout.as_ref()).map_err(wrong)?,
            None => {
                // The error does not say which sharding is wrong. So each is resharded to itself: this fails only for a wrong one.
                from.reshard(to, array).map_err(|error| match [from, to].map(|side| side.reshard(side, array)) {
                    [Err(error), _] => ReshardError::Before(error),
                    [_, Err(error)] => ReshardError::After(error),
                    _ => ReshardError::Both(error),
                })?
            }
        };
        if let (None, Some(layout)) = (rearrangement, layout) {
            reshard = reshard.into_layout(layout.clone()).map_err(ReshardError::After)?;
        }
        if let Some(hosts) = hosts {
            reshard = reshard.with_hosts(hosts.clone());
        }
        Ok((reshard, shard))
    }

    /// Both shardings, with all dimensions.
    fn sides(&self) -> Result<[Cow<'_, Sharding>; 2], ReshardError> {
        let Self { array, from, to, rearrangement, .. } = self;
        let before = array.num_dimensions();
        let after = match rearrangement {
            Some(made) => made.result(array).map_err(ReshardError::Rearrangement)?.num_dimensions(),
            None => before,
        };
        Ok([from.for_dimensions(before), to.for_dimensions(after)])
    }
}

impl Division {
    fn new(sharding: &Sharding, shard: &ArrayShape) -> Self {
        Self { sharding: sharding.to_string(), shard: shard.to_string(), shard_bytes: shard.byte_size() }
    }
}

impl Resharding {
    /// Answers about a change.
    ///
    /// # Errors
    /// If a sharding does not fit the array, or does not determine what each device has (`{manual}`, `{unknown}`, unreduced); if the layout does not
    /// fit a shard; if there are too many devices to list; if a device that is asked for is not used.
    pub fn new(change: &Change) -> Result<Self, ReshardError> {
        let Change { array, rearrangement, hosts, devices, .. } = change;
        let [from, to] = &change.sides()?;
        let before = from.partition(array).map_err(ReshardError::Before)?;
        let (reshard, after) = change.plan()?;
        let element_bits = array.element_bits();
        // This does not overflow: a part has at most as many elements as the array, and the array's number of bits fits.
        let bytes = |transfer: &Transfer| (transfer.region.elements() * element_bits).div_ceil(8);
        let kind = reshard.kind();
        let messages = reshard.messages();
        let effort = effort(&reshard, hosts.as_ref());
        let is_few = messages.is_some_and(|messages| messages <= MAX_MESSAGES / effort);
        let mesh = mesh_of(to).or_else(|| mesh_of(from)).filter(|_| is_few);
        let (listed, more_devices) = listed(&reshard, devices, effort)?;
        let through = if rearrangement.is_none() { Through::new(array, from, to) } else { None };
        let several = kind == ReshardKind::Mixed;
        let collectives = match &through {
            Some(through) if several => through.collectives.clone(),
            _ => collective(kind).into_iter().collect(),
        };
        Ok(Self {
            shape: array.to_string(),
            before: Division::new(from, before.shard()),
            after: Division::new(to, &after),
            bytes_moved: reshard.bytes(),
            bytes_kept: reshard.bytes_kept(),
            messages,
            collectives,
            several,
            through,
            axes: mesh.map(|mesh| along(mesh, &reshard, bytes)),
            devices: listed.into_iter().map(|device| receiver(&reshard, device, bytes)).collect(),
            more_devices,
            xla: None,
        })
    }

    /// The most bytes that a listed device receives.
    #[must_use]
    pub fn most_received(&self) -> u64 {
        self.devices.iter().map(|device| device.from.iter().map(|sent| sent.bytes).sum()).max().unwrap_or(0)
    }
}

/// Whether XLA's partitioner needs several operations, because one of its all-to-alls changes only two dimensions.
fn needs_several(reshard: &Reshard) -> bool {
    let changed = || reshard.from().tiles().iter().zip(reshard.to().tiles()).filter(|(from, to)| from != to).count();
    match reshard.kind() {
        ReshardKind::Mixed => true,
        ReshardKind::AllToAll => changed() > 2,
        _ => false,
    }
}

/// The cost of finding the sender of a part, in units of 64 devices. Usually, few devices are checked. But if hosts are given, every device on the
/// receiver's host that has a copy is checked.
fn effort(reshard: &Reshard, hosts: Option<&Hosts>) -> u64 {
    let copies = reshard.from().replication().unwrap_or(1);
    1 + hosts.map_or(0, |hosts| hosts.most_devices().min(copies)) / 64
}

/// The devices to list, and how many more there are. The list ends before its messages exceed [`MAX_MESSAGES`].
fn listed(reshard: &Reshard, asked: &[i64], effort: u64) -> Result<(Vec<i64>, u64), ReshardError> {
    if let Some(&device) = asked.iter().find(|&&device| reshard.need(device).is_none()) {
        return Err(ReshardError::NoSuchDevice(device));
    }
    let mut known = BTreeSet::new();
    let asked = asked.iter().copied().filter(|&device| known.insert(device)).collect::<Vec<_>>();
    match asked.is_empty() {
        true => Ok(as_many_as_allowed(reshard, reshard.receivers(), effort)),
        false => Ok(as_many_as_allowed(reshard, asked.into_iter(), effort)),
    }
}

fn as_many_as_allowed(reshard: &Reshard, mut devices: impl Iterator<Item = i64>, effort: u64) -> (Vec<i64>, u64) {
    let (mut listed, mut messages) = (Vec::new(), 0);
    for device in devices.by_ref() {
        messages += effort * reshard.sources(device).take(MAX_MESSAGES as usize).count() as u64;
        // The first device is listed in any case, even if it alone has too many messages.
        if listed.len() == MAX_DEVICES || (messages > MAX_MESSAGES && !listed.is_empty()) {
            return (listed, 1 + devices.count() as u64);
        }
        listed.push(device);
    }
    (listed, 0)
}

fn receiver(reshard: &Reshard, device: i64, bytes: impl Fn(&Transfer) -> u64) -> Receiver {
    let mut receiver = Receiver { device, kept_bytes: 0, from: Vec::new() };
    for source in reshard.sources(device) {
        let size = bytes(&source);
        if source.from == device {
            receiver.kept_bytes += size;
        } else {
            let (start, limit) = (source.region.start, source.region.limit);
            receiver.from.push(Sent { device: source.from, bytes: size, start, limit });
        }
    }
    receiver
}

fn collective(kind: ReshardKind) -> Option<Collective> {
    match kind {
        ReshardKind::AllGather => Some(Collective::AllGather),
        ReshardKind::AllToAll => Some(Collective::AllToAll),
        ReshardKind::Permute => Some(Collective::Permute),
        _ => None,
    }
}

/// The mesh of a sharding that names axes.
fn mesh_of(sharding: &Sharding) -> Option<&Mesh> {
    match sharding.kind() {
        ShardingKind::Named(named) => Some(named.mesh()).filter(|mesh| !mesh.axes().is_empty()),
        _ => None,
    }
}

/// The bytes and messages along the axes of a mesh, grouped by the axes in which the sender and the receiver differ.
fn along(mesh: &Mesh, reshard: &Reshard, bytes: impl Fn(&Transfer) -> u64) -> Vec<Along> {
    let sizes = mesh.axes().iter().map(|axis| axis.size).collect::<Vec<_>>();
    let place =
        |device| mesh.devices().position(device).map(|position| xla_shape_core::map::row_major_index(position, &sizes));
    let mut found = BTreeMap::<Vec<usize>, (u64, u64)>::new();
    for transfer in reshard.transfers() {
        // Skip devices outside the mesh.
        let (Some(from), Some(to)) = (place(transfer.from), place(transfer.to)) else { continue };
        let axes = (0..sizes.len()).filter(|&axis| from.get(axis) != to.get(axis)).collect();
        let (sum, messages) = found.entry(axes).or_default();
        *sum += bytes(&transfer);
        *messages += 1;
    }
    let name = |axis: usize| mesh.axes().get(axis).map_or_else(String::new, |axis| axis.name.to_string());
    let along = |(axes, (bytes, messages)): (Vec<usize>, _)| Along {
        axes: axes.into_iter().map(name).collect(),
        bytes,
        messages,
    };
    found.into_iter().map(along).collect()
}

impl Answer for Resharding {
    const SCHEMA: &'static str = "xla-shape/reshard/1";
}

#[cfg(test)]
mod tests {
    use super::{Change, Resharding, collective};
    use xla_shape_core::shard::ReshardKind;

    /// A repeated device is listed once. If devices have too many messages together, not all are listed.
    #[test]
    fn devices_that_are_asked_for_are_bounded() {
        let listed = |tiles: &str, to: &str, devices: Vec<i64>| {
            let (array, from, to) = ("u8[65536]".parse().unwrap(), tiles.parse().unwrap(), to.parse().unwrap());
            let (rearrangement, layout, hosts) = (None, None, None);
            let found = Resharding::new(&Change { array, from, to, rearrangement, layout, hosts, devices });
            found.map(|found| (found.devices.len(), found.more_devices))
        };
        let few = "{devices=[4]<=[4]}";
        assert_eq!(listed(few, few, vec![3; 20_000]), Ok((1, 0)));
        assert_eq!(listed("{devices=[65536]<=[65536]}", "{replicated}", (0..16).collect()), Ok((4, 12)));
        assert!(listed(few, few, vec![0, 4]).is_err());
    }

    #[test]
    fn collectives_have_the_names_of_xla() {
        for kind in [ReshardKind::AllGather, ReshardKind::AllToAll, ReshardKind::Permute] {
            assert_eq!(collective(kind).unwrap().as_str(), kind.name());
        }
        for kind in [ReshardKind::Nothing, ReshardKind::Slice, ReshardKind::Mixed] {
            assert!(collective(kind).is_none());
        }
    }
}
