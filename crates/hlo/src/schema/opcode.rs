//! The opcodes (`xla/hlo/ir/hlo_opcode.h`) and the attributes of each, as `HloParserImpl::CreateInstruction` in
//! `xla/hlo/parser/hlo_parser.cc` reads them and `PrintExtraAttributesImpl` in `xla/hlo/ir/hlo_instructions.cc` prints them.
//!
//! To add an opcode, write a row here (name, family, precision, attributes), sorted by name, and a rule: for an elementwise operation a row of
//! `table!` in the core's `infer/elementwise.rs`, for any other operation an arm in `infer.rs` of this crate. A test fails if the rule is missing. If
//! the opcode forwards values, add it to `memory/values/dataflow.rs`. To find other code that treats an opcode specially, search for `Opcode::` in
//! `check`, `memory`, `cost` and `asynchronous.rs`. `scripts/data/hlo_cases.py` writes test programs with the opcode, and XLA's answers.

use super::attribute::Key;
use core::fmt;

/// The attributes of a row: `Name!` is always printed, `Name` unless it has the default value, `Name-` is only read.
macro_rules! attributes {
    (@ [$($done:expr,)*]) => { const { &[$($done),*] } };
    (@ [$($done:tt)*] $key:ident ! $($rest:tt)*) => {
        attributes!(@ [$($done)* OpcodeAttribute::new(Key::$key, Printed::Always),] $($rest)*)
    };
    (@ [$($done:tt)*] $key:ident - $($rest:tt)*) => {
        attributes!(@ [$($done)* OpcodeAttribute::new(Key::$key, Printed::Never),] $($rest)*)
    };
    (@ [$($done:tt)*] $key:ident $($rest:tt)*) => {
        attributes!(@ [$($done)* OpcodeAttribute::new(Key::$key, Printed::IfSet),] $($rest)*)
    };
    ([$($list:tt)*]) => { attributes!(@ [] $($list)*) };
    (as $other:ident) => { Opcode::$other.attributes() };
}

macro_rules! opcodes {
    ($($variant:ident $text:literal $family:ident $floats:ident $($list:ident)* $([$($keys:tt)*])?;)*) => {
        /// The operation of an instruction, named as in HLO text.
        ///
        /// ```
        /// use xla_shape_hlo::Opcode;
        ///
        /// assert_eq!(Opcode::from_text("get-tuple-element"), Opcode::GetTupleElement);
        /// assert_eq!(Opcode::from_text("fusion-start"), Opcode::Other("fusion-start"));
        /// assert_eq!(Opcode::GetTupleElement.to_string(), "get-tuple-element");
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        #[non_exhaustive]
        pub enum Opcode<'a> {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
            /// An opcode that is not in the list, with its text.
            Other(&'a str),
        }

        impl<'a> Opcode<'a> {
            /// Every opcode except [`Other`](Self::Other), sorted by text.
            pub const ALL: &'static [Opcode<'static>] = &[$(Opcode::$variant),*];

            /// The sort keys of [`ALL`](Self::ALL): the beginning of each opcode's text.
            const KEYS: &'static [u64] = &[$(key($text)),*];

            /// The opcode as written in HLO text, such as `get-tuple-element`.
            ///
            /// ```
            /// use xla_shape_hlo::Opcode;
            ///
            /// assert_eq!(Opcode::DynamicUpdateSlice.text(), "dynamic-update-slice");
            /// assert_eq!(Opcode::from_text("teleport").text(), "teleport");
            /// ```
            #[must_use]
            pub const fn text(self) -> &'a str {
                match self { $(Self::$variant => $text,)* Self::Other(text) => text }
            }

            /// The family of the operation.
            pub(crate) const fn family(self) -> Family {
                match self { $(Self::$variant => Family::$family,)* Self::Other(_) => Family::Other }
            }

            /// Whether it may combine floats of different precision.
            pub(crate) const fn float_rule(self) -> FloatRule {
                match self { $(Self::$variant => FloatRule::$floats,)* Self::Other(_) => FloatRule::Any }
            }

            /// Its attributes, in the order in which XLA prints them.
            pub(crate) const fn attributes(self) -> &'static [OpcodeAttribute] {
                match self {
                    $(Self::$variant => attributes!($($list)* $([$($keys)*])?),)*
                    Self::Other(_) => &[],
                }
            }
        }
    };
}

