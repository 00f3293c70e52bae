//! The arguments of the program, with the help that it prints. Each file has the verbs about one kind of input.

mod files;
mod help;
mod programs;
mod shapes;
mod tune;

pub(crate) use files::*;
pub(crate) use help::*;
pub(crate) use programs::*;
pub(crate) use shapes::*;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Args, ColorChoice, Command, Parser, Subcommand, ValueEnum, ValueHint};
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use xla_shape::hlo::byte_count;
use xla_shape::tpu::Generation;

/// Explain XLA shapes and layouts, and find where the memory of a program goes
#[derive(Debug, Parser)]
#[command(
    name = "xla-shape",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
#[command(override_usage = "xla-shape [OPTIONS] <THING> [OTHER]\n       xla-shape [OPTIONS] <VERB> …")]
#[command(
    after_help = "Without a verb, xla-shape says what a THING is, answers about it, and names the verbs for more. A THING is a shape, a sharding, a
layout, a log or an error message, a program or a directory of dumps. Of two THINGs, it says how they differ.
  xla-shape oom.txt
  xla-shape 'f32[100,1]{1,0:T(8,128)}'
  xla-shape before.hlo after.hlo

`xla-shape help VERB` says more of a verb, with examples.

Exit codes: 0 success, 1 the input has problems, 2 wrong usage, 3 a part of the input could not be read, 130 `tune` was interrupted."
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) verb: Option<Verb>,

    #[command(flatten)]
    pub(crate) any: AnyArguments,

    /// When to write colours: auto writes them to terminals
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, global = true, hide_possible_values = true)]
    pub(crate) color: ColorChoice,
}

/// Anything that has an answer, without a verb.
#[derive(Debug, Args)]
pub(crate) struct AnyArguments {
    /// A shape, a sharding or another text, a file, or a directory; `-` is standard input. Two are compared with each other
    #[arg(value_name = "THING", num_args = 1..=2, value_hint = ValueHint::AnyPath)]
    pub(crate) things: Vec<OsString>,

    /// Of a THING without a verb: text for people, or JSON
    #[arg(long, value_enum, hide_possible_values = true, value_name = "text|json")]
    pub(crate) format: Option<Format>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Explain(ExplainArguments),
    Draw(DrawArguments),
    Relayout(RelayoutArguments),
    Shard(ShardArguments),
    Hlo(HloArguments),
    Cost(CostArguments),
    Kernel(KernelArguments),
    Guard(GuardArguments),
    Compile(CompileArguments),
    Tune(TuneArguments),
    Scan(ScanArguments),
    Compare(CompareArguments),
    Convert(ConvertArguments),
    Block(BlockArguments),
    Advise(AdviseArguments),
    Check(CheckArguments),
    Rustc(RustcArguments),
    Help(HelpArguments),
}

/// Reads a number of bytes that is not 0, with or without a unit.
fn some_bytes(text: &str) -> Option<u64> {
    byte_count(text).filter(|&bytes| bytes > 0)
}

fn bytes(text: &str) -> Result<u64, String> {
    some_bytes(text).ok_or_else(|| "expected bytes, such as 16777216 or 16MiB".to_owned())
}

/// Reads the value of an option as `P` does. Completions offer the generations of TPUs, and help does not list them again.
#[derive(Clone)]
pub(crate) struct OfferingGenerations<P>(P);

impl<P: TypedValueParser> TypedValueParser for OfferingGenerations<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.0.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Generation::ALL.iter().map(|generation| PossibleValue::new(generation.name()))))
    }
}

/// Reads the name of a generation.
fn generation() -> OfferingGenerations<impl TypedValueParser<Value = Generation>> {
    OfferingGenerations(str::parse::<Generation>)
}

/// The file that a verb reads line by line.
#[derive(Debug, Args)]
pub(crate) struct InputFile {
    /// The file to read; `-` is standard input
    #[arg(default_value = "-")]
    pub(crate) file: PathBuf,
}

/// The TPU that an answer is about, or that chooses the layout of shapes without one.
#[derive(Debug, Args)]
pub(crate) struct TpuOptions {
    /// The generation of the TPU, such as v5e, or a name of JAX or GKE; v5e if none is named
    #[arg(long = "for", value_name = "GENERATION", value_parser = generation(), hide_possible_values = true)]
    pub(crate) generation: Option<Generation>,
}

/// How an answer is written.
#[derive(Debug, Args)]
pub(crate) struct AnswerOptions {
    /// Text for people, or JSON: one object, or one on each line where there are several answers
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For programs
    Json,
}

/// The form of an output that is always JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum JsonOnly {
    /// For programs
    #[default]
    Json,
}
