//! What instructions do, as values: one question for all opcodes, also with tuples and called computations.

use super::operands::{Callee, Operands, Result, owned, tuple};
use super::{
    DotDimensions, FftType, GatherDimensions, InferError, Operation, RaggedDimensions, ScatterDimensions,
    WindowDimension, algebra, array, call, collective, contract, index, reducer,
};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use alloc::borrow::Cow;

/// What an instruction of HLO does: its opcode with the attributes that its shape follows from.
///
/// ```
/// use xla_shape_core::Shape;
/// use xla_shape_core::infer::Rule;
///
/// let operand: Shape = "f32[4,100]".parse()?;
/// let largest = Rule::TopK { k: 3 }.infer(&[&operand], None)?;
/// assert_eq!(largest.to_string(), "(f32[4,3]{1,0}, s32[4,3]{1,0})");
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Rule<'a> {
    /// An operation that makes one array of arrays.
    Array(Operation<'a>),
    /// The result has the shape of the first operand; there are this many: `copy`, `opt-barrier`, `add-dependency`, ….
    Operand(usize),
    /// The result is what the program says: `bitcast`, `custom-call`, `infeed`, ….
    Written {
        /// The number of operands, if that is fixed.
        operands: Option<usize>,
    },
    /// `reduce-precision`.
    ReducePrecision {
        /// The bits of the exponent.
        exponent_bits: usize,
    },
    /// `bitcast-convert` to the element type that the program says.
    BitcastConvert,
    /// `stochastic-convert` to the element type that the program says.
    StochasticConvert,
    /// `dynamic-slice` of these sizes; the start is a scalar for each dimension or, in older programs, one vector.
    DynamicSlice(&'a [u64]),
    /// `dynamic-update-slice`.
    DynamicUpdateSlice,
    /// `gather`.
    Gather(GatherDimensions<'a>),
    /// `scatter`: operands, indices, as many updates.
    Scatter {
        /// What the dimensions mean.
        dimensions: ScatterDimensions<'a>,
        /// Combines an element and its update.
        to_apply: Callee<'a>,
    },
    /// `reduce`: inputs, then as many initial values.
    Reduce {
        /// The dimensions that the result lacks.
        dimensions: &'a [usize],
        /// Combines two elements.
        to_apply: Callee<'a>,
    },
    /// `reduce-window`: inputs, then as many initial values.
    ReduceWindow {
        /// One entry for each dimension.
        window: &'a [WindowDimension],
        /// Combines two elements.
        to_apply: Callee<'a>,
    },
    /// `select-and-scatter`: the operand, the source and the initial value.
    SelectAndScatter {
        /// One entry for each dimension.
        window: &'a [WindowDimension],
        /// Chooses one of two elements.
        select: Callee<'a>,
        /// Combines two elements.
        scatter: Callee<'a>,
    },
    /// `map`.
    Map {
        /// All dimensions of the operands, in order.
        dimensions: &'a [usize],
        /// Makes an element of one of each operand.
        to_apply: Callee<'a>,
    },
    /// `scan`: calls a computation for one slice of the inputs after the other, and hands values from each call to the next.
    Scan {
        /// The dimension along which the inputs are cut into slices.
        dimension: usize,
        /// How many of the operands, the last ones, are handed on.
        carries: usize,
        /// Makes slices of the results, and what is handed on, of slices of the inputs and what was handed on.
        to_apply: Callee<'a>,
    },
    /// `shuffle`: moves elements along dimensions.
    Shuffle {
        /// The dimensions.
        dimensions: &'a [usize],
    },
    /// `sort` along a dimension.
    Sort {
        /// The dimension.
        dimension: usize,
        /// Compares two elements of each operand; in older programs there is none.
        to_apply: Option<Callee<'a>>,
    },
    /// `dot`; the program says the element type.
    Dot(DotDimensions<'a>),
    /// `ragged-dot`: as `dot`, and the sizes of the groups.
    RaggedDot {
        /// Which dimensions belong together.
        dimensions: DotDimensions<'a>,
        /// Which of them are divided into groups.
        ragged: RaggedDimensions<'a>,
    },
    /// `scaled-dot`: as `dot`, and a scale for each operand.
    ScaledDot(DotDimensions<'a>),
    /// `topk`.
    TopK {
        /// How many elements of the last dimension are kept.
        k: u64,
    },
    /// `fft`.
    Fft {
        /// Its direction and kind of numbers.
        fft_type: FftType,
        /// The sizes of the transformed dimensions, which are the last ones.
        length: &'a [u64],
    },
    /// `cholesky`.
    Cholesky,
    /// `triangular-solve`.
    TriangularSolve {
        /// Whether the matrix stands to the left of the unknowns.
        left_side: bool,
    },
    /// `batch-norm-training`.
    BatchNormTraining {
        /// The dimension of the features.
        feature: usize,
    },
    /// `batch-norm-inference`.
    BatchNormInference {
        /// The dimension of the features.
        feature: usize,
    },
    /// `batch-norm-grad`.
    BatchNormGrad {
        /// The dimension of the features.
        feature: usize,
    },
    /// `all-gather` of any number of operands.
    AllGather {
        /// The dimension along which they are joined.
        dimension: usize,
        /// How many join; `None` if the program's numbers of replicas and partitions say it.
        shards: Option<u64>,
        /// Whether it is `all-gather-start`, whose result has the operands, too.
        start: bool,
    },
    /// `all-reduce` or `all-reduce-start`, of any number of operands.
    AllReduce,
    /// `reduce-scatter` of any number of operands.
    ReduceScatter {
        /// The dimension that is divided.
        dimension: usize,
        /// Into how many parts, if that is known.
        shards: Option<u64>,
    },
    /// `all-to-all`: one operand that is divided along a dimension, or an operand for each participant.
    AllToAll {
        /// The dimension, if there is one operand.
        dimension: Option<usize>,
        /// How many participate, if that is known.
        shards: Option<u64>,
    },
    /// `collective-permute`, `collective-broadcast`: the operands, or, where there are four, the second.
    CollectivePermute {
        /// Whether it is `collective-permute-start`, whose result has the operands, too.
        start: bool,
    },
    /// `ragged-all-to-all`.
    RaggedAllToAll,
    /// `get-tuple-element`, `copy-done` and others: this element of the operand.
    TupleElement(usize),
    /// `tuple`.
    Tuple,
    /// `get-dimension-size`.
    GetDimensionSize {
        /// The dimension.
        dimension: usize,
    },
    /// `set-dimension-size`.
    SetDimensionSize {
        /// The dimension.
        dimension: usize,
    },
    /// `rng`; the program says the dimensions.
    Rng {
        /// Whether the numbers are normally distributed, and so floats.
        normal: bool,
    },
    /// `rng-bit-generator`; the program says the shape of the bits.
    RngBitGenerator,
    /// `rng-get-and-update-state`.
    RngGetAndUpdateState,
    /// `partition-id`, `replica-id`: a `u32`.
    Id,
    /// `after-all`, `send-done`: a token.
    Token {
        /// The number of operands.
        operands: Option<usize>,
    },
    /// `call`, `fusion`: the result of a computation that takes the operands.
    Call {
        /// The attribute that names the computation.
        attribute: &'static str,
        /// The computation.
        callee: Callee<'a>,
    },
    /// `while`.
    While {
        /// Says whether to go on.
        condition: Callee<'a>,
        /// Makes the next state.
        body: Callee<'a>,
    },
    /// `conditional`: the selector, then an operand for each branch.
    Conditional(&'a [Callee<'a>]),
    /// `async-start`: parameters, result and what else the program says.
    AsyncStart(Callee<'a>),
    /// `copy-start`.
    CopyStart,
    /// `send`.
    Send,
    /// `recv-done`.
    RecvDone,
    /// `dynamic-reshape`: the operand, and the size of each dimension of the result, which the program says.
    DynamicReshape,
}

impl<'a> Rule<'a> {
    /// The shape of the result, for operands of these shapes.
    ///
    /// `written` is the shape that the program gives, of which some rules need a part: the dimensions of a broadcast, the
    /// element type of a dot. The answer may differ from that shape: compare them. Like XLA's inference, it accepts floats of
    /// different precision; the result then has the higher one.
    ///
    /// # Errors
    /// If the operation does not take such operands, or the shape does not follow from them and is not written.
    pub fn infer(&self, operands: &[&'a Shape], written: Option<&'a Shape>) -> Result<Cow<'a, Shape>> {
        let all = Operands(operands);
        match *self {
            Self::Array(operation) => array::infer(operation, all, written).map(Cow::Owned),
            Self::Operand(number) => all.exactly(number).and_then(|()| all.shape(0)).map(Cow::Borrowed),
            Self::Written { operands } => {
                operands.map_or(Ok(()), |number| all.exactly(number))?;
                written.map(Cow::Borrowed).ok_or(InferError::NotInferred)
            }
            Self::ReducePrecision { exponent_bits } => algebra::reduce_precision(all, exponent_bits),
            Self::BitcastConvert => algebra::bitcast_convert(all, written),
            Self::StochasticConvert => algebra::stochastic_convert(all, written),
            Self::DynamicSlice(sizes) => index::dynamic_slice(all, sizes),
            Self::DynamicUpdateSlice => index::dynamic_update_slice(all),
            Self::Gather(dimensions) => index::gather(all, dimensions, written.is_some()),
            Self::Scatter { dimensions, to_apply } => index::scatter(all, dimensions, to_apply, written.is_some()),
            Self::Reduce { dimensions, to_apply } => reducer::reduce(all, dimensions, to_apply),
            Self::ReduceWindow { window, to_apply } => reducer::reduce_window(all, window, to_apply),
            Self::SelectAndScatter { window, select, scatter } => {
                reducer::select_and_scatter(all, window, select, scatter)
            }
            Self::Map { dimensions, to_apply } => reducer::map(all, dimensions, to_apply, written.is_none()),
            Self::Scan { dimension, carries, to_apply } => reducer::scan(all, dimension, carries, to_apply, written),
            Self::Shuffle { dimensions } => reducer::shuffle(all, dimensions),
            Self::Sort { dimension, to_apply } => {
                // The shape alone does not depend on them.
                let checked = written.is_some().then_some((dimension, to_apply));
                reducer::sort(all, checked)
            }
            Self::Dot(dimensions) => contract::general_dot(all, dimensions, written),
            Self::RaggedDot { dimensions, ragged } => contract::ragged_dot(all, dimensions, ragged, written),
            Self::ScaledDot(dimensions) => contract::scaled_dot(all, dimensions, written),
            Self::TopK { k } => algebra::top_k(all, k),
            Self::Fft { fft_type, length } => algebra::fft(all, fft_type, length),
            Self::Cholesky => algebra::cholesky(all),
            Self::TriangularSolve { left_side } => algebra::triangular_solve(all, left_side),
            Self::BatchNormTraining { feature } => algebra::batch_norm_training(all, feature),
            Self::BatchNormInference { feature } => algebra::batch_norm_inference(all, feature),
            Self::BatchNormGrad { feature } => algebra::batch_norm_grad(all, feature),
            Self::AllGather { dimension, shards, start } => {
                collective::all_gather(all, dimension, shards, start, written)
            }
            Self::AllReduce => collective::all_reduce(all),
            Self::ReduceScatter { dimension, shards } => collective::reduce_scatter(all, dimension, shards, written),
            Self::AllToAll { dimension, shards } => collective::all_to_all(all, dimension, shards),
            Self::CollectivePermute { start } => collective::permute(all, start, written),
            Self::RaggedAllToAll => collective::ragged_all_to_all(all),
            Self::TupleElement(index) => all.exactly(1).and_then(|()| all.element(0, index)).map(Cow::Borrowed),
            Self::Tuple => tuple(operands.iter().map(|&shape| shape.clone()).collect()),
            Self::GetDimensionSize { dimension } => algebra::get_dimension_size(all, dimension),
            Self::SetDimensionSize { dimension } => algebra::set_dimension_size(all, dimension),
            Self::Rng { normal } => algebra::rng(all, normal, written),
            Self::RngBitGenerator => algebra::rng_bit_generator(all, written),
            Self::RngGetAndUpdateState => {
                all.exactly(0)?;
                owned(ElementType::U64, &[Dimension::Static(2)])
            }
            Self::Id => all.exactly(0).and_then(|()| owned(ElementType::U32, &[])),
            Self::Token { operands } => {
                operands.map_or(Ok(()), |number| all.exactly(number))?;
                Ok(Cow::Owned(Shape::Token))
            }
            Self::Call { attribute, callee } => call::call(all, attribute, callee),
            Self::While { condition, body } => call::while_loop(all, condition, body),
            Self::Conditional(branches) => call::conditional(all, branches),
            Self::AsyncStart(callee) => call::async_start(all, callee, written),
            Self::CopyStart => call::copy_start(all),
            Self::Send => call::send(all),
            Self::RecvDone => call::recv_done(all),
            Self::DynamicReshape => algebra::dynamic_reshape(all, written),
        }
    }
}
