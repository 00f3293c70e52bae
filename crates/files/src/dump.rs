//! A module and the files that the compiler leaves beside it.

use crate::access::contents;
use crate::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use xla_shape::hlo::dump::{DumpFiles, chosen_dump};

/// The file of a module, and the files of the same compilation beside it; [`DumpFiles`] says which belong together.
///
/// ```
/// use xla_shape_files::Dump;
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("m.after_optimizations.txt"), "HloModule m")?;
/// std::fs::write(folder.path().join("m.after_optimizations-buffer-assignment.txt"), "BufferAssignment:")?;
/// let dump = Dump::find(folder.path())?;
/// assert!(dump.module().ends_with("m.after_optimizations.txt"));
/// let assignment = dump.files().buffer_assignment.as_deref().unwrap();
/// assert_eq!(dump.read(assignment)?, b"BufferAssignment:");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dump {
    module: PathBuf,
    folder: PathBuf,
    files: DumpFiles,
    others: Vec<String>,
}

impl Dump {
    /// Finds the module of a directory, or the other files about a module. Files are not read yet.
    ///
    /// A directory stands for the dump that [`chosen_dump`] chooses in it or below it; a directory with a single file stands for that file. For
    /// `-`, and in a directory that cannot be listed, no other files are found.
    ///
    /// ```
    /// use xla_shape_files::{Dump, Error};
    ///
    /// let folder = tempfile::tempdir()?;
    /// assert!(matches!(Dump::find(folder.path()), Err(Error::NoModule { .. })));
    /// std::fs::write(folder.path().join("a.after.hlo"), "HloModule a")?;
    /// std::fs::write(folder.path().join("b.after.hlo"), "HloModule b, is_scheduled=true")?;
    /// assert_eq!(Dump::find(folder.path())?.others(), ["a.after.hlo"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the path is a directory that cannot be read, or has no optimized module.
    pub fn find(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref();
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
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let names = names(&folder).unwrap_or_default();
        let files = DumpFiles::beside(names.iter().map(String::as_str), name);
        Ok(Self { folder, files: files.unwrap_or_default(), ..Self::alone(path) }.without_itself())
    }

    fn alone(path: &Path) -> Self {
        Self { module: path.to_owned(), folder: PathBuf::new(), files: DumpFiles::default(), others: Vec::new() }
    }

    fn in_folder(folder: &Path) -> Result<Self, Error> {
        let paths = files_below(folder)?;
        if let [alone] = &paths[..] {
            return Self::find(folder.join(alone));
        }
        let size = |path: &str| Some(fs::metadata(folder.join(path)).ok()?.len());
        let chosen = chosen_dump(paths.iter().map(String::as_str), size);
        let Some((below, files, others)) = chosen else { return Err(Error::NoModule { directory: folder.to_owned() }) };
        let folder = if below.is_empty() { folder.to_owned() } else { folder.join(below) };
        let module = folder.join(files.best_module().unwrap_or_default());
        Ok(Self { module, folder, files, others }.without_itself())
    }

    /// The same files, but without the message if the module itself was read from it.
    fn without_itself(mut self) -> Self {
        let own = self.module.file_name();
        self.files.proto = self.files.proto.filter(|name| own.is_none_or(|own| own != name.as_str()));
        self
    }

