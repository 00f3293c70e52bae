//! `compile`: what a compiler makes of a program, for one TPU or several.

use crate::args::{CompileArguments, Format, Target};
use crate::failure::Failure;
use crate::io;
use indicatif::{ProgressBar, ProgressStyle};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xla_shape::hlo::Module;
use xla_shape_pjrt::{CompileOptions, Compiled, Error, Plugin, Program, Properties, Property, Slice};
use xla_shape_render::compile::{Compilation, Compiled as Answered};
use xla_shape_render::hlo::{Device, Report, page};

pub(crate) fn run(arguments: &CompileArguments) -> Result<(), Failure> {
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
    let program = Program::from_bytes(&bytes)
        .map_err(|error| Failure::said(format_args!("{}: {error}", arguments.program.display())))?;
    let spinner = spinner();
    spinner.set_message("starting the compiler");
    let plugin = arguments.plugin.as_ref().map_or_else(Plugin::find, Plugin::load).map_err(Failure::said)?;
    let options = options(arguments);
    let mut compilation = Compilation::new();
    for (number, target) in arguments.targets.iter().enumerate() {
        let place = if several { format!(" ({} of {})", number + 1, arguments.targets.len()) } else { String::new() };
        spinner.set_message(format!("compiling for {}{place}", target.name));
        let compiled = match &target.slice {
            Ok(slice) => compile(&plugin, slice, &program, &options).map_err(|error| error.to_string()),
            Err(error) => Err(error.clone()),
        };
        match compiled {
            Ok((compiled, module)) => {
                let answered = answered(&compiled, &module).map_err(Failure::said)?;
                write(arguments, target, several, &compiled, &answered)?;
                compilation.add(&target.name, target.generation, Ok(&answered), arguments.top);
            }
            Err(message) => compilation.add(&target.name, target.generation, Err(message), arguments.top),
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

fn options(arguments: &CompileArguments) -> CompileOptions {
    let limit = Duration::from_secs(arguments.time_limit);
    let mut options = CompileOptions::new().time_limit(Some(limit));
    if let Some(replicas) = arguments.replicas {
        options = options.replicas(replicas);
    }
    if let Some(partitions) = arguments.partitions {
        options = options.partitions(partitions);
    }
    for (name, value) in &arguments.options {
        options = options.option(name, value);
    }
    options
}

fn compile(
    plugin: &Plugin,
    slice: &Slice,
    program: &Program,
    options: &CompileOptions,
) -> Result<(Compiled, Module<'static>), Error> {
    let compiled = plugin.topology(slice)?.compile(program, options)?;
    let module = compiled.module()?;
    Ok((compiled, module))
}

/// What the compiler says; what a plug-in does not say, it leaves out.
fn answered<'a>(compiled: &Compiled, module: &'a Module<'a>) -> Result<Answered<'a>, Error> {
    let memory = compiled.memory()?;
    Ok(Answered {
        module,
        inputs: compiled.inputs()?,
        outputs: compiled.outputs()?,
        input_shardings: compiled.input_shardings()?,
        output_shardings: compiled.output_shardings()?,
        account: memory.account(),
        generated_code: memory.generated_code,
        cost: compiled.cost().map(numbers).unwrap_or_default(),
        fingerprint: compiled.fingerprint().ok(),
    })
}

/// The properties that are numbers.
fn numbers(properties: Properties) -> std::collections::BTreeMap<String, f64> {
    let number = |property| match property {
        Property::Float(number) => Some(f64::from(number)),
        Property::Integer(number) => Some(number as f64),
        _ => None,
    };
    properties.into_iter().filter_map(|(name, property)| Some((name, number(property)?))).collect()
}

/// Writes the module and the page, if they are asked for.
fn write(
    arguments: &CompileArguments,
    target: &Target,
    several: bool,
    compiled: &Compiled,
    answered: &Answered<'_>,
) -> Result<(), Failure> {
    let file = |path: &Path| if several { beside(path, &target.name) } else { path.to_owned() };
    if let Some(path) = &arguments.output {
        if path.extension().is_some_and(|extension| extension == "pb") {
            io::write_file(&file(path), &compiled.optimized().map_err(Failure::said)?)?;
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
