//! `hlo`: how much memory the values of a program take.

use crate::args::{Format, HloArguments, HloDiffArguments, HloForm, HloPrintArguments, HloShowArguments, HloVerb};
use crate::failure::Failure;
use crate::io;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use xla_shape::hlo::proto::is_message;
use xla_shape::hlo::{Module, Severity, Timeline};
use xla_shape_files::{Dump, check_outputs, contents, is_stdout, write_whole};
use xla_shape_render::harmless;
use xla_shape_render::hlo::{
    Device, Difference, Known, ModuleFile, Report, ShownInstruction, check_devices, check_space, graph_page, page,
};

pub(crate) fn run(arguments: &HloArguments) -> Result<(), Failure> {
    match &arguments.verb {
        Some(HloVerb::Diff(arguments)) => return diff(arguments),
        Some(HloVerb::Print(arguments)) => return print(arguments),
        Some(HloVerb::Show(arguments)) => return show(arguments),
        None => {}
    }
    let Some(file) = &arguments.file else { return Err(Failure::said("no file is given")) };
    let dump = Dump::find(file)?;
    let inputs = dump.paths().collect::<Vec<_>>();
    check_outputs(inputs.iter().map(PathBuf::as_path), arguments.html.as_deref())?;
    let bytes = contents(dump.module())?;
    let read = read(dump.module(), &bytes)?;
    read.warn();
    let module = &read.module;
    if let Some(space) = arguments.space {
        check_space(module, space).map_err(Failure::said)?;
    }
    let memory = module.memory();
    let timeline = memory.timeline_on(arguments.device.and_then(Device::generation));
    let known = timeline.map(|timeline| known(&dump, &bytes, timeline, arguments.estimate));
    let timeline = known.as_ref().map(|known| &known.timeline);
    let report = Report::on(&memory, timeline, arguments.device, arguments.top, arguments.space);
    let report = known.iter().fold(report, |report, known| report.with_known(known, dump.others().to_vec()));
    if let Some(path) = &arguments.html {
        if arguments.answer.format == Format::Json && is_stdout(path) {
            return Err(Failure::said("standard output takes the page or JSON, not both"));
        }
        write_whole(path, page(module, timeline, &report, arguments.space).as_bytes())?;
    }
    if arguments.html.as_ref().is_none_or(|path| !is_stdout(path)) {
        match arguments.answer.format {
            Format::Text if !arguments.sections.is_empty() => {
                io::print(&report.sections(&arguments.sections, io::width()))?
            }
            Format::Text if !arguments.all => io::print(&report.screen(io::width()))?,
            format => super::show(&report, format)?,
        }
    }
    read.end()?;
    match report.worst() {
        _ if report.exceeds_device() => Err(Failure::Told),
        Some(Severity::Error) => Err(Failure::Told),
        Some(Severity::Hint) if arguments.strict => Err(Failure::Told),
        _ => Ok(()),
    }
}

/// What a program takes of a device, by the compiler's files beside it.
pub(super) fn report(dump: &Dump, bytes: &[u8], device: Device, top: usize) -> Result<Report, Failure> {
    let module = read(dump.module(), bytes)?.module;
    let memory = module.memory();
    let known = memory.timeline_on(device.generation()).map(|timeline| known(dump, bytes, timeline, false));
    let timeline = known.as_ref().map(|known| &known.timeline);
    let report = Report::on(&memory, timeline, Some(device), top, None);
    Ok(known.iter().fold(report, |report, known| report.with_known(known, dump.others().to_vec())))
}

fn diff(arguments: &HloDiffArguments) -> Result<(), Failure> {
    let (first, second) = (Dump::find(&arguments.before)?, Dump::find(&arguments.after)?);
    let inputs = first.paths().chain(second.paths()).collect::<Vec<_>>();
    check_outputs(inputs.iter().map(PathBuf::as_path), arguments.html.as_deref())?;
    let (bytes, after_bytes) = (contents(first.module())?, contents(second.module())?);
    let (before, after) = (read(first.module(), &bytes)?, read(second.module(), &after_bytes)?);
    before.warn();
    after.warn();
    if !arguments.other_devices {
        let compared = check_devices(&before.module, &after.module);
        compared.map_err(|error| Failure::said(format_args!("{error}; --other-devices compares them anyway")))?;
    }
    let (memory, after_memory) = (before.module.memory(), after.module.memory());
    let timeline = memory.timeline_on(None).map(|timeline| known(&first, &bytes, timeline, arguments.estimate));
    let after_timeline =
        after_memory.timeline_on(None).map(|timeline| known(&second, &after_bytes, timeline, arguments.estimate));
    for note in timeline.iter().chain(&after_timeline).flat_map(|known| &known.notes) {
        io::tell(format_args!("note: {note}"));
    }
    let [timeline, after_timeline] =
        [&timeline, &after_timeline].map(|known| known.as_ref().map(|known| &known.timeline));
    let difference = Difference::on(&before.module, timeline, &after.module, after_timeline);
    let exceeded = difference.exceeded(&arguments.limits);
    if arguments.markdown {
        io::write(difference.markdown(&exceeded).as_bytes())?;
    } else {
        let page = || difference.html(&exceeded);
        super::show_with_page(&difference, arguments.answer.format, arguments.html.as_deref(), page)?;
    }
    for limit in &exceeded {
        io::tell(format_args!("error: {limit}"));
    }
    before.end().and(after.end())?;
    if exceeded.is_empty() { Ok(()) } else { Err(Failure::Told) }
}

