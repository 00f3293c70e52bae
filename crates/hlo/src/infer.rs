//! Shape inference of instructions. This file reads an instruction's attributes and picks the [`Rule`]; the core infers the shape.
//!
//! The rules are those of `xla/service/shape_inference.cc`, as `ShapeVerifier` in `xla/service/hlo_verifier.cc` applies them.

use crate::attribute::{DimLabels, ReplicaGroups};
use crate::finding::{Problem, Result};
use crate::module::{Computation, Instruction};
use crate::parsed::ParsedAttributes;
use crate::schema::opcode::Opcode;
use crate::schema::{Key, words};
use alloc::borrow::{Cow, ToOwned};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec;
use alloc::vec::Vec;
use xla_shape_core::infer::{
    AGREES, Callee, ConvolutionDimensions, ConvolutionGroups, DotDimensions, Elementwise, FftType, GatherDimensions,
    Operation, RaggedDimensions, Rule, ScatterDimensions, WindowDimension,
};
use xla_shape_core::{ArrayShape, Shape};

/// A cache of the parameters of computations. A computation can be long and have many callers, so each is walked once.
#[derive(Default)]
pub(crate) struct Parameters {
    /// For each computation number: the instruction numbers of its parameters, in parameter order.
    by_computation: BTreeMap<u32, Vec<u32>>,
    /// For each computation number: whether the parser read all its instructions.
    complete: BTreeMap<u32, bool>,
}

impl Parameters {
    /// The instruction numbers of a computation's parameters, in parameter order.
    pub(crate) fn get(&mut self, computation: Computation<'_>) -> &[u32] {
        self.by_computation.entry(computation.number()).or_insert_with(|| {
            computation.parameters_by_number().into_iter().map(|(_, instruction)| instruction.number()).collect()
        })
    }

    /// Whether the parser read all instructions of a computation. If not, its parameters and result are unknown.
    pub(crate) fn is_complete(&mut self, computation: Computation<'_>) -> bool {
        *self.complete.entry(computation.number()).or_insert_with(|| computation.is_complete())
    }
}

/// Infers the shape of an instruction's value from its operands and attributes.
///
/// # Errors
/// If no shape can be inferred, or the instruction breaks a rule of its opcode.
pub(crate) fn inferred_shape(instruction: Instruction<'_>, parameters: &mut Parameters) -> Result<Shape> {
    with_inferred(instruction, &ParsedAttributes::new(instruction), parameters, None, |shape| shape.into_owned())?
        .ok_or(Problem::NoInference)
}

/// Infers a shape and passes it to `f`. `None` if nothing can be inferred: the opcode has no rule, or this part of a module
/// lacks the operand or computation that the rule needs.
pub(crate) fn with_inferred<'m, R>(
    instruction: Instruction<'m>,
    attributes: &ParsedAttributes<'m>,
    parameters: &mut Parameters,
    written: Option<&'m Shape>,
    f: impl FnOnce(Cow<'_, Shape>) -> R,
) -> Result<Option<R>> {
    // Nothing can be inferred from an operand of unknown shape.
    let Some(operands) = instruction.operands().map(|operand| operand.shape()).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let inference = Inference { instruction, attributes, operands, written };
    inference
        .with_rule(instruction.opcode(), parameters, |rule, operands, written| Ok(f(rule.infer(operands, written)?)))
}

fn infer(rule: Rule<'_>, operands: &[&Shape], written: Option<&Shape>) -> Result<Shape> {
    Ok(rule.infer(operands, written)?.into_owned())
}

/// A function that uses a rule, the operand shapes and the written shape.
type UseRule<'f, 'm> = &'f mut dyn FnMut(Rule<'_>, &[&'m Shape], Option<&'m Shape>) -> Result<()>;

