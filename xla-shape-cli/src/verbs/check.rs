//! `check`: one answer for each line.

use crate::args::CheckArguments;
use crate::failure::Failure;
use crate::io::{self, Line, Lines, MAX_LINE};
use base64::display::Base64Display;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD};
use serde::Serialize;
use std::fmt::Display;
use std::io::Write;
use xla_shape::proto::encode_shape;
use xla_shape::{Shape, Span};

/// The answer to a line that is a shape.
#[derive(Serialize)]
struct Good<'a> {
    input: &'a str,
    ok: bool,
    #[serde(serialize_with = "super::display")]
    shape: &'a Shape,
    bytes: Option<usize>,
    /// XLA's ShapeProto, in base64.
    #[serde(serialize_with = "super::display")]
    proto: Base64Display<'a, 'static, GeneralPurpose>,
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

pub(crate) fn run(arguments: &CheckArguments) -> Result<(), Failure> {
    let mut lines = Lines::new(io::open(&arguments.file)?);
    let mut output = std::io::stdout().lock();
    let mut answers = Vec::with_capacity(2 * BATCH);
    let mut all_good = true;
    loop {
        while let Some(line) = lines.next_buffered() {
            all_good &= answer(line, &mut answers);
            if answers.len() >= BATCH {
                write(&mut output, &mut answers)?;
            }
        }
        // Whoever waits for these answers may be who writes the next line.
        write(&mut output, &mut answers)?;
        if !lines.fill().map_err(|error| io::read_failure(&arguments.file, error))? {
            break;
        }
    }
    if let Some(line) = lines.last() {
        all_good &= answer(line, &mut answers);
        write(&mut output, &mut answers)?;
    }
    if all_good { Ok(()) } else { Err(Failure::Told) }
}

fn write(output: &mut impl Write, answers: &mut Vec<u8>) -> Result<(), Failure> {
    output.write_all(answers).and_then(|()| output.flush()).map_err(Failure::Write)?;
    answers.clear();
    Ok(())
}

/// Appends the answer to a line; whether the line was good.
fn answer(line: Line<'_>, answers: &mut Vec<u8>) -> bool {
    match line {
        Line::Whole(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => return answer_text(text, answers),
            Err(error) => {
                let start = error.valid_up_to();
                let end = error.error_len().map_or(bytes.len(), |length| start + length);
                let message = format!("expected UTF-8, found {}", Hexadecimal(&bytes[start..end]));
                bad(&String::from_utf8_lossy(bytes), message, [start as u64, end as u64], answers);
            }
        },
        Line::TooLong { beginning, length } => {
            let shown = String::from_utf8_lossy(&beginning[..beginning.len().min(SHOWN)]);
            let message = format!("expected a line of at most {MAX_LINE} bytes, found {length}");
            bad(&shown, message, [MAX_LINE as u64, length], answers);
        }
    }
    false
}

fn answer_text(text: &str, answers: &mut Vec<u8>) -> bool {
    match text.parse::<Shape>() {
        Ok(shape) => {
            let proto = encode_shape(&shape);
            let proto = Base64Display::new(&proto, &STANDARD);
            put(&Good { input: text, ok: true, shape: &shape, bytes: shape.byte_size().ok(), proto }, answers);
            true
        }
        Err(error) => {
            let Span { start, end } = error.span();
            bad(text, error.to_string(), [start as u64, end as u64], answers);
            false
        }
    }
}

fn bad(input: &str, message: String, span: [u64; 2], answers: &mut Vec<u8>) {
    put(&Bad { input, ok: false, error: Problem { message, span } }, answers);
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
