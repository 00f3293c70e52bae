//! The `xla-shape` program: explains XLA shapes and layouts, and shows where the memory of a program goes.
//!
//! The program is also a library: for its tests and fuzz targets, and for the Python package, which contains it.
//!
//! The crate has the arguments, the files and the exit codes of the program. The rules about shapes are those of `xla-shape`, and the
//! answers are written by `xla-shape-render`.

#![deny(unsafe_code)]

mod args;
mod compiler;
mod failure;
mod given;
mod io;
mod verbs;

pub use verbs::Tools;

use args::Format;
use clap::error::ErrorKind;
use clap::{ColorChoice, FromArgMatches as _, ValueEnum as _};
use failure::Failure;
use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::process::ExitCode;
use verbs::help::{Arguments, HelpArguments, command, is_like_a_verb, unknown_verb};
use verbs::{Verb, answer};
use xla_shape_answers::Answer as _;
use xla_shape_answers::problem::{Code, Problem};
use xla_shape_program::{Host, end_with_parent};
use xla_shape_render::harmless;

/// Runs the program with the arguments of this process, and returns its exit code.
pub fn run() -> ExitCode {
    let command = std::env::current_exe().into_iter().map(OsString::from).collect();
    ExitCode::from(run_with(&Host { command, python: None, notes: io::notes }, std::env::args_os()))
}

/// Runs the program with these arguments, and returns its exit code. The first argument is the program's name.
pub fn run_with(host: &Host, arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = arguments.into_iter().collect::<Vec<_>>();
    let is_json = wants_json(&arguments);
    if value_of("--format", &arguments).as_deref() == Some("tool") {
        // The server that started this process may be ended at any time.
        end_with_parent();
    }
    let arguments = match parse(arguments.iter().cloned()) {
        Ok(arguments) => arguments,
        Err(error) => {
            print_usage(&error, &arguments, is_json);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    match arguments.color {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let result = match arguments.verb {
        // `help VERB` is `VERB --help`.
        Some(Verb::Help(HelpArguments { verb: None, words })) => return help(host, &words),
        Some(_) if !arguments.any.things.is_empty() || arguments.any.format.is_some() => {
            let message = "a verb takes its arguments after it, and nothing before it";
            return usage_error(&command().error(ErrorKind::ArgumentConflict, message), is_json);
        }
        Some(verb) => answer(&verb, host),
        None => match &arguments.any.things[..] {
            [thing, ..] if is_like_a_verb(thing) => return usage_error(&unknown_verb(thing), is_json),
            _ => verbs::thing::run(&arguments.any, |command| {
                let words = [OsString::from("xla-shape")].into_iter().chain(command.iter().map(OsString::from));
                match parse(words).map(|arguments| arguments.verb) {
                    Ok(Some(verb)) => answer(&verb, host),
                    Ok(None) => Err(Failure::said("this command has no verb")),
                    Err(error) => Err(Failure::said(error)),
                }
            }),
        },
    };
    match result {
        Ok(()) => 0,
        Err(failure) => {
            if failure.has_message() {
                tell(&failure.problem(), is_json);
            }
            failure.code()
        }
    }
}

/// Prints the help of the verb with this name, such as `hlo diff`, or the help of the program; returns the exit code.
fn help(host: &Host, words: &[String]) -> u8 {
    let mut all = command();
    let verb = words.iter().try_fold(&all, |command, word| command.find_subcommand(word));
    if verb.is_none() {
        let message = format!("unknown verb `{}`", harmless(&words.join(" ")));
        let error = match words {
            [word] => unknown_verb(word.as_ref()),
            _ => all.error(ErrorKind::InvalidSubcommand, message),
        };
        return usage_error(&error, false);
    }
    let words = ["xla-shape"].into_iter().chain(words.iter().map(String::as_str)).chain(["--help"]);
    run_with(host, words.map(OsString::from))
}

/// Prints an error about the arguments; returns the exit code.
fn usage_error(error: &clap::Error, is_json: bool) -> u8 {
    if is_json {
        let message = harmless(error.render().to_string().trim_end()).into_owned();
        tell(&Problem { code: Code::Usage, message, place: None }, true);
    } else {
        // An error here means that standard error is closed.
        drop(error.print());
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// Writes the error to standard error: as text, or with `--format json` as JSON.
fn tell(problem: &Problem, is_json: bool) {
    if is_json {
        // An error means that standard error is closed.
        let _ = std::io::stderr().write_all(problem.json().as_bytes());
    } else {
        io::tell(&problem.message);
    }
}

/// Whether the arguments ask for JSON. The arguments may be invalid.
fn wants_json(arguments: &[OsString]) -> bool {
    let asked = value_of("--format", arguments);
    asked.and_then(|form| Format::from_str(&form, false).ok()).is_some_and(Format::is_json)
}

/// Reads the arguments. The option for colours also applies to help and to errors about the arguments.
fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let arguments = arguments.collect::<Vec<_>>();
    let mut command = command().color(wanted_color(&arguments));
    let mut matches = command.try_get_matches_from_mut(&arguments)?;
    Arguments::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
}

/// The value of --color. The arguments may be invalid.
fn wanted_color(arguments: &[OsString]) -> ColorChoice {
    value_of("--color", arguments).and_then(|value| ColorChoice::from_str(&value, false).ok()).unwrap_or_default()
}

/// The value of an option. The arguments may be invalid.
fn value_of(name: &str, arguments: &[OsString]) -> Option<String> {
    let mut options =
        arguments.iter().map(|argument| argument.to_string_lossy()).take_while(|argument| argument != "--");
    let value = options.find_map(|option| match option.strip_prefix(name)? {
        "" => Some(String::new()),
        value => value.strip_prefix('=').map(str::to_owned),
    });
    value.filter(|value| !value.is_empty()).or_else(|| options.next().map(|next| next.into_owned()))
}

/// Prints help, or what is wrong with the arguments. In arguments that a message repeats, control characters are escaped.
fn print_usage(error: &clap::Error, arguments: &[OsString], is_json: bool) {
    // An error here means that standard output is closed.
    if !error.use_stderr() {
        drop(error.print());
        return;
    }
    if is_json {
        usage_error(error, true);
        return;
    }
    // The message has colours, so it cannot be escaped as a whole: it is created again from escaped arguments.
    let shown = arguments.iter().map(|argument| harmless(&argument.to_string_lossy()).into_owned());
    match parse(shown.map(OsString::from)) {
        Err(harmless) if harmless.kind() == error.kind() => drop(harmless.print()),
        _ => drop(write!(std::io::stderr(), "{}", harmless(&error.render().to_string()))),
    }
}

/// The names of the JSON Schemas of what the program writes, sorted: `hlo diff` is `hlo-diff`.
pub fn schema_names() -> Vec<&'static str> {
    verbs::schema::names()
}

/// The answers of `check` to an input, and whether every line is a shape.
///
/// # Panics
/// If the input cannot be read.
pub fn check(input: impl Read) -> (Vec<u8>, bool) {
    verbs::check::answers_to(input).expect("an input that can be read")
}
