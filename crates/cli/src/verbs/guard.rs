//! `guard`: records the cost of a program, and compares later versions of the program with the record.

use super::cost::is_program;
use super::hlo::{hbm_bytes, read};
use crate::Host;
use crate::args::{
    CompilerArguments, GuardArguments, GuardCheckArguments, GuardProgram, GuardRecordArguments, GuardVerb, Target,
};
use crate::compiler;
use crate::failure::Failure;
use crate::io;
use std::fmt::Display;
use std::path::Path;
use xla_shape_files::{Dump, check_outputs, contents, write_whole};
use xla_shape_pjrt::Program;
use xla_shape_render::guard::{Check, CheckError, Checks, Record, Recorded};

pub(crate) fn run(arguments: &GuardArguments, host: &Host) -> Result<(), Failure> {
    match &arguments.verb {
        GuardVerb::Record(arguments) => record(arguments, host),
        GuardVerb::Check(arguments) => check(arguments, host),
    }
}

fn record(arguments: &GuardRecordArguments, host: &Host) -> Result<(), Failure> {
    let default = || args_target("v5e").into_iter().collect();
    let (paths, programs) = measured(&arguments.program, &arguments.compiler, host, default)?;
    check_outputs(paths.iter().map(std::path::PathBuf::as_path), Some(arguments.record.as_path()))?;
    let record = Record::new(programs);
    write_whole(&arguments.record, record.file().as_bytes())?;
    super::show(&record, arguments.answer.format)
}

fn check(arguments: &GuardCheckArguments, host: &Host) -> Result<(), Failure> {
    let path = &arguments.record;
    let failed = |error: &dyn Display| Failure::said(format_args!("{}: {error}", path.display()));
    let record = Record::parse(&contents(path)?).map_err(|error| failed(&error))?;
    let recorded = || record.devices().flatten().filter_map(args_target).collect();
    let (_, programs) = measured(&arguments.program, &arguments.compiler, host, recorded)?;
    let mut checks = Vec::new();
    for now in &programs {
        let accept = accept(path, &arguments.program);
        let check = Check::new(&record, now, &arguments.limits, arguments.other_devices, &accept);
        checks.push(check.map_err(|error| match error {
            CheckError::Devices(_) => failed(&format_args!("{error}; --other-devices compares them anyway")),
            CheckError::NoDevice(..) => failed(&error),
        })?);
    }
    let checks = Checks::new(checks);
    if arguments.markdown {
        io::write(checks.markdown().as_bytes())?;
    } else {
        super::show(&checks, arguments.answer.format)?;
    }
    if checks.passed() { Ok(()) } else { Err(Failure::Told) }
}

/// The command that makes the record again.
fn accept(record: &Path, program: &GuardProgram) -> String {
    let targets = program.targets.iter().map(|target| target.name.clone()).collect::<Vec<_>>();
    let targets = if targets.is_empty() { String::new() } else { format!(" --for {}", targets.join(",")) };
    format!("xla-shape guard record {} {}{targets}", record.display(), program.program.display())
}

fn args_target(name: &str) -> Option<Target> {
    crate::args::target(name).ok()
}

/// The cost of the program on each device, and the files that were read. `default` are the devices to compile for if the user names none.
fn measured(
    arguments: &GuardProgram,
    compiler: &CompilerArguments,
    host: &Host,
    default: impl FnOnce() -> Vec<Target>,
) -> Result<(Vec<std::path::PathBuf>, Vec<Recorded>), Failure> {
    let dump = Dump::find(&arguments.program)?;
    let paths = dump.paths().collect();
    let bytes = contents(dump.module())?;
    let said = |error: &dyn Display| Failure::said(format_args!("{}: {error}", dump.module().display()));
    if !is_program(&bytes) {
        let device = match arguments.targets.as_slice() {
            [] => None,
            [one] => Some(one.name.as_str()),
            _ => return Err(said(&"expected one device of --for, because the module is compiled already")),
        };
        let read = read(dump.module(), &bytes)?;
        read.warn();
        let memory = hbm_bytes(&dump, &bytes, &read.module);
        let recorded = Recorded::new(&read.module, memory, device, None).map_err(|error| said(&error))?;
        read.end()?;
        return Ok((paths, vec![recorded]));
    }
    let program = Program::from_bytes(&bytes).map_err(|error| said(&error))?;
    let named = &arguments.targets;
    let targets = if named.is_empty() { default() } else { named.clone() };
    if targets.is_empty() {
        return Err(said(&"the record does not name its device; name one with --for"));
    }
    let mut programs = Vec::new();
    for target in &targets {
        let trouble = |message: String| Failure::said(format_args!("{}: {message}", target.name));
        let slice = target.slice.as_ref().map_err(|error| trouble(error.clone()))?;
        let answer = compiler::start(&host.command, compiler, slice, program.code());
        let answer = answer.map_err(|error| trouble(error.message()))?;
        let module = answer.module().map_err(|error| trouble(error.message()))?;
        let recorded = Recorded::new(&module, Some(answer.hbm_bytes()), Some(&target.name), answer.compiler());
        programs.push(recorded.map_err(|error| trouble(error.to_string()))?);
    }
    Ok((paths, programs))
}
