//! Files and streams.

mod lines;
mod npy;
pub(crate) mod tensor;

pub(crate) use lines::{Line, Lines, MAX_LINE};

use crate::failure::Failure;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The file's contents; `-` is standard input.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read>, Failure> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin().lock()));
    }
    match File::open(path) {
        Ok(file) => Ok(Box::new(file)),
        Err(error) => Err(read_failure(path, error)),
    }
}

/// All of a file; `-` is standard input.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    open(path)?.read_to_end(&mut bytes).map_err(|error| read_failure(path, error))?;
    Ok(bytes)
}

pub(crate) fn read_failure(path: &Path, error: io::Error) -> Failure {
    let name = if path.as_os_str() == "-" { "standard input".into() } else { format!("`{}`", path.display()) };
    Failure::Read { name, error }
}

/// Writes a file, whole or not at all; `-` is standard output.
pub(crate) fn write_file(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    if path.as_os_str() == "-" {
        return write(contents);
    }
    let written = Replacement::new(path).and_then(|mut file| {
        file.write_all(contents)?;
        file.commit()
    });
    written.map_err(|error| write_failure(path, error))
}

pub(crate) fn write_failure(path: &Path, error: io::Error) -> Failure {
    Failure::WriteFile { name: path.display().to_string(), error }
}

/// A file that comes to its place only when it is whole.
#[derive(Debug)]
pub(crate) struct Replacement<'a> {
    file: NamedTempFile,
    path: &'a Path,
}

impl<'a> Replacement<'a> {
    pub(crate) fn new(path: &'a Path) -> io::Result<Self> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // As any new file; the user's mask takes its part away.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        Ok(Self { file: builder.prefix(".xla-shape-").tempfile_in(folder)?, path })
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> io::Result<()> {
        self.file.persist(self.path).map(drop).map_err(|error| error.error)
    }
}

impl Write for Replacement<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes bytes to standard output.
pub(crate) fn write(bytes: &[u8]) -> Result<(), Failure> {
    let mut output = io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush()).map_err(Failure::Write)
}

/// Writes to standard output; without styles where it is not a terminal that shows them.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = anstream::stdout().lock();
    output.write_all(text.as_bytes()).and_then(|()| output.flush()).map_err(Failure::Write)
}
