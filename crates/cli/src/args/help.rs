//! The help of the program: its verbs in groups, and the verb `help`.

use super::{Arguments, Verb};
use crate::schemas::names;
use clap::builder::PossibleValuesParser;
use clap::error::{Error, ErrorKind};
use clap::{Args, Command, CommandFactory as _, Subcommand};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;
use xla_shape_render::harmless;

/// The verbs by what they are about, as the help lists them.
pub(crate) const GROUPS: [(&str, &[&str]); 4] = [
    ("A shape", &["explain", "compare", "advise", "draw", "convert", "check"]),
    ("A program", &["scan", "hlo", "cost", "compile", "guard", "tune"]),
    ("A kernel", &["block", "kernel", "rustc"]),
    ("Arrays in files", &["relayout", "shard"]),
];

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
    for (group, verbs) in GROUPS {
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

/// Say more of a verb; print the manual, completions and JSON Schemas
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

    /// The verb to say more of, such as hlo or hlo diff
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
    #[arg(value_parser = PossibleValuesParser::new(names()))]
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
