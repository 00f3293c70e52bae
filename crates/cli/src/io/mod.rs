//! Reads lines of input, and writes to standard output.

mod lines;
mod progress;

pub(crate) use lines::{Line, MAX_LINE, for_each_line};
pub(crate) use progress::progress;

use crate::failure::Failure;
use anstyle::Style;
use std::io::{self, Write};
use xla_shape_render::Text;

/// Writes bytes to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(Failure::Write)
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

/// The width of text in characters: `COLUMNS`, otherwise the width of the terminal, up to a limit at which text is hard to read.
pub(crate) fn width() -> usize {
    const ELSEWHERE: usize = 80;
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok().filter(|&columns: &usize| columns > 0);
    let terminal = || Some(usize::from(terminal_size::terminal_size_of(io::stdout())?.0.0));
    columns().or_else(terminal).unwrap_or(ELSEWHERE).clamp(40, 100)
}
