//! `guard`: records the cost and the layouts of a program, compares later versions of the program with the record, and checks claims.

use super::hlo::{check_device, end, opened};
use crate::args::{
    ChosenCompiler, CompilerArguments, GuardArguments, GuardCheckArguments, GuardClaimsArguments, GuardExpectArguments,
    GuardProgram, GuardRecordArguments, GuardVerb,
};
use crate::failure::Failure;
use crate::io;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use xla_shape_answers::guard::claims::{Claims, Expectation, Expectations};
use xla_shape_answers::guard::{Check, CheckError, Checks, Record, Recorded};
use xla_shape_answers::problem::Place;
use xla_shape_files::{check_outputs, contents, is_stdout, write_whole};
use xla_shape_pjrt::Program as Source;
use xla_shape_program::{CompileError, Compiler, CompilerAnswer, Host, Opened, Program, path_argument};
use xla_shape_render::guard::{claims_file, markdown, plan};
use xla_shape_render::shell_line;
use xla_shape_tune::Devices;

pub(crate) fn run(arguments: &GuardArguments, host: &Host) -> Result<(), Failure> {
    match &arguments.verb {
        GuardVerb::Record(arguments) => record(arguments, host, false),
        GuardVerb::Lock(arguments) => record(&arguments.record, host, true),
        GuardVerb::Check(arguments) => check(arguments, host),
        GuardVerb::Claims(arguments) => claims(arguments, host),
        GuardVerb::Expect(arguments) => expect(arguments, host),
    }
}

fn record(arguments: &GuardRecordArguments, host: &Host, locks: bool) -> Result<(), Failure> {
    let path = &arguments.record;
    let old = replaced(path)?;
    if !locks && old.as_ref().is_some_and(|old| old.lock) {
        return Err(failed(path, &"not replaced, because it is a lock: use `guard lock`, or remove it first"));
    }
    let measured = recorded(&arguments.program, &arguments.compiler, host, path, old.as_ref())?;
    check_outputs(measured.paths.iter().map(PathBuf::as_path), Some(&**path))?;
    let record = Record::new(measured.programs);
    let record = if locks { record.locking() } else { record };
    write_whole(path, record.file().as_bytes())?;
    // Standard output cannot hold both the record and the answer.
    if is_stdout(path) { Ok(()) } else { super::show(&record, arguments.answer.format) }
}

/// The record that a new one replaces, if there is one. Returns an error now, before a long compilation, if the new one could not be written.
fn replaced(path: &Path) -> Result<Option<Record>, Failure> {
    if is_stdout(path) {
        return Ok(None);
    }
    match std::fs::metadata(path) {
        Ok(known) if known.is_file() => match Record::parse(&contents(path)?) {
            Ok(record) => Ok(Some(record)),
            Err(error) => {
                Err(failed(path, &format_args!("not replaced, because it is not a record: {error}; remove it first")))
            }
        },
        Ok(known) if known.is_dir() => Err(failed(path, &"expected a file, found a folder")),
        Ok(_) => Ok(None),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
            folder.map_or(Ok(None), |folder| {
                Err(failed(path, &format_args!("there is no folder `{}`; make it first", folder.display())))
            })
        }
    }
}

fn check(arguments: &GuardCheckArguments, host: &Host) -> Result<(), Failure> {
    let path = &arguments.record;
    let record = Record::parse(&contents(path)?).map_err(|error| failed(path, &error))?;
    let measured = recorded(&arguments.program, &arguments.compiler, host, path, Some(&record))?;
    let accept = accept(arguments, &measured, &record);
    let mut checks = Vec::new();
    for now in &measured.programs {
        let check = Check::new(&record, now, &arguments.limits, arguments.other_devices, &accept);
        let check = check.map_err(|error| match error {
            CheckError::Devices(_) => failed(path, &format_args!("{error}; --other-devices compares them anyway")),
            _ => failed(path, &error),
        })?;
        checks.push(if arguments.same_layouts { check.keeping_layouts() } else { check });
    }
    let checks = Checks::new(checks);
    if let Some(file) = &arguments.plan {
        check_outputs(measured.paths.iter().map(PathBuf::as_path).chain([&**path]), Some(&**file))?;
        write_whole(file, plan(&checks).as_bytes())?;
    }
    // Standard output cannot hold both the plan and the answer.
    let is_plan = arguments.plan.as_deref().is_some_and(is_stdout);
    if arguments.markdown && !is_plan {
        io::write(markdown(&checks).as_bytes())?;
    } else if !is_plan {
        super::show_of(&checks, arguments.answer.format, &[&arguments.program.program])?;
    }
    if checks.passed() { Ok(()) } else { Err(Failure::Told) }
}