    /// The module's file.
    ///
    /// ```
    /// assert_eq!(xla_shape_files::Dump::find("m.hlo")?.module(), "m.hlo");
    /// # Ok::<(), xla_shape_files::Error>(())
    /// ```
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// The names of the files beside the module, in its directory. Where the module is read from its text, its message may be among them.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("after.hlo");
    /// # std::fs::write(&path, "HloModule m")?;
    /// # std::fs::write(folder.path().join("stats.json"), "{}")?;
    /// let dump = xla_shape_files::Dump::find(&path)?;
    /// assert_eq!(dump.files().statistics.as_deref(), Some("stats.json"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn files(&self) -> &DumpFiles {
        &self.files
    }

    /// All bytes of a file beside the module.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("after.hlo");
    /// # std::fs::write(&path, "HloModule m")?;
    /// # std::fs::write(folder.path().join("stats.json"), "{}")?;
    /// assert_eq!(xla_shape_files::Dump::find(&path)?.read("stats.json")?, b"{}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(&self, name: &str) -> Result<Vec<u8>, Error> {
        contents(self.folder.join(name))
    }

    /// All files that may be read, the module's first.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// # let path = folder.path().join("after.hlo");
    /// # std::fs::write(&path, "HloModule m")?;
    /// # std::fs::write(folder.path().join("stats.json"), "{}")?;
    /// let paths = xla_shape_files::Dump::find(&path)?.paths().collect::<Vec<_>>();
    /// assert_eq!(paths, [path, folder.path().join("stats.json")]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> + '_ {
        let DumpFiles { module, proto, buffer_assignment, live_range, memory_usage_report, .. } = &self.files;
        let DumpFiles { target_config, statistics, .. } = &self.files;
        let own = self.module.file_name();
        let beside = [module, proto, buffer_assignment, live_range, memory_usage_report, target_config, statistics];
        let beside = beside.into_iter().flatten().filter(move |name| own.is_none_or(|own| own != name.as_str()));
        std::iter::once(self.module.clone()).chain(beside.map(|name| self.folder.join(name)))
    }

    /// The other modules of a directory, by their names.
    ///
    /// ```
    /// assert!(xla_shape_files::Dump::find("m.hlo")?.others().is_empty());
    /// # Ok::<(), xla_shape_files::Error>(())
    /// ```
    #[must_use]
    pub fn others(&self) -> &[String] {
        &self.others
    }
}

/// The names of a directory's files.
fn names(folder: &Path) -> Result<Vec<String>, Error> {
    let entries = fs::read_dir(folder).map_err(|error| Error::read(folder, error))?;
    // The user names the directory, not the files in it: opening a pipe would wait for its writer.
    let is_file = |entry: &fs::DirEntry| fs::metadata(entry.path()).is_ok_and(|known| known.is_file());
    Ok(entries.flatten().filter(is_file).filter_map(|entry| entry.file_name().into_string().ok()).collect())
}

/// After this many files, and below this many levels of directories, no further ones are listed: a dump has fewer.
const MOST_FILES: usize = 10_000;
const DEEPEST: usize = 32;

/// The files in a directory and below: their names from the directory on, separated by `/`, sorted. Directories that are links are not followed,
/// and those that cannot be listed are left out, as are names that begin with a dot. Below a directory with 10,000 files, no further ones are
/// listed.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// std::fs::create_dir(folder.path().join("deep"))?;
/// std::fs::write(folder.path().join("deep/m.hlo"), "HloModule m")?;
/// std::fs::write(folder.path().join("deep/.hidden"), "")?;
/// assert_eq!(xla_shape_files::files_below(folder.path())?, ["deep/m.hlo"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the directory cannot be listed.
pub fn files_below(folder: impl AsRef<Path>) -> Result<Vec<String>, Error> {
    let folder = folder.as_ref();
    let (mut found, mut waiting) = (Vec::new(), vec![(String::new(), 0)]);
    while let Some((below, depth)) = waiting.pop() {
        let path = if below.is_empty() { folder.to_owned() } else { folder.join(&below) };
        let entries = match fs::read_dir(&path) {
            Err(error) if below.is_empty() => return Err(Error::read(&path, error)),
            entries => entries.into_iter().flatten().flatten(),
        };
        let mut folders = Vec::new();
        for entry in entries {
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.starts_with('.') {
                continue;
            }
            let name = if below.is_empty() { name } else { format!("{below}/{name}") };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push((name, depth + 1));
            } else if fs::metadata(entry.path()).is_ok_and(|known| known.is_file()) {
                found.push(name);
            }
        }
        if found.len() >= MOST_FILES {
            break;
        }
        if depth < DEEPEST {
            // `waiting` is a stack, so the last folder is listed next.
            folders.sort_by(|one, other| other.cmp(one));
            waiting.extend(folders);
        }
    }
    found.sort();
    Ok(found)
}
