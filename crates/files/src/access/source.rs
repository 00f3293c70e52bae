//! Reading from any place of a file.

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::time::SystemTime;

/// A file, which can be read from any place, or a pipe. Everything that was read from a pipe is kept.
pub(crate) enum Source {
    File(File),
    Pipe { rest: Box<dyn Read + Send + Sync>, bytes: Vec<u8> },
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::read(path, error);
        if path.as_os_str() != "-" && path.metadata().map_err(failed)?.is_file() {
            return Ok(Self::File(File::open(path).map_err(failed)?));
        }
        Ok(Self::Pipe { rest: super::open(path)?, bytes: Vec::new() })
    }

    /// The first bytes, at most this many.
    pub(crate) fn beginning(&mut self, most: u64) -> io::Result<Vec<u8>> {
        match self {
            Self::File(file) => {
                let mut bytes = Vec::new();
                file.rewind()?;
                file.take(most).read_to_end(&mut bytes)?;
                Ok(bytes)
            }
            Self::Pipe { .. } => {
                self.len(most)?;
                let Self::Pipe { bytes, .. } = self else { return Ok(Vec::new()) };
                Ok(bytes.iter().copied().take(usize::try_from(most).unwrap_or(usize::MAX)).collect())
            }
        }
    }

    /// The length in bytes. To find it, a pipe is read, but at most `most` bytes of it, because it may have no end.
    pub(crate) fn len(&mut self, most: u64) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(SeekFrom::End(0)),
            Self::Pipe { rest, bytes } => {
                rest.take(most.saturating_sub(bytes.len() as u64)).read_to_end(bytes)?;
                Ok(most.min(bytes.len() as u64))
            }
        }
    }

    /// Fills a buffer with the bytes from `start` on.
    pub(crate) fn read_at(&self, start: u64, room: &mut [u8]) -> io::Result<()> {
        match self {
            // One system call instead of two: pieces of a file can be many and small.
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_exact_at(file, room, start),
            #[cfg(not(unix))]
            Self::File(file) => {
                // One thread at a time: all of them share the position of the file.
                static PLACE: std::sync::Mutex<()> = std::sync::Mutex::new(());
                let _own = PLACE.lock();
                let mut file = file;
                file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(room))
            }
            Self::Pipe { bytes, .. } => {
                let from = usize::try_from(start).ok().and_then(|start| bytes.get(start..)?.get(..room.len()));
                room.copy_from_slice(from.ok_or(io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
        }
    }
}

/// A file that was read and closed, because a checkpoint can have more files than a process may have open.
pub(crate) struct Closed {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl Closed {
    /// Closes a file. A pipe is given back, because it could not be opened again.
    pub(crate) fn new(source: Source) -> io::Result<Result<Self, Source>> {
        match source {
            Source::File(file) => Self::of(&file).map(Ok),
            pipe @ Source::Pipe { .. } => Ok(Err(pipe)),
        }
    }

    fn of(file: &File) -> io::Result<Self> {
        let known = file.metadata()?;
        Ok(Self { bytes: known.len(), modified: known.modified().ok() })
    }

    /// Opens the file again, if it has not changed.
    pub(crate) fn open(&self, path: &Path) -> io::Result<Source> {
        let file = File::open(path)?;
        let now = Self::of(&file)?;
        if (now.bytes, now.modified) != (self.bytes, self.modified) {
            return Err(io::Error::other("it has changed since its header was read"));
        }
        Ok(Source::File(file))
    }
}

/// A system call takes about as long as reading this many bytes.
pub(crate) const CALL: u64 = 4096;

/// The overhead of reading pieces with [`Reader`], as the number of bytes that would take as long to read.
pub(crate) fn reading_effort(mut pieces: impl ExactSizeIterator<Item = Range<usize>>) -> u64 {
    /// The cost of copying a piece out of a larger read.
    const PIECE: u64 = 64;
    let count = pieces.len() as u64;
    let (Some(first), Some(second)) = (pieces.next(), pieces.next()) else { return CALL };
    let (stride, gap) = ((second.start - first.start) as u64, (second.start - first.end) as u64);
    let calls = (Reader::BATCH / stride.max(1)).clamp(1, Reader::COPIES as u64);
    count.saturating_mul(if gap > Reader::GAP { CALL } else { gap + PIECE + CALL / calls })
}

/// Reads pieces of a file into places of a buffer. Pieces that are close together are read with one call, and then copied.
pub(crate) struct Reader<'a> {
    source: &'a Source,
    room: &'a mut [u8],
    /// The range of the file that the next call reads.
    batch: Range<u64>,
    /// For each piece of the batch: where it begins in the file, and where it goes in the buffer.
    copies: Vec<(u64, Range<usize>)>,
    scratch: &'a mut Vec<u8>,
}

impl<'a> Reader<'a> {
    /// Two pieces are read with one call if at most this many bytes are between them, which are then read, too.
    const GAP: u64 = CALL;
    const BATCH: u64 = 1 << 20;
    const COPIES: usize = 1 << 13;

    /// `scratch` takes the pieces that are read together. It may have any length and any bytes.
    pub(crate) const fn new(source: &'a Source, room: &'a mut [u8], scratch: &'a mut Vec<u8>) -> Self {
        Self { source, room, batch: 0..0, copies: Vec::new(), scratch }
    }

    /// Reads the bytes from `start` on into a place of the buffer, now or together with other pieces, which may be before it in the file.
    pub(crate) fn add(&mut self, start: u64, place: Range<usize>) -> io::Result<()> {
        let end = start.saturating_add(place.len() as u64);
        let joined = self.batch.start.min(start)..self.batch.end.max(end);
        let is_near = start <= self.batch.end.saturating_add(Self::GAP)
            && self.batch.start <= end.saturating_add(Self::GAP)
            && joined.end - joined.start <= Self::BATCH;
        if is_near && !self.copies.is_empty() && self.copies.len() < Self::COPIES {
            self.batch = joined;
        } else {
            self.flush()?;
            self.batch = start..end;
        }
        self.copies.push((start, place));
        Ok(())
    }

    /// Reads the pieces that were added and not read yet.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        // A single piece is read straight to its place.
        if let [(start, place)] = self.copies.as_slice() {
            self.source.read_at(*start, &mut self.room[place.clone()])?;
        } else if !self.copies.is_empty() {
            let bytes = (self.batch.end - self.batch.start) as usize;
            if self.scratch.len() < bytes {
                self.scratch.resize(bytes, 0);
            }
            let read = &mut self.scratch[..bytes];
            self.source.read_at(self.batch.start, read)?;
            for (start, place) in &self.copies {
                let from = (*start - self.batch.start) as usize;
                self.room[place.clone()].copy_from_slice(&read[from..from + place.len()]);
            }
        }
        self.copies.clear();
        Ok(())
    }
}
