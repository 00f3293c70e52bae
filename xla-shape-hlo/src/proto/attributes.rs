//! The attributes of an instruction, in the order in which XLA prints them.

use super::constant;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::float::general;
use super::message::{
    ConvolutionDimensionNumbers, DotDimensionNumbers, FrontendAttributes, HloInstructionProto, OpMetadata,
    OriginalArrayProto, OriginalValueElementProto, OriginalValueProto, WindowProto,
};
use super::sharding::{replica_groups, sharding};
use super::words::{joined, name};
use crate::text::is_free_braces;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use xla_shape_core::text::escaped;
use xla_shape_core::{ElementType, Shape};

type Result<T> = core::result::Result<T, HloProtoError>;

/// The attributes, as they are printed.
pub(crate) struct Attributes<'o> {
    pub(crate) out: &'o mut String,
}

impl Attributes<'_> {
    // Writing to memory does not fail.
    pub(crate) fn add(&mut self, name: &str, value: impl fmt::Display) {
        let _ = write!(self.out, ", {name}={value}");
    }

    fn numbers(&mut self, name: &str, numbers: &[i64]) {
        let _ = write!(self.out, ", {name}={{");
        joined(numbers, ",", self.out);
        self.out.push('}');
    }

    fn some_numbers(&mut self, name: &str, numbers: &[i64]) {
        if !numbers.is_empty() {
            self.numbers(name, numbers);
        }
    }

    fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.add(name, "true");
        }
    }

    fn string(&mut self, name: &str, value: &[u8]) {
        let _ = write!(self.out, ", {name}=\"");
        escaped(value, self.out);
        self.out.push('"');
    }

    /// Text that XLA only hands on: braces as they are, all else as a string.
    pub(crate) fn free(&mut self, name: &str, value: &[u8]) {
        let _ = write!(self.out, "{name}=");
        free(value, self.out);
    }

    /// One of the words that an enumeration has, by its number.
    fn word(&mut self, name: &'static str, words: &[&str], value: i32) -> Result<()> {
        let word = usize::try_from(value).ok().and_then(|place| words.get(place)).filter(|word| !word.is_empty());
        let kind = HloProtoErrorKind::UnknownValue { field: name, value: value.into() };
        self.add(name, word.ok_or_else(|| HloProtoError::new(kind))?);
        Ok(())
    }
}

fn free(value: &[u8], out: &mut String) {
    match core::str::from_utf8(value) {
        Ok(text) if is_free_braces(text) => out.push_str(text),
        _ => {
            out.push('"');
            escaped(value, out);
            out.push('"');
        }
    }
}

