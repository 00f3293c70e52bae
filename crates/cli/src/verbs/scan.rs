//! `scan`: every shape in any text, and the contents of messages about memory.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape_answers::Answer;
use xla_shape_answers::scan::{Scan, Trial};
use xla_shape_pjrt::Target;
use xla_shape_program::{CompileError, Host};
use xla_shape_render::Show;

/// Without `--summary`, JSON is written while lines are read, so that programs can follow a log. The text output is a summary at the end.
pub(crate) fn run(arguments: &ScanArguments, host: &Host) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scan = Scan::default();
    let format = arguments.answer.format;
    let follows = format == Format::Json && !arguments.summary;
    io::for_each_line(&arguments.input.file, xla_shape_files::open(&arguments.input.file)?, |line| {
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
            return Err(Failure::said("--program and --for answer in the text, or in the JSON of --summary"));
        }
        let program = match &arguments.program {
            Some(path) => {
                let bytes = xla_shape_files::contents(path)?;
                xla_shape_pjrt::Program::from_bytes(&bytes)
                    .map_err(|error| Failure::said(format!("{}: {error}", path.display())))?;
                Some(bytes)
            }
            None => scan.program().map(|text| text.as_bytes().to_vec()),
        };
        let Some(program) = program else {
            return Err(Failure::said("the text has no whole program in MLIR to compile; --program names one"));
        };
        let target = arguments.target.clone().unwrap_or_default();
        try_remedies(&mut scan, arguments, host, &target.target, &program);
    }
    if !follows {
        return super::show(&scan, format);
    }
    if scan.is_empty() {
        // A person may wonder about an empty output. An error means that standard error is closed.
        let _ = write!(std::io::stderr(), "{}", scan.text(io::width()));
    }
    Ok(())
}

/// Compiles the program with each remedy that changes it.
fn try_remedies(
    scan: &mut Scan,
    arguments: &ScanArguments,
    host: &Host,
    target: &Result<Target, String>,
    program: &[u8],
) {
    let compiler = arguments.compiler.compiler();
    scan.try_remedies(|cause, remedy| {
        let target = match target {
            Ok(target) => target,
            Err(why) => return Some(Trial::NotCompiled { why: why.clone() }),
        };
        let said = compiler.compile_with(host, target, program, cause, remedy)?;
        Some(match said {
            Ok(said) => Trial::Compiles { needed_bytes: said.hbm_bytes() },
            Err(CompileError::Refused(message)) => Trial::Refused { message },
            Err(CompileError::NoCompiler(why)) => Trial::NotCompiled { why },
        })
    });
}
