//! Shardings as `OpSharding` and `NamedShardingProto` of `xla/xla_data.proto`.

use super::error::{ProtoError, ProtoErrorKind};
use crate::shard::{
    Axis, AxisRef, Devices, DimensionSharding, Iota, Mesh, NamedSharding, OpMetadata, OtherAxes, Reduction, ShardGroup,
    Sharding, ShardingError, ShardingKind, SubAxis, Subgroup, TileAssignment,
};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use prost::Message;

type Result<T> = core::result::Result<T, ProtoError>;

/// The origin of an operation in the source program: the fields of `OpMetadata` that shardings keep.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OpMetadataProto {
    /// The type of the operation in the framework.
    #[prost(string, tag = "1")]
    pub op_type: String,
    /// The name of the operation in the framework.
    #[prost(string, tag = "2")]
    pub op_name: String,
    /// The source file.
    #[prost(string, tag = "3")]
    pub source_file: String,
    /// The first line.
    #[prost(int32, tag = "4")]
    pub source_line: i32,
    /// The kinds of profile that guided the compiler.
    #[prost(int32, repeated, tag = "5")]
    pub profile_type: Vec<i32>,
    /// The name that deduplicated operations share.
    #[prost(string, tag = "12")]
    pub deduplicated_name: String,
    /// The number of the stack frame.
    #[prost(int32, tag = "15")]
    pub stack_frame_id: i32,
    /// The name of the operation in a schedule.
    #[prost(string, tag = "16")]
    pub scheduling_name: String,
    /// The last line.
    #[prost(int32, tag = "17")]
    pub source_end_line: i32,
    /// The first column.
    #[prost(int32, tag = "18")]
    pub source_column: i32,
    /// The last column.
    #[prost(int32, tag = "19")]
    pub source_end_column: i32,
    /// Data that a framework attached.
    #[prost(message, optional, tag = "20")]
    pub payload: Option<PayloadProto>,
}

/// Data that a framework attached.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct PayloadProto {
    /// The data.
    #[prost(string, tag = "1")]
    pub text: String,
}

/// An axis of a mesh.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct MeshAxisProto {
    /// Its name.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The number of devices along it.
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// The numbers 0, 1, … as an array, transposed.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct IotaProto {
    /// The dimensions of the array.
    #[prost(int64, repeated, tag = "1")]
    pub reshape_dims: Vec<i64>,
    /// Its transposition.
    #[prost(int32, repeated, tag = "2")]
    pub transpose_perm: Vec<i32>,
}

/// Devices as an array with named axes. A mesh of one device without axes is that single device.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct MeshProto {
    /// The axes, from major to minor.
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<MeshAxisProto>,
    /// The devices, if their order is not an iota.
    #[prost(int64, repeated, tag = "2")]
    pub device_ids: Vec<i64>,
    /// The order of the devices, if it is an iota but not 0, 1, ….
    #[prost(message, optional, tag = "3")]
    pub iota: Option<IotaProto>,
}

/// A part of an axis.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct SubAxisProto {
    /// The product of the sizes of the parts before it.
    #[prost(int64, tag = "1")]
    pub pre_size: i64,
    /// Its size.
    #[prost(int64, tag = "2")]
    pub size: i64,
}

/// An axis of the mesh, or a part of one.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct AxisRefProto {
    /// The number of the axis.
    #[prost(int64, tag = "1")]
    pub mesh_axis_index: i64,
    /// The part of the axis; the whole axis if missing.
    #[prost(message, optional, tag = "2")]
    pub sub_axis_info: Option<SubAxisProto>,
}

/// The axes that divide a dimension.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct DimensionShardingProto {
    /// The axes, from major to minor.
    #[prost(message, repeated, tag = "1")]
    pub axes: Vec<AxisRefProto>,
    /// Whether no compiler may divide it further.
    #[prost(bool, tag = "2")]
    pub is_closed: bool,
}

