//! Tiled shardings, in canonical form.

use super::devices::TileAssignment;
use super::error::ShardingError;
use super::metadata::OpMetadata;
use crate::sorting::sort_by_key;
use alloc::vec::Vec;

/// A sharding in which each device has a tile.
///
/// ```
/// use xla_shape_core::shard::{Sharding, ShardingKind};
///
/// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
/// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
/// assert_eq!((tiled.tiles(), tiled.devices_per_tile()), (&[4, 1][..], 2));
/// # Ok::<(), xla_shape_core::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TiledSharding {
    assignment: TileAssignment,
    subgroups: Vec<Subgroup>,
    /// Whether the one subgroup is `last_tile_dim_replicate`.
    replicates_last: bool,
}

impl TiledSharding {
    /// Which device has which tile. The sizes of the [`subgroups`](Self::subgroups) follow the dimensions of the data.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
    /// assert_eq!(tiled.assignment().dimensions(), [4, 1, 2]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn assignment(&self) -> &TileAssignment {
        &self.assignment
    }

    /// What the devices along each of the last dimensions do with the tile that they share.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind, Subgroup};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
    /// assert_eq!(tiled.subgroups(), [Subgroup::Replicated]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn subgroups(&self) -> &[Subgroup] {
        if self.replicates_last { &[Subgroup::Replicated] } else { &self.subgroups }
    }

    /// Whether the text is `last_tile_dim_replicate`: the only subgroup has copies.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
    /// assert!(tiled.replicates_last());
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn replicates_last(&self) -> bool {
        self.replicates_last
    }

    /// The number of tiles along each dimension of the array.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
    /// assert_eq!(tiled.tiles(), [4, 1]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn tiles(&self) -> &[u64] {
        let dimensions = self.assignment.dimensions();
        let rank = dimensions.len().saturating_sub(self.subgroups().len());
        dimensions.get(..rank).unwrap_or(&[])
    }

    /// The number of devices that share each tile.
    ///
    /// ```
    /// use xla_shape_core::shard::{Sharding, ShardingKind};
    ///
    /// let sharding: Sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}".parse()?;
    /// let ShardingKind::Tiled(tiled) = sharding.kind() else { unreachable!() };
    /// assert_eq!(tiled.devices_per_tile(), 2);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn devices_per_tile(&self) -> u64 {
        let dimensions = self.assignment.dimensions();
        let groups = dimensions.get(self.tiles().len()..).unwrap_or(&[]);
        groups.iter().fold(1, |product, &size| product.saturating_mul(size))
    }
}

/// What the devices of a subgroup do with the tile that they share: `last_tile_dims` in the text.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subgroup {
    /// One of them has it. XLA reads this kind but does not use it.
    Maximal,
    /// The program itself divides the tile further.
    Manual,
    /// Each has a partial sum, maximum or minimum.
    Unreduced,
    /// Each has a copy.
    Replicated,
}

impl Subgroup {
    /// The name in texts.
    ///
    /// ```
    /// use xla_shape_core::shard::Subgroup;
    ///
    /// assert_eq!(Subgroup::Replicated.name(), "replicated");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Maximal => "maximal",
            Self::Manual => "manual",
            Self::Unreduced => "unreduced",
            Self::Replicated => "replicated",
        }
    }

    /// All of them, in the order of their numbers.
    const ALL: [Self; 4] = [Self::Maximal, Self::Manual, Self::Unreduced, Self::Replicated];

    /// The number that stands for it in the types of `xla_shape`.
    ///
    /// ```
    /// use xla_shape_core::shard::Subgroup;
    ///
    /// assert_eq!(Subgroup::Manual.number(), 1);
    /// ```
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The subgroup with this [number](Self::number).
    ///
    /// ```
    /// use xla_shape_core::shard::Subgroup;
    ///
    /// assert_eq!(Subgroup::from_number(1), Some(Subgroup::Manual));
    /// assert_eq!(Subgroup::from_number(9), None);
    /// ```
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        let mut kinds = Self::ALL.as_slice();
        while let [kind, rest @ ..] = kinds {
            if kind.number() == number {
                return Some(*kind);
            }
            kinds = rest;
        }
        None
    }
}

/// How the partial results of an unreduced value are combined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[non_exhaustive]
pub enum Reduction {
    /// Their sum.
    #[default]
    Sum,
    /// Their maximum.
    Max,
    /// Their minimum.
    Min,
}

