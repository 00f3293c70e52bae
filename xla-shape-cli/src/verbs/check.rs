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
use xla_shape::proto::{encode_shape, encode_sharding};
use xla_shape::shard::Sharding;

/// The answer to a line that is a shape.
#[derive(Serialize)]
struct Good<'a> {
    input: &'a str,
    ok: bool,
    shape: &'a str,
    bytes: Option<u64>,
    /// XLA's ShapeProto, in base64.
    proto: &'a str,
}

/// The answer to a line that is a sharding.
#[derive(Serialize)]
struct GoodSharding<'a> {
    input: &'a str,
    ok: bool,
    sharding: String,
    /// XLA's OpSharding, in base64.
    proto: String,
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
    let output = &mut std::io::stdout().lock();
    let all_good = if arguments.sharding {
        answers::answer(ShardingChecker, &arguments.file, input, output)?
    } else {
        answer(&arguments.file, input, output)?
    };
    if all_good { Ok(()) } else { Err(Failure::Told) }
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
                let (bytes, encoded) = (value.byte_size(), encode_shape(&value));
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

/// Makes the answers to shardings.
struct ShardingChecker;

impl Answerer for ShardingChecker {
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool {
        match text.parse::<Sharding>() {
            Ok(value) => {
                let proto = STANDARD.encode(encode_sharding(&value));
                put(&GoodSharding { input: text, ok: true, sharding: value.to_string(), proto }, answers);
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
}