/// A sharding that names the axes of a mesh.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct NamedShardingProto {
    /// The mesh.
    #[prost(message, optional, tag = "2")]
    pub mesh: Option<MeshProto>,
    /// The axes that divide each dimension.
    #[prost(message, repeated, tag = "3")]
    pub dim_shardings: Vec<DimensionShardingProto>,
    /// The axes along which devices have copies.
    #[prost(message, repeated, tag = "4")]
    pub replicated_axes: Vec<AxisRefProto>,
    /// The axes along which each device has a partial sum, maximum or minimum.
    #[prost(message, repeated, tag = "5")]
    pub unreduced_axes: Vec<AxisRefProto>,
    /// The origin in the source program.
    #[prost(message, repeated, tag = "6")]
    pub metadata: Vec<OpMetadataProto>,
    /// The axes along which the program divides the work itself.
    #[prost(message, repeated, tag = "7")]
    pub manual_axes: Vec<AxisRefProto>,
    /// How partial results are combined: 0 sum, 1 maximum, 2 minimum.
    #[prost(int32, tag = "8")]
    pub unreduced_op: i32,
}

/// How a value is divided among devices: `OpSharding`.
#[derive(Clone, PartialEq, Eq, Hash, Message)]
pub struct OpShardingProto {
    /// The kind: 0 replicated, 1 maximal, 2 a tuple, 3 tiles, 4 manual, 5 unknown, 6 unreduced.
    #[prost(int32, tag = "1")]
    pub r#type: i32,
    /// The number of tiles along each dimension, followed by the sizes of the subgroups.
    #[prost(int64, repeated, tag = "3")]
    pub tile_assignment_dimensions: Vec<i64>,
    /// The devices of the tiles.
    #[prost(int64, repeated, tag = "4")]
    pub tile_assignment_devices: Vec<i64>,
    /// The shardings of a tuple.
    #[prost(message, repeated, tag = "5")]
    pub tuple_shardings: Vec<Self>,
    /// Whether devices along the last dimension have copies.
    #[prost(bool, tag = "6")]
    pub replicate_on_last_tile_dim: bool,
    /// The origin in the source program.
    #[prost(message, repeated, tag = "7")]
    pub metadata: Vec<OpMetadataProto>,
    /// The kinds of the subgroups, which are the last dimensions; numbers as for `type`.
    #[prost(int32, repeated, tag = "8")]
    pub last_tile_dims: Vec<i32>,
    /// The dimensions of an iota that replaces the list of devices.
    #[prost(int64, repeated, tag = "9")]
    pub iota_reshape_dims: Vec<i64>,
    /// Its transposition.
    #[prost(int32, repeated, tag = "10")]
    pub iota_transpose_perm: Vec<i32>,
    /// Whether the value is in a group of values that are sharded in the same way.
    #[prost(bool, tag = "11")]
    pub is_shard_group: bool,
    /// The number of the group.
    #[prost(int64, tag = "12")]
    pub shard_group_id: i64,
    /// 0: the values must be sharded in the same way; 1: they should be.
    #[prost(int32, tag = "13")]
    pub shard_group_type: i32,
    /// A sharding that names the axes of a mesh. If it is set, all other fields are ignored.
    #[prost(message, optional, tag = "14")]
    pub named_sharding: Option<NamedShardingProto>,
}

/// The numbers of `OpSharding.Type`.
mod kind {
    pub(super) const REPLICATED: i32 = 0;
    pub(super) const MAXIMAL: i32 = 1;
    pub(super) const TUPLE: i32 = 2;
    pub(super) const OTHER: i32 = 3;
    pub(super) const MANUAL: i32 = 4;
    pub(super) const UNKNOWN: i32 = 5;
    pub(super) const UNREDUCED: i32 = 6;
}

/// Encodes a sharding as an `OpSharding`, with the same bytes as XLA (`HloSharding::ToProto` in
/// `xla/hlo/ir/hlo_sharding.cc`).
///
/// ```
/// use xla_shape_core::proto::{decode_sharding, encode_sharding};
/// use xla_shape_core::shard::Sharding;
///
/// let sharding: Sharding = "{devices=[2,2]<=[4]}".parse()?;
/// assert_eq!(decode_sharding(&encode_sharding(&sharding))?, sharding);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn encode_sharding(sharding: &Sharding) -> Vec<u8> {
    OpShardingProto::from(sharding).encode_to_vec()
}

/// Decodes the bytes of an `OpSharding` (`HloSharding::FromProto` in `xla/hlo/ir/hlo_sharding.cc`).
///
/// ```
/// use xla_shape_core::proto::decode_sharding;
/// use xla_shape_core::shard::Sharding;
///
/// assert_eq!(decode_sharding(&[])?, Sharding::REPLICATED);
/// assert!(decode_sharding(&[0xff]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the bytes are not a message, or the sharding is not valid.
pub fn decode_sharding(bytes: &[u8]) -> Result<Sharding> {
    Sharding::try_from(&OpShardingProto::decode(bytes)?)
}