fn claims(arguments: &GuardClaimsArguments, host: &Host) -> Result<(), Failure> {
    let path = &arguments.program.program;
    if arguments.program.targets.len() > 1 {
        return Err(failed(path, &"expected one device of --for, because claims are about one compiled program"));
    }
    let of = |program: &Program, _: Option<&str>| Ok::<_, CompileError>(Claims::of_program(program));
    let of_compiled = |said: &CompilerAnswer, _: &str| Claims::of_compiled(said);
    let found = measured(&arguments.program, &arguments.compiler, host, path, None, of, of_compiled)?;
    io::write(found.programs.iter().map(claims_file).collect::<String>().as_bytes())
}

fn expect(arguments: &GuardExpectArguments, host: &Host) -> Result<(), Failure> {
    let path = &arguments.claims;
    let bytes = contents(path)?;
    let text = std::str::from_utf8(&bytes).map_err(|error| failed(path, &error))?;
    let claims = Claims::parse(text).map_err(|error| {
        let place = Place { line: error.line, column: error.column, span: [error.offset; 2] };
        Failure::Syntax { message: format!("error: {}: {error}", path.display()), place: Some(place) }
    })?;
    let of = |program: &Program, device: Option<&str>| {
        Ok::<_, CompileError>(Expectation::of_program(&claims, program, device))
    };
    let of_compiled = |said: &CompilerAnswer, device: &str| Expectation::of_compiled(&claims, said, device);
    let found = measured(&arguments.program, &arguments.compiler, host, path, None, of, of_compiled)?;
    let expectations = Expectations::new(found.programs);
    super::show(&expectations, arguments.answer.format)?;
    if expectations.passed() { Ok(()) } else { Err(Failure::Told) }
}

/// The program's figures on each device.
fn recorded(
    arguments: &GuardProgram,
    compiler: &CompilerArguments,
    host: &Host,
    path: &Path,
    record: Option<&Record>,
) -> Result<Measured<Recorded>, Failure> {
    measured(arguments, compiler, host, path, record, Recorded::of_program, Recorded::of_compiled)
}

fn failed(path: &Path, error: &dyn Display) -> Failure {
    Failure::said(format_args!("{}: {error}", path.display()))
}

/// The command that creates the record again, quoted for a shell. It names all devices of the record, also those that were not checked, and passes
/// the same options to the compiler.
fn accept(arguments: &GuardCheckArguments, measured: &Measured<Recorded>, record: &Record) -> String {
    let path = |path: &Path| path_argument(&path.display().to_string()).into_owned();
    let verb = if record.lock { "lock" } else { "record" };
    let mut words = ["xla-shape", "guard", verb].map(str::to_owned).to_vec();
    words.extend([path(&arguments.record), path(&arguments.program.program)]);
    // A compiled module is for one device.
    let recorded = record.devices().flatten().filter(|_| !measured.is_compiled);
    let mut devices = Vec::new();
    for device in recorded.chain(measured.devices.iter().map(String::as_str)) {
        if !devices.contains(&device) {
            devices.push(device);
        }
    }
    let CompilerArguments { chosen, replicas, partitions } = &arguments.compiler;
    let ChosenCompiler { plugin, options, config, autotune, time_limit } = chosen;
    let mut option = |name: &str, value: String| match value.starts_with('-') {
        true => words.push(format!("{name}={value}")),
        false => words.extend([name.to_owned(), value]),
    };
    if !devices.is_empty() {
        option("--for", devices.join(","));
    }
    if !measured.is_compiled {
        if let Some(plugin) = plugin {
            option("--plugin", path(plugin));
        }
        if let Some(replicas) = replicas {
            option("--replicas", replicas.to_string());
        }
        if let Some(partitions) = partitions {
            option("--partitions", partitions.to_string());
        }
        for (name, file) in [("--config", config), ("--autotune", autotune)] {
            if let Some(file) = file {
                option(name, path(file));
            }
        }
        for (name, value) in options {
            option("--option", format!("{name}={value}"));
        }
        if *time_limit != Compiler::TIME_LIMIT {
            option("--time-limit", time_limit.to_string());
        }
    }
    shell_line(words.iter().map(String::as_str))
}

