//! [`Sharding`]: how an array, or the arrays of a tuple, are divided among devices.
//!
//! A new kind is a variant of [`ShardingKind`]. The compiler finds most places that need it, but not these: its text (`text/sharding`), its
//! message (`proto/sharding.rs`), its type (`types/shards.rs` of `xla-shape`, `sharding.rs` of the macros), what Python has
//! (`python/src/sharding.rs`). `scripts/shardings.py` compares shardings with XLA's; `docs/sharding.md` describes them.

use super::devices::TileAssignment;
use super::error::ShardingError;
use super::mesh::NamedSharding;
use super::metadata::OpMetadata;
use super::tiled::{Canonical, Reduction, Subgroup, TiledSharding};
use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};

/// How an array, or the arrays of a tuple, are divided among devices: XLA's `HloSharding` in
/// `xla/hlo/ir/hlo_sharding.h`.
///
/// Two shardings are equal if they divide every array in the same way: a list of devices equals an iota of the same
/// numbers, and a sharding that names axes equals one that does not. Shard groups and reductions must be equal too;
/// other metadata does not matter.
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
    /// The reduction from the metadata or the proto. A named sharding holds its own.
    reduction: Option<Reduction>,
}

/// The kinds of sharding.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ShardingKind {
    /// `{replicated}`: every device has the whole array.
    Replicated,
    /// `{maximal device=3}`: one device has the whole array.
    Maximal {
        /// The number of the device; XLA uses negative ones for the host and for devices that are not assigned yet.
        device: i64,
    },
    /// `{manual}`: the program divides the work itself.
    Manual,
    /// `{unreduced}`: each device has a partial sum, maximum or minimum.
    Unreduced,
    /// `{unknown}`: the sharding is not known.
    Unknown,
    /// `{devices=[2,1,2]<=[4] last_tile_dim_replicate}`: each device has a tile.
    Tiled(TiledSharding),
    /// `{mesh['x'=2], [{'x'}]}`: each device has a tile, given by named axes.
    Named(NamedSharding),
    /// `{single_device[device_id=3]}`: one device has the whole array, in the notation of named shardings.
    SingleDevice {
        /// The number of the device.
        device: i64,
    },
    /// `{{replicated}, {manual}}`: one for each array in a tuple.
    Tuple(Vec<Sharding>),
}

impl ShardingKind {
    /// The name: `replicated`, `maximal`, `manual`, `unreduced`, `unknown`, `tiled`, `named`, `single_device` or
    /// `tuple`.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// assert_eq!(Sharding::MANUAL.kind().name(), "manual");
    /// ```
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

/// A group of values that are sharded in the same way: `shard_as` or `shard_like` in the text.
///
/// ```
/// use xla_shape_core::shard::{ShardGroup, Sharding};
///
/// let sharding: Sharding = "{devices=[2]<=[2] shard_as 5}".parse()?;
/// assert_eq!(sharding.shard_group(), Some(ShardGroup { id: 5, is_required: true }));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ShardGroup {
    /// The number of the group.
    pub id: i64,
    /// Whether the values must be sharded in the same way (`shard_as`) or only should be (`shard_like`).
    pub is_required: bool,
}

impl Sharding {
    /// `{replicated}`: every device has the whole array.
    pub const REPLICATED: Self = Self::bare(ShardingKind::Replicated, None);
    /// `{manual}`: the program divides the work itself.
    pub const MANUAL: Self = Self::bare(ShardingKind::Manual, None);
    /// `{unreduced}`: each device has a partial sum.
    pub const UNREDUCED: Self = Self::bare(ShardingKind::Unreduced, Some(Reduction::Sum));
    /// `{unknown}`: the sharding is not known.
    pub const UNKNOWN: Self = Self::bare(ShardingKind::Unknown, None);

    const fn bare(kind: ShardingKind, reduction: Option<Reduction>) -> Self {
        Self { kind, group: None, metadata: Vec::new(), reduction }
    }

    /// A sharding of this kind, with the reduction that the metadata names.
    pub(crate) fn from_kind(kind: ShardingKind, metadata: Vec<OpMetadata>) -> Self {
        let named = metadata.iter().rev().find_map(Reduction::from_metadata);
        let is_unreduced = match &kind {
            ShardingKind::Unreduced => true,
            ShardingKind::Tiled(tiled) => tiled.subgroups().contains(&Subgroup::Unreduced),
            _ => false,
        };
        // Only named shardings have a field for the reduction. In others, the metadata have it; without an entry, it is the sum.
        let reduction = match kind {
            ShardingKind::Named(_) | ShardingKind::SingleDevice { .. } | ShardingKind::Tuple(_) => None,
            _ => named.or(is_unreduced.then_some(Reduction::Sum)),
        };
        Self { kind, group: None, metadata, reduction }
    }

    /// `{maximal device=…}`: one device has the whole array.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// assert_eq!(Sharding::maximal(3).to_string(), "{maximal device=3}");
    /// ```
    #[must_use]
    pub fn maximal(device: i64) -> Self {
        Self::from_kind(ShardingKind::Maximal { device }, Vec::new())
    }

