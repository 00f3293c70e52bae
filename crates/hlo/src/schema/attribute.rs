//! The attributes of instructions, computations and modules, with their field numbers in `HloInstructionProto`
//! (`xla/service/hlo.proto`).
//!
//! To add an attribute, write a row here, and its name in the rows of the opcodes that have it (`opcode.rs`) or in `COMMON`. A new set of words is a
//! list in `words.rs`. If the shape of a result depends on the attribute, `infer.rs` of this crate reads it. Only a new kind of value needs more,
//! and the compiler points out what is missing: `parsed.rs` reads its text, `proto/fields.rs` writes its message, and `proto/attributes.rs` reads
//! it.

use super::words::{self, Words};

macro_rules! attributes {
    ($($key:ident $name:literal $kind:ident $(($argument:expr))? [$($field:literal),*];)*) => {
        /// An attribute, identified by its row. If opcodes use one name for different things, each has a row of its own.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[repr(u8)]
        pub(crate) enum Key {
            $(#[doc = concat!("`", $name, "`")] $key,)*
        }

        impl Key {
            /// Every attribute, in the order of the rows.
            pub(crate) const ALL: &'static [Self] = &[$(Self::$key),*];

            /// The name in HLO text.
            pub(crate) const fn name(self) -> &'static str {
                match self { $(Self::$key => $name,)* }
            }

            /// The kind of its value.
            pub(crate) const fn kind(self) -> Kind {
                match self { $(Self::$key => Kind::$kind $(($argument))?,)* }
            }

            /// The field number in `HloInstructionProto`, followed by the numbers of nested fields. Empty if the message has no such field.
            pub(crate) const fn field(self) -> &'static [u32] {
                match self { $(Self::$key => &[$($field),*],)* }
            }
        }
    };
}

