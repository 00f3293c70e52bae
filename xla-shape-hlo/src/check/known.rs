//! Opcodes and attributes that nothing here knows, which a newer compiler may write.

use crate::finding::{Findings, Problem, Severity};
use crate::module::{Computation, Instruction, Module};
use crate::opcode::Opcode;
use alloc::borrow::ToOwned;

/// The attributes of instructions that XLA's parser reads, sorted.
const ATTRIBUTES: &[&str] = &[
    "algorithm",
    "api_version",
    "async_execution_thread",
    "backend_config",
    "barrier_semaphore",
    "batch_group_count",
    "body",
    "branch_computations",
    "called_computations",
    "calls",
    "channel_id",
    "collapsed_slice_dims",
    "comparison_direction",
    "condition",
    "constrain_layout",
    "control-predecessors",
    "cross_program_prefetch_index",
    "custom_call_has_side_effect",
    "custom_call_schedule",
    "custom_call_target",
    "delta",
    "dim_labels",
    "dimensions",
    "direction",
    "distribution",
    "domain",
    "dynamic_slice_sizes",
    "entry",
    "epsilon",
    "exit",
    "exponent_bits",
    "false_computation",
    "feature_group_count",
    "feature_index",
    "fft_length",
    "fft_type",
    "frontend_attributes",
    "index",
    "index_vector_dim",
    "indices_are_sorted",
    "infeed_config",
    "inplace",
    "input_batching_dims",
    "inserted_window_dims",
    "iota_dimension",
    "is_associative",
    "is_composite",
    "is_cross_program_prefetch",
    "is_host_transfer",
    "is_reverse",
    "is_scheduled",
    "is_stable",
    "k",
    "kind",
    "largest",
    "left_side",
    "lhs_batch_dims",
    "lhs_contracting_dims",
    "lhs_ragged_dims",
    "literal",
    "lower",
    "mantissa_bits",
    "metadata",
    "num_carries",
    "offset_dims",
    "operand_batching_dims",
    "operand_layout_constraints",
    "operand_precision",
    "order",
    "origin",
    "original_value",
    "outfeed_config",
    "outfeed_shape",
    "output_to_operand_aliasing",
    "padding",
    "padding_type",
    "parameter_replication",
    "permutation",
    "replica_groups",
    "result_accuracy",
    "rhs_batch_dims",
    "rhs_contracting_dims",
    "rhs_group_dims",
    "scatter",
    "scatter_dims_to_operand_dims",
    "scatter_indices_batching_dims",
    "schedule",
    "select",
    "sharding",
    "slice",
    "slice_sizes",
    "source_target_pairs",
    "sparsity",
    "split_dimension",
    "start_index_map",
    "start_indices_batching_dims",
    "statistics",
    "target",
    "to_apply",
    "transpose_a",
    "true_computation",
    "type",
    "unique_indices",
    "unit_diagonal",
    "update_window_dims",
    "use_global_device_ids",
    "window",
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

/// Opcodes that XLA has and that need no rule here.
const WITHOUT_RULE: &[&str] = &["collective-reduce", "scan", "shuffle"];

pub(super) fn check<'m, 'a>(instruction: Instruction<'m, 'a>, findings: &mut Findings<'m, 'a>) {
    if let Opcode::Other(text) = instruction.opcode()
        && !is_known(text)
    {
        findings.add(Severity::Hint, instruction, Problem::UnknownOpcode { opcode: text.to_owned() }, None);
    }
    for attribute in instruction.attributes() {
        if ATTRIBUTES.binary_search(&attribute.name()).is_err() {
            let problem = Problem::UnknownAttribute { name: attribute.name().to_owned() };
            findings.add(Severity::Hint, instruction, problem, Some(attribute.value().span()));
        }
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
    if WITHOUT_RULE.contains(&text) || xla_shape_core::infer::Elementwise::named(text).is_some() {
        return true;
    }
    let suffixes = ["-start", "-update", "-done"];
    let stem = suffixes.into_iter().find_map(|suffix| text.strip_suffix(suffix));
    stem.is_some_and(|stem| !matches!(Opcode::from_text(stem), Opcode::Other(other) if !is_known(other)))
}

#[cfg(test)]
mod tests {
    use super::{ATTRIBUTES, is_known};

    #[test]
    fn the_attributes_are_sorted() {
        assert!(ATTRIBUTES.is_sorted());
    }

    #[test]
    fn asynchronous_forms_are_known() {
        assert!(["fusion-start", "slice-update", "custom-call-done", "atan", "scan"].into_iter().all(is_known));
        assert!(["", "-start", "teleport", "teleport-start"].into_iter().all(|text| !is_known(text)));
    }
}
