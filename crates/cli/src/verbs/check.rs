//! `check`: one answer for each line.

use super::answers::{self, Answerer, BATCH, Problem, put};
use crate::args::CheckArguments;
use crate::failure::Failure;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::path::Path;
use xla_shape::proto::{encode_shape, encode_sharding};
use xla_shape::shard::Sharding;
use xla_shape::text::Parser;
use xla_shape::tpu::Generation;
use xla_shape::tpu::unused_tiles;
use xla_shape::{ParseError, Shape};

/// The form of each answer; `docs/schemas/check.json` is its JSON Schema.
const SCHEMA: &str = "xla-shape/check/1";

/// The answer to a line that is a shape.
#[derive(Serialize)]
struct Good<'a> {
    schema: &'static str,
    input: &'a str,
    ok: bool,
    shape: &'a str,
    bytes: Option<u64>,
    /// XLA's ShapeProto, in base64.
    proto: &'a str,
    /// Of the first array in tiles that no TPU uses for its elements: which tiles a TPU uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

/// The answer to a line that is a sharding.
#[derive(Serialize)]
struct GoodSharding<'a> {
    schema: &'static str,
    input: &'a str,
    ok: bool,
    sharding: String,
    /// XLA's OpSharding, in base64.
    proto: String,
}

/// The answer to any other line.
#[derive(Serialize)]
struct Bad<'a> {
    schema: &'static str,
    input: &'a str,
    ok: bool,
    error: Problem,
}

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let input = xla_shape_files::open(&arguments.input.file)?;
    let output = &mut std::io::stdout().lock();
    let all_good = if arguments.sharding {
        answers::answer(ShardingChecker, &arguments.input.file, input, output)?
    } else {
        let checker = Checker { generation: arguments.generation, ..Checker::default() };
        answers::answer(checker, &arguments.input.file, input, output)?
    };
    if all_good { Ok(()) } else { Err(Failure::Told) }
}

/// Writes the answer to every line of a file; returns whether all lines are good.
pub(crate) fn answer(file: &Path, input: impl Read, output: &mut impl Write) -> Result<bool, Failure> {
    answers::answer(Checker::default(), file, input, output)
}

/// Answers lines that are shapes. The buffers are reused, and empty between answers.
#[derive(Default)]
struct Checker {
    /// The TPU whose default layouts replace those of the lines.
    generation: Option<Generation>,
    shape: String,
    proto: String,
}

impl Checker {
    fn read(&self, text: &str) -> Result<Shape, ParseError> {
        let Some(generation) = self.generation else { return text.parse() };
        let mut parser = Parser::whole(text).for_tpu(generation);
        let shape = parser.shape()?;
        parser.finish()?;
        Ok(shape)
    }
}

impl Answerer for Checker {
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool {
        match self.read(text) {
            Ok(value) => {
                write!(self.shape, "{value}").expect("a text takes what is written to it");
                let (bytes, encoded) = (value.byte_size(), encode_shape(&value));
                let mut arrays = value.flatten_tuple_shape().filter_map(Shape::array);
                let hint = arrays.find_map(|array| unused_tiles(array.element_type(), array.layout()));
                drop(arrays);
                // A shape with many elements takes more memory than its answer, so it is freed first.
                drop(value);
                STANDARD.encode_string(&encoded, &mut self.proto);
                drop(encoded);
                let (shape, proto, hint) = (&self.shape, &self.proto, hint.as_ref().map(|hint| hint.as_str()));
                put(&Good { schema: SCHEMA, input: text, ok: true, shape, bytes, proto, hint }, answers);
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
        put(&Bad { schema: SCHEMA, input, ok: false, error }, answers);
    }

    fn free_memory(&mut self) {
        self.shape.shrink_to(BATCH);
        self.proto.shrink_to(BATCH);
    }
}

/// Answers lines that are shardings.
struct ShardingChecker;

impl Answerer for ShardingChecker {
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool {
        match text.parse::<Sharding>() {
            Ok(value) => {
                let proto = STANDARD.encode(encode_sharding(&value));
                put(
                    &GoodSharding { schema: SCHEMA, input: text, ok: true, sharding: value.to_string(), proto },
                    answers,
                );
                true
            }
            Err(error) => {
                self.refuse(text, error.into(), answers);
                false
            }
        }
    }

    fn refuse(&mut self, input: &str, error: Problem, answers: &mut Vec<u8>) {
        put(&Bad { schema: SCHEMA, input, ok: false, error }, answers);
    }
}
