//! What is wrong with a sharding, or with a shape for it.

use crate::layout::error::ValidationError;
use alloc::boxed::Box;
use core::fmt;

/// What is wrong with a sharding, or with a shape for it.
///
/// In a text, it is the [kind](crate::text::ParseErrorKind::Sharding) of a [`ParseError`](crate::ParseError), which says
/// where.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ShardingError {
    /// This kind of sharding takes no devices.
    DevicesForbidden {
        /// The kind, such as `replicated`.
        kind: &'static str,
    },
    /// `maximal` without exactly one device.
    MaximalDevice {
        /// How many devices there are.
        found: usize,
    },
    /// Nothing says how the elements are divided.
    NoKind,
    /// A tile assignment of one listed device, which is `{replicated}` or `{maximal device=…}`.
    OneDevice,
    /// Devices in a list and as an iota.
    ListAndIota,
    /// A list of devices of another length than the tiles need.
    DeviceCount {
        /// How many devices the tiles need.
        expected: u64,
        /// How many are listed.
        found: u64,
    },
    /// An iota of another size than the tiles need.
    IotaSize {
        /// How many devices the tiles need.
        expected: u64,
        /// How many numbers the iota has.
        found: u64,
    },
    /// A transposition of another length than the dimensions of its iota.
    PermutationLength {
        /// How many dimensions the iota has.
        expected: usize,
        /// How many the transposition has.
        found: usize,
    },
    /// A transposition that names no dimension of the iota, or one twice.
    Permutation {
        /// The dimension.
        dimension: u64,
        /// How many dimensions the iota has.
        rank: usize,
    },
    /// A dimension is cut into no tiles, or an axis has size 0.
    ZeroSize,
    /// More devices than a number of 63 bits counts.
    TooManyDevices,
    /// The order of the devices is not an iota any more, and there are too many of them to list.
    TooManyToList {
        /// How many devices there are.
        devices: u64,
        /// How many may be listed.
        limit: u64,
    },
    /// More subgroups than the tile assignment has dimensions.
    TooManySubgroups {
        /// The dimensions of the tile assignment.
        dimensions: usize,
        /// The subgroups.
        subgroups: usize,
    },
    /// `last_tile_dim_replicate` beside `last_tile_dims`.
    ReplicateAndSubgroups,
    /// A tuple in a tuple of shardings.
    NestedTuple,
    /// Two axes of a mesh with one name.
    AxisNamedTwice {
        /// The name.
        name: Box<str>,
    },
    /// More axes than a mesh may have.
    TooManyAxes {
        /// How many it may have.
        limit: usize,
        /// How many it has.
        found: usize,
    },
    /// A name that no axis of the mesh has.
    UnknownAxis {
        /// The name.
        name: Box<str>,
    },
    /// A mesh of this name was not defined.
    UnknownMesh {
        /// The name.
        name: Box<str>,
    },
    /// Axes of a mesh without axes.
    NoAxes {
        /// What needs them, such as `manual`.
        kind: &'static str,
    },
    /// The devices of a mesh are not 0, 1, … in some order.
    MeshDevices {
        /// A device that is too large, negative or there twice.
        device: i64,
    },
    /// The devices of a mesh are listed, although they are in order.
    MeshDevicesInOrder,
    /// A sub-axis that is not a part of its axis.
    SubAxis {
        /// The product of the sizes of the parts before it.
        pre_size: u64,
        /// Its own size.
        size: u64,
        /// The size of the whole axis.
        axis_size: u64,
    },
    /// An axis, or a part of one, that is used twice or does not fit beside another.
    AxisUsedTwice {
        /// The axis, as the text names it.
        axis: Box<str>,
    },
    /// Two neighbouring parts of an axis that are one part.
    Mergeable {
        /// The axis, as the text names it.
        axis: Box<str>,
    },
    /// Axes of `replicated`, `unreduced` or `manual` in another order than that of the mesh.
    AxesOutOfOrder {
        /// The axis that stands too late, as the text names it.
        axis: Box<str>,
    },
    /// The open dimension `?` is not the last entry.
    BehindOpen,
    /// A sharding with another number of dimensions than the array.
    Rank {
        /// How many dimensions the array has.
        expected: usize,
        /// How many the sharding divides.
        found: usize,
    },
    /// A tuple of shardings for another number of arrays.
    Leaves {
        /// How many arrays the shape has.
        expected: usize,
        /// How many shardings there are.
        found: usize,
    },
    /// A tuple of shardings for a shape that is not a tuple.
    NotATuple,
    /// What each device has is not known: of `{manual}` and `{unknown}`.
    Undetermined {
        /// The kind.
        kind: &'static str,
    },
    /// A device that is negative, or listed twice, cannot hold a shard.
    Device {
        /// The device.
        device: i64,
    },
    /// The sharding gives nothing to this device.
    NoSuchDevice {
        /// The device.
        device: i64,
    },
    /// A dimension whose size is not known, or is known only when the program runs.
    DynamicDimension {
        /// The dimension.
        dimension: usize,
    },
    /// A size that does not divide evenly.
    Uneven {
        /// The dimension.
        dimension: usize,
        /// Its size in elements.
        size: u64,
        /// Into how many pieces it is cut.
        tiles: u64,
    },
    /// The layout of the whole array cannot be that of a shard.
    Layout(ValidationError),
    /// A size that does not fit in 63 bits.
    Overflow,
}

