//! Messages inside `HloInstructionProto`, and its field numbers (`xla/service/hlo.proto`).

use alloc::string::String;
use alloc::vec::Vec;

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

/// The field numbers of `HloInstructionProto` that belong to no attribute. The others are in the rows of the schema.
pub(crate) mod instruction_field {
    pub(crate) const NAME: u32 = 1;
    pub(crate) const OPCODE: u32 = 2;
    pub(crate) const SHAPE: u32 = 3;
    pub(crate) const LITERAL: u32 = 8;
    pub(crate) const PARAMETER_NUMBER: u32 = 9;
    pub(crate) const ID: u32 = 35;
    pub(crate) const OPERAND_IDS: u32 = 36;
    pub(crate) const CONTROL_PREDECESSOR_IDS: u32 = 37;
    pub(crate) const CALLED_COMPUTATION_IDS: u32 = 38;
    pub(crate) const DOMAIN_EXIT: u32 = 55;
    pub(crate) const ASYNC_EXECUTION_THREAD: u32 = 79;
    pub(crate) const GROUPS: u32 = 87;
    pub(crate) const IOTA_GROUPS: u32 = 92;
    pub(crate) const MESH_GROUPS: u32 = 93;
}
