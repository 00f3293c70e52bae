//! What an instruction does, as a rule of the core: its attributes are read, and the core says which shape follows.

use crate::attribute::{DimLabels, ReplicaGroups, Value};
use crate::finding::{Problem, Result};
use crate::module::{Computation, Instruction};
use crate::opcode::Opcode;
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

/// The parameters of computations, by their numbers, gathered once for each: a computation may be long, and called often.
#[derive(Default)]
pub(crate) struct Parameters {
    /// The numbers of the instructions that are the parameters of a computation.
    of: BTreeMap<u32, Vec<u32>>,
}

impl Parameters {
    pub(crate) fn of(&mut self, computation: Computation<'_, '_>) -> &[u32] {
        self.of.entry(computation.number()).or_insert_with(|| {
            computation.parameters_by_number().into_iter().map(|(_, instruction)| instruction.number()).collect()
        })
    }
}

/// The shape of an instruction's value as it follows from its operands and attributes.
///
/// # Errors
/// If it does not, or the instruction is not as its opcode needs it.
pub(crate) fn inferred_shape(instruction: Instruction<'_, '_>, parameters: &mut Parameters) -> Result<Shape> {
    with_inferred(instruction, parameters, None, |shape| shape.into_owned())?.ok_or(Problem::NoInference)
}

/// Hands the shape that follows to `f`. `None` where nothing follows: there is no rule for the opcode, or what it needs to know is not
/// in this part of a module.
pub(crate) fn with_inferred<'m, R>(
    instruction: Instruction<'m, '_>,
    parameters: &mut Parameters,
    written: Option<&'m Shape>,
    f: impl FnOnce(Cow<'_, Shape>) -> R,
) -> Result<Option<R>> {
    // An operand that is not known says nothing.
    let Some(operands) = instruction.operands().map(|operand| operand.shape()).collect::<Option<Vec<_>>>() else {
        return Ok(None);
    };
    let asked = Asked { instruction, operands, written };
    asked.with_rule(instruction.opcode(), parameters, |rule, operands, written| Ok(f(rule.infer(operands, written)?)))
}

fn infer(rule: Rule<'_>, operands: &[&Shape], written: Option<&Shape>) -> Result<Shape> {
    Ok(rule.infer(operands, written)?.into_owned())
}

