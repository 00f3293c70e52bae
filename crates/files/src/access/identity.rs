//! Which file a path means, however it is spelt: `in`, `./in`, a link to it, and a stream that a shell redirected to it are one file.

use super::replacement::{end_of_links, folder_of};
use crate::error::Error;
use std::fs::{self, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What identifies a file: two paths lead to the same file if these are equal.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    /// The device and the inode number.
    #[cfg(unix)]
    Node(u64, u64),
    /// The absolute path. It identifies a file that does not exist yet, and every file on systems without inode
    /// numbers.
    Place(PathBuf),
}

/// Checks that no output is the same file as an input or as another output: writing one would destroy the other.
/// Paths of `-` are the standard streams. Pipes and devices never count as the same file, because they take everything that is written.
///
/// ```
/// use xla_shape_files::check_outputs;
///
/// let folder = tempfile::tempdir()?;
/// let [one, other] = ["a.npy", "b.npy"].map(|name| folder.path().join(name));
/// std::fs::write(&one, "")?;
/// assert!(check_outputs([&*one], [&*other]).is_ok());
/// assert!(check_outputs([&*one], [&*folder.path().join("./a.npy")]).is_err());
/// assert!(check_outputs([], [&*other, &*other]).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Error::OutputIsInput`] or [`Error::SameOutput`], with the first pair that is one file.
pub fn check_outputs<'i, 'o>(
    inputs: impl IntoIterator<Item = &'i Path>,
    outputs: impl IntoIterator<Item = &'o Path>,
) -> Result<(), Error> {
    let inputs = inputs.into_iter().filter_map(|path| Some((of_input(path)?, path))).collect::<Vec<_>>();
    let mut before = Vec::<(Identity, &Path)>::new();
    for output in outputs {
        let Some(identity) = of_output(output) else { continue };
        if let Some((_, input)) = inputs.iter().find(|known| known.0 == identity) {
            return Err(Error::OutputIsInput { output: output.to_owned(), input: (*input).to_owned() });
        }
        if let Some((_, other)) = before.iter().find(|known| known.0 == identity) {
            return Err(Error::SameOutput { first: (*other).to_owned(), second: output.to_owned() });
        }
        before.push((identity, output));
    }
    Ok(())
}

/// Whether a path leads to the same place as standard output: `-`, `/dev/stdout`, or the file or pipe that a shell redirected it to.
///
/// ```
/// assert!(xla_shape_files::is_stdout("-"));
/// assert!(!xla_shape_files::is_stdout("out.npy"));
/// ```
#[must_use]
pub fn is_stdout(path: impl AsRef<Path>) -> bool {
    let path = path.as_ref();
    path.as_os_str() == "-" || own_stream(path) == Some(Stream::Output)
}

/// A standard stream of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stream {
    Input,
    Output,
    Errors,
}

/// The standard stream that a path leads to, if it is a file or a pipe. A device does not count: many programs may share it.
pub(super) fn own_stream(path: &Path) -> Option<Stream> {
    let file = fs::metadata(path).ok().filter(|file| !is_device(file))?;
    let identity = node(&file)?;
    let is_it = |&stream: &Stream| stream.metadata().and_then(|known| node(&known)).as_ref() == Some(&identity);
    [Stream::Output, Stream::Errors].into_iter().find(is_it)
}

impl Stream {
    /// The stream as a `File`. It is a duplicate: both share one position.
    pub(super) fn file(self) -> io::Result<fs::File> {
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;

            let handle = match self {
                Self::Input => io::stdin().as_fd().try_clone_to_owned(),
                Self::Output => io::stdout().as_fd().try_clone_to_owned(),
                Self::Errors => io::stderr().as_fd().try_clone_to_owned(),
            };
            handle.map(fs::File::from)
        }
        #[cfg(not(unix))]
        Err(ErrorKind::Unsupported.into())
    }

    fn metadata(self) -> Option<Metadata> {
        self.file().and_then(|file| file.metadata()).ok()
    }
}

fn of_input(path: &Path) -> Option<Identity> {
    let known = if path.as_os_str() == "-" { Stream::Input.metadata() } else { fs::metadata(path).ok() };
    of_file(&known.filter(Metadata::is_file)?, path)
}

fn of_output(path: &Path) -> Option<Identity> {
    if path.as_os_str() == "-" {
        return of_file(&Stream::Output.metadata().filter(Metadata::is_file)?, path);
    }
    match fs::metadata(path) {
        Ok(known) if known.is_file() => of_file(&known, path),
        Ok(_) => None,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let end = end_of_links(path).ok()?;
            // The folder may be created later, under this name.
            let folder = folder_of(&end).canonicalize().or_else(|_| std::path::absolute(folder_of(&end))).ok()?;
            Some(Identity::Place(folder.join(end.file_name()?)))
        }
        Err(_) => None,
    }
}

fn of_file(known: &Metadata, path: &Path) -> Option<Identity> {
    node(known).or_else(|| path.canonicalize().ok().map(Identity::Place))
}

#[cfg(unix)]
fn node(known: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    Some(Identity::Node(known.dev(), known.ino()))
}

#[cfg(not(unix))]
fn node(_: &Metadata) -> Option<Identity> {
    None
}

fn is_device(known: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        known.file_type().is_char_device() || known.file_type().is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = known;
        false
    }
}
