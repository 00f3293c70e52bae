//! Directories in which somebody else may name files.

use std::fs;
use std::path::{Component, Path, PathBuf};
use thiserror::Error;

/// How many entries of a directory are checked for links.
const MOST_ENTRIES: usize = 100_000;

/// Directories below which somebody else, such as an agent, may name files. No path leads out of them: neither by `..` nor by a symbolic link.
///
/// ```
/// use xla_shape_files::{RootsError, Roots};
///
/// let folder = tempfile::tempdir()?;
/// std::fs::write(folder.path().join("m.hlo"), "HloModule m")?;
/// let roots = Roots::new([folder.path()])?;
/// assert_eq!(roots.input("m.hlo")?, folder.path().canonicalize()?.join("m.hlo"));
/// assert!(matches!(roots.input("../m.hlo"), Err(RootsError::Parent(_))));
/// assert!(matches!(roots.input("/etc/passwd"), Err(RootsError::Outside(_))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Roots(Vec<PathBuf>);

/// Why a path is not read or written. It displays as one sentence, without a full stop.
///
/// ```
/// use xla_shape_files::{Roots, RootsError};
///
/// let error = Roots::default().input("m.hlo").unwrap_err();
/// assert!(matches!(error, RootsError::NoRoot(_)));
/// assert_eq!(error.to_string(), "m.hlo: no directory is open to you; give the text itself");
/// ```
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RootsError {
    /// It is empty, or has a NUL.
    #[error("expected a path")]
    NotAPath,
    /// No directory was named.
    #[error("{0}: no directory is open to you; give the text itself")]
    NoRoot(String),
    /// It has `..`.
    #[error("{0}: refused, because it has `..`")]
    Parent(String),
    /// It is not below a root.
    #[error("{0}: refused, because it is not below a directory that is open to you")]
    Outside(String),
    /// A directory on the path, or the file itself, is a symbolic link.
    #[error("{0}: refused, because a part of it is a link")]
    Link(String),
    /// A file beside it, which may be read with it, is a symbolic link to a place outside of the roots.
    #[error("{0}: refused, because a link beside it leads out of the directories that are open to you")]
    LinkBeside(String),
    /// It is not there.
    #[error("{0}: there is no such file below the directories that are open to you")]
    Missing(String),
    /// It is a pipe or a device, for example.
    #[error("{0}: expected a file or a directory")]
    Special(String),
    /// A root that is not a directory that can be read.
    #[error("{path}: expected a directory{}", error.as_ref().map(|error| format!(": {error}")).unwrap_or_default(), path = path.display())]
    Root {
        /// The root as it was named.
        path: PathBuf,
        /// What the system says.
        error: Option<std::io::Error>,
    },
}

impl Roots {
    /// These directories.
    ///
    /// # Errors
    /// [`RootsError::Root`], if one of them is not a directory.
    pub fn new(named: impl IntoIterator<Item = impl Into<PathBuf>>) -> Result<Self, RootsError> {
        let root = |path: PathBuf| match path.canonicalize() {
            Ok(root) if root.is_dir() => Ok(root),
            found => Err(RootsError::Root { path, error: found.err() }),
        };
        named.into_iter().map(|path| root(path.into())).collect::<Result<_, _>>().map(Self)
    }

    /// A file or a directory to read; a relative path begins at a root. From the root down, no part of its path may be a link. The files that are
    /// read with it (those of a dump, or beside a module) may not be links that lead out of the roots.
    ///
    /// # Errors
    /// If the path is refused, or nothing is there.
    pub fn input(&self, path: &str) -> Result<PathBuf, RootsError> {
        let found = self.inside(path)?;
        let is_folder = found.is_dir();
        if !is_folder && !found.is_file() {
            return Err(RootsError::Special(path.to_owned()));
        }
        let folder = if is_folder { Some(found.as_path()) } else { found.parent() };
        if folder.is_some_and(|folder| self.leads_out(folder, is_folder, &mut MOST_ENTRIES.clone())) {
            return Err(RootsError::LinkBeside(path.to_owned()));
        }
        Ok(found)
    }

    /// A file or a directory that is written. It may be missing, but not its directory.
    ///
    /// # Errors
    /// If the path is refused, or its directory is not there.
    pub fn output(&self, path: &str) -> Result<PathBuf, RootsError> {
        let name = Path::new(path).file_name().ok_or(RootsError::NotAPath)?;
        let above = Path::new(path).parent().filter(|above| !above.as_os_str().is_empty());
        let found = self.inside(&above.unwrap_or(Path::new(".")).to_string_lossy())?.join(name);
        match fs::symlink_metadata(&found) {
            Ok(kind) if kind.is_symlink() => Err(RootsError::Link(path.to_owned())),
            _ => Ok(found),
        }
    }

    /// The path below a root, without links.
    fn inside(&self, path: &str) -> Result<PathBuf, RootsError> {
        let given = Path::new(path);
        if path.is_empty() || path.contains('\0') {
            return Err(RootsError::NotAPath);
        }
        if given.components().any(|part| part == Component::ParentDir) {
            return Err(RootsError::Parent(path.to_owned()));
        }
        if self.0.is_empty() {
            return Err(RootsError::NoRoot(path.to_owned()));
        }
        let mut missing = false;
        for root in &self.0 {
            // Joining an absolute path gives that path.
            let whole = root.join(given);
            if !whole.starts_with(root) {
                continue;
            }
            match whole.canonicalize() {
                Ok(found) if found == whole.components().collect::<PathBuf>() => return Ok(found),
                Ok(_) => return Err(RootsError::Link(path.to_owned())),
                Err(_) => missing = true,
            }
        }
        Err(if missing { RootsError::Missing(path.to_owned()) } else { RootsError::Outside(path.to_owned()) })
    }

    /// Whether a directory has a link that leads out of the roots, or more entries than are looked at.
    fn leads_out(&self, folder: &Path, deep: bool, left: &mut usize) -> bool {
        let Ok(entries) = fs::read_dir(folder) else { return false };
        entries.flatten().any(|entry| {
            *left = left.saturating_sub(1);
            let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { return false };
            if kind.is_symlink() {
                return path.canonicalize().is_ok_and(|found| !self.0.iter().any(|root| found.starts_with(root)));
            }
            *left == 0 || (deep && kind.is_dir() && self.leads_out(&path, deep, left))
        })
    }
}
