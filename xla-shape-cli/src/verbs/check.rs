//! `check`: one answer for each line.

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::io::{self, Line, Lines, MAX_LINE};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use std::fmt::{Display, Write as _};
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::path::Path;
use xla_shape::proto::encode_shape;
use xla_shape::{Shape, Span};

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

#[derive(Serialize)]
struct Problem {
    message: String,
    span: [u64; 2],
}

/// How many bytes of answers are collected before they are written, while more input is at hand.
const BATCH: usize = 64 << 10;

/// How much of a line that is too long its answer repeats, in bytes.
const SHOWN: usize = 1024;

/// How many lines are remembered with their answers, and the longest answer that is, in bytes.
const REMEMBERED: usize = 4096;
const MAX_REMEMBERED: usize = 512;

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let input = io::open(&arguments.file)?;
    if answer(&arguments.file, input, &mut std::io::stdout().lock())? { Ok(()) } else { Err(Failure::Told) }
}

/// Writes the answer to every line of a file; whether all are good.
pub(crate) fn answer(file: &Path, input: impl Read, output: &mut impl Write) -> Result<bool, Failure> {
    let mut lines = Lines::new(input);
    let mut answers = Answers::new();
    loop {
        while let Some(line) = lines.next_buffered() {
            answers.add(line);
            if answers.json.len() >= BATCH {
                answers.write(output)?;
            }
        }
        // Whoever waits for these answers may be who writes the next line.
        answers.write(output)?;
        if !lines.fill().map_err(|error| io::read_failure(file, error))? {
            break;
        }
    }
    if let Some(line) = lines.last() {
        answers.add(line);
        answers.write(output)?;
    }
    Ok(answers.all_good)
}

/// Makes the answers, and keeps them until they are written.
struct Answers {
    json: Vec<u8>,
    all_good: bool,
    /// Good lines with their answers, each in the place that its hash gives: what people check repeats itself.
    known: Vec<(Vec<u8>, Vec<u8>)>,
    hasher: RandomState,
    /// Room for the parts of an answer; empty between answers.
    shape: String,
    proto: String,
}

impl Answers {
    fn new() -> Self {
        Self {
            json: Vec::with_capacity(2 * BATCH),
            all_good: true,
            known: vec![Default::default(); REMEMBERED],
            hasher: RandomState::new(),
            shape: String::new(),
            proto: String::new(),
        }
    }

    fn write(&mut self, output: &mut impl Write) -> Result<(), Failure> {
        output.write_all(&self.json).and_then(|()| output.flush()).map_err(Failure::Write)?;
        self.json.clear();
        // What a huge line took is given back.
        self.json.shrink_to(2 * BATCH);
        self.shape.shrink_to(BATCH);
        self.proto.shrink_to(BATCH);
        Ok(())
    }

    /// Appends the answer to a line.
    fn add(&mut self, line: Line<'_>) {
        match line {
            Line::Whole(bytes) if bytes.len() <= MAX_REMEMBERED => {
                let place = self.hasher.hash_one(bytes) as usize % REMEMBERED;
                let (line, answer) = &self.known[place];
                if line == bytes && !answer.is_empty() {
                    self.json.extend_from_slice(answer);
                    return;
                }
                let start = self.json.len();
                let is_good = self.add_bytes(bytes);
                let (line, answer) = &mut self.known[place];
                let new = &self.json[start..];
                if is_good && new.len() <= MAX_REMEMBERED {
                    line.clear();
                    line.extend_from_slice(bytes);
                    answer.clear();
                    answer.extend_from_slice(new);
                }
            }
            Line::Whole(bytes) => _ = self.add_bytes(bytes),
            Line::TooLong { beginning, length } => {
                let shown = String::from_utf8_lossy(&beginning[..beginning.len().min(SHOWN)]);
                let message = format!("expected a line of at most {MAX_LINE} bytes, found {length}");
                self.add_bad(&shown, message, [MAX_LINE as u64, length]);
            }
        }
    }

    /// Appends the answer to a line that may be no text; whether the line was good.
    fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.add_text(text),
            Err(error) => {
                let start = error.valid_up_to();
                let end = error.error_len().map_or(bytes.len(), |length| start + length);
                let message = format!("expected UTF-8, found {}", Hexadecimal(&bytes[start..end]));
                self.add_bad(&String::from_utf8_lossy(bytes), message, [start as u64, end as u64]);
                false
            }
        }
    }

    fn add_text(&mut self, text: &str) -> bool {
        match text.parse::<Shape>() {
            Ok(value) => {
                write!(self.shape, "{value}").expect("a text takes what is written to it");
                let (bytes, encoded) = (value.byte_size().ok(), encode_shape(&value));
                // A shape of many elements takes more room than its answer, which is made next.
                drop(value);
                STANDARD.encode_string(&encoded, &mut self.proto);
                drop(encoded);
                put(&Good { input: text, ok: true, shape: &self.shape, bytes, proto: &self.proto }, &mut self.json);
                self.shape.clear();
                self.proto.clear();
                true
            }
            Err(error) => {
                let Span { start, end } = error.span();
                self.add_bad(text, error.to_string(), [start as u64, end as u64]);
                false
            }
        }
    }

    fn add_bad(&mut self, input: &str, message: String, span: [u64; 2]) {
        self.all_good = false;
        put(&Bad { input, ok: false, error: Problem { message, span } }, &mut self.json);
    }
}

fn put(answer: &impl Serialize, answers: &mut Vec<u8>) {
    // Writing to memory does not fail, and neither do texts and numbers.
    serde_json::to_writer(&mut *answers, answer).expect("an answer is JSON");
    answers.push(b'\n');
}

/// Bytes as `0xff 0x80`.
struct Hexadecimal<'a>(&'a [u8]);

impl Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}0x{byte:02x}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}
