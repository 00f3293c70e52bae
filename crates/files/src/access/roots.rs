//! The directories whose files a client may name.

use crate::failure::Failure;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// How many entries of a directory are looked at for links.
const MOST_ENTRIES: usize = 100_000;

/// The directories that the user named.
pub(super) struct Roots(Vec<PathBuf>);

impl Roots {
    pub(super) fn new(named: &[PathBuf]) -> Result<Self, Failure> {
        let root = |path: &PathBuf| match path.canonicalize() {
            Ok(root) if root.is_dir() => Ok(root),
            Ok(_) => Err(Failure::said(format_args!("{}: expected a directory", path.display()))),
            Err(error) => Err(Failure::said(format_args!("{}: {error}", path.display()))),
        };
        named.iter().map(root).collect::<Result<_, _>>().map(Self)
    }

    /// A file or a directory to read. From the root down, no part of its path may be a link. The files that are read with it (those of a dump,
    /// or beside a module) may not be links that lead out of the root.
    pub(super) fn input(&self, path: &str) -> Result<PathBuf, String> {
        let found = self.inside(path)?;
        let kind = fs::metadata(&found).map_err(|error| format!("{path}: {error}"))?;
        if !kind.is_dir() && !kind.is_file() {
            return Err(format!("{path}: expected a file or a directory"));
        }
        let folder = if kind.is_dir() { Some(found.as_path()) } else { found.parent() };
        if folder.is_some_and(|folder| self.leads_out(folder, kind.is_dir(), &mut MOST_ENTRIES.clone())) {
            return Err(format!(
                "{path}: refused, because a link beside it leads out of the directories of this server"
            ));
        }
        Ok(found)
    }

    /// A file or a directory that is written. It may be missing, but not its directory.
    pub(super) fn output(&self, path: &str) -> Result<PathBuf, String> {
        let name = Path::new(path).file_name().ok_or_else(|| format!("{path}: expected the name of a file"))?;
        let above = Path::new(path).parent().filter(|above| !above.as_os_str().is_empty());
        let above = self.inside(&above.unwrap_or(Path::new(".")).to_string_lossy())?;
        let found = above.join(name);
        match fs::symlink_metadata(&found) {
            Ok(kind) if kind.is_symlink() => Err(format!("{path}: refused, because it is a link")),
            _ => Ok(found),
        }
    }

    /// The path below a root, without links.
    fn inside(&self, path: &str) -> Result<PathBuf, String> {
        let given = Path::new(path);
        if path.is_empty() || path.contains('\0') {
            return Err("expected a path".to_owned());
        }
        if given.components().any(|part| part == Component::ParentDir) {
            return Err(format!("{path}: refused, because it has `..`"));
        }
        if self.0.is_empty() {
            return Err(format!("{path}: this server reads no files; start it with --root, or give the text inline"));
        }
        let mut missing = false;
        for root in &self.0 {
            // An absolute path replaces the root.
            let whole = root.join(given);
            if !whole.starts_with(root) {
                continue;
            }
            match whole.canonicalize() {
                Ok(found) if found == whole.components().collect::<PathBuf>() => return Ok(found),
                Ok(_) => return Err(format!("{path}: refused, because a part of it is a link")),
                Err(_) => missing = true,
            }
        }
        Err(match missing {
            true => format!("{path}: there is no such file in the directories of this server"),
            false => format!("{path}: refused, because it is not in a directory of this server"),
        })
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
