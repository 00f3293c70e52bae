//! Reads lines of input, and writes to standard output.

mod lines;
mod progress;
mod utf16;

pub(crate) use lines::{Line, MAX_LINE, for_each_line};
pub(crate) use progress::{progress, progress_of_profile};
pub(crate) use utf16::AsUtf8;

use crate::args::Format;
use crate::failure::Failure;
use anstyle::{AnsiColor, Style};
use clap::builder::Styles;
use std::fmt::Display;
use std::io::{self, Write};
use xla_shape_render::{Text, harmless};

/// Writes bytes to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(Failure::Write)
}

/// Replaces standard input by these bytes, for a verb that reads its file from there. The old input has been read, or is not used.
#[cfg(unix)]
pub(crate) fn put_into_stdin(bytes: &[u8]) -> Result<(), Failure> {
    use std::io::Seek as _;
    let put = || -> io::Result<()> {
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(rustix::stdio::dup2_stdin(file)?)
    };
    put().map_err(|error| Failure::said(format_args!("cannot keep the text in a file: {error}")))
}

#[cfg(not(unix))]
pub(crate) fn put_into_stdin(_: &[u8]) -> Result<(), Failure> {
    Err(Failure::said("expected a verb, such as `scan` or `hlo`, for a text in standard input"))
}

/// Writes text to standard output. On a terminal, headings are bold.
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

/// Writes a message to standard error: an error, a warning or a note. On a terminal it looks like the messages of the argument parser.
///
/// Control characters are escaped. If standard error is closed, nothing happens: the exit code still tells.
pub(crate) fn tell(message: impl Display) {
    let text = message.to_string();
    let mut output = anstream::stderr().lock();
    for line in harmless(&text).lines() {
        let (before, style, styled, after) = styled(line);
        let _ = writeln!(output, "{before}{style}{styled}{style:#}{after}");
    }
}

/// The beginning of each line about progress that `mcp` reads.
pub(crate) const PROGRESS_MARK: &str = "progress: ";

/// Tells the server that started this process what the process is doing.
pub(crate) fn report(format: Format, what: &str) {
    if format == Format::Tool {
        tell(format_args!("{PROGRESS_MARK}{what}"));
    }
}

/// Writes the notes of a compiler to standard error, with control characters escaped.
pub(crate) fn notes(text: &str) {
    // An error means that standard error is closed.
    let _ = io::stderr().write_all(harmless(text).as_bytes());
}

/// Finds the part of a line that has a style: the first word of a message, or the marks under a text. Returns the text before it, its style, the
/// part itself, and the text after it.
fn styled(line: &str) -> (&str, Style, &str, &str) {
    let styles = Styles::styled();
    let marks = line.rfind("| ").map_or(line.len(), |bar| bar + "| ".len());
    let (margin, marks) = line.split_at(marks);
    if marks.ends_with('^') && marks.bytes().all(|byte| matches!(byte, b' ' | b'^')) {
        return (margin, *styles.get_error(), marks, "");
    }
    let warning = Style::new().bold().fg_color(Some(AnsiColor::Yellow.into()));
    [
        ("error:", *styles.get_error()),
        ("warning:", warning),
        ("help:", *styles.get_valid()),
        ("note:", *styles.get_valid()),
    ]
    .into_iter()
    .find_map(|(word, style)| Some(("", style, word, line.strip_prefix(word)?)))
    .unwrap_or(("", Style::new(), "", line))
}

/// The width of text in characters: `COLUMNS`, or else the width of the terminal, limited to what is easy to read.
pub(crate) fn width() -> usize {
    const ELSEWHERE: usize = 80;
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns: &usize| columns > 0);
    let terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    columns().or_else(terminal).unwrap_or(ELSEWHERE).clamp(40, 100)
}
