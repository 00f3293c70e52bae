//! The memory of a program, with what the compiler's own files say about it.

use crate::program::{Beside, Program};
use crate::statistics::{Statistics, StatisticsError};
use crate::target::device_of;
use std::fmt::Display;
use xla_shape_core::tpu::Generation;
use xla_shape_hlo::dump::{BufferAssignment, DumpFiles, LiveRanges, UsageReport};
use xla_shape_hlo::{InUnits, Memory, Timeline};

/// The memory of a program's values, with the compiler's own figures where its files have them.
///
/// A file never leads to an error: if it cannot be read, belongs to another module or has unexpected contents, it is ignored, and
/// [`notes`](Self::notes) says so. [`DumpFiles`] says which files are read.
///
/// ```
/// use xla_shape_program::{Program, Statistics};
///
/// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
/// let statistics = Statistics::parse(b"{\"argument_size_in_bytes\": 32, \"temp_size_in_bytes\": 64}").unwrap();
/// let program = program.with_statistics("stats.json", statistics);
/// let memory = program.memory(None);
/// assert_eq!(memory.values().buffers().len(), 1);
/// assert_eq!(memory.timeline().unwrap().account().device.temporaries, 64);
/// # Ok::<(), xla_shape_program::ReadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ProgramMemory<'p> {
    program: &'p Program,
    values: Memory<'p>,
    timeline: Option<Timeline<'p>>,
    statistics: Option<Statistics>,
    files: Vec<String>,
    notes: Vec<String>,
}

/// Reads files by name, and collects notes about those that cannot be read.
struct Files<R> {
    read: R,
    notes: Vec<String>,
}

impl<E: Display, R: FnMut(&str) -> Result<Vec<u8>, E>> Files<R> {
    fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let bytes = (self.read)(name);
        bytes.map_err(|error| self.ignore(name, &error)).ok()
    }

    fn text(&mut self, name: &str) -> Option<String> {
        let text = String::from_utf8(self.bytes(name)?);
        text.map_err(|_| self.ignore(name, &"it is not text")).ok()
    }

    /// Adds the note that a file is ignored.
    fn ignore(&mut self, name: &str, why: &dyn Display) {
        self.notes.push(format!("`{name}` is ignored: {why}"));
    }

    fn keep<T, W: Display>(&mut self, name: &str, result: Result<T, W>) -> Option<T> {
        result.map_err(|why| self.ignore(name, &why)).ok()
    }
}

impl Program {
    /// The memory of the program's values. `device` is the generation that the user names; without it, the module decides.
    ///
    /// ```
    /// use xla_shape_program::Program;
    ///
    /// let program = Program::read("m.hlo", b"HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }".to_vec())?;
    /// assert_eq!(program.memory(None).timeline().unwrap().account().device.arguments, 32);
    /// # Ok::<(), xla_shape_program::ReadError>(())
    /// ```
    #[must_use]
    pub fn memory(&self, device: Option<Generation>) -> ProgramMemory<'_> {
        ProgramMemory::new(self, device)
    }
}

impl<'p> ProgramMemory<'p> {
    fn new(program: &'p Program, device: Option<Generation>) -> Self {
        let values = program.module().memory();
        let timeline = values.timeline_on(device);
        let memory = Self { program, values, timeline, statistics: None, files: Vec::new(), notes: Vec::new() };
        match &program.beside {
            Beside::Nothing => memory.with_files(&DumpFiles::default(), |_| Err("it is not there")),
            #[cfg(feature = "files")]
            Beside::Dump(dump) => memory.with_files(dump.files(), |name| dump.read(name)),
            Beside::Files(files, found) => {
                memory.with_files(files, |name| found.get(name).cloned().ok_or("it is not there"))
            }
            Beside::Analysis(name, statistics) => memory.with_statistics(name, statistics.clone()),
        }
    }

