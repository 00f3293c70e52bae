//! `scan`: every shape in any text, and the contents of messages about memory.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape_answers::Answer;
use xla_shape_answers::scan::Scan;
use xla_shape_render::Show;

/// Without `--summary`, JSON is written while lines are read, so that programs can follow a log. The text output is a summary at the end.
pub(crate) fn run(arguments: &ScanArguments) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scan = Scan::default();
    io::for_each_line(&arguments.input.file, xla_shape_files::open(&arguments.input.file)?, |line| {
        let Some(Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. }) = line else {
            return output.flush().map_err(Failure::Write);
        };
        let found = scan.read_line(bytes);
        if arguments.answer.format == Format::Json && !arguments.summary {
            for found in found {
                output.write_all(found.json().as_bytes()).map_err(Failure::Write)?;
            }
        }
        Ok(())
    })?;
    drop(output);
    match arguments.answer.format {
        Format::Text => io::print(&scan.text(io::width())),
        Format::Json if arguments.summary => io::write(scan.json().as_bytes()),
        Format::Json => {
            if scan.is_empty() {
                // A person may wonder about an empty output. An error means that standard error is closed.
                let _ = write!(std::io::stderr(), "{}", scan.text(io::width()));
            }
            Ok(())
        }
    }
}
