//! The fields of an instruction's message, from its attributes.

use super::attributes::{ALGORITHMS, PRECISIONS};
use super::error::{HloProtoError, no_place};
use super::literal::with_shape;
use super::message::*;
use crate::attribute::{ReplicaGroups, Value};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;
use xla_shape_core::proto::{OpShardingProto, ShapeProto};

type Result<T> = core::result::Result<T, HloProtoError>;

/// Reads `{1,-2}`.
fn numbers(value: Value<'_>) -> Result<Vec<i64>> {
    value.items()?.into_iter().map(number).collect()
}

fn number(value: Value<'_>) -> Result<i64> {
    value.text().parse().map_err(|_| value.is_not("a number").into())
}

fn number32(value: Value<'_>) -> Result<i32> {
    value.text().parse().map_err(|_| value.is_not("a number").into())
}

fn float(value: Value<'_>) -> Result<f64> {
    value.text().parse().map_err(|_| value.is_not("a number").into())
}

/// The place of a word in a list, which is its number in the schema.
fn word(value: Value<'_>, words: &[&str]) -> Result<i32> {
    let place = words.iter().position(|word| !word.is_empty() && *word == value.text());
    let place = place.and_then(|place| i32::try_from(place).ok());
    place.ok_or_else(|| value.is_not("a word that the schema has a number for").into())
}

/// What stands in the braces of `metadata`.
pub(crate) fn metadata(value: Value<'_>) -> Result<OpMetadata> {
    let mut to = OpMetadata::default();
    for (key, field) in value.fields()? {
        match key {
            "op_type" => to.op_type = field.string()?.into_owned(),
            "op_name" => to.op_name = field.string()?.into_owned(),
            "source_file" => to.source_file = field.string()?.into_owned(),
            "source_line" => to.source_line = number32(field)?,
            "source_end_line" => to.source_end_line = number32(field)?,
            "source_column" => to.source_column = number32(field)?,
            "source_end_column" => to.source_end_column = number32(field)?,
            "profile_type" => to.profile_type = field.items()?.into_iter().map(number32).collect::<Result<_>>()?,
            "deduplicated_name" => to.deduplicated_name = field.string()?.into_owned(),
            "scheduling_name" => to.scheduling_name = field.string()?.into_owned(),
            "stack_frame_id" => to.stack_frame_id = number32(field)?,
            "metadata_payload" => {
                to.metadata_payload = Some(Payload { value: Some(field.bytes()?.into_owned()), id: None });
            }
            other => return Err(no_place(&format!("the field `{other}` of `metadata`"))),
        }
    }
    Ok(to)
}

