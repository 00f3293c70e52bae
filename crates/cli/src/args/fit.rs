//! The arguments of `fit`, and those of every search over a compiler's answers.

use super::programs::devices;
use super::{AnswerOptions, CompilerArguments, OfferingGenerations, OutputPath, from_1_to};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_tune::{Devices, Keep};

/// Say which programs fit which devices, and what would have to go
///
/// Use it to find the largest size that fits, or the device that a program needs.
///
/// Each program is compiled for each device and with each value of every option (--option NAME=V1,V2), in a process of its own. Neither a TPU
/// nor a GPU is needed. The answer says what each setting needs and costs and, where that is too much, the arrays that would have to go. With
/// --ascending, only the programs around the border are compiled: if a program does not fit, larger ones are assumed not to fit either. The
/// neighbours of the border are compiled, too, and the answer names those that break the rule.
///
/// Answers are cached on disk, so a run that was stopped can continue. As JSON: axes (name, values, bisected), borders (axis, setting,
/// largest, largest_row, next, next_row, exceptions, unknown, closed, unordered), rows (setting, for, fits, needed_bytes, available_bytes, short_bytes, largest, to_go,
/// cycles, seconds, best, error), settings, kept, compilers, cut. The exit code is 1 if nothing fits, and 130 if Ctrl-C ended it: the answer then
/// has what was compiled by then.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape fit step.mlir --for v5e,v6e:2x2,h100:8
  xla-shape fit batch8.mlir batch16.mlir batch32.mlir --ascending --for v5e,v6e
  xla-shape fit step.mlir --for v5e --option xla_tpu_scoped_vmem_limit_kib=16384,65536")]
pub(crate) struct FitArguments {
    /// The files with the programs
    #[arg(required = true, value_name = "PROGRAM")]
    pub(crate) programs: Vec<PathBuf>,

    /// TPUs by generation, and the chips along each axis (default: one host), such as v5e:2x2,v4:2x2x4; GPUs by name, and their number (default: one
    /// host of 8), such as h100,b200:8
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', default_value = DEFAULT_GENERATION.name(), value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) targets: Vec<Devices>,

    /// The programs are in ascending order of the memory that they need: compile only those around the border
    #[arg(long)]
    pub(crate) ascending: bool,

    #[command(flatten)]
    pub(crate) search: SearchArguments,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// How many compilers run, and where their answers are kept.
#[derive(Clone, Debug, Args)]
pub(crate) struct SearchArguments {
    /// How many compilers run at a time; by default at most one per core, and only as many as fit into the free memory
    #[arg(long, value_name = "N", value_parser = from_1_to(1024))]
    jobs: Option<u32>,

    /// The folder for the cached answers; by default, xla-shape in the user's cache folder
    #[arg(long, value_name = "FOLDER")]
    cache: Option<OutputPath>,

    /// Neither read nor write cached answers
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl SearchArguments {
    /// Whether one is given.
    pub(crate) const fn is_given(&self) -> bool {
        self.jobs.is_some() || self.cache.is_some() || self.no_cache
    }

    /// How many compilers run at a time; `None` for as many as this machine has room for.
    pub(crate) fn jobs(&self) -> Option<NonZeroUsize> {
        self.jobs.and_then(|jobs| usize::try_from(jobs).ok()?.try_into().ok())
    }

    /// Where answers are kept.
    pub(crate) fn keep(&self) -> Keep {
        match &self.cache {
            Some(folder) => Keep::In(folder.to_path_buf()),
            None if self.no_cache => Keep::Nowhere,
            None => Keep::Own,
        }
    }
}
