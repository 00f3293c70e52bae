//! Shardings: how arrays are divided among devices.
//!
//! ```
//! use xla_shape_core::shard::Sharding;
//!
//! let sharding: Sharding = "{devices=[2,2]<=[4]}".parse()?;
//! assert_eq!(sharding, "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}".parse()?);
//! # Ok::<(), xla_shape_core::ParseError>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `devices` | which device has which tile: lists, and numbers in order, which stay symbolic |
//! | `tiled` | tiles and subgroups, in their one form |
//! | `mesh` | devices as an array with named axes, and shardings that name them |
//! | `sharding` | the value, equality |
//! | `partition` | what each device has of an array |
//! | `ranges` | which bytes hold a region of an array |
//! | `reshard` | what must move where an array is divided in another way |
//!
//! Their texts are in `text/sharding`.

pub(crate) mod devices;
pub(crate) mod error;
pub(crate) mod mesh;
pub(crate) mod metadata;
mod partition;
mod ranges;
mod reshard;
pub(crate) mod sharding;
pub(crate) mod tiled;

pub use devices::{Devices, Iota, MAX_LISTED_DEVICES, TileAssignment};
pub use error::ShardingError;
pub use mesh::{Axis, AxisRef, DimensionSharding, MAX_AXES, Mesh, NamedSharding, OtherAxes, SubAxis};
pub use metadata::OpMetadata;
pub use partition::{Partition, Region};
pub use ranges::{Ranges, Slicing};
pub use reshard::{Reshard, ReshardKind, Transfer, replica_groups};
pub use sharding::{ShardGroup, Sharding, ShardingKind};
pub use tiled::{Reduction, Subgroup, TiledSharding};
