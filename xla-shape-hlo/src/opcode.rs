//! What an instruction does.

use core::fmt;

macro_rules! opcodes {
    ($($variant:ident $text:literal,)*) => {
        /// What an instruction does, named as in HLO text.
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
            /// An opcode that is not in this list.
            Other(&'a str),
        }

        impl<'a> Opcode<'a> {
            /// Every opcode that has a name here, sorted by it.
            pub const ALL: &'static [Opcode<'static>] = &[$(Opcode::$variant),*];

            /// The beginning of each one's text.
            const KEYS: &'static [u64] = &[$(key($text)),*];

            /// The opcode in HLO text, such as `get-tuple-element`.
            #[must_use]
            pub const fn text(self) -> &'a str {
                match self { $(Self::$variant => $text,)* Self::Other(text) => text }
            }
        }
    };
}

opcodes! {
    Abs "abs",
    Acos "acos",
    Acosh "acosh",
    Add "add",
    AddDependency "add-dependency",
    AfterAll "after-all",
    AllGather "all-gather",
    AllGatherDone "all-gather-done",
    AllGatherStart "all-gather-start",
    AllReduce "all-reduce",
    AllReduceDone "all-reduce-done",
    AllReduceStart "all-reduce-start",
    AllToAll "all-to-all",
    And "and",
    Asin "asin",
    Asinh "asinh",
    AsyncDone "async-done",
    AsyncStart "async-start",
    AsyncUpdate "async-update",
    Atan "atan",
    Atan2 "atan2",
    Atanh "atanh",
    BatchNormGrad "batch-norm-grad",
    BatchNormInference "batch-norm-inference",
    BatchNormTraining "batch-norm-training",
    Bitcast "bitcast",
    BitcastConvert "bitcast-convert",
    Broadcast "broadcast",
    Call "call",
    Cbrt "cbrt",
    Ceil "ceil",
    Cholesky "cholesky",
    Clamp "clamp",
    CollectiveBroadcast "collective-broadcast",
    CollectivePermute "collective-permute",
    CollectivePermuteDone "collective-permute-done",
    CollectivePermuteStart "collective-permute-start",
    CollectiveReduce "collective-reduce",
    Compare "compare",
    Complex "complex",
    Concatenate "concatenate",
    Conditional "conditional",
    Constant "constant",
    Convert "convert",
    Convolution "convolution",
    Copy "copy",
    CopyDone "copy-done",
    CopyStart "copy-start",
    Cosh "cosh",
    Cosine "cosine",
    CountLeadingZeros "count-leading-zeros",
    CustomCall "custom-call",
    Divide "divide",
    Domain "domain",
    Dot "dot",
    DynamicReshape "dynamic-reshape",
    DynamicSlice "dynamic-slice",
    DynamicUpdateSlice "dynamic-update-slice",
    Erf "erf",
    Exponential "exponential",
    ExponentialMinusOne "exponential-minus-one",
    Fft "fft",
    Floor "floor",
    Fusion "fusion",
    Gather "gather",
    GetDimensionSize "get-dimension-size",
    GetTupleElement "get-tuple-element",
    Imag "imag",
    Infeed "infeed",
    Iota "iota",
    IsFinite "is-finite",
    Log "log",
    LogPlusOne "log-plus-one",
    Logistic "logistic",
    Map "map",
    Maximum "maximum",
    Minimum "minimum",
    Mulhi "mulhi",
    Multiply "multiply",
    Negate "negate",
    Not "not",
    OptBarrier "opt-barrier",
    Or "or",
    Outfeed "outfeed",
    Pad "pad",
    Parameter "parameter",
    PartitionId "partition-id",
    Popcnt "popcnt",
    Power "power",
    RaggedAllToAll "ragged-all-to-all",
    RaggedDot "ragged-dot",
    Real "real",
    Recv "recv",
    RecvDone "recv-done",
    Reduce "reduce",
    ReducePrecision "reduce-precision",
    ReduceScatter "reduce-scatter",
    ReduceWindow "reduce-window",
    Remainder "remainder",
    ReplicaId "replica-id",
    Reshape "reshape",
    Reverse "reverse",
    Rng "rng",
    RngBitGenerator "rng-bit-generator",
    RngGetAndUpdateState "rng-get-and-update-state",
    RoundNearestAfz "round-nearest-afz",
    RoundNearestEven "round-nearest-even",
    Rsqrt "rsqrt",
    ScaledDot "scaled-dot",
    Scan "scan",
    Scatter "scatter",
    Select "select",
    SelectAndScatter "select-and-scatter",
    Send "send",
    SendDone "send-done",
    SetDimensionSize "set-dimension-size",
    ShiftLeft "shift-left",
    ShiftRightArithmetic "shift-right-arithmetic",
    ShiftRightLogical "shift-right-logical",
    Shuffle "shuffle",
    Sign "sign",
    Sine "sine",
    Sinh "sinh",
    Slice "slice",
    SliceDone "slice-done",
    SliceStart "slice-start",
    Sort "sort",
    Sqrt "sqrt",
    StochasticConvert "stochastic-convert",
    Subtract "subtract",
    Tan "tan",
    Tanh "tanh",
    Topk "topk",
    Transpose "transpose",
    TriangularSolve "triangular-solve",
    Tuple "tuple",
    While "while",
    Xor "xor",
}

/// The first eight bytes of a text as a number, which grows as texts do.
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
    /// The opcode with this name in HLO text; [`Other`](Self::Other) if it is not in the list.
    #[must_use]
    pub fn from_text(text: &'a str) -> Self {
        Self::number(text).and_then(|number| Self::ALL.get(usize::from(number)).copied()).unwrap_or(Self::Other(text))
    }

    /// The place of an opcode in [`ALL`](Self::ALL).
    pub(crate) fn number(text: &str) -> Option<u8> {
        let wanted = key(text);
        let first = Self::KEYS.partition_point(|key| *key < wanted);
        let alike = Self::KEYS.iter().zip(Self::ALL).skip(first).take_while(|(key, _)| **key == wanted);
        let place = alike.map(|(_, opcode)| opcode.text()).position(|found| found == text)?;
        u8::try_from(first.saturating_add(place)).ok()
    }

    /// The opcode at this place in [`ALL`](Self::ALL), or the one with this text.
    pub(crate) fn numbered(number: u8, text: &'a str) -> Self {
        Self::ALL.get(usize::from(number)).copied().unwrap_or(Self::Other(text))
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
