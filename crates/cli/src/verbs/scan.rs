//! `scan`: every shape in any text, and the contents of messages about memory.

use crate::args::{Format, ScanArguments};
use crate::failure::Failure;
use crate::io::{self, Line};
use std::io::Write;
use xla_shape::hlo::Remedy;
use xla_shape_answers::Answer;
use xla_shape_answers::compile::Compilation;
use xla_shape_answers::scan::{Scan, Trial};
use xla_shape_program::{CompileError, Compiler, Host, Opened};
use xla_shape_render::Show;
use xla_shape_tune::{Devices, Made};

/// How many entries a list of the compiler's answer has at most.
const TOP: usize = 5;

/// Without `--summary`, JSON is written while lines are read, so that programs can follow a log. The text output is a summary at the end.
pub(crate) fn run(arguments: &ScanArguments, host: &Host) -> Result<(), Failure> {
    let mut output = std::io::BufWriter::new(std::io::stdout().lock());
    let mut scan = Scan::default();
    let mut compilation = Compilation::new();
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
                let bytes = Opened::source(path)?;
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
        let compiler = arguments.compiler.compiler();
        // After running out of memory, people first want to know what takes it: compile the program to find out.
        let made = scan.says_out_of_hbm().then(|| target.compile(&compiler, host, &program, TOP, None));
        let why = made.as_ref().and_then(|made| made.as_ref().err()).map(ToString::to_string);
        if let Some(Ok(made)) = made {
            if !matches!(made, Made::Refused { report: None, .. }) {
                scan.list_elsewhere();
            }
            let device = target.described(&compiler).map_err(Failure::said)?;
            made.add_to(&mut compilation, &target.name, device, TOP);
        }
        try_remedies(&mut scan, &compiler, host, &target, &program, why.as_deref());
    }
    if !follows {
        super::show(&scan, format)?;
        return if compilation.targets.is_empty() { Ok(()) } else { super::show(&compilation, format) };
    }
    // What was refused and what helps; the arrays are written already.
    if scan.has_messages() {
        return super::show(&scan, format);
    }
    if scan.is_empty() {
        // A person may wonder about an empty output. An error means that standard error is closed.
        let _ = write!(std::io::stderr(), "{}", scan.text(io::width()));
    }
    Ok(())
}

/// Compiles the program with each remedy that changes it. `why` says why the program itself was not compiled, if it was asked for.
fn try_remedies(
    scan: &mut Scan,
    compiler: &Compiler,
    host: &Host,
    devices: &Devices,
    program: &[u8],
    why: Option<&str>,
) {
    scan.try_remedies(|cause, remedy| {
        if let (Remedy::ListAllocations { .. }, Some(why)) = (remedy, why) {
            return Some(Trial::NotCompiled { why: why.to_owned() });
        }
        let target = match &devices.target {
            Ok(target) => target,
            Err(why) => return Some(Trial::NotCompiled { why: why.clone() }),
        };
        let said = compiler.compile_with(host, target, program, cause, remedy)?;
        Some(match said {
            Ok(said) => Trial::Compiles { needed_bytes: said.hbm_bytes(), device: devices.name.clone() },
            Err(CompileError::Refused(message)) => Trial::Refused { message },
            Err(CompileError::NoCompiler(why)) => Trial::NotCompiled { why },
        })
    });
}
