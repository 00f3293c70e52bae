//! `rustc`: the output of the Rust compiler, with shapes in place of the types of `xla-shape`.

use crate::args::{Format, RustcArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape_answers::rustc::Output;
use xla_shape_files::read_regular;
use xla_shape_render::harmless_but_colours;

/// How many bytes of a file with whole names of types are read.
const MAX_NAMES: u64 = 1 << 20;

/// Writes lines as they come in, so that a build can be followed; a message that compares types is written once it is complete.
pub(crate) fn run(arguments: &RustcArguments) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut state = Output::new(whole_names as fn(&str) -> Option<String>);
    io::for_each_line(&arguments.file, xla_shape_files::open(&arguments.file)?, |line| {
        let written = match line {
            Some(Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. }) => {
                output.write_all(&answered(&mut state, bytes, arguments.format))
            }
            None => output.flush(),
        };
        written.map_err(Failure::Write)
    })?;
    let rest = state.finish();
    output.write_all(harmless_but_colours(&rest).as_bytes()).and_then(|()| output.flush()).map_err(Failure::Write)
}

fn answered(state: &mut Output<fn(&str) -> Option<String>>, bytes: &[u8], format: Format) -> Vec<u8> {
    let Ok(line) = std::str::from_utf8(bytes) else {
        // The compiler writes UTF-8, so this line comes from another program; with JSON it is skipped, because only messages are written.
        return match format {
            Format::Text => [harmless_but_colours(&state.finish()).as_bytes(), &not_text(bytes), b"\n"].concat(),
            Format::Json => Vec::new(),
        };
    };
    let message = line.starts_with('{').then(|| state.message(line)).flatten();
    let text = match (message, format) {
        (Some(message), Format::Json) => message.json(),
        (Some(message), Format::Text) => state.finish() + message.text().unwrap_or_default(),
        (None, Format::Json) => String::new(),
        (None, Format::Text) => state.line(line),
    };
    match format {
        Format::Text => harmless_but_colours(&text).into_owned().into_bytes(),
        // The JSON is escaped already.
        Format::Json => text.into_bytes(),
    }
}

/// Copies a line that is not UTF-8, with control characters escaped, including single-byte (C1) controls.
fn not_text(line: &[u8]) -> Vec<u8> {
    let mut shown = Vec::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        shown.extend_from_slice(harmless_but_colours(chunk.valid()).as_bytes());
        for &byte in chunk.invalid() {
            match byte {
                0x80..=0x9f => shown.extend_from_slice(format!("\\x{byte:02x}").as_bytes()),
                _ => shown.push(byte),
            }
        }
    }
    shown
}

/// The contents of a file with whole names of types.
fn whole_names(path: &str) -> Option<String> {
    // The path comes from the input, so it may name anything.
    String::from_utf8(read_regular(path, MAX_NAMES).ok()?).ok()
}
