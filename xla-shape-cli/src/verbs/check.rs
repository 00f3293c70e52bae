//! `check`: one answer for each line.

use super::answers::{self, Answerer, BATCH, Problem, put};
use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::io;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;
use xla_shape::Shape;
use xla_shape::proto::encode_shape;

/// The answer to a line that is a shape.
#[derive(Serialize)]
struct Good<'a> {
    input: &'a str,
    ok: bool,
    shape: &'a str,
    bytes: Option<usize>,
    /// XLA's ShapeProto, in base64.
    proto: &'a str,
}

/// The answer to any other line.
#[derive(Serialize)]
struct Bad<'a> {
    input: &'a str,
    ok: bool,
    error: Problem,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let input = io::open(&arguments.file)?;
    if answer(&arguments.file, input, &mut std::io::stdout().lock())? { Ok(()) } else { Err(Failure::Told) }
}

/// Writes the answer to every line of a file; whether all are good.
pub(crate) fn answer(file: &Path, input: impl Read, output: &mut impl Write) -> Result<bool, Failure> {
    answers::answer(Checker::default(), file, input, output)
}

/// Makes the answers. It has room for the parts of an answer, which is empty between answers.
#[derive(Default)]
struct Checker {
    shape: String,
    proto: String,
}

impl Answerer for Checker {
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool {
        match text.parse::<Shape>() {
            Ok(value) => {
                write!(self.shape, "{value}").expect("a text takes what is written to it");
                let (bytes, encoded) = (value.byte_size().ok(), encode_shape(&value));
                // A shape of many elements takes more room than its answer, which is made next.
                drop(value);
                STANDARD.encode_string(&encoded, &mut self.proto);
                drop(encoded);
                put(&Good { input: text, ok: true, shape: &self.shape, bytes, proto: &self.proto }, answers);
                self.shape.clear();
                self.proto.clear();
                true
            }
            Err(error) => {
                self.refuse(text, error.into(), answers);
                false
            }
        }
    }

    fn refuse(&mut self, input: &str, error: Problem, answers: &mut Vec<u8>) {
        put(&Bad { input, ok: false, error }, answers);
    }

    fn rest(&mut self) {
        self.shape.shrink_to(BATCH);
        self.proto.shrink_to(BATCH);
    }
}
