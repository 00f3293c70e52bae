//! HLO modules: text and protos, checks, memory. A separate test program, so that it is compiled in parallel with the one about shapes.

mod asynchronous;
mod block_ranking;
mod called_kernels;
mod claims;
mod cost;
mod diff_causes;
mod gpu_cost;
mod hlo;
mod hlo_broken;
mod hlo_cases;
mod hlo_check;
mod hlo_diff;
mod hlo_forms;
mod hlo_mutations;
mod hlo_pairs;
mod hlo_text;
mod hlo_types;
mod hlo_view;
mod hlo_xla;
mod kernel_branches;
mod kernel_dumps;
mod kernel_transfers;
mod reports;
mod tpu_memory;
