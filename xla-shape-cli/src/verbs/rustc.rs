//! `rustc`: what the compiler says, with shapes where it has types of this library.

use crate::args::{Format, RustcArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::{Read as _, Write};
use xla_shape_render::rustc::{Output, long_type_file, whole_name};

/// The most that is read of a file with the whole name of a type, in bytes.
const MAX_NAME: u64 = 1 << 20;

/// Lines are answered as they come in, so that a build can be followed.
pub(crate) fn run(arguments: &RustcArguments) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut state = Output::default();
    io::for_each_line(&arguments.file, io::open(&arguments.file)?, |line| {
        let written = match line {
            Some(Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. }) => {
                output.write_all(&answered(&mut state, bytes, arguments.format))
            }
            None => output.flush(),
        };
        written.map_err(Failure::Write)
    })
}

fn answered(state: &mut Output, bytes: &[u8], format: Format) -> Vec<u8> {
    let Ok(line) = std::str::from_utf8(bytes) else {
        // No line of the compiler: it stays as it is, but where only messages are wanted.
        return if format == Format::Text { [bytes, b"\n"].concat() } else { Vec::new() };
    };
    let message = line.starts_with('{').then(|| Output::message(line)).flatten();
    let text = match (message, format) {
        (Some(message), Format::Json) => message.json(),
        (Some(message), Format::Text) => message.text().map_or_else(String::new, with_whole_names),
        (None, Format::Json) => String::new(),
        (None, Format::Text) => state.line(line) + &whole(line),
    };
    text.into_bytes()
}

/// A message, and after each line that names a file with the whole name of a type, that type.
fn with_whole_names(text: &str) -> String {
    text.lines().map(|line| format!("{line}\n{}", whole(line))).collect()
}

/// What stands in the file that a line says has the whole name of a type.
fn whole(line: &str) -> String {
    let name = long_type_file(line).and_then(|path| {
        // Any line may say that it is one of the compiler's: a pipe would be waited for.
        std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        let mut name = String::new();
        std::fs::File::open(path).ok()?.take(MAX_NAME).read_to_string(&mut name).ok()?;
        whole_name(&name)
    });
    name.unwrap_or_default()
}
