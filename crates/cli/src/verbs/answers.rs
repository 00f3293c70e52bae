//! One answer for each line of an input, for `check`.

use crate::failure::Failure;
use crate::io::{self, Line, MAX_LINE};
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::io::{Read, Write};
use std::path::Path;
use xla_shape_answers::check::{Checked, Checker, Problem};
use xla_shape_answers::write_answer;

/// While more input is available, answers are collected up to this many bytes before they are written.
const BATCH: usize = 64 << 10;

/// The answer about a line that is too long repeats this many bytes of it.
const SHOWN: usize = 1024;

/// How many lines are cached with their answers. Longer lines and answers than `MAX_REMEMBERED` bytes are not cached.
const REMEMBERED: usize = 4096;
const MAX_REMEMBERED: usize = 512;

/// Writes the answer to every line of a file; returns whether all lines are good.
pub(crate) fn answer(
    checker: Checker,
    file: &Path,
    input: impl Read,
    output: &mut impl Write,
) -> Result<bool, Failure> {
    let mut answers = Answers::new(checker);
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
struct Answers {
    checker: Checker,
    json: Vec<u8>,
    all_good: bool,
    /// A cache of good lines with their answers, indexed by hash, because logs repeat lines.
    cache: Vec<(Vec<u8>, Vec<u8>)>,
    hasher: RandomState,
}

impl Answers {
    fn new(checker: Checker) -> Self {
        Self {
            checker,
            json: Vec::with_capacity(2 * BATCH),
            all_good: true,
            cache: vec![Default::default(); REMEMBERED],
            hasher: RandomState::new(),
        }
    }

    fn write(&mut self, output: &mut impl Write) -> Result<(), Failure> {
        output.write_all(&self.json).and_then(|()| output.flush()).map_err(Failure::Write)?;
        self.json.clear();
        // Frees the memory of a huge line.
        self.json.shrink_to(2 * BATCH);
        self.checker.shrink_to(BATCH);
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
                let answer = self.checker.check(text);
                put(&answer, &mut self.json);
                self.all_good &= answer.is_good();
                answer.is_good()
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
        put(&Checked::bad(input, problem), &mut self.json);
    }
}

/// Appends an answer as a line of JSON.
fn put(answer: &Checked<'_>, answers: &mut Vec<u8>) {
    // This does not fail: a `Vec` takes every byte, and texts and numbers can always be written as JSON.
    write_answer(answers, answer).expect("an answer is JSON");
}

/// Displays bytes as `0xff 0x80`.
struct Hexadecimal<'a>(&'a [u8]);

impl Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            write!(f, "{}0x{byte:02x}", if i > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}
