//! The arguments of the program as a whole, its help, and the verb `help`.

use super::{GROUPS, Verb, manual, schema};
use crate::args::AnyArguments;
use crate::failure::Failure;
use clap::builder::PossibleValuesParser;
use clap::error::{Error, ErrorKind};
use clap::{Args, ColorChoice, Command, CommandFactory as _, Parser, Subcommand};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use xla_shape_render::harmless;

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
    after_help = "Without a verb, xla-shape says what a THING is, answers about it, and names the verbs for more. A THING is a shape, a sharding, \
a layout, a log or an error message, a program or a directory of dumps. For two THINGs, it says how they differ.
  xla-shape oom.txt
  xla-shape 'f32[100,1]{1,0:T(8,128)}'
  xla-shape before.hlo after.hlo

`xla-shape help VERB` says more of a verb, with examples. `xla-shape rustc` reads the Rust compiler's output and writes shapes in place of \
types. For scripts, `xla-shape check` answers each line of a file of shapes; for agents, \
`xla-shape mcp` makes each question a tool.

Exit codes: 0 success, 1 the input has problems, 2 wrong usage, 3 a part of the input could not be read, 130 `tune`, `fit` or `block --rank` was interrupted."
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

/// The definition of all arguments, whose help lists the verbs in groups.
pub(crate) fn command() -> Command {
    let command = Arguments::command();
    let header = *command.get_styles().get_header();
    let literal = *command.get_styles().get_literal();
    let row = |list: &mut String, name: &str| {
        let about = command.find_subcommand(name).and_then(Command::get_about);
        let about = about.map(ToString::to_string).unwrap_or_default();
        // Writing to a `String` does not fail.
        let _ = writeln!(list, "  {literal}{name:<8}{literal:#}  {about}");
    };
    let mut list = String::new();
    for &(group, verbs) in GROUPS.iter().filter(|(group, _)| !group.is_empty()) {
        let _ = writeln!(list, "{header}{group}:{header:#}");
        for verb in verbs {
            row(&mut list, verb);
        }
        list.push('\n');
    }
    row(&mut list, "help");
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\n{header}Options:{header:#}\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// Whether a word can only be meant as a verb: small letters, perhaps with `-` between them, and not the name of a file.
pub(crate) fn is_like_a_verb(word: &OsStr) -> bool {
    let is_name = |word: &str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
    };
    word.to_str().is_some_and(is_name) && !Path::new(word).exists()
}

/// The error about a word in the place of a verb. It names the verb that was probably meant.
pub(crate) fn unknown_verb(word: &OsStr) -> Error {
    let word = harmless(&word.to_string_lossy()).into_owned();
    let mut verbs =
        Verb::augment_subcommands(Command::new("xla-shape").subcommand_required(true).disable_help_subcommand(true));
    match verbs.try_get_matches_from_mut(["xla-shape", &word]) {
        Err(error) => error,
        Ok(_) => verbs.error(ErrorKind::InvalidSubcommand, format!("unknown verb `{word}`")),
    }
}

/// Explain a verb; print the manual, completions and JSON Schemas
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, disable_help_subcommand = true)]
#[command(after_help = "Examples:
  xla-shape help hlo
  xla-shape help schema hlo > hlo.json
  xla-shape help completions bash > ~/.local/share/bash-completion/completions/xla-shape
  xla-shape help man > ~/.local/share/man/man1/xla-shape.1")]
pub(crate) struct HelpArguments {
    #[command(subcommand)]
    pub(crate) verb: Option<HelpVerb>,

    /// The verb to explain, such as hlo or hlo diff
    #[arg(value_name = "VERB")]
    pub(crate) words: Vec<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum HelpVerb {
    Schema(SchemaArguments),
    Completions(CompletionsArguments),
    /// Print the manual, as `man` reads it
    #[command(after_help = "Example:
  xla-shape help man > ~/.local/share/man/man1/xla-shape.1")]
    Man,
}

/// Print the JSON Schema of what a verb writes with --format json
///
/// The field `schema` of the output has the same name as the schema: its `$id`, which ends with the version.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape help schema hlo > hlo.json")]
pub(crate) struct SchemaArguments {
    /// The verb; hlo-diff for `hlo diff`, explain-index for `explain --index`
    #[arg(value_parser = PossibleValuesParser::new(schema::names()))]
    pub(crate) verb: String,
}

/// Print the script that completes the arguments of this program in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  xla-shape help completions bash > ~/.local/share/bash-completion/completions/xla-shape")]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: clap_complete::Shell,
}

pub(crate) fn run(arguments: &HelpArguments) -> Result<(), Failure> {
    match &arguments.verb {
        // `help VERB` is `VERB --help`, which the caller answers.
        None => Ok(()),
        Some(HelpVerb::Schema(arguments)) => schema::run(arguments),
        Some(HelpVerb::Completions(arguments)) => manual::completions(arguments),
        Some(HelpVerb::Man) => manual::man(),
    }
}