/// What is special to the opcode and stands before the computations that it calls.
pub(crate) fn special(
    instruction: &HloInstructionProto,
    operand: Option<ElementType>,
    to: &mut Attributes<'_>,
) -> Result<()> {
    let opcode = instruction.opcode.as_str();
    match opcode {
        "broadcast" | "concatenate" | "get-dimension-size" | "map" | "reduce" | "reverse" | "set-dimension-size"
        | "transpose" => to.numbers("dimensions", &instruction.dimensions),
        "sort" => {
            to.numbers("dimensions", &instruction.dimensions);
            to.flag("is_stable", instruction.is_stable);
        }
        "reshape" => match instruction.dimensions.as_slice() {
            [dimension] if *dimension >= 0 => to.add("inferred_dimension", dimension),
            _ => {}
        },
        "iota" => to.add("iota_dimension", instruction.dimensions.first().copied().unwrap_or(0)),
        "topk" => {
            to.add("k", instruction.k);
            to.add("largest", instruction.largest);
            to.add("is_stable", instruction.is_stable);
        }
        "batch-norm-training" | "batch-norm-inference" | "batch-norm-grad" => {
            to.add("epsilon", general(instruction.epsilon.into(), 6));
            to.add("feature_index", instruction.feature_index);
        }
        "fft" => {
            to.word("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"], instruction.fft_type)?;
            to.numbers("fft_length", &instruction.fft_length);
        }
        "compare" => {
            to.add("direction", name(&instruction.comparison_direction)?);
            let is_total = instruction.comparison_order == "TOTAL" || instruction.comparison_type == "TOTALORDER";
            // Integers have no other order.
            let is_float = operand.is_none_or(|found| found.is_floating());
            if is_total && is_float {
                to.add("order", "TOTAL");
            }
        }
        "triangular-solve" => {
            let options = instruction.triangular_solve_options.clone().unwrap_or_default();
            to.flag("left_side", options.left_side);
            to.flag("lower", options.lower);
            to.flag("unit_diagonal", options.unit_diagonal);
            if options.transpose_a != 0 {
                to.word("transpose_a", &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"], options.transpose_a)?;
            }
        }
        "cholesky" => to.flag("lower", instruction.cholesky_options.as_ref().is_some_and(|options| options.lower)),
        "send" | "recv" | "send-done" | "recv-done" => {
            channel(instruction, to);
            to.flag("is_host_transfer", instruction.is_host_transfer);
        }
        "all-gather"
        | "all-gather-start"
        | "all-reduce"
        | "all-reduce-start"
        | "reduce-scatter"
        | "all-to-all"
        | "ragged-all-to-all"
        | "collective-broadcast"
        | "collective-reduce" => collective(instruction, to)?,
        "collective-permute" | "collective-permute-start" => {
            channel(instruction, to);
            to.out.push_str(", source_target_pairs={");
            for (i, pair) in instruction.source_target_pairs.iter().enumerate() {
                let _ = write!(to.out, "{}{{{},{}}}", if i > 0 { "," } else { "" }, pair.source, pair.target);
            }
            to.out.push('}');
            if !instruction.dynamic_slice_sizes.is_empty() {
                to.out.push_str(", slice_sizes={{");
                joined(&instruction.dynamic_slice_sizes, ",", to.out);
                to.out.push_str("}}");
            }
        }
        "dot" | "scaled-dot" => {
            if let Some(dimensions) = &instruction.dot_dimension_numbers {
                dot(dimensions, to);
            }
            precision(instruction, to)?;
        }
        "ragged-dot" => {
            if let Some(dimensions) = &instruction.ragged_dot_dimension_numbers {
                if let Some(dimensions) = &dimensions.dot_dimension_numbers {
                    dot(dimensions, to);
                }
                to.numbers("lhs_ragged_dims", &dimensions.lhs_ragged_dimensions);
                to.some_numbers("rhs_group_dims", &dimensions.rhs_group_dimensions);
            }
            precision(instruction, to)?;
        }
        "reduce-window" | "select-and-scatter" => window(instruction.window.as_deref(), to),
        "convolution" => {
            convolution(instruction, to);
            if instruction.conv_kind != 0 {
                to.word("convolution_kind", &["", "fprop", "dgrad", "wgrad"], instruction.conv_kind)?;
            }
            precision(instruction, to)?;
        }
        "custom-call" => custom_call(instruction, to)?,
        "slice" => {
            to.out.push_str(", slice={");
            let has_strides = instruction.slice_dimensions.iter().any(|slice| slice.stride != 1);
            for (i, slice) in instruction.slice_dimensions.iter().enumerate() {
                let _ = write!(to.out, "{}[{}:{}", if i > 0 { ", " } else { "" }, slice.start, slice.limit);
                if has_strides {
                    let _ = write!(to.out, ":{}", slice.stride);
                }
                to.out.push(']');
            }
            to.out.push('}');
        }
        "dynamic-slice" => to.numbers("dynamic_slice_sizes", &instruction.dynamic_slice_sizes),
        "pad" => {
            to.out.push_str(", padding=");
            let padding = instruction.padding_config.as_ref().map_or(&[][..], |padding| padding.dimensions.as_slice());
            let has_interior = padding.iter().any(|dimension| dimension.interior_padding != 0);
            for (i, dimension) in padding.iter().enumerate() {
                let (low, high) = (dimension.edge_padding_low, dimension.edge_padding_high);
                let _ = write!(to.out, "{}{low}_{high}", if i > 0 { "x" } else { "" });
                if has_interior {
                    let _ = write!(to.out, "_{}", dimension.interior_padding);
                }
            }
        }
        "gather" => {
            let numbers = instruction.gather_dimension_numbers.clone().unwrap_or_default();
            to.numbers("offset_dims", &numbers.offset_dims);
            to.numbers("collapsed_slice_dims", &numbers.collapsed_slice_dims);
            to.numbers("start_index_map", &numbers.start_index_map);
            to.some_numbers("operand_batching_dims", &numbers.operand_batching_dims);
            to.some_numbers("start_indices_batching_dims", &numbers.start_indices_batching_dims);
            to.add("index_vector_dim", numbers.index_vector_dim);
            to.numbers("slice_sizes", &instruction.gather_slice_sizes);
            to.flag("indices_are_sorted", instruction.indices_are_sorted);
        }
        "scatter" => {
            let numbers = instruction.scatter_dimension_numbers.clone().unwrap_or_default();
            to.numbers("update_window_dims", &numbers.update_window_dims);
            to.numbers("inserted_window_dims", &numbers.inserted_window_dims);
            to.numbers("scatter_dims_to_operand_dims", &numbers.scatter_dims_to_operand_dims);
            to.some_numbers("input_batching_dims", &numbers.input_batching_dims);
            to.some_numbers("scatter_indices_batching_dims", &numbers.scatter_indices_batching_dims);
            to.add("index_vector_dim", numbers.index_vector_dim);
            to.flag("indices_are_sorted", instruction.indices_are_sorted);
            to.flag("unique_indices", instruction.unique_indices);
        }
        "get-tuple-element" => to.add("index", instruction.tuple_index),
        "copy-start" => {
            if let Some(index) = instruction.cross_program_prefetch_index {
                to.add("cross_program_prefetch_index", index);
            }
        }
        "fusion" => {
            to.add("kind", name(&instruction.fusion_kind)?);
            aliasing(instruction, to);
        }
        "async-start" | "async-update" | "async-done" => aliasing(instruction, to),
        "infeed" if !instruction.infeed_config.is_empty() => to.string("infeed_config", &instruction.infeed_config),
        "outfeed" => {
            if let Some(shape) = instruction.outfeed_shape.as_deref() {
                to.add("outfeed_shape", Shape::try_from(shape)?);
            }
            if !instruction.outfeed_config.is_empty() {
                to.string("outfeed_config", &instruction.outfeed_config);
            }
        }
        "rng" => to.word("distribution", &["", "rng_uniform", "rng_normal"], instruction.distribution)?,
        "rng-bit-generator" => {
            to.word("algorithm", &["rng_default", "rng_three_fry", "rng_philox"], instruction.rng_algorithm)?;
        }
        "rng-get-and-update-state" => to.add("delta", instruction.delta),
        "reduce-precision" => {
            to.add("exponent_bits", instruction.exponent_bits);
            to.add("mantissa_bits", instruction.mantissa_bits);
        }
        "scan" => {
            to.numbers("dimensions", &instruction.dimensions);
            to.add("num_carries", instruction.num_carries);
            to.flag("is_reverse", instruction.is_reverse);
            if instruction.is_associative != 0 {
                to.word("is_associative", &["", "true", "false"], instruction.is_associative)?;
            }
        }
        "shuffle" => {
            to.numbers("dimensions", &instruction.dimensions);
            if let Some(rotate) = instruction.shuffle_mode.as_ref().and_then(|mode| mode.rotate.as_ref()) {
                to.add("mode", "rotate");
                to.numbers("shifts", &rotate.shifts);
            }
        }
        "domain" => {
            to.out.push_str(", domain={kind=\"sharding\", entry=");
            // The message and the text have them the other way round.
            sharding(&instruction.domain_exit_sharding.clone().unwrap_or_default(), to.out)?;
            to.out.push_str(", exit=");
            sharding(&instruction.domain_entry_sharding.clone().unwrap_or_default(), to.out)?;
            to.out.push('}');
        }
        "parameter" => {
            if let Some(replication) = &instruction.parameter_replication {
                to.out.push_str(", parameter_replication={");
                for (i, is_replicated) in replication.replicated_at_leaf_buffers.iter().enumerate() {
                    let _ = write!(to.out, "{}{is_replicated}", if i > 0 { "," } else { "" });
                }
                to.out.push('}');
            }
        }
        _ => {}
    }
    if let Some(accuracy) = &instruction.result_accuracy {
        if let Some(tolerance) = &accuracy.tolerance {
            let (atol, rtol) = (general(tolerance.atol, 6), general(tolerance.rtol, 6));
            let _ =
                write!(to.out, ", result_accuracy={{tolerance={{atol={atol},rtol={rtol},ulps={}}}}}", tolerance.ulps);
        } else if accuracy.mode == Some(1) {
            to.add("result_accuracy", "{mode=highest}");
        }
    }
    Ok(())
}