    /// The program.
    #[must_use]
    pub const fn program(&self) -> &'p Program {
        self.program
    }

    /// The arrays with buffers of their own.
    #[must_use]
    pub const fn values(&self) -> &Memory<'p> {
        &self.values
    }

    /// Live ranges and totals. Offsets and sizes are the compiler's if there is a buffer assignment, and totals if there is a memory
    /// analysis. `None` if the module has no entry computation.
    #[must_use]
    pub const fn timeline(&self) -> Option<&Timeline<'p>> {
        self.timeline.as_ref()
    }

    /// The compiler's memory analysis, if there is one of this program.
    #[must_use]
    pub const fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// The names of the files that were used.
    #[must_use]
    pub fn files(&self) -> &[String] {
        &self.files
    }

    /// What is doubtful, and which files were ignored: sentences without a capital letter and a full stop.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Uses the files beside the module. `beside` names them, and `read` returns the contents of a file with such a name.
    fn with_files<E: Display>(mut self, beside: &DumpFiles, read: impl FnMut(&str) -> Result<Vec<u8>, E>) -> Self {
        let Some(timeline) = self.timeline.take() else { return self };
        let mut files = Files { read, notes: Vec::new() };
        let mut applied = None;
        // The other files are checked against the assignment: without it, they say nothing.
        if let Some((name, assignment)) = assignment(self.program.assignment.as_ref(), beside, &mut files)
            && let Some(timeline) = files.keep(&name, timeline.clone().with_assignment(&assignment))
        {
            files.notes.extend(timeline.warnings().iter().map(|doubt| format!("`{name}`: {doubt}")));
            self.files.push(name);
            if let Some(name) = &beside.live_range
                && let Some(text) = files.text(name)
                && let Some(ranges) = files.keep(name, LiveRanges::parse(&text))
                && files.keep(name, timeline.check_live_ranges(&ranges)).is_some()
            {
                self.files.push(name.clone());
            }
            if let Some(name) = &beside.memory_usage_report
                && let Some(text) = files.text(name)
                && let Some(report) = files.keep(name, UsageReport::parse(&text))
                && files.keep(name, report.check(&assignment)).is_some()
            {
                self.files.push(name.clone());
            }
            self.notes.append(&mut files.notes);
            self.notes.extend(gaps(&timeline, &assignment));
            applied = Some(timeline);
        }
        self.notes.append(&mut files.notes);
        self.timeline = Some(applied.unwrap_or(timeline));
        if let Some(name) = &beside.target_config
            && let Some(text) = files.text(name)
            && let Some(target) = files.keep(name, device_of(&text))
        {
            files.notes.push(format!("it was compiled for {target}, as `{name}` says"));
            self.files.push(name.clone());
        }
        if let Some(name) = &beside.statistics
            && let Some(bytes) = files.bytes(name)
            && let Some(statistics) = files.keep(name, Statistics::parse(&bytes))
        {
            self = self.with_statistics(name, statistics);
        }
        self.notes.append(&mut files.notes);
        self
    }

    /// Uses the totals of the compiler's memory analysis from the file `name`, unless it is an analysis of another program.
    fn with_statistics(mut self, name: &str, statistics: Statistics) -> Self {
        let Some(timeline) = self.timeline.take() else { return self };
        let account = timeline.account();
        match statistics.check(account) {
            Ok(()) => {}
            Err(StatisticsError::Disagree { field, found, expected }) if Statistics::is_of_temporaries(field) => {
                // If the account is not exact, a different number is expected, so there is no note.
                if account.exact {
                    self.notes.push(format!(
                        "`{name}` has {found} bytes in `{field}`, and the compiler's assignment {expected}: this release of the \
                         compiler counts differently, and the number of `{name}` is used"
                    ));
                }
            }
            Err(why) => {
                self.notes.push(format!("`{name}` is ignored: {why}"));
                self.timeline = Some(timeline);
                return self;
            }
        }
        // The compiler's totals show whether gaps count, so the note about gaps is removed.
        self.notes.retain(|note| !note.contains(GAPS));
        let account = statistics.applied(account);
        self.timeline = Some(timeline.with_account(account));
        self.files.push(name.to_owned());
        self.statistics = Some(statistics);
        self
    }
}

/// A note if the heap has large gaps: some releases count them among the temporaries, and their files do not say so.
fn gaps(timeline: &Timeline<'_>, assignment: &BufferAssignment) -> Option<String> {
    const LEAST: u64 = 256 << 10;
    let account = timeline.account();
    let are_large = !assignment.counts_gaps() && account.gaps > LEAST.max(account.device.total() / 50);
    are_large.then(|| format!("{} {GAPS}", InUnits(account.gaps)))
}

/// The note about gaps. The caller puts the number of bytes before it.
const GAPS: &str = "of the heap are gaps; libtpu 0.0.47 to 0.0.50 count them among the temporaries a second time, libtpu 0.0.51 and 0.0.52 \
                    do not, and their files can look the same";

/// The compiler's buffer assignment and the name of its file: the text beside the module, otherwise the message. Some
/// releases write a text without the number of bytes that are live at one time: then the message is read too, if there is
/// one, because it has the number.
fn assignment<E: Display, R: FnMut(&str) -> Result<Vec<u8>, E>>(
    own: Option<&BufferAssignment>,
    beside: &DumpFiles,
    files: &mut Files<R>,
) -> Option<(String, BufferAssignment)> {
    let text = beside.buffer_assignment.as_ref().and_then(|name| {
        let text = files.text(name)?;
        Some((name.clone(), files.keep(name, BufferAssignment::parse(&text))?))
    });
    let own = own.map(|found| ("the module's message".to_owned(), found.clone()));
    let message = own.or_else(|| {
        let name = beside.proto.as_ref()?;
        let bytes = files.bytes(name)?;
        Some((name.clone(), files.keep(name, BufferAssignment::from_proto(&bytes))??))
    });
    match (text, message) {
        (Some((name, text)), Some((_, message))) => Some((name, text.completed_by(&message))),
        (text, message) => text.or(message),
    }
}
