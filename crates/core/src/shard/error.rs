//! [`ShardingError`].

use crate::layout::error::ValidationError;
use alloc::boxed::Box;
use core::fmt;

/// Why a sharding is not valid, or does not fit a shape.
///
/// Where a text is parsed, it is the [kind](crate::text::ParseErrorKind::Sharding) of a
/// [`ParseError`](crate::ParseError), which has the position.
///
/// ```
/// use xla_shape_core::shard::{Axis, Mesh, ShardingError};
///
/// let axis = || Axis { name: "x".into(), size: 2 };
/// let error = Mesh::new(vec![axis(), axis()], None).unwrap_err();
/// assert!(matches!(error, ShardingError::AxisNamedTwice { .. }), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ShardingError {
    /// A sharding of this kind has no devices, but the text lists some.
    DevicesForbidden {
        /// The kind, such as `replicated`.
        kind: &'static str,
    },
    /// `maximal` without exactly one device.
    MaximalDevice {
        /// How many devices there are.
        found: usize,
    },
    /// The text does not say how the elements are divided.
    NoKind,
    /// A tile assignment lists a single device; `{maximal device=…}` is the form for that.
    OneDevice,
    /// The devices are given twice: as a list and as an iota.
    ListAndIota,
    /// The list of devices does not have one device for each tile.
    DeviceCount {
        /// The number of tiles.
        expected: u64,
        /// The number of listed devices.
        found: u64,
    },
    /// The iota does not have one device for each tile.
    IotaSize {
        /// The number of tiles.
        expected: u64,
        /// The length of the iota.
        found: u64,
    },
    /// The transposition of an iota does not have one entry for each dimension.
    PermutationLength {
        /// How many dimensions the iota has.
        expected: usize,
        /// How many the transposition has.
        found: usize,
    },
    /// The transposition of an iota names a dimension that does not exist, or one dimension twice.
    Permutation {
        /// The dimension.
        dimension: u64,
        /// How many dimensions the iota has.
        rank: usize,
    },
    /// The number of tiles along a dimension, or the size of an axis, is 0.
    ZeroSize,
    /// The number of devices exceeds `i64::MAX`.
    TooManyDevices,
    /// The order of the devices is no longer an iota, and there are too many devices to list.
    TooManyToList {
        /// How many devices there are.
        devices: u64,
        /// How many may be listed.
        limit: u64,
    },
    /// There are more subgroups than dimensions of the tile assignment.
    TooManySubgroups {
        /// The dimensions of the tile assignment.
        dimensions: usize,
        /// The subgroups.
        subgroups: usize,
    },
    /// Both `last_tile_dim_replicate` and `last_tile_dims` are given.
    ReplicateAndSubgroups,
    /// A tuple of shardings contains a tuple.
    NestedTuple,
    /// Two axes of a mesh have the same name.
    AxisNamedTwice {
        /// The name.
        name: Box<str>,
    },
    /// The mesh has too many axes.
    TooManyAxes {
        /// The largest number of axes.
        limit: usize,
        /// The number of axes.
        found: usize,
    },
    /// No axis of the mesh has this name.
    UnknownAxis {
        /// The name.
        name: Box<str>,
    },
    /// No mesh of this name is defined.
    UnknownMesh {
        /// The name.
        name: Box<str>,
    },
    /// This kind of sharding needs a mesh with axes.
    NoAxes {
        /// The kind, such as `manual`.
        kind: &'static str,
    },
    /// The devices of a mesh are not 0, 1, … in some order.
    MeshDevices {
        /// A device number that is negative, too large or used twice.
        device: i64,
    },
    /// The devices of a mesh are listed although they are in order.
    MeshDevicesInOrder,
    /// The sizes of a sub-axis do not divide its axis.
    SubAxis {
        /// The product of the sizes of the parts before it.
        pre_size: u64,
        /// Its own size.
        size: u64,
        /// The size of the whole axis.
        axis_size: u64,
    },
    /// An axis is used twice, or two of its sub-axes overlap or cut it unevenly.
    AxisUsedTwice {
        /// The axis, as the text names it.
        axis: Box<str>,
    },
    /// Two neighbouring sub-axes should be merged into one.
    Mergeable {
        /// The axis, as the text names it.
        axis: Box<str>,
    },
    /// The axes of `replicated`, `unreduced` or `manual` are not in the order of the mesh.
    AxesOutOfOrder {
        /// The axis that is out of order, as the text names it.
        axis: Box<str>,
    },
    /// Something follows `?`, which must be the last entry of a dimension.
    AfterOpen,
    /// The sharding and the array have different numbers of dimensions.
    Rank {
        /// How many dimensions the array has.
        expected: usize,
        /// How many the sharding has.
        found: usize,
    },
    /// A tuple of shardings does not have one sharding for each array of the shape.
    Leaves {
        /// How many arrays the shape has.
        expected: usize,
        /// How many shardings there are.
        found: usize,
    },
    /// A tuple of shardings is applied to a shape that is not a tuple.
    NotATuple,
    /// A sharding such as `{manual}` or `{unknown}` does not determine what each device has.
    Undetermined {
        /// The kind.
        kind: &'static str,
    },
    /// A device number is negative or listed twice.
    Device {
        /// The device.
        device: i64,
    },
    /// The sharding does not use this device.
    NoSuchDevice {
        /// The device.
        device: i64,
    },
    /// A dimension is unbounded.
    DynamicDimension {
        /// The dimension.
        dimension: usize,
    },
    /// A dimension cannot be divided evenly.
    Uneven {
        /// The dimension.
        dimension: usize,
        /// Its size in elements.
        size: u64,
        /// The number of tiles along it.
        tiles: u64,
    },
    /// The layout of the whole array is not valid for a shard.
    Layout(ValidationError),
    /// The change gives elements a different number of bits.
    ElementBits {
        /// The bits before.
        expected: u64,
        /// The bits afterwards.
        found: u64,
    },
    /// The shard of a device is missing.
    NoShard {
        /// The device.
        device: i64,
    },
    /// The shard of a device does not have the bytes of its shape.
    ShardBytes {
        /// The device.
        device: i64,
        /// The bytes of its shape.
        expected: Option<u64>,
        /// The bytes that were given.
        found: u64,
    },
    /// A size does not fit in 63 bits.
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
            Self::Mergeable { axis } => write!(f, "expected neighbouring parts of an axis to be merged into one, found {axis}"),
            Self::AxesOutOfOrder { axis } => write!(f, "expected the axes in the order of the mesh, found {axis} out of order"),
            Self::AfterOpen => f.write_str("expected nothing after `?`, found another axis"),
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
                write!(f, "expected a size or a bound in dimension {dimension} of a sharded array, found `?`")
            }
            Self::Uneven { dimension, size, tiles } => write!(
                f,
                "expected dimension {dimension} to have a size divisible by {tiles}, such as {}, found {size}",
                size.checked_next_multiple_of(*tiles).unwrap_or(*size)
            ),
            Self::Layout(error) => write!(f, "the layout does not fit the shard: {error}"),
            Self::ElementBits { expected, found } => {
                write!(f, "expected a layout that keeps the {expected} bits of an element, found {found}")
            }
            Self::NoShard { device } => write!(f, "expected the shard of device {device}, found none"),
            Self::ShardBytes { device, expected: Some(expected), found } => {
                write!(f, "expected {expected} bytes in the shard of device {device}, found {found}")
            }
            Self::ShardBytes { device, expected: None, found } => {
                write!(f, "expected a shard of device {device} whose bits fit in 64 bits, found {found} bytes")
            }
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
