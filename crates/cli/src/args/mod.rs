//! The arguments of the verbs, with their help. Each file has the verbs about one kind of input.

mod files;
mod fit;
mod guard;
mod mcp;
mod programs;
mod shapes;
mod tune;

pub(crate) use files::*;
pub(crate) use fit::*;
pub(crate) use guard::*;
pub(crate) use mcp::McpArguments;
pub(crate) use programs::*;
pub(crate) use shapes::*;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Command, ValueEnum, ValueHint};
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use xla_shape::hlo::byte_count;
use xla_shape::tpu::Generation;
use xla_shape_answers::hlo::Device;

/// Anything that has an answer, without a verb.
#[derive(Debug, Args)]
pub(crate) struct AnyArguments {
    /// A shape, a sharding or another text, a file, or a directory; `-` is standard input. Two are compared with each other
    #[arg(value_name = "THING", num_args = 1..=2, value_hint = ValueHint::AnyPath)]
    pub(crate) things: Vec<OsString>,

    /// For a THING without a verb: text for people, a digest for a prompt, or JSON
    #[arg(long, value_enum, hide_possible_values = true, value_name = "text|digest|json")]
    pub(crate) format: Option<Format>,
}

/// Reads a number of bytes that is not 0, with or without a unit.
fn some_bytes(text: &str) -> Option<u64> {
    byte_count(text).filter(|&bytes| bytes > 0)
}

fn bytes(text: &str) -> Result<u64, String> {
    some_bytes(text).ok_or_else(|| "expected bytes, such as 16777216 or 16MiB".to_owned())
}

/// Reads a whole number.
fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| "expected a whole number, such as 10".to_owned())
}

/// Reads a whole number from 1 to `most`.
fn from_1_to(most: u32) -> impl Fn(&str) -> Result<u32, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (1..=most).contains(number));
        number.ok_or_else(|| format!("expected a whole number from 1 to {most}"))
    }
}

/// Reads one of these names; help and completions list them.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let named = move |text: String| all.iter().copied().find(|&one| name(one) == text).ok_or("no such name");
    PossibleValuesParser::new(all.iter().map(|&one| name(one))).try_map(named)
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

/// Reads the name of a generation of TPUs or of a GPU.
fn named_device() -> OfferingGenerations<impl TypedValueParser<Value = Device>> {
    OfferingGenerations(str::parse::<Device>)
}

/// The path of a file or a directory that a verb writes.
#[derive(Clone, Debug)]
pub(crate) struct OutputPath(PathBuf);

impl From<OsString> for OutputPath {
    fn from(path: OsString) -> Self {
        Self(path.into())
    }
}

impl Deref for OutputPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl AsRef<Path> for OutputPath {
    fn as_ref(&self) -> &Path {
        self
    }
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
    /// Text for people; a digest, at most 30 lines for a prompt; or JSON: one object, or one on each line where there are several answers
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// The form of the output.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum Format {
    /// For people
    #[default]
    Text,
    /// For prompts: at most 30 lines
    Digest,
    /// For programs
    Json,
    /// For `mcp`: the digest as a text of JSON in the first line, then JSON
    #[value(hide = true)]
    Tool,
}

impl Format {
    /// Whether programs read it.
    pub(crate) const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Tool)
    }
}

/// The form of an output that is always JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(crate) enum JsonOnly {
    /// For programs
    #[default]
    Json,
}
