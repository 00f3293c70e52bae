//! Shardings into tiles, in their one form.

use super::devices::TileAssignment;
use super::error::ShardingError;
use super::metadata::OpMetadata;
use alloc::vec::Vec;

/// Each device has a tile.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TiledSharding {
    assignment: TileAssignment,
    subgroups: Vec<Subgroup>,
    /// Whether the one subgroup is `last_tile_dim_replicate`.
    replicates_last: bool,
}

impl TiledSharding {
    /// Which device has which tile. After the dimensions of the data come the sizes of the [`subgroups`](Self::subgroups).
    #[must_use]
    pub const fn assignment(&self) -> &TileAssignment {
        &self.assignment
    }

    /// What the devices of the last dimensions do with their common tile.
    #[must_use]
    pub fn subgroups(&self) -> &[Subgroup] {
        if self.replicates_last { &[Subgroup::Replicated] } else { &self.subgroups }
    }

    /// Whether its text says `last_tile_dim_replicate`, as it does where copies are the only subgroup.
    #[must_use]
    pub const fn replicates_last(&self) -> bool {
        self.replicates_last
    }

    /// Into how many tiles each dimension of the array is cut.
    #[must_use]
    pub fn tiles(&self) -> &[u64] {
        let dimensions = self.assignment.dimensions();
        let rank = dimensions.len().saturating_sub(self.subgroups().len());
        dimensions.get(..rank).unwrap_or(&[])
    }

    /// How many devices share each tile.
    #[must_use]
    pub fn devices_per_tile(&self) -> u64 {
        let dimensions = self.assignment.dimensions();
        let behind = dimensions.get(self.tiles().len()..).unwrap_or(&[]);
        behind.iter().fold(1, |product, &size| product.saturating_mul(size))
    }
}

/// What devices with a common tile do with it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subgroup {
    /// One of them has it; XLA reads this and has no use for it.
    Maximal,
    /// The program divides it by hand.
    Manual,
    /// Each has a part of a sum, a maximum or a minimum.
    Unreduced,
    /// Each has a copy.
    Replicated,
}

impl Subgroup {
    /// Its name in texts.
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

    /// Its number in types.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The one with this number in types.
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

/// How the parts of something unreduced make the whole.
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
    /// Its name in texts; in the metadata of XLA's protos, it is in capitals.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Max => "max",
            Self::Min => "min",
        }
    }

    /// The name in capitals.
    #[must_use]
    pub const fn proto_name(self) -> &'static str {
        match self {
            Self::Sum => "SUM",
            Self::Max => "MAX",
            Self::Min => "MIN",
        }
    }

    /// The type of operation by which metadata says how parts make the whole.
    pub const METADATA_TYPE: &'static str = "sdy::reduction_op";

    /// What a piece of metadata says.
    #[must_use]
    pub fn from_metadata(metadata: &OpMetadata) -> Option<Self> {
        let names = |reduction: &Self| reduction.proto_name() == metadata.op_name;
        let is_reduction = metadata.op_type == Self::METADATA_TYPE;
        [Self::Sum, Self::Max, Self::Min].into_iter().find(|reduction| is_reduction && names(reduction))
    }
}

/// What a tile assignment with subgroups comes to.
pub(super) enum Division {
    Replicated,
    Manual,
    Unreduced,
    Tiled(TiledSharding),
}

impl Division {
    /// The one form of a tile assignment with subgroups.
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
        if let Some(whole) = whole
            && data.iter().all(|&size| size == 1)
            && subgroups.iter().all(|&subgroup| subgroup == first)
        {
            return Ok(whole);
        }
        // The subgroups of more than one device, in the order of their kinds: the kind, and the dimension.
        let mut order = (rank..).zip(groups).zip(subgroups).filter(|((_, size), _)| **size > 1).collect::<Vec<_>>();
        order.sort_by_key(|&(_, &kind)| kind);
        let mut permutation = (0..rank).collect::<Vec<_>>();
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