/// A size as a number of the message.
fn int(size: u64) -> i64 {
    // Every number in a valid sharding fits in an `i64`.
    i64::try_from(size).unwrap_or(i64::MAX)
}

fn ints(sizes: &[u64]) -> Vec<i64> {
    sizes.iter().copied().map(int).collect()
}

fn permutation(iota: &Iota) -> Vec<i32> {
    // An iota has at most 63 dimensions, because none has size 1 and the product fits in 63 bits.
    iota.permutation().iter().map(|&dimension| i32::try_from(dimension).unwrap_or(i32::MAX)).collect()
}

impl From<&OpMetadata> for OpMetadataProto {
    fn from(metadata: &OpMetadata) -> Self {
        Self {
            op_type: metadata.op_type.clone(),
            op_name: metadata.op_name.clone(),
            source_file: metadata.source_file.clone(),
            source_line: metadata.source_line,
            profile_type: metadata.profile_type.clone(),
            deduplicated_name: metadata.deduplicated_name.clone(),
            stack_frame_id: metadata.stack_frame_id,
            scheduling_name: metadata.scheduling_name.clone(),
            source_end_line: metadata.source_end_line,
            source_column: metadata.source_column,
            source_end_column: metadata.source_end_column,
            payload: metadata.payload.clone().map(|text| PayloadProto { text }),
        }
    }
}

impl From<&OpMetadataProto> for OpMetadata {
    fn from(proto: &OpMetadataProto) -> Self {
        let mut metadata = Self::default();
        metadata.op_type.clone_from(&proto.op_type);
        metadata.op_name.clone_from(&proto.op_name);
        metadata.source_file.clone_from(&proto.source_file);
        metadata.source_line = proto.source_line;
        metadata.profile_type.clone_from(&proto.profile_type);
        metadata.deduplicated_name.clone_from(&proto.deduplicated_name);
        metadata.stack_frame_id = proto.stack_frame_id;
        metadata.scheduling_name.clone_from(&proto.scheduling_name);
        metadata.source_end_line = proto.source_end_line;
        metadata.source_column = proto.source_column;
        metadata.source_end_column = proto.source_end_column;
        metadata.payload = proto.payload.as_ref().map(|payload| payload.text.clone());
        metadata
    }
}

fn metadata_protos(metadata: &[OpMetadata]) -> Vec<OpMetadataProto> {
    metadata.iter().map(OpMetadataProto::from).collect()
}

impl From<AxisRef> for AxisRefProto {
    fn from(axis: AxisRef) -> Self {
        let part = |SubAxis { pre_size, size }| SubAxisProto { pre_size: int(pre_size), size: int(size) };
        Self { mesh_axis_index: int(axis.axis as u64), sub_axis_info: axis.part.map(part) }
    }
}

fn axes(axes: &[AxisRef]) -> Vec<AxisRefProto> {
    axes.iter().copied().map(AxisRefProto::from).collect()
}

impl From<&Mesh> for MeshProto {
    fn from(mesh: &Mesh) -> Self {
        let axis = |axis: &Axis| MeshAxisProto { name: axis.name.to_string(), size: int(axis.size) };
        let mut proto = Self { axes: mesh.axes().iter().map(axis).collect(), ..Self::default() };
        match mesh.devices() {
            Devices::List(list) => proto.device_ids.clone_from(list),
            Devices::Iota(iota) if !iota.is_in_order() => {
                let (reshape_dims, transpose_perm) = (ints(iota.dimensions()), permutation(iota));
                proto.iota = Some(IotaProto { reshape_dims, transpose_perm });
            }
            _ => {}
        }
        proto
    }
}

impl From<&NamedSharding> for NamedShardingProto {
    fn from(named: &NamedSharding) -> Self {
        let dimension = |dimension: &DimensionSharding| DimensionShardingProto {
            axes: axes(&dimension.axes),
            is_closed: !dimension.is_open,
        };
        Self {
            mesh: Some(named.mesh().into()),
            dim_shardings: named.dimensions().iter().map(dimension).collect(),
            replicated_axes: axes(named.replicated()),
            unreduced_axes: axes(named.unreduced()),
            metadata: Vec::new(),
            manual_axes: axes(named.manual()),
            unreduced_op: match named.reduction() {
                Reduction::Max => 1,
                Reduction::Min => 2,
                _ => 0,
            },
        }
    }
}

