//! Shardings: how arrays are divided among devices.
//!
//! A [`Sharding`] is read from XLA's text, MLIR's or a proto; [`Sharding::partition`] applies it to an array.
//!
//! ```
//! use xla_shape_core::shard::Sharding;
//!
//! let sharding: Sharding = "{devices=[2,2]<=[4]}".parse()?;
//! assert_eq!(sharding, "{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}".parse()?);
//!
//! let partition = sharding.partition(&"f32[64,256]".parse()?)?;
//! assert_eq!(partition.shard().to_string(), "f32[32,128]{1,0}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | `devices` | which device has which tile: an explicit list, or an iota, which stays symbolic |
//! | `tiled` | tiles and subgroups in canonical form |
//! | `mesh` | devices as an array with named axes, and shardings that name the axes |
//! | `sharding` | the type [`Sharding`], and equality |
//! | `partition` | which part of an array each device has |
//! | `ranges` | which positions in memory hold a region of an array |
//! | `reshard` | which data must move between devices when the sharding changes |
//! | `rearrange` | reshapes and transposes between them |
//! | `runs` | which positions of one shard become which of another |
//!
//! The parsers and printers are in `text/sharding`. The rules are those of `HloSharding` in
//! `xla/hlo/ir/hlo_sharding.cc`, `TileAssignment` in `xla/hlo/ir/tile_assignment.cc`, `Mesh` and `AxisRef` in
//! `xla/hlo/ir/mesh_and_axis.cc`, and `NamedSharding` in `xla/hlo/ir/named_sharding.cc`.

// rustdoc lists the methods of a type in the order of these modules: `Sharding`'s constructors and accessors come
// first.
pub(crate) mod sharding;

pub(crate) mod devices;
pub(crate) mod error;
pub(crate) mod mesh;
pub(crate) mod metadata;
mod partition;
mod ranges;
mod rearrange;
mod reshard;
mod runs;
pub(crate) mod tiled;

pub use devices::{Devices, Iota, MAX_LISTED_DEVICES, TileAssignment};
pub use error::ShardingError;
pub use mesh::{Axis, AxisRef, DimensionSharding, MAX_AXES, Mesh, NamedSharding, OtherAxes, SubAxis};
pub use metadata::OpMetadata;
pub use partition::{Partition, Region};
pub use ranges::{Ranges, Slicing};
pub use rearrange::{RearrangeError, Rearrangement};
pub use reshard::{Hosts, HostsError, Reshard, ReshardKind, Transfer, replica_groups};
pub use runs::{MovedRun, MovedRuns};
pub use sharding::{ShardGroup, Sharding, ShardingKind};
pub use tiled::{Reduction, Subgroup, TiledSharding};