/// The input of shape inference: an instruction, its parsed attributes and the shapes of its operands.
struct Inference<'m, 'g> {
    instruction: Instruction<'m>,
    attributes: &'g ParsedAttributes<'m>,
    operands: Vec<&'m Shape>,
    /// The shape written for the result, if the text has one.
    written: Option<&'m Shape>,
}

/// The shapes of a computation's parameters and of its result.
struct Called<'m> {
    parameters: Vec<&'m Shape>,
    result: &'m Shape,
}

impl Called<'_> {
    fn callee(&self) -> Callee<'_> {
        Callee { parameters: &self.parameters, result: self.result }
    }
}

impl<'m, 'g> Inference<'m, 'g> {
    /// The value of a required attribute.
    fn require<T>(&self, key: Key, found: Option<T>) -> Result<T> {
        found.ok_or(Problem::MissingAttribute { name: key.name() })
    }

    /// The required list of numbers.
    fn required_numbers(&self, key: Key) -> Result<&'g [usize]> {
        self.require(key, self.attributes.numbers(key)?)
    }

    /// The list of numbers; empty if the attribute is missing.
    fn numbers(&self, key: Key) -> Result<&'g [usize]> {
        Ok(self.attributes.numbers(key)?.unwrap_or_default())
    }

    /// The only number of an optional list of length one.
    fn optional_single(&self, key: Key) -> Result<Option<usize>> {
        match (self.attributes.numbers(key)?, self.attributes.value(key)) {
            (Some(&[number]), _) => Ok(Some(number)),
            (Some(_), Some(value)) => Err(value.is_not("a list of one number").into()),
            _ => Ok(None),
        }
    }

    /// The only number of a required list of length one.
    fn single(&self, key: Key) -> Result<usize> {
        self.require(key, self.optional_single(key)?)
    }

    /// The list of sizes; empty if the attribute is missing.
    fn sizes(&self, key: Key) -> Result<Vec<u64>> {
        Ok(self.numbers(key)?.iter().map(|&size| size as u64).collect())
    }

    /// The required number.
    fn number(&self, key: Key) -> Result<usize> {
        self.require(key, self.attributes.number(key)?)
    }

    /// The enum value of a required word.
    fn word(&self, key: Key) -> Result<usize> {
        self.require(key, self.attributes.word(key)?)
    }

    fn window(&self) -> Result<Cow<'g, [WindowDimension]>> {
        let all = |array: &ArrayShape| vec![WindowDimension::ONE; array.num_dimensions()];
        let array = self.operands.first().and_then(|shape| shape.array());
        match self.attributes.window(Key::Window)? {
            Some(window) => Ok(Cow::Borrowed(window)),
            None => Ok(Cow::Owned(array.map(all).unwrap_or_default())),
        }
    }

    /// The computation that an attribute names; `None` if this part of a module does not have it.
    fn called(&self, key: Key, parameters: &mut Parameters) -> Result<Option<Called<'m>>> {
        self.called_by(self.require(key, self.attributes.name(key)?)?, parameters)
    }

    fn called_by(&self, name: &str, parameters: &mut Parameters) -> Result<Option<Called<'m>>> {
        let module = self.instruction.module();
        let Some(computation) = module.computation(name) else {
            return match module.name() {
                Some(_) => Err(Problem::UnknownComputation { name: name.to_owned() }),
                None => Ok(None),
            };
        };
        if !parameters.is_complete(computation) {
            return Ok(None);
        }
        // For this number of operands, no rule accepts more than `most` parameters. The limit keeps the cost of a call proportional to its text.
        let most = self.operands.len() * 2 + 2;
        let shape = |&number: &u32| module.instruction_at(number).map(Instruction::shape);
        let shapes = parameters.get(computation).iter().take(most).filter_map(shape).collect();
        Ok(Some(Called { parameters: shapes, result: computation.root().shape() }))
    }

    /// The dimension numbers of a dot, from the attributes with these four keys.
    fn dot(&self, [lhs_batch, rhs_batch, lhs_contracting, rhs_contracting]: [Key; 4]) -> Result<DotDimensions<'g>> {
        Ok(DotDimensions {
            lhs_batch: self.numbers(lhs_batch)?,
            rhs_batch: self.numbers(rhs_batch)?,
            lhs_contracting: self.numbers(lhs_contracting)?,
            rhs_contracting: self.numbers(rhs_contracting)?,
        })
    }

    /// The number of devices in each group, if the module states it.
    fn shards(&self) -> Result<Option<u64>> {
        // XLA treats one replica or partition as "not stated".
        Ok(Devices::new(self.instruction, self.attributes)?.group_size()?.filter(|&size| size > 1))
    }

    /// Calls `f` with the inference rule of an opcode, the operand shapes and the written shape, and returns its result; `None` if the opcode
    /// has no rule here.
    fn with_rule<R>(
        &self,
        opcode: Opcode<'_>,
        parameters: &mut Parameters,
        f: impl FnOnce(Rule<'_>, &[&'m Shape], Option<&'m Shape>) -> Result<R>,
    ) -> Result<Option<R>> {
        let (mut f, mut made) = (Some(f), None);
        let rule = self.use_rule(opcode, parameters, &mut |rule, operands, written| {
            made = f.take().map(|f| f(rule, operands, written)).transpose()?;
            Ok(())
        });
        rule.map(|_| made)
    }

    /// Passes the inference rule to `f`, at most once. This function is not generic over `f`, so it is compiled only once. Each arm does what
    /// `ShapeVerifier::Handle…` in `xla/service/hlo_verifier.cc` does for its opcode: it reads the attributes that
    /// `ShapeInference::Infer…` needs.
    fn use_rule(&self, opcode: Opcode<'_>, parameters: &mut Parameters, f: UseRule<'_, 'm>) -> Result<Option<()>> {
        let (operands, written) = (self.operands.as_slice(), self.written);
        let mut f = |rule: Rule<'_>| f(rule, operands, written).map(Some);
        // This function is also called for the operation that a short form wraps; `short` is then `None`.
        let short = self.instruction.long_form().filter(|_| opcode == self.instruction.opcode());
        match opcode {
            // XLA's parser requires a written shape here (`HloParserImpl::CreateInstruction`).
            Opcode::OptBarrier if written.is_none() => Ok(None),
            // XLA also copies tuples and tokens (`ShapeVerifier::HandleCopy`).
            Opcode::AllReduceDone if short.is_some() => f(Rule::TupleElement(1)),
            Opcode::Copy | Opcode::Domain | Opcode::OptBarrier | Opcode::AllReduceDone => f(Rule::Operand(1)),
            Opcode::AddDependency => f(Rule::Operand(2)),
            Opcode::ReducePrecision => {
                let exponent_bits = self.number(Key::ExponentBits)?;
                f(Rule::ReducePrecision { exponent_bits })
            }
            Opcode::Compare => {
                self.require(Key::Direction, self.attributes.value(Key::Direction))?;
                f(Rule::Array(Operation::Compare))
            }
            Opcode::Select => f(Rule::Array(Operation::Select)),
            Opcode::Clamp => f(Rule::Array(Operation::Clamp)),
            Opcode::Broadcast => f(Rule::Array(Operation::Broadcast { dimensions: self.numbers(Key::Dimensions)? })),
            Opcode::Iota => f(Rule::Array(Operation::Iota { dimension: self.number(Key::IotaDimension)? })),
            Opcode::Reshape => f(Rule::Array(Operation::Reshape)),
            Opcode::Transpose => {
                f(Rule::Array(Operation::Transpose { dimensions: self.required_numbers(Key::Dimensions)? }))
            }
            Opcode::Reverse => {
                f(Rule::Array(Operation::Reverse { dimensions: self.required_numbers(Key::Dimensions)? }))
            }
            Opcode::Slice => {
                f(Rule::Array(Operation::Slice(self.require(Key::Slice, self.attributes.slices(Key::Slice)?)?)))
            }
            Opcode::Pad => {
                f(Rule::Array(Operation::Pad(self.require(Key::Padding, self.attributes.padding(Key::Padding)?)?)))
            }
            Opcode::Concatenate => f(Rule::Array(Operation::Concatenate { dimension: self.single(Key::Dimensions)? })),
            Opcode::Bitcast | Opcode::Infeed | Opcode::Recv => f(Rule::Declared { operands: Some(1) }),
            Opcode::BitcastConvert => f(Rule::BitcastConvert),
            Opcode::StochasticConvert => f(Rule::StochasticConvert),
            Opcode::DynamicSlice => f(Rule::Array(Operation::DynamicSlice(&self.sizes(Key::DynamicSliceSizes)?))),
            Opcode::DynamicUpdateSlice => f(Rule::Array(Operation::DynamicUpdateSlice)),
            Opcode::DynamicReshape => f(Rule::DynamicReshape),
            Opcode::Gather => f(Rule::Gather(GatherDimensions {
                offset: self.numbers(Key::OffsetDims)?,
                collapsed: self.numbers(Key::CollapsedSliceDims)?,
                start_index_map: self.numbers(Key::StartIndexMap)?,
                operand_batching: self.numbers(Key::OperandBatchingDims)?,
                indices_batching: self.numbers(Key::StartIndicesBatchingDims)?,
                index_vector: self.number(Key::GatherIndexVectorDim)?,
                slice_sizes: &self.sizes(Key::SliceSizes)?,
            })),
            Opcode::Scatter => {
                let Some(called) = self.called(Key::ToApply, parameters)? else { return Ok(None) };
                let dimensions = ScatterDimensions {
                    update_window: self.numbers(Key::UpdateWindowDims)?,
                    inserted_window: self.numbers(Key::InsertedWindowDims)?,
                    to_operand: self.numbers(Key::ScatterDimsToOperandDims)?,
                    operand_batching: self.numbers(Key::InputBatchingDims)?,
                    indices_batching: self.numbers(Key::ScatterIndicesBatchingDims)?,
                    index_vector: self.number(Key::ScatterIndexVectorDim)?,
                };
                f(Rule::Scatter { dimensions, to_apply: called.callee() })
            }
            Opcode::Reduce => {
                let Some(called) = self.called(Key::ToApply, parameters)? else { return Ok(None) };
                let operation = Operation::Reduce { dimensions: self.required_numbers(Key::Dimensions)? };
                f(Rule::Called { operation, to_apply: called.callee() })
            }
            // If no shape is written, XLA's parser infers one only for a single input.
            Opcode::ReduceWindow if written.is_none() && operands.len() > 2 => Ok(None),
            Opcode::ReduceWindow => {
                let Some(called) = self.called(Key::ToApply, parameters)? else { return Ok(None) };
                let operation = Operation::ReduceWindow(&self.window()?);
                f(Rule::Called { operation, to_apply: called.callee() })
            }
            Opcode::SelectAndScatter => {
                let Some(select) = self.called(Key::Select, parameters)? else { return Ok(None) };
                let Some(scatter) = self.called(Key::Scatter, parameters)? else { return Ok(None) };
                let (select, scatter) = (select.callee(), scatter.callee());
                f(Rule::SelectAndScatter { window: &self.window()?, select, scatter })
            }
            Opcode::Map => {
                let Some(called) = self.called(Key::ToApply, parameters)? else { return Ok(None) };
                f(Rule::Map { dimensions: self.numbers(Key::Dimensions)?, to_apply: called.callee() })
            }
            Opcode::Scan => {
                let Some(called) = self.called(Key::ToApply, parameters)? else { return Ok(None) };
                let (dimension, carries) = (self.single(Key::Dimensions)?, self.number(Key::NumCarries)?);
                f(Rule::Scan { dimension, carries, to_apply: called.callee() })
            }
            Opcode::Shuffle => f(Rule::Shuffle { dimensions: self.required_numbers(Key::Dimensions)? }),
            Opcode::Sort => {
                let named = self.attributes.name(Key::ToApply)?;
                let called = named.map(|name| self.called_by(name, parameters)).transpose()?;
                let Some(called) = called.map_or(Some(None), |called| called.map(Some)) else { return Ok(None) };
                let to_apply = called.as_ref().map(Called::callee);
                f(Rule::Sort { dimension: self.single(Key::Dimensions)?, to_apply })
            }
            // Operands with structured sparsity, which older versions of XLA had, have no rule here.
            Opcode::Dot if self.attributes.has(Key::Sparsity) => Ok(None),
            Opcode::Dot => f(Rule::Array(Operation::Dot(self.dot(DOT)?))),
            Opcode::ScaledDot => f(Rule::ScaledDot(self.dot(DOT)?)),
            Opcode::RaggedDot => {
                let (lhs, rhs_group) = (self.numbers(Key::LhsRaggedDims)?, self.numbers(Key::RhsGroupDims)?);
                let ragged = RaggedDimensions { lhs, rhs_group };
                f(Rule::RaggedDot { dimensions: self.dot(RAGGED_DOT)?, ragged })
            }
            // The operands after the kernel describe sparsity.
            Opcode::Convolution if self.attributes.has(Key::SparsityConfig) && operands.len() > 2 => Ok(None),
            Opcode::Convolution => self.convolution(f),
            Opcode::Topk => f(Rule::TopK { k: self.number(Key::K)? as u64 }),
            Opcode::Fft => {
                let fft_type = FftType::ALL.get(self.word(Key::FftType)?).copied().ok_or(Problem::NoInference)?;
                f(Rule::Fft { fft_type, length: &self.sizes(Key::FftLength)? })
            }
            Opcode::Cholesky => f(Rule::Cholesky),
            Opcode::TriangularSolve => {
                f(Rule::TriangularSolve { left_side: self.attributes.flag(Key::LeftSide)?.unwrap_or(false) })
            }
            Opcode::BatchNormTraining => f(Rule::BatchNormTraining { feature: self.number(Key::FeatureIndex)? }),
            Opcode::BatchNormInference => f(Rule::BatchNormInference { feature: self.number(Key::FeatureIndex)? }),
            Opcode::BatchNormGrad => f(Rule::BatchNormGrad { feature: self.number(Key::FeatureIndex)? }),
            Opcode::AllGather | Opcode::AllGatherStart if short.is_none() => {
                let (dimension, shards) = (self.single(Key::Dimensions)?, self.shards()?);
                f(Rule::AllGather { dimension, shards, start: opcode == Opcode::AllGatherStart })
            }
            Opcode::AllReduce | Opcode::AllReduceStart if short.is_none() => f(Rule::AllReduce),
            Opcode::ReduceScatter => {
                f(Rule::ReduceScatter { dimension: self.single(Key::Dimensions)?, shards: self.shards()? })
            }
            Opcode::AllToAll => f(Rule::AllToAll {
                dimension: self.optional_single(Key::Dimensions)?,
                shards: Devices::new(self.instruction, self.attributes)?.group_size()?,
            }),
            Opcode::CollectivePermute | Opcode::CollectiveBroadcast => f(Rule::CollectivePermute { start: false }),
            Opcode::CollectivePermuteStart if short.is_none() => f(Rule::CollectivePermute { start: true }),
            Opcode::RaggedAllToAll => f(Rule::RaggedAllToAll),
            Opcode::GetTupleElement => f(Rule::TupleElement(self.number(Key::Index)?)),
            Opcode::CopyDone => f(Rule::TupleElement(0)),
            // XLA ignores further operands.
            Opcode::AsyncDone | Opcode::SliceDone if operands.len() > 1 => Ok(None),
            Opcode::AllGatherDone | Opcode::CollectivePermuteDone | Opcode::AsyncDone | Opcode::SliceDone => {
                f(Rule::TupleElement(1))
            }
            Opcode::Tuple => f(Rule::Tuple),
            Opcode::GetDimensionSize => f(Rule::GetDimensionSize { dimension: self.single(Key::Dimensions)? }),
            Opcode::SetDimensionSize => f(Rule::SetDimensionSize { dimension: self.single(Key::Dimensions)? }),
            Opcode::Rng => f(Rule::Rng { normal: self.word(Key::Distribution)? == words::RNG_NORMAL }),
            Opcode::RngBitGenerator => f(Rule::RngBitGenerator),
            Opcode::RngGetAndUpdateState => f(Rule::RngGetAndUpdateState),
            Opcode::PartitionId | Opcode::ReplicaId => f(Rule::Id),
            Opcode::AfterAll => f(Rule::Token { operands: None }),
            Opcode::SendDone => f(Rule::Token { operands: Some(1) }),
            Opcode::Outfeed => f(Rule::Token { operands: Some(2) }),
            Opcode::Call | Opcode::Fusion => {
                let key = if opcode == Opcode::Call { Key::ToApply } else { Key::Calls };
                let Some(called) = self.called(key, parameters)? else { return Ok(None) };
                f(Rule::Call { attribute: key.name(), callee: called.callee() })
            }
            Opcode::While => {
                let Some(condition) = self.called(Key::Condition, parameters)? else { return Ok(None) };
                let Some(body) = self.called(Key::Body, parameters)? else { return Ok(None) };
                f(Rule::While { condition: condition.callee(), body: body.callee() })
            }
            Opcode::Conditional => {
                let two = [Key::TrueComputation, Key::FalseComputation];
                let called = match self.attributes.names(Key::BranchComputations)? {
                    Some(names) => names.iter().map(|name| self.called_by(name, parameters)).collect::<Result<_>>(),
                    None => two.into_iter().map(|key| self.called(key, parameters)).collect(),
                };
                let called: Vec<Option<Called<'_>>> = called?;
                let Some(called) = called.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
                let branches: Vec<_> = called.iter().map(Called::callee).collect();
                f(Rule::Conditional(&branches))
            }
            Opcode::AsyncStart => {
                if !self.attributes.has(Key::Calls) {
                    return Ok(None);
                }
                let Some(called) = self.called(Key::Calls, parameters)? else { return Ok(None) };
                f(Rule::AsyncStart(called.callee()))
            }
            Opcode::AsyncUpdate if self.changes_context() => Ok(None),
            Opcode::AsyncUpdate if operands.len() == 1 => f(Rule::Operand(1)),
            Opcode::AsyncUpdate => self.newly_bound().map(|()| None),
            Opcode::CopyStart => f(Rule::CopyStart),
            Opcode::Send => f(Rule::Send),
            Opcode::RecvDone => f(Rule::RecvDone),
            Opcode::Parameter | Opcode::Constant => f(Rule::Declared { operands: Some(0) }),
            Opcode::CustomCall => f(Rule::Declared { operands: None }),
            other => match Elementwise::named(other.text()) {
                Some(elementwise) => f(Rule::Array(Operation::Named(elementwise))),
                None => match short {
                    Some((Opcode::AsyncStart, operation)) if !operands.is_empty() => {
                        let Some(result) = self.wrapped(operation, parameters)? else { return Ok(None) };
                        f(Rule::AsyncStart(Callee { parameters: operands, result: &result }))
                    }
                    Some((Opcode::AsyncUpdate, _)) if self.changes_context() => Ok(None),
                    Some((Opcode::AsyncUpdate, _)) if operands.len() == 1 => f(Rule::Operand(1)),
                    Some((Opcode::AsyncUpdate, _)) => self.newly_bound().map(|()| None),
                    Some((Opcode::AsyncDone, _)) if operands.len() > 1 => Ok(None),
                    _ if other.text().ends_with("-done") => f(Rule::TupleElement(1)),
                    _ => Ok(None),
                },
            },
        }
    }

    /// Infers the result of the operation that an asynchronous start in short form wraps; `None` if it cannot be inferred.
    fn wrapped(&self, operation: Opcode<'_>, parameters: &mut Parameters) -> Result<Option<Shape>> {
        let Some([_, result, ..]) = self.written.and_then(Shape::tuple_shapes) else { return Ok(None) };
        let inference = Inference { operands: self.operands.clone(), written: Some(result), ..*self };
        inference.with_rule(operation, parameters, infer)
    }

    /// Whether the shape of an `async-update` has the same operands and result as that of its operand, and differs only in the context, which XLA
    /// does not check.
    fn changes_context(&self) -> bool {
        let ([before], Some(after)) = (self.operands.as_slice(), self.written) else { return false };
        let (Some([a, b, before @ ..]), Some([c, d, after @ ..])) = (before.tuple_shapes(), after.tuple_shapes())
        else {
            return false;
        };
        AGREES.compare(a, c) && AGREES.compare(b, d) && before != after
    }

    /// Checks that the number of operands that an `async-update` binds is the number of operands in its shape minus that in the shape of its first
    /// operand.
    fn newly_bound(&self) -> Result<()> {
        let count = |shape: Option<&Shape>| shape?.tuple_shapes()?.first()?.tuple_shapes().map(<[Shape]>::len);
        let (before, after) = (count(self.operands.first().copied()), count(self.written));
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        let (expected, found) = (after.saturating_sub(before), self.operands.len().saturating_sub(1));
        if expected == found {
            return Ok(());
        }
        let expected = format!("{expected} operands after the first, as the shape says");
        Err(Problem::mismatch(expected, format!("{found}")))
    }

    fn convolution<R>(&self, f: impl FnOnce(Rule<'_>) -> Result<Option<R>>) -> Result<Option<R>> {
        let DimLabels { input, kernel, output } =
            self.require(Key::DimLabels, self.attributes.dim_labels(Key::DimLabels)?)?;
        let dimensions = ConvolutionDimensions {
            input_batch: input.first,
            input_feature: input.second,
            input_spatial: &input.spatial,
            kernel_input_feature: kernel.first,
            kernel_output_feature: kernel.second,
            kernel_spatial: &kernel.spatial,
            output_batch: output.first,
            output_feature: output.second,
            output_spatial: &output.spatial,
        };
        let window = self.attributes.window(Key::Window)?.unwrap_or_default();
        let count = |key| Ok::<_, Problem>(self.attributes.number(key)?.unwrap_or(1) as u64);
        let groups = ConvolutionGroups { feature: count(Key::FeatureGroupCount)?, batch: count(Key::BatchGroupCount)? };
        f(Rule::Array(Operation::Convolution { dimensions, window, groups }))
    }
}