impl From<&Sharding> for OpShardingProto {
    fn from(sharding: &Sharding) -> Self {
        let mut proto = Self { metadata: metadata_protos(sharding.metadata()), ..Self::default() };
        match sharding.kind() {
            ShardingKind::Tuple(elements) => {
                proto.r#type = kind::TUPLE;
                proto.tuple_shardings = elements.iter().map(Self::from).collect();
                return proto;
            }
            ShardingKind::Named(named) => {
                let metadata = proto.metadata;
                let named_sharding = Some(NamedShardingProto { metadata, ..NamedShardingProto::from(named) });
                return Self { named_sharding, ..Self::default() };
            }
            ShardingKind::SingleDevice { device } => {
                let mesh = Some(MeshProto { device_ids: vec![*device], ..MeshProto::default() });
                let named = NamedShardingProto { mesh, metadata: proto.metadata, ..NamedShardingProto::default() };
                return Self { named_sharding: Some(named), ..Self::default() };
            }
            ShardingKind::Maximal { device } => {
                proto.r#type = kind::MAXIMAL;
                proto.tile_assignment_devices = vec![*device];
            }
            ShardingKind::Manual => proto.r#type = kind::MANUAL,
            ShardingKind::Unknown => proto.r#type = kind::UNKNOWN,
            ShardingKind::Unreduced => proto.r#type = kind::UNREDUCED,
            ShardingKind::Tiled(tiled) => {
                proto.r#type = kind::OTHER;
                proto.tile_assignment_dimensions = ints(tiled.assignment().dimensions());
                match tiled.assignment().devices() {
                    Devices::Iota(iota) => {
                        proto.iota_reshape_dims = ints(iota.dimensions());
                        proto.iota_transpose_perm = permutation(iota);
                    }
                    Devices::List(list) => proto.tile_assignment_devices.clone_from(list),
                }
                if tiled.replicates_last() {
                    proto.replicate_on_last_tile_dim = true;
                } else {
                    proto.last_tile_dims = tiled.subgroups().iter().copied().map(number).collect();
                }
            }
            _ => {}
        }
        // In shardings without axis names, XLA stores the reduction in the metadata.
        if let Some(reduction) = sharding.reduction() {
            let (op_type, op_name) = (Reduction::METADATA_TYPE.to_owned(), reduction.proto_name().to_owned());
            proto.metadata.push(OpMetadataProto { op_type, op_name, ..OpMetadataProto::default() });
        }
        // A group with the id -1 means no group.
        if let Some(group) = sharding.shard_group().filter(|group| group.id != -1) {
            proto.is_shard_group = true;
            proto.shard_group_id = group.id;
            proto.shard_group_type = i32::from(!group.is_required);
        }
        proto
    }
}

const fn number(subgroup: Subgroup) -> i32 {
    match subgroup {
        Subgroup::Maximal => kind::MAXIMAL,
        Subgroup::Manual => kind::MANUAL,
        Subgroup::Unreduced => kind::UNREDUCED,
        _ => kind::REPLICATED,
    }
}

fn invalid(field: &str, error: ShardingError) -> ProtoError {
    ProtoError::new(field, ProtoErrorKind::Sharding(error))
}

/// The number as a size; an error with this field if it is negative.
fn size(value: i64, field: impl FnOnce() -> String) -> Result<u64> {
    u64::try_from(value).map_err(|_| ProtoError::new(field(), ProtoErrorKind::Negative { value }))
}

fn sizes(values: &[i64], field: &str) -> Result<Vec<u64>> {
    values.iter().enumerate().map(|(i, &value)| size(value, || format!("{field}[{i}]"))).collect()
}

fn iota(dimensions: &[i64], transposition: &[i32], fields: [&str; 2]) -> Result<Iota> {
    let dimensions = sizes(dimensions, fields[0])?;
    let entry = |(i, &value): (usize, &i32)| {
        let error = || ProtoError::new(format!("{}[{i}]", fields[1]), ProtoErrorKind::Negative { value: value.into() });
        usize::try_from(value).map_err(|_| error())
    };
    let transposition = transposition.iter().enumerate().map(entry).collect::<Result<Vec<_>>>()?;
    Iota::new(&dimensions, &transposition).map_err(|error| {
        let is_size = matches!(error, ShardingError::ZeroSize | ShardingError::TooManyDevices);
        invalid(if is_size { fields[0] } else { fields[1] }, error)
    })
}

