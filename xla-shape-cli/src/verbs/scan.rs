//! `scan`: every shape in any text.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line, Lines};
use crate::render::words::{Factor, InUnits};
use serde::Serialize;
use std::io::Write;
use xla_shape::Shape;
use xla_shape::hlo::find_shapes;

#[derive(Serialize)]
struct Found<'a> {
    /// Counted from 1.
    line: u64,
    /// Where in the line the shape begins, in bytes, counted from 1.
    column: usize,
    #[serde(serialize_with = "super::display")]
    shape: &'a Shape,
    bytes: Option<usize>,
    padding_bytes: Option<usize>,
    expansion: Option<f64>,
}

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
    let mut before = 0;
    // Between bytes that are no text, there may be some.
    for chunk in bytes.utf8_chunks() {
        for found in find_shapes(chunk.valid()) {
            let column = before + found.span.start + 1;
            let found = Found {
                line: number,
                column,
                shape: &found.shape,
                bytes: found.shape.byte_size().ok(),
                padding_bytes: found.shape.padding_byte_size().ok(),
                expansion: found.shape.expansion().ok(),
            };
            match format {
                Format::Json => {
                    serde_json::to_writer(&mut *output, &found)?;
                    output.write_all(b"\n")?;
                }
                Format::Text => write_row(&found, output)?,
            }
        }
        before += chunk.valid().len() + chunk.invalid().len();
    }
    Ok(())
}

fn write_row(found: &Found<'_>, output: &mut impl Write) -> std::io::Result<()> {
    let place = format!("{}:{}", found.line, found.column);
    let known = |bytes: Option<usize>| bytes.map_or("?".into(), |bytes| InUnits(bytes).to_string());
    let expansion = found.expansion.map_or("?".into(), |expansion| Factor(expansion).to_string());
    let (bytes, padding) = (known(found.bytes), known(found.padding_bytes));
    writeln!(output, "{place:>9}  {bytes:>9}  {padding:>9} padding  {expansion:>7}  {}", found.shape)
}
