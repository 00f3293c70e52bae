//! How values and groups lie on devices.

use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::{AxisRefProto, MeshProto};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Payload {
    #[prost(bytes = "vec", optional, tag = "1")]
    pub(crate) value: Option<Vec<u8>>,
    #[prost(int64, optional, tag = "2")]
    pub(crate) id: Option<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OpMetadata {
    #[prost(string, tag = "1")]
    pub(crate) op_type: String,
    #[prost(string, tag = "2")]
    pub(crate) op_name: String,
    #[prost(string, tag = "3")]
    pub(crate) source_file: String,
    #[prost(int32, tag = "4")]
    pub(crate) source_line: i32,
    #[prost(int32, tag = "17")]
    pub(crate) source_end_line: i32,
    #[prost(int32, tag = "18")]
    pub(crate) source_column: i32,
    #[prost(int32, tag = "19")]
    pub(crate) source_end_column: i32,
    #[prost(int32, repeated, tag = "5")]
    pub(crate) profile_type: Vec<i32>,
    #[prost(int64, tag = "8")]
    pub(crate) size_of_generated_code_in_bytes: i64,
    #[prost(int64, tag = "9")]
    pub(crate) size_of_memory_working_set_in_bytes: i64,
    #[prost(string, tag = "12")]
    pub(crate) deduplicated_name: String,
    #[prost(int32, tag = "15")]
    pub(crate) stack_frame_id: i32,
    #[prost(string, tag = "16")]
    pub(crate) scheduling_name: String,
    #[prost(message, optional, tag = "20")]
    pub(crate) metadata_payload: Option<Payload>,
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