impl TryFrom<&MeshProto> for Mesh {
    type Error = ProtoError;

    /// # Errors
    /// If two axes have the same name, a size is 0, or the devices are not a permutation of 0, 1, ….
    fn try_from(proto: &MeshProto) -> Result<Self> {
        let axis = |(i, axis): (usize, &MeshAxisProto)| {
            Ok(Axis { name: axis.name.as_str().into(), size: size(axis.size, || format!("axes[{i}].size"))? })
        };
        let axes = proto.axes.iter().enumerate().map(axis).collect::<Result<Vec<_>>>()?;
        let devices = match &proto.iota {
            Some(order) => {
                let fields = ["iota.reshape_dims", "iota.transpose_perm"];
                Some(Devices::Iota(iota(&order.reshape_dims, &order.transpose_perm, fields)?))
            }
            None => (!proto.device_ids.is_empty()).then(|| Devices::List(proto.device_ids.clone())),
        };
        Self::new(axes, devices).map_err(|error| {
            let is_axes = matches!(
                error,
                ShardingError::AxisNamedTwice { .. }
                    | ShardingError::ZeroSize
                    | ShardingError::TooManyDevices
                    | ShardingError::TooManyAxes { .. }
            );
            invalid(if is_axes { "axes" } else { "device_ids" }, error)
        })
    }
}

fn axis_refs(protos: &[AxisRefProto], field: &str) -> Result<Vec<AxisRef>> {
    let axis = |(i, proto): (usize, &AxisRefProto)| {
        let within = |name: &str| format!("{field}[{i}].{name}");
        let axis = size(proto.mesh_axis_index, || within("mesh_axis_index"))?;
        let part = |part: &SubAxisProto| {
            let pre_size = size(part.pre_size, || within("sub_axis_info.pre_size"))?;
            Ok::<_, ProtoError>(SubAxis { pre_size, size: size(part.size, || within("sub_axis_info.size"))? })
        };
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        Ok(AxisRef { axis, part: proto.sub_axis_info.as_ref().map(part).transpose()? })
    };
    protos.iter().enumerate().map(axis).collect()
}

impl TryFrom<&NamedShardingProto> for Sharding {
    type Error = ProtoError;

    /// # Errors
    /// If it is not a valid sharding.
    fn try_from(proto: &NamedShardingProto) -> Result<Self> {
        let metadata = proto.metadata.iter().map(OpMetadata::from).collect();
        let empty = MeshProto::default();
        let mesh = proto.mesh.as_ref().unwrap_or(&empty);
        if let ([], [device], None) = (mesh.axes.as_slice(), mesh.device_ids.as_slice(), &mesh.iota) {
            return Ok(Self::single_device(*device).with_metadata(metadata));
        }
        let mesh = Mesh::try_from(mesh).map_err(|error| error.within("mesh"))?;
        let dimension = |(i, dimension): (usize, &DimensionShardingProto)| {
            let axes = axis_refs(&dimension.axes, "axes").map_err(|e| e.within(format_args!("dim_shardings[{i}]")))?;
            Ok(DimensionSharding { axes, is_open: !dimension.is_closed })
        };
        let dimensions = proto.dim_shardings.iter().enumerate().map(dimension).collect::<Result<_>>()?;
        let reduction = match proto.unreduced_op {
            0 => Reduction::Sum,
            1 => Reduction::Max,
            2 => Reduction::Min,
            number => return Err(ProtoError::new("unreduced_op", ProtoErrorKind::UnknownNumber { number })),
        };
        let other = OtherAxes {
            replicated: axis_refs(&proto.replicated_axes, "replicated_axes")?,
            unreduced: axis_refs(&proto.unreduced_axes, "unreduced_axes")?,
            reduction,
            manual: axis_refs(&proto.manual_axes, "manual_axes")?,
        };
        let named = NamedSharding::new(mesh, dimensions, other).map_err(|error| invalid("", error))?;
        Ok(Self::named(named).with_metadata(metadata))
    }
}

impl TryFrom<&OpShardingProto> for Sharding {
    type Error = ProtoError;

