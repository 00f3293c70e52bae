//! `rustc`: the output of the Rust compiler, with shapes instead of the types of `xla-shape`.

use crate::args::{Format, RustcArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape_answers::json_line;
use xla_shape_answers::rustc::Output;
use xla_shape_files::read_regular;
use xla_shape_render::{first_lines, harmless_but_colours};

/// The compiler writes long names of types to files. At most this many bytes of such a file are read.
const MAX_NAMES: u64 = 1 << 20;

/// Writes lines as they arrive, so that the user can follow a build. A message that compares types is written once it is complete.
pub(crate) fn run(arguments: &RustcArguments) -> Result<(), Failure> {
    if arguments.format == Format::Tool {
        // The tool's answer is the text.
        let mut text = Vec::new();
        write(arguments, Format::Text, &mut text)?;
        return io::write(json_line(&String::from_utf8_lossy(&text)).as_bytes());
    }
    if arguments.format == Format::Digest {
        let mut text = Vec::new();
        write(arguments, Format::Text, &mut text)?;
        return io::print(&first_lines(&String::from_utf8_lossy(&text)));
    }
    write(arguments, arguments.format, &mut std::io::BufWriter::new(std::io::stdout().lock()))
}

fn write(arguments: &RustcArguments, format: Format, output: &mut impl Write) -> Result<(), Failure> {
    let names: fn(&str) -> Option<String> = if arguments.no_files { |_| None } else { whole_names };
    let mut state = Output::new(names);
    io::for_each_line(&arguments.file, xla_shape_files::open(&arguments.file)?, |line| {
        let written = match line {
            Some(Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. }) => {
                output.write_all(&answered(&mut state, bytes, format))
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
        return match format.is_json() {
            false => [harmless_but_colours(&state.finish()).as_bytes(), &not_text(bytes), b"\n"].concat(),
            true => Vec::new(),
        };
    };
    let message = line.starts_with('{').then(|| state.message(line)).flatten();
    let text = match (message, format.is_json()) {
        (Some(message), true) => message.json(),
        (Some(message), false) => state.finish() + message.text().unwrap_or_default(),
        (None, true) => String::new(),
        (None, false) => state.line(line),
    };
    match format.is_json() {
        false => harmless_but_colours(&text).into_owned().into_bytes(),
        // JSON escapes control characters already.
        true => text.into_bytes(),
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

/// The contents of a file in which the compiler wrote the whole name of a type.
fn whole_names(path: &str) -> Option<String> {
    // The path comes from the input, so it may name any file: read only regular ones.
    String::from_utf8(read_regular(path, MAX_NAMES).ok()?).ok()
}
