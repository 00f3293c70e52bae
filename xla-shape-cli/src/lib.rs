//! The `xla-shape` program: explains XLA shapes and layouts and checks their text. It is a library for its own tests and fuzz
//! targets, and for the Python package, which has the program and what it does with files.
//!
//! It is thin: what a shape means, whether it is valid, how large it is and where its elements are is the library's to
//! say. Here are its arguments, its files and its words.

#![forbid(unsafe_code)]

mod args;
mod failure;
pub mod files;
mod given;
mod io;
mod verbs;

pub use failure::Failure;

use args::{Arguments, Verb};
use clap::Parser;
use std::ffi::OsString;
use std::io::Read;
use std::process::ExitCode;

/// Does what the program's arguments say, and gives its exit code.
pub fn run() -> ExitCode {
    let program = std::env::current_exe().map_or_else(|_| "xla-shape".into(), OsString::from);
    ExitCode::from(run_with(&[program], std::env::args_os()))
}

/// Does what these arguments say, the first of which is the program's name, and gives its exit code.
///
/// `program` is the command that starts the program anew: compilers run in processes of their own.
pub fn run_with(program: &[OsString], arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // Where nobody listens, nobody is left to tell.
            let _ = error.print();
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match arguments.verb {
        Verb::Advise(arguments) => verbs::advise::run(&arguments),
        Verb::Bitcast(arguments) => verbs::bitcast::run(&arguments),
        Verb::Block(arguments) => verbs::block::run(&arguments),
        Verb::Check(arguments) => verbs::check::run(&arguments),
        Verb::Compile(arguments) => verbs::compile::run(&arguments, program),
        Verb::Completions(arguments) => verbs::manual::completions(&arguments),
        Verb::Draw(arguments) => verbs::draw::run(&arguments),
        Verb::Explain(arguments) => verbs::explain::run(&arguments),
        Verb::Hlo(arguments) => verbs::hlo::run(&arguments),
        Verb::Index(arguments) => verbs::index::run(&arguments),
        Verb::Man => verbs::manual::man(),
        Verb::Map(arguments) => verbs::map::run(&arguments),
        Verb::Relayout(arguments) => verbs::relayout::run(&arguments),
        Verb::Reshape(arguments) => verbs::reshape::run(&arguments),
        Verb::Rustc(arguments) => verbs::rustc::run(&arguments),
        Verb::Scan(arguments) => verbs::scan::run(&arguments),
        Verb::Shard(arguments) => verbs::shard::run(&arguments),
        Verb::Tpu(arguments) => verbs::tpu::run(&arguments),
    };
    match result {
        Ok(()) => 0,
        Err(failure) => failure.report(),
    }
}

/// What `check` answers to an input, and whether every line of it is a shape.
///
/// # Panics
/// If the input cannot be read.
pub fn check(input: impl Read) -> (Vec<u8>, bool) {
    let mut answers = Vec::new();
    let all_good = verbs::check::answer("-".as_ref(), input, &mut answers).expect("an input that can be read");
    (answers, all_good)
}
