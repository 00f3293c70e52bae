//! Files and streams.

pub(crate) mod checkpoint;
mod lines;
mod replacement;
mod sink;
mod source;
pub(crate) mod tensor;

pub(crate) use lines::{Line, MAX_LINE, for_each_line};
pub(crate) use replacement::Replacement;
pub(crate) use sink::{Anywhere, InOrder, Sink};
pub(crate) use source::{CALL, reading_effort};

use crate::failure::Failure;
use anstyle::Style;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use xla_shape_render::Text;

/// The file's contents; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send + Sync>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(read_failure(path, error)),
    }
}

/// All of a file; `-` is standard input. What does not end is read no further than the parser of modules would.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open(path)?.take(u32::MAX.into()).read_to_end(&mut bytes).map_err(|error| read_failure(path, error))?;
    Ok(bytes)
}

pub(crate) fn read_failure(path: &Path, error: io::Error) -> Failure {
    let name = if path.as_os_str() == "-" { "standard input".into() } else { format!("`{}`", path.display()) };
    Failure::Read { name, error }
}

/// Writes a file, whole or not at all; `-` is standard output.
pub(crate) fn write_file(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return write(contents);
    }
    let written = Replacement::new(path).and_then(|mut file| {
        file.write_all(contents)?;
        file.commit()
    });
    written.map_err(|error| write_failure(path, error))
}

pub(crate) fn write_failure(path: &Path, error: io::Error) -> Failure {
    Failure::WriteFile { name: path.display().to_string(), error }
}

/// Writes bytes to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(Failure::Write)
}

/// Writes text to standard output, with headings in bold where it is a terminal that shows them.
pub(crate) fn print(text: &Text) -> Result<(), Failure> {
    let bold = Style::new().bold();
    let mut output = io::BufWriter::new(anstream::stdout().lock());
    let mut write = || {
        for (is_heading, line) in text.lines() {
            match is_heading {
                true => writeln!(output, "{bold}{line}{bold:#}")?,
                false => writeln!(output, "{line}")?,
            }
        }
        output.flush()
    };
    write().map_err(Failure::Write)
}

/// How wide a page of text is: as `COLUMNS` says, or else as wide as the terminal, but not so wide that it is hard to
/// read.
pub(crate) fn width() -> usize {
    const ELSEWHERE: usize = 80;
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns: &usize| columns > 0);
    let terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    columns().or_else(terminal).unwrap_or(ELSEWHERE).clamp(40, 100)
}