fn channel(instruction: &HloInstructionProto, to: &mut Attributes<'_>) {
    if instruction.channel_id > 0 {
        to.add("channel_id", instruction.channel_id);
    }
}

fn collective(instruction: &HloInstructionProto, to: &mut Attributes<'_>) -> Result<()> {
    channel(instruction, to);
    to.out.push_str(", replica_groups=");
    replica_groups(instruction, to.out)?;
    to.flag("constrain_layout", instruction.constrain_layout);
    match instruction.opcode.as_str() {
        "all-gather" | "all-gather-start" => {
            to.numbers("dimensions", &instruction.dimensions);
            to.flag("use_global_device_ids", instruction.use_global_device_ids);
        }
        "reduce-scatter" => {
            to.flag("use_global_device_ids", instruction.use_global_device_ids);
            to.numbers("dimensions", &instruction.dimensions);
        }
        "all-to-all" => to.some_numbers("dimensions", &instruction.dimensions),
        "collective-broadcast" => to.add("has_dynamic_root", instruction.has_dynamic_root),
        "collective-reduce" => {
            to.flag("use_global_device_ids", instruction.use_global_device_ids);
            to.add("has_dynamic_root", instruction.has_dynamic_root);
        }
        _ => to.flag("use_global_device_ids", instruction.use_global_device_ids),
    }
    Ok(())
}

