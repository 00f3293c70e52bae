//! Files that are written whole or not at all.

use super::{Sink, write_failure};
use crate::failure::Failure;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// What is written to a path, and comes to its place only when it is whole.
///
/// Until then it is a file in the same folder without a name, which goes away with the program however that ends. Where the
/// system has no such files it is one beside it, `.xla-shape-` and some letters, which goes away on any error; only a program
/// that is killed leaves it. Pipes and devices cannot be replaced, and are written to.
#[derive(Debug)]
pub(crate) enum Replacement {
    #[cfg(target_os = "linux")]
    Nameless {
        file: File,
        path: PathBuf,
    },
    File {
        file: NamedTempFile,
        path: PathBuf,
    },
    Stream(File),
}

/// The systems of files that take room: ext4 and XFS, which write in place. Others cannot, do not gain by it, or compress.
#[cfg(target_os = "linux")]
const IN_PLACE: [u32; 2] = [0xef53, 0x5846_5342];

impl Replacement {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        let (path, old) = match fs::metadata(path) {
            Ok(old) if old.is_file() && old.permissions().readonly() => {
                return Err(io::Error::new(ErrorKind::PermissionDenied, "the file is read-only"));
            }
            // A link stays one; what it leads to is replaced, and nobody may read the new file who could not read the old.
            Ok(old) if old.is_file() => (path.canonicalize()?, Some(old)),
            Ok(_) => return Ok(Self::Stream(File::options().write(true).open(path)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => (end_of_links(path)?, None),
            Err(error) => return Err(error),
        };
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless(&path, old.as_ref())? {
            return Ok(Self::Nameless { file, path });
        }
        Ok(Self::File { file: beside(&path, old.as_ref())?, path })
    }

    /// Takes room for a file of this size where the system can: a disk without it is known before any work, and pieces
    /// that come in any order are written faster.
    ///
    /// # Errors
    /// If there is no such room.
    pub(crate) fn reserve(&self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(file) = self.file() {
            use rustix::fs::{FallocateFlags, fallocate, fstatfs};
            use rustix::io::Errno;

            let Ok(disk) = fstatfs(file) else { return Ok(()) };
            if !IN_PLACE.contains(&(disk.f_type as u32)) {
                return Ok(());
            }
            // Nobody shall find the disk full because of what has no room anyway.
            if disk.f_bfree.saturating_mul(disk.f_bsize as u64) < bytes {
                return Err(Errno::NOSPC.into());
            }
            // The file gets its length as well: what comes in any order is written a fifth faster than beyond its end. None takes room
            // for nothing.
            return match fallocate(file, FallocateFlags::empty(), 0, bytes) {
                Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
                _ => Ok(()),
            };
        }
        let _ = bytes;
        Ok(())
    }

    /// Has the array written that begins at this byte, behind what was written before, and tells how many bytes are done.
    pub(crate) fn fill(
        &mut self,
        start: u64,
        path: &Path,
        done: &(dyn Fn(u64) + Sync),
        make: impl FnOnce(Sink<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let failed = |error| write_failure(path, error);
        if let Some(file) = self.file() {
            return make(Sink::Anywhere(&|place, bytes| {
                let places = (start + place as u64..).step_by(TOGETHER);
                for (place, part) in places.zip(bytes.chunks(TOGETHER)) {
                    write_at(file, place, part).map_err(failed)?;
                    done(part.len() as u64);
                }
                Ok(())
            }));
        }
        make(Sink::InOrder(&mut |bytes| {
            self.write_all(bytes).map_err(failed)?;
            done(bytes.len() as u64);
            Ok(())
        }))
    }

    /// The new file; `None` of a pipe or device.
    fn file(&self) -> Option<&File> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, .. } => Some(file),
            Self::File { file, .. } => Some(file.as_file()),
            Self::Stream(_) => None,
        }
    }

    /// Waits until all of the file is on the disk: then it is whole in its place, even if the power fails.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file().map_or(Ok(()), File::sync_data)
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, path } => {
                // It gets a name of its own first: no file without a name takes that of another.
                let named = builder().make_in(folder_of(&path), |name| name_file(&file, name))?;
                named.persist(path).map(drop).map_err(|error| error.error)
            }
            Self::File { file, path } => file.persist(path).map(drop).map_err(|error| error.error),
            Self::Stream(mut stream) => stream.flush(),
        }
    }
}

/// What is written with one call, in bytes: for more, systems look for larger blocks of memory, which may take longer than writing.
const TOGETHER: usize = 256 << 10;

/// Writes what begins at this byte of a file.
fn write_at(file: &File, start: u64, bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, start);
    #[cfg(not(unix))]
    {
        // One thread at a time, since a file has one place.
        static PLACE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _own = PLACE.lock();
        let mut file = file;
        io::Seek::seek(&mut file, io::SeekFrom::Start(start)).and_then(|_| file.write_all(bytes))
    }
}

/// Where a path leads to, through links; there need be nothing.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // As many as Linux follows.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            // Nothing, or no link.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links in a chain"))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".xla-shape-");
    builder
}

/// A new file without a name in the folder of a path, with the permissions of this old one, or those of any new file; `None` where
/// there are none.
#[cfg(target_os = "linux")]
fn nameless(path: &Path, old: Option<&Metadata>) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    // Any error: what is really wrong shows again where the file is to have a name.
    let Ok(file) = open(folder_of(path), flags, Mode::from_raw_mode(mode)) else { return Ok(None) };
    let file = File::from(file);
    // Without `/proc` it could not get a name.
    if !Path::new(&path_of(&file)).exists() {
        return Ok(None);
    }
    if let Some(old) = old {
        permit(&file, old)?;
    }
    Ok(Some(file))
}

#[cfg(target_os = "linux")]
fn path_of(file: &File) -> String {
    use std::os::fd::AsRawFd;

    format!("/proc/self/fd/{}", file.as_raw_fd())
}

#[cfg(target_os = "linux")]
fn name_file(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(CWD, path_of(file), CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

/// Has a new file read and written by those who may an old one; it is not run in its owner's or group's name.
fn permit(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

        let mut mode = old.mode() & 0o777;
        if file.metadata()?.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
            // Another group gets nothing, and all others, to whom the old group belongs now, no more than that had.
            mode &= 0o700 | (mode >> 3 & 0o007);
        }
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// A new file in the folder of a path, with the permissions of this old one, or those of any new file.
fn beside(path: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    // A folder that is not there is said without the new file's name.
    folder.metadata()?;
    let mut builder = builder();
    // The user's mask takes its part away.
    #[cfg(unix)]
    if old.is_none() {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder)?;
    if let Some(old) = old {
        permit(file.as_file(), old)?;
    }
    Ok(file)
}

impl Write for Replacement {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, .. } => file.write(bytes),
            Self::File { file, .. } => file.write(bytes),
            Self::Stream(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, .. } => file.flush(),
            Self::File { file, .. } => file.flush(),
            Self::Stream(stream) => stream.flush(),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{IN_PLACE, Replacement};

    #[test]
    fn a_disk_without_room_is_known_before_any_work() {
        let folder = tempfile::tempdir().unwrap();
        let file = Replacement::new(&folder.path().join("large")).unwrap();
        file.reserve(0).unwrap();
        file.reserve(1 << 20).unwrap();
        // Where no room is taken, a write fails.
        let takes_room = file.reserve(1 << 62).is_err();
        let disk = rustix::fs::statfs(folder.path()).unwrap();
        assert_eq!(takes_room, IN_PLACE.contains(&(disk.f_type as u32)), "{:#x}", disk.f_type);
        drop(file);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