    /// `{single_device[device_id=…]}`: one device has the whole array, in the notation of named shardings.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// assert_eq!(Sharding::single_device(3), Sharding::maximal(3));
    /// ```
    #[must_use]
    pub fn single_device(device: i64) -> Self {
        Self::from_kind(ShardingKind::SingleDevice { device }, Vec::new())
    }

    /// Each device has a tile. The last dimensions of `assignment` are those of `subgroups`, whose devices share a
    /// tile.
    ///
    /// The result is canonical as in XLA (`HloSharding::Subgroup` and `PartialTile` in `xla/hlo/ir/hlo_sharding.cc`):
    /// subgroups of one device are dropped, subgroups of the same kind are merged, the kinds are in a fixed order, and
    /// the devices that hold copies are sorted. A sharding that divides nothing becomes `{replicated}`, `{manual}` or
    /// `{unreduced}`.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, Subgroup, TileAssignment};
    ///
    /// let assignment = TileAssignment::in_order(&[4, 1, 2])?;
    /// let sharding = Sharding::tiled(assignment, &[Subgroup::Replicated])?;
    /// assert_eq!(sharding.to_string(), "{devices=[4,1,2]<=[8] last_tile_dim_replicate}");
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If there are more subgroups than dimensions, or the devices must be listed and there are more than
    /// [`MAX_LISTED_DEVICES`](super::MAX_LISTED_DEVICES).
    pub fn tiled(assignment: TileAssignment, subgroups: &[Subgroup]) -> Result<Self, ShardingError> {
        Self::subgroups(assignment, subgroups, Reduction::Sum, Vec::new())
    }

    /// The same sharding for an array of this many dimensions. JAX allows a sharding that names axes to have fewer dimensions than the array: the
    /// dimensions that it leaves out are not divided. Any other sharding stays as it is.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let rows: Sharding = "NamedSharding(mesh=Mesh('x': 4), spec=P('x'))".parse()?;
    /// assert_eq!(rows.for_dimensions(2).to_string(), "{mesh['x'=4], [{'x'}, {}]}");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn for_dimensions(&self, dimensions: usize) -> Cow<'_, Self> {
        match self.kind() {
            ShardingKind::Named(named) if named.dimensions().len() < dimensions => {
                Cow::Owned(Self::named(named.clone().with_whole(dimensions)))
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// A sharding that names the axes of a mesh.
    ///
    /// ```
    /// use xla_shape_core::shard::{DimensionSharding, Mesh, NamedSharding, OtherAxes, Sharding};
    ///
    /// let mesh = Mesh::from_mlir(r#"mesh<["x"=2]>"#)?;
    /// let named = NamedSharding::new(mesh, vec![DimensionSharding::default()], OtherAxes::default())?;
    /// assert_eq!(Sharding::named(named), Sharding::REPLICATED);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn named(named: NamedSharding) -> Self {
        Self::from_kind(ShardingKind::Named(named), Vec::new())
    }

    /// One sharding for each array of a tuple.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let tuple = Sharding::tuple(vec![Sharding::REPLICATED, Sharding::maximal(1)])?;
    /// assert_eq!(tuple.to_string(), "{{replicated}, {maximal device=1}}");
    /// # Ok::<(), xla_shape_core::shard::ShardingError>(())
    /// ```
    ///
    /// # Errors
    /// If one of them is a tuple.
    pub fn tuple(elements: Vec<Self>) -> Result<Self, ShardingError> {
        if elements.iter().any(|element| matches!(element.kind, ShardingKind::Tuple(_))) {
            return Err(ShardingError::NestedTuple);
        }
        Ok(Self::from_kind(ShardingKind::Tuple(elements), Vec::new()))
    }

    /// Like [`tiled`](Self::tiled), with a reduction and metadata.
    pub(crate) fn subgroups(
        assignment: TileAssignment,
        subgroups: &[Subgroup],
        reduction: Reduction,
        metadata: Vec<OpMetadata>,
    ) -> Result<Self, ShardingError> {
        let kind = match Canonical::new(assignment, subgroups)? {
            Canonical::Replicated => ShardingKind::Replicated,
            Canonical::Manual => ShardingKind::Manual,
            Canonical::Unreduced => ShardingKind::Unreduced,
            Canonical::Tiled(tiled) => ShardingKind::Tiled(tiled),
        };
        let mut sharding = Self::from_kind(kind, metadata);
        if sharding.reduction == Some(Reduction::Sum) {
            sharding.reduction = Some(reduction);
        }
        Ok(sharding)
    }

    /// The kind, with its data.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// assert!(matches!(Sharding::maximal(3).kind(), ShardingKind::Maximal { device: 3 }));
    /// ```
    #[must_use]
    pub const fn kind(&self) -> &ShardingKind {
        &self.kind
    }

    /// The group of values that are sharded in the same way.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{devices=[2]<=[2] shard_as 5}".parse()?;
    /// assert_eq!(sharding.shard_group().unwrap().id, 5);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn shard_group(&self) -> Option<ShardGroup> {
        self.group
    }