/// The present facts about a program, for each device.
struct Measured<T> {
    /// The files that were read.
    paths: Vec<PathBuf>,
    /// Whether the module was compiled already.
    is_compiled: bool,
    /// The devices of the programs, as far as they are known.
    devices: Vec<String>,
    /// One for each device.
    programs: Vec<T>,
}

/// The devices for which a program is compiled if the user names none: those of the record.
fn devices(path: &Path, record: &Record) -> Result<Vec<Devices>, Failure> {
    let read = |name: &str| {
        name.parse::<Devices>().map_err(|error| failed(path, &format_args!("the device `{name}`: {error}")))
    };
    let targets: Vec<_> = record.devices().flatten().map(read).collect::<Result<_, _>>()?;
    if targets.is_empty() {
        return Err(failed(path, &"the record does not name its device; name one with --for"));
    }
    Ok(targets)
}

/// The present facts about the program on each device: on the devices that the user names, otherwise on those of the record at `path`, otherwise on
/// v5e. `of_program` reads them from a program that is compiled already, `of_compiled` from the compiler's answer.
fn measured<T, E: Display>(
    arguments: &GuardProgram,
    compiler: &CompilerArguments,
    host: &Host,
    path: &Path,
    record: Option<&Record>,
    of_program: impl Fn(&Program, Option<&str>) -> Result<T, E>,
    of_compiled: impl Fn(&CompilerAnswer, &str) -> Result<T, CompileError>,
) -> Result<Measured<T>, Failure> {
    let (source, bytes) = match Opened::open(&arguments.program)? {
        Opened::Source { path, bytes } => (path, bytes),
        Opened::Program(mut program) => {
            check_device(&program, arguments.targets.first().and_then(Devices::device))?;
            if let Some(gpu) = arguments.targets.first().and_then(Devices::gpu) {
                program.set_gpu(gpu);
            }
            let said = |error: &dyn Display| failed(Path::new(program.name()), error);
            let device = match arguments.targets.as_slice() {
                [] => record.and_then(Record::only_device),
                [one] => Some(one.name.as_str()),
                _ => return Err(said(&"expected one device of --for, because the module is compiled already")),
            };
            opened(&program, None)?;
            let found = of_program(&program, device).map_err(|error| said(&error))?;
            end(&program)?;
            let devices = device.map(str::to_owned).into_iter().collect();
            return Ok(Measured { paths: program.paths(), is_compiled: true, devices, programs: vec![found] });
        }
    };
    let said = |error: &dyn Display| failed(&source, error);
    let program = Source::from_bytes(&bytes).map_err(|error| said(&error))?;
    let targets = match (arguments.targets.as_slice(), record) {
        ([], Some(record)) => devices(path, record)?,
        ([], None) => vec![Devices::default()],
        (named, _) => named.to_vec(),
    };
    let mut programs = Vec::new();
    for target in &targets {
        let trouble = |message: String| Failure::said(format_args!("{}: {message}", target.name));
        let said = target.ask(&compiler.compiler(), host, program.code());
        let found = said.and_then(|said| of_compiled(&said, &target.name));
        programs.push(found.map_err(|error| trouble(error.to_string()))?);
    }
    let devices = targets.into_iter().map(|target| target.name).collect();
    Ok(Measured { paths: vec![source], is_compiled: false, devices, programs })
}
