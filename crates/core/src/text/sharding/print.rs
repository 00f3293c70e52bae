//! The printer of shardings: XLA's text, as `HloSharding::Print` (`xla/hlo/ir/hlo_sharding.cc`) writes it.

use crate::shard::devices::{Devices, Iota};
use crate::shard::mesh::{AxisName, AxisRef, DimensionSharding, Mesh, NamedSharding};
use crate::shard::metadata::OpMetadata;
use crate::shard::sharding::{ShardGroup, Sharding, ShardingKind};
use crate::shard::tiled::{Reduction, Subgroup, TiledSharding};
use alloc::vec::Vec;
use core::fmt::{self, Display, Formatter};

/// Writes items with a separator between them.
fn join<T: Display>(f: &mut Formatter<'_>, items: impl IntoIterator<Item = T>, separator: &str) -> fmt::Result {
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for Iota {
    /// `[4,2]T(1,0)`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        join(f, self.dimensions(), ",")?;
        f.write_str("]")?;
        if !self.is_in_order() {
            f.write_str("T(")?;
            join(f, self.permutation(), ",")?;
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl Display for TiledSharding {
    /// `devices=[2,1,2]<=[4] last_tile_dim_replicate`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("devices=[")?;
        join(f, self.assignment().dimensions(), ",")?;
        f.write_str("]")?;
        match self.assignment().devices() {
            Devices::List(list) => join(f, list, ",")?,
            Devices::Iota(iota) => write!(f, "<={iota}")?,
        }
        if self.replicates_last() {
            f.write_str(" last_tile_dim_replicate")
        } else if self.subgroups().is_empty() {
            Ok(())
        } else {
            f.write_str(" last_tile_dims={")?;
            join(f, self.subgroups().iter().copied().map(Subgroup::name), ", ")?;
            f.write_str("}")
        }
    }
}

impl Display for Mesh {
    /// `mesh['a'=2,'b'=4], device_ids=([4,2]T(1,0))`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("mesh[")?;
        for (i, axis) in self.axes().iter().enumerate() {
            write!(f, "{}'{}'={}", if i > 0 { "," } else { "" }, axis.name, axis.size)?;
        }
        f.write_str("]")?;
        match self.devices() {
            Devices::Iota(iota) if iota.is_in_order() => Ok(()),
            Devices::Iota(iota) => write!(f, ", device_ids=({iota})"),
            Devices::List(list) => {
                f.write_str(", device_ids=(")?;
                join(f, list, ",")?;
                f.write_str(")")
            }
        }
    }
}

fn axes(f: &mut Formatter<'_>, mesh: &Mesh, axes: &[AxisRef]) -> fmt::Result {
    f.write_str("{")?;
    join(f, axes.iter().map(|&axis| AxisName { axis, mesh }), ", ")?;
    f.write_str("}")
}

impl NamedSharding {
    fn write_dimension(&self, f: &mut Formatter<'_>, dimension: &DimensionSharding) -> fmt::Result {
        f.write_str("{")?;
        join(f, dimension.axes.iter().map(|&axis| AxisName { axis, mesh: self.mesh() }), ", ")?;
        f.write_str(match (dimension.is_open, dimension.axes.is_empty()) {
            (false, _) => "}",
            (true, true) => "?}",
            (true, false) => ", ?}",
        })
    }
}

impl Display for NamedSharding {
    /// `mesh['a'=2,'b'=4], [{'a'}, {?}], unreduced={'b'}`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mesh = self.mesh();
        let operation = match self.reduction() {
            Reduction::Sum => "",
            Reduction::Max => "=max",
            Reduction::Min => "=min",
        };
        write!(f, "{mesh}")?;
        // Without dimensions there are short forms: all axes of the mesh have the one role.
        if self.dimensions().is_empty() {
            if self.is_replicated() && self.replicated().is_empty() {
                return f.write_str(", replicated");
            }
            if self.are_all(self.unreduced()) {
                write!(f, ", unreduced{operation}")?;
                return if self.are_mesh(self.unreduced()) { Ok(()) } else { axes(f, mesh, self.unreduced()) };
            }
            if self.are_all(self.manual()) {
                return f.write_str(", manual");
            }
        }
        f.write_str(", [")?;
        for (i, dimension) in self.dimensions().iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            self.write_dimension(f, dimension)?;
        }
        f.write_str("]")?;
        for (name, operation, list) in [
            (", replicated=", "", self.replicated()),
            (", unreduced=", operation.trim_start_matches('='), self.unreduced()),
            (", manual=", "", self.manual()),
        ] {
            if !list.is_empty() {
                write!(f, "{name}{operation}")?;
                axes(f, mesh, list)?;
            }
        }
        Ok(())
    }
}

impl Display for ShardGroup {
    /// `shard_as 1`
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.is_required { "shard_as" } else { "shard_like" }, self.id)
    }
}

fn metadata(f: &mut Formatter<'_>, metadata: &[OpMetadata], is_list: bool) -> fmt::Result {
    f.write_str("metadata={")?;
    match metadata {
        [one] if !is_list => write!(f, "{one}")?,
        list => {
            for (i, one) in list.iter().enumerate() {
                write!(f, "{}{{{one}}}", if i > 0 { ", " } else { "" })?;
            }
        }
    }
    f.write_str("}")
}

impl Display for Sharding {
    /// The text as XLA prints it; `{:#}` adds the metadata.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        match self.kind() {
            ShardingKind::Replicated => f.write_str("replicated")?,
            ShardingKind::Maximal { device } => write!(f, "maximal device={device}")?,
            ShardingKind::Manual => f.write_str("manual")?,
            ShardingKind::Unreduced => f.write_str("unreduced")?,
            ShardingKind::Unknown => f.write_str("unknown")?,
            ShardingKind::Tiled(tiled) => write!(f, "{tiled}")?,
            ShardingKind::Named(named) => write!(f, "{named}")?,
            ShardingKind::SingleDevice { device } => write!(f, "single_device[device_id={device}]")?,
            ShardingKind::Tuple(elements) => {
                for (i, element) in elements.iter().enumerate() {
                    match i {
                        0 => {}
                        // XLA numbers every fifth element.
                        _ if i.is_multiple_of(5) => write!(f, ", /*index={i}*/")?,
                        _ => f.write_str(", ")?,
                    }
                    element.fmt(f)?;
                }
            }
        }
        if let Some(group) = self.shard_group() {
            write!(f, " {group}")?;
        }
        if f.alternate() {
            let is_named = matches!(self.kind(), ShardingKind::Named(_) | ShardingKind::SingleDevice { .. });
            if is_named && !self.metadata().is_empty() {
                f.write_str(", ")?;
                metadata(f, self.metadata(), true)?;
            } else if !is_named {
                // XLA stores the reduction in the metadata.
                let reduction_metadata = |reduction: Reduction| OpMetadata {
                    op_type: Reduction::METADATA_TYPE.into(),
                    op_name: reduction.proto_name().into(),
                    ..OpMetadata::default()
                };
                let all: Vec<_> =
                    self.metadata().iter().cloned().chain(self.reduction().map(reduction_metadata)).collect();
                if !all.is_empty() {
                    f.write_str(" ")?;
                    metadata(f, &all, false)?;
                }
            }
        }
        f.write_str("}")
    }
}
