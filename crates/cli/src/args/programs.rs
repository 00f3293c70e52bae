//! The verbs about programs: compiled modules, and programs that the compiler compiles first.

use super::tune::{memory, weight};
use super::{
    AnswerOptions, OfferingGenerations, OutputPath, SearchArguments, bytes, from_1_to, one_of, some_bytes, whole,
};
use clap::{Args, Subcommand, ValueEnum};
use std::num::NonZeroU32;
use std::path::PathBuf;
use xla_shape::memory_space;
use xla_shape::validate::MAX_MEMORY_SPACE;
use xla_shape_answers::DEFAULT_GENERATION;
use xla_shape_answers::hlo::{Device, Limit};
use xla_shape_pjrt::TargetError;
use xla_shape_program::Compiler;
use xla_shape_render::hlo::Section;
use xla_shape_tune::{Devices, Memory, Share};

/// Show how much memory a program takes, and what is wrong with it
///
/// Use it when a compiled program takes too much memory.
///
/// The text is one screen; --all adds totals by memory space, all live values at the peak, the largest values, tile formats, layout
/// changes, copies and collectives, and --section picks some of them. JSON has everything. The file is text, a message (HloModuleProto, HloProto, HloModuleProtoWithConfig or HloSnapshot), one in protobuf's text format, or a profile (.xplane.pb) or the directory of its run, of which the module that took the most time is read. The exit code is 1 if XLA
/// would refuse the module, or if it does not fit the device that --for names. Parts of a text that cannot be read are skipped and reported first; the exit code is then 3. As JSON: summary, module, computations, instructions, opcodes, memory, scheduled, accuracy, files, notes,
/// other_modules, capacity, spaces, at_peak, sharding, collectives, by_axis, copies, findings, most_padded, largest, tile_formats,
/// layout_changes.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(after_help = "Examples:
  xla-shape hlo module.hlo
  xla-shape hlo module.hlo --section padded,copies --top 5
  xla-shape hlo module.hlo --space 1 --html vmem.html
  xla-shape hlo diff before.hlo after.hlo
  xla-shape hlo show module.hlo %fusion.3
  xla-shape hlo print module.hlo.pb")]
pub(crate) struct HloArguments {
    #[command(subcommand)]
    pub(crate) verb: Option<HloVerb>,

    /// The file with the module, or a directory of a dump (`--xla_dump_to`); `-` is standard input
    ///
    /// The compiler's own files about memory, beside the module, are read, too, and make the numbers exact.
    #[arg(required = true)]
    pub(crate) file: Option<PathBuf>,

    /// In a profile, the module with this name instead of the one that took the most time
    #[arg(long, value_name = "NAME")]
    pub(crate) module: Option<String>,

    /// The device that the program must fit: v4, v5e, v5p, v6e, v7x, …, h100, a100-80, …, a name of JAX or GKE, or bytes of memory, such as 16GiB; without it,
    /// the one that the program, its dump or its name shows
    #[arg(long = "for", visible_alias = "device", value_name = "DEVICE", value_parser = OfferingGenerations(device), hide_possible_values = true)]
    pub(crate) device: Option<Device>,

    /// Estimate, even if the compiler's own files are beside the module
    #[arg(long)]
    pub(crate) estimate: bool,

    /// End with the exit code 1 for hints, too, not only for errors
    #[arg(long)]
    pub(crate) strict: bool,

    /// How many entries a list has at most
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>)]
    pub(crate) top: usize,

    /// Show every section, instead of what matters most on one screen
    #[arg(long, conflicts_with = "sections")]
    pub(crate) all: bool,

    /// Show these sections
    #[arg(long = "section", value_name = "NAME", value_delimiter = ',', value_parser = one_of(&Section::ALL, Section::name))]
    pub(crate) sections: Vec<Section>,

    /// Show only this memory space: its number, or its name, such as VMEM
    #[arg(long, value_name = "S", value_parser = space)]
    pub(crate) space: Option<u8>,

    /// Also write a page into this file, with pictures of which buffers are live, where and when; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Reads the number or the name of a memory space.