/// Sets what an attribute says; those that are computations are left to their ids.
pub(crate) fn set(name: &str, value: Value<'_>, opcode: Opcode<'_>, to: &mut HloInstructionProto) -> Result<()> {
    match name {
        "to_apply"
        | "calls"
        | "condition"
        | "body"
        | "select"
        | "scatter"
        | "true_computation"
        | "false_computation"
        | "branch_computations"
        | "called_computations" => {}
        "sharding" => to.sharding = Some(Box::new((&value.sharding()?).into())),
        "dimensions" => to.dimensions = numbers(value)?,
        "inferred_dimension" | "iota_dimension" => to.dimensions = [number(value)?].into(),
        "index" => to.tuple_index = number(value)?,
        "k" => to.k = number(value)?,
        "largest" => to.largest = value.boolean()?,
        "is_stable" => to.is_stable = value.boolean()?,
        "epsilon" => to.epsilon = float(value)? as f32,
        "feature_index" => to.feature_index = number(value)?,
        "fft_type" => to.fft_type = word(value, &["FFT", "IFFT", "RFFT", "IRFFT"])?,
        "fft_length" => to.fft_length = numbers(value)?,
        "direction" => to.comparison_direction = value.name()?.to_owned(),
        "order" => to.comparison_order = value.name()?.to_owned(),
        "type" => to.comparison_type = value.name()?.to_owned(),
        "kind" => to.fusion_kind = value.name()?.to_owned(),
        "left_side" | "lower" | "unit_diagonal" if opcode == Opcode::TriangularSolve => {
            let options = to.triangular_solve_options.get_or_insert_default();
            match name {
                "left_side" => options.left_side = value.boolean()?,
                "lower" => options.lower = value.boolean()?,
                _ => options.unit_diagonal = value.boolean()?,
            }
        }
        "transpose_a" => {
            let transpose = word(value, &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])?;
            to.triangular_solve_options.get_or_insert_default().transpose_a = transpose;
        }
        "lower" => to.cholesky_options.get_or_insert_default().lower = value.boolean()?,
        "channel_id" => to.channel_id = number(value)?,
        "is_host_transfer" => to.is_host_transfer = value.boolean()?,
        "constrain_layout" => to.constrain_layout = value.boolean()?,
        "use_global_device_ids" => to.use_global_device_ids = value.boolean()?,
        "has_dynamic_root" => to.has_dynamic_root = value.boolean()?,
        "replica_groups" => groups(value, to)?,
        "source_target_pairs" => {
            let pair = |item: Value<'_>| match numbers(item)?.as_slice() {
                &[source, target] => Ok(SourceTarget { source, target }),
                _ => Err(HloProtoError::from(item.is_not("a pair: `{source,target}`"))),
            };
            to.source_target_pairs = value.items()?.into_iter().map(pair).collect::<Result<_>>()?;
        }
        "slice_sizes" if opcode == Opcode::Gather => to.gather_slice_sizes = numbers(value)?,
        "slice_sizes" => {
            let sizes: Result<Vec<_>> = value.items()?.into_iter().map(numbers).collect();
            to.dynamic_slice_sizes = sizes?.into_iter().flatten().collect();
        }
        "dynamic_slice_sizes" => to.dynamic_slice_sizes = numbers(value)?,
        "lhs_batch_dims" => dot(opcode, to).lhs_batch_dimensions = numbers(value)?,
        "rhs_batch_dims" => dot(opcode, to).rhs_batch_dimensions = numbers(value)?,
        "lhs_contracting_dims" => dot(opcode, to).lhs_contracting_dimensions = numbers(value)?,
        "rhs_contracting_dims" => dot(opcode, to).rhs_contracting_dimensions = numbers(value)?,
        "lhs_ragged_dims" => {
            to.ragged_dot_dimension_numbers.get_or_insert_default().lhs_ragged_dimensions = numbers(value)?;
        }
        "rhs_group_dims" => {
            to.ragged_dot_dimension_numbers.get_or_insert_default().rhs_group_dimensions = numbers(value)?;
        }
        "operand_precision" => {
            let precision: Result<_> = value.items()?.into_iter().map(|item| word(item, &PRECISIONS)).collect();
            to.precision_config.get_or_insert_default().operand_precision = precision?;
        }
        "algorithm" if opcode == Opcode::RngBitGenerator => {
            to.rng_algorithm = word(value, &["rng_default", "rng_three_fry", "rng_philox"])?;
        }
        "algorithm" => to.precision_config.get_or_insert_default().algorithm = word(value, &ALGORITHMS)?,
        "window" => to.window = Some(Box::new(window(value)?)),
        "dim_labels" => to.convolution_dimension_numbers = Some(Box::new(labels(value)?)),
        "feature_group_count" => to.feature_group_count = number(value)?,
        "batch_group_count" => to.batch_group_count = number(value)?,
        "convolution_kind" => to.conv_kind = word(value, &["unset", "fprop", "dgrad", "wgrad"])?,
        "padding_type" => to.padding_type = word(value, &["PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"])?,
        "custom_call_target" => to.custom_call_target = value.string()?.into_owned(),
        "operand_layout_constraints" => {
            to.constrain_layout = true;
            to.operand_shapes_with_layout = value.shapes()?.iter().map(ShapeProto::from).collect();
        }
        "custom_call_has_side_effect" => to.custom_call_has_side_effect = value.boolean()?,
        "literal" => to.literal = Some(Box::new(with_shape(value.text())?)),
        "output_to_operand_aliasing" => {
            let ints = |list: &[usize]| list.iter().map(|&entry| entry as i64).collect();
            let alias = |alias: crate::attribute::Alias| OutputOperandAliasing {
                output_shape_index: ints(&alias.result_index),
                operand_index: alias.parameter as i64,
                operand_shape_index: ints(&alias.parameter_index),
            };
            to.output_operand_aliasing = value.aliases()?.into_iter().map(alias).collect();
        }
        "schedule" => {
            to.custom_call_schedule = word(value, &["SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"])?;
        }
        "api_version" => {
            to.custom_call_api_version = word(
                value,
                &[
                    "",
                    "API_VERSION_ORIGINAL",
                    "API_VERSION_STATUS_RETURNING",
                    "API_VERSION_STATUS_RETURNING_UNIFIED",
                    "API_VERSION_TYPED_FFI",
                ],
            )?;
        }
        "slice" => {
            let slice = |item: xla_shape_core::infer::SliceDimension| HloInstructionProtoSliceDimensions {
                start: item.start as i64,
                limit: item.limit as i64,
                stride: item.stride as i64,
            };
            to.slice_dimensions = value.slice()?.into_iter().map(slice).collect();
        }
        "padding" => {
            let dimension = |item: xla_shape_core::infer::PaddingDimension| PaddingConfigPaddingConfigDimension {
                edge_padding_low: item.low,
                edge_padding_high: item.high,
                interior_padding: item.interior as i64,
            };
            let dimensions = value.padding()?.into_iter().map(dimension).collect();
            to.padding_config = Some(Box::new(PaddingConfig { dimensions }));
        }
        "offset_dims" => gather(to).offset_dims = numbers(value)?,
        "collapsed_slice_dims" => gather(to).collapsed_slice_dims = numbers(value)?,
        "start_index_map" => gather(to).start_index_map = numbers(value)?,
        "operand_batching_dims" => gather(to).operand_batching_dims = numbers(value)?,
        "start_indices_batching_dims" => gather(to).start_indices_batching_dims = numbers(value)?,
        "index_vector_dim" if opcode == Opcode::Gather => gather(to).index_vector_dim = number(value)?,
        "index_vector_dim" => scatter(to).index_vector_dim = number(value)?,
        "update_window_dims" => scatter(to).update_window_dims = numbers(value)?,
        "inserted_window_dims" => scatter(to).inserted_window_dims = numbers(value)?,
        "scatter_dims_to_operand_dims" => scatter(to).scatter_dims_to_operand_dims = numbers(value)?,
        "input_batching_dims" => scatter(to).input_batching_dims = numbers(value)?,
        "scatter_indices_batching_dims" => scatter(to).scatter_indices_batching_dims = numbers(value)?,
        "indices_are_sorted" => to.indices_are_sorted = value.boolean()?,
        "unique_indices" => to.unique_indices = value.boolean()?,
        "cross_program_prefetch_index" => to.cross_program_prefetch_index = Some(number32(value)?),
        "infeed_config" => to.infeed_config = value.bytes()?.into_owned(),
        "outfeed_config" => to.outfeed_config = value.bytes()?.into_owned(),
        "outfeed_shape" => {
            let shape: xla_shape_core::Shape = value.text().parse().map_err(HloProtoError::from)?;
            to.outfeed_shape = Some(Box::new((&shape).into()));
        }
        "distribution" => to.distribution = word(value, &["", "rng_uniform", "rng_normal"])?,
        "delta" => to.delta = number(value)?,
        "exponent_bits" => to.exponent_bits = number32(value)?,
        "mantissa_bits" => to.mantissa_bits = number32(value)?,
        "num_carries" => to.num_carries = number(value)?,
        "is_reverse" => to.is_reverse = value.boolean()?,
        "is_associative" => to.is_associative = if value.boolean()? { 1 } else { 2 },
        "is_composite" => to.is_composite = value.boolean()?,
        "shifts" => {
            let rotate = ShuffleModeRotate { shifts: numbers(value)? };
            to.shuffle_mode = Some(Box::new(ShuffleMode { rotate: Some(rotate) }));
        }
        // The shifts say it, and XLA ignores that of collectives.
        "mode" => {}
        "async_execution_thread" => to.async_execution_thread = value.string()?.into_owned(),
        "parameter_replication" => {
            let flags: core::result::Result<Vec<_>, _> = value.items()?.into_iter().map(Value::boolean).collect();
            to.parameter_replication = Some(Box::new(ParameterReplication { replicated_at_leaf_buffers: flags? }));
        }
        "domain" => {
            let of = |key: &str| -> Result<_> {
                let sharding = value.field(key)?.ok_or_else(|| value.is_not("`{kind=… entry=… exit=…}`"))?;
                Ok(Some(Box::new((&sharding.sharding()?).into())))
            };
            // The message and the text have them the other way round.
            to.domain_entry_sharding = of("exit")?;
            to.domain_exit_sharding = of("entry")?;
        }
        // XLA reads these, and its message of a dot says them with the numbers of the operands; empty ones say nothing.
        "sparsity_config" | "block_scaling_config" if value.fields()?.is_empty() => {}
        "result_accuracy" => to.result_accuracy = Some(Box::new(accuracy(value)?)),
        "statistics" => {
            let fields = value.fields()?;
            let Some(((_, index), rest)) = fields.split_first() else { return Ok(()) };
            let mut statistics = StatisticsViz { stat_index_to_visualize: number(*index)?, ..StatisticsViz::default() };
            for (key, field) in rest {
                let stat_val = float(*field)?;
                statistics.statistics.push(Statistic { stat_name: (*key).to_owned(), stat_val });
            }
            to.statistics_viz = Some(Box::new(statistics));
        }
        other => return Err(no_place(&format!("the attribute `{other}`"))),
    }
    Ok(())
}

