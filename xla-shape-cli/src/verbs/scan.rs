//! `scan`: every shape in any text, and what messages about memory say.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line, Lines};
use std::io::Write;
use xla_shape_render::Answer;
use xla_shape_render::scan::Scan;

/// JSON is written while lines are read, so that programs can follow a log. Text says everything at the end.
pub(crate) fn run(arguments: &ScanArguments) -> Result<(), Failure> {
    let mut lines = Lines::new(io::open(&arguments.file)?);
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scan = Scan::default();
    let mut read = |line: Line<'_>, output: &mut dyn Write| {
        let bytes = match line {
            Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. } => bytes,
        };
        let found = scan.read_line(bytes);
        if arguments.format == Format::Json {
            for found in found {
                output.write_all(found.json().as_bytes()).map_err(Failure::Write)?;
            }
        }
        Ok(())
    };
    loop {
        while let Some(line) = lines.next_buffered() {
            read(line, &mut output)?;
        }
        output.flush().map_err(Failure::Write)?;
        if !lines.fill().map_err(|error| io::read_failure(&arguments.file, error))? {
            break;
        }
    }
    if let Some(line) = lines.last() {
        read(line, &mut output)?;
    }
    output.flush().map_err(Failure::Write)?;
    drop(output);
    match arguments.format {
        Format::Text => io::print(&scan.text(io::width())),
        Format::Json => {
            if scan.is_empty() {
                // Programs read standard output; where standard error is gone, nobody misses this.
                let _ = write!(std::io::stderr(), "{}", scan.text(io::width()));
            }
            Ok(())
        }
    }
}