/// An instruction, and what is known of its shapes.
struct Asked<'m, 'a> {
    instruction: Instruction<'m, 'a>,
    operands: Vec<&'m Shape>,
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

impl<'m> Asked<'m, '_> {
    fn value(&self, name: &'static str) -> Result<Value<'m>> {
        self.instruction.attribute(name).ok_or(Problem::MissingAttribute { name })
    }

    /// A list of numbers that must be there.
    fn listed(&self, name: &'static str) -> Result<Vec<usize>> {
        Ok(self.value(name)?.numbers()?)
    }

    /// A list of numbers; none if the attribute is not there.
    fn numbers(&self, name: &'static str) -> Result<Vec<usize>> {
        Ok(self.instruction.attribute(name).map_or(Ok(Vec::new()), Value::numbers)?)
    }

    /// A list of exactly one number.
    fn only(&self, name: &'static str) -> Result<usize> {
        let value = self.value(name)?;
        match value.numbers()?.as_slice() {
            &[number] => Ok(number),
            _ => Err(value.is_not("a list of one number").into()),
        }
    }

    /// A list of sizes; none if the attribute is not there.
    fn sizes(&self, name: &'static str) -> Result<Vec<u64>> {
        Ok(self.numbers(name)?.into_iter().map(|size| size as u64).collect())
    }

    fn number_or(&self, name: &'static str, default: usize) -> Result<usize> {
        Ok(self.instruction.attribute(name).map_or(Ok(default), Value::number)?)
    }

    fn boolean_or(&self, name: &'static str, default: bool) -> Result<bool> {
        Ok(self.instruction.attribute(name).map_or(Ok(default), Value::boolean)?)
    }

    fn window(&self) -> Result<Vec<WindowDimension>> {
        let all = |array: &ArrayShape| vec![WindowDimension::ONE; array.num_dimensions()];
        let array = self.operands.first().and_then(|shape| shape.array());
        match self.instruction.attribute("window") {
            Some(window) => Ok(window.window()?),
            None => Ok(array.map(all).unwrap_or_default()),
        }
    }

    /// The computation that an attribute names; `None` if it is not in this part of a module.
    fn called(&self, name: &'static str, parameters: &mut Parameters) -> Result<Option<Called<'m>>> {
        self.called_by(self.value(name)?.name()?, parameters)
    }

    fn called_by(&self, name: &str, parameters: &mut Parameters) -> Result<Option<Called<'m>>> {
        let module = self.instruction.module();
        let Some(computation) = module.computation(name) else {
            return match module.name() {
                Some(_) => Err(Problem::UnknownComputation { name: name.to_owned() }),
                None => Ok(None),
            };
        };
        // More parameters than any rule takes for these operands are not looked at, so that a call costs what its text does.
        let most = self.operands.len().saturating_mul(2).saturating_add(2);
        let shape = |&number: &u32| module.instruction_at(number).map(Instruction::shape);
        let shapes = parameters.of(computation).iter().take(most).filter_map(shape).collect();
        Ok(Some(Called { parameters: shapes, result: computation.root().shape() }))
    }

    fn dot<R>(&self, f: impl FnOnce(DotDimensions<'_>) -> Result<R>) -> Result<R> {
        let (lhs_batch, rhs_batch) = (self.numbers("lhs_batch_dims")?, self.numbers("rhs_batch_dims")?);
        let lhs_contracting = self.numbers("lhs_contracting_dims")?;
        let rhs_contracting = self.numbers("rhs_contracting_dims")?;
        f(DotDimensions {
            lhs_batch: &lhs_batch,
            rhs_batch: &rhs_batch,
            lhs_contracting: &lhs_contracting,
            rhs_contracting: &rhs_contracting,
        })
    }

    /// How many devices share an operation's work, if the program says it.
    fn shards(&self) -> Result<Option<u64>> {
        // One replica or partition is what XLA takes for a number that was not given.
        Ok(Devices::of(self.instruction)?.group_size()?.filter(|&size| size > 1))
    }

    /// Hands the rule of an opcode to `f`, with the shapes of the operands and the written one.
    fn with_rule<R>(
        &self,
        opcode: Opcode<'_>,
        parameters: &mut Parameters,
        f: impl FnOnce(Rule<'_>, &[&'m Shape], Option<&'m Shape>) -> Result<R>,
    ) -> Result<Option<R>> {
        let (operands, written) = (self.operands.as_slice(), self.written);
        let f = |rule: Rule<'_>| f(rule, operands, written).map(Some);
        match opcode {
            // XLA's parser wants its shape.
            Opcode::OptBarrier if written.is_none() => Ok(None),
            // XLA also copies tuples and tokens.
            Opcode::Copy | Opcode::Domain | Opcode::OptBarrier | Opcode::AllReduceDone => f(Rule::Operand(1)),
            Opcode::AddDependency => f(Rule::Operand(2)),
            Opcode::ReducePrecision => {
                let exponent_bits = self.value("exponent_bits")?.number()?;
                f(Rule::ReducePrecision { exponent_bits })
            }
            Opcode::Compare => {
                self.value("direction")?;
                f(Rule::Array(Operation::Compare))
            }
            Opcode::Select => f(Rule::Array(Operation::Select)),
            Opcode::Clamp => f(Rule::Array(Operation::Clamp)),
            Opcode::Broadcast => f(Rule::Array(Operation::Broadcast { dimensions: &self.numbers("dimensions")? })),
            Opcode::Iota => f(Rule::Array(Operation::Iota { dimension: self.value("iota_dimension")?.number()? })),
            Opcode::Reshape => f(Rule::Array(Operation::Reshape)),
            Opcode::Transpose => f(Rule::Array(Operation::Transpose { dimensions: &self.listed("dimensions")? })),
            Opcode::Reverse => f(Rule::Array(Operation::Reverse { dimensions: &self.listed("dimensions")? })),
            Opcode::Slice => f(Rule::Array(Operation::Slice(&self.value("slice")?.slice()?))),
            Opcode::Pad => f(Rule::Array(Operation::Pad(&self.value("padding")?.padding()?))),
            Opcode::Concatenate => f(Rule::Array(Operation::Concatenate { dimension: self.only("dimensions")? })),
            Opcode::Bitcast | Opcode::Infeed | Opcode::Recv => f(Rule::Written { operands: Some(1) }),
            Opcode::BitcastConvert => f(Rule::BitcastConvert),
            Opcode::StochasticConvert => f(Rule::StochasticConvert),
            Opcode::DynamicSlice => f(Rule::DynamicSlice(&self.sizes("dynamic_slice_sizes")?)),
            Opcode::DynamicUpdateSlice => f(Rule::DynamicUpdateSlice),
            Opcode::DynamicReshape => f(Rule::DynamicReshape),
            Opcode::Gather => f(Rule::Gather(GatherDimensions {
                offset: &self.numbers("offset_dims")?,
                collapsed: &self.numbers("collapsed_slice_dims")?,
                start_index_map: &self.numbers("start_index_map")?,
                operand_batching: &self.numbers("operand_batching_dims")?,
                indices_batching: &self.numbers("start_indices_batching_dims")?,
                index_vector: self.value("index_vector_dim")?.number()?,
                slice_sizes: &self.sizes("slice_sizes")?,
            })),
            Opcode::Scatter => {
                let Some(called) = self.called("to_apply", parameters)? else { return Ok(None) };
                let dimensions = ScatterDimensions {
                    update_window: &self.numbers("update_window_dims")?,
                    inserted_window: &self.numbers("inserted_window_dims")?,
                    to_operand: &self.numbers("scatter_dims_to_operand_dims")?,
                    operand_batching: &self.numbers("input_batching_dims")?,
                    indices_batching: &self.numbers("scatter_indices_batching_dims")?,
                    index_vector: self.value("index_vector_dim")?.number()?,
                };
                f(Rule::Scatter { dimensions, to_apply: called.callee() })
            }
            Opcode::Reduce => {
                let Some(called) = self.called("to_apply", parameters)? else { return Ok(None) };
                f(Rule::Reduce { dimensions: &self.listed("dimensions")?, to_apply: called.callee() })
            }
            // XLA's parser infers the shape of one input's windows only.
            Opcode::ReduceWindow if written.is_none() && operands.len() > 2 => Ok(None),
            Opcode::ReduceWindow => {
                let Some(called) = self.called("to_apply", parameters)? else { return Ok(None) };
                f(Rule::ReduceWindow { window: &self.window()?, to_apply: called.callee() })
            }
            Opcode::SelectAndScatter => {
                let Some(select) = self.called("select", parameters)? else { return Ok(None) };
                let Some(scatter) = self.called("scatter", parameters)? else { return Ok(None) };
                let (select, scatter) = (select.callee(), scatter.callee());
                f(Rule::SelectAndScatter { window: &self.window()?, select, scatter })
            }
            Opcode::Map => {
                let Some(called) = self.called("to_apply", parameters)? else { return Ok(None) };
                f(Rule::Map { dimensions: &self.numbers("dimensions")?, to_apply: called.callee() })
            }
            Opcode::Scan => {
                let Some(called) = self.called("to_apply", parameters)? else { return Ok(None) };
                let (dimension, carries) = (self.only("dimensions")?, self.value("num_carries")?.number()?);
                f(Rule::Scan { dimension, carries, to_apply: called.callee() })
            }
            Opcode::Shuffle => f(Rule::Shuffle { dimensions: &self.listed("dimensions")? }),
            Opcode::Sort => {
                let named = self.instruction.attribute("to_apply").map(Value::name).transpose()?;
                let called = named.map(|name| self.called_by(name, parameters)).transpose()?;
                let Some(called) = called.map_or(Some(None), |called| called.map(Some)) else { return Ok(None) };
                let to_apply = called.as_ref().map(Called::callee);
                f(Rule::Sort { dimension: self.only("dimensions")?, to_apply })
            }
            // Older programs have operands of which only some elements are stored; there is no rule for them here.
            Opcode::Dot if self.instruction.attribute("sparsity").is_some() => Ok(None),
            Opcode::Dot => self.dot(|dimensions| f(Rule::Dot(dimensions))),
            Opcode::ScaledDot => self.dot(|dimensions| f(Rule::ScaledDot(dimensions))),
            Opcode::RaggedDot => {
                let (lhs, rhs_group) = (self.numbers("lhs_ragged_dims")?, self.numbers("rhs_group_dims")?);
                let ragged = RaggedDimensions { lhs: &lhs, rhs_group: &rhs_group };
                self.dot(|dimensions| f(Rule::RaggedDot { dimensions, ragged }))
            }
            Opcode::Convolution => self.convolution(f),
            Opcode::Topk => f(Rule::TopK { k: self.value("k")?.number()? as u64 }),
            Opcode::Fft => {
                let kind = self.value("fft_type")?;
                let fft_type = match kind.text() {
                    "FFT" => FftType::Fft,
                    "IFFT" => FftType::Ifft,
                    "RFFT" => FftType::Rfft,
                    "IRFFT" => FftType::Irfft,
                    _ => return Err(kind.is_not("`FFT`, `IFFT`, `RFFT` or `IRFFT`").into()),
                };
                f(Rule::Fft { fft_type, length: &self.sizes("fft_length")? })
            }
            Opcode::Cholesky => f(Rule::Cholesky),
            Opcode::TriangularSolve => f(Rule::TriangularSolve { left_side: self.boolean_or("left_side", false)? }),
            Opcode::BatchNormTraining => f(Rule::BatchNormTraining { feature: self.value("feature_index")?.number()? }),
            Opcode::BatchNormInference => {
                f(Rule::BatchNormInference { feature: self.value("feature_index")?.number()? })
            }
            Opcode::BatchNormGrad => f(Rule::BatchNormGrad { feature: self.value("feature_index")?.number()? }),
            Opcode::AllGather | Opcode::AllGatherStart => {
                let (dimension, shards) = (self.only("dimensions")?, self.shards()?);
                f(Rule::AllGather { dimension, shards, start: opcode == Opcode::AllGatherStart })
            }
            Opcode::AllReduce | Opcode::AllReduceStart => f(Rule::AllReduce),
            Opcode::ReduceScatter => {
                f(Rule::ReduceScatter { dimension: self.only("dimensions")?, shards: self.shards()? })
            }
            Opcode::AllToAll => {
                let dimension =
                    self.instruction.attribute("dimensions").map(|_| self.only("dimensions")).transpose()?;
                f(Rule::AllToAll { dimension, shards: Devices::of(self.instruction)?.group_size()? })
            }
            Opcode::CollectivePermute | Opcode::CollectiveBroadcast => f(Rule::CollectivePermute { start: false }),
            Opcode::CollectivePermuteStart => f(Rule::CollectivePermute { start: true }),
            Opcode::RaggedAllToAll => f(Rule::RaggedAllToAll),
            Opcode::GetTupleElement => f(Rule::TupleElement(self.value("index")?.number()?)),
            Opcode::CopyDone => f(Rule::TupleElement(0)),
            // XLA does not look at more operands.
            Opcode::AsyncDone | Opcode::SliceDone if operands.len() > 1 => Ok(None),
            Opcode::AllGatherDone | Opcode::CollectivePermuteDone | Opcode::AsyncDone | Opcode::SliceDone => {
                f(Rule::TupleElement(1))
            }
            Opcode::Tuple => f(Rule::Tuple),
            Opcode::GetDimensionSize => f(Rule::GetDimensionSize { dimension: self.only("dimensions")? }),
            Opcode::SetDimensionSize => f(Rule::SetDimensionSize { dimension: self.only("dimensions")? }),
            Opcode::Rng => {
                let distribution = self.value("distribution")?;
                match distribution.text() {
                    "rng_normal" => f(Rule::Rng { normal: true }),
                    "rng_uniform" => f(Rule::Rng { normal: false }),
                    _ => Err(distribution.is_not("`rng_normal` or `rng_uniform`").into()),
                }
            }
            Opcode::RngBitGenerator => f(Rule::RngBitGenerator),
            Opcode::RngGetAndUpdateState => f(Rule::RngGetAndUpdateState),
            Opcode::PartitionId | Opcode::ReplicaId => f(Rule::Id),
            Opcode::AfterAll => f(Rule::Token { operands: None }),
            Opcode::SendDone => f(Rule::Token { operands: Some(1) }),
            Opcode::Outfeed => f(Rule::Token { operands: Some(2) }),
            Opcode::Call | Opcode::Fusion => {
                let attribute = if opcode == Opcode::Call { "to_apply" } else { "calls" };
                let Some(called) = self.called(attribute, parameters)? else { return Ok(None) };
                f(Rule::Call { attribute, callee: called.callee() })
            }
            Opcode::While => {
                let Some(condition) = self.called("condition", parameters)? else { return Ok(None) };
                let Some(body) = self.called("body", parameters)? else { return Ok(None) };
                f(Rule::While { condition: condition.callee(), body: body.callee() })
            }
            Opcode::Conditional => {
                let names = match self.instruction.attribute("branch_computations") {
                    Some(names) => names.names()?,
                    None => vec![self.value("true_computation")?.name()?, self.value("false_computation")?.name()?],
                };
                let called = names.into_iter().map(|name| self.called_by(name, parameters));
                let Some(called) = called.collect::<Result<Option<Vec<_>>>>()? else { return Ok(None) };
                let branches: Vec<_> = called.iter().map(Called::callee).collect();
                f(Rule::Conditional(&branches))
            }
            Opcode::AsyncStart => {
                if self.instruction.attribute("calls").is_none() {
                    return Ok(None);
                }
                let Some(called) = self.called("calls", parameters)? else { return Ok(None) };
                f(Rule::AsyncStart(called.callee()))
            }
            Opcode::AsyncUpdate if self.changes_context() => Ok(None),
            Opcode::AsyncUpdate if operands.len() == 1 => f(Rule::Operand(1)),
            Opcode::AsyncUpdate => self.bound().map(|()| None),
            Opcode::CopyStart => f(Rule::CopyStart),
            Opcode::Send => f(Rule::Send),
            Opcode::RecvDone => f(Rule::RecvDone),
            Opcode::Parameter | Opcode::Constant => f(Rule::Written { operands: Some(0) }),
            Opcode::CustomCall => f(Rule::Written { operands: None }),
            other => match Elementwise::named(other.text()) {
                Some(elementwise) => f(Rule::Array(Operation::Named(elementwise))),
                None => match other.long_form() {
                    Some((Opcode::AsyncStart, operation)) if !operands.is_empty() => {
                        let Some(result) = self.wrapped(operation, parameters)? else { return Ok(None) };
                        f(Rule::AsyncStart(Callee { parameters: operands, result: &result }))
                    }
                    Some((Opcode::AsyncUpdate, _)) if self.changes_context() => Ok(None),
                    Some((Opcode::AsyncUpdate, _)) if operands.len() == 1 => f(Rule::Operand(1)),
                    Some((Opcode::AsyncUpdate, _)) => self.bound().map(|()| None),
                    Some((Opcode::AsyncDone, _)) if operands.len() > 1 => Ok(None),
                    _ if other.text().ends_with("-done") => f(Rule::TupleElement(1)),
                    _ => Ok(None),
                },
            },
        }
    }

    /// The result of an operation that stands in short in an asynchronous one; `None` if nothing says it.
    fn wrapped(&self, operation: Opcode<'_>, parameters: &mut Parameters) -> Result<Option<Shape>> {
        let Some([_, result, ..]) = self.written.and_then(Shape::tuple_shapes) else { return Ok(None) };
        let asked = Asked { instruction: self.instruction, operands: self.operands.clone(), written: Some(result) };
        asked.with_rule(operation, parameters, infer)
    }

    /// Whether an update has the operands and the result of what it updates, and only another context, which XLA does not look at.
    fn changes_context(&self) -> bool {
        let ([before], Some(after)) = (self.operands.as_slice(), self.written) else { return false };
        let (Some([a, b, before @ ..]), Some([c, d, after @ ..])) = (before.tuple_shapes(), after.tuple_shapes())
        else {
            return false;
        };
        AGREES.compare(a, c) && AGREES.compare(b, d) && before != after
    }

    /// Checks that an update gives as many operands as its shape has more than that of what it updates.
    fn bound(&self) -> Result<()> {
        let count = |shape: Option<&Shape>| shape?.tuple_shapes()?.first()?.tuple_shapes().map(<[Shape]>::len);
        let (before, after) = (count(self.operands.first().copied()), count(self.written));
        let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
        let (expected, found) = (after.saturating_sub(before), self.operands.len().saturating_sub(1));
        if expected == found {
            return Ok(());
        }
        let expected = format!("{expected} operands beside what is updated, as the shape says");
        Err(Problem::unfit(expected, format!("{found}")))
    }

    fn convolution<R>(&self, f: impl FnOnce(Rule<'_>) -> Result<Option<R>>) -> Result<Option<R>> {
        let DimLabels { input, kernel, output } = self.value("dim_labels")?.dim_labels()?;
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
        let window = self.instruction.attribute("window").map_or(Ok(Vec::new()), Value::window)?;
        let groups = ConvolutionGroups {
            feature: self.number_or("feature_group_count", 1)? as u64,
            batch: self.number_or("batch_group_count", 1)? as u64,
        };
        f(Rule::Array(Operation::Convolution { dimensions, window: &window, groups }))
    }
}

/// What the numbers in `replica_groups` are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Members {
    /// Replicas.
    Replicas,
    /// Replicas, each with all its partitions.
    ReplicasWithPartitions,
    /// Partitions.
    Partitions,
    /// All devices, replica by replica.
    Devices,
}

/// The devices that take part in a collective instruction.
pub(crate) struct Devices<'m> {
    pub(crate) groups: Option<ReplicaGroups<'m>>,
    pub(crate) members: Members,
    /// How many replicas the module says there are; 1 also if it does not.
    pub(crate) replicas: usize,
    /// How many partitions.
    pub(crate) partitions: usize,
}

impl<'m> Devices<'m> {
    pub(crate) fn of(instruction: Instruction<'m, '_>) -> Result<Self> {
        let groups = instruction.attribute("replica_groups").map(Value::replica_groups).transpose()?;
        let has_channel = instruction.attribute("channel_id").is_some();
        let is_global = instruction.attribute("use_global_device_ids").map(Value::boolean).transpose()?;
        let takes_global = matches!(
            instruction.opcode(),
            Opcode::AllGather
                | Opcode::AllGatherStart
                | Opcode::AllReduce
                | Opcode::AllReduceStart
                | Opcode::ReduceScatter
        );
        let members = match (has_channel, takes_global, is_global.unwrap_or(false)) {
            (false, _, _) => Members::Replicas,
            (true, true, true) => Members::Devices,
            (true, true, false) => Members::ReplicasWithPartitions,
            (true, false, _) => Members::Partitions,
        };
        let count = |name| {
            let value = instruction.module().attribute(name);
            value.and_then(|value| value.number().ok()).unwrap_or(1)
        };
        Ok(Self { groups, members, replicas: count("replica_count"), partitions: count("num_partitions") })
    }

    /// How many devices there are of those that the groups name.
    pub(crate) const fn count(&self) -> usize {
        match self.members {
            Members::Replicas | Members::ReplicasWithPartitions => self.replicas,
            Members::Partitions => self.partitions,
            Members::Devices => self.replicas.saturating_mul(self.partitions),
        }
    }

    /// How many devices work together in a group; `None` where that is not told.
    pub(crate) fn group_size(&self) -> Result<Option<u64>> {
        let named = match &self.groups {
            None => self.count(),
            Some(ReplicaGroups::Lists(groups)) => groups.first().map_or(self.count(), Vec::len),
            Some(ReplicaGroups::Iota { shape, .. }) => match shape.as_slice() {
                [_, size] => *size,
                _ => return Ok(None),
            },
            Some(_) => return Ok(None),
        };
        let partitions = if self.members == Members::ReplicasWithPartitions { self.partitions } else { 1 };
        Ok(Some(named.saturating_mul(partitions) as u64))
    }
}
