//! `kernel`: the code that the compiler made of Pallas kernels, from a dump, or from a program that it compiles to get one.

use crate::args::KernelArguments;
use crate::failure::Failure;
use crate::io;
use std::path::{Path, PathBuf};
use xla_shape_answers::cost::ProgramCost;
use xla_shape_answers::kernel::Kernels;
use xla_shape_files::{check_outputs, contents, is_stdout, write_whole};
use xla_shape_program::{Host, Opened};
use xla_shape_render::Html as _;
use xla_shape_tune::{KernelSource, KernelsError, Version, kernels};

pub(crate) fn run(arguments: &KernelArguments, host: &Host) -> Result<(), Failure> {
    let paths = [Some(&arguments.path), arguments.against.as_ref()].into_iter().flatten().chain(&arguments.source);
    let inputs = paths.filter(|path| !path.is_dir()).map(PathBuf::as_path);
    check_outputs(inputs, arguments.html.as_deref())?;
    if let Some(folder) = &arguments.keep {
        std::fs::create_dir(folder).map_err(|error| {
            Failure::said(format_args!("{}: cannot make this directory: {error}", folder.display()))
        })?;
    }
    let version = |version| arguments.against.is_some().then_some(version);
    let mut answer = versions(&arguments.path, arguments, host, version(Version::New))?;
    if let Some(folder) = &arguments.keep {
        // If the compiler was not asked, the directory is empty. Remove it, because the next call needs a new one. If it has files, `remove_dir`
        // fails, and they stay.
        let _ = std::fs::remove_dir(folder);
    }
    if let Some(path) = &arguments.against {
        answer.compare(&versions(path, arguments, host, version(Version::Before))?);
    }
    if let Some(clock) = arguments.clock {
        answer.at_clock(clock * 1e9);
    }
    if let Some(path) = &arguments.profile {
        measured(&mut answer, path)?;
    }
    for path in &arguments.source {
        answer.add_source(&path.to_string_lossy(), &String::from_utf8_lossy(&contents(path)?));
    }
    if let Some(path) = &arguments.html {
        if is_stdout(path) && arguments.answer.format.is_json() {
            return Err(Failure::usage("standard output takes the page or JSON, not both"));
        }
        write_whole(path, answer.html().as_bytes())?;
    }
    if arguments.html.as_deref().is_none_or(|path| !is_stdout(path)) {
        super::show_of(&answer, arguments.answer.format, &[&arguments.path])?;
    }
    if answer.errors.is_empty() { Ok(()) } else { Err(Failure::Told) }
}

/// Adds the measured times of a profile.
fn measured(answer: &mut Kernels, path: &Path) -> Result<(), Failure> {
    let program = super::hlo::open(path, None)?;
    let failed = |error: &dyn std::fmt::Display| Failure::said(format_args!("{}: {error}", program.name()));
    let cost = ProgramCost::of(&program).map_err(|error| failed(&error))?;
    let measured = cost.measured.as_deref().ok_or_else(|| failed(&"expected a profile, found a program"))?;
    if answer.add_measured(measured) == 0 {
        let (name, module) = (program.name(), &measured.module);
        io::tell(format_args!(
            "warning: {name}: no instruction of {module} has the name of one that calls a kernel of the dump"
        ));
    }
    Ok(())
}

/// The kernels of one version, from a dump or from a program.
fn versions(
    path: &Path,
    arguments: &KernelArguments,
    host: &Host,
    version: Option<Version>,
) -> Result<Kernels, Failure> {
    let keep = arguments.keep.as_deref().filter(|_| version != Some(Version::Before));
    let code = if path.is_dir() { None } else { Some(Opened::source(path)?) };
    let source = code.as_deref().map_or(KernelSource::Dump(path), |code| KernelSource::Program {
        code,
        keep,
        anyway: arguments.anyway,
    });
    let found = kernels(&source, &arguments.targets, &arguments.compiler.compiler(), host, version);
    found.map_err(|error| match error {
        KernelsError::Files(error) => error.into(),
        error => Failure::said(error),
    })
}
