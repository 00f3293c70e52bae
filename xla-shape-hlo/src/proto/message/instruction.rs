//! An instruction.

use super::{
    BlockScalingConfig, CollectiveDeviceListProto, ConvolutionDimensionNumbers, DotDimensionNumbers,
    GatherDimensionNumbers, IotaReplicaGroupListProto, LiteralProto, MeshAxesReplicaGroupListProto, OpMetadata,
    PaddingConfig, Payload, RaggedDotDimensionNumbers, ReplicaGroup, ScatterDimensionNumbers, ShuffleMode,
    SparsityConfig, WindowProto,
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

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloInstructionProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) opcode: String,
    /// A `ShapeProto`, of which a module has few that differ.
    #[prost(bytes = "vec", optional, tag = "3")]
    pub(crate) shape: Option<Vec<u8>>,
    #[prost(message, optional, tag = "7")]
    pub(crate) metadata: Option<OpMetadata>,
    #[prost(message, optional, boxed, tag = "8")]
    pub(crate) literal: Option<Box<LiteralProto>>,
    #[prost(int64, tag = "9")]
    pub(crate) parameter_number: i64,
    #[prost(string, tag = "11")]
    pub(crate) fusion_kind: String,
    #[prost(int64, tag = "13")]
    pub(crate) tuple_index: i64,
    #[prost(int64, repeated, tag = "14")]
    pub(crate) dimensions: Vec<i64>,
    #[prost(message, optional, boxed, tag = "15")]
    pub(crate) window: Option<Box<WindowProto>>,
    #[prost(message, optional, boxed, tag = "16")]
    pub(crate) convolution_dimension_numbers: Option<Box<ConvolutionDimensionNumbers>>,
    #[prost(int64, tag = "50")]
    pub(crate) feature_group_count: i64,
    #[prost(int64, tag = "58")]
    pub(crate) batch_group_count: i64,
    #[prost(message, repeated, tag = "17")]
    pub(crate) slice_dimensions: Vec<HloInstructionProtoSliceDimensions>,
    #[prost(int32, tag = "18")]
    pub(crate) exponent_bits: i32,
    #[prost(int32, tag = "19")]
    pub(crate) mantissa_bits: i32,
    #[prost(int64, repeated, tag = "20")]
    pub(crate) dynamic_slice_sizes: Vec<i64>,
    #[prost(message, optional, boxed, tag = "21")]
    pub(crate) padding_config: Option<Box<PaddingConfig>>,
    #[prost(bytes = "vec", tag = "22")]
    pub(crate) outfeed_config: Vec<u8>,
    #[prost(int32, tag = "23")]
    pub(crate) distribution: i32,
    #[prost(float, tag = "24")]
    pub(crate) epsilon: f32,
    #[prost(int64, tag = "25")]
    pub(crate) feature_index: i64,
    #[prost(int64, tag = "26")]
    pub(crate) channel_id: i64,
    #[prost(bytes = "vec", tag = "27")]
    pub(crate) infeed_config: Vec<u8>,
    #[prost(string, tag = "28")]
    pub(crate) custom_call_target: String,
    #[prost(message, optional, boxed, tag = "29")]
    pub(crate) outfeed_shape: Option<Box<ShapeProto>>,
    #[prost(message, optional, boxed, tag = "30")]
    pub(crate) dot_dimension_numbers: Option<Box<DotDimensionNumbers>>,
    #[prost(message, optional, boxed, tag = "90")]
    pub(crate) ragged_dot_dimension_numbers: Option<Box<RaggedDotDimensionNumbers>>,
    #[prost(int32, tag = "31")]
    pub(crate) fft_type: i32,
    #[prost(int64, repeated, tag = "32")]
    pub(crate) fft_length: Vec<i64>,
    #[prost(string, tag = "63")]
    pub(crate) comparison_direction: String,
    #[prost(message, optional, boxed, tag = "33")]
    pub(crate) gather_dimension_numbers: Option<Box<GatherDimensionNumbers>>,
    #[prost(int64, repeated, tag = "34")]
    pub(crate) gather_slice_sizes: Vec<i64>,
    #[prost(int64, tag = "35")]
    pub(crate) id: i64,
    #[prost(int64, repeated, tag = "36")]
    pub(crate) operand_ids: Vec<i64>,
    #[prost(int64, repeated, tag = "37")]
    pub(crate) control_predecessor_ids: Vec<i64>,
    #[prost(int64, repeated, tag = "38")]
    pub(crate) called_computation_ids: Vec<i64>,
    #[prost(message, optional, boxed, tag = "40")]
    pub(crate) sharding: Option<Box<OpShardingProto>>,
    #[prost(bytes = "vec", tag = "43")]
    pub(crate) backend_config: Vec<u8>,
    #[prost(message, optional, boxed, tag = "99")]
    pub(crate) backend_config_payload: Option<Box<Payload>>,
    #[prost(message, repeated, tag = "49")]
    pub(crate) replica_groups: Vec<ReplicaGroup>,
    #[prost(int64, tag = "45")]
    pub(crate) all_reduce_id: i64,
    #[prost(bool, tag = "71")]
    pub(crate) use_global_device_ids: bool,
    #[prost(bool, tag = "47")]
    pub(crate) is_host_transfer: bool,
    #[prost(bool, tag = "60")]
    pub(crate) is_stable: bool,
    #[prost(message, optional, boxed, tag = "48")]
    pub(crate) scatter_dimension_numbers: Option<Box<ScatterDimensionNumbers>>,
    #[prost(message, optional, boxed, tag = "51")]
    pub(crate) precision_config: Option<Box<PrecisionConfig>>,
    #[prost(message, repeated, tag = "52")]
    pub(crate) source_target_pairs: Vec<SourceTarget>,
    #[prost(message, optional, boxed, tag = "54")]
    pub(crate) domain_entry_sharding: Option<Box<OpShardingProto>>,
    #[prost(message, optional, boxed, tag = "55")]
    pub(crate) domain_exit_sharding: Option<Box<OpShardingProto>>,
    #[prost(bool, tag = "56")]
    pub(crate) constrain_layout: bool,
    #[prost(message, repeated, tag = "57")]
    pub(crate) operand_shapes_with_layout: Vec<ShapeProto>,
    #[prost(message, optional, boxed, tag = "59")]
    pub(crate) triangular_solve_options: Option<Box<TriangularSolveOptions>>,
    #[prost(message, optional, boxed, tag = "62")]
    pub(crate) cholesky_options: Option<Box<CholeskyOptions>>,
    #[prost(message, optional, boxed, tag = "61")]
    pub(crate) parameter_replication: Option<Box<ParameterReplication>>,
    #[prost(bool, tag = "65")]
    pub(crate) custom_call_has_side_effect: bool,
    #[prost(message, repeated, tag = "74")]
    pub(crate) output_operand_aliasing: Vec<OutputOperandAliasing>,
    #[prost(int32, tag = "76")]
    pub(crate) custom_call_schedule: i32,
    #[prost(int64, tag = "66")]
    pub(crate) delta: i64,
    #[prost(bool, tag = "67")]
    pub(crate) indices_are_sorted: bool,
    #[prost(message, optional, tag = "68")]
    pub(crate) frontend_attributes: Option<FrontendAttributes>,
    #[prost(bool, tag = "69")]
    pub(crate) unique_indices: bool,
    #[prost(int32, tag = "70")]
    pub(crate) rng_algorithm: i32,
    #[prost(string, tag = "72")]
    pub(crate) comparison_type: String,
    #[prost(bool, tag = "73")]
    pub(crate) is_cross_program_prefetch: bool,
    #[prost(int32, optional, tag = "80")]
    pub(crate) cross_program_prefetch_index: Option<i32>,
    #[prost(int32, tag = "75")]
    pub(crate) padding_type: i32,
    #[prost(int32, tag = "77")]
    pub(crate) custom_call_api_version: i32,
    #[prost(string, tag = "79")]
    pub(crate) async_execution_thread: String,
    #[prost(int64, tag = "81")]
    pub(crate) k: i64,
    #[prost(bool, tag = "85")]
    pub(crate) largest: bool,
    #[prost(message, optional, boxed, tag = "82")]
    pub(crate) statistics_viz: Option<Box<StatisticsViz>>,
    #[prost(message, optional, boxed, tag = "87")]
    pub(crate) collective_device_list: Option<Box<CollectiveDeviceListProto>>,
    #[prost(message, optional, boxed, tag = "92")]
    pub(crate) iota_collective_device_list: Option<Box<IotaReplicaGroupListProto>>,
    #[prost(message, optional, boxed, tag = "93")]
    pub(crate) mesh_axes_replica_group_list: Option<Box<MeshAxesReplicaGroupListProto>>,
    #[prost(message, optional, boxed, tag = "88")]
    pub(crate) original_value: Option<Box<OriginalValueProto>>,
    #[prost(bool, tag = "89")]
    pub(crate) is_composite: bool,
    #[prost(message, optional, boxed, tag = "91")]
    pub(crate) result_accuracy: Option<Box<ResultAccuracy>>,
    #[prost(bool, tag = "94")]
    pub(crate) is_reverse: bool,
    #[prost(int64, tag = "95")]
    pub(crate) num_carries: i64,
    #[prost(int32, tag = "96")]
    pub(crate) is_associative: i32,
    #[prost(int32, tag = "97")]
    pub(crate) conv_kind: i32,
    #[prost(message, optional, boxed, tag = "98")]
    pub(crate) sparsity_config: Option<Box<SparsityConfig>>,
    #[prost(bool, tag = "100")]
    pub(crate) has_dynamic_root: bool,
    #[prost(message, optional, boxed, tag = "101")]
    pub(crate) block_scaling_config: Option<Box<BlockScalingConfig>>,
    #[prost(string, tag = "102")]
    pub(crate) comparison_order: String,
    #[prost(message, optional, boxed, tag = "103")]
    pub(crate) shuffle_mode: Option<Box<ShuffleMode>>,
}