/// The attributes of a dot: batch dimensions of both sides, then contracting dimensions of both sides.
const DOT: [Key; 4] = [Key::LhsBatchDims, Key::RhsBatchDims, Key::LhsContractingDims, Key::RhsContractingDims];
const RAGGED_DOT: [Key; 4] =
    [Key::RaggedLhsBatchDims, Key::RaggedRhsBatchDims, Key::RaggedLhsContractingDims, Key::RaggedRhsContractingDims];

/// What the numbers in `replica_groups` count: XLA's `CollectiveOpGroupMode`, chosen as by `GetCollectiveOpGroupMode` in
/// `xla/service/collective_ops_utils.h`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum GroupMode {
    /// Replicas.
    CrossReplica,
    /// Replicas, each with all its partitions.
    CrossReplicaAndPartition,
    /// Partitions.
    CrossPartition,
    /// Devices: `replica * num_partitions + partition`.
    FlattenedId,
}

/// The devices that take part in a collective operation.
pub(crate) struct Devices<'g> {
    pub(crate) groups: Option<&'g ReplicaGroups<'g>>,
    pub(crate) mode: GroupMode,
    /// The module's `replica_count`; 1 if it has none.
    pub(crate) replicas: usize,
    /// The module's `num_partitions`; 1 if it has none.
    pub(crate) partitions: usize,
}