/// The kind of an attribute's value: its form in text and in messages.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Flag,
    /// `{true,false}`
    Flags,
    /// [`Flags`](Self::Flags), or one flag for all.
    FlagOrFlags,
    /// A whole number.
    Number,
    /// A whole number of 32 bits.
    Number32,
    /// A whole number of 32 bits, an optional field in messages.
    Optional32,
    /// A count, 1 by default.
    Count,
    /// A number that is a list of length one in messages.
    Single,
    /// `{0,2,1}`
    Numbers,
    /// `{1,-1}`
    Integers,
    /// `{{1,2},{3}}`, a flat list in messages.
    Nested,
    /// A floating-point number.
    Float,
    /// A string of UTF-8.
    Text,
    /// A string of any bytes.
    Bytes,
    /// A string of any bytes, which messages may store in the module's list of payloads.
    Payload,
    /// The name of an execution thread, a string. The main thread is omitted.
    Thread,
    /// Text that XLA does not interpret: JSON in braces, or a string.
    Config,
    /// A word of an enum; messages have its number.
    Word(&'static Words),
    /// A word of an enum; messages have the word.
    Spelled(&'static Words),
    /// Any word; messages have the word.
    AnyWord,
    /// A list of words of an enum; messages have the numbers.
    WordList(&'static Words),
    /// A word that messages express by the presence of a field.
    Mode(&'static Words),
    /// The order of floats in a comparison.
    Order(&'static Words),
    /// A computation, with its index in the `called_computation_ids` of messages.
    Computation(usize),
    /// All computations that an instruction calls.
    Computations,
    /// Instructions of the same computation that must run before.
    Instructions,
    /// `{size=3x3 stride=2x2}`
    Window,
    /// `0_1x2_3_1`
    Padding,
    /// `{[0:4], [1:9:2]}`
    Slices,
    /// `b01f_01io->b01f`
    DimLabels,
    /// `{{0,1},{2,3}}`, `[2,2]<=[4]` or `mesh['x'=4] {'x'}`
    Groups,
    /// `{{0,1},{1,0}}`: sources and targets.
    Pairs,
    /// `{devices=[2,1]<=[2]}`
    Sharding,
    /// A shape.
    Shape,
    /// `{f32[2]{0}, s32[]}`: the operands' shapes with their layouts.
    Shapes,
    /// `{{0}: (1, {}, must-alias)}`
    Aliases,
    /// `{(0, {}), (1, {0})}`
    Donors,
    /// `{(f32[2]{0})->f32[2]{0}}`
    Program,
    /// `s32[2]{0} {1, 2}`
    Literal,
    /// `{kind="sharding", entry={…}, exit={…}}`
    Domain,
    /// `{({"a"}, {"b" {0}})}`
    Origin,
    /// `{ {"a"} : {"b"}, "a module" }`
    Recovery,
    /// `{mode=highest}` or `{tolerance={atol=…,rtol=…,ulps=…}}`
    Accuracy,
    /// `{visualizing_index=0,name=1.5}`
    Statistics,
    /// `{op_name="jit(f)/add" source_line=7}`
    Metadata,
    /// `{key="value",other={…}}`
    Frontend,
    /// A list of fields that must be empty, and that messages do not have.
    Empty,
    /// A value that is not parsed.
    Unread,
}

attributes! {
    AliasPassthroughParams "alias_passthrough_params" Flag [];
    AllowShardingToOutput "allow_spmd_sharding_propagation_to_output" FlagOrFlags [];
    AllowShardingToParameters "allow_spmd_sharding_propagation_to_parameters" FlagOrFlags [];
    Algorithm "algorithm" Word(&words::ALGORITHMS) [51, 2];
    RngAlgorithm "algorithm" Word(&words::RNG_ALGORITHMS) [70];
    ApiVersion "api_version" Word(&words::API_VERSIONS) [77];
    AsyncExecutionThread "async_execution_thread" Thread [79];
    BackendConfig "backend_config" Config [43];
    BarrierSemaphore "barrier_semaphore" Unread [];
    BatchGroupCount "batch_group_count" Count [58];
    BlockScalingConfig "block_scaling_config" Empty [];
    Body "body" Computation(0) [38];
    BranchComputations "branch_computations" Computations [38];
    BufferDonor "buffer_donor" Donors [];
    CalledComputations "called_computations" Computations [38];
    Calls "calls" Computation(0) [38];
    ChannelId "channel_id" Number [26];
    CollapsedSliceDims "collapsed_slice_dims" Numbers [33, 2];
    ComparisonDirection "comparison_direction" Unread [];
    Condition "condition" Computation(1) [38];
    ConstrainLayout "constrain_layout" Flag [56];
    ControlPredecessors "control-predecessors" Instructions [37];
    ConvolutionKind "convolution_kind" Word(&words::CONVOLUTION_KINDS) [97];
    CrossProgramPrefetchIndex "cross_program_prefetch_index" Optional32 [80];
    CustomCallHasSideEffect "custom_call_has_side_effect" Flag [65];
    CustomCallSchedule "custom_call_schedule" Word(&words::SCHEDULES) [];
    CustomCallTarget "custom_call_target" Text [28];
    Delta "delta" Number [66];
    DimLabels "dim_labels" DimLabels [16];
    Dimensions "dimensions" Numbers [14];
    Direction "direction" Spelled(&words::DIRECTIONS) [63];
    Distribution "distribution" Word(&words::DISTRIBUTIONS) [23];
    Domain "domain" Domain [54];
    DynamicSliceSizes "dynamic_slice_sizes" Numbers [20];
    Entry "entry" Unread [];
    EntryComputationLayout "entry_computation_layout" Program [];
    Epsilon "epsilon" Float [24];
    ExecutionThread "execution_thread" Thread [];
    Exit "exit" Unread [];
    ExponentBits "exponent_bits" Number32 [18];
    FalseComputation "false_computation" Computation(1) [38];
    FeatureGroupCount "feature_group_count" Count [50];
    FeatureIndex "feature_index" Number [25];
    FftLength "fft_length" Numbers [32];
    FftType "fft_type" Word(&words::FFT_TYPES) [31];
    FrontendAttributes "frontend_attributes" Frontend [68];
    FusionKind "kind" Spelled(&words::FUSION_KINDS) [11];
    HasDynamicRoot "has_dynamic_root" Flag [100];
    Index "index" Number [13];
    GatherIndexVectorDim "index_vector_dim" Number [33, 4];
    ScatterIndexVectorDim "index_vector_dim" Number [48, 4];
    IndicesAreSorted "indices_are_sorted" Flag [67];
    InfeedConfig "infeed_config" Bytes [27];
    InferredDimension "inferred_dimension" Single [14];
    Inplace "inplace" Unread [];
    InputBatchingDims "input_batching_dims" Numbers [48, 5];
    InputOutputAlias "input_output_alias" Aliases [];
    InsertedWindowDims "inserted_window_dims" Numbers [48, 2];
    IotaDimension "iota_dimension" Single [14];
    IsAssociative "is_associative" Word(&words::TRI_STATE) [96];
    IsComposite "is_composite" Flag [89];
    IsCrossProgramPrefetch "is_cross_program_prefetch" Unread [];
    IsHostTransfer "is_host_transfer" Flag [47];
    IsReverse "is_reverse" Flag [94];
    IsScheduled "is_scheduled" Flag [];
    IsStable "is_stable" Flag [60];
    K "k" Number [81];
    Largest "largest" Flag [85];
    LeftSide "left_side" Flag [59, 1];
    LhsBatchDims "lhs_batch_dims" Numbers [30, 3];
    RaggedLhsBatchDims "lhs_batch_dims" Numbers [90, 1, 3];
    LhsContractingDims "lhs_contracting_dims" Numbers [30, 1];
    RaggedLhsContractingDims "lhs_contracting_dims" Numbers [90, 1, 1];
    LhsRaggedDims "lhs_ragged_dims" Numbers [90, 2];
    Literal "literal" Literal [8];
    TriangularLower "lower" Flag [59, 2];
    CholeskyLower "lower" Flag [62, 1];
    MantissaBits "mantissa_bits" Number32 [19];
    Metadata "metadata" Metadata [7];
    Mode "mode" Mode(&words::DEVICE_MODES) [];
    ShuffleMode "mode" Mode(&words::SHUFFLE_MODES) [103, 1];
    NumCarries "num_carries" Number [95];
    NumPartitions "num_partitions" Number [];
    OffsetDims "offset_dims" Numbers [33, 1];
    OperandBatchingDims "operand_batching_dims" Numbers [33, 5];
    OperandLayoutConstraints "operand_layout_constraints" Shapes [57];
    OperandPrecision "operand_precision" WordList(&words::PRECISIONS) [51, 1];
    Order "order" Order(&words::ORDERS) [102];
    Origin "origin" Origin [88];
    OriginRecoveryTable "origin_recovery_table" Recovery [];
    OriginalValue "original_value" Origin [88];
    OutfeedConfig "outfeed_config" Bytes [22];
    OutfeedShape "outfeed_shape" Shape [29];
    OutputToOperandAliasing "output_to_operand_aliasing" Aliases [74];
    Padding "padding" Padding [21, 1];
    PaddingType "padding_type" Word(&words::PADDING_TYPES) [75];
    ParameterReplication "parameter_replication" Flags [61, 1];
    Permutation "permutation" Unread [];
    ReplicaCount "replica_count" Number [];
    ReplicaGroups "replica_groups" Groups [49];
    ResultAccuracy "result_accuracy" Accuracy [91];
    RhsBatchDims "rhs_batch_dims" Numbers [30, 4];
    RaggedRhsBatchDims "rhs_batch_dims" Numbers [90, 1, 4];
    RhsContractingDims "rhs_contracting_dims" Numbers [30, 2];
    RaggedRhsContractingDims "rhs_contracting_dims" Numbers [90, 1, 2];
    RhsGroupDims "rhs_group_dims" Numbers [90, 3];
    Scatter "scatter" Computation(1) [38];
    ScatterDimsToOperandDims "scatter_dims_to_operand_dims" Numbers [48, 3];
    ScatterIndicesBatchingDims "scatter_indices_batching_dims" Numbers [48, 6];
    Schedule "schedule" Word(&words::SCHEDULES) [76];
    Select "select" Computation(0) [38];
    Sharding "sharding" Sharding [40];
    Shifts "shifts" Integers [103, 1, 1];
    Slice "slice" Slices [17];
    SliceSizes "slice_sizes" Numbers [34];
    PermuteSliceSizes "slice_sizes" Nested [20];
    SourceTargetPairs "source_target_pairs" Pairs [52];
    Sparsity "sparsity" Unread [];
    SparsityConfig "sparsity_config" Empty [];
    SplitDimension "split_dimension" Unread [];
    StartIndexMap "start_index_map" Numbers [33, 3];
    StartIndicesBatchingDims "start_indices_batching_dims" Numbers [33, 6];
    Statistics "statistics" Statistics [82];
    Target "target" Unread [];
    ToApply "to_apply" Computation(0) [38];
    TransposeA "transpose_a" Word(&words::TRANSPOSES) [59, 4];
    TrueComputation "true_computation" Computation(0) [38];
    ComparisonType "type" AnyWord [72];
    UniqueIndices "unique_indices" Flag [69];
    UnitDiagonal "unit_diagonal" Flag [59, 3];
    UpdateWindowDims "update_window_dims" Numbers [48, 1];
    UseGlobalDeviceIds "use_global_device_ids" Flag [71];
    Window "window" Window [15, 1];
}

/// The attributes that any instruction may have. Only older versions of XLA have some of them.
pub(crate) const COMMON: &[Key] = &[
    Key::Metadata,
    Key::BackendConfig,
    Key::Sharding,
    Key::FrontendAttributes,
    Key::ControlPredecessors,
    Key::Origin,
    Key::AsyncExecutionThread,
    Key::Statistics,
    Key::OriginalValue,
    Key::ParameterReplication,
    Key::BarrierSemaphore,
    Key::Inplace,
    Key::IsScheduled,
    Key::Permutation,
    Key::Target,
];

/// The attributes of modules.
pub(crate) const MODULE: &[Key] = &[
    Key::AliasPassthroughParams,
    Key::AllowShardingToOutput,
    Key::AllowShardingToParameters,
    Key::BackendConfig,
    Key::BufferDonor,
    Key::EntryComputationLayout,
    Key::FrontendAttributes,
    Key::InputOutputAlias,
    Key::IsScheduled,
    Key::NumPartitions,
    Key::OriginRecoveryTable,
    Key::ReplicaCount,
];

/// The attributes whose values name computations, and their number.
const CALLING: ([Key; Key::ALL.len()], usize) = {
    let (mut calling, mut count, mut rest) = ([Key::Calls; Key::ALL.len()], 0_usize, Key::ALL);
    while let Some((key, tail)) = rest.split_first() {
        if key.calls() {
            calling.split_at_mut(count).1.split_at_mut(1).0.copy_from_slice(&[*key]);
            count += 1;
        }
        rest = tail;
    }
    (calling, count)
};

/// The field that has the order of a comparison in older messages.
pub(crate) const COMPARISON_TYPE: u32 = 72;

/// The field with a `backend_config` that may be in the module's list of payloads.
pub(crate) const BACKEND_CONFIG_PAYLOAD: u32 = 99;

/// The fields of `metadata`, in the order in which XLA prints them: the name, the kind of value, and the field number in `OpMetadata`
/// (`xla/xla_data.proto`).
pub(crate) const METADATA: &[(&str, Kind, &[u32])] = &[
    ("op_type", Kind::Text, &[1]),
    ("op_name", Kind::Text, &[2]),
    ("source_file", Kind::Text, &[3]),
    ("source_line", Kind::Number32, &[4]),
    ("source_end_line", Kind::Number32, &[17]),
    ("source_column", Kind::Number32, &[18]),
    ("source_end_column", Kind::Number32, &[19]),
    ("profile_type", Kind::Integers, &[5]),
    ("deduplicated_name", Kind::Text, &[12]),
    ("scheduling_name", Kind::Text, &[16]),
    ("stack_frame_id", Kind::Number32, &[15]),
    ("metadata_payload", Kind::Payload, &[20]),
];

impl Key {
    /// The field number, if the field belongs to the instruction's message itself. 0, which is no field number, if the field is nested.
    pub(crate) const fn only_field(self) -> u32 {
        match self.field() {
            &[number] => number,
            _ => 0,
        }
    }

    /// The bits of the message fields that contain it. Two attributes have an alternative field.
    pub(crate) const fn field_bits(self) -> u128 {
        const fn bit(field: u32) -> u128 {
            if field < u128::BITS { 1 << field } else { 0 }
        }
        let own = match self.field() {
            [first, ..] => bit(*first),
            [] => 0,
        };
        match self.kind() {
            Kind::Order(_) => own | bit(COMPARISON_TYPE),
            Kind::Config => own | bit(BACKEND_CONFIG_PAYLOAD),
            _ => own,
        }
    }

    /// The numbers of the fields that enclose the attribute's field.
    pub(crate) const fn around(self) -> &'static [u32] {
        match self.field().split_last() {
            Some((_, around)) => around,
            None => &[],
        }
    }

    /// The attributes whose values name computations that the instruction calls.
    pub(crate) const CALLS: &'static [Self] = CALLING.0.split_at(CALLING.1).0;

    /// The attribute with this name among `keys`.
    pub(crate) fn among(keys: &[Self], name: &str) -> Option<Self> {
        keys.iter().copied().find(|key| key.name() == name)
    }

    pub(crate) const fn calls(self) -> bool {
        matches!(self.kind(), Kind::Computation(_) | Kind::Computations)
    }
}
