//! `hlo`: what the values of a program take in memory.

use super::dump::Dump;
use super::hint;
use crate::args::{Format, HloArguments, HloDiffArguments, HloForm, HloPrintArguments, HloVerb};
use crate::failure::Failure;
use crate::io;
use std::fmt::Display;
use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use xla_shape::ParseError;
use xla_shape::hlo::proto::is_message;
use xla_shape::hlo::{Module, Timeline, utf8};
use xla_shape_render::harmless;
use xla_shape_render::hlo::{Device, Difference, Report, check_space, page};

pub(crate) fn run(arguments: &HloArguments) -> Result<(), Failure> {
    match &arguments.verb {
        Some(HloVerb::Diff(arguments)) => return diff(arguments),
        Some(HloVerb::Print(arguments)) => return print(arguments),
        None => {}
    }
    let Some(file) = &arguments.file else { return Err(Failure::said("no file is given")) };
    let dump = Dump::find(file)?;
    let bytes = io::read(&dump.module)?;
    let read = read(&dump.module, &bytes)?;
    read.warn();
    let module = &read.module;
    if let Some(space) = arguments.space {
        check_space(module, space).map_err(Failure::said)?;
    }
    let memory = module.memory();
    let mut timeline = memory.timeline_on(arguments.device.and_then(Device::generation));
    let mut files = Vec::new();
    if let Some(estimated) = timeline.take_if(|_| !arguments.estimate) {
        timeline = Some(dump.exact(estimated, &bytes, &mut files)?);
    }
    let report = Report::on(module, timeline.as_ref(), arguments.device, arguments.top, arguments.space);
    let statistics = match timeline.as_ref().filter(|_| !arguments.estimate) {
        Some(timeline) => dump.statistics(timeline.account())?,
        None => None,
    };
    files.extend(statistics.iter().map(|(name, _)| name.clone()));
    let report = statistics.iter().fold(report, |report, (_, statistics)| report.with_statistics(statistics));
    let report = report.from_files(files, dump.others);
    if let Some(path) = &arguments.html {
        if arguments.format == Format::Json && path.as_os_str() == "-" {
            return Err(Failure::said("standard output takes the page or JSON, not both"));
        }
        io::write_file(path, page(module, timeline.as_ref(), &report, arguments.space).as_bytes())?;
        if path.as_os_str() == "-" {
            return read.end();
        }
    }
    super::show(&report, arguments.format)?;
    read.end()
}

fn diff(arguments: &HloDiffArguments) -> Result<(), Failure> {
    let (first, second) = (Dump::find(&arguments.before)?, Dump::find(&arguments.after)?);
    let (bytes, after_bytes) = (io::read(&first.module)?, io::read(&second.module)?);
    let (before, after) = (read(&first.module, &bytes)?, read(&second.module, &after_bytes)?);
    before.warn();
    after.warn();
    let (memory, after_memory) = (before.module.memory(), after.module.memory());
    let timeline = known(&first, &bytes, memory.timeline_on(None), arguments.estimate)?;
    let after_timeline = known(&second, &after_bytes, after_memory.timeline_on(None), arguments.estimate)?;
    let difference = Difference::on(&before.module, timeline.as_ref(), &after.module, after_timeline.as_ref());
    super::show(&difference, arguments.format)?;
    before.end().and(after.end())
}

/// The timeline with the compiler's own numbers, if they are there and wanted.
fn known<'m, 'a>(
    dump: &Dump,
    bytes: &[u8],
    timeline: Option<Timeline<'m, 'a>>,
    estimate: bool,
) -> Result<Option<Timeline<'m, 'a>>, Failure> {
    match timeline {
        Some(timeline) if !estimate => Ok(Some(dump.exact(timeline, bytes, &mut Vec::new())?)),
        timeline => Ok(timeline),
    }
}

fn print(arguments: &HloPrintArguments) -> Result<(), Failure> {
    let bytes = io::read(&arguments.file)?;
    let Read { module, unread } = read(&arguments.file, &bytes)?;
    if let Some(unread) = unread {
        // What was not read cannot be written.
        return Err(Failure::Shape(unread));
    }
    // What is kept stays what it is; what is looked at must not control the terminal.
    let to_terminal = std::io::stdout().is_terminal();
    match arguments.to {
        HloForm::Text if to_terminal => io::write(harmless(&module.to_string()).as_bytes()),
        HloForm::Text => io::write(module.to_string().as_bytes()),
        HloForm::Proto if to_terminal => {
            Err(Failure::said("expected a file or a pipe for a message, found a terminal"))
        }
        // A message stays what it is, with the constants that texts leave out.
        HloForm::Proto if is_message(&bytes) => io::write(&bytes),
        HloForm::Proto => {
            let message = module.to_proto().map_err(Failure::said)?;
            let is_left_out = |text: &str| text.contains("{...}");
            let left_out = module.instructions().filter(|found| found.literal().is_some_and(is_left_out)).count();
            if left_out > 0 {
                // Where standard error is gone, nobody is left to tell.
                let _ = writeln!(
                    std::io::stderr(),
                    "warning: the text leaves the elements of {left_out} constants out (`{{...}}`); in the message they are zero"
                );
            }
            io::write(&message)
        }
    }
}

/// A module, and what could not be read of it.
struct Read<'a> {
    module: Module<'a>,
    unread: Option<String>,
}

impl Read<'_> {
    /// Says what could not be read, before anything else is said.
    fn warn(&self) {
        if let Some(unread) = &self.unread {
            // Where standard error is gone, nobody is left to tell.
            let _ = writeln!(std::io::stderr(), "{}", harmless(unread));
        }
    }

    /// The end of a verb that has said what it could.
    fn end(self) -> Result<(), Failure> {
        if self.unread.is_some() { Err(Failure::Unread) } else { Ok(()) }
    }
}

/// The module in a file, text or message; of a text, what can be read of it.
fn read<'a>(file: &Path, bytes: &'a [u8]) -> Result<Read<'a>, Failure> {
    let shown = |error: &ParseError, text: &str, message: &dyn Display| {
        let (line, column) = error.line_column(text);
        let help = hint::of(bytes).map_or(String::new(), |hint| format!("\nhelp: {hint}"));
        format!("{message}\n  in {}:{line}:{column}{help}", file.display())
    };
    if is_message(bytes) {
        let module = Module::from_proto(bytes);
        let module = module.map_err(|error| Failure::said(format_args!("{}: {error}", file.display())))?;
        return Ok(Read { module, unread: None });
    }
    let text = utf8(bytes).map_err(|error| {
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        Failure::Shape(shown(&error, valid, &format_args!("error: {error}")))
    })?;
    let (module, errors) = Module::parse_with_errors(text);
    let Some(first) = errors.first() else {
        if module.computations().len() == 0 {
            return Err(Failure::said(format_args!("{} has no computations: it is no HLO module", file.display())));
        }
        return Ok(Read { module, unread: None });
    };
    let error = shown(first, module.text(), &first.render(module.text()));
    let readable = module.instructions().filter(|instruction| instruction.is_read()).count();
    if hint::of(bytes).is_some() || readable == 0 || module.entry().is_none() {
        return Err(Failure::Shape(error));
    }
    let unread = module.instructions().len() - readable;
    let all = module.instructions().len();
    let unread =
        format!("warning: {unread} of {all} instructions could not be read; what follows is about the others\n{error}");
    Ok(Read { module, unread: Some(unread) })
}
