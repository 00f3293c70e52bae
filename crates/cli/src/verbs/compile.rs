//! `compile`: the layouts and the memory that a compiler chooses for a program, for one device or several.

use crate::args::CompileArguments;
use crate::compiler;
use crate::failure::Failure;
use crate::io;
use indicatif::{ProgressBar, ProgressStyle};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xla_shape::hlo::Module;
use xla_shape_answers::compile::Compilation;
use xla_shape_answers::hlo::{Device, Report};
use xla_shape_files::{check_outputs, is_stdout, write_whole};
use xla_shape_program::{CompilerAnswer, Host, Opened, Program};
use xla_shape_render::harmless;
use xla_shape_render::hlo::page;
use xla_shape_tune::{Devices, Made};

pub(crate) fn run(arguments: &CompileArguments, host: &Host) -> Result<(), Failure> {
    if arguments.alone {
        return compiler::compile(arguments, host.python.as_deref());
    }
    let several = arguments.targets.len() > 1;
    let files = [&arguments.output, &arguments.html].into_iter().flatten();
    let to_stdout = files.clone().filter(|path| is_stdout(path)).count();
    if to_stdout > 0 && several {
        return Err(Failure::usage(
            "standard output takes one module or page; with several devices, name a file: each device gets its own",
        ));
    }
    if to_stdout > 1 || (to_stdout > 0 && arguments.answer.format.is_json()) {
        return Err(Failure::usage("standard output takes one of the module, the page and JSON"));
    }
    // A set, because a device may be named twice.
    let of_all =
        |path: &Path| arguments.targets.iter().map(|target| file_of(path, target, several)).collect::<BTreeSet<_>>();
    let outputs = files.flat_map(|path| of_all(path)).collect::<Vec<_>>();
    let inputs = [Some(&arguments.program), arguments.compiler.chosen.plugin.as_ref()].into_iter().flatten();
    check_outputs(inputs.map(PathBuf::as_path), outputs.iter().map(PathBuf::as_path))?;
    let bytes = Opened::source(&arguments.program)?;
    // Without a program, the compiler need not be started.
    xla_shape_pjrt::Program::from_bytes(&bytes)
        .map_err(|error| Failure::said(format_args!("{}: {error}", arguments.program.display())))?;
    let spinner = spinner();
    let compiler = arguments.compiler.compiler();
    let mut compilation = Compilation::new();
    let mut unwritten = Vec::new();
    for (number, target) in arguments.targets.iter().enumerate() {
        let place = if several { format!(" ({} of {})", number + 1, arguments.targets.len()) } else { String::new() };
        let what = format!("compiling for {}{place}", target.name);
        io::report(arguments.answer.format, &what);
        spinner.set_message(harmless(&what).into_owned());
        let device = target.described(&compiler).map_err(Failure::said)?;
        let made = target.compile(&compiler, host, &bytes, arguments.top, None).map_err(Failure::said)?;
        match &made {
            Made::Compiled { said, module } => write(arguments, target, device, several, said, module)?,
            Made::Refused { .. } => {
                let named = [&arguments.output, &arguments.html].into_iter().flatten();
                unwritten.extend(named.map(|path| file_of(path, target, several)));
            }
        }
        made.add_to(&mut compilation, &target.name, device, arguments.top);
    }
    spinner.finish_and_clear();
    for path in unwritten.iter().filter(|path| !is_stdout(path)) {
        io::tell(format_args!("warning: {}: not written, because the compiler refused the program", path.display()));
    }
    if to_stdout == 0 {
        super::show_of(&compilation, arguments.answer.format, &[&arguments.program])?;
    } else if let Some(problem) = compilation.problem() {
        return Err(Failure::said(problem));
    }
    if compilation.is_good() { Ok(()) } else { Err(Failure::Told) }
}

/// The progress indicator on standard error, if that is a terminal, while the compiler runs.
fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    // If the template were invalid, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Writes the module and the page to files, if the arguments name any.
fn write(
    arguments: &CompileArguments,
    target: &Devices,
    device: Device,
    several: bool,
    said: &CompilerAnswer,
    module: &Module,
) -> Result<(), Failure> {
    let file = |path: &Path| file_of(path, target, several);
    if let Some(path) = &arguments.output {
        if path.extension().is_some_and(|extension| extension == "pb") {
            write_whole(file(path), &said.message)?;
        } else {
            write_whole(file(path), module.to_string().as_bytes())?;
        }
    }
    if let Some(path) = &arguments.html {
        let program = Program::from(module.clone());
        let (memory, report) = Report::with_memory(&program, Some(device), arguments.top, None);
        let report = report.with_account(&said.account, said.generated_code, Some(device));
        write_whole(file(path), page(&memory, &report, None).as_bytes())?;
    }
    Ok(())
}

/// The path of the file that is written for a device.
fn file_of(path: &Path, target: &Devices, several: bool) -> PathBuf {
    if several { beside(path, &target.name) } else { path.to_owned() }
}

/// The path for one of several devices: `module.hlo` becomes `module.v5e-2x2.hlo`.
fn beside(path: &Path, target: &str) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{}", target.replace(':', "-")));
    if let Some(extension) = path.extension() {
        name.push(OsString::from("."));
        name.push(extension);
    }
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::beside;
    use std::path::Path;

    #[test]
    fn files_of_several_devices_have_names_of_their_own() {
        for (path, file) in [
            ("module.hlo", "module.v5e-2x2.hlo"),
            ("out/page.html", "out/page.v5e-2x2.html"),
            ("module.hlo.pb", "module.hlo.v5e-2x2.pb"),
            ("module", "module.v5e-2x2"),
        ] {
            assert_eq!(beside(Path::new(path), "v5e:2x2"), Path::new(file));
        }
    }
}