/// The family of an opcode. The checks have one function for each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Family {
    /// Computes each element from the elements at the same index.
    Elementwise,
    /// Sums products.
    Product,
    /// Calls a computation for each element.
    Reduction,
    /// Involves several devices.
    Collective,
    /// Sends or receives.
    Transfer,
    /// Generates random numbers from hidden state.
    Random,
    /// Calls computations once, or in a loop.
    Call,
    /// Calls external code.
    Custom,
    /// Starts an asynchronous operation.
    Start,
    /// Continues or ends an asynchronous operation.
    Done,
    /// Anything else: data movement, tuples, and operations with rules of their own.
    Other,
}

/// Whether an operation may combine floats of different precision (`ShapeVerifier::Preprocess` and `CheckShape` in
/// `xla/service/hlo_verifier.cc`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FloatRule {
    /// Only in optimised programs.
    Same,
    /// In any program.
    Any,
    /// In any program. Even in optimised programs, the result has the precision of the operands.
    Forwards,
    /// Only in optimised programs. Even in these, the result has the precision of the first operand.
    ForwardsSame,
}

impl FloatRule {
    /// Whether the result must have the precision of the operands.
    pub(crate) const fn keeps_precision(self) -> bool {
        matches!(self, Self::Forwards | Self::ForwardsSame)
    }
}

/// When XLA prints an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Printed {
    /// Always.
    Always,
    /// Unless it has the default value.
    IfSet,
    /// Never. Older versions of XLA printed it.
    Never,
}

/// An attribute of an opcode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpcodeAttribute {
    pub(crate) key: Key,
    pub(crate) printed: Printed,
    /// The bits of the message fields that contain it.
    pub(crate) fields: u128,
}

impl OpcodeAttribute {
    pub(crate) const fn new(key: Key, printed: Printed) -> Self {
        Self { key, printed, fields: key.field_bits() }
    }
}