impl Reduction {
    /// The name in texts.
    ///
    /// ```
    /// use xla_shape_core::shard::Reduction;
    ///
    /// assert_eq!(Reduction::Max.name(), "max");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
        }
    }

    /// The name in the metadata of XLA's protos.
    ///
    /// ```
    /// use xla_shape_core::shard::Reduction;
    ///
    /// assert_eq!(Reduction::Max.proto_name(), "MAX");
    /// ```
    #[must_use]
    pub const fn proto_name(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Max => "MAX",
            Self::Min => "MIN",
        }
    }

    /// The `op_type` of metadata that names a reduction.
    pub const METADATA_TYPE: &'static str = "sdy::reduction_op";

    /// The reduction that a piece of metadata names (`HloSharding::ExtractReductionOpFromMetadata` in
    /// `xla/hlo/ir/hlo_sharding.cc`).
    ///
    /// ```
    /// use xla_shape_core::shard::{OpMetadata, Reduction};
    ///
    /// let mut metadata = OpMetadata::default();
    /// assert_eq!(Reduction::from_metadata(&metadata), None);
    /// metadata.op_type = Reduction::METADATA_TYPE.into();
    /// metadata.op_name = "MIN".into();
    /// assert_eq!(Reduction::from_metadata(&metadata), Some(Reduction::Min));
    /// ```
    #[must_use]
    pub fn from_metadata(metadata: &OpMetadata) -> Option<Self> {
        let names = |reduction: &Self| reduction.proto_name() == metadata.op_name;
        let is_reduction = metadata.op_type == Self::METADATA_TYPE;
        [Self::Sum, Self::Max, Self::Min].into_iter().find(|reduction| is_reduction && names(reduction))
    }
}

/// The canonical form of a tile assignment with subgroups.
pub(super) enum Canonical {
    Replicated,
    Manual,
    Unreduced,
    Tiled(TiledSharding),
}

impl Canonical {
    /// Makes the canonical form, as `HloSharding::Subgroup` in `xla/hlo/ir/hlo_sharding.cc` does.
    pub(super) fn new(assignment: TileAssignment, subgroups: &[Subgroup]) -> Result<Self, ShardingError> {
        let plain =
            |assignment, subgroups| Self::Tiled(TiledSharding { assignment, subgroups, replicates_last: false });
        let sizes = assignment.dimensions();
        let Some(&first) = subgroups.first() else { return Ok(plain(assignment, Vec::new())) };
        let Some(rank) = sizes.len().checked_sub(subgroups.len()) else {
            return Err(ShardingError::TooManySubgroups { dimensions: sizes.len(), subgroups: subgroups.len() });
        };
        let (data, groups) = sizes.split_at_checked(rank).unwrap_or((sizes, &[]));
        let whole = match first {
            Subgroup::Manual => Some(Self::Manual),
            Subgroup::Unreduced => Some(Self::Unreduced),
            Subgroup::Replicated => Some(Self::Replicated),
            Subgroup::Maximal => None,
        };
        // No dimension of the array is divided, and all devices are in subgroups of one kind.
        if let Some(whole) = whole
            && data.iter().all(|&size| size == 1)
            && subgroups.iter().all(|&subgroup| subgroup == first)
        {
            return Ok(whole);
        }
        // The subgroups of more than one device, ordered by kind.
        let mut order = (rank..).zip(groups).zip(subgroups).filter(|((_, size), _)| **size > 1).collect::<Vec<_>>();
        sort_by_key(&mut order, |&(_, &kind)| kind);
        let mut permutation = (0..rank).collect::<Vec<_>>();
        // Subgroups of one kind become neighbours, so that they merge into one. Subgroups of one device have no effect and come
        // last.
        permutation.extend(order.iter().map(|((dimension, _), _)| *dimension));
        permutation.extend((rank..).zip(groups).filter(|(_, size)| **size == 1).map(|(dimension, _)| dimension));
        let mut merged = data.to_vec();
        let mut kinds = Vec::new();
        for ((_, &size), &kind) in order {
            match merged.last_mut() {
                Some(last) if kinds.last() == Some(&kind) => *last = last.saturating_mul(size),
                _ => {
                    merged.push(size);
                    kinds.push(kind);
                }
            }
        }
        let assignment = assignment.transpose(&permutation)?.reshape(merged);
        let last = assignment.dimensions().last().copied().unwrap_or(1);
        match kinds.as_slice() {
            [.., Subgroup::Replicated] => {
                if last == assignment.devices().count() {
                    return Ok(Self::Replicated);
                }
                let assignment = assignment.sort_last_dimension()?;
                Ok(if kinds.len() == 1 {
                    Self::Tiled(TiledSharding { assignment, subgroups: Vec::new(), replicates_last: true })
                } else {
                    plain(assignment, kinds)
                })
            }
            [Subgroup::Manual] if last == assignment.devices().count() => Ok(Self::Manual),
            _ => Ok(plain(assignment, kinds)),
        }
    }
}
