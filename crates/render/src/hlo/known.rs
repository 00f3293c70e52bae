//! What the compiler's own files beside a module say about the program's memory.

use super::statistics::{Statistics, StatisticsError};
use crate::words::InUnits;
use std::fmt::Display;
use xla_shape_hlo::Timeline;
use xla_shape_hlo::dump::{BufferAssignment, DumpFiles, LiveRanges, UsageReport};

/// A timeline, refined by the compiler's own files beside the module, for the program and for Python.
///
/// A file never leads to an error: if it cannot be read, belongs to another module or has unexpected contents, it is ignored, and
/// [`notes`](Self::notes) says so. [`DumpFiles`] says which files are read.
#[derive(Clone, Debug)]
pub struct Known<'m> {
    /// The timeline: with the compiler's offsets and sizes if its buffer assignment is there, and with its totals if its memory
    /// analysis is.
    pub timeline: Timeline<'m>,
    /// The compiler's memory analysis, if there is one of this program.
    pub statistics: Option<Statistics>,
    /// The names of the files that were used.
    pub files: Vec<String>,
    /// What is doubtful, and which files were ignored: sentences without a capital letter and a full stop.
    pub notes: Vec<String>,
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

impl<'m> Known<'m> {
    /// A timeline without files of the compiler.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::hlo::Known;
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let memory = module.memory();
    /// assert!(memory.timeline_on(None).map(Known::new).is_some_and(|known| known.files.is_empty()));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub const fn new(timeline: Timeline<'m>) -> Self {
        Self { timeline, statistics: None, files: Vec::new(), notes: Vec::new() }
    }

    /// Uses the files beside a module. `module` is the contents of the module's own file, `beside` names the files beside it, and
    /// `read` returns the contents of a file with such a name.
    ///
    /// ```
    /// use xla_shape_hlo::{Module, dump::DumpFiles};
    /// use xla_shape_render::hlo::Known;
    ///
    /// let text = "HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }";
    /// let module = Module::parse(text)?;
    /// let memory = module.memory();
    /// let files = DumpFiles { statistics: Some("stats.json".to_owned()), ..DumpFiles::default() };
    /// let read = |_name: &str| Ok::<_, std::io::Error>(b"{\"generated_code_size_in_bytes\": 7}".to_vec());
    /// let known = memory.timeline_on(None).map(|timeline| Known::new(timeline).with_files(text.as_bytes(), &files, read));
    /// assert_eq!(known.unwrap().files, ["stats.json"]);
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_files<E: Display>(
        mut self,
        module: &[u8],
        beside: &DumpFiles,
        read: impl FnMut(&str) -> Result<Vec<u8>, E>,
    ) -> Self {
        let mut files = Files { read, notes: Vec::new() };
        if let Some((name, assignment)) = assignment(module, beside, &mut files)
            && let Some(timeline) = files.keep(&name, self.timeline.clone().with_assignment(&assignment))
        {
            files.notes.extend(timeline.warnings().iter().map(|doubt| format!("`{name}`: {doubt}")));
            self.timeline = timeline;
            self.files.push(name);
            if let Some(name) = &beside.live_range
                && let Some(text) = files.text(name)
                && let Some(ranges) = files.keep(name, LiveRanges::parse(&text))
                && files.keep(name, self.timeline.check_live_ranges(&ranges)).is_some()
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
            self.note_gaps(&assignment);
        }
        self.notes.append(&mut files.notes);
        if let Some(name) = &beside.statistics
            && let Some(bytes) = files.bytes(name)
        {
            self = match Statistics::parse(&bytes) {
                Ok(statistics) => self.with_statistics(name, statistics),
                Err(why) => {
                    files.ignore(name, &why);
                    self
                }
            };
        }
        self.notes.append(&mut files.notes);
        self
    }

    /// Uses the totals of the compiler's memory analysis from the file `name`, unless it is an analysis of another program.
    ///
    /// ```
    /// use xla_shape_hlo::Module;
    /// use xla_shape_render::hlo::{Known, Statistics};
    ///
    /// let module = Module::parse("HloModule m\nENTRY e { ROOT p = f32[8] parameter(0) }")?;
    /// let memory = module.memory();
    /// let other = Statistics::parse(b"{\"argument_size_in_bytes\": 7}").unwrap();
    /// let known = Known::new(memory.timeline_on(None).unwrap()).with_statistics("stats.json", other);
    /// assert!(known.notes[0].starts_with("`stats.json` is ignored: it is of another program"));
    /// # Ok::<(), xla_shape_core::ParseError>(())
    /// ```
    #[must_use]
    pub fn with_statistics(mut self, name: &str, statistics: Statistics) -> Self {
        let account = self.timeline.account();
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
                return self;
            }
        }
        // The totals settle the question about gaps.
        self.notes.retain(|note| !note.contains(GAPS));
        self.timeline = self.timeline.clone().with_account(statistics.applied(account));
        self.files.push(name.to_owned());
        self.statistics = Some(statistics);
        self
    }

    /// Adds a note if the heap has large gaps: some releases count them among the temporaries, and their files do not say so.
    fn note_gaps(&mut self, assignment: &BufferAssignment) {
        const LEAST: u64 = 256 << 10;
        let account = self.timeline.account();
        if !assignment.counts_gaps() && account.gaps > LEAST.max(account.device.total() / 50) {
            self.notes.push(format!("{} {GAPS}", InUnits(account.gaps)));
        }
    }
}

/// The note about gaps, after their bytes.
const GAPS: &str = "of the heap are gaps; libtpu 0.0.47 to 0.0.50 count them among the temporaries a second time, libtpu 0.0.51 and 0.0.52 \
                    do not, and their files can look the same";

/// The compiler's buffer assignment and the name of its file: the text beside the module, otherwise the message. If there are both,
/// the message completes a text that does not say how many bytes are live at one time.
fn assignment<E: Display, R: FnMut(&str) -> Result<Vec<u8>, E>>(
    module: &[u8],
    beside: &DumpFiles,
    files: &mut Files<R>,
) -> Option<(String, BufferAssignment)> {
    let text = beside.buffer_assignment.as_ref().and_then(|name| {
        let text = files.text(name)?;
        Some((name.clone(), files.keep(name, BufferAssignment::parse(&text))?))
    });
    let own =
        BufferAssignment::from_proto(module).ok().flatten().map(|found| ("the module's message".to_owned(), found));
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