opcodes! {
    Abs "abs" Elementwise Same [];
    Acos "acos" Elementwise Same [ResultAccuracy];
    Acosh "acosh" Elementwise Same [ResultAccuracy];
    Add "add" Elementwise Same [];
    AddDependency "add-dependency" Other Same [];
    AfterAll "after-all" Other Same [];
    AllGather "all-gather" Collective Any [ChannelId ReplicaGroups! ConstrainLayout Dimensions! UseGlobalDeviceIds];
    AllGatherDone "all-gather-done" Done Any [];
    AllGatherStart "all-gather-start" Collective Any as AllGather;
    AllReduce "all-reduce" Collective Any
        [ChannelId ReplicaGroups! ConstrainLayout UseGlobalDeviceIds ToApply Mode-];
    AllReduceDone "all-reduce-done" Done Any [];
    AllReduceStart "all-reduce-start" Collective Any as AllReduce;
    AllToAll "all-to-all" Collective Same [ChannelId ReplicaGroups! ConstrainLayout Dimensions SplitDimension-];
    And "and" Elementwise Same [];
    Asin "asin" Elementwise Same [ResultAccuracy];
    Asinh "asinh" Elementwise Same [ResultAccuracy];
    AsyncDone "async-done" Done Any [OutputToOperandAliasing];
    AsyncStart "async-start" Start Any [OutputToOperandAliasing Calls];
    AsyncUpdate "async-update" Done Any [OutputToOperandAliasing];
    Atan "atan" Elementwise Same [];
    Atan2 "atan2" Elementwise Same [];
    Atanh "atanh" Elementwise Same [ResultAccuracy];
    BatchNormGrad "batch-norm-grad" Other Same [Epsilon! FeatureIndex!];
    BatchNormInference "batch-norm-inference" Other Same [Epsilon! FeatureIndex!];
    BatchNormTraining "batch-norm-training" Other Same [Epsilon! FeatureIndex!];
    Bitcast "bitcast" Other Forwards [];
    BitcastConvert "bitcast-convert" Other Same [];
    Broadcast "broadcast" Other Same [Dimensions!];
    Call "call" Call Forwards [ToApply IsComposite];
    Cbrt "cbrt" Elementwise Same [ResultAccuracy];
    Ceil "ceil" Elementwise Same [];
    Cholesky "cholesky" Other Same [CholeskyLower];
    Clamp "clamp" Elementwise Same [];
    CollectiveBroadcast "collective-broadcast" Collective Same
        [ChannelId ReplicaGroups! ConstrainLayout- HasDynamicRoot!];
    CollectivePermute "collective-permute" Collective Same [ChannelId SourceTargetPairs! PermuteSliceSizes];
    CollectivePermuteDone "collective-permute-done" Done Same [];
    CollectivePermuteStart "collective-permute-start" Collective Same as CollectivePermute;
    CollectiveReduce "collective-reduce" Collective Same
        [ChannelId ReplicaGroups! ConstrainLayout UseGlobalDeviceIds HasDynamicRoot! ToApply];
    Compare "compare" Elementwise Same [Direction! Order ComparisonType- ComparisonDirection-];
    Complex "complex" Elementwise Same [];
    Concatenate "concatenate" Other Same [Dimensions!];
    Conditional "conditional" Call Forwards [TrueComputation FalseComputation BranchComputations];
    Constant "constant" Other Forwards [];
    Convert "convert" Elementwise Same [];
    Convolution "convolution" Product Any
        [Window DimLabels FeatureGroupCount BatchGroupCount ConvolutionKind OperandPrecision Algorithm
         SparsityConfig- BlockScalingConfig-];
    Copy "copy" Other Same [];
    CopyDone "copy-done" Done Forwards [];
    CopyStart "copy-start" Start Forwards [CrossProgramPrefetchIndex IsCrossProgramPrefetch-];
    Cosh "cosh" Elementwise Same [ResultAccuracy];
    Cosine "cosine" Elementwise Same [ResultAccuracy];
    CountLeadingZeros "count-leading-zeros" Elementwise Same [];
    CustomCall "custom-call" Custom Forwards
        [Window DimLabels FeatureGroupCount BatchGroupCount OperandPrecision Algorithm PaddingType CustomCallTarget!
         OperandLayoutConstraints CustomCallHasSideEffect Literal OutputToOperandAliasing Schedule ApiVersion
         CalledComputations ToApply- CustomCallSchedule-];
    Divide "divide" Elementwise Same [];
    Domain "domain" Other Any [Domain! Entry- Exit-];
    Dot "dot" Product Any
        [LhsBatchDims LhsContractingDims! RhsBatchDims RhsContractingDims! OperandPrecision Algorithm
         Sparsity- SparsityConfig- BlockScalingConfig-];
    DynamicReshape "dynamic-reshape" Other Same [];
    DynamicSlice "dynamic-slice" Other Same [DynamicSliceSizes!];
    DynamicUpdateSlice "dynamic-update-slice" Other ForwardsSame [];
    Erf "erf" Elementwise Same [ResultAccuracy];
    Exponential "exponential" Elementwise Same [ResultAccuracy];
    ExponentialMinusOne "exponential-minus-one" Elementwise Same [ResultAccuracy];
    Fft "fft" Other Same [FftType! FftLength!];
    Floor "floor" Elementwise Same [];
    Fusion "fusion" Call Forwards [FusionKind! OutputToOperandAliasing Calls];
    Gather "gather" Other Same
        [OffsetDims! CollapsedSliceDims! StartIndexMap! OperandBatchingDims StartIndicesBatchingDims
         GatherIndexVectorDim! SliceSizes! IndicesAreSorted];
    GetDimensionSize "get-dimension-size" Other Same [Dimensions!];
    GetTupleElement "get-tuple-element" Other Forwards [Index!];
    Imag "imag" Elementwise Same [];
    Infeed "infeed" Transfer Forwards [InfeedConfig];
    Iota "iota" Other Same [IotaDimension!];
    IsFinite "is-finite" Elementwise Same [];
    Log "log" Elementwise Same [ResultAccuracy];
    LogPlusOne "log-plus-one" Elementwise Same [ResultAccuracy];
    Logistic "logistic" Elementwise Same [ResultAccuracy];
    Map "map" Reduction Any [Dimensions! ToApply];
    Maximum "maximum" Elementwise Same [];
    Minimum "minimum" Elementwise Same [];
    Mulhi "mulhi" Elementwise Same [];
    Multiply "multiply" Elementwise Same [];
    Negate "negate" Elementwise Same [];
    Not "not" Elementwise Same [];
    OptBarrier "opt-barrier" Other Forwards [];
    Or "or" Elementwise Same [];
    Outfeed "outfeed" Transfer Forwards [OutfeedShape OutfeedConfig];
    Pad "pad" Other Same [Padding!];
    Parameter "parameter" Other Forwards [ParameterReplication];
    PartitionId "partition-id" Other Same [];
    Popcnt "popcnt" Elementwise Same [];
    Power "power" Elementwise Same [];
    RaggedAllToAll "ragged-all-to-all" Collective Same [ChannelId ReplicaGroups! ConstrainLayout UseGlobalDeviceIds Dimensions-];
    RaggedDot "ragged-dot" Product Any
        [RaggedLhsBatchDims RaggedLhsContractingDims! RaggedRhsBatchDims RaggedRhsContractingDims! LhsRaggedDims!
         RhsGroupDims OperandPrecision Algorithm];
    Real "real" Elementwise Same [];
    Recv "recv" Transfer Forwards [ChannelId IsHostTransfer];
    RecvDone "recv-done" Transfer Forwards [ChannelId IsHostTransfer];
    Reduce "reduce" Reduction Any [Dimensions! ToApply];
    ReducePrecision "reduce-precision" Other Any [ExponentBits! MantissaBits!];
    ReduceScatter "reduce-scatter" Collective Same
        [ChannelId ReplicaGroups! ConstrainLayout UseGlobalDeviceIds Dimensions! ToApply Mode-];
    ReduceWindow "reduce-window" Reduction Any [Window ToApply];
    Remainder "remainder" Elementwise Same [];
    ReplicaId "replica-id" Other Same [];
    Reshape "reshape" Other Same [InferredDimension];
    Reverse "reverse" Other Same [Dimensions!];
    Rng "rng" Random Same [Distribution!];
    RngBitGenerator "rng-bit-generator" Other Same [RngAlgorithm!];
    RngGetAndUpdateState "rng-get-and-update-state" Random Same [Delta!];
    RoundNearestAfz "round-nearest-afz" Elementwise Same [];
    RoundNearestEven "round-nearest-even" Elementwise Same [];
    Rsqrt "rsqrt" Elementwise Same [ResultAccuracy];
    ScaledDot "scaled-dot" Product Any
        [LhsBatchDims LhsContractingDims! RhsBatchDims RhsContractingDims! OperandPrecision Algorithm];
    Scan "scan" Reduction Same [Dimensions! NumCarries! IsReverse IsAssociative ToApply];
    Scatter "scatter" Reduction Any
        [UpdateWindowDims! InsertedWindowDims! ScatterDimsToOperandDims! InputBatchingDims ScatterIndicesBatchingDims
         ScatterIndexVectorDim! IndicesAreSorted UniqueIndices ToApply];
    Select "select" Elementwise Same [];
    SelectAndScatter "select-and-scatter" Reduction Same [Window Select Scatter];
    Send "send" Transfer Forwards [ChannelId IsHostTransfer];
    SendDone "send-done" Transfer Forwards [ChannelId IsHostTransfer];
    SetDimensionSize "set-dimension-size" Other Same [Dimensions!];
    ShiftLeft "shift-left" Elementwise Same [];
    ShiftRightArithmetic "shift-right-arithmetic" Elementwise Same [];
    ShiftRightLogical "shift-right-logical" Elementwise Same [];
    Shuffle "shuffle" Other Same [Dimensions! ShuffleMode Shifts];
    Sign "sign" Elementwise Same [];
    Sine "sine" Elementwise Same [ResultAccuracy];
    Sinh "sinh" Elementwise Same [ResultAccuracy];
    Slice "slice" Other Same [Slice!];
    SliceDone "slice-done" Done Same [];
    SliceStart "slice-start" Start Same as Slice;
    Sort "sort" Reduction Any [Dimensions! IsStable ToApply];
    Sqrt "sqrt" Elementwise Same [ResultAccuracy];
    StochasticConvert "stochastic-convert" Other Same [];
    Subtract "subtract" Elementwise Same [];
    Tan "tan" Elementwise Same [ResultAccuracy];
    Tanh "tanh" Elementwise Same [ResultAccuracy];
    Topk "topk" Other Same [K! Largest! IsStable! ToApply];
    Transpose "transpose" Other Same [Dimensions!];
    TriangularSolve "triangular-solve" Other Same [LeftSide TriangularLower UnitDiagonal TransposeA];
    Tuple "tuple" Other Forwards [];
    While "while" Call Forwards [Condition Body];
    Xor "xor" Elementwise Same [];
}