fn dot<'t>(opcode: Opcode<'_>, to: &'t mut HloInstructionProto) -> &'t mut DotDimensionNumbers {
    if opcode == Opcode::RaggedDot {
        return to.ragged_dot_dimension_numbers.get_or_insert_default().dot_dimension_numbers.get_or_insert_default();
    }
    to.dot_dimension_numbers.get_or_insert_default()
}

fn gather(to: &mut HloInstructionProto) -> &mut GatherDimensionNumbers {
    to.gather_dimension_numbers.get_or_insert_default()
}

fn scatter(to: &mut HloInstructionProto) -> &mut ScatterDimensionNumbers {
    to.scatter_dimension_numbers.get_or_insert_default()
}

fn groups(value: Value<'_>, to: &mut HloInstructionProto) -> Result<()> {
    let ints = |list: &[usize]| list.iter().map(|&entry| entry as i64).collect::<Vec<_>>();
    match value.replica_groups()? {
        ReplicaGroups::Lists(lists) => {
            let groups = lists.iter().map(|list| ReplicaGroup { replica_ids: ints(list) }).collect();
            to.collective_device_list = Some(Box::new(CollectiveDeviceListProto { replica_groups: groups }));
        }
        ReplicaGroups::Iota { shape, dimensions, permutation } => {
            let &[groups, size] = shape.as_slice() else {
                return Err(value.is_not("groups: `[groups,size]<=[dimensions]`").into());
            };
            let permutation = permutation.unwrap_or_else(|| (0..dimensions.len()).collect());
            to.iota_collective_device_list = Some(Box::new(IotaReplicaGroupListProto {
                num_replica_groups: groups as i64,
                num_devices_per_group: size as i64,
                iota_reshape_dims: ints(&dimensions),
                iota_transpose_perm: permutation.into_iter().map(|entry| entry as i32).collect(),
            }));
        }
        ReplicaGroups::Mesh(_) => to.mesh_axes_replica_group_list = Some(Box::new(mesh_groups(value)?)),
    }
    Ok(())
}

