//! `compile`: what a compiler makes of a program, for one TPU or several.

mod process;

use crate::args::{CompileArguments, Format, Target};
use crate::failure::Failure;
use crate::io;
use indicatif::{ProgressBar, ProgressStyle};
use process::{Said, Trouble};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xla_shape_pjrt::Program;
use xla_shape_render::compile::{Compilation, Compiled as Answered};
use xla_shape_render::hlo::{Device, Report, page};

pub(crate) fn run(arguments: &CompileArguments, itself: &[OsString]) -> Result<(), Failure> {
    if arguments.alone {
        return process::compile(arguments);
    }
    let several = arguments.targets.len() > 1;
    let files = [&arguments.output, &arguments.html].into_iter().flatten();
    let to_stdout = files.filter(|path| path.as_os_str() == "-").count();
    if to_stdout > 0 && several {
        return Err(Failure::said(
            "standard output takes one module or page; name a file, of which each device gets one",
        ));
    }
    if to_stdout > 1 || (to_stdout > 0 && arguments.format == Format::Json) {
        return Err(Failure::said("standard output takes one of the module, the page and JSON"));
    }
    let bytes = io::read(&arguments.program)?;
    // What is not a program needs no compiler.
    Program::from_bytes(&bytes)
        .map_err(|error| Failure::said(format_args!("{}: {error}", arguments.program.display())))?;
    let spinner = spinner();
    let mut compilation = Compilation::new();
    for (number, target) in arguments.targets.iter().enumerate() {
        let place = if several { format!(" ({} of {})", number + 1, arguments.targets.len()) } else { String::new() };
        spinner.set_message(format!("compiling for {}{place}", target.name));
        let said = match &target.slice {
            Ok(slice) => process::start(itself, arguments, slice, &bytes),
            Err(error) => Err(Trouble::Refused(error.clone())),
        };
        match said.and_then(|said| Ok((said.module()?, said))) {
            Ok((module, said)) => {
                let answered = said.answered(&module);
                write(arguments, target, several, &said, &answered)?;
                compilation.add(&target.name, target.generation, Ok(&answered), arguments.top);
            }
            Err(Trouble::Refused(message)) => {
                compilation.add(&target.name, target.generation, Err(message), arguments.top);
            }
            Err(Trouble::NoCompiler(message)) => return Err(Failure::said(message)),
        }
    }
    spinner.finish_and_clear();
    if to_stdout == 0 {
        super::show(&compilation, arguments.format)?;
    } else if let Some(problem) = compilation.problem() {
        return Err(Failure::said(problem));
    }
    if compilation.is_good() { Ok(()) } else { Err(Failure::Told) }
}

/// What turns on standard error, if that is a terminal, while the compiler works.
fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    // Without a style, it has the default one.
    if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
        spinner.set_style(style);
    }
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Writes the module and the page, if they are asked for.
fn write(
    arguments: &CompileArguments,
    target: &Target,
    several: bool,
    said: &Said,
    answered: &Answered<'_>,
) -> Result<(), Failure> {
    let file = |path: &Path| if several { beside(path, &target.name) } else { path.to_owned() };
    if let Some(path) = &arguments.output {
        if path.extension().is_some_and(|extension| extension == "pb") {
            io::write_file(&file(path), said.message())?;
        } else {
            io::write_file(&file(path), answered.module.to_string().as_bytes())?;
        }
    }
    if let Some(path) = &arguments.html {
        let device = Some(Device::Generation(target.generation));
        let memory = answered.module.memory();
        let timeline = memory.timeline_on(Some(target.generation));
        let report = Report::on(answered.module, timeline.as_ref(), device, arguments.top, None);
        let report = report.with_account(&answered.account, answered.generated_code, device);
        io::write_file(&file(path), page(answered.module, timeline.as_ref(), &report, None).as_bytes())?;
    }
    Ok(())
}

/// The file of one device of several: `module.hlo` becomes `module.v5e-2x2.hlo`.
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
