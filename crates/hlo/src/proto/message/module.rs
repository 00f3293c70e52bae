//! `HloModuleProto` and its parts.

use super::{FrontendAttributes, OriginalArrayProto};
use alloc::string::String;
use alloc::vec::Vec;
use xla_shape_core::proto::ProgramShapeProto;

message! {
    HloComputationProto, computation_field
    "1" (string) name: String,
    // Encoded `HloInstructionProto`s.
    "2" (bytes = "vec", repeated) instructions: Vec<Vec<u8>>,
    "5" (int64) id: i64,
    "6" (int64) root_id: i64,
    "8" (string) execution_thread: String,
    "4" (message, optional) program_shape: Option<ProgramShapeProto>,
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

message! {
    OriginalValueRecoveryTableProtoEntry, recovery_field
    "1" (message, optional) old_original_array: Option<OriginalArrayProto>,
    "2" (message, optional) new_original_array: Option<OriginalArrayProto>,
    "3" (message, optional) recovery_module: Option<HloModuleProto>,
}

message! {
    OriginalValueRecoveryTableProto, recovery_table_field
    "1" (message, repeated) entries: Vec<OriginalValueRecoveryTableProtoEntry>,
}

message! {
    HloModuleProto, module_field
    "1" (string) name: String,
    "2" (string) entry_computation_name: String,
    "6" (int64) entry_computation_id: i64,
    "3" (message, repeated) computations: Vec<HloComputationProto>,
    "4" (message, optional) host_program_shape: Option<ProgramShapeProto>,
    "7" (message, optional) schedule: Option<HloScheduleProto>,
    "8" (message, optional) input_output_alias: Option<HloInputOutputAliasProto>,
    "22" (bytes = "vec", repeated) payloads: Vec<Vec<u8>>,
    "18" (message, optional) buffer_donor: Option<HloBufferDonorProto>,
    "17" (message, optional) stack_frame_index: Option<StackFrameIndexProto>,
    "19" (message, optional) frontend_attributes: Option<FrontendAttributes>,
    "20" (message, optional) original_value_recovery_table: Option<OriginalValueRecoveryTableProto>,
    "25" (bytes = "vec") backend_config: Vec<u8>,
}