impl<'g> Devices<'g> {
    pub(crate) fn new(instruction: Instruction<'_>, attributes: &'g ParsedAttributes<'_>) -> Result<Self> {
        let groups = attributes.groups(Key::ReplicaGroups)?;
        let has_channel = attributes.has(Key::ChannelId);
        let is_global = attributes.flag(Key::UseGlobalDeviceIds)?;
        let takes_global = matches!(
            instruction.opcode(),
            Opcode::AllGather
                | Opcode::AllGatherStart
                | Opcode::AllReduce
                | Opcode::AllReduceStart
                | Opcode::ReduceScatter
        );
        let mode = match (has_channel, takes_global, is_global.unwrap_or(false)) {
            (false, _, _) => GroupMode::CrossReplica,
            (true, true, true) => GroupMode::FlattenedId,
            (true, true, false) => GroupMode::CrossReplicaAndPartition,
            (true, false, _) => GroupMode::CrossPartition,
        };
        let count = |key| instruction.module().count(key).unwrap_or(1);
        Ok(Self { groups, mode, replicas: count(Key::ReplicaCount), partitions: count(Key::NumPartitions) })
    }

    /// How many replicas, partitions or devices the groups can name.
    pub(crate) const fn count(&self) -> usize {
        match self.mode {
            GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => self.replicas,
            GroupMode::CrossPartition => self.partitions,
            GroupMode::FlattenedId => self.replicas.saturating_mul(self.partitions),
        }
    }

