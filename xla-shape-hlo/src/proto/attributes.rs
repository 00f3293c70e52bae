//! The attributes of an instruction, in the order in which XLA prints them.

use super::constant;
use super::error::{HloProtoError, HloProtoErrorKind};
use super::float::general;
use super::message::{
    CholeskyOptions, ConvolutionDimensionNumbers, DotDimensionNumbers, FrontendAttributes, GatherDimensionNumbers,
    HloInstructionProtoSliceDimensions, OriginalArrayProto, OriginalValueElementProto, OriginalValueProto,
    OutputOperandAliasing, PaddingConfig, ParameterReplication, PrecisionConfig, RaggedDotDimensionNumbers,
    ResultAccuracy, ScatterDimensionNumbers, ShuffleMode, SourceTarget, StatisticsViz, TriangularSolveOptions,
    WindowProto, instruction_field as field, metadata_field, payload_field,
};
use super::sharding::{replica_groups, sharding};
use super::wire::Record;
use super::words::{decimal, joined, name};
use crate::module::{AttributeRecord, Items, Piece, number};
use crate::names::{NameTable, hash};
use crate::opcode::Opcode;
use crate::text::is_free_braces;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};
use prost::Message;
use xla_shape_core::ElementType;
use xla_shape_core::proto::{OpShardingProto, decode_shape};
use xla_shape_core::text::escaped;

type Result<T> = core::result::Result<T, HloProtoError>;

/// The attributes of one instruction, of a computation or of a module, as they are printed and noted.
pub(crate) struct Attributes<'o> {
    pub(crate) out: &'o mut String,
    list: &'o mut Vec<AttributeRecord>,
    first: usize,
}

impl<'o> Attributes<'o> {
    pub(crate) fn new(out: &'o mut String, list: &'o mut Vec<AttributeRecord>) -> Self {
        let first = list.len();
        Self { out, list, first }
    }

    /// Begins an attribute; what is printed from now on is its value.
    pub(crate) fn open(&mut self, name: &str) {
        self.close();
        self.out.push_str(", ");
        let start = self.out.len();
        self.out.push_str(name);
        let key = Piece::new(start, self.out.len());
        self.out.push('=');
        self.list.push(AttributeRecord { key, value: Piece::new(self.out.len(), self.out.len()) });
    }

    /// Ends the attribute that was begun last.
    pub(crate) fn close(&mut self) {
        if self.list.len() > self.first
            && let Some(last) = self.list.last_mut()
            && last.value.len == 0
        {
            last.value = Piece::new(last.value.start as usize, self.out.len());
        }
    }

    /// Takes back the attribute that was begun last.
    fn undo(&mut self) {
        if let Some(last) = self.list.pop() {
            self.out.truncate((last.key.start as usize).saturating_sub(", ".len()));
        }
    }

    /// Ends the last attribute: all of them.
    pub(crate) fn end(mut self) -> Items {
        self.close();
        Items::new(self.first, self.list.len())
    }

    // Writing to memory does not fail.
    pub(crate) fn add(&mut self, name: &str, value: impl fmt::Display) {
        self.open(name);
        let _ = write!(self.out, "{value}");
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.open(name);
        self.out.push_str(value);
    }

    fn number(&mut self, name: &str, value: i64) {
        self.open(name);
        decimal(value, self.out);
    }

    /// A value that was written before.
    fn again(&mut self, name: &str, value: Piece) {
        self.open(name);
        let start = value.start as usize;
        self.out.extend_from_within(start..start.saturating_add(value.len as usize));
    }

    /// What the attribute that was begun last says so far.
    fn written(&self) -> Piece {
        let start = self.list.last().map_or(0, |last| last.value.start as usize);
        Piece::new(start, self.out.len())
    }

    /// The numbers in a field.
    fn list(&mut self, name: &str, instruction: &Record<'_>, field: u32) -> Result<()> {
        self.open(name);
        self.out.push('{');
        for (i, number) in instruction.numbers(field).enumerate() {
            self.out.push_str(if i > 0 { "," } else { "" });
            decimal(number?, self.out);
        }
        self.out.push('}');
        Ok(())
    }