    /// The same sharding in this group, or in none.
    ///
    /// ```
    /// use xla_shape_core::shard::{ShardGroup, Sharding};
    ///
    /// let group = ShardGroup { id: 5, is_required: false };
    /// assert_eq!(Sharding::REPLICATED.with_shard_group(Some(group)).to_string(), "{replicated shard_like 5}");
    /// ```
    #[must_use]
    pub fn with_shard_group(self, group: Option<ShardGroup>) -> Self {
        Self { group, ..self }
    }

    /// The metadata: the origin in the source program.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{replicated metadata={op_name=\"a\"}}".parse()?;
    /// assert_eq!(sharding.metadata()[0].op_name, "a");
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn metadata(&self) -> &[OpMetadata] {
        &self.metadata
    }

    /// The same sharding with other metadata. A reduction that the metadata names replaces the sharding's.
    ///
    /// ```
    /// use xla_shape_core::shard::{OpMetadata, Sharding};
    ///
    /// let sharding = Sharding::REPLICATED.with_metadata(vec![OpMetadata::default()]);
    /// assert_eq!(sharding.metadata().len(), 1);
    /// assert_eq!(sharding, Sharding::REPLICATED);
    /// ```
    #[must_use]
    pub fn with_metadata(self, metadata: Vec<OpMetadata>) -> Self {
        let named = metadata.iter().rev().find_map(Reduction::from_metadata);
        let this = Self { metadata, ..self };
        match named {
            Some(reduction) => this.with_reduction(reduction),
            None => this,
        }
    }

    /// The same sharding with this reduction. Named shardings hold their own and do not change.
    ///
    /// ```
    /// use xla_shape_core::shard::{Reduction, Sharding};
    ///
    /// assert_eq!(Sharding::UNREDUCED.with_reduction(Reduction::Max).reduction(), Some(Reduction::Max));
    /// ```
    #[must_use]
    pub fn with_reduction(self, reduction: Reduction) -> Self {
        let is_named =
            matches!(self.kind, ShardingKind::Named(_) | ShardingKind::SingleDevice { .. } | ShardingKind::Tuple(_));
        if is_named { self } else { Self { reduction: Some(reduction), ..self } }
    }

    /// How the partial results of an unreduced value are combined; `None` if the value is not unreduced.
    ///
    /// ```
    /// use xla_shape_core::shard::{Reduction, Sharding};
    ///
    /// assert_eq!(Sharding::UNREDUCED.reduction(), Some(Reduction::Sum));
    /// assert_eq!(Sharding::REPLICATED.reduction(), None);
    /// ```
    #[must_use]
    pub fn reduction(&self) -> Option<Reduction> {
        match &self.kind {
            ShardingKind::Named(named) => (!named.unreduced().is_empty()).then(|| named.reduction()),
            _ => self.reduction,
        }
    }

    /// The shardings of a tuple; the sharding itself if it is not a tuple.
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{{replicated}, {manual}}".parse()?;
    /// assert_eq!(sharding.leaves(), [Sharding::REPLICATED, Sharding::MANUAL]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn leaves(&self) -> &[Self] {
        match &self.kind {
            ShardingKind::Tuple(elements) => elements,
            _ => core::slice::from_ref(self),
        }
    }

    /// The same sharding without axis names (`HloSharding::V3ToV2Sharding` in `xla/hlo/ir/hlo_sharding.cc`).
    ///
    /// ```
    /// use xla_shape_core::shard::Sharding;
    ///
    /// let sharding: Sharding = "{mesh['x'=2,'y'=2], [{'y'}, {}]}".parse()?;
    /// assert_eq!(sharding.to_tiled()?.to_string(), "{devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the devices must be listed and there are more than [`MAX_LISTED_DEVICES`](super::MAX_LISTED_DEVICES).
    pub fn to_tiled(&self) -> Result<Cow<'_, Self>, ShardingError> {
        Ok(match &self.kind {
            ShardingKind::Named(named) => Cow::Owned(match named.tile_assignment()? {
                None => Self::from_kind(ShardingKind::Replicated, self.metadata.clone()),
                Some((assignment, subgroups)) => {
                    Self::subgroups(assignment, &subgroups, named.reduction(), self.metadata.clone())?
                }
            }),
            ShardingKind::SingleDevice { device } => {
                Cow::Owned(Self::from_kind(ShardingKind::Maximal { device: *device }, self.metadata.clone()))
            }
            ShardingKind::Tuple(elements) => {
                let tiled = elements.iter().map(|element| Ok(element.to_tiled()?.into_owned()));
                Cow::Owned(Self::from_kind(ShardingKind::Tuple(tiled.collect::<Result<_, _>>()?), Vec::new()))
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
            // There are too many devices to compare one by one. The shardings are equal if their axes are.
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
        // Hashes only what equal shardings have in common and what needs no list of devices.
        self.group.hash(state);
        if let ShardingKind::Tuple(elements) = &self.kind {
            elements.hash(state);
        }
    }
}
