//! The process in which a compiler runs: this same program, started by `xla_shape_program::Compiler`.

use crate::args::CompileArguments;
use crate::failure::Failure;
use crate::io;
use std::path::Path;
use xla_shape_answers::json_line;
use xla_shape_pjrt::{Error, LoadOptions, Plugin, Target};
use xla_shape_program::{CompileError, end_with_parent};

/// Compiles the program on standard input in this process, and writes the answer as a line for the process that started this one.
/// `python` is the interpreter that runs the program, if one does.
pub(super) fn compile(arguments: &CompileArguments, python: Option<&Path>) -> Result<(), Failure> {
    end_with_parent();
    let bytes = xla_shape_files::contents("-")?;
    let answer = target(arguments).map_err(|error| CompileError::Refused(error.to_string())).and_then(|target| {
        let plugin = load(&target, arguments.compiler.chosen.plugin.as_deref(), python);
        let plugin = plugin.map_err(|error| CompileError::NoCompiler(error.to_string()))?;
        let said = arguments.compiler.compiler().compile_here(&plugin, &target, &bytes);
        said.map_err(|error| CompileError::Refused(error.to_string()))
    });
    io::write(json_line(&answer).as_bytes())
}

/// The device; each process has one.
fn target(arguments: &CompileArguments) -> Result<Target, Error> {
    let [target] = arguments.targets.as_slice() else { return Err(Error::NotAProgram("it has one device".to_owned())) };
    Ok(target.name.parse::<Target>()?)
}

/// Loads the plug-in that the user names, otherwise the one in the user's environment.
#[expect(unsafe_code, reason = "loads a compiler, whose code then runs in this process")]
fn load(target: &Target, named: Option<&Path>, python: Option<&Path>) -> Result<Plugin, Error> {
    let mut options = LoadOptions::new().target(target);
    if let Some(python) = python {
        options = options.python(python);
    }
    if let Target::Gpu(_) = target {
        let plugin = named.map_or_else(|| options.path(), |named| Ok(named.to_owned()))?;
        LoadOptions::ptxas(&plugin)?;
    }
    match named {
        // SAFETY: `load` requires a PJRT plug-in whose code the caller would run. The user named the file with `--plugin`, whose help says that the
        // file must be a PJRT plug-in and that its code is run.
        Some(path) => unsafe { options.load(path) },
        // SAFETY: `find` requires that whoever sets its variables or installs into the active Python environment is trusted. Both are part of the
        // environment of the user, who runs programs from that environment anyway. The file to compile has no influence on the search.
        None => unsafe { options.find() },
    }
}