fn dot(dimensions: &DotDimensionNumbers, to: &mut Attributes<'_>) {
    to.some_numbers("lhs_batch_dims", &dimensions.lhs_batch_dimensions);
    to.numbers("lhs_contracting_dims", &dimensions.lhs_contracting_dimensions);
    to.some_numbers("rhs_batch_dims", &dimensions.rhs_batch_dimensions);
    to.numbers("rhs_contracting_dims", &dimensions.rhs_contracting_dimensions);
}

/// The names of precisions and algorithms, by their numbers.
pub(crate) const PRECISIONS: [&str; 3] = ["default", "high", "highest"];
pub(crate) const ALGORITHMS: [&str; 16] = [
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
    "dot_bf16_bf16_fp8x3",
    "dot_bf16_bf16_fp8x4",
];

fn precision(instruction: &HloInstructionProto, to: &mut Attributes<'_>) -> Result<()> {
    let Some(config) = &instruction.precision_config else { return Ok(()) };
    if config.operand_precision.iter().any(|precision| *precision != 0) {
        to.out.push_str(", operand_precision={");
        for (i, &precision) in config.operand_precision.iter().enumerate() {
            let word = usize::try_from(precision).ok().and_then(|place| PRECISIONS.get(place));
            let kind = HloProtoErrorKind::UnknownValue { field: "operand_precision", value: precision.into() };
            let word = word.ok_or_else(|| HloProtoError::new(kind))?;
            let _ = write!(to.out, "{}{word}", if i > 0 { "," } else { "" });
        }
        to.out.push('}');
    }
    if config.algorithm != 0 {
        to.word("algorithm", &ALGORITHMS, config.algorithm)?;
    }
    Ok(())
}