    /// # Errors
    /// If it is not a valid sharding.
    fn try_from(proto: &OpShardingProto) -> Result<Self> {
        if proto.named_sharding.is_none() && proto.r#type == kind::TUPLE {
            let element = |(i, element): (usize, &OpShardingProto)| {
                let within = |error: ProtoError| error.within(format_args!("tuple_shardings[{i}]"));
                if element.named_sharding.is_none() && element.r#type == kind::TUPLE {
                    return Err(within(invalid("", ShardingError::NestedTuple)));
                }
                leaf(element).map_err(within)
            };
            let elements = proto.tuple_shardings.iter().enumerate().map(element).collect::<Result<_>>()?;
            return Self::tuple(elements).map_err(|error| invalid("tuple_shardings", error));
        }
        leaf(proto)
    }
}

fn leaf(proto: &OpShardingProto) -> Result<Sharding> {
    if let Some(named) = &proto.named_sharding {
        return Sharding::try_from(named).map_err(|error| error.within("named_sharding"));
    }
    let sharding = match proto.r#type {
        kind::REPLICATED => Sharding::REPLICATED,
        kind::MANUAL => Sharding::MANUAL,
        kind::UNKNOWN => Sharding::UNKNOWN,
        kind::UNREDUCED => Sharding::UNREDUCED,
        kind::MAXIMAL => match proto.tile_assignment_devices.as_slice() {
            &[device] => Sharding::maximal(device),
            list => {
                let error = ShardingError::MaximalDevice { found: list.len() };
                return Err(invalid("tile_assignment_devices", error));
            }
        },
        kind::OTHER => tiled(proto)?,
        number => return Err(ProtoError::new("type", ProtoErrorKind::UnknownNumber { number })),
    };
    let metadata = proto.metadata.iter().map(OpMetadata::from).collect::<Vec<_>>();
    let (reductions, metadata): (Vec<_>, Vec<_>) =
        metadata.into_iter().partition(|metadata| metadata.op_type == Reduction::METADATA_TYPE);
    let reduction = reductions.iter().rev().find_map(Reduction::from_metadata);
    let group = ShardGroup { id: proto.shard_group_id, is_required: proto.shard_group_type == 0 };
    let sharding = sharding.with_shard_group(proto.is_shard_group.then_some(group)).with_metadata(metadata);
    Ok(match reduction {
        Some(reduction) => sharding.with_reduction(reduction),
        None => sharding,
    })
}

fn tiled(proto: &OpShardingProto) -> Result<Sharding> {
    let devices = if proto.iota_reshape_dims.is_empty() {
        if proto.tile_assignment_devices.is_empty() {
            return Err(ProtoError::new("tile_assignment_devices", ProtoErrorKind::Missing));
        }
        Devices::List(proto.tile_assignment_devices.clone())
    } else {
        if !proto.tile_assignment_devices.is_empty() {
            return Err(invalid("tile_assignment_devices", ShardingError::ListAndIota));
        }
        let fields = ["iota_reshape_dims", "iota_transpose_perm"];
        Devices::Iota(iota(&proto.iota_reshape_dims, &proto.iota_transpose_perm, fields)?)
    };
    // With a single device, the sharding is replicated.
    if devices.count() == 1 {
        return Ok(Sharding::REPLICATED);
    }
    let tiles = sizes(&proto.tile_assignment_dimensions, "tile_assignment_dimensions")?;
    let assignment =
        TileAssignment::new(tiles, devices).map_err(|error| invalid("tile_assignment_dimensions", error))?;
    let subgroup = |(i, &number): (usize, &i32)| match number {
        kind::REPLICATED => Ok(Subgroup::Replicated),
        kind::MAXIMAL => Ok(Subgroup::Maximal),
        kind::MANUAL => Ok(Subgroup::Manual),
        kind::UNREDUCED => Ok(Subgroup::Unreduced),
        number => Err(ProtoError::new(format!("last_tile_dims[{i}]"), ProtoErrorKind::UnknownNumber { number })),
    };
    let mut subgroups = proto.last_tile_dims.iter().enumerate().map(subgroup).collect::<Result<Vec<_>>>()?;
    if proto.replicate_on_last_tile_dim {
        if !subgroups.is_empty() {
            return Err(invalid("last_tile_dims", ShardingError::ReplicateAndSubgroups));
        }
        subgroups.push(Subgroup::Replicated);
    }
    Sharding::tiled(assignment, &subgroups).map_err(|error| invalid("last_tile_dims", error))
}
