//! How values and groups lie on devices.

use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::{AxisRefProto, MeshProto};

message! {
    Payload, payload_field
    "1" (bytes = "vec", optional) value: Option<Vec<u8>>,
    "2" (int64, optional) id: Option<i64>,
}

message! {
    OpMetadata, metadata_field
    "1" (string) op_type: String,
    "2" (string) op_name: String,
    "3" (string) source_file: String,
    "4" (int32) source_line: i32,
    "17" (int32) source_end_line: i32,
    "18" (int32) source_column: i32,
    "19" (int32) source_end_column: i32,
    "5" (int32, repeated) profile_type: Vec<i32>,
    "12" (string) deduplicated_name: String,
    "15" (int32) stack_frame_id: i32,
    "16" (string) scheduling_name: String,
    "20" (message, optional) metadata_payload: Option<Payload>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct MeshAxesReplicaGroupListProto {
    #[prost(message, optional, tag = "1")]
    pub(crate) mesh: Option<MeshProto>,
    #[prost(message, repeated, tag = "2")]
    pub(crate) axes: Vec<AxisRefProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct IotaReplicaGroupListProto {
    #[prost(int64, tag = "1")]
    pub(crate) num_replica_groups: i64,
    #[prost(int64, tag = "2")]
    pub(crate) num_devices_per_group: i64,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) iota_reshape_dims: Vec<i64>,
    #[prost(int32, repeated, tag = "4")]
    pub(crate) iota_transpose_perm: Vec<i32>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ReplicaGroup {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) replica_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CollectiveDeviceListProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) replica_groups: Vec<ReplicaGroup>,
}