/// The first eight bytes of a text as a big-endian number. These numbers sort like the texts.
const fn key(text: &str) -> u64 {
    let (mut bytes, mut key, mut left) = (text.as_bytes(), 0, 8_u8);
    while left > 0 {
        key <<= 8;
        if let Some((first, rest)) = bytes.split_first() {
            key |= *first as u64;
            bytes = rest;
        }
        left = left.saturating_sub(1);
    }
    key
}

impl<'a> Opcode<'a> {
    /// The opcode with this text; [`Other`](Self::Other) if it is not in the list.
    ///
    /// ```
    /// use xla_shape_hlo::Opcode;
    ///
    /// assert_eq!(Opcode::from_text("dot"), Opcode::Dot);
    /// assert_eq!(Opcode::from_text("teleport"), Opcode::Other("teleport"));
    /// ```
    #[must_use]
    pub fn from_text(text: &'a str) -> Self {
        Self::number(text).and_then(|number| Self::ALL.get(usize::from(number)).copied()).unwrap_or(Self::Other(text))
    }

    /// Whether several devices take part in the operation together, or in the asynchronous operation that it starts.
    ///
    /// ```
    /// use xla_shape_hlo::Opcode;
    ///
    /// assert!(Opcode::AllGather.is_collective() && Opcode::from_text("reduce-scatter-start").is_collective());
    /// assert!(!Opcode::AllGatherDone.is_collective() && !Opcode::Dot.is_collective());
    /// ```
    #[must_use]
    pub fn is_collective(self) -> bool {
        let wrapped = self.text().strip_suffix("-start").map(Opcode::from_text);
        [Some(self), wrapped].into_iter().flatten().any(|opcode| opcode.family() == Family::Collective)
    }

