//! `hlo`: how much memory the values of a program take.

use crate::args::{Format, HloArguments, HloDiffArguments, HloForm, HloPrintArguments, HloShowArguments, HloVerb};
use crate::failure::Failure;
use crate::io::{self, progress_of_profile};
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use xla_shape::hlo::Severity;
use xla_shape::hlo::proto::is_message;
use xla_shape_answers::hlo::{
    Device, Difference, Report, ShownInstruction, check_devices, check_platform, check_space,
};
use xla_shape_files::{Dump, check_outputs, contents, is_stdout, write_whole};
use xla_shape_program::Program;
use xla_shape_render::harmless;
use xla_shape_render::hlo::diff::{markdown, page as page_of_difference};
use xla_shape_render::hlo::{graph_page, page, screen, sections};

pub(crate) fn run(arguments: &HloArguments) -> Result<(), Failure> {
    match &arguments.verb {
        Some(HloVerb::Diff(arguments)) => return diff(arguments),
        Some(HloVerb::Print(arguments)) => return print(arguments),
        Some(HloVerb::Show(arguments)) => return show(arguments),
        None => {}
    }
    let Some(file) = &arguments.file else { return Err(Failure::said("no file is given")) };
    let program = Program::open_with(file, arguments.module.as_deref(), &mut progress_of_profile())?;
    opened(&program, arguments.html.as_deref())?;
    if let Some(space) = arguments.space {
        check_space(program.module(), space).map_err(Failure::said)?;
    }
    check_device(&program, arguments.device)?;
    let program = if arguments.estimate { program.estimated() } else { program };
    let (memory, report) = Report::with_memory(&program, arguments.device, arguments.top, arguments.space);
    if let Some(path) = &arguments.html {
        if arguments.answer.format.is_json() && is_stdout(path) {
            return Err(Failure::usage("standard output takes the page or JSON, not both"));
        }
        write_whole(path, page(&memory, &report, arguments.space).as_bytes())?;
    }
    if arguments.html.as_ref().is_none_or(|path| !is_stdout(path)) {
        match arguments.answer.format {
            Format::Text if !arguments.sections.is_empty() => {
                io::print(&sections(&report, &arguments.sections, io::width()))?
            }
            Format::Text if !arguments.all => io::print(&screen(&report, io::width()))?,
            format => super::show_of(&report, format, &[file])?,
        }
    }
    end(&program)?;
    match report.worst() {
        Some(Severity::Error) => Err(Failure::Told),
        Some(Severity::Hint) if arguments.strict => Err(Failure::Told),
        _ if report.exceeds_device() => Err(Failure::Told),
        _ => Ok(()),
    }
}

/// Refuses a device of another kind than the one that the program was compiled for.
pub(super) fn check_device(program: &Program, device: Option<Device>) -> Result<(), Failure> {
    let Some(device) = device else { return Ok(()) };
    check_platform(program.module(), device).map_err(|error| {
        let (file, name) = (program.name(), device.name().unwrap_or("DEVICE"));
        Failure::said(format_args!(
            "{file}: {error}; `xla-shape compile PROGRAM --for {name}` compiles the user's program for that device"
        ))
    })
}

fn diff(arguments: &HloDiffArguments) -> Result<(), Failure> {
    let html = arguments.html.as_deref();
    let (before, after) = (open(&arguments.before, html)?, open(&arguments.after, html)?);
    if !arguments.other_devices {
        let compared = check_devices(before.module(), after.module());
        compared.map_err(|error| Failure::said(format_args!("{error}; --other-devices compares them anyway")))?;
    }
    let (before, after) = if arguments.estimate { (before.estimated(), after.estimated()) } else { (before, after) };
    let (memory, after_memory) = (before.memory(None), after.memory(None));
    for note in memory.notes().iter().chain(after_memory.notes()) {
        io::tell(format_args!("note: {note}"));
    }
    let difference = Difference::new(&memory, &after_memory);
    let exceeded = difference.exceeded(&arguments.limits);
    if arguments.markdown {
        io::write(markdown(&difference, &exceeded).as_bytes())?;
    } else {
        let page = || page_of_difference(&difference, &exceeded);
        let files = [arguments.before.as_path(), &arguments.after];
        super::show_with_page(&difference, arguments.answer.format, &files, html, page)?;
    }
    for limit in &exceeded {
        io::tell(format_args!("error: {limit}"));
    }
    end(&before).and(end(&after))?;
    if exceeded.is_empty() { Ok(()) } else { Err(Failure::Told) }
}

fn show(arguments: &HloShowArguments) -> Result<(), Failure> {
    let program = open(&arguments.file, arguments.html.as_deref())?;
    let memory = program.memory(None);
    let said = |error| Failure::said(format_args!("{}: {error}", program.name()));
    let shown = ShownInstruction::new(&memory, &arguments.name).map_err(said)?;
    let graph = arguments.html.as_ref().map(|_| graph_page(&memory, &arguments.name));
    let graph = graph.transpose().map_err(said)?.unwrap_or_default();
    super::show_with_page(&shown, arguments.answer.format, &[&arguments.file], arguments.html.as_deref(), || graph)?;
    end(&program)
}

fn print(arguments: &HloPrintArguments) -> Result<(), Failure> {
    let dump = Dump::find(&arguments.file)?;
    let bytes = contents(dump.module())?;
    let program = Program::read(&dump.module().display().to_string(), bytes.clone())?;
    let module = program.module();
    if let Some(unread) = program.unread() {
        // Only a module that was read completely can be written.
        return Err(Failure::syntax(unread));
    }
    // In a file, the text is unchanged; on a terminal, control characters are escaped.
    let to_terminal = std::io::stdout().is_terminal();
    match arguments.to {
        HloForm::Text if to_terminal => io::write(harmless(&module.to_string()).as_bytes()),
        HloForm::Text => io::write(module.to_string().as_bytes()),
        HloForm::Proto if to_terminal => {
            Err(Failure::said("expected a file or a pipe for a message, found a terminal"))
        }
        // An input that is a message is copied, because it may have constants that a text leaves out.
        HloForm::Proto if is_message(&bytes) => io::write(&bytes),
        HloForm::Proto => {
            let message = module.to_proto().map_err(Failure::said)?;
            let is_left_out = |text: &str| text.contains("{...}");
            let left_out = module.instructions().filter(|found| found.literal().is_some_and(is_left_out)).count();
            if left_out > 0 {
                io::tell(format_args!(
                    "warning: the text leaves the elements of {left_out} constants out (`{{...}}`); in the message they are zero"
                ));
            }
            io::write(&message)
        }
    }
}

/// Opens a program. It is an error if the output is one of its files. Writes a warning about instructions that could not be read.
pub(super) fn open(path: &Path, output: Option<&Path>) -> Result<Program, Failure> {
    let program = Program::open_with(path, None, &mut progress_of_profile())?;
    opened(&program, output)?;
    Ok(program)
}

/// The same checks and warnings, for a program that is open already.
pub(super) fn opened(program: &Program, output: Option<&Path>) -> Result<(), Failure> {
    check_outputs(program.paths().iter().map(PathBuf::as_path), output)?;
    if let Some(profile) = program.instead_of_trace() {
        io::tell(format_args!("note: a trace for viewers has no modules, so {} beside it is read", profile.display()));
    }
    if let Some(unread) = program.unread() {
        io::tell(unread);
    }
    Ok(())
}

/// The result of a verb: an error if a part of the module could not be read.
pub(super) fn end(program: &Program) -> Result<(), Failure> {
    if program.unread().is_some() { Err(Failure::Unread) } else { Ok(()) }
}
