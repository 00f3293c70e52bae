//! [`Rule`]: shape inference for every HLO instruction, also with tuples and called computations.

use super::operands::{Callee, Operands, Result, default_result, tuple};
use super::{
    DotDimensions, FftType, GatherDimensions, InferError, Operation, RaggedDimensions, ScatterDimensions,
    WindowDimension, algebra, array, call, collective, contract, index, reducer,
};
use crate::element_type::ElementType;
use crate::layout::dimension::Dimension;
use crate::shape::Shape;
use alloc::borrow::Cow;

/// The shape inference rule of an HLO instruction: its opcode and the attributes that determine its shape.
///
/// Instructions with the same rule share a variant. The rules are those of `ShapeInference` in
/// `xla/service/shape_inference.cc` and of `ShapeVerifier` in `xla/service/hlo_verifier.cc`.
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
    /// An operation on arrays whose result is one array.
    Array(Operation<'a>),
    /// The result has the shape of the first of this many operands: `copy`, `opt-barrier`, `add-dependency`, ….
    Operand(usize),
    /// The result has the shape that the program declares: `bitcast`, `custom-call`, `infeed`, ….
    Declared {
        /// The number of operands; `None` for any.
        operands: Option<usize>,
    },
    /// `reduce-precision`.
    ReducePrecision {
        /// The number of exponent bits.
        exponent_bits: usize,
    },
    /// `bitcast-convert` to the element type that the program declares.
    BitcastConvert,
    /// `stochastic-convert` to the element type that the program declares.
    StochasticConvert,
    /// `gather`.
    Gather(GatherDimensions<'a>),
    /// `scatter`: the operands, the indices, and an update for each operand.
    Scatter {
        /// What the dimensions mean.
        dimensions: ScatterDimensions<'a>,
        /// The computation that combines an element with its update.
        to_apply: Callee<'a>,
    },
    /// `reduce` or `reduce-window` of one or more inputs, followed by an initial value for each.
    Called {
        /// The operation.
        operation: Operation<'a>,
        /// The computation that combines two elements.
        to_apply: Callee<'a>,
    },
    /// `select-and-scatter`: the operand, the source and the initial value.
    SelectAndScatter {
        /// One entry for each dimension.
        window: &'a [WindowDimension],
        /// The computation that selects one of two elements.
        select: Callee<'a>,
        /// The computation that combines two elements.
        scatter: Callee<'a>,
    },
    /// `map`.
    Map {
        /// The dimensions that are mapped: all dimensions of the operands, in order.
        dimensions: &'a [usize],
        /// The computation that maps one element of each operand to an element of the result.
        to_apply: Callee<'a>,
    },
    /// `scan`: calls a computation for each slice of the inputs in turn, and passes carries from each call to the next.
    Scan {
        /// The dimension along which the inputs are sliced.
        dimension: usize,
        /// The number of carries, which are the last operands.
        carries: usize,
        /// The computation: from slices of the inputs and carries to slices of the results and carries.
        to_apply: Callee<'a>,
    },
    /// `shuffle`: permutes elements along dimensions.
    Shuffle {
        /// The dimensions.
        dimensions: &'a [usize],
    },
    /// `sort` along a dimension.
    Sort {
        /// The dimension.
        dimension: usize,
        /// The comparator of two elements of each operand; older programs have none.
        to_apply: Option<Callee<'a>>,
    },
    /// `ragged-dot`: the operands of a dot, and the sizes of the groups.
    RaggedDot {
        /// The dimension numbers of the dot.
        dimensions: DotDimensions<'a>,
        /// The dimensions that are divided into groups.
        ragged: RaggedDimensions<'a>,
    },
    /// `scaled-dot`: the operands of a dot, and a scale for each.
    ScaledDot(DotDimensions<'a>),
    /// `topk`.
    TopK {
        /// The number of elements of the last dimension that are kept.
        k: u64,
    },
    /// `fft`.
    Fft {
        /// The transform.
        fft_type: FftType,
        /// The sizes of the transformed dimensions, which are the last ones of the operand.
        length: &'a [u64],
    },
    /// `cholesky`.
    Cholesky,
    /// `triangular-solve`.
    TriangularSolve {
        /// Whether the matrix is on the left of the unknowns: `a * x = b`, not `x * a = b`.
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
        /// The dimension along which the shards are joined.
        dimension: usize,
        /// The number of shards; `None` if it depends on the program's numbers of replicas and partitions.
        shards: Option<u64>,
        /// Whether it is `all-gather-start`, whose result also contains the operands.
        start: bool,
    },
    /// `all-reduce` or `all-reduce-start`, of any number of operands.
    AllReduce,
    /// `reduce-scatter` of any number of operands.
    ReduceScatter {
        /// The dimension that is scattered.
        dimension: usize,
        /// The number of shards, if it is known.
        shards: Option<u64>,
    },
    /// `all-to-all`: one operand that is split along a dimension, or one operand for each participant.
    AllToAll {
        /// The dimension, if there is one operand.
        dimension: Option<usize>,
        /// The number of participants, if it is known.
        shards: Option<u64>,
    },
    /// `collective-permute`, `collective-broadcast`: the result has the shapes of the operands. With four operands, the
    /// permute is in place and the result has the shape of the second.
    CollectivePermute {
        /// Whether it is `collective-permute-start`, whose result also contains the operands.
        start: bool,
    },
    /// `ragged-all-to-all`.
    RaggedAllToAll,
    /// `get-tuple-element`, `copy-done` and others: the element of the operand with this index.
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
    /// `rng`; the program declares the dimensions.
    Rng {
        /// Whether the numbers are normally distributed; they are floats then.
        normal: bool,
    },
    /// `rng-bit-generator`; the program declares the shape of the bits.
    RngBitGenerator,
    /// `rng-get-and-update-state`.
    RngGetAndUpdateState,
    /// `partition-id`, `replica-id`: `u32[]`.
    Id,
    /// `after-all`, `send-done`: a token.
    Token {
        /// The number of operands; `None` for any.
        operands: Option<usize>,
    },
    /// `call`, `fusion`: the result of a computation that is called with the operands.
    Call {
        /// The attribute that names the computation.
        attribute: &'static str,
        /// The computation.
        callee: Callee<'a>,
    },
    /// `while`.
    While {
        /// The computation that decides whether the loop continues.
        condition: Callee<'a>,
        /// The computation that makes the next state.
        body: Callee<'a>,
    },
    /// `conditional`: the predicate or branch index, then an operand for each branch.
    Conditional(&'a [Callee<'a>]),
    /// `async-start`: the operands, the result, and the context values that the program declares.
    AsyncStart(Callee<'a>),
    /// `copy-start`.
    CopyStart,
    /// `send`.
    Send,
    /// `recv-done`.
    RecvDone,
    /// `dynamic-reshape`: the operand, then the size of each dimension of the result, whose bounds the program
    /// declares.
    DynamicReshape,
}

impl<'a> Rule<'a> {
    /// The shape of the result for operands of these shapes.
    ///
    /// `declared` is the shape that the program declares. Some rules need a part of it, such as the dimensions of a
    /// broadcast or the element type of a dot. The result may differ from `declared`; the caller compares them. Like
    /// XLA's inference, this accepts floats of different precision; the result then has the higher one.
    ///
    /// ```
    /// use xla_shape_core::Shape;
    /// use xla_shape_core::infer::Rule;
    ///
    /// let (x, y): (Shape, Shape) = ("f32[8]".parse()?, "s32[]".parse()?);
    /// assert_eq!(Rule::Tuple.infer(&[&x, &y], None)?.to_string(), "(f32[8]{0}, s32[])");
    /// assert!(Rule::Cholesky.infer(&[&x], None).is_err());
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the operation does not take such operands, or the shape does not follow from them and `declared` is `None`.
    pub fn infer(&self, operands: &[&'a Shape], declared: Option<&'a Shape>) -> Result<Cow<'a, Shape>> {
        let all = Operands(operands);
        match *self {
            Self::Array(operation) => array::infer(operation, all, declared),
            Self::Operand(number) => all.exactly(number).and_then(|()| all.shape(0)).map(Cow::Borrowed),
            Self::Declared { operands } => {
                operands.map_or(Ok(()), |number| all.exactly(number))?;
                declared.map(Cow::Borrowed).ok_or(InferError::NotInferred)
            }
            Self::ReducePrecision { exponent_bits } => algebra::reduce_precision(all, exponent_bits),
            Self::BitcastConvert => algebra::bitcast_convert(all, declared),
            Self::StochasticConvert => algebra::stochastic_convert(all, declared),
            Self::Gather(dimensions) => index::gather(all, dimensions, declared.is_some()),
            Self::Scatter { dimensions, to_apply } => index::scatter(all, dimensions, to_apply, declared.is_some()),
            Self::Called { operation: Operation::Reduce { dimensions }, to_apply } => {
                reducer::reduce(all, dimensions, to_apply)
            }
            Self::Called { operation: Operation::ReduceWindow(window), to_apply } => {
                reducer::reduce_window(all, window, to_apply)
            }
            // Other operations call no computation.
            Self::Called { operation, .. } => array::infer(operation, all, declared),
            Self::SelectAndScatter { window, select, scatter } => {
                reducer::select_and_scatter(all, window, select, scatter)
            }
            Self::Map { dimensions, to_apply } => reducer::map(all, dimensions, to_apply, declared.is_none()),
            Self::Scan { dimension, carries, to_apply } => reducer::scan(all, dimension, carries, to_apply, declared),
            Self::Shuffle { dimensions } => reducer::shuffle(all, dimensions),
            Self::Sort { dimension, to_apply } => {
                // The result's shape does not depend on them, so they are checked only where the program declares a
                // shape.
                let checked = declared.is_some().then_some((dimension, to_apply));
                reducer::sort(all, checked)
            }
            Self::RaggedDot { dimensions, ragged } => contract::ragged_dot(all, dimensions, ragged, declared),
            Self::ScaledDot(dimensions) => contract::scaled_dot(all, dimensions, declared),
            Self::TopK { k } => algebra::top_k(all, k),
            Self::Fft { fft_type, length } => algebra::fft(all, fft_type, length),
            Self::Cholesky => algebra::cholesky(all),
            Self::TriangularSolve { left_side } => algebra::triangular_solve(all, left_side),
            Self::BatchNormTraining { feature } => algebra::batch_norm_training(all, feature),
            Self::BatchNormInference { feature } => algebra::batch_norm_inference(all, feature),
            Self::BatchNormGrad { feature } => algebra::batch_norm_grad(all, feature),
            Self::AllGather { dimension, shards, start } => {
                collective::all_gather(all, dimension, shards, start, declared)
            }
            Self::AllReduce => collective::all_reduce(all),
            Self::ReduceScatter { dimension, shards } => collective::reduce_scatter(all, dimension, shards, declared),
            Self::AllToAll { dimension, shards } => collective::all_to_all(all, dimension, shards),
            Self::CollectivePermute { start } => collective::permute(all, start, declared),
            Self::RaggedAllToAll => collective::ragged_all_to_all(all),
            Self::TupleElement(index) => all.exactly(1).and_then(|()| all.element(0, index)).map(Cow::Borrowed),
            Self::Tuple => tuple(operands.iter().map(|&shape| shape.clone()).collect()),
            Self::GetDimensionSize { dimension } => algebra::get_dimension_size(all, dimension),
            Self::SetDimensionSize { dimension } => algebra::set_dimension_size(all, dimension),
            Self::Rng { normal } => algebra::rng(all, normal, declared),
            Self::RngBitGenerator => algebra::rng_bit_generator(all, declared),
            Self::RngGetAndUpdateState => {
                all.exactly(0)?;
                default_result(ElementType::U64, &[Dimension::Static(2)])
            }
            Self::Id => all.exactly(0).and_then(|()| default_result(ElementType::U32, &[])),
            Self::Token { operands } => {
                operands.map_or(Ok(()), |number| all.exactly(number))?;
                Ok(Cow::Owned(Shape::Token))
            }
            Self::Call { attribute, callee } => call::call(all, attribute, callee),
            Self::While { condition, body } => call::while_loop(all, condition, body),
            Self::Conditional(branches) => call::conditional(all, branches),
            Self::AsyncStart(callee) => call::async_start(all, callee, declared),
            Self::CopyStart => call::copy_start(all),
            Self::Send => call::send(all),
            Self::RecvDone => call::recv_done(all),
            Self::DynamicReshape => algebra::dynamic_reshape(all, declared),
        }
    }
}
