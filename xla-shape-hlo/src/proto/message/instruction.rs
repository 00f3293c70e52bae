//! An instruction.

use super::{
    CollectiveDeviceListProto, ConvolutionDimensionNumbers, DotDimensionNumbers, GatherDimensionNumbers,
    IotaReplicaGroupListProto, LiteralProto, MeshAxesReplicaGroupListProto, OpMetadata, PaddingConfig, Payload,
    RaggedDotDimensionNumbers, ReplicaGroup, ScatterDimensionNumbers, ShuffleMode, WindowProto,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::{OpShardingProto, ShapeProto};

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloInstructionProtoSliceDimensions {
    #[prost(int64, tag = "1")]
    pub(crate) start: i64,
    #[prost(int64, tag = "2")]
    pub(crate) limit: i64,
    #[prost(int64, tag = "3")]
    pub(crate) stride: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct PrecisionConfig {
    #[prost(int32, repeated, tag = "1")]
    pub(crate) operand_precision: Vec<i32>,
    #[prost(int32, tag = "2")]
    pub(crate) algorithm: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct SourceTarget {
    #[prost(int64, tag = "1")]
    pub(crate) source: i64,
    #[prost(int64, tag = "2")]
    pub(crate) target: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct TriangularSolveOptions {
    #[prost(bool, tag = "1")]
    pub(crate) left_side: bool,
    #[prost(bool, tag = "2")]
    pub(crate) lower: bool,
    #[prost(bool, tag = "3")]
    pub(crate) unit_diagonal: bool,
    #[prost(int32, tag = "4")]
    pub(crate) transpose_a: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct CholeskyOptions {
    #[prost(bool, tag = "1")]
    pub(crate) lower: bool,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ParameterReplication {
    #[prost(bool, repeated, tag = "1")]
    pub(crate) replicated_at_leaf_buffers: Vec<bool>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OutputOperandAliasing {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) output_shape_index: Vec<i64>,
    #[prost(int64, tag = "2")]
    pub(crate) operand_index: i64,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) operand_shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FrontendAttributesMapEntry {
    #[prost(string, tag = "1")]
    pub(crate) key: String,
    #[prost(string, tag = "2")]
    pub(crate) value: String,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct FrontendAttributes {
    #[prost(message, repeated, tag = "1")]
    pub(crate) map: Vec<FrontendAttributesMapEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Statistic {
    #[prost(string, tag = "1")]
    pub(crate) stat_name: String,
    #[prost(double, tag = "2")]
    pub(crate) stat_val: f64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StatisticsViz {
    #[prost(int64, tag = "1")]
    pub(crate) stat_index_to_visualize: i64,
    #[prost(message, repeated, tag = "2")]
    pub(crate) statistics: Vec<Statistic>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OriginalArrayProto {
    #[prost(string, tag = "1")]
    pub(crate) instruction_name: String,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OriginalValueElementProto {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) shape_index: Vec<i64>,
    #[prost(message, optional, tag = "2")]
    pub(crate) original_array: Option<OriginalArrayProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OriginalValueProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) elements: Vec<OriginalValueElementProto>,
    #[prost(bool, tag = "2")]
    pub(crate) is_synthetic_call: bool,
    #[prost(string, optional, tag = "3")]
    pub(crate) call_hierarchy: Option<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ResultAccuracyTolerance {
    #[prost(double, tag = "1")]
    pub(crate) atol: f64,
    #[prost(double, tag = "2")]
    pub(crate) rtol: f64,
    #[prost(int64, tag = "3")]
    pub(crate) ulps: i64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct ResultAccuracy {
    #[prost(int32, optional, tag = "1")]
    pub(crate) mode: Option<i32>,
    #[prost(message, optional, tag = "2")]
    pub(crate) tolerance: Option<ResultAccuracyTolerance>,
}

message! {
    HloInstructionProto, instruction_field
    "1" (string) name: String,
    "2" (string) opcode: String,
    // A `ShapeProto`, of which a module has few that differ.
    "3" (bytes = "vec", optional) shape: Option<Vec<u8>>,
    "7" (message, optional) metadata: Option<OpMetadata>,
    "8" (message, optional, boxed) literal: Option<Box<LiteralProto>>,
    "9" (int64) parameter_number: i64,
    "11" (string) fusion_kind: String,
    "13" (int64) tuple_index: i64,
    "14" (int64, repeated) dimensions: Vec<i64>,
    "15" (message, optional, boxed) window: Option<Box<WindowProto>>,
    "16" (message, optional, boxed) convolution_dimension_numbers: Option<Box<ConvolutionDimensionNumbers>>,
    "50" (int64) feature_group_count: i64,
    "58" (int64) batch_group_count: i64,
    "17" (message, repeated) slice_dimensions: Vec<HloInstructionProtoSliceDimensions>,
    "18" (int32) exponent_bits: i32,
    "19" (int32) mantissa_bits: i32,
    "20" (int64, repeated) dynamic_slice_sizes: Vec<i64>,
    "21" (message, optional, boxed) padding_config: Option<Box<PaddingConfig>>,
    "22" (bytes = "vec") outfeed_config: Vec<u8>,
    "23" (int32) distribution: i32,
    "24" (float) epsilon: f32,
    "25" (int64) feature_index: i64,
    "26" (int64) channel_id: i64,
    "27" (bytes = "vec") infeed_config: Vec<u8>,
    "28" (string) custom_call_target: String,
    "29" (message, optional, boxed) outfeed_shape: Option<Box<ShapeProto>>,
    "30" (message, optional, boxed) dot_dimension_numbers: Option<Box<DotDimensionNumbers>>,
    "90" (message, optional, boxed) ragged_dot_dimension_numbers: Option<Box<RaggedDotDimensionNumbers>>,
    "31" (int32) fft_type: i32,
    "32" (int64, repeated) fft_length: Vec<i64>,
    "63" (string) comparison_direction: String,
    "33" (message, optional, boxed) gather_dimension_numbers: Option<Box<GatherDimensionNumbers>>,
    "34" (int64, repeated) gather_slice_sizes: Vec<i64>,
    "35" (int64) id: i64,
    "36" (int64, repeated) operand_ids: Vec<i64>,
    "37" (int64, repeated) control_predecessor_ids: Vec<i64>,
    "38" (int64, repeated) called_computation_ids: Vec<i64>,
    "40" (message, optional, boxed) sharding: Option<Box<OpShardingProto>>,
    "43" (bytes = "vec") backend_config: Vec<u8>,
    "99" (message, optional, boxed) backend_config_payload: Option<Box<Payload>>,
    "49" (message, repeated) replica_groups: Vec<ReplicaGroup>,
    "71" (bool) use_global_device_ids: bool,
    "47" (bool) is_host_transfer: bool,
    "60" (bool) is_stable: bool,
    "48" (message, optional, boxed) scatter_dimension_numbers: Option<Box<ScatterDimensionNumbers>>,
    "51" (message, optional, boxed) precision_config: Option<Box<PrecisionConfig>>,
    "52" (message, repeated) source_target_pairs: Vec<SourceTarget>,
    "54" (message, optional, boxed) domain_entry_sharding: Option<Box<OpShardingProto>>,
    "55" (message, optional, boxed) domain_exit_sharding: Option<Box<OpShardingProto>>,
    "56" (bool) constrain_layout: bool,
    "57" (message, repeated) operand_shapes_with_layout: Vec<ShapeProto>,
    "59" (message, optional, boxed) triangular_solve_options: Option<Box<TriangularSolveOptions>>,
    "62" (message, optional, boxed) cholesky_options: Option<Box<CholeskyOptions>>,
    "61" (message, optional, boxed) parameter_replication: Option<Box<ParameterReplication>>,
    "65" (bool) custom_call_has_side_effect: bool,
    "74" (message, repeated) output_operand_aliasing: Vec<OutputOperandAliasing>,
    "76" (int32) custom_call_schedule: i32,
    "66" (int64) delta: i64,
    "67" (bool) indices_are_sorted: bool,
    "68" (message, optional) frontend_attributes: Option<FrontendAttributes>,
    "69" (bool) unique_indices: bool,
    "70" (int32) rng_algorithm: i32,
    "72" (string) comparison_type: String,
    "80" (int32, optional) cross_program_prefetch_index: Option<i32>,
    "75" (int32) padding_type: i32,
    "77" (int32) custom_call_api_version: i32,
    "79" (string) async_execution_thread: String,
    "81" (int64) k: i64,
    "85" (bool) largest: bool,
    "82" (message, optional, boxed) statistics_viz: Option<Box<StatisticsViz>>,
    "87" (message, optional, boxed) collective_device_list: Option<Box<CollectiveDeviceListProto>>,
    "92" (message, optional, boxed) iota_collective_device_list: Option<Box<IotaReplicaGroupListProto>>,
    "93" (message, optional, boxed) mesh_axes_replica_group_list: Option<Box<MeshAxesReplicaGroupListProto>>,
    "88" (message, optional, boxed) original_value: Option<Box<OriginalValueProto>>,
    "89" (bool) is_composite: bool,
    "91" (message, optional, boxed) result_accuracy: Option<Box<ResultAccuracy>>,
    "94" (bool) is_reverse: bool,
    "95" (int64) num_carries: i64,
    "96" (int32) is_associative: i32,
    "97" (int32) conv_kind: i32,
    "100" (bool) has_dynamic_root: bool,
    "102" (string) comparison_order: String,
    "103" (message, optional, boxed) shuffle_mode: Option<Box<ShuffleMode>>,
}