impl fmt::Display for ShardingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DevicesForbidden { kind } => write!(f, "expected no devices in a `{kind}` sharding, found some"),
            Self::MaximalDevice { found } => write!(f, "expected exactly one device in a `maximal` sharding, found {found}"),
            Self::NoKind => f.write_str(
                "expected `replicated`, `maximal`, `manual`, `unreduced`, `unknown` or `devices=[…]`, found none of them",
            ),
            Self::OneDevice => {
                f.write_str("expected more than one device in a list, found one; that is `{maximal device=…}`")
            }
            Self::ListAndIota => f.write_str("expected the devices once, found a list and `<=`"),
            Self::DeviceCount { expected, found } => {
                write!(f, "expected {expected} devices, one for each tile, found {found}")
            }
            Self::IotaSize { expected, found } => {
                write!(f, "expected an iota of {expected} devices, one for each tile, found one of {found}")
            }
            Self::PermutationLength { expected, found } => {
                write!(f, "expected a transposition of {expected} dimensions, found {found}")
            }
            Self::Permutation { dimension, rank } => {
                write!(f, "expected each of the dimensions 0 to {} once, found {dimension}", rank.saturating_sub(1))
            }
            Self::ZeroSize => f.write_str("expected a size of at least 1, found 0"),
            Self::TooManyDevices => write!(f, "expected at most {} devices, found more", i64::MAX),
            Self::TooManyToList { devices, limit } => {
                write!(f, "expected at most {limit} devices where their order must be listed, found {devices}")
            }
            Self::TooManySubgroups { dimensions, subgroups } => {
                write!(f, "expected at most {dimensions} subgroups, one for each dimension, found {subgroups}")
            }
            Self::ReplicateAndSubgroups => {
                f.write_str("expected `last_tile_dim_replicate` or `last_tile_dims`, found both")
            }
            Self::NestedTuple => f.write_str("expected no tuple in a tuple of shardings, found one"),
            Self::AxisNamedTwice { name } => write!(f, "expected axes of different names, found '{name}' again"),
            Self::TooManyAxes { limit, found } => write!(f, "expected a mesh of at most {limit} axes, found {found}"),
            Self::UnknownAxis { name } => write!(f, "expected an axis of the mesh, found '{name}'"),
            Self::UnknownMesh { name } => write!(f, "expected a mesh that is defined, found `@{name}`"),
            Self::NoAxes { kind } => write!(f, "expected a mesh with axes for `{kind}`, found none"),
            Self::MeshDevices { device } => {
                write!(f, "expected each device of the mesh once, counted from 0, found {device}")
            }
            Self::MeshDevicesInOrder => {
                f.write_str("expected no device ids where they are in order, found 0, 1, 2, …; leave them out")
            }
            Self::SubAxis { pre_size, size, axis_size } => write!(
                f,
                "expected a part of an axis of size {axis_size}: a size above 1 and below {axis_size}, whose product with \
                 the size before it divides {axis_size}; found ({pre_size}){size}"
            ),
            Self::AxisUsedTwice { axis } => write!(f, "expected each part of an axis at most once, found {axis} again"),
            Self::Mergeable { axis } => write!(f, "expected neighbouring parts of an axis as one part, found {axis}"),
            Self::AxesOutOfOrder { axis } => write!(f, "expected the axes in the order of the mesh, found {axis} too late"),
            Self::BehindOpen => f.write_str("expected nothing after `?`, found another axis"),
            Self::Rank { expected, found } => {
                write!(f, "expected a sharding of {expected} dimensions, as the array has, found one of {found}")
            }
            Self::Leaves { expected, found } => {
                write!(f, "expected {expected} shardings, one for each array of the tuple, found {found}")
            }
            Self::NotATuple => f.write_str("expected one sharding for a shape that is not a tuple, found a tuple of them"),
            Self::Undetermined { kind } => {
                write!(f, "expected a sharding that says what each device has, found `{{{kind}}}`")
            }
            Self::Device { device } => write!(f, "expected each device once, with a number of at least 0, found {device}"),
            Self::NoSuchDevice { device } => write!(f, "expected a device of the sharding, found {device}"),
            Self::DynamicDimension { dimension } => {
                write!(f, "expected static sizes in a sharded array, found a dynamic one in dimension {dimension}")
            }
            Self::Uneven { dimension, size, tiles } => write!(
                f,
                "expected a size of dimension {dimension} that {tiles} divides, such as {}, found {size}",
                size.checked_next_multiple_of(*tiles).unwrap_or(*size)
            ),
            Self::Layout(error) => write!(f, "the layout does not fit the shard: {error}"),
            Self::Overflow => write!(f, "expected sizes of at most {}, found more", i64::MAX),
        }
    }
}

impl core::error::Error for ShardingError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Layout(error) => Some(error),
            _ => None,
        }
    }
}
