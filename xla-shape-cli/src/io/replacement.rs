//! Files that are written whole or not at all.

use std::fs::{self, File, Permissions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What is written to a path, and comes to its place only when it is whole.
///
/// Until then it is a file beside it, `.xla-shape-` and some letters, which goes away on any error; only a program that is
/// killed leaves it. Pipes and devices cannot be replaced, and are written to.
#[derive(Debug)]
pub(crate) enum Replacement {
    File { file: NamedTempFile, path: PathBuf },
    Stream(File),
}

impl Replacement {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let (path, permissions) = match fs::metadata(path) {
            Ok(old) if old.is_file() && old.permissions().readonly() => {
                return Err(io::Error::new(ErrorKind::PermissionDenied, "the file is read-only"));
            }
            // A link stays one; what it leads to is replaced, and nobody may read the new file who could not read the old.
            Ok(old) if old.is_file() => (path.canonicalize()?, Some(old.permissions())),
            Ok(_) => return Ok(Self::Stream(File::options().write(true).open(path)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => (path.to_owned(), None),
            Err(error) => return Err(error),
        };
        Ok(Self::File { file: beside(&path, permissions)?, path })
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> io::Result<()> {
        match self {
            Self::File { file, path } => file.persist(path).map(drop).map_err(|error| error.error),
            Self::Stream(mut stream) => stream.flush(),
        }
    }
}

/// A new file in the folder of a path, with these permissions, or those of any new file.
fn beside(path: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // A folder that is not there is said without the new file's name.
    folder.metadata()?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".xla-shape-");
    // The user's mask takes its part away.
    #[cfg(unix)]
    if permissions.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Some(permissions) = permissions {
        file.as_file().set_permissions(permissions)?;
    }
    Ok(file)
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::File { file, .. } => file.write(bytes),
            Self::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::File { file, .. } => file.flush(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}