fn show(arguments: &HloShowArguments) -> Result<(), Failure> {
    let dump = Dump::find(&arguments.file)?;
    let inputs = dump.paths().collect::<Vec<_>>();
    check_outputs(inputs.iter().map(PathBuf::as_path), arguments.html.as_deref())?;
    let bytes = contents(dump.module())?;
    let read = read(dump.module(), &bytes)?;
    read.warn();
    let memory = read.module.memory();
    let known = memory.timeline_on(None).map(|timeline| known(&dump, &bytes, timeline, false));
    let timeline = known.as_ref().map(|known| &known.timeline);
    let said = |error| Failure::said(format_args!("{}: {error}", dump.module().display()));
    let shown = ShownInstruction::new(&read.module, timeline, &arguments.name).map_err(said)?;
    let graph = arguments.html.as_ref().map(|_| graph_page(&read.module, timeline, &arguments.name));
    let graph = graph.transpose().map_err(said)?.unwrap_or_default();
    super::show_with_page(&shown, arguments.answer.format, arguments.html.as_deref(), || graph)?;
    read.end()
}

/// The timeline with the compiler's own files, unless the user wants an estimate.
fn known<'m>(dump: &Dump, bytes: &[u8], timeline: Timeline<'m>, estimate: bool) -> Known<'m> {
    let known = Known::new(timeline);
    if estimate { known } else { known.with_files(bytes, dump.files(), |name| dump.read(name)) }
}

/// The bytes of HBM that a module takes: by the compiler's own files, or else estimated.
pub(super) fn hbm_bytes(dump: &Dump, bytes: &[u8], module: &Module) -> Option<u64> {
    let memory = module.memory();
    let timeline = memory.timeline_on(None)?;
    Some(known(dump, bytes, timeline, false).timeline.account().device.total())
}

fn print(arguments: &HloPrintArguments) -> Result<(), Failure> {
    let bytes = contents(&arguments.file)?;
    let Read { module, unread } = read(&arguments.file, &bytes)?;
    if let Some(unread) = unread {
        // Only a module that was read completely can be written.
        return Err(Failure::Shape(unread));
    }
    // In a file, the text is unchanged; on a terminal, control characters are escaped.
    let to_terminal = std::io::stdout().is_terminal();
    match arguments.to {
        HloForm::Text if to_terminal => io::write(harmless(&module.to_string()).as_bytes()),
        HloForm::Text => io::write(module.to_string().as_bytes()),
        HloForm::Proto if to_terminal => {
            Err(Failure::said("expected a file or a pipe for a message, found a terminal"))
        }
        // A message is copied, because it may have constants that a text leaves out.
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

/// A module, and a warning about the instructions that could not be read.
pub(super) struct Read {
    pub(super) module: Module,
    unread: Option<String>,
}

impl Read {
    /// Warns about the instructions that could not be read, before any other output.
    pub(super) fn warn(&self) {
        if let Some(unread) = &self.unread {
            io::tell(unread);
        }
    }

    /// The result of the verb: an error if a part of the module could not be read.
    pub(super) fn end(self) -> Result<(), Failure> {
        if self.unread.is_some() { Err(Failure::Unread) } else { Ok(()) }
    }
}

/// Reads a module, as text or message. If only some instructions of a text can be read, the module has those.
pub(super) fn read(file: &Path, bytes: &[u8]) -> Result<Read, Failure> {
    let ModuleFile { module, unread } = ModuleFile::read(&file.display().to_string(), bytes).map_err(Failure::Shape)?;
    Ok(Read { module, unread })
}