fn space(text: &str) -> Result<u8, String> {
    let named = || memory_space::from_name(text);
    let numbered = || text.parse().ok().filter(|&space: &u8| u64::from(space) <= MAX_MEMORY_SPACE);
    numbered().or_else(named).ok_or_else(|| {
        format!(
            "expected a memory space: a number from 0 to {MAX_MEMORY_SPACE}, or a name, such as HBM, VMEM, SMEM or host"
        )
    })
}

/// Reads the name of a TPU generation or of a GPU, or a number of bytes.
fn device(text: &str) -> Result<Device, String> {
    match (text.parse::<Device>(), some_bytes(text)) {
        (Ok(device), _) => Ok(device),
        (Err(_), Some(bytes)) => Ok(Device::Bytes(bytes)),
        (Err(error), None) => Err(format!("{error}; bytes such as 16GiB are read, too")),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum HloVerb {
    Diff(HloDiffArguments),
    Print(HloPrintArguments),
    Show(HloShowArguments),
}

/// Show one instruction: operands, readers, layouts, source line, place in memory, cycles and padding
///
/// Use it when another answer names an instruction.
///
/// As JSON: instruction, opcode, computation, shape, operands, operand_shapes, readers, calls, op_name, source, cycles and
/// seconds (of one run, or null), runs, bytes, padding, live (first and last step of each time that it is in memory), offset (in the heap of its memory space,
/// or null), arrays (the same for each array of its value), text, unread (which figures of the module cannot be read, and why).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape hlo show module.hlo %fusion.3
  xla-shape hlo show module.hlo %fusion.3 --html graph.html")]
pub(crate) struct HloShowArguments {
    /// The file with the module, or a directory of a dump; `-` is standard input
    pub(crate) file: PathBuf,

    /// The instruction's name, with or without %
    pub(crate) name: String,

    /// Also write a page into this file, with the graph around the instruction; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Write a module as the text that XLA prints, or as its message
///
/// The file is text, a message (HloModuleProto, HloProto, HloModuleProtoWithConfig or HloSnapshot), or one in protobuf's text format.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape hlo print module.hlo.pb")]
pub(crate) struct HloPrintArguments {
    /// The file with the module, or a directory of a dump; `-` is standard input
    pub(crate) file: PathBuf,

    /// What to write: text, or the message HloModuleProto
    #[arg(long, value_enum, default_value_t)]
    pub(crate) to: HloForm,
}

/// How a module is written.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
pub(crate) enum HloForm {
    #[default]
    Text,
    Proto,
}

/// Say what changed between two modules: the memory at the peak, and values
///
/// Use it after a change and before you measure, to see whether the compiler made another program.
///
/// Instructions are paired by op_name, opcode, shapes and operands, not by their names. If the compiler's own files are
/// beside a module, or a directory of a dump is given, its numbers are exact. For two profiles, the measured times are compared, too. As JSON, one line for each difference: name,
/// change; measure has before, after and cause; run time and line time, of two profiles, have picoseconds_before, picoseconds_after,
/// is_clear, cause and instruction; copy, collective and fusion (added or removed) have opcode, shape, cycles, seconds, cause,
/// because, remedy, op_name and source; others (total, peak, shape, layout, memory space, added or removed) have bytes_before,
/// bytes_after, bytes; for values also leaf,
/// before, after, cause, op_name and source; for peaks space, at_before, at_after and because. The last line, programs, is always there. It
/// has same (whether the programs are the same, instruction for instruction; null if the modules do not say it), differing (how many
/// instructions differ, with examples), programs (module and accuracy of both), and measures, totals and peaks (those that did not change,
/// with name, and value or bytes).
///
/// A cause is one of: source changed, layout asked, donation, sharding, optimization (only one of the programs is optimized), rematerialization,
/// fusion choice, missing figures (of the compiler, in one of the files), flags or version. Programs for different
/// numbers of partitions or replicas are compared only with --other-devices. A module does not say for which generation it was compiled.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape hlo diff before.hlo after.hlo --format json
  xla-shape hlo diff before.hlo after.hlo --html changes.html
  xla-shape hlo diff before.hlo after.hlo --markdown > comment.md
  xla-shape hlo diff before.hlo after.hlo --fail-if 'cycles>+2%' 'memory>+1%' 'copies>0'")]
pub(crate) struct HloDiffArguments {
    /// The file with the first module, or a directory of a dump
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,

    /// The file with the second module, or a directory of a dump
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,

    /// Use only the modules, even if the compiler's own files are beside them
    #[arg(long)]
    pub(crate) estimate: bool,

    /// End with the exit code 1 if a number grew by more than this, such as 'cycles>+2%', 'memory>16MiB' or 'copies>0'
    #[arg(long = "fail-if", value_name = "LIMIT", num_args = 1..)]
    pub(crate) limits: Vec<Limit>,

    /// Compare the programs even if they are for different numbers of partitions or replicas
    #[arg(long)]
    pub(crate) other_devices: bool,

    /// Write Markdown, such as for a pull request's comment
    #[arg(long, conflicts_with = "format")]
    pub(crate) markdown: bool,

    /// Also write a page into this file, with both programs side by side; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with = "markdown")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Say what a program is expected to cost, by line and by copy
///
/// Use it when a program is slow, to find its most expensive lines and copies.
///
/// A program that is not compiled yet (StableHLO or HLO) is compiled first, as by `compile`. With --try, it is compiled again with each
/// layout that would remove a copy, and the answer says what that gains.
///
/// The figures are the compiler's own: estimates of cycles in the module that it returns (JAX: `compiled.as_text()`; or
/// `xla-shape compile -o`). Files that XLA dumps lack most of them, and the answer then has no total. Bodies of loops count as often as
/// they run. For a GPU, the figures are times, which the compiler writes if XLA_FLAGS=--xla_gpu_collect_cost_model_stats=true; an estimate
/// of more than 20 times the compiler's least time does not count, and the least time is taken instead.
///
/// For a profile (JAX: `jax.profiler.trace`), the measured times come first: by line, scope, opcode and instruction, the copies with cause and
/// remedy, the collectives, and where the compiler's estimates differ.
///
/// As JSON: module, cycles (once, total, said, without, flagged, partial), seconds (the same for a GPU, otherwise null), without, unread,
/// loops, branches, copies (instruction, opcode, cycles, seconds, basis, runs, total, total_seconds, share, bytes, from, to, change, cause, remedy, op_name, source), lines, scopes, opcodes,
/// instructions, collectives, tried, measured (of a profile, times in picoseconds; otherwise null).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape cost module.hlo
  xla-shape cost trace/plugins/profile/RUN
  xla-shape cost program.mlir --for v6e --try
  xla-shape cost program.mlir --for h100 --try
  xla-shape cost module.hlo --format json")]
pub(crate) struct CostArguments {
    /// The file with the module, text or message, or a directory of a dump; a profile (.xplane.pb), or the directory of its run; or a program; `-` is standard input
    pub(crate) file: PathBuf,

    /// In a profile, the module with this name instead of the one that took the most time
    #[arg(long, value_name = "NAME")]
    pub(crate) module: Option<String>,

    /// The device that a program is compiled for: a TPU, and the chips along each axis (default: one host), such as v5e:2x2, or GPUs, such as h100 or
    /// b200:8; v5e if none is named. For a compiled module, the GPU that it is for, if the directory of a dump does not say it
    #[arg(long = "for", value_name = "DEVICE", value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) target: Option<Devices>,

    /// Also write the answer as an HTML page to this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    /// Compile the program again with each layout that would remove a copy, and with all of them
    #[arg(long = "try")]
    pub(crate) try_remedies: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Compile a program for TPUs or GPUs: layouts, memory, the module
///
/// Use it to see whether a program fits a device that you do not have.
///
/// The program is StableHLO (MLIR, text or bytecode; JAX: `lowered.as_text(debug_info=True)`, with source lines) or HLO (text or message).
/// Neither a TPU nor a GPU is needed: `pip install libtpu` installs the compiler for TPUs, `pip install jax-cuda13-pjrt nvidia-cuda-nvcc` the one for GPUs; these are their answers. They are found in
/// the active Python environment, or by PJRT_PLUGIN or TPU_LIBRARY_PATH, which name the file. For GPUs the compiler does not tune, because there
/// is none to time its choices on: with the results of --autotune it may choose otherwise. As JSON,
/// one line for each device: for, generation, and module, fingerprint, inputs, outputs, input_shardings, output_shardings,
/// memory (as in hlo), autotuning, untuned, unseen, capacity, most_padded, cost, cycles, seconds; or error with its message. The exit code is 1 if the
/// program was not compiled for one of them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape compile program.mlir --for v5e:2x2
  xla-shape compile program.mlir --for v5e,v6e,v7x --format json
  xla-shape compile program.mlir --for h100,b200:8,a100-80:2x8
  xla-shape compile program.mlir --for v5e --html memory.html -o optimized.hlo")]
pub(crate) struct CompileArguments {
    /// The file with the program; `-` is standard input
    pub(crate) program: PathBuf,

    /// TPUs by generation, and the chips along each axis (default: one host), such as v5e:2x2,v4:2x2x4; GPUs by name, and their number (default: one
    /// host of 8), such as h100,b200:8,a100-80:2x8
    ///
    /// With --config, the name `gpu` stands for the GPU in that file, as in gpu:2x8.
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', default_value = DEFAULT_GENERATION.name(), value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) targets: Vec<Devices>,

    /// Write the optimized module into this file: text, or XLA's message if it ends in .pb; `-` is standard output
    ///
    /// With several devices, each has a separate file: module.hlo becomes module.v5e-2x2.hlo, …
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<OutputPath>,

    /// Write a page with pictures of which buffers are live, where and when, into this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    /// How many entries a list has at most
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<usize>)]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,

    /// Compile in this process, which another one of this program started
    #[arg(long, hide = true)]
    pub(crate) alone: bool,
}

/// Find the best layout of an array that programs share
///
/// Use it when `cost` shows copies that change the layout of an argument or a result.
///
/// The programs are StableHLO as text. They are compiled as they are, with the layouts that the compiler itself chooses, and with the
/// layouts that these answers suggest, each in a process of its own; neither a TPU nor a GPU is needed. Places of a shared array are parameters (arg0, …)
/// and results (out0, …) of a program. A program has the name of its file without the ending; if there is only one, the name may be left
/// out. A donated parameter and its result are one array. The figures are the compiler's estimates: they rank layouts, but are not times.
///
/// For HLO modules that are compiled already (is_scheduled=true), it gives advice without a compiler: the copies of the shared arrays, the
/// layouts with which they need not change the layout, and the padding. Nothing confirms that the compiler would take these layouts, or gain by them.
///
/// Answers are cached on disk, so a search that was stopped can continue. As JSON: best (layout, major_to_minor and memory for each name), today
/// (layouts, cycles, bytes, copies, programs), keep, best_entry, arrays, programs, compilers, compiles, kept, all, cut, tried (layouts, taken, cycles,
/// bytes, copies, programs, because, error), advice (null if the programs were compiled), notes. The exit code is 1 if all layouts exceed the limit, and 130 if Ctrl-C ended the search: the answer is then the best so far.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape tune decode.mlir --share kv=arg0,out0 --for v5e
  xla-shape tune prefill.mlir decode.mlir --share kv=prefill:out1,decode:arg4 --weight decode=100
  xla-shape tune step.mlir --share w=arg0 --share m=arg1 --all --html layouts.html")]
pub(crate) struct TuneArguments {
    /// The files with the programs
    #[arg(required = true, value_name = "PROGRAM")]
    pub(crate) programs: Vec<PathBuf>,

    /// An array that has one layout in all of these places; may be repeated
    #[arg(long = "share", required = true, value_name = "NAME=PROGRAM:PLACE,…", value_parser = str::parse::<Share>)]
    pub(crate) shares: Vec<Share>,

    /// The TPU: a generation, and the chips along each axis (default: one host), such as v5e:2x2; or GPUs, such as h100 or b200:8
    #[arg(long = "for", value_name = "DEVICE", default_value = DEFAULT_GENERATION.name(), value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) target: Devices,

    /// The memory that an array shall be in: device, pinned_host, or both, the preferred one first; by default, that of each program
    ///
    /// With both, the answer is for the first memory in which the programs compile and keep within the limit; the table also has the other one.
    #[arg(long = "memory", value_name = "NAME=MEMORY,…", value_parser = memory)]
    pub(crate) memories: Vec<(String, Vec<Memory>)>,

    /// How often a program runs, relative to the others (1 by default), such as decode=100; may be repeated
    #[arg(long = "weight", value_name = "PROGRAM=N", value_parser = weight)]
    pub(crate) weights: Vec<(String, NonZeroU32)>,

    /// The most HBM that a program may take, such as 16GiB
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub(crate) at_most_bytes: Option<u64>,

    /// Try every combination of layouts, also those with much padding
    #[arg(long)]
    pub(crate) all: bool,

    /// Also try other tiles of packed elements, such as T(8,128)(2,1) and T(16,128)(2,1) of bf16
    #[arg(long)]
    pub(crate) tilings: bool,

    /// Stop after N compilations, cached answers included; the answer is then the best layout so far
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) compiles: Option<usize>,

    #[command(flatten)]
    pub(crate) search: SearchArguments,

    /// Write the answer as a page into this file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// The compiler of a program, and its options.
#[derive(Clone, Debug, Args)]
pub(crate) struct CompilerArguments {
    #[command(flatten)]
    pub(crate) chosen: ChosenCompiler,

    /// How many copies of the program run; by default, the number in the program
    #[arg(long, value_name = "N", value_parser = from_1_to(65536))]
    pub(crate) replicas: Option<u32>,

    /// Among how many devices each copy is divided; by default, the number in the program
    #[arg(long, value_name = "N", value_parser = from_1_to(65536))]
    pub(crate) partitions: Option<u32>,
}

/// A compiler, and its options.
#[derive(Clone, Debug, Args)]
pub(crate) struct ChosenCompiler {
    /// The PJRT plug-in with the compiler, such as libtpu.so; its code is run
    #[arg(long, value_name = "FILE")]
    pub(crate) plugin: Option<PathBuf>,

    /// An option of the compiler, such as xla_tpu_scoped_vmem_limit_kib=65536; may be repeated
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = option)]
    pub(crate) options: Vec<(String, String)>,

    /// A description of the GPU to compile for (GpuTargetConfigProto as text, as in a dump's gpu_target_config.pbtxt), in place of the known properties of the GPU that --for names
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// The results of autotuning on a GPU (xla_gpu_dump_autotune_results_to); without them, the compiler does not tune
    #[arg(long, value_name = "FILE")]
    pub(crate) autotune: Option<PathBuf>,

    /// How long the compiler may take for one device, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = Compiler::TIME_LIMIT, value_parser = whole::<u64>)]
    pub(crate) time_limit: u64,
}

impl CompilerArguments {
    /// The compiler that the user asks for.
    pub(crate) fn compiler(&self) -> Compiler {
        Compiler { replicas: self.replicas, partitions: self.partitions, ..self.chosen.compiler() }
    }
}

impl ChosenCompiler {
    /// Whether one is given.
    pub(crate) const fn is_given(&self) -> bool {
        let Self { plugin, options, config, autotune, time_limit } = self;
        let files = plugin.is_some() || config.is_some() || autotune.is_some();
        files || !options.is_empty() || *time_limit != Compiler::TIME_LIMIT
    }

    /// The compiler that the user asks for.
    pub(crate) fn compiler(&self) -> Compiler {
        let Self { plugin, options, config, autotune, time_limit } = self.clone();
        Compiler { plugin, options, config, autotune, time_limit, replicas: None, partitions: None }
    }
}

/// Reads the name of devices of any kind. A generation that the compiler does not know is accepted: the answer then has the error.
pub(super) fn devices(text: &str) -> Result<Devices, TargetError> {
    text.parse()
}

/// Reads the name and the value of an option.
fn option(text: &str) -> Result<(String, String), String> {
    let named = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let (name, value) = named.ok_or("expected NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// Say what the compiler made of a kernel; for a GPU, what it launches
///
/// Use it when a kernel is slow, or does not fit into VMEM.
///
/// A directory is a dump, which libtpu writes with the flags --xla_mosaic_dump_to=DIR, --xla_jf_dump_to=DIR,
/// --xla_jf_dump_llo_text=true, --xla_mosaic_enable_llo_source_annotations=true and --xla_mosaic_enable_dump_debug_info=true in
/// LIBTPU_INIT_ARGS. A program in StableHLO is compiled with these flags, for each TPU after --for; no TPU is needed, only
/// `pip install libtpu`. A bundle is the instructions that the TPU executes at the same time. As JSON: kernels (for, name, instruction, grid, bundles, empty,
/// executed, least, clock_hz, least_seconds, measured, operations, operands, relayouts, unaligned, lines, loops, units, spills, fills, vmem,
/// vector_slots, vector_slots_with_source, unread, notes), errors (for, message), and with --against also differences (name, for, before, after, lines, notes),
/// or, if the other program calls no kernel, against_xla (for, kernel, xla).
///
/// For a GPU, from the thunk_sequence.txt and thunk_metadata.txt of a dump (--xla_dump_to=DIR in XLA_FLAGS), or of a program that is compiled for it: each step with
/// its instruction and line, and the blocks, threads and shared memory of each kernel: launches (for, number, kind, kernel, instruction, grid,
/// threads, shared_memory, op_name, source).
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xla-shape kernel program.mlir --for v5e,v6e,v7x
  xla-shape kernel dump --for v5e --html kernel.html --source kernel.py
  xla-shape kernel dump --for v6e --profile trace --clock 0.94
  xla-shape kernel step.mlir --for h100
  xla-shape kernel changed.mlir --against program.mlir --for v5e")]
pub(crate) struct KernelArguments {
    /// The directory of the dump, or the file with the program; `-` is standard input
    pub(crate) path: PathBuf,

    /// The TPUs or GPUs to compile for, v5e by default; for a dump, the TPU that it was made for, which has the limit of vector memory
    #[arg(long = "for", value_name = "DEVICES", value_delimiter = ',', value_parser = OfferingGenerations(devices), hide_possible_values = true)]
    pub(crate) targets: Vec<Devices>,

    /// Say what differs from an earlier version: a dump or a program, like PATH. A program without kernels is XLA's own code of the same computation: its fusions are compared
    #[arg(long, value_name = "PATH")]
    pub(crate) against: Option<PathBuf>,

    /// The clock of the TPU in GHz: say the least time that the bundles take
    #[arg(long, value_name = "GHZ", value_parser = clock)]
    pub(crate) clock: Option<f64>,

    /// A JAX profile of the program: say how long each kernel took
    #[arg(long, value_name = "PATH")]
    pub(crate) profile: Option<PathBuf>,

    /// Write a page into this file: lines, relayouts and registers beside the bundles; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<OutputPath>,

    /// A Python file whose lines the page shows; can be repeated
    #[arg(long, value_name = "FILE", requires = "html")]
    pub(crate) source: Vec<PathBuf>,

    /// Keep the compiler's dump of a program in a new directory, with a directory for each device
    #[arg(long, value_name = "DIR")]
    pub(crate) keep: Option<OutputPath>,

    /// Ask the compiler even if the blocks of a kernel alone need more VMEM than the kernel may use; without this, such a program is refused at once
    #[arg(long)]
    pub(crate) anyway: bool,

    #[command(flatten)]
    pub(crate) compiler: CompilerArguments,

    #[command(flatten)]
    pub(crate) answer: AnswerOptions,
}

/// Reads a clock in GHz.
fn clock(text: &str) -> Result<f64, String> {
    let clock = text.parse::<f64>().ok().filter(|clock| clock.is_finite() && *clock > 0.0);
    clock.ok_or_else(|| "expected a positive number of GHz, such as 1.5".to_owned())
}
