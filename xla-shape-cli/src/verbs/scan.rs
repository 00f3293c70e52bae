//! `scan`: every shape in any text.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line, Lines};
use std::io::Write;
use xla_shape_render::Answer;
use xla_shape_render::scan::find_in_line;

pub(crate) fn run(arguments: &ScanArguments) -> Result<(), Failure> {
    let mut lines = Lines::new(io::open(&arguments.file)?);
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut number = 0;
    loop {
        while let Some(line) = lines.next_buffered() {
            number += 1;
            scan(line, number, arguments.format, &mut output).map_err(Failure::Write)?;
        }
        output.flush().map_err(Failure::Write)?;
        if !lines.fill().map_err(|error| io::read_failure(&arguments.file, error))? {
            break;
        }
    }
    if let Some(line) = lines.last() {
        scan(line, number + 1, arguments.format, &mut output).map_err(Failure::Write)?;
    }
    output.flush().map_err(Failure::Write)
}

fn scan(line: Line<'_>, number: u64, format: Format, output: &mut impl Write) -> std::io::Result<()> {
    let bytes = match line {
        Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. } => bytes,
    };
    for found in find_in_line(bytes, number) {
        match format {
            Format::Json => output.write_all(found.json().as_bytes())?,
            Format::Text => write!(output, "{}", found.text(io::width()))?,
        }
    }
    Ok(())
}
