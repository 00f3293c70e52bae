//! The value: how the elements of an array, or of the arrays of a tuple, are divided among devices.

use super::devices::TileAssignment;
use super::error::ShardingError;
use super::mesh::NamedSharding;
use super::metadata::OpMetadata;
use super::tiled::{Division, Reduction, Subgroup, TiledSharding};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// How the elements of an array, or of the arrays of a tuple, are divided among devices.
///
/// Two shardings are equal if they mean the same: a list of devices is equal to an iota of the same numbers, one that names
/// axes is equal to one that does not, and metadata does not matter, except for the reduction that it names. Shard groups do.
///
/// ```
/// use xla_shape_core::shard::Sharding;
///
/// let sharding: Sharding = "{devices=[2,1,2]<=[2,1,2]T(0,1,2) last_tile_dims={replicated}}".parse()?;
/// assert_eq!(sharding.to_string(), "{devices=[2,1,2]<=[4] last_tile_dim_replicate}");
/// assert_eq!(sharding, "{mesh['x'=2,'y'=2], [{'x'}, {}]}".parse()?);
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sharding {
    kind: ShardingKind,
    group: Option<ShardGroup>,
    metadata: Vec<OpMetadata>,
    /// What metadata or XLA's proto says about reductions; of named shardings, they say it themselves.
    reduction: Option<Reduction>,
}

/// The ways to divide.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ShardingKind {
    /// `{replicated}`: every device has all of it.
    Replicated,
    /// `{maximal device=3}`: this device has all of it.
    Maximal {
        /// The number of the device; XLA uses negative ones for the host and for devices that are not assigned yet.
        device: i64,
    },
    /// `{manual}`: the program divides it by hand.
    Manual,
    /// `{unreduced}`: each device has a part of a sum, a maximum or a minimum.
    Unreduced,
    /// `{unknown}`: nothing was said.
    Unknown,
    /// `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`: each device has a tile.
    Tiled(TiledSharding),
    /// `{mesh['x'=2], [{'x'}]}`: each device has a tile along axes with names.
    Named(NamedSharding),
    /// `{single_device[device_id=3]}`: this device has all of it, as named shardings say that.
    SingleDevice {
        /// The number of the device.
        device: i64,
    },
    /// `{{replicated}, {manual}}`: one for each array in a tuple.
    Tuple(Vec<Sharding>),
}

impl ShardingKind {
    /// Its name: `replicated`, `maximal`, `manual`, `unreduced`, `unknown`, `tiled`, `named`, `single_device` or `tuple`.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Replicated => "replicated",
            Self::Maximal { .. } => "maximal",
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Unknown => "unknown",
            Self::Tiled(_) => "tiled",
            Self::Named(_) => "named",
            Self::SingleDevice { .. } => "single_device",
            Self::Tuple(_) => "tuple",
        }
    }
}

/// Values of one group are sharded the same way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShardGroup {
    /// The number of the group.
    pub id: i64,
    /// Whether they must be sharded the same way (`shard_as`), or should be (`shard_like`).
    pub is_required: bool,
}

impl Sharding {
    /// `{replicated}`: every device has all of it.
    pub const REPLICATED: Self = Self::bare(ShardingKind::Replicated, None);
    /// `{manual}`: the program divides it by hand.
    pub const MANUAL: Self = Self::bare(ShardingKind::Manual, None);
    /// `{unreduced}`: each device has a part of a sum.
    pub const UNREDUCED: Self = Self::bare(ShardingKind::Unreduced, Some(Reduction::Sum));
    /// `{unknown}`: nothing was said.
    pub const UNKNOWN: Self = Self::bare(ShardingKind::Unknown, None);

    const fn bare(kind: ShardingKind, reduction: Option<Reduction>) -> Self {
        Self { kind, group: None, metadata: Vec::new(), reduction }
    }