    /// The number of devices in a group; `None` if the module does not state it.
    pub(crate) fn group_size(&self) -> Result<Option<u64>> {
        let named = match self.groups {
            None => self.count(),
            Some(ReplicaGroups::Lists(groups)) => groups.first().map_or(self.count(), Vec::len),
            Some(ReplicaGroups::Iota { shape, .. }) => match shape.as_slice() {
                [_, size] => *size,
                _ => return Ok(None),
            },
            Some(_) => return Ok(None),
        };
        let partitions = if self.mode == GroupMode::CrossReplicaAndPartition { self.partitions } else { 1 };
        Ok(Some(named.saturating_mul(partitions) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::{Parameters, with_inferred};
    use crate::parsed::ParsedAttributes;
    use crate::schema::opcode::Opcode;
    use alloc::format;

    #[test]
    fn every_opcode_has_a_rule() {
        // The rules of `async-start` and `slice-start` need a called computation or a tuple, which the text below lacks. For a collective-reduce, XLA
        // accepts any shape.
        let none = [Opcode::AsyncStart, Opcode::SliceStart, Opcode::CollectiveReduce];
        for &opcode in Opcode::ALL.iter().filter(|opcode| !none.contains(opcode)) {
            let is_leaf = matches!(opcode, Opcode::Parameter | Opcode::Constant);
            let text = format!("y = f32[4] {opcode}({})", if is_leaf { "0" } else { "f32[4] x" });
            let module = crate::Module::parse(&text).unwrap();
            let instruction = module.instructions().next().unwrap();
            let (attributes, written) = (ParsedAttributes::new(instruction), Some(instruction.shape()));
            let found = with_inferred(instruction, &attributes, &mut Parameters::default(), written, |_| ());
            assert!(!matches!(found, Ok(None)), "{opcode}");
        }
    }
}
