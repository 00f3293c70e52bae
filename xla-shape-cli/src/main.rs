//! The `xla-shape` program: explains XLA shapes and layouts and checks their text.
//!
//! It is thin: what a shape means, whether it is valid, how large it is and where its elements lie is the library's to
//! say. Here are its arguments, its files and its words.

#![forbid(unsafe_code)]

mod args;
mod failure;
mod io;
mod render;
mod verbs;

use args::{Arguments, Verb};
use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    let result = match Arguments::parse().verb {
        Verb::Advise(arguments) => verbs::advise::run(&arguments),
        Verb::Bitcast(arguments) => verbs::bitcast::run(&arguments),
        Verb::Check(arguments) => verbs::check::run(&arguments),
        Verb::Completions(arguments) => verbs::manual::completions(&arguments),
        Verb::Draw(arguments) => verbs::draw::run(&arguments),
        Verb::Explain(arguments) => verbs::explain::run(&arguments),
        Verb::Hlo(arguments) => verbs::hlo::run(&arguments),
        Verb::Index(arguments) => verbs::index::run(&arguments),
        Verb::Man => verbs::manual::man(),
        Verb::Map(arguments) => verbs::map::run(&arguments),
        Verb::Relayout(arguments) => verbs::relayout::run(&arguments),
        Verb::Scan(arguments) => verbs::scan::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
