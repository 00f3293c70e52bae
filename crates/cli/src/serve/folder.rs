//! The files below a directory. Symbolic links are neither listed nor followed, and names that begin with a dot are left out.

use serde::Serialize;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

/// How many files are listed. The page reads as many from an archive.
const MOST_FILES: usize = 10_000;

/// How deep directories are nested at most. Each is an open handle while they are listed.
const DEEPEST: usize = 32;

/// A directory whose files are served.
#[derive(Debug)]
pub(crate) struct Folder(Handle);

/// The files below a directory.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub(crate) struct Listing {
    /// Paths with `/`, and sizes in bytes, in order.
    pub(crate) files: Vec<(String, u64)>,
    /// Whether there are more files or deeper directories than are listed, or some that cannot be read.
    pub(crate) is_partial: bool,
}

/// What an entry of a directory is.
enum Entry {
    Folder,
    /// A regular file of this size in bytes.
    File(u64),
    /// A link, a device, a pipe: what is not served.
    Other,
}

impl Folder {
    /// Opens a directory. It may be named by a link.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Handle::root(path).map(Self)
    }

    /// All files below it.
    pub(crate) fn list(&self) -> io::Result<Listing> {
        let mut listing = Listing::default();
        listing.add(&self.0, "", 0)?;
        Ok(listing)
    }

    /// Opens a file by the names on its path, and tells its size in bytes.
    ///
    /// Whatever is not a regular file below the directory is [`ErrorKind::NotFound`].
    pub(crate) fn file(&self, names: &[String]) -> io::Result<(File, u64)> {
        let missing = || io::Error::from(ErrorKind::NotFound);
        let (name, folders) = names.split_last().ok_or_else(missing)?;
        if names.len() > DEEPEST + 1 || names.iter().any(|name| !is_name(name)) {
            return Err(missing());
        }
        let mut inner = None;
        for folder in folders {
            inner = Some(inner.as_ref().unwrap_or(&self.0).folder(folder)?);
        }
        let file = inner.as_ref().unwrap_or(&self.0).file(name)?;
        let about = file.metadata()?;
        if about.is_file() { Ok((file, about.len())) } else { Err(missing()) }
    }
}

impl Listing {
    fn add(&mut self, folder: &Handle, path: &str, depth: usize) -> io::Result<()> {
        let mut entries = folder.entries()?;
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, entry) in entries.into_iter().filter(|(name, _)| is_name(name)) {
            match entry {
                Entry::File(_) if self.files.len() == MOST_FILES => self.is_partial = true,
                Entry::File(size) => self.files.push((format!("{path}{name}"), size)),
                Entry::Folder if depth == DEEPEST => self.is_partial = true,
                Entry::Folder => {
                    // A directory may vanish, or be closed to this user.
                    let inner = folder.folder(&name);
                    let added = inner.and_then(|inner| self.add(&inner, &format!("{path}{name}/"), depth + 1));
                    self.is_partial |= added.is_err();
                }
                Entry::Other => {}
            }
            if self.is_partial && self.files.len() == MOST_FILES {
                break;
            }
        }
        Ok(())
    }
}

/// Whether a text is the name of one entry of a directory, and not of a hidden one.
fn is_name(name: &str) -> bool {
    // On Windows a `\` separates directories, and a `:` is behind a drive or before a stream of a file.
    let is_special = |letter: char| matches!(letter, '/' | '\0') || cfg!(windows) && matches!(letter, '\\' | ':');
    !name.is_empty() && !name.starts_with('.') && !name.contains(is_special)
}

#[cfg(unix)]
use unix::Handle;

/// Directories by their handles: between the check of a name and its use, nothing can be put in its place.
#[cfg(unix)]
mod unix {
    use super::Entry;
    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat};
    use std::fs::File;
    use std::io;
    use std::path::Path;

    #[derive(Debug)]
    pub(super) struct Handle(File);

    impl Handle {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            let file = File::open(path)?;
            match FileType::from_raw_mode(fstat(&file)?.st_mode) {
                FileType::Directory => Ok(Self(file)),
                _ => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
            self.open(name, OFlags::DIRECTORY).map(Self)
        }

        /// Does not wait for the other end of a pipe.
        pub(super) fn file(&self, name: &str) -> io::Result<File> {
            self.open(name, OFlags::NONBLOCK | OFlags::NOCTTY)
        }

        fn open(&self, name: &str, flags: OFlags) -> io::Result<File> {
            let flags = flags | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(File::from(openat(&self.0, name, flags, Mode::empty())?))
        }

        /// The entries whose names are texts.
        pub(super) fn entries(&self) -> io::Result<Vec<(String, Entry)>> {
            let mut found = Vec::new();
            for entry in Dir::read_from(&self.0)? {
                let entry = entry?;
                let Ok(name) = entry.file_name().to_str() else { continue };
                // It may have vanished meanwhile.
                let Ok(about) = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
                let kind = match FileType::from_raw_mode(about.st_mode) {
                    FileType::Directory => Entry::Folder,
                    FileType::RegularFile => Entry::File(u64::try_from(about.st_size).unwrap_or_default()),
                    _ => Entry::Other,
                };
                found.push((name.to_owned(), kind));
            }
            Ok(found)
        }
    }
}

