//! The `xla-shape` program: explains XLA shapes and layouts and checks their text. No library for others: it is one for
//! its own tests and fuzz targets.
//!
//! It is thin: what a shape means, whether it is valid, how large it is and where its elements are is the library's to
//! say. Here are its arguments, its files and its words.

#![forbid(unsafe_code)]

mod args;
mod failure;
mod io;
mod plan;
mod verbs;

use args::{Arguments, Verb};
use clap::Parser;
use std::io::Read;
use std::process::ExitCode;

/// Does what the program's arguments say, and gives its exit code.
pub fn run() -> ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Advise(arguments) => verbs::advise::run(&arguments),
        Verb::Bitcast(arguments) => verbs::bitcast::run(&arguments),
        Verb::Block(arguments) => verbs::block::run(&arguments),
        Verb::Check(arguments) => verbs::check::run(&arguments),
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
        Ok(()) => ExitCode::SUCCESS,
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
