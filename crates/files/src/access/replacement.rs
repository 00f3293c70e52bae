//! Files that are written whole or not at all.

use super::Sink;
use super::identity::own_stream;
use super::regular::not_regular;
use crate::error::Error;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that is written, and replaces the one at its path when it is complete.
///
/// Until then it is a file without a name in the same folder (`O_TMPFILE`), which vanishes with the process, however that ends. If the
/// system has no such files, the file is named `.xla-shape-` and some letters. It is deleted on any error, so only a process
/// that is killed leaves it behind. Pipes and devices cannot be replaced, so they are written to. So are files that a shell has opened for
/// this process, such as `log` in `-o /dev/stdout >> log`: their other contents stay. A file that is replaced is a new one:
/// its other names (hard links) keep the old contents.
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

/// The file systems on which disk space is reserved: ext4 and XFS, which write in place. Other file systems cannot reserve space, are
/// not faster with it, or compress.
#[cfg(target_os = "linux")]
const IN_PLACE: [u32; 2] = [0xef53, 0x5846_5342];

impl Replacement {
    pub(crate) fn new(path: &Path) -> io::Result<Self> {
        if let Some(stream) = own_stream(path) {
            return Ok(Self::Stream(stream.file()?));
        }
        if is_descriptor(path) {
            // The new descriptor has its own position, so it appends to what is there.
            return Ok(Self::Stream(File::options().append(true).open(path)?));
        }
        let (path, old) = match fs::metadata(path) {
            Ok(old) if old.is_file() && old.permissions().readonly() => {
                return Err(read_only());
            }
            // A link is kept: the file that it leads to is replaced. The new file has the old one's permissions.
            Ok(old) if old.is_file() => (path.canonicalize()?, Some(old)),
            Ok(_) => return Ok(Self::Stream(File::options().write(true).open(path)?)),
            Err(error) if error.kind() == ErrorKind::NotFound => (end_of_links(path)?, None),
            Err(error) => return Err(error),
        };
        Self::replacing(path, old.as_ref())
    }

    /// Like [`new`](Self::new), but what is at the path must be a regular file, or nothing: a link is not followed, and a pipe or a device is not
    /// written to. A file that is put there after this check is replaced.
    pub(crate) fn of_regular(path: &Path) -> io::Result<Self> {
        let old = match fs::symlink_metadata(path) {
            Ok(old) if !old.is_file() => return Err(not_regular()),
            Ok(old) if old.permissions().readonly() => return Err(read_only()),
            Ok(old) => Some(old),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        Self::replacing(path.to_owned(), old.as_ref())
    }

    /// A new file that is to take the place of an old one.
    fn replacing(path: PathBuf, old: Option<&Metadata>) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless(&path, old)? {
            return Ok(Self::Nameless { file, path });
        }
        Ok(Self::File { file: beside(&path, old)?, path })
    }

    /// Reserves disk space for a file of this size, where the system can: a full disk is found before any work, and pieces
    /// that come in any order are written faster.
    ///
    /// # Errors
    /// If there is not enough space.
    pub(crate) fn reserve(&self, bytes: u64) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        if let Some(file) = self.file() {
            use rustix::fs::{FallocateFlags, fallocate, fstatfs};
            use rustix::io::Errno;

            let Ok(disk) = fstatfs(file) else { return Ok(()) };
            if !IN_PLACE.contains(&(disk.f_type as u32)) {
                return Ok(());
            }
            // Without this check, a request that fails could fill the disk for a moment, and others would find it full.
            if disk.f_bfree.saturating_mul(disk.f_bsize as u64) < bytes {
                return Err(Errno::NOSPC.into());
            }
            // This sets the length of the file, too: pieces that come in any order are written a fifth faster within the file
            // than past its end. Any other error means that the system reserves nothing; if the disk is full, a write fails
            // later.
            return match fallocate(file, FallocateFlags::empty(), 0, bytes) {
                Err(error @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(error.into()),
                _ => Ok(()),
            };
        }
        let _ = bytes;
        Ok(())
    }