    pub(crate) fn of(kind: ShardingKind, metadata: Vec<OpMetadata>) -> Self {
        let said = metadata.iter().rev().find_map(Reduction::from_metadata);
        let is_unreduced = match &kind {
            ShardingKind::Unreduced => true,
            ShardingKind::Tiled(tiled) => tiled.subgroups().contains(&Subgroup::Unreduced),
            _ => false,
        };
        let reduction = match kind {
            ShardingKind::Named(_) | ShardingKind::SingleDevice { .. } | ShardingKind::Tuple(_) => None,
            _ => said.or(is_unreduced.then_some(Reduction::Sum)),
        };
        Self { kind, group: None, metadata, reduction }
    }

    /// `{maximal device=…}`: this device has all of it.
    #[must_use]
    pub fn maximal(device: i64) -> Self {
        Self::of(ShardingKind::Maximal { device }, Vec::new())
    }

    /// `{single_device[device_id=…]}`: this device has all of it, as named shardings say that.
    #[must_use]
    pub fn single_device(device: i64) -> Self {
        Self::of(ShardingKind::SingleDevice { device }, Vec::new())
    }

    /// Each device has a tile. Devices along the last dimensions, those of `subgroups`, share a tile.
    ///
    /// It is canonical like in XLA: subgroups of one device vanish, those of one kind are merged, kinds are in one order,
    /// copies are sorted, and what is not divided at all is `{replicated}`, `{manual}` or `{unreduced}`.
    ///
    /// # Errors
    /// If there are more subgroups than dimensions, or devices would have to be listed and are too many.
    pub fn tiled(assignment: TileAssignment, subgroups: &[Subgroup]) -> Result<Self, ShardingError> {
        Self::subgroups(assignment, subgroups, Reduction::Sum, Vec::new())
    }

    /// A sharding along the axes of a mesh.
    #[must_use]
    pub fn named(named: NamedSharding) -> Self {
        Self::of(ShardingKind::Named(named), Vec::new())
    }

    /// One sharding for each array of a tuple.
    ///
    /// # Errors
    /// If one of them is a tuple.
    pub fn tuple(elements: Vec<Self>) -> Result<Self, ShardingError> {
        if elements.iter().any(|element| matches!(element.kind, ShardingKind::Tuple(_))) {
            return Err(ShardingError::NestedTuple);
        }
        Ok(Self::of(ShardingKind::Tuple(elements), Vec::new()))
    }

    pub(crate) fn subgroups(
        assignment: TileAssignment,
        subgroups: &[Subgroup],
        reduction: Reduction,
        metadata: Vec<OpMetadata>,
    ) -> Result<Self, ShardingError> {
        let kind = match Division::new(assignment, subgroups)? {
            Division::Replicated => ShardingKind::Replicated,
            Division::Manual => ShardingKind::Manual,
            Division::Unreduced => ShardingKind::Unreduced,
            Division::Tiled(tiled) => ShardingKind::Tiled(tiled),
        };
        let mut sharding = Self::of(kind, metadata);
        if sharding.reduction == Some(Reduction::Sum) {
            sharding.reduction = Some(reduction);
        }
        Ok(sharding)
    }

    /// The way to divide.
    #[must_use]
    pub const fn kind(&self) -> &ShardingKind {
        &self.kind
    }

    /// The group of values that are sharded the same way.
    #[must_use]
    pub const fn shard_group(&self) -> Option<ShardGroup> {
        self.group
    }

    /// The same in this group, or in none.
    #[must_use]
    pub fn with_shard_group(self, group: Option<ShardGroup>) -> Self {
        Self { group, ..self }
    }

    /// Where it came from.
    #[must_use]
    pub fn metadata(&self) -> &[OpMetadata] {
        &self.metadata
    }

    /// The same with other metadata. A reduction that the metadata names then applies.
    #[must_use]
    pub fn with_metadata(self, metadata: Vec<OpMetadata>) -> Self {
        let said = metadata.iter().rev().find_map(Reduction::from_metadata);
        let this = Self { metadata, ..self };
        match said {
            Some(reduction) => this.with_reduction(reduction),
            None => this,
        }
    }