fn mesh_groups(value: Value<'_>) -> Result<MeshAxesReplicaGroupListProto> {
    let wrong = || value.is_not("groups along axes of a mesh: `mesh['x'=2,'y'=2] {'x'}`");
    let named = OpShardingProto::from(&value.mesh_groups()?).named_sharding.ok_or_else(wrong)?;
    let axes = named.dim_shardings.into_iter().next().map(|dimension| dimension.axes);
    Ok(MeshAxesReplicaGroupListProto { mesh: named.mesh, axes: axes.ok_or_else(wrong)? })
}

fn window(value: Value<'_>) -> Result<WindowProto> {
    let dimension = |of: xla_shape_core::infer::WindowDimension| WindowDimensionProto {
        size: of.size as i64,
        stride: of.stride as i64,
        padding_low: of.padding_low,
        padding_high: of.padding_high,
        window_dilation: of.window_dilation as i64,
        base_dilation: of.base_dilation as i64,
        window_reversal: of.reversal,
    };
    Ok(WindowProto { dimensions: value.window()?.into_iter().map(dimension).collect() })
}

fn labels(value: Value<'_>) -> Result<ConvolutionDimensionNumbers> {
    let labels = value.dim_labels()?;
    let ints = |list: &[usize]| list.iter().map(|&entry| entry as i64).collect();
    Ok(ConvolutionDimensionNumbers {
        input_batch_dimension: labels.input.first as i64,
        input_feature_dimension: labels.input.second as i64,
        input_spatial_dimensions: ints(&labels.input.spatial),
        kernel_input_feature_dimension: labels.kernel.first as i64,
        kernel_output_feature_dimension: labels.kernel.second as i64,
        kernel_spatial_dimensions: ints(&labels.kernel.spatial),
        output_batch_dimension: labels.output.first as i64,
        output_feature_dimension: labels.output.second as i64,
        output_spatial_dimensions: ints(&labels.output.spatial),
    })
}

fn accuracy(value: Value<'_>) -> Result<ResultAccuracy> {
    if let Some(mode) = value.field("mode")? {
        let is_highest = mode.text().eq_ignore_ascii_case("highest");
        return Ok(ResultAccuracy { mode: Some(is_highest.into()), tolerance: None });
    }
    let Some(fields) = value.field("tolerance")? else {
        return Err(value.is_not("`{mode=…}` or `{tolerance={…}}`").into());
    };
    let mut tolerance = ResultAccuracyTolerance::default();
    for (key, field) in fields.fields()? {
        match key {
            "atol" => tolerance.atol = float(field)?,
            "rtol" => tolerance.rtol = float(field)?,
            "ulps" => tolerance.ulps = float(field)? as i64,
            other => return Err(no_place(&format!("the field `{other}` of `tolerance`"))),
        }
    }
    Ok(ResultAccuracy { mode: None, tolerance: Some(tolerance) })
}
