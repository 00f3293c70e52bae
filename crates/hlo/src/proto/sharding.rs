//! Prints shardings and replica groups.

use super::error::{HloProtoError, HloProtoErrorKind};
use super::message::{
    CollectiveDeviceListProto, IotaReplicaGroupListProto, MeshAxesReplicaGroupListProto, instruction_field as field,
};
use super::wire::Record;
use super::words::joined;
use crate::schema::Key;
use alloc::string::String;
use core::fmt::Write as _;
use xla_shape_core::proto::{AxisRefProto, MeshProto, OpShardingProto};
use xla_shape_core::shard::{Mesh, Sharding};

type Result<T> = core::result::Result<T, HloProtoError>;

/// Prints a sharding in braces.
pub(crate) fn sharding(sharding: &OpShardingProto, out: &mut String) -> Result<()> {
    // Writing to a `String` does not fail.
    let _ = write!(out, "{:#}", Sharding::try_from(sharding)?);
    Ok(())
}

/// Prints replica groups, in the form in which the message has them.
pub(crate) fn replica_groups(instruction: &Record<'_>, out: &mut String) -> Result<()> {
    if let Some(groups) = instruction.message::<MeshAxesReplicaGroupListProto>(field::MESH_GROUPS)? {
        let default = MeshProto::default();
        let mesh = groups.mesh.as_ref().unwrap_or(&default);
        let _ = write!(out, "{} {{", Mesh::try_from(mesh)?);
        for (i, axis) in groups.axes.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            self::axis(axis, mesh, out)?;
        }
        out.push('}');
        return Ok(());
    }
    if let Some(iota) = instruction.message::<IotaReplicaGroupListProto>(field::IOTA_GROUPS)? {
        let IotaReplicaGroupListProto { num_replica_groups, num_devices_per_group, iota_reshape_dims, .. } = &iota;
        let _ = write!(out, "[{num_replica_groups},{num_devices_per_group}]<=[");
        joined(iota_reshape_dims, ",", out);
        out.push(']');
        if iota_reshape_dims.len() > 1 {
            let permutation: alloc::vec::Vec<_> = iota.iota_transpose_perm.iter().map(|&entry| entry.into()).collect();
            out.push_str("T(");
            joined(&permutation, ",", out);
            out.push(')');
        }
        return Ok(());
    }
    let groups = match instruction.message::<CollectiveDeviceListProto>(field::GROUPS)? {
        Some(list) => list.replica_groups,
        None => instruction.messages(Key::ReplicaGroups.only_field())?,
    };
    out.push('{');
    for (i, group) in groups.iter().enumerate() {
        out.push_str(if i > 0 { ",{" } else { "{" });
        joined(&group.replica_ids, ",", out);
        out.push('}');
    }
    out.push('}');
    Ok(())
}

fn axis(axis: &AxisRefProto, mesh: &MeshProto, out: &mut String) -> Result<()> {
    let named = usize::try_from(axis.mesh_axis_index).ok().and_then(|index| mesh.axes.get(index));
    let unknown = HloProtoErrorKind::UnknownValue { field: "mesh_axis_index", value: axis.mesh_axis_index };
    let named = named.ok_or_else(|| HloProtoError::new(unknown))?;
    let _ = write!(out, "'{}'", named.name);
    if let Some(part) = &axis.sub_axis_info {
        let _ = write!(out, ":({}){}", part.pre_size, part.size);
    }
    Ok(())
}
