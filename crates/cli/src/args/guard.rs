//! The verb `guard`: what a program cost, how it keeps data, and what must hold of it.

use super::programs::{CompilerArguments, devices};
use super::{AnswerOptions, OfferingGenerations, OutputPath};
use clap::{Args, Subcommand};
use std::path::PathBuf;
use xla_shape_answers::hlo::Limit;
use xla_shape_tune::Devices;

/// Fail when a program becomes worse, or when a claim no longer holds
///
/// `record` writes a small JSON file: memory, cycles or seconds, copies, collectives and fusions, the layouts of parameters and results, and the
/// cycles of source lines. `lock` writes such a file for data that are kept in a device's layout. `check` compares a program with such a file; the exit code is 1 if a
/// number grew by more than its limit, or if data no longer fit.
/// `claims` writes a TOML file of claims that hold, and `expect` checks such a file; the exit code is 1 if a claim does not hold.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard record step.json step.mlir --for v5e,v6e
  xla-shape guard check step.json step.mlir
  xla-shape guard check step.json module.hlo --fail-if 'cycles>+2%' 'memory>+1%' 'copies>0'
  xla-shape guard lock step.lock step.mlir --for v5e,v6e
  xla-shape guard claims step.mlir --for v5e > step.toml
  xla-shape guard expect step.toml step.mlir --for v5e")]
pub(crate) struct GuardArguments {
    #[command(subcommand)]
    pub(crate) verb: GuardVerb,
}

#[derive(Debug, Subcommand)]
pub(crate) enum GuardVerb {
    Record(GuardRecordArguments),
    Lock(GuardLockArguments),
    Check(GuardCheckArguments),
    Claims(GuardClaimsArguments),
    Expect(GuardExpectArguments),
}

/// A program that is recorded or checked.
#[derive(Debug, Args)]
pub(crate) struct GuardProgram {
    /// The program (StableHLO), which is compiled as by `compile`; or a compiled module, the directory of a dump, or a profile; `-` is standard input
    pub(crate) program: PathBuf,

    /// The devices that the program is compiled for: TPUs, and the chips along each axis (default: one host), such as v5e:2x2,v6e, or GPUs, such as
    /// h100,b200:8; by default the devices of the record, otherwise v5e. For a compiled module, the device that it was compiled for, which it does
    /// not contain
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) targets: Vec<Devices>,
}

/// Write what a program costs into a file, completely or not at all
///
/// Use it before a change, so that you can check the program after it.
///
/// A record is replaced; another file is not. As JSON, the contents of the file: lock, programs (device, compiler, module, partitions, replicas, measures,
/// parameters, result, shardings, names, result_sharding, aliases, operations, computing, copies, lines).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard record step.json step.mlir --for v5e,v6e
  xla-shape guard record step.json module.hlo")]
pub(crate) struct GuardRecordArguments {
    /// The file to write; `-` is standard output, which then has nothing else
    pub(crate) record: OutputPath,

    #[command(flatten)]
    pub(crate) program: GuardProgram,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Write how a program keeps its arguments and results, completely or not at all
///
/// Use it when data are kept in a device's layout, such as a checkpoint or a key-value cache, before another version of the compiler or of the program reads them.
///
/// The file has, for each device and the version of its compiler, the shape of each argument and result with layout and memory space, and its sharding.
/// `guard check` then fails if data no longer fit. It is a record whose `lock` is true. It contains costs, too, but they are compared only if limits
/// are named.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard lock step.lock step.mlir --for v5e,v6e
  xla-shape guard check step.lock step.mlir --plan move.sh")]
pub(crate) struct GuardLockArguments {
    #[command(flatten)]
    pub(crate) record: GuardRecordArguments,
}

/// Compare a program with a record; the exit code is 1 if a number grew by more than its limit
///
/// Use it after a change, to see whether a number grew.
///
/// As JSON, one line for each device: device, module, compiler_before, compiler, passed, limits, exceeded, warnings, measures (name, before, after,
/// cause), copies_added, copies_removed, same_layouts, arrays (array, argument, change, before, after, sharding_before, sharding, whole, same_bytes), lines (source, before, after), times (of two profiles), and accept, the command that accepts the changes. If another
/// version of the compiler made the record, a warning names both.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard check step.json step.mlir
  xla-shape guard check step.json module.hlo --fail-if 'cycles>+2%' 'copies>0'
  xla-shape guard check step.json step.mlir --same-layouts --plan move.sh
  xla-shape guard check step.json step.mlir --markdown > comment.md")]
pub(crate) struct GuardCheckArguments {
    /// The file that `guard record` or `guard lock` wrote
    pub(crate) record: PathBuf,

    #[command(flatten)]
    pub(crate) program: GuardProgram,

    /// Fail if a number grew by more than this. By default, unless `guard lock` wrote the file: 'cycles>2%' ('seconds>2%' for a GPU; for a profile
    /// also 'time>5%') 'memory>1%' 'copies>0' 'collectives>0', for the numbers that the record has
    #[arg(long = "fail-if", value_name = "LIMIT", num_args = 1..)]
    pub(crate) limits: Vec<Limit>,

    /// Fail if an argument or a result is not kept as the record says (layout, memory space, sharding, sizes): data that were written for it no longer fit
    #[arg(long)]
    pub(crate) same_layouts: bool,

    /// Also write a script for a shell to this file that copies data of the record into the present layouts; `-` is standard output, which then has
    /// nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<OutputPath>,

    /// Compare the programs even if they are for different numbers of partitions or replicas
    #[arg(long)]
    pub(crate) other_devices: bool,

    /// Write Markdown, such as for a pull request's comment
    #[arg(long, conflicts_with = "format")]
    pub(crate) markdown: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Write the claims that hold of a program today, as a start for `guard expect`
///
/// The output is TOML: the memory, the largest array, the products by element type, custom calls, collectives, loops, and the layouts of the
/// largest arguments.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard claims step.mlir --for v5e > step.toml
  xla-shape guard claims module.hlo")]
pub(crate) struct GuardClaimsArguments {
    #[command(flatten)]
    pub(crate) program: GuardProgram,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,
}

/// Check claims about a compiled program; the exit code is 1 if one does not hold
///
/// Use it when a program relies on something that the compiler does today.
///
/// A claim is a table in a TOML file: program, arrays, instructions, custom_calls, copies, collectives, loops, arguments, results or fused. Some of
/// its fields select what the claim is about; the others say what must hold, such as count = 0, bytes = "<=64MiB" or layout = "{1,0}". As JSON, one
/// line for each device: device, module, compiler, passed, and claims (line, table, claim, state, differs, instead, more, names).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape guard expect step.toml step.mlir --for v5e
  xla-shape guard expect step.toml module.hlo")]
pub(crate) struct GuardExpectArguments {
    /// The file of claims; `-` is standard input
    pub(crate) claims: PathBuf,

    #[command(flatten)]
    pub(crate) program: GuardProgram,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}
