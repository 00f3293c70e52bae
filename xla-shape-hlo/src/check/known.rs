//! Opcodes and attributes that nothing here knows, which a newer compiler may write.

use crate::finding::{Findings, Problem, Severity};
use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;
use alloc::format;

/// The attributes that XLA's parser reads, sorted, each with the opcodes that have it; none are all opcodes. Asynchronous forms have those of
/// the operation. Older versions of XLA wrote some that today's does not read.
const ATTRIBUTES: &[(&str, &[&str])] = &[
    ("algorithm", &["convolution", "dot", "rng-bit-generator", "scaled-dot"]),
    ("api_version", &["custom-call"]),
    ("async_execution_thread", &[]),
    ("backend_config", &[]),
    ("barrier_semaphore", &[]),
    ("batch_group_count", &["convolution", "custom-call"]),
    ("block_scaling_config", &["convolution", "dot"]),
    ("body", &["while"]),
    ("branch_computations", &["conditional"]),
    ("called_computations", &["custom-call"]),
    ("calls", &["async", "fusion"]),
    (
        "channel_id",
        &[
            "all-gather",
            "all-reduce",
            "all-to-all",
            "collective-broadcast",
            "collective-permute",
            "collective-reduce",
            "ragged-all-to-all",
            "recv",
            "recv-done",
            "reduce-scatter",
            "send",
            "send-done",
        ],
    ),
    ("collapsed_slice_dims", &["gather"]),
    ("comparison_direction", &["compare"]),
    ("condition", &["while"]),
    ("constrain_layout", &["all-gather", "all-reduce", "all-to-all", "collective-reduce", "reduce-scatter"]),
    ("control-predecessors", &[]),
    ("convolution_kind", &["convolution"]),
    ("cross_program_prefetch_index", &["copy"]),
    ("custom_call_has_side_effect", &["custom-call"]),
    ("custom_call_schedule", &["custom-call"]),
    ("custom_call_target", &["custom-call"]),
    ("delta", &["rng-get-and-update-state"]),
    ("dim_labels", &["convolution", "custom-call"]),
    (
        "dimensions",
        &[
            "all-gather",
            "all-to-all",
            "broadcast",
            "concatenate",
            "get-dimension-size",
            "map",
            "ragged-all-to-all",
            "reduce",
            "reduce-scatter",
            "reverse",
            "scan",
            "set-dimension-size",
            "shuffle",
            "sort",
            "transpose",
        ],
    ),
    ("direction", &["compare"]),
    ("distribution", &["rng"]),
    ("domain", &["domain"]),
    ("dynamic_slice_sizes", &["dynamic-slice"]),
    ("entry", &["domain"]),
    ("epsilon", &["batch-norm-grad", "batch-norm-inference", "batch-norm-training"]),
    ("exit", &["domain"]),
    ("exponent_bits", &["reduce-precision"]),
    ("false_computation", &["conditional"]),
    ("feature_group_count", &["convolution", "custom-call"]),
    ("feature_index", &["batch-norm-grad", "batch-norm-inference", "batch-norm-training"]),
    ("fft_length", &["fft"]),
    ("fft_type", &["fft"]),
    ("frontend_attributes", &[]),
    ("has_dynamic_root", &["collective-broadcast", "collective-reduce"]),
    ("index", &["get-tuple-element"]),
    ("index_vector_dim", &["gather", "scatter"]),
    ("indices_are_sorted", &["gather", "scatter"]),
    ("infeed_config", &["infeed"]),
    ("inferred_dimension", &["reshape"]),
    ("inplace", &[]),
    ("input_batching_dims", &["scatter"]),
    ("inserted_window_dims", &["scatter"]),
    ("iota_dimension", &["iota"]),
    ("is_associative", &["scan"]),
    ("is_composite", &["call"]),
    ("is_cross_program_prefetch", &["copy"]),
    ("is_host_transfer", &["recv", "recv-done", "send", "send-done"]),
    ("is_reverse", &["scan"]),
    ("is_scheduled", &[]),
    ("is_stable", &["sort", "topk"]),
    ("k", &["topk"]),
    ("kind", &["fusion"]),
    ("largest", &["topk"]),
    ("left_side", &["triangular-solve"]),
    ("lhs_batch_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("lhs_contracting_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("lhs_ragged_dims", &["ragged-dot"]),
    ("literal", &["custom-call"]),
    ("lower", &["cholesky", "triangular-solve"]),
    ("mantissa_bits", &["reduce-precision"]),
    ("metadata", &[]),
    ("mode", &["all-reduce", "reduce-scatter", "shuffle"]),
    ("num_carries", &["scan"]),
    ("offset_dims", &["gather"]),
    ("operand_batching_dims", &["gather"]),
    ("operand_layout_constraints", &["custom-call"]),
    ("operand_precision", &["convolution", "custom-call", "dot", "ragged-dot", "scaled-dot"]),
    ("order", &["compare"]),
    ("origin", &[]),
    ("original_value", &[]),
    ("outfeed_config", &["outfeed"]),
    ("outfeed_shape", &["outfeed"]),
    ("output_to_operand_aliasing", &["custom-call", "fusion"]),
    ("padding", &["pad"]),
    ("padding_type", &["custom-call"]),
    ("parameter_replication", &[]),
    ("permutation", &[]),
    (
        "replica_groups",
        &[
            "all-gather",
            "all-reduce",
            "all-to-all",
            "collective-broadcast",
            "collective-reduce",
            "ragged-all-to-all",
            "reduce-scatter",
        ],
    ),
    (
        "result_accuracy",
        &[
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atanh",
            "cbrt",
            "cosh",
            "cosine",
            "erf",
            "exponential",
            "exponential-minus-one",
            "log",
            "log-plus-one",
            "logistic",
            "rsqrt",
            "sine",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
        ],
    ),
    ("rhs_batch_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("rhs_contracting_dims", &["dot", "ragged-dot", "scaled-dot"]),
    ("rhs_group_dims", &["ragged-dot"]),
    ("scatter", &["select-and-scatter"]),
    ("scatter_dims_to_operand_dims", &["scatter"]),
    ("scatter_indices_batching_dims", &["scatter"]),
    ("schedule", &["custom-call"]),
    ("select", &["select-and-scatter"]),
    ("sharding", &[]),
    ("shifts", &["shuffle"]),
    ("slice", &["slice"]),
    ("slice_sizes", &["collective-permute", "gather"]),
    ("source_target_pairs", &["collective-permute"]),
    ("sparsity", &["dot"]),
    ("sparsity_config", &["convolution", "dot"]),
    ("split_dimension", &["all-to-all"]),
    ("start_index_map", &["gather"]),
    ("start_indices_batching_dims", &["gather"]),
    ("statistics", &[]),
    ("target", &[]),
    (
        "to_apply",
        &[
            "all-reduce",
            "call",
            "collective-reduce",
            "custom-call",
            "map",
            "reduce",
            "reduce-scatter",
            "reduce-window",
            "scan",
            "scatter",
            "sort",
        ],
    ),
    ("transpose_a", &["triangular-solve"]),
    ("true_computation", &["conditional"]),
    ("type", &["compare"]),
    ("unique_indices", &["scatter"]),
    ("unit_diagonal", &["triangular-solve"]),
    ("update_window_dims", &["scatter"]),
    ("use_global_device_ids", &["all-gather", "all-reduce", "collective-reduce", "reduce-scatter"]),
    ("window", &["convolution", "custom-call", "reduce-window", "select-and-scatter"]),
];

/// The attributes of modules that XLA's parser reads.
const MODULE_ATTRIBUTES: &[&str] = &[
    "alias_passthrough_params",
    "allow_spmd_sharding_propagation_to_output",
    "allow_spmd_sharding_propagation_to_parameters",
    "backend_config",
    "buffer_donor",
    "entry_computation_layout",
    "frontend_attributes",
    "input_output_alias",
    "is_scheduled",
    "num_partitions",
    "origin_recovery_table",
    "replica_count",
];

pub(super) fn check<'m, 'a>(instruction: Instruction<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if let Opcode::Other(text) = instruction.opcode()
        && !is_known(text)
    {
        findings.add(Severity::Hint, instruction, Problem::UnknownOpcode { opcode: text.to_owned() }, None);
    }
    for attribute in instruction.attributes() {
        let name = attribute.name();
        let problem = match ATTRIBUTES.binary_search_by_key(&name, |(known, _)| known) {
            Err(_) => Problem::UnknownAttribute { name: name.to_owned() },
            Ok(place)
                if ATTRIBUTES.get(place).is_some_and(|(_, opcodes)| !has(instruction.opcode(), name, opcodes)) =>
            {
                Problem::unfit(format!("an attribute that `{}` has", instruction.opcode()), format!("`{name}`"))
            }
            Ok(_) => continue,
        };
        findings.add(Severity::Hint, instruction, problem, Some(attribute.value().span()));
    }
}

/// Whether an opcode has an attribute that these have: today's XLA refuses others, a newer one may not.
fn has(opcode: Opcode<'_>, name: &str, opcodes: &[&str]) -> bool {
    let text = opcode.text();
    if opcodes.is_empty() || opcodes.contains(&text) {
        return true;
    }
    match ["-start", "-update", "-done"].into_iter().find_map(|suffix| text.strip_suffix(suffix)) {
        Some(stem) => opcodes.contains(&stem) || matches!(name, "calls" | "output_to_operand_aliasing"),
        None => !is_known(text) && matches!(opcode, Opcode::Other(_)),
    }
}

/// Hints at attributes of the module that nothing here knows.
pub(super) fn of_module<'m, 'a>(module: &'m Module<'a>, findings: &mut Findings<'m, 'a>) {
    let Some(root) = module.entry().map(Computation::root) else { return };
    for attribute in module.attributes().filter(|attribute| !MODULE_ATTRIBUTES.contains(&attribute.name())) {
        let problem = Problem::UnknownAttribute { name: attribute.name().to_owned() };
        findings.add(Severity::Hint, root, problem, Some(attribute.value().span()));
    }
}

/// Whether an opcode is XLA's, or the asynchronous form of one.
fn is_known(text: &str) -> bool {
    let is_named = |text: &str| {
        !matches!(Opcode::from_text(text), Opcode::Other(_))
            || xla_shape_core::infer::Elementwise::named(text).is_some()
    };
    is_named(text) || ["-start", "-update", "-done"].into_iter().filter_map(|end| text.strip_suffix(end)).any(is_named)
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, is_known};

    #[test]
    fn the_attributes_are_sorted() {
        assert!(ATTRIBUTES.is_sorted_by_key(|(name, _)| name));
    }

    #[test]
    fn asynchronous_forms_are_known() {
        assert!(["fusion-start", "slice-update", "custom-call-done", "atan", "scan"].into_iter().all(is_known));
        assert!(["", "-start", "teleport", "teleport-start"].into_iter().all(|text| !is_known(text)));
    }
}
