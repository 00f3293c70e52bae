//! `scan`: every shape in any text, and the contents of messages about memory.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape_answers::Answer;
use xla_shape_answers::compile::Compilation;
use xla_shape_answers::scan::Scan;
use xla_shape_program::{Host, Opened};
use xla_shape_render::Show;
use xla_shape_tune::Devices;

/// How many entries a list of the compiler's answer has at most.
const TOP: usize = 5;

/// Without `--summary`, JSON is written while lines are read, so that programs can follow a log. The text output is a summary at the end.
pub(crate) fn run(arguments: &ScanArguments, host: &Host) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scan = Scan::default();
    let mut compilation = Compilation::new();
    let format = arguments.answer.format;
    let follows = format == Format::Json && !arguments.summary;
    let input = io::AsUtf8::new(xla_shape_files::open(&arguments.input.file)?);
    io::for_each_line(&arguments.input.file, input, |line| {
        let Some(Line::Whole(bytes) | Line::TooLong { beginning: bytes, .. }) = line else {
            return output.flush().map_err(Failure::Write);
        };
        let found = scan.read_line(bytes);
        if follows {
            for found in found {
                output.write_all(found.json().as_bytes()).map_err(Failure::Write)?;
            }
        }
        Ok(())
    })?;
    drop(output);
    if arguments.program.is_some() || arguments.target.is_some() {
        if follows {
            return Err(Failure::usage("--program and --for answer in the text, or in the JSON of --summary"));
        }
        let program = match &arguments.program {
            Some(path) => {
                let bytes = Opened::source(path)?;
                xla_shape_pjrt::Program::from_bytes(&bytes)
                    .map_err(|error| Failure::said(format!("{}: {error}", path.display())))?;
                Some(bytes)
            }
            None => scan.program().map(|text| text.as_bytes().to_vec()),
        };
        if program.is_none() && !Devices::are_asked_without_program(&scan) {
            return Err(Failure::said("the text has no whole program in MLIR to compile; --program names one"));
        }
        let target = arguments.target.clone().unwrap_or_default();
        let compiler = arguments.compiler.compiler();
        if let Some(Ok(made)) = target.answer_about(&mut scan, &compiler, host, program.as_deref(), TOP) {
            let device = target.described(&compiler).map_err(Failure::said)?;
            made.add_to(&mut compilation, &target.name, device, TOP);
        }
    }
    if !follows {
        super::show(&scan, format)?;
        return if compilation.targets.is_empty() { Ok(()) } else { super::show(&compilation, format) };
    }
    // Now write what was refused and what helps; the arrays have been written already.
    if scan.has_messages() {
        return super::show(&scan, format);
    }
    if scan.is_empty() {
        // Without this, the user sees no output, and may wonder why. An error means that standard error is closed.
        let _ = write!(std::io::stderr(), "{}", scan.text(io::width()));
    }
    Ok(())
}