fn window(window: Option<&WindowProto>, to: &mut Attributes<'_>) {
    let dimensions = window.map_or(&[][..], |window| window.dimensions.as_slice());
    if dimensions.is_empty() {
        return;
    }
    to.out.push_str(", window={size=");
    let mut part = |name: &str, value: &dyn Fn(usize) -> String| {
        to.out.push_str(name);
        for i in 0..dimensions.len() {
            to.out.push_str(if i > 0 { "x" } else { "" });
            to.out.push_str(&value(i));
        }
    };
    use alloc::string::ToString;
    let numbers = |of: fn(&super::message::WindowDimensionProto) -> i64| {
        move |i: usize| dimensions.get(i).map_or(0, of).to_string()
    };
    part("", &numbers(|dimension| dimension.size));
    if dimensions.iter().any(|dimension| dimension.stride != 1) {
        part(" stride=", &numbers(|dimension| dimension.stride));
    }
    if dimensions.iter().any(|dimension| dimension.padding_low != 0 || dimension.padding_high != 0) {
        part(" pad=", &|i: usize| {
            dimensions.get(i).map_or(String::new(), |dimension| {
                alloc::format!("{}_{}", dimension.padding_low, dimension.padding_high)
            })
        });
    }
    if dimensions.iter().any(|dimension| dimension.base_dilation != 1) {
        part(" lhs_dilate=", &numbers(|dimension| dimension.base_dilation));
    }
    if dimensions.iter().any(|dimension| dimension.window_dilation != 1) {
        part(" rhs_dilate=", &numbers(|dimension| dimension.window_dilation));
    }
    if dimensions.iter().any(|dimension| dimension.window_reversal) {
        part(" rhs_reversal=", &numbers(|dimension| i64::from(dimension.window_reversal)));
    }
    to.out.push('}');
}

fn convolution(instruction: &HloInstructionProto, to: &mut Attributes<'_>) {
    window(instruction.window.as_deref(), to);
    if let Some(numbers) = &instruction.convolution_dimension_numbers {
        to.add("dim_labels", labels(numbers));
    }
    if instruction.feature_group_count > 1 {
        to.add("feature_group_count", instruction.feature_group_count);
    }
    if instruction.batch_group_count > 1 {
        to.add("batch_group_count", instruction.batch_group_count);
    }
}

/// `b01f_01io->b01f`; a dimension without a meaning is a `?`.
fn labels(numbers: &ConvolutionDimensionNumbers) -> String {
    let of = |first: (u8, i64), second: (u8, i64), spatial: &[i64]| {
        // A dimension that is far too high stands for nothing.
        let rank = spatial.len().saturating_add(2);
        let spatial = spatial.iter().zip(b'0'..=b'9').map(|(dimension, label)| (label, *dimension));
        let all: Vec<_> = [first, second].into_iter().chain(spatial).collect();
        let highest = all.iter().map(|(_, dimension)| usize::try_from(*dimension).unwrap_or(0)).max().unwrap_or(0);
        let mut labels = alloc::vec![b'?'; rank.max(highest.saturating_add(1).min(rank.saturating_add(8)))];
        for (label, dimension) in all {
            if let Some(place) = usize::try_from(dimension).ok().and_then(|dimension| labels.get_mut(dimension)) {
                *place = label;
            }
        }
        String::from_utf8(labels).unwrap_or_default()
    };
    let input = of(
        (b'b', numbers.input_batch_dimension),
        (b'f', numbers.input_feature_dimension),
        &numbers.input_spatial_dimensions,
    );
    let kernel = of(
        (b'i', numbers.kernel_input_feature_dimension),
        (b'o', numbers.kernel_output_feature_dimension),
        &numbers.kernel_spatial_dimensions,
    );
    let output = of(
        (b'b', numbers.output_batch_dimension),
        (b'f', numbers.output_feature_dimension),
        &numbers.output_spatial_dimensions,
    );
    alloc::format!("{input}_{kernel}->{output}")
}

