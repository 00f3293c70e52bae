//! A module.

use super::{FrontendAttributes, HloInstructionProto, OriginalArrayProto};
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::ProgramShapeProto;

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloComputationProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(message, repeated, tag = "2")]
    pub(crate) instructions: Vec<HloInstructionProto>,
    #[prost(message, optional, tag = "4")]
    pub(crate) program_shape: Option<ProgramShapeProto>,
    #[prost(int64, tag = "5")]
    pub(crate) id: i64,
    #[prost(int64, tag = "6")]
    pub(crate) root_id: i64,
    #[prost(bool, tag = "7")]
    pub(crate) is_fusion_computation: bool,
    #[prost(string, tag = "8")]
    pub(crate) execution_thread: String,
    #[prost(bytes = "vec", tag = "9")]
    pub(crate) backend_config: Vec<u8>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloScheduleProtoInstructionSequence {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) instruction_ids: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloScheduleProtoSequencesEntry {
    #[prost(int64, tag = "1")]
    pub(crate) key: i64,
    #[prost(message, optional, tag = "2")]
    pub(crate) value: Option<HloScheduleProtoInstructionSequence>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloScheduleProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) sequences: Vec<HloScheduleProtoSequencesEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloInputOutputAliasProtoAliasEntryProto {
    #[prost(int64, repeated, tag = "1")]
    pub(crate) output_shape_index: Vec<i64>,
    #[prost(int64, tag = "2")]
    pub(crate) parameter_number: i64,
    #[prost(int64, repeated, tag = "3")]
    pub(crate) parameter_shape_index: Vec<i64>,
    #[prost(int32, tag = "4")]
    pub(crate) kind: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloInputOutputAliasProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<HloInputOutputAliasProtoAliasEntryProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloBufferDonorProtoBufferDonorEntryProto {
    #[prost(int64, tag = "1")]
    pub(crate) parameter_number: i64,
    #[prost(int64, repeated, tag = "2")]
    pub(crate) parameter_shape_index: Vec<i64>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloBufferDonorProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<HloBufferDonorProtoBufferDonorEntryProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StackFrameIndexProtoFileLocation {
    #[prost(int32, tag = "1")]
    pub(crate) file_name_id: i32,
    #[prost(int32, tag = "2")]
    pub(crate) function_name_id: i32,
    #[prost(int32, tag = "3")]
    pub(crate) line: i32,
    #[prost(int32, tag = "5")]
    pub(crate) end_line: i32,
    #[prost(int32, tag = "4")]
    pub(crate) column: i32,
    #[prost(int32, tag = "6")]
    pub(crate) end_column: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StackFrameIndexProtoStackFrame {
    #[prost(int32, tag = "1")]
    pub(crate) file_location_id: i32,
    #[prost(int32, tag = "2")]
    pub(crate) parent_frame_id: i32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct StackFrameIndexProto {
    #[prost(string, repeated, tag = "1")]
    pub(crate) file_names: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub(crate) function_names: Vec<String>,
    #[prost(message, repeated, tag = "3")]
    pub(crate) file_locations: Vec<StackFrameIndexProtoFileLocation>,
    #[prost(message, repeated, tag = "4")]
    pub(crate) stack_frames: Vec<StackFrameIndexProtoStackFrame>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OriginalValueRecoveryTableProtoEntry {
    #[prost(message, optional, tag = "1")]
    pub(crate) old_original_array: Option<OriginalArrayProto>,
    #[prost(message, optional, tag = "2")]
    pub(crate) new_original_array: Option<OriginalArrayProto>,
    #[prost(message, optional, tag = "3")]
    pub(crate) recovery_module: Option<HloModuleProto>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct OriginalValueRecoveryTableProto {
    #[prost(message, repeated, tag = "1")]
    pub(crate) entries: Vec<OriginalValueRecoveryTableProtoEntry>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct HloModuleProto {
    #[prost(string, tag = "1")]
    pub(crate) name: String,
    #[prost(string, tag = "2")]
    pub(crate) entry_computation_name: String,
    #[prost(int64, tag = "6")]
    pub(crate) entry_computation_id: i64,
    #[prost(message, repeated, tag = "3")]
    pub(crate) computations: Vec<HloComputationProto>,
    #[prost(message, optional, tag = "4")]
    pub(crate) host_program_shape: Option<ProgramShapeProto>,
    #[prost(message, optional, tag = "7")]
    pub(crate) schedule: Option<HloScheduleProto>,
    #[prost(message, optional, tag = "8")]
    pub(crate) input_output_alias: Option<HloInputOutputAliasProto>,
    #[prost(bytes = "vec", repeated, tag = "22")]
    pub(crate) payloads: Vec<Vec<u8>>,
    #[prost(message, optional, tag = "18")]
    pub(crate) buffer_donor: Option<HloBufferDonorProto>,
    #[prost(message, optional, tag = "17")]
    pub(crate) stack_frame_index: Option<StackFrameIndexProto>,
    #[prost(message, optional, tag = "19")]
    pub(crate) frontend_attributes: Option<FrontendAttributes>,
    #[prost(message, optional, tag = "20")]
    pub(crate) original_value_recovery_table: Option<OriginalValueRecoveryTableProto>,
    #[prost(bytes = "vec", tag = "25")]
    pub(crate) backend_config: Vec<u8>,
}
