//! The files that the compiler leaves beside a module.

use crate::failure::Failure;
use crate::io;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape::hlo::dump::{BufferAssignment, DumpError, DumpFiles, LiveRanges, UsageReport, dump_files};
use xla_shape::hlo::{Account, Timeline};
use xla_shape_render::hlo::{Statistics, StatisticsError};

/// A module, and what lies beside it.
#[derive(Debug)]
pub(super) struct Dump {
    pub(super) module: PathBuf,
    folder: PathBuf,
    files: DumpFiles,
    /// The other modules of a directory.
    pub(super) others: Vec<String>,
}

impl Dump {
    /// Finds the module of a directory, or what lies beside a module.
    pub(super) fn find(path: &Path) -> Result<Self, Failure> {
        if path.as_os_str() == "-" {
            return Ok(Self::alone(path));
        }
        if path.is_dir() {
            return Self::in_folder(path);
        }
        let folder = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let name = path.file_name().and_then(|name| name.to_str());
        // A directory that cannot be listed has nothing that belongs to the module.
        let found = compilations(&folder).unwrap_or_default();
        let is_it = |module: &Option<String>| module.is_some() && module.as_deref() == name;
        let files = found.into_iter().find(|files| is_it(&files.module) || is_it(&files.proto));
        Ok(Self { folder, files: files.unwrap_or_default(), ..Self::alone(path) })
    }

    fn alone(path: &Path) -> Self {
        Self { module: path.to_owned(), folder: PathBuf::new(), files: DumpFiles::default(), others: Vec::new() }
    }

    /// The largest module of a directory that the compiler assigned memory to, or else the largest one.
    fn in_folder(folder: &Path) -> Result<Self, Failure> {
        let found = compilations(folder)?;
        // The text has the order of instructions, too.
        let module = |files: &DumpFiles| files.module.clone().or_else(|| files.proto.clone());
        let size = |files: &DumpFiles| {
            let size = fs::metadata(folder.join(module(files)?)).ok()?.len();
            Some((files.buffer_assignment.is_some(), size))
        };
        let Some(best) = found.iter().max_by_key(|files| size(files)) else {
            let what = "has no optimized module: a file that ends in `after_optimizations.txt` or `.hlo.pb`";
            return Err(Failure::said(format_args!("`{}` {what}", folder.display())));
        };
        let files = best.clone();
        let others = found.iter().filter(|other| **other != files).filter_map(module).collect();
        let module = folder.join(module(&files).unwrap_or_default());
        Ok(Self { module, folder: folder.to_owned(), files, others })
    }

    /// The timeline with the compiler's own numbers, if they are there; `module` is what its file holds, and `read` gets the names of the files.
    pub(super) fn exact<'m, 'a>(
        &self,
        timeline: Timeline<'m, 'a>,
        module: &[u8],
        read: &mut Vec<String>,
    ) -> Result<Timeline<'m, 'a>, Failure> {
        let said = |name: &str, error: DumpError| {
            Failure::said(format_args!(
                "{}: {error}\nhelp: `--estimate` looks at the module alone",
                self.folder.join(name).display()
            ))
        };
        let (name, assignment) = match self.read(self.files.buffer_assignment.as_deref())? {
            Some((name, text)) => {
                let assignment = BufferAssignment::parse(&text).map_err(|error| said(&name, error))?;
                (name, assignment)
            }
            None => match self.in_message(module)? {
                Some(found) => found,
                None => return Ok(timeline),
            },
        };
        let timeline = timeline.with_assignment(&assignment).map_err(|error| said(&name, error))?;
        read.push(name);
        if let Some((name, text)) = self.read(self.files.live_range.as_deref())? {
            let ranges = LiveRanges::parse(&text).map_err(|error| said(&name, error))?;
            timeline.check_live_ranges(&ranges).map_err(|error| said(&name, error))?;
            read.push(name);
        }
        if let Some((name, text)) = self.read(self.files.memory_usage_report.as_deref())? {
            let report = UsageReport::parse(&text).map_err(|error| said(&name, error))?;
            report.check(&assignment).map_err(|error| said(&name, error))?;
            read.push(name);
        }
        Ok(timeline)
    }

    /// The assignment in the message that the module was read from, or that lies beside it.
    fn in_message(&self, module: &[u8]) -> Result<Option<(String, BufferAssignment)>, Failure> {
        let found = |name: &str, bytes: &[u8]| {
            let assignment = BufferAssignment::from_proto(bytes);
            let assignment = assignment.map_err(|error| {
                Failure::said(format_args!("{name}: {error}\nhelp: `--estimate` looks at the module alone"))
            });
            Ok(assignment?.map(|assignment| (name.to_owned(), assignment)))
        };
        let own = self.module.file_name().map_or("-".into(), |name| name.to_string_lossy());
        match (found(&own, module)?, &self.files.proto) {
            (None, Some(name)) if self.module.file_name().is_none_or(|own| own != name.as_str()) => {
                found(name, &io::read(&self.folder.join(name))?)
            }
            (own, _) => Ok(own),
        }
    }

    /// What the user's program wrote of the compiler's memory analysis, if it is there.
    pub(super) fn statistics(&self, account: &Account) -> Result<Option<(String, Statistics)>, Failure> {
        let Some((name, text)) = self.read(self.files.statistics.as_deref())? else { return Ok(None) };
        let said =
            |error: StatisticsError| Failure::said(format_args!("{}: {error}", self.folder.join(&name).display()));
        let statistics = Statistics::parse(text.as_bytes()).map_err(said)?;
        if account.exact {
            statistics.check(account).map_err(said)?;
        }
        Ok(Some((name.clone(), statistics)))
    }

    fn read(&self, name: Option<&str>) -> Result<Option<(String, String)>, Failure> {
        let Some(name) = name else { return Ok(None) };
        let path = self.folder.join(name);
        let text = String::from_utf8(io::read(&path)?);
        let text = text.map_err(|_| Failure::said(format_args!("`{}` is not text", path.display())))?;
        Ok(Some((name.to_owned(), text)))
    }
}

fn compilations(folder: &Path) -> Result<Vec<DumpFiles>, Failure> {
    let entries = fs::read_dir(folder).map_err(|error| io::read_failure(folder, error))?;
    // The user names the directory, and not what is in it: a pipe there would be waited for.
    let is_file = |entry: &fs::DirEntry| fs::metadata(entry.path()).is_ok_and(|known| known.is_file());
    let names = entries.flatten().filter(is_file).filter_map(|entry| entry.file_name().into_string().ok());
    let names = names.collect::<Vec<_>>();
    Ok(dump_files(names.iter().map(String::as_str)))
}