fn aliasing(instruction: &HloInstructionProto, to: &mut Attributes<'_>) {
    if instruction.output_operand_aliasing.is_empty() {
        return;
    }
    to.out.push_str(", output_to_operand_aliasing={");
    for (i, alias) in instruction.output_operand_aliasing.iter().enumerate() {
        to.out.push_str(if i > 0 { ", {" } else { "{" });
        joined(&alias.output_shape_index, ",", to.out);
        let _ = write!(to.out, "}}: ({}, {{", alias.operand_index);
        joined(&alias.operand_shape_index, ",", to.out);
        to.out.push_str("})");
    }
    to.out.push('}');
}

fn custom_call(instruction: &HloInstructionProto, to: &mut Attributes<'_>) -> Result<()> {
    convolution(instruction, to);
    precision(instruction, to)?;
    if instruction.padding_type != 0 {
        to.word("padding_type", &["", "PADDING_VALID", "PADDING_SAME"], instruction.padding_type)?;
    }
    to.string("custom_call_target", instruction.custom_call_target.as_bytes());
    if instruction.constrain_layout {
        to.out.push_str(", operand_layout_constraints={");
        for (i, shape) in instruction.operand_shapes_with_layout.iter().enumerate() {
            let _ = write!(to.out, "{}{}", if i > 0 { ", " } else { "" }, Shape::try_from(shape)?);
        }
        to.out.push('}');
    }
    to.flag("custom_call_has_side_effect", instruction.custom_call_has_side_effect);
    if let Some(literal) = &instruction.literal {
        to.out.push_str(", literal=");
        constant::literal(literal, 0, to.out)?;
    }
    aliasing(instruction, to);
    if instruction.custom_call_schedule != 0 {
        to.word("schedule", &["", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"], instruction.custom_call_schedule)?;
    }
    // The original version is the one that is not printed.
    if instruction.custom_call_api_version > 1 {
        let versions =
            ["", "", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"];
        to.word("api_version", &versions, instruction.custom_call_api_version)?;
    }
    Ok(())
}

/// What any instruction may have, behind the computations that it calls.
pub(crate) fn common(instruction: &HloInstructionProto, predecessors: &[&str], to: &mut Attributes<'_>) -> Result<()> {
    placed(instruction, to)?;
    if !predecessors.is_empty() {
        to.out.push_str(", control-predecessors={");
        for (i, name) in predecessors.iter().enumerate() {
            let _ = write!(to.out, "{}%{name}", if i > 0 { ", " } else { "" });
        }
        to.out.push('}');
    }
    if let Some(statistics) = instruction.statistics_viz.as_ref().filter(|found| !found.statistics.is_empty()) {
        let _ = write!(to.out, ", statistics={{visualizing_index={}", statistics.stat_index_to_visualize);
        for statistic in &statistics.statistics {
            let _ = write!(to.out, ",{}={}", name(&statistic.stat_name)?, general(statistic.stat_val, 6));
        }
        to.out.push('}');
    }
    if let Some(value) = instruction.original_value.as_deref() {
        origin(value, to)?;
    }
    if let Some(of_instruction) = &instruction.metadata {
        let start = to.out.len();
        to.out.push_str(", metadata={");
        let empty = to.out.len();
        metadata(of_instruction, to.out);
        if to.out.len() == empty {
            to.out.truncate(start);
        } else {
            to.out.push('}');
        }
    }
    if !instruction.backend_config.is_empty() {
        to.free(", backend_config", &instruction.backend_config);
    }
    Ok(())
}

/// How a value lies on devices, and what the program's source says of it.
pub(crate) fn placed(instruction: &HloInstructionProto, to: &mut Attributes<'_>) -> Result<()> {
    if let Some(of_value) = instruction.sharding.as_deref() {
        to.out.push_str(", sharding=");
        sharding(of_value, to.out)?;
    }
    frontend_attributes(instruction.frontend_attributes.as_ref(), to)
}

/// Attributes that a program's source gave, sorted by name.
pub(crate) fn frontend_attributes(attributes: Option<&FrontendAttributes>, to: &mut Attributes<'_>) -> Result<()> {
    let mut entries: Vec<_> = attributes.map_or(&[][..], |attributes| attributes.map.as_slice()).iter().collect();
    if entries.is_empty() {
        return Ok(());
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    to.out.push_str(", frontend_attributes={");
    for (i, entry) in entries.into_iter().enumerate() {
        to.out.push_str(if i > 0 { "," } else { "" });
        to.free(name(&entry.key)?, entry.value.as_bytes());
    }
    to.out.push('}');
    Ok(())
}

/// What stands in the braces of `metadata`.
pub(crate) fn metadata(metadata: &OpMetadata, out: &mut String) {
    let start = out.len();
    let separator = |out: &mut String| {
        if out.len() > start {
            out.push(' ');
        }
    };
    let string = |out: &mut String, name: &str, value: &str| {
        if !value.is_empty() {
            separator(out);
            let _ = write!(out, "{name}=\"");
            escaped(value.as_bytes(), out);
            out.push('"');
        }
    };
    let number = |out: &mut String, name: &str, value: i32| {
        if value != 0 {
            separator(out);
            let _ = write!(out, "{name}={value}");
        }
    };
    string(out, "op_type", &metadata.op_type);
    string(out, "op_name", &metadata.op_name);
    string(out, "source_file", &metadata.source_file);
    number(out, "source_line", metadata.source_line);
    number(out, "source_end_line", metadata.source_end_line);
    number(out, "source_column", metadata.source_column);
    number(out, "source_end_column", metadata.source_end_column);
    if !metadata.profile_type.is_empty() {
        separator(out);
        out.push_str("profile_type={");
        for (i, kind) in metadata.profile_type.iter().enumerate() {
            let _ = write!(out, "{}{kind}", if i > 0 { "," } else { "" });
        }
        out.push('}');
    }
    string(out, "deduplicated_name", &metadata.deduplicated_name);
    string(out, "scheduling_name", &metadata.scheduling_name);
    number(out, "stack_frame_id", metadata.stack_frame_id);
    if let Some(value) = metadata.metadata_payload.as_ref().and_then(|payload| payload.value.as_ref()) {
        separator(out);
        out.push_str("metadata_payload=\"");
        escaped(value, out);
        out.push('"');
    }
}

/// Which values of the program's source these are.
fn origin(value: &OriginalValueProto, to: &mut Attributes<'_>) -> Result<()> {
    to.out.push_str(", origin={");
    tree(&value.elements, 0, to.out)?;
    if value.is_synthetic_call || value.call_hierarchy.is_some() {
        to.out.push_str(",[\"");
        escaped(value.call_hierarchy.as_deref().unwrap_or("").as_bytes(), to.out);
        to.out.push_str("\"]");
    }
    to.out.push('}');
    Ok(())
}

/// Elements in the order of their indices, of which `depth` entries are the same for all.
fn tree(elements: &[OriginalValueElementProto], depth: usize, out: &mut String) -> Result<()> {
    if depth > xla_shape_core::text::MAX_NESTING {
        return Err(HloProtoError::new(HloProtoErrorKind::TooDeep));
    }
    if let [element] = elements
        && element.shape_index.len() <= depth
    {
        out.push('{');
        if let Some(array) = element.original_array.as_ref().filter(|array| !array.instruction_name.is_empty()) {
            original_array(array, out);
        }
        out.push('}');
        return Ok(());
    }
    out.push('(');
    let index = |element: &OriginalValueElementProto| element.shape_index.get(depth).copied();
    for (i, group) in elements.chunk_by(|a, b| index(a) == index(b)).enumerate() {
        out.push_str(if i > 0 { ", " } else { "" });
        tree(group, depth.saturating_add(1), out)?;
    }
    out.push(')');
    Ok(())
}

/// `"name" {0,1}`.
pub(crate) fn original_array(array: &OriginalArrayProto, out: &mut String) {
    out.push('"');
    escaped(array.instruction_name.as_bytes(), out);
    out.push('"');
    if !array.shape_index.is_empty() {
        out.push_str(" {");
        joined(&array.shape_index, ",", out);
        out.push('}');
    }
}