    /// The same sharding, with this reduction to combine the parts. Named shardings have their own and do not change.
    #[must_use]
    pub fn with_reduction(self, reduction: Reduction) -> Self {
        let is_named =
            matches!(self.kind, ShardingKind::Named(_) | ShardingKind::SingleDevice { .. } | ShardingKind::Tuple(_));
        if is_named { self } else { Self { reduction: Some(reduction), ..self } }
    }

    /// How parts are combined if devices have only parts: along unreduced axes or subgroups.
    #[must_use]
    pub fn reduction(&self) -> Option<Reduction> {
        match &self.kind {
            ShardingKind::Named(named) => (!named.unreduced().is_empty()).then(|| named.reduction()),
            _ => self.reduction,
        }
    }

    /// The shardings of a tuple, or the sharding itself as the only one.
    #[must_use]
    pub fn leaves(&self) -> &[Self] {
        match &self.kind {
            ShardingKind::Tuple(elements) => elements,
            _ => core::slice::from_ref(self),
        }
    }

    /// The same without names: an array of tiles, or one of the kinds that need none.
    ///
    /// # Errors
    /// If the devices would have to be listed and are too many.
    pub fn to_tiled(&self) -> Result<Cow<'_, Self>, ShardingError> {
        Ok(match &self.kind {
            ShardingKind::Named(named) => Cow::Owned(match named.tile_assignment()? {
                None => Self::of(ShardingKind::Replicated, self.metadata.clone()),
                Some((assignment, subgroups)) => {
                    Self::subgroups(assignment, &subgroups, named.reduction(), self.metadata.clone())?
                }
            }),
            ShardingKind::SingleDevice { device } => {
                Cow::Owned(Self::of(ShardingKind::Maximal { device: *device }, self.metadata.clone()))
            }
            ShardingKind::Tuple(elements) => {
                let tiled = elements.iter().map(|element| Ok(element.to_tiled()?.into_owned()));
                Cow::Owned(Self::of(ShardingKind::Tuple(tiled.collect::<Result<_, _>>()?), Vec::new()))
            }
            _ => Cow::Borrowed(self),
        })
    }
}

impl PartialEq for Sharding {
    fn eq(&self, other: &Self) -> bool {
        use ShardingKind::{Manual, Maximal, Replicated, Tiled, Tuple, Unknown, Unreduced};
        if let (Tuple(a), Tuple(b)) = (&self.kind, &other.kind) {
            return a == b;
        }
        if self.group != other.group {
            return false;
        }
        let (Ok(a), Ok(b)) = (self.to_tiled(), other.to_tiled()) else {
            // Their devices cannot be compared one by one, but they are equal if they say the same.
            return match (&self.kind, &other.kind) {
                (ShardingKind::Named(a), ShardingKind::Named(b)) => {
                    a.mesh() == b.mesh()
                        && a.dimensions().iter().map(|d| &d.axes).eq(b.dimensions().iter().map(|d| &d.axes))
                        && (a.unreduced(), a.manual()) == (b.unreduced(), b.manual())
                        && a.reduction() == b.reduction()
                }
                _ => false,
            };
        };
        match (&a.kind, &b.kind) {
            (Replicated, Replicated) | (Manual, Manual) | (Unknown, Unknown) => true,
            (Unreduced, Unreduced) => a.reduction == b.reduction,
            (Maximal { device: a }, Maximal { device: b }) => a == b,
            (Tiled(left), Tiled(right)) => {
                let is_unreduced = left.subgroups().contains(&Subgroup::Unreduced);
                left == right && (!is_unreduced || a.reduction == b.reduction)
            }
            _ => false,
        }
    }
}

impl Eq for Sharding {}

impl Hash for Sharding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Only what equal shardings certainly share, and what takes no list.
        self.group.hash(state);
        if let ShardingKind::Tuple(elements) = &self.kind {
            elements.hash(state);
        }
    }
}