#[cfg(not(unix))]
use other::Handle;

/// Directories by their paths, each looked at before it is used.
#[cfg(not(unix))]
mod other {
    use super::Entry;
    use std::fs::{self, File, Metadata};
    use std::io;
    use std::path::{Path, PathBuf};

    #[derive(Debug)]
    pub(super) struct Handle(PathBuf);

    impl Handle {
        pub(super) fn root(path: &Path) -> io::Result<Self> {
            let path = fs::canonicalize(path)?;
            if path.is_dir() { Ok(Self(path)) } else { Err(io::ErrorKind::NotADirectory.into()) }
        }

        pub(super) fn folder(&self, name: &str) -> io::Result<Self> {
            self.checked(name, Metadata::is_dir).map(Self)
        }

        pub(super) fn file(&self, name: &str) -> io::Result<File> {
            File::open(self.checked(name, Metadata::is_file)?)
        }

        fn checked(&self, name: &str, is_right: fn(&Metadata) -> bool) -> io::Result<PathBuf> {
            let path = self.0.join(name);
            if is_right(&fs::symlink_metadata(&path)?) { Ok(path) } else { Err(io::ErrorKind::NotFound.into()) }
        }

        /// The entries whose names are texts.
        pub(super) fn entries(&self) -> io::Result<Vec<(String, Entry)>> {
            let mut found = Vec::new();
            for entry in fs::read_dir(&self.0)? {
                let entry = entry?;
                let (Ok(name), Ok(about)) = (entry.file_name().into_string(), entry.metadata()) else { continue };
                let kind = match about {
                    _ if about.is_dir() => Entry::Folder,
                    _ if about.is_file() => Entry::File(about.len()),
                    _ => Entry::Other,
                };
                found.push((name, kind));
            }
            Ok(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Folder, is_name};
    use std::fs;
    use std::io::Read as _;

    fn names(path: &str) -> Vec<String> {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn names_are_of_one_entry() {
        for name in ["a", "a b", "module_0001.jit_f.hlo.pb", "…", "a..b", "%2e%2e"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", ".", "..", ".git", "a/b", "/", "a\0"] {
            assert!(!is_name(name), "{name:?}");
        }
        assert_eq!(is_name("c:"), !cfg!(windows));
        assert_eq!(is_name("a\\b"), !cfg!(windows));
    }

    #[test]
    fn what_is_listed_can_be_opened_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("deep/er")).unwrap();
        for (path, text) in [("b", "two"), ("a", "1"), ("deep/er/c", ""), (".hidden", "x"), ("../outside", "secret")] {
            fs::write(root.join(path), text).unwrap();
        }
        let folder = Folder::open(&root).unwrap();
        let listing = folder.list().unwrap();
        let expected = [("a", 1), ("b", 3), ("deep/er/c", 0)];
        assert_eq!(listing.files, expected.map(|(path, size)| (path.to_owned(), size)));
        assert!(!listing.is_partial);
        for (path, size) in &listing.files {
            let (mut file, length) = folder.file(&names(path)).unwrap();
            assert_eq!((length, file.read_to_end(&mut Vec::new()).unwrap() as u64), (*size, *size));
        }
        for path in [
            "",
            "missing",
            "deep",
            "deep/er",
            ".hidden",
            "..",
            "../outside",
            "deep/../../outside",
            "a/b",
            "/etc/passwd",
        ] {
            assert!(folder.file(&names(path)).is_err(), "{path}");
        }
        assert!(folder.file(&[]).is_err());
        assert!(folder.file(&["../outside".to_owned()]).is_err());
        assert!(Folder::open(&root.join("a")).is_err() && Folder::open(&root.join("missing")).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_and_pipes_are_neither_listed_nor_opened() {
        use std::os::unix::fs::symlink;
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir(&root).unwrap();
        fs::write(place.path().join("outside"), "secret").unwrap();
        fs::write(root.join("file"), "here").unwrap();
        symlink("../outside", root.join("out")).unwrap();
        symlink("/", root.join("all")).unwrap();
        symlink(".", root.join("loop")).unwrap();
        symlink("itself", root.join("itself")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            rustix::fs::FileType::Fifo,
            rustix::fs::Mode::from_raw_mode(0o600),
            0,
        )
        .unwrap();
        let folder = Folder::open(&root).unwrap();
        assert_eq!(folder.list().unwrap().files, [("file".to_owned(), 4)]);
        for path in ["out", "all", "all/etc/passwd", "loop", "loop/file", "itself", "pipe"] {
            assert!(folder.file(&names(path)).is_err(), "{path}");
        }
        // The directory itself may be named by a link.
        symlink("root", place.path().join("link")).unwrap();
        assert!(Folder::open(&place.path().join("link")).unwrap().file(&names("file")).is_ok());
    }

    #[test]
    fn a_listing_is_bounded() {
        let place = tempfile::tempdir().unwrap();
        let mut path = place.path().to_owned();
        for _ in 0..40 {
            path.push("d");
        }
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("deep"), "").unwrap();
        fs::write(place.path().join("z"), "").unwrap();
        let listing = Folder::open(place.path()).unwrap().list().unwrap();
        assert_eq!((listing.files.len(), listing.is_partial), (1, true));
    }
}