    fn numbers(&mut self, name: &str, numbers: &[i64]) {
        self.open(name);
        self.out.push('{');
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
            self.text(name, "true");
        }
    }

    fn string(&mut self, name: &str, value: &[u8]) {
        self.open(name);
        self.out.push('"');
        escaped(value, self.out);
        self.out.push('"');
    }

    fn some_string(&mut self, name: &str, value: Option<&[u8]>) {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            self.string(name, value);
        }
    }

    /// Text that XLA only hands on: braces as they are, all else as a string.
    pub(crate) fn free(&mut self, name: &str, value: &[u8]) {
        self.open(name);
        free(value, self.out);
    }

    /// One of the words that an enumeration has, by its number.
    fn word(&mut self, name: &'static str, words: &[&str], value: i32) -> Result<()> {
        let word = usize::try_from(value).ok().and_then(|place| words.get(place)).filter(|word| !word.is_empty());
        let kind = HloProtoErrorKind::UnknownValue { field: name, value: value.into() };
        self.text(name, word.ok_or_else(|| HloProtoError::new(kind))?);
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
    opcode: Opcode<'_>,
    instruction: &Record<'_>,
    operand: Option<ElementType>,
    to: &mut Attributes<'_>,
) -> Result<()> {
    match opcode {
        Opcode::Broadcast
        | Opcode::Concatenate
        | Opcode::GetDimensionSize
        | Opcode::Map
        | Opcode::Reduce
        | Opcode::Reverse
        | Opcode::SetDimensionSize
        | Opcode::Transpose => to.list("dimensions", instruction, field::dimensions)?,
        Opcode::Sort => {
            to.list("dimensions", instruction, field::dimensions)?;
            to.flag("is_stable", instruction.flag(field::is_stable));
        }
        Opcode::Reshape => match instruction.list(field::dimensions)?.as_slice() {
            [dimension] if *dimension >= 0 => to.add("inferred_dimension", dimension),
            _ => {}
        },
        Opcode::Iota => {
            to.number("iota_dimension", instruction.numbers(field::dimensions).next().transpose()?.unwrap_or(0))
        }
        Opcode::Topk => {
            to.number("k", instruction.number(field::k));
            to.add("largest", instruction.flag(field::largest));
            to.add("is_stable", instruction.flag(field::is_stable));
        }
        Opcode::BatchNormTraining | Opcode::BatchNormInference | Opcode::BatchNormGrad => {
            to.add("epsilon", general(instruction.float(field::epsilon).into(), 6));
            to.number("feature_index", instruction.number(field::feature_index));
        }
        Opcode::Fft => {
            to.word("fft_type", &["FFT", "IFFT", "RFFT", "IRFFT"], instruction.short(field::fft_type))?;
            to.list("fft_length", instruction, field::fft_length)?;
        }
        Opcode::Compare => {
            to.text("direction", name(instruction.text(field::comparison_direction)?)?);
            let is_total = instruction.text(field::comparison_order)? == "TOTAL"
                || instruction.text(field::comparison_type)? == "TOTALORDER";
            // Integers have no other order.
            let is_float = operand.is_none_or(|found| found.is_floating());
            if is_total && is_float {
                to.add("order", "TOTAL");
            }
        }
        Opcode::TriangularSolve => {
            let options =
                instruction.message::<TriangularSolveOptions>(field::triangular_solve_options)?.unwrap_or_default();
            to.flag("left_side", options.left_side);
            to.flag("lower", options.lower);
            to.flag("unit_diagonal", options.unit_diagonal);
            if options.transpose_a != 0 {
                to.word("transpose_a", &["", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"], options.transpose_a)?;
            }
        }
        Opcode::Cholesky => to.flag("lower", {
            instruction.message::<CholeskyOptions>(field::cholesky_options)?.is_some_and(|options| options.lower)
        }),
        Opcode::Send | Opcode::Recv | Opcode::SendDone | Opcode::RecvDone => {
            channel(instruction, to);
            to.flag("is_host_transfer", instruction.flag(field::is_host_transfer));
        }
        Opcode::AllGather
        | Opcode::AllGatherStart
        | Opcode::AllReduce
        | Opcode::AllReduceStart
        | Opcode::ReduceScatter
        | Opcode::AllToAll
        | Opcode::RaggedAllToAll
        | Opcode::CollectiveBroadcast
        | Opcode::CollectiveReduce => collective(opcode, instruction, to)?,
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => {
            channel(instruction, to);
            to.open("source_target_pairs");
            to.out.push('{');
            for (i, pair) in instruction.messages::<SourceTarget>(field::source_target_pairs)?.iter().enumerate() {
                let _ = write!(to.out, "{}{{{},{}}}", if i > 0 { "," } else { "" }, pair.source, pair.target);
            }
            to.out.push('}');
            let sizes = instruction.list(field::dynamic_slice_sizes)?;
            if !sizes.is_empty() {
                to.open("slice_sizes");
                to.out.push_str("{{");
                joined(&sizes, ",", to.out);
                to.out.push_str("}}");
            }
        }
        Opcode::Dot | Opcode::ScaledDot => {
            if let Some(dimensions) = instruction.message(field::dot_dimension_numbers)? {
                dot(&dimensions, to);
            }
            precision(instruction, to)?;
        }
        Opcode::RaggedDot => {
            if let Some(dimensions) =
                instruction.message::<RaggedDotDimensionNumbers>(field::ragged_dot_dimension_numbers)?
            {
                if let Some(dimensions) = &dimensions.dot_dimension_numbers {
                    dot(dimensions, to);
                }
                to.numbers("lhs_ragged_dims", &dimensions.lhs_ragged_dimensions);
                to.some_numbers("rhs_group_dims", &dimensions.rhs_group_dimensions);
            }
            precision(instruction, to)?;
        }
        Opcode::ReduceWindow | Opcode::SelectAndScatter => window(instruction, to)?,
        Opcode::Convolution => {
            convolution(instruction, to)?;
            if instruction.short(field::conv_kind) != 0 {
                to.word("convolution_kind", &["", "fprop", "dgrad", "wgrad"], instruction.short(field::conv_kind))?;
            }
            precision(instruction, to)?;
        }
        Opcode::CustomCall => custom_call(instruction, to)?,
        Opcode::Slice => {
            to.open("slice");
            to.out.push('{');
            let slices: Vec<HloInstructionProtoSliceDimensions> = instruction.messages(field::slice_dimensions)?;
            let has_strides = slices.iter().any(|slice| slice.stride != 1);
            for (i, slice) in slices.iter().enumerate() {
                to.out.push_str(if i > 0 { ", [" } else { "[" });
                joined(&[slice.start, slice.limit], ":", to.out);
                if has_strides {
                    to.out.push(':');
                    decimal(slice.stride, to.out);
                }
                to.out.push(']');
            }
            to.out.push('}');
        }
        Opcode::DynamicSlice => to.list("dynamic_slice_sizes", instruction, field::dynamic_slice_sizes)?,
        Opcode::Pad => {
            to.open("padding");
            let padding: Option<PaddingConfig> = instruction.message(field::padding_config)?;
            let padding = padding.map_or(Vec::new(), |padding| padding.dimensions);
            let has_interior = padding.iter().any(|dimension| dimension.interior_padding != 0);
            for (i, dimension) in padding.iter().enumerate() {
                let (low, high) = (dimension.edge_padding_low, dimension.edge_padding_high);
                let _ = write!(to.out, "{}{low}_{high}", if i > 0 { "x" } else { "" });
                if has_interior {
                    let _ = write!(to.out, "_{}", dimension.interior_padding);
                }
            }
        }
        Opcode::Gather => {
            let numbers =
                instruction.message::<GatherDimensionNumbers>(field::gather_dimension_numbers)?.unwrap_or_default();
            to.numbers("offset_dims", &numbers.offset_dims);
            to.numbers("collapsed_slice_dims", &numbers.collapsed_slice_dims);
            to.numbers("start_index_map", &numbers.start_index_map);
            to.some_numbers("operand_batching_dims", &numbers.operand_batching_dims);
            to.some_numbers("start_indices_batching_dims", &numbers.start_indices_batching_dims);
            to.number("index_vector_dim", numbers.index_vector_dim);
            to.list("slice_sizes", instruction, field::gather_slice_sizes)?;
            to.flag("indices_are_sorted", instruction.flag(field::indices_are_sorted));
        }
        Opcode::Scatter => {
            let numbers =
                instruction.message::<ScatterDimensionNumbers>(field::scatter_dimension_numbers)?.unwrap_or_default();
            to.numbers("update_window_dims", &numbers.update_window_dims);
            to.numbers("inserted_window_dims", &numbers.inserted_window_dims);
            to.numbers("scatter_dims_to_operand_dims", &numbers.scatter_dims_to_operand_dims);
            to.some_numbers("input_batching_dims", &numbers.input_batching_dims);
            to.some_numbers("scatter_indices_batching_dims", &numbers.scatter_indices_batching_dims);
            to.number("index_vector_dim", numbers.index_vector_dim);
            to.flag("indices_are_sorted", instruction.flag(field::indices_are_sorted));
            to.flag("unique_indices", instruction.flag(field::unique_indices));
        }
        Opcode::GetTupleElement => to.number("index", instruction.number(field::tuple_index)),
        Opcode::CopyStart => {
            if let Some(index) = instruction.optional_number(field::cross_program_prefetch_index) {
                to.add("cross_program_prefetch_index", index);
            }
        }
        Opcode::Fusion => {
            to.text("kind", name(instruction.text(field::fusion_kind)?)?);
            aliasing(instruction, to)?;
        }
        Opcode::AsyncStart | Opcode::AsyncUpdate | Opcode::AsyncDone => aliasing(instruction, to)?,
        Opcode::Infeed => to.some_string("infeed_config", instruction.bytes(field::infeed_config)),
        Opcode::Outfeed => {
            if let Some(shape) = instruction.bytes(field::outfeed_shape) {
                to.add("outfeed_shape", decode_shape(shape)?);
            }
            to.some_string("outfeed_config", instruction.bytes(field::outfeed_config));
        }
        Opcode::Rng => {
            to.word("distribution", &["", "rng_uniform", "rng_normal"], instruction.short(field::distribution))?
        }
        Opcode::RngBitGenerator => {
            to.word(
                "algorithm",
                &["rng_default", "rng_three_fry", "rng_philox"],
                instruction.short(field::rng_algorithm),
            )?;
        }
        Opcode::RngGetAndUpdateState => to.number("delta", instruction.number(field::delta)),
        Opcode::ReducePrecision => {
            to.number("exponent_bits", instruction.number(field::exponent_bits));
            to.number("mantissa_bits", instruction.number(field::mantissa_bits));
        }
        Opcode::Scan => {
            to.list("dimensions", instruction, field::dimensions)?;
            to.number("num_carries", instruction.number(field::num_carries));
            to.flag("is_reverse", instruction.flag(field::is_reverse));
            if instruction.short(field::is_associative) != 0 {
                to.word("is_associative", &["", "true", "false"], instruction.short(field::is_associative))?;
            }
        }
        Opcode::Shuffle => {
            to.list("dimensions", instruction, field::dimensions)?;
            let mode: Option<ShuffleMode> = instruction.message(field::shuffle_mode)?;
            if let Some(rotate) = mode.and_then(|mode| mode.rotate) {
                to.add("mode", "rotate");
                to.numbers("shifts", &rotate.shifts);
            }
        }
        Opcode::Domain => {
            to.open("domain");
            to.out.push_str("{kind=\"sharding\", entry=");
            // The message and the text have them the other way round.
            sharding(
                &instruction.message::<OpShardingProto>(field::domain_exit_sharding)?.unwrap_or_default(),
                to.out,
            )?;
            to.out.push_str(", exit=");
            sharding(
                &instruction.message::<OpShardingProto>(field::domain_entry_sharding)?.unwrap_or_default(),
                to.out,
            )?;
            to.out.push('}');
        }
        Opcode::Parameter => {
            if let Some(replication) = instruction.message::<ParameterReplication>(field::parameter_replication)? {
                to.open("parameter_replication");
                to.out.push('{');
                for (i, is_replicated) in replication.replicated_at_leaf_buffers.iter().enumerate() {
                    let _ = write!(to.out, "{}{is_replicated}", if i > 0 { "," } else { "" });
                }
                to.out.push('}');
            }
        }
        _ => {}
    }
    if let Some(accuracy) = instruction.message::<ResultAccuracy>(field::result_accuracy)? {
        if let Some(tolerance) = &accuracy.tolerance {
            let (atol, rtol) = (general(tolerance.atol, 6), general(tolerance.rtol, 6));
            to.open("result_accuracy");
            let _ = write!(to.out, "{{tolerance={{atol={atol},rtol={rtol},ulps={}}}}}", tolerance.ulps);
        } else if accuracy.mode == Some(1) {
            to.add("result_accuracy", "{mode=highest}");
        }
    }
    Ok(())
}

fn channel(instruction: &Record<'_>, to: &mut Attributes<'_>) {
    if instruction.number(field::channel_id) > 0 {
        to.number("channel_id", instruction.number(field::channel_id));
    }
}

fn collective(opcode: Opcode<'_>, instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    channel(instruction, to);
    to.open("replica_groups");
    replica_groups(instruction, to.out)?;
    to.flag("constrain_layout", instruction.flag(field::constrain_layout));
    match opcode {
        Opcode::AllGather | Opcode::AllGatherStart => {
            to.list("dimensions", instruction, field::dimensions)?;
            to.flag("use_global_device_ids", instruction.flag(field::use_global_device_ids));
        }
        Opcode::ReduceScatter => {
            to.flag("use_global_device_ids", instruction.flag(field::use_global_device_ids));
            to.list("dimensions", instruction, field::dimensions)?;
        }
        Opcode::AllToAll => to.some_numbers("dimensions", &instruction.list(field::dimensions)?),
        Opcode::CollectiveBroadcast => to.add("has_dynamic_root", instruction.flag(field::has_dynamic_root)),
        Opcode::CollectiveReduce => {
            to.flag("use_global_device_ids", instruction.flag(field::use_global_device_ids));
            to.add("has_dynamic_root", instruction.flag(field::has_dynamic_root));
        }
        _ => to.flag("use_global_device_ids", instruction.flag(field::use_global_device_ids)),
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

fn precision(instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    let Some(config) = instruction.message::<PrecisionConfig>(field::precision_config)? else { return Ok(()) };
    if config.operand_precision.iter().any(|precision| *precision != 0) {
        to.open("operand_precision");
        to.out.push('{');
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

fn window(instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    let window: Option<WindowProto> = instruction.message(field::window)?;
    let dimensions = window.map_or(Vec::new(), |window| window.dimensions);
    if dimensions.is_empty() {
        return Ok(());
    }
    to.open("window");
    to.out.push_str("{size=");
    let mut part = |name: &str, value: &dyn Fn(usize) -> String| {
        to.out.push_str(name);
        for i in 0..dimensions.len() {
            to.out.push_str(if i > 0 { "x" } else { "" });
            to.out.push_str(&value(i));
        }
    };
    use alloc::string::ToString;
    let dimensions = &dimensions;
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
    Ok(())
}

fn convolution(instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    window(instruction, to)?;
    if let Some(numbers) = instruction.message(field::convolution_dimension_numbers)? {
        to.add("dim_labels", labels(&numbers));
    }
    if instruction.number(field::feature_group_count) > 1 {
        to.number("feature_group_count", instruction.number(field::feature_group_count));
    }
    if instruction.number(field::batch_group_count) > 1 {
        to.number("batch_group_count", instruction.number(field::batch_group_count));
    }
    Ok(())
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

fn aliasing(instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    let aliases: Vec<OutputOperandAliasing> = instruction.messages(field::output_operand_aliasing)?;
    if aliases.is_empty() {
        return Ok(());
    }
    to.open("output_to_operand_aliasing");
    to.out.push('{');
    for (i, alias) in aliases.iter().enumerate() {
        to.out.push_str(if i > 0 { ", {" } else { "{" });
        joined(&alias.output_shape_index, ",", to.out);
        let _ = write!(to.out, "}}: ({}, {{", alias.operand_index);
        joined(&alias.operand_shape_index, ",", to.out);
        to.out.push_str("})");
    }
    to.out.push('}');
    Ok(())
}

fn custom_call(instruction: &Record<'_>, to: &mut Attributes<'_>) -> Result<()> {
    convolution(instruction, to)?;
    precision(instruction, to)?;
    if instruction.short(field::padding_type) != 0 {
        to.word("padding_type", &["", "PADDING_VALID", "PADDING_SAME"], instruction.short(field::padding_type))?;
    }
    to.string("custom_call_target", instruction.text(field::custom_call_target)?.as_bytes());
    if instruction.flag(field::constrain_layout) {
        to.open("operand_layout_constraints");
        to.out.push('{');
        for (i, shape) in instruction.each(field::operand_shapes_with_layout).enumerate() {
            let _ = write!(to.out, "{}{}", if i > 0 { ", " } else { "" }, decode_shape(shape)?);
        }
        to.out.push('}');
    }
    to.flag("custom_call_has_side_effect", instruction.flag(field::custom_call_has_side_effect));
    if let Some(literal) = instruction.bytes(field::literal) {
        to.open("literal");
        constant::literal(&constant::decode(literal)?, 0, to.out)?;
    }
    aliasing(instruction, to)?;
    if instruction.short(field::custom_call_schedule) != 0 {
        to.word(
            "schedule",
            &["", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"],
            instruction.short(field::custom_call_schedule),
        )?;
    }
    // The original version is the one that is not printed.
    if instruction.short(field::custom_call_api_version) > 1 {
        let versions =
            ["", "", "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"];
        to.word("api_version", &versions, instruction.short(field::custom_call_api_version))?;
    }
    Ok(())
}

/// The values that one field of instructions was written as: many have the same.
pub(crate) struct Seen<'p> {
    by_bytes: NameTable,
    values: Vec<(&'p [u8], Piece)>,
}

impl<'p> Seen<'p> {
    const fn new() -> Self {
        Self { by_bytes: NameTable::new(), values: Vec::new() }
    }

    /// Writes the attribute again, if this field was written before; if not, `write` does it, and says whether there is one.
    fn write(
        &mut self,
        name: &str,
        bytes: &'p [u8],
        to: &mut Attributes<'_>,
        write: impl FnOnce(&mut Attributes<'_>) -> Result<bool>,
    ) -> Result<()> {
        let of_bytes = hash(bytes);
        let values = &self.values;
        let bytes_of = |number: u32| values.get(number as usize).map_or(&b""[..], |(bytes, _)| bytes);
        let known = self.by_bytes.get(bytes, of_bytes, bytes_of).and_then(|place| values.get(place as usize));
        if let Some(&(_, value)) = known {
            to.again(name, value);
        } else if write(to)? {
            self.by_bytes.insert(bytes, of_bytes, number(values.len()), bytes_of);
            self.values.push((bytes, to.written()));
        }
        Ok(())
    }
}

/// What instructions said before, in the fields that many have alike, and room for the fields of a message in one.
pub(crate) struct Said<'p> {
    inner: Record<'p>,
    sharding: Seen<'p>,
    metadata: Seen<'p>,
    backend_config: Seen<'p>,
}

impl Said<'_> {
    pub(crate) const fn new() -> Self {
        Self { inner: Record::new(), sharding: Seen::new(), metadata: Seen::new(), backend_config: Seen::new() }
    }
}

/// What any instruction may have, behind the computations that it calls.
pub(crate) fn common<'p>(
    instruction: &Record<'p>,
    payloads: &[&'p [u8]],
    predecessors: &[&str],
    said: &mut Said<'p>,
    to: &mut Attributes<'_>,
) -> Result<()> {
    placed(instruction, said, to)?;
    if !predecessors.is_empty() {
        to.open("control-predecessors");
        to.out.push('{');
        for (i, name) in predecessors.iter().enumerate() {
            let _ = write!(to.out, "{}%{name}", if i > 0 { ", " } else { "" });
        }
        to.out.push('}');
    }
    if instruction.has(field::statistics_viz)
        && let Some(statistics) = instruction.message::<StatisticsViz>(field::statistics_viz)?
        && !statistics.statistics.is_empty()
    {
        to.open("statistics");
        let _ = write!(to.out, "{{visualizing_index={}", statistics.stat_index_to_visualize);
        for statistic in &statistics.statistics {
            let _ = write!(to.out, ",{}={}", name(&statistic.stat_name)?, general(statistic.stat_val, 6));
        }
        to.out.push('}');
    }
    if let Some(value) = instruction.message(field::original_value)? {
        origin(&value, to)?;
    }
    if let Some(of_instruction) = instruction.bytes(field::metadata) {
        let inner = &mut said.inner;
        said.metadata.write("metadata", of_instruction, to, |to| {
            to.open("metadata");
            to.out.push('{');
            let empty = to.out.len();
            inner.read(of_instruction)?;
            metadata(inner, payloads, to.out)?;
            let is_there = to.out.len() > empty;
            if is_there {
                to.out.push('}');
            } else {
                to.undo();
            }
            Ok(is_there)
        })?;
    }
    let payload = instruction.bytes(field::backend_config_payload).map(|bytes| payload(bytes, payloads)).transpose()?;
    let config = payload.flatten().or(instruction.bytes(field::backend_config));
    if let Some(config) = config.filter(|config| !config.is_empty()) {
        said.backend_config.write("backend_config", config, to, |to| {
            to.free("backend_config", config);
            Ok(true)
        })?;
    }
    Ok(())
}

/// What an instruction refers to: it stands there, or in the module's list of payloads.
fn payload<'p>(bytes: &'p [u8], payloads: &[&'p [u8]]) -> Result<Option<&'p [u8]>> {
    let payload = Record::of(bytes)?;
    let id = payload.optional_number(payload_field::id);
    let listed = id.and_then(|id| payloads.get(usize::try_from(id).ok()?)).copied();
    Ok(payload.bytes(payload_field::value).or(listed))
}

/// How a value lies on devices, and what the program's source says of it.
pub(crate) fn placed<'p>(instruction: &Record<'p>, said: &mut Said<'p>, to: &mut Attributes<'_>) -> Result<()> {
    if let Some(of_value) = instruction.bytes(field::sharding) {
        said.sharding.write("sharding", of_value, to, |to| {
            to.open("sharding");
            sharding(&OpShardingProto::decode(of_value)?, to.out)?;
            Ok(true)
        })?;
    }
    frontend_attributes(instruction.bytes(field::frontend_attributes), to)
}

/// Attributes that a program's source gave, sorted by name.
pub(crate) fn frontend_attributes(attributes: Option<&[u8]>, to: &mut Attributes<'_>) -> Result<()> {
    let Some(attributes) = attributes else { return Ok(()) };
    let mut entries = FrontendAttributes::decode(attributes)?.map;
    if entries.is_empty() {
        return Ok(());
    }
    entries.sort_by(|a, b| a.key.cmp(&b.key));
    to.open("frontend_attributes");
    to.out.push('{');
    for (i, entry) in entries.into_iter().enumerate() {
        to.out.push_str(if i > 0 { "," } else { "" });
        to.out.push_str(name(&entry.key)?);
        to.out.push('=');
        free(entry.value.as_bytes(), to.out);
    }
    to.out.push('}');
    Ok(())
}

/// What stands in the braces of `metadata`.
fn metadata<'p>(metadata: &Record<'p>, payloads: &[&'p [u8]], out: &mut String) -> Result<()> {
    use metadata_field as field;
    let start = out.len();
    let part = |name: &str, out: &mut String| {
        if out.len() > start {
            out.push(' ');
        }
        out.push_str(name);
        out.push('=');
    };
    let string = |name: &str, value: &str, out: &mut String| {
        if !value.is_empty() {
            part(name, out);
            out.push('"');
            escaped(value.as_bytes(), out);
            out.push('"');
        }
    };
    let number = |name: &str, value: i32, out: &mut String| {
        if value != 0 {
            part(name, out);
            decimal(value.into(), out);
        }
    };
    string("op_type", metadata.text(field::op_type)?, out);
    string("op_name", metadata.text(field::op_name)?, out);
    string("source_file", metadata.text(field::source_file)?, out);
    number("source_line", metadata.short(field::source_line), out);
    number("source_end_line", metadata.short(field::source_end_line), out);
    number("source_column", metadata.short(field::source_column), out);
    number("source_end_column", metadata.short(field::source_end_column), out);
    if metadata.has(field::profile_type) {
        part("profile_type", out);
        out.push('{');
        joined(&metadata.list(field::profile_type)?, ",", out);
        out.push('}');
    }
    string("deduplicated_name", metadata.text(field::deduplicated_name)?, out);
    string("scheduling_name", metadata.text(field::scheduling_name)?, out);
    number("stack_frame_id", metadata.short(field::stack_frame_id), out);
    if let Some(of_metadata) = metadata.bytes(field::metadata_payload)
        && let Some(value) = payload(of_metadata, payloads)?
    {
        part("metadata_payload", out);
        out.push('"');
        escaped(value, out);
        out.push('"');
    }
    Ok(())
}

/// Which values of the program's source these are.
fn origin(value: &OriginalValueProto, to: &mut Attributes<'_>) -> Result<()> {
    to.open("origin");
    to.out.push('{');
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