    /// The index of an opcode in [`ALL`](Self::ALL).
    pub(crate) fn number(text: &str) -> Option<u8> {
        let wanted = key(text);
        let first = Self::KEYS.partition_point(|key| *key < wanted);
        let alike = Self::KEYS.iter().zip(Self::ALL).skip(first).take_while(|(key, _)| **key == wanted);
        let place = alike.map(|(_, opcode)| opcode.text()).position(|found| found == text)?;
        u8::try_from(first + place).ok()
    }

    /// The opcode at this index of [`ALL`](Self::ALL), or else [`Other`](Self::Other) with this text.
    pub(crate) fn numbered(number: u8, text: impl FnOnce() -> &'a str) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or_else(|| Self::Other(text()))
    }
}

impl<'a> Opcode<'a> {
    /// Whether the opcode has this attribute, besides those that any opcode may have.
    pub(crate) fn has(self, key: Key) -> bool {
        self.attributes().iter().any(|of| of.key == key)
    }

    /// The opcode without its asynchronous suffix: `slice` for `slice-start`.
    pub(crate) fn stem(self) -> Option<&'a str> {
        ["-start", "-update", "-done"].into_iter().find_map(|suffix| self.text().strip_suffix(suffix))
    }
}

impl fmt::Display for Opcode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::Opcode;

    #[test]
    fn the_list_is_sorted_and_leaves_a_number_free() {
        assert!(Opcode::ALL.is_sorted_by(|a, b| a.text() < b.text()));
        assert!(Opcode::ALL.len() < usize::from(u8::MAX));
    }

    #[test]
    fn every_opcode_is_found_by_its_text() {
        for &opcode in Opcode::ALL {
            assert_eq!(Opcode::from_text(opcode.text()), opcode);
        }
        assert_eq!(Opcode::from_text(""), Opcode::Other(""));
    }
}
