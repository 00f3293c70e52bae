//! Files that the program names itself, in a folder where others may put links, pipes and devices: caches, and the files of shards.
//!
//! Only regular files are read and written here. A link is not followed, a pipe is not waited for, and nothing is read
//! without a bound.

use super::replacement::Replacement;
use crate::error::Error;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::Path;

/// All bytes of a regular file of at most `most` bytes. Unlike [`contents`](crate::contents), this follows no link at the end of the path, and
/// never waits for a pipe.
///
/// It is for files that the program names itself: someone else may have put anything there.
///
/// ```
/// use xla_shape_files::{read_regular, write_regular};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer.json");
/// write_regular(&path, b"{}")?;
/// assert_eq!(read_regular(&path, 2)?, b"{}");
/// assert!(read_regular(&path, 1).is_err());
/// assert!(read_regular(folder.path(), 1000).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file does not exist, is not a regular file, is too large, or cannot be read.
pub fn read_regular(path: impl AsRef<Path>, most: u64) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let read = || {
        let mut bytes = Vec::new();
        // The file's length proves nothing: the file may grow while it is read.
        open_regular(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(io::Error::new(ErrorKind::FileTooLarge, format!("it has more than {most} bytes")));
        }
        Ok(bytes)
    };
    read().map_err(|error| Error::read(path, error))
}

/// Writes a regular file, whole or not at all. Unlike [`write_whole`](crate::write_whole), this follows no link at the end of the path, and
/// writes to no pipe or device: if there is one, it stays, and that is an error.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer.json");
/// xla_shape_files::write_regular(&path, b"{}")?;
/// assert_eq!(std::fs::read(&path)?, b"{}");
/// assert!(xla_shape_files::write_regular(folder.path(), b"{}").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the path exists and is not a regular file, or the file cannot be written.
pub fn write_regular(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let path = path.as_ref();
    let written = Replacement::of_regular(path).and_then(|mut file| {
        file.write_all(bytes)?;
        file.commit()
    });
    written.map_err(|error| Error::write(path, error))
}

/// Opens a regular file. The check is of the open file, so nobody can put another one in its place in between.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    let file = {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;

        // Without `NONBLOCK`, opening a pipe waits for its writer. It changes nothing for regular files.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        File::options().read(true).custom_flags(flags.bits() as i32).open(path)
    };
    #[cfg(not(unix))]
    let file = if fs::symlink_metadata(path)?.is_file() { File::open(path) } else { Err(not_regular()) };
    match file {
        Ok(file) if file.metadata()?.is_file() => Ok(file),
        Ok(_) => Err(not_regular()),
        // A link is `ELOOP` on Linux and macOS, and `EMLINK` elsewhere.
        Err(_) if fs::symlink_metadata(path).is_ok_and(|known| known.is_symlink()) => Err(not_regular()),
        Err(error) => Err(error),
    }
}

pub(super) fn not_regular() -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, "it is a link, a folder, a pipe or a device, not a regular file")
}

#[cfg(all(test, unix))]
mod tests {
    use super::{open_regular, read_regular, write_regular};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn only_regular_files_are_read_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("own"), "own").unwrap();
        symlink("own", at("link")).unwrap();
        symlink("missing", at("nowhere")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        fs::create_dir(at("folder")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        for name in ["link", "nowhere", "endless", "folder", "pipe"] {
            for error in [read_regular(at(name), 1000).unwrap_err(), write_regular(at(name), b"new").unwrap_err()] {
                assert!(error.to_string().ends_with("not a regular file"), "{name}: {error}");
            }
        }
        assert!(read_regular("/dev/zero", 1000).is_err() && write_regular("/dev/null", b"").is_err());
        assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
        assert_eq!(fs::read(at("own")).unwrap(), b"own");
        assert!(!at("missing").exists());
        // A file that is there, and one that is not.
        for name in ["own", "new"] {
            write_regular(at(name), b"new").unwrap();
            assert_eq!(read_regular(at(name), 3).unwrap(), b"new");
        }
        assert!(read_regular(at("own"), 2).unwrap_err().to_string().ends_with("it has more than 2 bytes"));
        assert_eq!(open_regular(&at("none")).unwrap_err().kind(), std::io::ErrorKind::NotFound);
    }
}
