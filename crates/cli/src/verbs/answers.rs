//! One answer for each line of an input, for `check`.

use crate::failure::Failure;
use crate::io::{self, Line, MAX_LINE};
use serde::Serialize;
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::path::Path;
use xla_shape::{ParseError, Span};
use xla_shape_answers::write_json;

/// What is wrong with a line.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    pub(crate) message: String,
    /// The first byte that it is about, and the one after the last.
    pub(crate) span: [u64; 2],
}

impl From<ParseError> for Problem {
    fn from(error: ParseError) -> Self {
        let Span { start, end } = error.span();
        Self { message: error.to_string(), span: [start as u64, end as u64] }
    }
}

/// Makes the answers to lines.
pub(crate) trait Answerer {
    /// Appends the answer to a line that is UTF-8, each line of the answer with its newline; returns whether the line was good.
    fn answer(&mut self, text: &str, answers: &mut Vec<u8>) -> bool;

    /// Appends the answer to a line that is not UTF-8, or too long.
    fn refuse(&mut self, input: &str, problem: Problem, answers: &mut Vec<u8>);

    /// Called after answers have been written, to free the memory that a huge line took.
    fn free_memory(&mut self) {}
}

/// How many bytes of answers are collected before they are written, as long as more input is available.
pub(crate) const BATCH: usize = 64 << 10;

/// How many bytes of a line that is too long its answer repeats.
const SHOWN: usize = 1024;

/// How many lines are cached with their answers, and the length of the longest line and answer that are, in bytes.
const REMEMBERED: usize = 4096;
const MAX_REMEMBERED: usize = 512;

/// Writes the answer to every line of a file; returns whether all lines are good.
pub(crate) fn answer(
    answerer: impl Answerer,
    file: &Path,
    input: impl Read,
    output: &mut impl Write,
) -> Result<bool, Failure> {
    let mut answers = Answers::new(answerer);
    io::for_each_line(file, input, |line| {
        let is_end = line.is_none();
        if let Some(line) = line {
            answers.add(line);
        }
        if is_end || answers.json.len() >= BATCH { answers.write(output) } else { Ok(()) }
    })?;
    Ok(answers.all_good)
}

/// Collects answers until they are written.
struct Answers<A> {
    answerer: A,
    json: Vec<u8>,
    all_good: bool,
    /// A cache of good lines with their answers, indexed by hash, because logs repeat lines.
    cache: Vec<(Vec<u8>, Vec<u8>)>,
    hasher: RandomState,
}

impl<A: Answerer> Answers<A> {
    fn new(answerer: A) -> Self {
        Self {
            answerer,
            json: Vec::with_capacity(2 * BATCH),
            all_good: true,
            cache: vec![Default::default(); REMEMBERED],
            hasher: RandomState::new(),
        }
    }

    fn write(&mut self, output: &mut impl Write) -> Result<(), Failure> {
        output.write_all(&self.json).and_then(|()| output.flush()).map_err(Failure::Write)?;
        self.json.clear();
        // Frees the memory that a huge line took.
        self.json.shrink_to(2 * BATCH);
        self.answerer.free_memory();
        Ok(())
    }

    /// Appends the answer to a line.
    fn add(&mut self, line: Line<'_>) {
        match line {
            Line::Whole(bytes) if bytes.len() <= MAX_REMEMBERED => {
                let place = self.hasher.hash_one(bytes) as usize % REMEMBERED;
                let (line, answer) = &self.cache[place];
                if line == bytes && !answer.is_empty() {
                    self.json.extend_from_slice(answer);
                    return;
                }
                let start = self.json.len();
                let is_good = self.add_bytes(bytes);
                let (line, answer) = &mut self.cache[place];
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
                self.refuse(&shown, Problem { message, span: [MAX_LINE as u64, length] });
            }
        }
    }

    /// Appends the answer to a line that may not be UTF-8; returns whether the line was good.
    fn add_bytes(&mut self, bytes: &[u8]) -> bool {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                let is_good = self.answerer.answer(text, &mut self.json);
                self.all_good &= is_good;
                is_good
            }
            Err(error) => {
                let start = error.valid_up_to();
                let end = error.error_len().map_or(bytes.len(), |length| start + length);
                let message = format!("expected UTF-8, found {}", Hexadecimal(&bytes[start..end]));
                self.refuse(&String::from_utf8_lossy(bytes), Problem { message, span: [start as u64, end as u64] });
                false
            }
        }
    }

    fn refuse(&mut self, input: &str, problem: Problem) {
        self.all_good = false;
        self.answerer.refuse(input, problem, &mut self.json);
    }
}

/// Appends an answer as a line of JSON.
pub(crate) fn put(answer: &impl Serialize, answers: &mut Vec<u8>) {
    // This does not fail: a `Vec` takes every byte, and texts and numbers are always JSON.
    write_json(&mut *answers, answer).expect("an answer is JSON");
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
