//! Messages of payloads and replica groups.

use alloc::vec::Vec;
use xla_shape_core::proto::{AxisRefProto, MeshProto};

message! {
    Payload, payload_field
    "1" (bytes = "vec", optional) value: Option<Vec<u8>>,
    "2" (int64, optional) id: Option<i64>,
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