    /// Has `make` write an array that begins at byte `start` of the file, after what was written before. `done` is called with the
    /// number of bytes just written.
    pub(crate) fn fill(
        &mut self,
        start: u64,
        path: &Path,
        done: &(dyn Fn(u64) + Sync),
        make: impl FnOnce(Sink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error| Error::write(path, error);
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

    /// The new file; `None` for a pipe or device.
    fn file(&self) -> Option<&File> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, .. } => Some(file),
            Self::File { file, .. } => Some(file.as_file()),
            Self::Stream(_) => None,
        }
    }

    /// Waits until all bytes of the file are on the disk, so that a file in its place is whole even if the power fails.
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.file().map_or(Ok(()), File::sync_data)
    }

    /// Puts the file in its place.
    pub(crate) fn commit(self) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless { file, path } => {
                // It gets a new name first: `linkat` cannot replace another file, `rename` can.
                let named = builder().make_in(folder_of(&path), |name| name_file(&file, name))?;
                named.persist(path).map(drop).map_err(|error| error.error)
            }
            Self::File { file, path } => file.persist(path).map(drop).map_err(|error| error.error),
            Self::Stream(mut stream) => stream.flush(),
        }
    }
}

/// The most bytes that are written with one call: for a larger call, the system looks for larger blocks of memory, which may take longer
/// than the writing itself.
const TOGETHER: usize = 256 << 10;

/// Writes bytes to a file, from byte `start` on.
fn write_at(file: &File, start: u64, bytes: &[u8]) -> io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::FileExt::write_all_at(file, bytes, start);
    #[cfg(not(unix))]
    {
        // One thread at a time: all of them share the position of the file.
        static PLACE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _own = PLACE.lock();
        let mut file = file;
        io::Seek::seek(&mut file, io::SeekFrom::Start(start)).and_then(|_| file.write_all(bytes))
    }
}

fn read_only() -> io::Error {
    io::Error::new(ErrorKind::PermissionDenied, "the file is read-only")
}

/// Whether a path names a file that is open already, as shells do: `/dev/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    cfg!(unix) && ["/dev/fd", "/proc/self/fd"].iter().any(|folder| path.parent() == Some(Path::new(folder)))
}

/// The path at the end of a chain of links. Nothing needs to exist there.
pub(super) fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    // Linux follows as many.
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(to) => path = folder_of(&path).join(to),
            // It is not a link, or does not exist.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many links in a chain"))
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".xla-shape-");
    builder
}

/// A new file without a name in the folder of a path, with the permissions of the old file, or else those of any new file; `None` where
/// the system has no such files.
#[cfg(target_os = "linux")]
fn nameless(path: &Path, old: Option<&Metadata>) -> io::Result<Option<File>> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    // After any error, a file with a name is tried: if unnamed files are not the problem, that fails as well.
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

/// Gives a new file the permissions of an old one, without the set-user-ID and set-group-ID bits.
fn permit(file: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

        let mut mode = old.mode() & 0o777;
        if file.metadata()?.gid() != old.gid() && fchown(file, None, Some(old.gid())).is_err() {
            // The new file has another group, which gets no permissions. Members of the old group now count as
            // "others", so these get at most what the old group had.
            mode &= 0o700 | (mode >> 3 & 0o007);
        }
        file.set_permissions(fs::Permissions::from_mode(mode))
    }
    #[cfg(not(unix))]
    file.set_permissions(old.permissions())
}

/// Gives a file the permissions of any new file; on Unix, the umask is applied to them.
fn permit_new(builder: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    #[cfg(not(unix))]
    let _ = builder;
}

/// A new file with a name in the folder of a path, with the permissions of the old file, or else those of any new file.
fn beside(path: &Path, old: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    // If the folder does not exist, the error must not show the name of the new file.
    folder.metadata()?;
    let mut builder = builder();
    if old.is_none() {
        permit_new(&mut builder);
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
        // Where no space is reserved, a write fails later.
        let takes_room = file.reserve(1 << 62).is_err();
        let disk = rustix::fs::statfs(folder.path()).unwrap();
        assert_eq!(takes_room, IN_PLACE.contains(&(disk.f_type as u32)), "{:#x}", disk.f_type);
        drop(file);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
