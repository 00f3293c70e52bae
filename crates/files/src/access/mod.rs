//! Reading from any place of a file, and writing files whole or not at all.

mod existing;
mod identity;
mod regular;
mod replacement;
mod roots;
mod sink;
mod source;

pub(crate) use existing::Existing;
pub use identity::{check_outputs, is_stdout};
pub use regular::{read_regular, write_regular};
pub(crate) use replacement::Replacement;
pub use roots::{Roots, RootsError};
pub(crate) use sink::{Anywhere, InOrder, Sink};
pub(crate) use source::{CALL, Closed, Reader, Source, reading_effort};

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// The most bytes that [`contents`] reads: the parser of modules reads no more.
const MAX_CONTENTS: u64 = u32::MAX as u64;

/// Opens a file to read it from its beginning on; `-` is standard input.
///
/// ```
/// use std::io::Read as _;
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("log.txt");
/// std::fs::write(&path, "f32[8]\n")?;
/// let mut text = String::new();
/// xla_shape_files::open(&path)?.read_to_string(&mut text)?;
/// assert_eq!(text, "f32[8]\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be opened.
pub fn open(path: impl AsRef<Path>) -> Result<Box<dyn Read + Send + Sync>, Error> {
    let path = path.as_ref();
    open_stream(path).map_err(|error| Error::read(path, error))
}

fn open_stream(path: &Path) -> io::Result<Box<dyn Read + Send + Sync>> {
    Ok(if path.as_os_str() == "-" { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
}

/// All bytes of a file, but no more than a module may have (4 GiB); `-` is standard input.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("module.hlo");
/// std::fs::write(&path, "HloModule m")?;
/// assert_eq!(xla_shape_files::contents(&path)?, b"HloModule m");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be read, or there is no memory for it.
pub fn contents(path: impl AsRef<Path>) -> Result<Vec<u8>, Error> {
    let path = path.as_ref();
    let mut bytes = Vec::new();
    // Reserve the memory at once, because a vector that grows needs twice the memory while it is copied. The length of a pipe is not known, so
    // there the vector does grow.
    let told =
        std::fs::metadata(path).map_or(0, |known| if known.is_file() { known.len().min(MAX_CONTENTS) } else { 0 });
    let room = usize::try_from(told).map_or(Err(()), |told| bytes.try_reserve_exact(told).map_err(|_| ()));
    room.map_err(|()| io::Error::from(io::ErrorKind::OutOfMemory))
        .and_then(|()| open_stream(path)?.take(MAX_CONTENTS).read_to_end(&mut bytes))
        .map_err(|error| Error::read(path, error))?;
    Ok(bytes)
}

/// Writes a file, whole or not at all: until all bytes are there, the path keeps what it has. `-` is standard output.
///
/// Pipes and devices are written to. A link is kept: the file that it leads to is replaced by a new one with the same
/// permissions.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("page.html");
/// xla_shape_files::write_whole(&path, b"<p>")?;
/// assert_eq!(std::fs::read(&path)?, b"<p>");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the file cannot be written.
pub fn write_whole(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), Error> {
    let path = path.as_ref();
    let written = if path.as_os_str() == "-" {
        write_to_stdout(bytes)
    } else {
        Replacement::new(path).and_then(|mut file| {
            file.write_all(bytes)?;
            file.commit()
        })
    };
    written.map_err(|error| Error::write(path, error))
}

/// Writes bytes to standard output, and flushes it.
pub(crate) fn write_to_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    output.write_all(bytes).and_then(|()| output.flush())
}
